# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a measurement may use, here and in the guest.

# row NAME VALUE UNIT GOAL WHAT: one line of the result. GOAL: the largest VALUE that is good, or - for none.
row() { printf 'row\t%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$4" "$5"; }

# median NUMBER...
median() {
	printf '%s\n' "$@" | sort -g |
		awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# quotient A B
quotient() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", a / b }'; }

now_us() { echo "${EPOCHREALTIME/./}"; }
