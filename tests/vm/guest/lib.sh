# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a scenario may use. It runs as root of a booted node, as `set -eEuo pipefail`: a command that fails fails the
# scenario. A node comes up without any RDMA module, and is brought back to that between scenarios (reset_node), the
# root file system apart: change files with put_over, which is undone.
#
# /payload holds what tests/vm/run took from the work tree: assert.sh, vm/ (this folder, scenarios, topologies), modules/
# (the fixture modules, built for this kernel), and what tests/vm/payload makes: bin/, trees/ and images/.

PAYLOAD=/payload
KVER=$(uname -r)
export CONTAINERS_CONF=$PAYLOAD/vm/guest/containers.conf CONTAINERS_STORAGE_CONF=$PAYLOAD/vm/guest/storage.conf

. "$(dirname "${BASH_SOURCE[0]}")/../../assert.sh"

assert_calm_kernel() { assert_lacks "$(dmesg)" 'BUG:|WARNING:|Oops|refcount_t|INFO: task' "the kernel's log"; }

# --- modules ---------------------------------------------------------------------------------------------------------
live() { [ "$(cat "/sys/module/$1/initstate" 2>/dev/null)" = live ]; }

# identity MODULE: srcversion, or where it has none (Debian's inbox modules) the GNU build-id
identity() {
	cat "/sys/module/$1/srcversion" 2>/dev/null ||
		od -An -vtx1 -j16 "/sys/module/$1/notes/.note.gnu.build-id" | tr -d ' \n'
}

# snapshot_stack: "MODULE IDENTITY" for each live module of the RDMA stack
snapshot_stack() {
	local name
	for name in $(cut -d' ' -f1 /proc/modules | grep -E '^(ib|iw|rdma|mlx|nvme_rdma|nvmet_rdma|rpcrdma)' | sort); do
		echo "$name $(identity "$name")"
	done
}

# assert_stack_is SNAPSHOT [WHAT]
assert_stack_is() {
	local now
	now=$(snapshot_stack)
	if [ "$now" != "$1" ]; then
		diff <(echo "$1") <(echo "$now") || blame "${2:-the live RDMA stack} is another (< wanted, > live)"
	fi
}

inbox_stack_up() { modprobe -a mlx5_core mlx5_ib ib_umad rdma_ucm ib_ipoib rdma_rxe; }

# udevd_up: a node's systemd-udevd, which loads modules by itself
udevd_up() {
	/lib/systemd/systemd-udevd --daemon
	udevadm trigger --type=subsystems
	udevadm trigger --type=devices
	udevadm settle --timeout=30
}

# pci_devices TOPOLOGY: the simulated PCI devices of vm/topologies/TOPOLOGY
pci_devices() { insmod "$PAYLOAD/modules/pcisim.ko" "file=$PAYLOAD/vm/topologies/$1"; }

# put_over TARGET FILE: FILE is seen at TARGET until the node is reset
put_over() { mount --bind "$2" "$1"; }

# --- RDMA over a dummy netdev ----------------------------------------------------------------------------------------
rxe_up() {
	ip link add d0 type dummy
	ip addr add 192.0.2.1/24 dev d0
	ip link set d0 up
	rdma link add rxe0 type rxe netdev d0
}

rxe_down() {
	rdma link delete rxe0
	ip link del d0
}

# rxe_loopback: one RDMA write test against itself; prints its average in MB/s
rxe_loopback() {
	local server report
	rxe_up
	ib_write_bw -d rxe0 -x 1 -s 4096 -n 200 >/run/write_bw.server 2>&1 &
	server=$!
	wait_for 20 "ib_write_bw listens" eval 'ss -Hltn sport = :18515 | grep -q .'
	report=$(ib_write_bw -d rxe0 -x 1 -s 4096 -n 200 192.0.2.1 2>&1) || blame "ib_write_bw: $report"
	wait "$server"
	rxe_down
	awk '$1 == 4096 && NF >= 4 { print $4; found = 1 } END { exit !found }' <<<"$report" ||
		blame "ib_write_bw said no bandwidth: $report"
}

