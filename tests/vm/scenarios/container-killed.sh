# a container killed in mid-swap (SIGKILL to all of it): the same container started again recovers and gets ready
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
DRIVER_OPTIONS=(--env GDRKIT_TEST_STOP_AFTER=9)
driver_start first run --tree /host/payload/trees/b
wait_for 60 "the swap stops in its middle" grep -q '"step":' /run/gdrkit/journal
wait_for 10 "the child has stopped" eval 'grep -q "^State:.T" /proc/[0-9]*/status'
podman kill -s KILL first >/dev/null
podman wait first >/dev/null
assert_status 1 ofed_driver_direct status
assert_has "$OUTPUT" "CUT OFF"

DRIVER_OPTIONS=()
driver_start second run --tree /host/payload/trees/b
driver_ready second
assert_has "$(driver_log second)" recovered
assert_stack_of /payload/trees/b
driver_stop second >/dev/null
assert_stack_is "$inbox"
