# one flipped byte in a cached module: it is not used, and built again
small_source
builds_again
good=$(trees) module=$(echo "$TREE"/lib/modules/*/*/$SMALL.ko)
byte=$(od -An -tu1 -j 5000 -N 1 "$module")
printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$module" bs=1 seek=5000 conv=notrunc status=none
bad=$(trees)
[ "$good" != "$bad" ] || fail "the byte is what it was"

builds_again
assert_has "$(logged cache_rejected detail)" "$SMALL.ko" "why it is not used"
assert_eq "$(trees | grep '\.ko$')" "$(grep '\.ko$' <<<"$good")" "the modules"
finds

rm "$module"
builds_again
finds

# Where it cannot be built, the bad one is not handed out either.
printf x | dd of="$(echo "$TREE"/lib/modules/*/*/$SMALL.ko)" bs=1 seek=5000 conv=notrunc status=none
without_headers
fails 1 HEADERS_MISSING
