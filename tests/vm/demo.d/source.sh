# a node that has no tree for its kernel takes the one that was built elsewhere, and builds a small one itself
# kernels: 6.1
# builder: yes
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The second act, in the guest; what its lines mean is in said.bash.
. "$PAYLOAD/vm/scenarios/said.bash"

seconds_since() { awk -v a="$1" -v b="$(date +%s%3N)" 'BEGIN { printf "%.1f s", (b - a) / 1000 }'; }

# start_and_hold NAME [SECONDS]: `run` of the source image until it is ready; its log is then /run/NAME.log
start_and_hold() {
	local began
	began=$(date +%s%3N)
	source_driver_start "$1" run
	driver_ready "$1" "${2:-90}"
	ready_after=$(seconds_since "$began")
	driver_log "$1" >"/run/$1.log"
}

# hit NAME: it was a cache hit, built nothing, and the tree is live
hit() {
	assert_eq "$(count_logged "$1" cache_hit)+$(count_logged "$1" building)" 1+0 "cache hits and builds"
	assert_stack_of $INVENTORY
	say "cache hit $(logged "/run/$1.log" cache_hit key | cut -c1-12), ready $ready_after after podman run: the tree's modules are live"
}

give_back() {
	driver_stop "$1" >/dev/null || fail "the container ended with $(driver_status "$1")"
	assert_stack_is "$inbox"
}

builder_up
cp -r "$PAYLOAD/cache/." $INVENTORY/
inbox_core_up
inbox=$(snapshot_stack)
say "Linux $KVER, the inbox stack live: $(wc -l <<<"$inbox") modules. On its disk the cache that was filled above"
headers_up
start_and_hold first
say "with the kernel's headers on the node: they are those that the tree was built against"
hit first
new=$(snapshot_stack)
chart /run/first.log "$inbox" "$new"
give_back first
say "SIGTERM: the inbox stack is live again"

headers_down
[ ! -e "/lib/modules/$KVER/build" ] || fail "headers are still there"
say "the headers are removed from the node"
start_and_hold second
hit second
assert_stack_is "$new"
loopback
give_back second

say "# A small driver, built on the node itself (gcc is 16 times slower in this guest)"
headers_up
DRIVER_OPTIONS=(--memory=300m -v "$PAYLOAD/small:/source:ro")
began=$(date +%s%3N)
source_driver_start small run
say "podman run --memory=300m: one module of our own, gcc and make in the container, the node's headers"
compiling 90
podman exec small /ofed-driver status --live
assert_status 1 podman exec small /ofed-driver status --ready
say "it compiles. status --live: yes; status --ready: not yet; status:"
assert_status 1 podman exec small /ofed-driver status
grep '^build' <<<"$OUTPUT" | sed -E 's/^build */  build: /; s/[0-9a-f]{52}$/.../'
driver_ready small 200
took=$(seconds_since "$began")
driver_log small >/run/small.log
live $SMALL
tree=$INVENTORY/$(logged /run/small.log built key)
assert_eq "$(identity $SMALL)" "$(jq -r '.modules[0].srcversion' "$tree/manifest.json")" "the identity of $SMALL"
say "built and live after $took: $SMALL $(identity $SMALL | cut -c1-8), which says of itself: $(cat /sys/kernel/$SMALL/compiler)"
cgroup=/sys/fs/cgroup$(cut -d: -f3 "/proc/$(podman inspect -f '{{.State.Pid}}' small)/cgroup")
assert_has "$(cat "$cgroup/memory.events")" $'\noom_kill 0' "the container's memory.events"
driver_stop small >/dev/null
refute live $SMALL
assert_stack_is "$inbox"

echo "@@ sum a tree built once, taken from the cache with and without headers, a small one built on the node in $took"
