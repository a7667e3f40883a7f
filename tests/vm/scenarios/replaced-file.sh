# the host's file of a live module was replaced by another build: UNDO_IMPOSSIBLE before the first unload
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
core=$(stat -c %i /sys/module/ib_core)
put_over "$(modinfo -n iw_cm)" "$(find /payload/trees/b -name iw_cm.ko)"
assert_status 1 ofed_driver load --tree /host/payload/trees/b
assert_has "$OUTPUT" UNDO_IMPOSSIBLE
assert_has "$OUTPUT" iw_cm
assert_stack_is "$inbox"
assert_eq "$(stat -c %i /sys/module/ib_core)" "$core" "ib_core, which must not have moved,"
