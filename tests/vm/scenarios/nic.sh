# a NIC's driver: refused while its netdev is configured, else swapped, its device bound again, after a crash too
# kernels: 6.1
modprobe e1000e
slot=$(basename "$(ls -d /sys/bus/pci/drivers/e1000e/0000:*)")
netdev() { ls "/sys/bus/pci/devices/$slot/net"; }
inbox=$(identity e1000e)
tree=/payload/trees/nic
assert_bound() {
	assert_eq "$(basename "$(readlink "/sys/bus/pci/devices/$slot/driver")")" e1000e "the driver of $slot"
	[ -n "$(netdev)" ]
}

ip addr add 192.0.2.9/24 dev "$(netdev)"
ip link set "$(netdev)" up
assert_status 1 ofed_driver load --tree "/host$tree"
assert_has "$OUTPUT" NETWORK_IN_USE
assert_has "$OUTPUT" "$(netdev)"
assert_has "$OUTPUT" 192.0.2.9
assert_eq "$(identity e1000e)" "$inbox" "the live e1000e"
assert_has "$(ip addr show dev "$(netdev)")" 192.0.2.9

ip addr flush dev "$(netdev)"
ip link set "$(netdev)" down
driver_start ofed run --tree "/host$tree"
driver_ready ofed
assert_stack_of $tree
assert_bound
assert_guards_down
driver_stop ofed >/dev/null
assert_eq "$(identity e1000e)" "$inbox" "e1000e, given back,"
assert_bound

# killed between the load and the bind: with drivers_autoprobe still 0 nothing else would bind the device
export GDRKIT_TREE=$tree
for ((n = 1; ; n++)); do
	stop_after "$n" load || break
	kill -9 "$STOPPED"
	{ wait "$STOPPED" || true; } 2>/dev/null
	ofed_driver_direct load --retry 2>/dev/null
	assert_stack_of $tree
	assert_bound
	assert_guards_down
	ofed_driver_direct unload 2>/dev/null
	assert_eq "$(identity e1000e)" "$inbox" "e1000e, after a kill at line $n,"
	assert_bound
done
say "killed at $((n - 1)) places"
[ "$n" -gt 9 ] || fail "only $((n - 1)) lines in the journal"
