# a build on the node that is stopped or killed is gone with all that it made, and two containers at once build once
# kernels: 6.1
# builder: yes
headers_up
assert_nobody_builds() { assert_lacks "$(ps -e -o comm=)" '^(make|sh|gcc.*|cc1|as|ld|objtool)$' "what runs on the node"; }

source_driver_start stopped run
compiling 90
pid=$(podman inspect -f '{{.State.Pid}}' stopped)
began=$(date +%s%3N)
kill -TERM "$pid"
wait_for 5 "PID 1 of the container has gone after SIGTERM" eval '[ ! -d /proc/$pid ]'
say "SIGTERM: gone in $(($(date +%s%3N) - began)) ms"
assert_eq "$(podman wait stopped)" 143 "the exit status after SIGTERM"
assert_nobody_builds
assert_eq "$(cached)" .log-KEY "what is in the cache"
refute live $SMALL

source_driver_start killed run
compiling 90
podman kill -s KILL killed >/dev/null
assert_eq "$(podman wait killed)" 137 "the exit status after SIGKILL"
assert_nobody_builds
refute live $SMALL

source_driver_start one run
compiling 90
source_driver_start two run
wait_for 60 "the second says that it waits for the first's build" eval 'driver_log two | grep -q "another build"'
driver_ready one 300
assert_small_live
assert_eq "$(cached)" $'.log-KEY\nKEY' "what is in the cache"
driver_stop one >/dev/null
driver_ready two
assert_small_live
assert_eq "$(count_logged one building)+$(count_logged two building)" 1+0 "the number of builds"
podman exec two /ofed-driver status --ready
driver_stop two >/dev/null
refute live $SMALL
