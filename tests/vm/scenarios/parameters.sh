# module parameters: modprobe.d counts for what is loaded, and what was set before is set again on the way back
# kernels: 6.1
modprobe ib_core send_queue_size=77
inbox_core_up
p=/sys/module/ib_core/parameters
say "parameters of ib_core: $(cd $p && grep -H . * | tr '\n' ' ')"
assert_eq "$(cat $p/send_queue_size)" 77
mkdir -p /run/modprobe.d
echo 'options ib_core recv_queue_size=99' >/run/modprobe.d/site.conf
driver_start ofed run --tree /host/payload/trees/b
driver_ready ofed
assert_eq "$(cat $p/recv_queue_size)" 99 "recv_queue_size from modprobe.d"
assert_eq "$(cat $p/send_queue_size)" 128 "send_queue_size, which modprobe.d does not set,"
driver_stop ofed >/dev/null
assert_eq "$(cat $p/send_queue_size)" 77 "send_queue_size as it was before"
assert_eq "$(cat $p/recv_queue_size)" 512 "recv_queue_size as it was before"
