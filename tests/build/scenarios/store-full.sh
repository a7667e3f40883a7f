# no space left in the store: STORE_UNUSABLE, nothing half-written, and with space the next build works
small_source
for size in 16k 128k 1000k; do
	mount -t tmpfs -o size=$size none "$STORE"
	case $size in 1000k) dd if=/dev/zero of="$STORE/filler" bs=1k count=900 status=none ;; esac
	fails 111 STORE_UNUSABLE
	assert_has "$DETAIL" "No space left" "why"
	assert_eq "$(stored | grep -v -e '^\.log-' -e '^filler$' || true)" "" "the store, of $size"
	[ $size = 1000k ] || umount "$STORE"
done
mount -o remount,size=64m "$STORE"
builds_again
umount "$STORE"

mount -t tmpfs -o ro none "$STORE"
fails 111 STORE_UNUSABLE
