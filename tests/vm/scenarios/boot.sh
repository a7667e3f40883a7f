# a guest boots Debian's own kernel and sees ConnectX NICs and GPUs behind bridges
# kernels: 6.1 6.12
insmod "$PAYLOAD/modules/pcisim.ko" file="$PAYLOAD/vm/topologies/dgx-like"
lspci -t
dmesg | grep -E '100[01]:' | grep -vE 'PCI bridge to|type 0|bus resource|root bus|busn_res' | tail -60
rmmod pcisim
dmesg -C
for w in "foo" "host domain=1000
  root-port
    t4
    t4" "host domain=zz" "  root-port" "host domain=0" "host domain=1000
  switch-down" "host domain=1000
root-port" "host domain=1000
  root-port gen=9" "host domain=1000
host domain=1000" "# nothing" "host domain=1000 # no device
"; do
printf '%s' "$w" >/tmp/t
insmod "$PAYLOAD/modules/pcisim.ko" file=/tmp/t || true
dmesg -c | tail -3
rmmod pcisim || true
done