# --- ofed-driver, as a node runs it ----------------------------------------------------------------------------------
# driver_image: loads the image of this kernel (or of all) once for each boot, prints its name
driver_image() {
	local archive
	if [ ! -s /run/driver-image ]; then
		for archive in "$PAYLOAD/images/ofed-driver-$KVER.tar" "$PAYLOAD/images/ofed-driver.tar"; do
			[ -f "$archive" ] || continue
			podman load -q -i "$archive" | sed -n 's/^Loaded image: *//p' >/run/driver-image
			break
		done
	fi
	cat /run/driver-image 2>/dev/null || blame "no image in $PAYLOAD/images"
}

# The rights of shared/design/node.md and no other.
RIGHTS=(--cap-drop=all --cap-add=SYS_MODULE,NET_ADMIN,SYS_PTRACE,DAC_READ_SEARCH --read-only --network=host
	--stop-timeout=300 -v /:/host:ro,rslave)

# driver_podman OPTIONS... -- ARGS...: the container that carries trees
driver_podman() {
	local options=() image
	image=$(driver_image) || return
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	podman run "${RIGHTS[@]}" "${options[@]}" "$image" "$@"
}

# ofed_driver ARGS...: in the foreground. DRIVER_OPTIONS: an array of more podman options (--env ...)
ofed_driver() { driver_podman --rm ${DRIVER_OPTIONS+"${DRIVER_OPTIONS[@]}"} -- "$@"; }

# driver_start NAME ARGS...; driver_log NAME; driver_stop NAME: SIGTERM, then its log and exit status
driver_start() { driver_podman -d --name "$1" ${DRIVER_OPTIONS+"${DRIVER_OPTIONS[@]}"} -- "${@:2}" >/dev/null; }
driver_log() { podman logs "$1" 2>&1; }
driver_status() { podman inspect -f '{{.State.ExitCode}}' "$1"; }
driver_stop() {
	podman stop "$1" >/dev/null
	driver_log "$1"
	return "$(driver_status "$1")"
}

# ofed_driver_direct ARGS...: the static binary on the node itself
ofed_driver_direct() { "$PAYLOAD/bin/ofed-driver" "$@"; }

# --- back to what it was ---------------------------------------------------------------------------------------------
# The state at boot is kept in /var/node, outside all that is cleaned.
remember_node() {
	mkdir -p /var/node
	cut -d' ' -f1 /proc/modules | sort >/var/node/modules
	cut -d' ' -f5 /proc/self/mountinfo | sort >/var/node/mounts
	ls /run >/var/node/run
}

reset_node() {
	local mount name
	trap - ERR
	set +e
	if [ -d /run/libpod ]; then podman rm -f -t 0 -a >/dev/null; fi
	if [ -d /sys/fs/cgroup/scenario ]; then echo 1 >/sys/fs/cgroup/scenario/cgroup.kill; fi
	rdma link 2>/dev/null | sed -n 's/^link \([^/]*\)\/.*/\1/p' | xargs -r -n1 rdma link delete
	ip -o link show type dummy | cut -d: -f2 | xargs -r -n1 ip link del
	cut -d' ' -f5 /proc/self/mountinfo | sort | comm -13 /var/node/mounts - | tac | xargs -r -d '\n' umount -l
	echo 1 >/sys/kernel/rcu_expedited
	unload_all
	builder_reset
	ls /run | grep -vxFf /var/node/run | grep -vE '^(libpod|containers|crun|driver-image)$' | sed 's#^#/run/#' |
		xargs -r -d '\n' rm -rf
	echo 0 >/sys/kernel/rcu_expedited
	echo 1 >/sys/bus/pci/drivers_autoprobe
	dmesg -C
	[ -z "$(modules_left)" ] || { echo "cannot be unloaded: $(modules_left | tr '\n' ' ')"; return 1; }
}

modules_left() { cut -d' ' -f1 /proc/modules | sort | comm -13 /var/node/modules -; }

unload_all() {
	local before=
	while [ "$(modules_left)" != "$before" ]; do
		before=$(modules_left)
		modules_left | while read -r name; do
			[ "$(cat "/sys/module/$name/refcnt" 2>/dev/null)" != 0 ] || rmmod "$name" 2>/dev/null
		done
	done
}
