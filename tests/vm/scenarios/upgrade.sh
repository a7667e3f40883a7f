# from one tree to another is one swap, and exit goes back to what was there before the first
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
DRIVER_OPTIONS=(--env RESTORE_DRIVER_ON_POD_TERMINATION=false)
driver_start b run --tree /host/payload/trees/b
driver_ready b
driver_stop b >/dev/null
assert_stack_of /payload/trees/b
[ -e $READY ] || fail "the ready file went with a driver that leaves its stack"
DRIVER_OPTIONS=()
driver_start a run --tree /host/payload/trees/a
driver_ready a
assert_stack_of /payload/trees/a
assert_eq "$(ls /run/gdrkit/trees | wc -l)" 1 "kept trees"
driver_stop a >/dev/null
assert_stack_is "$inbox"
