# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a scenario says and asserts, wherever it runs. A failure names the line of the scenario that led to it.

say() { echo "$*"; }

# blame TEXT: the failure, at the line of the scenario that led here
blame() {
	local i
	trap - ERR
	for ((i = ${#BASH_SOURCE[@]} - 1; i > 0; i--)); do
		case ${BASH_SOURCE[i]} in */scenarios/*) break ;; esac
	done
	echo "${BASH_SOURCE[i]}:${BASH_LINENO[i - 1]}: $1" | sed '1s#^.*/\([a-z]*/scenarios/\)#tests/\1#' >&2
	exit 1
}

fail() { blame "$*"; }

# assert_eq GOT WANTED [WHAT]
assert_eq() { [ "$1" = "$2" ] || blame "${3:-value} is '$1', not '$2'"; }

# assert_has TEXT PART [WHAT]
assert_has() { case $1 in *"$2"*) ;; *) blame "${3:-text} has no '$2': $1" ;; esac; }

# assert_lacks TEXT PATTERN [WHAT]
assert_lacks() {
	local lines
	if lines=$(grep -E -- "$2" <<<"$1"); then blame "${3:-text} has: $lines"; fi
}

# refute COMMAND...: it must fail (bash's `!` goes unseen by set -e)
refute() { if "$@" >/dev/null 2>&1; then blame "'$*' succeeded"; fi; }

# assert_status WANTED COMMAND...: the command's exit status; its output goes to $OUTPUT
assert_status() {
	local wanted=$1 status=0
	shift
	OUTPUT=$("$@" 2>&1) || status=$?
	[ "$status" = "$wanted" ] || blame "'$*' ended with $status, not $wanted: $OUTPUT"
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds
wait_for() {
	local deadline=$((SECONDS + $1)) what=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $deadline ] || blame "still not: $what"
		sleep 0.05
	done
}
