# a start with the goal already live moves nothing, opens no module file, and writes its own revision into the ready file
# kernels: 6.1
inbox_core_up
assert_status 0 ofed_driver load --tree /host/payload/trees/b
stack=$(snapshot_stack)
loaded=$(stat -c %Y.%i /sys/module/ib_core)

# the same tree, but for its modules: none of them could be loaded
cp -r /payload/trees/b /run/same
find /run/same -name '*.ko' -exec sh -c 'echo garbage >"$1"' - {} \;
DRIVER_OPTIONS=(--env GDRKIT_REVISION=second)
assert_status 0 ofed_driver load --tree /host/run/same
assert_stack_is "$stack"
assert_eq "$(stat -c %Y.%i /sys/module/ib_core)" "$loaded" "ib_core's directory in sysfs"
assert_eq "$(ready_value REVISION)" second
