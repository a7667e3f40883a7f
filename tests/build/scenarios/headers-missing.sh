# no headers: HEADERS_MISSING names the package for Debian, Ubuntu, Rocky and SLES, and where it was looked for
small_source
without_headers
os_release() {
	local file
	file=$(mktemp "$work_dir/os-release.XXXXXX")
	printf '%s\n' "$@" >"$file"
	put_over_host etc/os-release "$file"
}
check() {
	fails 1 HEADERS_MISSING
	assert_has "$DETAIL" "$1" "the package"
	assert_has "$DETAIL" "lib/modules/$KVER/build" "where it was looked for"
}
check "linux-headers-$KVER"
for distribution in \
	"6.8.0-45-generic ID=ubuntu ID_LIKE=debian linux-headers-6.8.0-45-generic" \
	"5.14.0-427.13.1.el9_4.x86_64 ID=rocky ID_LIKE=rhel kernel-devel-5.14.0-427.13.1.el9_4.x86_64" \
	"6.4.0-150600.23.25-default ID=sles ID_LIKE=suse kernel-default-devel"; do
	read -r KVER id like package <<<"$distribution"
	os_release "$id" "$like"
	check "$package"
done
assert_eq "$(trees)" "" "the trees in the store"

# They are there, but those of another kernel.
KVER=$(kernel_named amd64)
volumes=("${volumes[@]:0:10}" -v "$SOURCE:/source:ro")
fails 1 VERMAGIC_MISMATCH --headers "/usr/src/linux-headers-$(kernel_named cloud)"
