# a full disk at the journal, a read-only run/modprobe.d, links that loop or leave the root, a damaged symvers: a reason, and nothing changed
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
core=$(stat -c %i /sys/module/ib_core)
assert_unmoved() {
	assert_stack_is "$inbox"
	assert_eq "$(stat -c %i /sys/module/ib_core)" "$core" "ib_core, which must not have moved,"
	[ ! -e $READY ] || fail "a ready file"
}

# a disk with room for the tree and none for the journal
mkdir -p /run/gdrkit
mount -t tmpfs -o size=16m full /run/gdrkit
mkdir /run/gdrkit/trees
cp -r /payload/trees/b/* /run/gdrkit/trees/
dd if=/dev/zero of=/run/gdrkit/filler bs=4k status=none || true
assert_status 111 ofed_driver load --tree /host/payload/trees/b
assert_has "$OUTPUT" JOURNAL_FAILED
assert_unmoved
umount /run/gdrkit

mkdir -p /run/modprobe.d
mount -t tmpfs -o ro read-only /run/modprobe.d
assert_status 111 ofed_driver load --tree /host/payload/trees/b
assert_has "$OUTPUT" GUARD_FAILED
assert_has "$OUTPUT" modprobe.d
assert_unmoved
umount /run/modprobe.d
assert_eq "$(cat /sys/kernel/rcu_expedited)$(cat /sys/bus/pci/drivers_autoprobe)" 01 "the guards' settings"

# the host's lib/modules is not to be trusted: a link that loops, one that leaves the root
mkdir -p /run/root/{lib/modules,proc,sys,run,etc}
for dir in proc sys; do
	mount --rbind /$dir /run/root/$dir
	mount --make-rslave /run/root/$dir
done
ln -s "$KVER" "/run/root/lib/modules/$KVER"
assert_status 1 ofed_driver_direct load --host-root /run/root --tree /payload/trees/b
assert_has "$OUTPUT" UNDO_IMPOSSIBLE
assert_unmoved
ln -sfn "../../../../lib/modules/$KVER" "/run/root/lib/modules/$KVER"
assert_status 1 ofed_driver_direct load --host-root /run/root --tree /payload/trees/b
assert_has "$OUTPUT" UNDO_IMPOSSIBLE
assert_unmoved

# a Module.symvers with a column missing, and one with a line of 10 MB
symvers=/run/root/usr/src/linux-headers-$KVER/Module.symvers
mkdir -p "$(dirname "$symvers")"
printf '0x12345678\tone\tvmlinux\tEXPORT_SYMBOL\t\n0x12345678\ttwo\n' >"$symvers"
assert_status 1 ofed_driver_direct load --host-root /run/root --tree /payload/trees/b
assert_has "$OUTPUT" SYMVERS_INVALID
assert_has "$OUTPUT" "Module.symvers:2"
head -c 10M /dev/zero | tr '\0' x >"$symvers"
assert_status 1 ofed_driver_direct load --host-root /run/root --tree /payload/trees/b
assert_has "$OUTPUT" SYMVERS_INVALID
assert_unmoved
