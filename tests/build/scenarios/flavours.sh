# a module is built for amd64, cloud, rt and 6.12, none of them running, from headers with absolute links under /host
small_source
for name in amd64 cloud rt 6.12; do
	KVER=$(kernel_named "$name")
	builds_again
	assert_eq "$(jq -r '.kernel' "$TREE/manifest.json")" "$KVER" "the manifest's kernel"
	assert_has "$(modinfo -F vermagic "$TREE"/lib/modules/*/*/$SMALL.ko)" "$KVER SMP" "vermagic"
done
assert_has "$(jq -r .compiler "$TREE/manifest.json")" "12.2.0" "the compiler"
assert_eq "$(trees | grep -c '\.ko$')" 4 "modules in the store"
assert_eq "$(stored)" "$(printf '.log-KEY\n%.0s' {1..4}; printf 'KEY\n%.0s' {1..4})" "the store"
refute in_container test -e /usr/src/linux-headers-"$KVER"
