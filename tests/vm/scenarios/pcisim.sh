# a topology file becomes PCI devices with switches, ACS and link states; a bad line is named
# kernels: 6.1 6.12
# payload: none
pci=/sys/bus/pci/devices
topology=/run/topology

assert_rejected() { # TEXT LINE WHY
	printf '%s' "$1" >$topology
	dmesg -C
	assert_status 1 insmod "$PAYLOAD/modules/pcisim.ko" file=$topology
	assert_has "$OUTPUT" "Invalid parameters"
	assert_has "$(dmesg)" "$topology:$2: $3" "the kernel's log"
}

pci_devices dgx-like
assert_eq "$(lspci -d 10de: | wc -l)" 8 "the number of GPUs"
assert_eq "$(lspci -d 15b3: | wc -l)" 6 "the number of ConnectX functions"
assert_has "$(lspci -vv -s 1000:02:00.0)" "ACSCtl:	SrcValid- TransBlk- ReqRedir- CmpltRedir-"
assert_has "$(lspci -vv -s 1001:02:00.0)" "ACSCtl:	SrcValid+ TransBlk- ReqRedir+ CmpltRedir+"
assert_has "$(lspci -vv -s 1000:03:00.0)" "Device Serial Number b8-3f-d2-03-00-a1-00-00"
assert_eq "$(cat $pci/1001:05:00.0/current_link_speed)" "8.0 GT/s PCIe" "the link behind the bad riser"
assert_eq "$(cat $pci/1001:05:00.0/max_link_speed)" "32.0 GT/s PCIe" "what that GPU could do"
assert_eq "$(cat $pci/1001:02:02.0/current_link_width)" 8 "the port's view of that link"
assert_lacks "$(dmesg)" "not claimed" "the kernel's log"
rmmod pcisim
assert_eq "$(lspci -d 10de: | wc -l)" 0 "GPUs after rmmod"

assert_rejected "gpu" 1 "unknown kind of device"
assert_rejected "root-port" 1 "the first line of a tree is a host"
assert_rejected "host domain=0" 1 "the machine has that domain already"
assert_rejected $'host domain=1000\nhost domain=1000' 2 "two hosts have that domain"
assert_rejected $'# a comment\n\nhost domain=1000\n root-port gen=9' 4 "a word's value is out of range"
assert_rejected $'host domain=1000\n root-port colour=red' 2 "unknown word"
assert_rejected $'host domain=1000\n switch-down' 2 "root ports, and only they and endpoints, stand on a root bus"
assert_rejected $'host domain=1000\n root-port\n  t4\n  t4' 4 "no free slot"
assert_rejected $'host domain=1000\n root-port\n  t4\n   t4' 4 "nothing hangs below an endpoint"
assert_eq "$(ls -d $pci/1000:* 2>/dev/null | wc -l)" 0 "devices of rejected files"
