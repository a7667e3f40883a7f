# a compiler of another major version than the kernel's: COMPILER_MISMATCH names both, and nothing is made
small_source
put_over_host "$HEADERS/.config" "$(edited "$host/root/$HEADERS/.config" \
	's/^CONFIG_CC_VERSION_TEXT=.*/CONFIG_CC_VERSION_TEXT="gcc-11 (Debian 11.3.0-12) 11.3.0"/')"
fails 1 COMPILER_MISMATCH
assert_has "$OBJECT $DETAIL" "11" "the one wanted"
assert_has "$OBJECT $DETAIL" "12.2" "the one that is there"
assert_eq "$(trees)" "" "the trees in the store"
