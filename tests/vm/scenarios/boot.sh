# a guest boots Debian's own kernel and sees ConnectX NICs and GPUs behind bridges
# kernels: 6.1 6.12
# payload: none
pci_devices one-nic-one-gpu
lspci -tv
pci=/sys/bus/pci/devices
assert_has "$(lspci -s 1000:01:00.0)" "ConnectX-5"
assert_has "$(lspci -s 1000:02:00.0)" "T4"
assert_eq "$(basename "$(dirname "$(readlink -f $pci/1000:02:00.0)")")" 1000:00:01.0 "the GPU's bridge"
assert_eq "$(cat $pci/1000:02:00.0/current_link_width)" 16 "the GPU's link width"
rmmod pcisim
[ ! -e /sys/bus/pci/devices/1000:01:00.0 ]
