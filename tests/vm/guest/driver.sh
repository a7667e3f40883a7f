# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What scenarios ask about a driver that runs, a stack that it loaded and what it leaves on the node.

READY=/run/mellanox/drivers/.driver-ready

ready_value() { sed -n "s/^$1=//p" $READY; }

image_tree() { echo "$PAYLOAD/trees/a"; }

# manifest_value STORE JQ-PROGRAM: of the one tree in the store
manifest_value() { jq -r "$2" "$1"/*/manifest.json; }

# inbox_core_up: the inbox stack without a NIC's driver
inbox_core_up() { modprobe -a ib_uverbs ib_umad rdma_ucm rdma_rxe; }

# driver_ready NAME [SECONDS]: the container has said that it is ready
driver_ready() {
	local deadline=$((SECONDS + ${2:-90}))
	until driver_log "$1" | grep -qE '"event": ?"ready"'; do
		[ "$(podman inspect -f '{{.State.Running}}' "$1")" = true ] ||
			blame "$1 ended with $(driver_status "$1"): $(driver_log "$1")"
		[ $SECONDS -lt $deadline ] || blame "$1 does not get ready: $(driver_log "$1")"
		sleep 0.1
	done
}

# assert_stack_of STORE: what is live is that tree's, every module of it
assert_stack_of() {
	local name id
	while read -r name id; do
		assert_eq "$(identity "$name")" "$id" "the identity of $name"
	done < <(manifest_value "$1" '.modules[] | select(.optional | not) | .name + " " + .srcversion')
}

assert_guards_down() {
	assert_eq "$(cat /sys/kernel/rcu_expedited)" 0 rcu_expedited
	assert_eq "$(cat /sys/bus/pci/drivers_autoprobe)" 1 drivers_autoprobe
	[ ! -e /run/modprobe.d/gdrkit-swap.conf ] || blame "install lines are still there"
	assert_eq "$(find /run/gdrkit/saved -type f 2>/dev/null | wc -l)" 0 "the number of saved guards"
}

# stop_after LINES VERB...: ofed-driver on the node itself, until it has written so many lines to the journal and has
# stopped itself ($STOPPED); fails if it came to its end before
stop_after() {
	local lines=$1
	shift
	GDRKIT_TEST_STOP_AFTER=$lines "$PAYLOAD/bin/ofed-driver" "$@" >/run/stopped.log 2>&1 &
	STOPPED=$!
	until grep -q '^State:.T' /proc/$STOPPED/status 2>/dev/null; do
		if [ ! -d /proc/$STOPPED ] || grep -q '^State:.Z' /proc/$STOPPED/status; then
			wait $STOPPED || blame "ended with $?: $(cat /run/stopped.log)"
			return 1
		fi
		sleep 0.02
	done
}
