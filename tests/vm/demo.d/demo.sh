# a container replaces the inbox RDMA stack of a node, holds it and gives it back, and says all that it does
# kernels: 6.1
# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The first act, in the guest; what its lines mean is in said.bash.
. "$PAYLOAD/vm/scenarios/said.bash"

# pci_list: the NICs and GPUs, a line for each root port
pci_list() {
	local slot vendor name port hops ports=()
	local -A below=() last=()
	while IFS='"' read -r slot _ _ vendor _ name _; do
		case $vendor in Mellanox* | NVIDIA*) ;; *) continue ;; esac
		slot=${slot% }
		if [[ $name =~ \[(.*)\] ]]; then name=${BASH_REMATCH[1]}; fi
		IFS=/ read -ra hops < <(readlink -f "/sys/bus/pci/devices/$slot")
		port=${hops[4]} # "", sys, devices, pci1000:00, the port, ..., the device
		if [ -z "${last[$port]-}" ]; then
			ports+=("$port")
			if [ ${#hops[@]} -gt 6 ]; then below[$port]=" ── switch"; fi
			below[$port]+=" ── $name"
		elif [ "${last[$port]}" != "$name" ]; then
			below[$port]+=", $name"
		fi
		below[$port]+=" ${slot#*:}"
		last[$port]=$name
	done < <(lspci -Dmm)
	for port in "${ports[@]}"; do say "  $port${below[$port]}"; done
}

# waves: the steps of a plan (stdin: plan --json), a line for each wave
waves() {
	jq -r '.steps | group_by(.wave)[] | "  wave \(.[0].wave)  \(.[0].step)\t" +
		if .[0].step == "bind" then "\(length) PCI devices" else map(.object) | join(" ") end' | expand -t 18
}

# rights NAME: the container's, as the kernel has them
rights() {
	local pid
	pid=$(podman inspect -f '{{.State.Pid}}' "$1")
	assert_eq "$(sed -n 's/^CapBnd:\t0*//p' "/proc/$pid/status")" 91004 "the container's bounding set"
	assert_eq "$(sed -n 's/^Seccomp:\t//p' "/proc/$pid/status")" 2 "the container's seccomp mode"
	assert_eq "$(podman inspect -f '{{.HostConfig.Privileged}}' "$1")" false privileged
	assert_eq "$(podman inspect -f '{{.HostConfig.ReadonlyRootfs}}' "$1")" true "the root's being read-only"
	say "its rights: SYS_MODULE NET_ADMIN SYS_PTRACE DAC_READ_SEARCH; seccomp filter; read-only root"
	say "its memory while it waits: $(awk '/^Pss:/ { print $2 }' "/proc/$pid/smaps_rollup") KiB (Pss)"
}

ready_file() {
	local name id n=0
	grep -v ^SRCVERSION_ "$READY" | paste -sd ' ' | fold -sw 85 | sed 's/^/  /; s/ $//'
	while IFS="=" read -r name id; do
		assert_eq "$(cat "/sys/module/$name/srcversion")" "$id" "the srcversion of $name, which the ready file has,"
		n=$((n + 1))
	done < <(sed -n 's/^SRCVERSION_//p' "$READY")
	assert_eq $n "$(manifest_value "$(image_tree)" '.modules | length')" "the number of srcversions in the ready file"
	say "  SRCVERSION_*: $n, each as the live module's"
}

assert_eq "$(snapshot_stack)" "" "the RDMA stack at boot"
say "Linux $KVER $(uname -v | sed 's/.*Debian/Debian/'), $(nproc) CPUs, no RDMA module"
pci_devices dgx-like
say "NICs and GPUs, simulated: configuration space only, so RDMA will run over rxe"
pci_list

say "# The inbox stack"
inbox_stack_up
inbox=$(snapshot_stack)
count=$(wc -l <<<"$inbox")
assert_eq "$(srcversions <<<"$inbox")" "" "srcversions of the inbox stack"
say "$count modules live. Debian's have no srcversion: the linker's build-id identifies them"
identities <<<"$inbox"
loopback

say "# The container"
image=$(driver_image)
tree=$(manifest_value "$(image_tree)" '"\(.name) \(.version)"')
size=$(podman image inspect -f '{{.Size}}' "$image" | numfmt --to=iec --suffix=B)
say "podman load: $image, $size"
say "  a static binary and the driver tree $tree"
ofed_driver plan --json >/run/plan.json 2>/run/plan.log || fail "plan refuses: $(tail -n 1 /run/plan.log)"
say "ofed-driver plan: what would move"
waves </run/plan.json
assert_stack_is "$inbox" "after plan, the stack"

say "# The swap"
# shellcheck disable=SC2034 # for driver_start
DRIVER_OPTIONS=(--env GDRKIT_REVISION=demo)
driver_start ofed run
say "podman run: the container is up"
driver_ready ofed
driver_log ofed >/run/swap.log
assert_stack_of "$(image_tree)"
new=$(snapshot_stack)
assert_eq "$(srcversions <<<"$inbox" | wc -l)" "$count" "the number of live modules with a srcversion"
say "ready: the tree's modules are live. What each took in ms, its build-id → srcversion:"
chart /run/swap.log "$inbox" "$new"

say "# Held"
podman exec ofed /ofed-driver status --ready
say "status --ready: yes. $READY:"
ready_file
rights ofed
loopback

say "# Given back"
say "SIGTERM to the container"
podman kill -s TERM ofed >/dev/null
status=$(podman wait ofed)
driver_log ofed | sed -n '/"stopping"/,$p' >/run/back.log
assert_eq "$status" 0 "the container's exit status"
assert_stack_is "$inbox"
[ ! -e "$READY" ] || fail "the ready file is still there"
assert_guards_down
say "the container ended with $status: the inbox stack is live, ✓ with the build-id that it had"
chart /run/back.log "$new" "$(snapshot_stack)" "$inbox"
loopback

echo "@@ sum $count modules replaced in $(logged /run/swap.log swapped span_ms) ms, used," \
	"given back in $(logged /run/back.log swapped span_ms) ms"
