# the image's own source, the kernel's RDMA stack, is built by the recipe that ships
KVER=$(kernel_named amd64)
builds_again
names=$(jq -r '.modules[].name' "$TREE/manifest.json")
for name in ib_core mlx5_core mlx5_ib ib_ipoib rdma_rxe; do
	assert_has "$names" $name "the modules"
done
[ -s "$(echo "$TREE"/usr/src/ofa_kernel/*/"$KVER"/Module.symvers)" ] || fail "no symbols for other builds"
[ -n "$(logged progress)" ] || fail "it built for minutes without a word"
finds
