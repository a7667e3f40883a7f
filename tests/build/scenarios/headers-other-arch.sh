# headers of another architecture: ARCH_MISMATCH, and nothing is made
small_source
put_over_host "$HEADERS/.config" "$(edited "$host/root/$HEADERS/.config" \
	-e '/^CONFIG_\(X86\|X86_64\|64BIT\|INSTRUCTION_DECODER\)=y/d' -e '$a CONFIG_ARM64=y\nCONFIG_64BIT=y')"
fails 1 ARCH_MISMATCH
assert_has "$OBJECT $DETAIL" aarch64 "what they are for"
assert_eq "$(trees)" "" "the trees in the store"
