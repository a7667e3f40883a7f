# a running systemd-udevd that gets uevents all the while cannot slip an inbox module in
# kernels: 6.1
pci_devices one-nic-one-gpu
inbox_stack_up
inbox=$(snapshot_stack)
udevd_up
(while :; do udevadm trigger --action=add --subsystem-match=pci --subsystem-match=net; udevadm settle; done) &
for i in 1 2 3; do
	driver_start "ofed$i" run
	driver_ready "ofed$i"
	assert_stack_of "$(image_tree)"
	driver_stop "ofed$i" >/run/log
	assert_stack_is "$inbox"
	say "round $i: $(grep -c slipped /run/log || true) slipped in and taken out"
done
kill %1
