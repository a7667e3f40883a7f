# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the acts of the demo say in the guest. Names and numbers are read from this node, or from ofed-driver's log, at
# that moment; the first thing that is not as it should be ends it. Lines for tests/vm/demo: "# heading", an event
# (which gets the time), "  what belongs to it"; "@@ wrong WHY" and "@@ sum WHAT" are for its last line.

blame() {
	trap - ERR
	echo "@@ wrong $1" >&2
	exit 1
}

# identities: "MODULE IDENTITY" lines, three of them in a row
identities() {
	awk '{ printf "%s%-10s %.16s", NR % 3 == 1 ? "  " : "   ", $1, $2; if (NR % 3 == 0) print "" }
	END { if (NR % 3) print "" }'
}

srcversions() { # of the live modules named on stdin's lines
	local name
	while read -r name _; do cat "/sys/module/$name/srcversion" 2>/dev/null || true; done
}

# logged FILE EVENT FIELD
logged() { jq -r "select(.event == \"$2\") | .$3" "$1"; }

# chart LOG BEFORE AFTER [ONCE]: the swap in ofed-driver's log, between two snapshots
chart() {
	{
		jq -r '.op = {module_unloaded: "out", module_loaded: "in"}[.event] | select(.op) |
			[.op, .module, .at, .ms, .note // empty] | join(" ")' "$1"
		sed 's/^/was /' <<<"$2"
		sed 's/^/is /' <<<"$3"
		if [ $# -gt 3 ]; then sed 's/^/once /' <<<"$4"; fi
	} | awk -v "span=$(logged "$1" swapped span_ms)" -f "$PAYLOAD/vm/scenarios/chart.awk"
}

loopback() {
	local speed
	speed=$(rxe_loopback)
	say "RDMA write over rdma_rxe $(identity rdma_rxe | cut -c1-8) to itself, by ib_write_bw: $speed MB/s"
}
