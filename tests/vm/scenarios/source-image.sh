# a node without a tree: the source image builds it in 300 MiB, says so to who asks, and needs no headers ever after
# kernels: 6.1
# builder: yes
builder_up

# without headers
assert_status 1 source_driver --rm -- run
assert_has "$OUTPUT" HEADERS_MISSING
assert_has "$OUTPUT" "linux-headers-$KVER"
assert_eq "$(cached)" "" "what is in the cache"
refute live $SMALL
[ ! -e $READY ] || fail "a ready file"

# with them
headers_up
began=$SECONDS
DRIVER_OPTIONS=(--memory=300m)
source_driver_start ofed run
compiling 90
assert_has "$(ps -C make -o args=)" " -j1 " "what make was asked for"
podman exec ofed /ofed-driver status --live
assert_status 1 podman exec ofed /ofed-driver status --ready
assert_status 1 podman exec ofed /ofed-driver status
assert_has "$OUTPUT" "under way"
log=/mnt/drivers-inventory/.log-$(find $INVENTORY -name '.log-*' -printf '%f\n' | sed 's/.*-//')
assert_has "$OUTPUT" "$log"
refute live $SMALL
driver_ready ofed 300
say "built and loaded in $((SECONDS - began)) s"
assert_small_live
assert_eq "$(cached)" $'.log-KEY\nKEY' "what is in the cache"
assert_has "$(cat $INVENTORY/.log-*)" "$SMALL.o" "the build's log"
podman exec ofed /ofed-driver status --ready
cgroup=/sys/fs/cgroup$(cut -d: -f3 "/proc/$(podman inspect -f '{{.State.Pid}}' ofed)/cgroup")
assert_eq "$(cat "$cgroup/memory.max")" $((300 << 20)) "the container's memory limit"
assert_has "$(cat "$cgroup/memory.events")" $'\noom_kill 0' "the container's memory.events"
say "memory: $(($(cat "$cgroup/memory.peak") >> 20)) MiB at most, pages of files included"
driver_stop ofed >/dev/null
refute live $SMALL

# again, without headers
headers_down
DRIVER_OPTIONS=()
source_driver_start again run
driver_ready again
assert_eq "$(count_logged again cache_hit)" 1 "the number of cache hits"
assert_eq "$(count_logged again building)" 0 "the number of builds"
assert_small_live
driver_stop again >/dev/null

# again, with a file that is not as it was written
headers_up
printf '\377' | dd of="$(echo $INVENTORY/*/lib/modules/*/*/$SMALL.ko)" bs=1 seek=1111 conv=notrunc status=none
source_driver_start third run
driver_ready third 300
assert_has "$(driver_log third | grep cache_rejected)" sha256
assert_eq "$(count_logged third building)" 1 "the number of builds"
assert_small_live
assert_eq "$(cached)" $'.log-KEY\nKEY' "what is in the cache"
driver_stop third >/dev/null
