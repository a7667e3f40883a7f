# a new module that fails in init: the old set is back, 111 and LOAD_FAILED; the next start refuses it untouched, --retry tries
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
tree=/host/payload/trees/badinit

assert_status 111 ofed_driver load --tree $tree
assert_has "$OUTPUT" LOAD_FAILED
assert_has "$OUTPUT" rdma_rxe
assert_stack_is "$inbox"
assert_guards_down
[ ! -e $READY ] || fail "a ready file after a failure"

core=$(stat -c %i /sys/module/ib_core)
assert_status 1 ofed_driver load --tree $tree
assert_has "$OUTPUT" FAILED_BEFORE
assert_stack_is "$inbox"
assert_eq "$(stat -c %i /sys/module/ib_core)" "$core" "ib_core, which must not have moved,"

assert_status 111 ofed_driver load --tree $tree --retry
assert_has "$OUTPUT" LOAD_FAILED
assert_stack_is "$inbox"

# another tree is not held back by the memory
assert_status 0 ofed_driver load --tree /host/payload/trees/b
assert_stack_of /payload/trees/b
