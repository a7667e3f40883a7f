# what the container's one process keeps while it waits
# kernels: 6.1
. "$PAYLOAD/vm/scenarios/rows.bash"

inbox_stack_up
driver_start ofed run
driver_ready ofed
podman exec ofed /ofed-driver status --ready # a probe has asked it, as it will again and again
pid=$(podman inspect -f '{{.State.Pid}}' ofed)
wait_for 10 "nobody but PID 1 is in the container" eval '[ "$(podman top ofed pid | wc -l)" = 2 ]'
pss=$(awk '$1 == "Pss:" { print $2 }' "/proc/$pid/smaps_rollup")
row memory "$(quotient "$pss" 1024)" MiB 1 "Pss of the container's PID 1 while it waits, after a probe"
