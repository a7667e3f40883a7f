# a container replaces the inbox RDMA stack by its tree, RDMA works on it, and SIGTERM gives the inbox stack back
# kernels: 6.1 6.12
pci_devices one-nic-one-gpu
inbox_stack_up
inbox=$(snapshot_stack)
say "RDMA write on the inbox stack: $(rxe_loopback) MB/s"

driver_start ofed run
driver_ready ofed
driver_log ofed | grep -E 'swapped|ready'
assert_stack_of "$(image_tree)"
assert_eq "$(ready_value DRIVER)" "$(manifest_value "$(image_tree)" .name)" "DRIVER in the ready file"
assert_eq "$(ready_value BOOT_ID)" "$(cat /proc/sys/kernel/random/boot_id)" "BOOT_ID in the ready file"
[ -s /run/mellanox/drivers/usr/src/ofa_kernel/x86_64/$KVER/Module.symvers ]
[ -d /run/mellanox/drivers/usr/src/ofa_kernel/default/include/rdma ]
assert_guards_down
podman exec ofed /ofed-driver status --live
podman exec ofed /ofed-driver status --ready
say "RDMA write on the new stack: $(rxe_loopback) MB/s"

driver_stop ofed >/run/log || fail "stopping ended with $(driver_status ofed): $(cat /run/log)"
assert_stack_is "$inbox"
[ ! -e $READY ] || fail "the ready file is still there"
[ ! -e /run/mellanox/drivers/usr/src/ofa_kernel ] || fail "the exposed tree is still there"
assert_guards_down
say "RDMA write on the inbox stack again: $(rxe_loopback) MB/s"
