# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# One boot of a guest: the payload disk, QEMU, and the choice between KVM and TCG. Needs cache.sh.

# make_payload KVER BUILT DIR ORDER: DIR/payload.ext4, all that the guest sees of the work tree. BUILT: a directory,
# "none", or nothing: what tests/vm/payload makes. ORDER: its lines "SCENARIO SECONDS"
make_payload() {
	local kver=$1 built=$2 dir=$3 tree=$3/payload module lock
	rm -rf "$tree"
	mkdir -p "$tree/vm" "$tree/modules"
	cp -r "$vm_dir"/{guest,topologies} "$tree/vm/"
	cp "$vm_dir/../assert.sh" "$tree/"
	cp -r "${scenarios:-$vm_dir/scenarios}" "$tree/vm/scenarios"
	for module in "$vm_dir"/modules/*/; do
		cp "$("$vm_dir/fixture" "$(basename "$module")" "$kver")" "$tree/modules/"
	done
	if [ "$built" != none ]; then
		exec {lock}>"$cache_dir/payload.lock"
		flock "$lock"
		built=${built:-$("$vm_dir/payload" "$kver")}
		cp -r "$built/." "$tree/"
		exec {lock}>&-
	fi
	echo "$4" >"$tree/order"
	rm -f "$dir/payload.ext4"
	truncate -s "$(($(du -sm "$tree" | cut -f1) * 5 / 4 + 16))M" "$dir/payload.ext4"
	mkfs.ext4 -q -O ^has_journal -d "$tree" "$dir/payload.ext4"
}

# boot NODE DIR TIMEOUT [BUILDER]: replaces this process by a guest that says what it does on stdout. It ends when the
# guest powers off (0) or at the deadline (124); the kernel's own words go to DIR/console. BUILDER: a third disk's
# directory
boot() {
	local node=$1 dir=$2 builder=()
	if [ -n "${4-}" ]; then builder=(-drive "file=$4/builder.ext4,if=virtio,format=raw,snapshot=on"); fi
	exec timeout --foreground -k 5 "$3" qemu-system-x86_64 "${machine[@]}" "${accel[@]}" \
		-kernel "$node/vmlinuz" -initrd "$node/initrd" -append 'console=ttyS0 panic=-1 loglevel=5' \
		-drive "file=$node/root.ext4,if=virtio,format=raw,snapshot=on" \
		-drive "file=$dir/payload.ext4,if=virtio,format=raw,snapshot=on" "${builder[@]}" \
		-netdev user,id=wire,restrict=on -device e1000e,netdev=wire \
		-serial "file:$dir/console" -serial stdio </dev/null 2>>"$dir/console.qemu"
}

machine=(-nodefaults -no-user-config -no-reboot -display none -vga none -machine q35 -smp 2 -m 2048)

# KVM may be there and still hang a guest: it is used only where it has booted this kernel.
probe_kvm() {
	local node=$1 out=$2
	echo tcg >"$out/answer"
	if [ -w /dev/kvm ] && timeout -k 1 8 qemu-system-x86_64 "${machine[@]}" -accel kvm -cpu host \
		-kernel "$node/vmlinuz" -initrd "$node/initrd" -append 'gdrkit.probe panic=-1' </dev/null; then
		echo kvm >"$out/answer"
	fi
}

# choose_accel NODE: sets accel
choose_accel() {
	local key
	key=$({ uname -a; cat /proc/sys/kernel/random/boot_id; qemu-system-x86_64 --version; } | digest)
	case $(cat "$(cache accel "$key" probe_kvm "$1")/answer") in
	kvm) accel=(-accel kvm -cpu host) ;;
	*) accel=(-accel tcg,thread=multi -cpu max) ;;
	esac
}
