# what uses the stack refuses a swap by name: storage, a configured netdev, an open device; all at once, and nothing moves
# kernels: 6.1
inbox_stack_up
modprobe nvme_rdma
inbox=$(snapshot_stack)
assert_status 1 ofed_driver load
assert_has "$OUTPUT" STORAGE_IN_USE
assert_has "$OUTPUT" nvme_rdma
assert_stack_is "$inbox"
modprobe -r nvme_rdma

rxe_up
(exec 3<>/dev/infiniband/uverbs0; exec sleep 300) &
wait_for 10 "uverbs0 is open" eval '[ "$(cat /sys/module/ib_uverbs/refcnt)" -gt 3 ] || ls -l /proc/*/fd 2>/dev/null | grep -q uverbs0'
assert_status 1 ofed_driver load
assert_has "$OUTPUT" MODULE_IN_USE
assert_stack_is "$(snapshot_stack)"
kill %1
wait_for 10 "uverbs0 is closed" eval '! ls -l /proc/*/fd 2>/dev/null | grep -q uverbs0'
assert_status 0 ofed_driver plan
assert_has "$OUTPUT" unload
assert_has "$OUTPUT" mlx5_core
rxe_down
