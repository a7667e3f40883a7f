# the inbox RDMA stack loads, an RDMA write goes over rxe, and the node can be brought back to what it was
# kernels: 6.1 6.12
# payload: none
inbox_stack_up
say "$(snapshot_stack)"
for module in mlx5_core mlx5_ib ib_ipoib ib_umad rdma_ucm rdma_rxe; do
	live $module || fail "$module is not live"
done
say "RDMA write: $(rxe_loopback) MB/s"
put_over /etc/issue /etc/hostname
sleep 1000 &
modprobe veth && ip link add veth0 type veth peer name veth1
touch /run/left-behind
