# two instances at once: the second waits on the lock and says so, and takes over when the first has gone
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
DRIVER_OPTIONS=(--env GDRKIT_REVISION=one --env RESTORE_DRIVER_ON_POD_TERMINATION=false)
driver_start one run --tree /host/payload/trees/b
driver_ready one
stack=$(snapshot_stack)

DRIVER_OPTIONS=(--env GDRKIT_REVISION=two)
driver_start two run --tree /host/payload/trees/b
wait_for 30 "the second says that it waits" eval 'driver_log two | grep -q waiting'
assert_status 1 podman exec two /ofed-driver status --ready
podman exec two /ofed-driver status --live
assert_eq "$(ready_value REVISION)" one

driver_stop one >/dev/null
wait_for 30 "the second has taken over" eval '[ "$(ready_value REVISION)" = two ]'
assert_stack_is "$stack"
podman exec two /ofed-driver status --ready
driver_stop two >/dev/null
assert_stack_is "$inbox"

# a stop while it waits for the lock changes nothing
DRIVER_OPTIONS=()
driver_start three run --tree /host/payload/trees/b
driver_ready three
driver_start four run --tree /host/payload/trees/b
wait_for 30 "the second says that it waits" eval 'driver_log four | grep -q waiting'
driver_stop four >/dev/null && fail "a driver that was never ready ended with 0"
assert_eq "$(driver_status four)" 143
podman exec three /ofed-driver status --ready
