# a configure script that writes outside of its directory does not get through, and the build says so
places=(/host/run /tmp /var/tmp /mnt /mnt/drivers-inventory /source /dev/shm /etc /root /)
commands_source '[./configure]' "$KBUILD_COMMAND" <<'END'
#!/bin/bash
touch "$HOME/mine" "${TMPDIR:-.}/mine" ./mine && : >/dev/null && mkdir -p "$PWD/a/b" && echo 'its own can be written'
for dir in /host/run /tmp /var/tmp /mnt /mnt/drivers-inventory /source /dev/shm /etc /root /; do
	touch $dir/escaped; mkdir $dir/escaped.d; ln -s x $dir/escaped.l; mv ./mine $dir/escaped.m; mkfifo $dir/escaped.p
done
ln /etc/passwd ./hard; mv /etc/passwd ./stolen; rm -f /mnt/drivers-inventory/before
echo pwned >>/host/run/before; echo pwned >>/etc/passwd; truncate -s 0 /source/driver.conf
mknod ./disk b 254 0; mount -t tmpfs none ./a; kill -9 $PPID; rm -rf /mnt/drivers-inventory/.log-*
grep -E '^(Cap(Prm|Eff|Bnd|Inh|Amb)|NoNewPrivs)' /proc/self/status | tr '\n' ' '
END
echo before | tee "$work_dir/run/before" >"$STORE/before"
builds_again
[ "$(logged building landlock)" -ge 1 ] || fail "this machine has no Landlock: $(logged building)"
said=$(cat "$STORE"/.log-*)
assert_has "$said" 'its own can be written' "the log"
assert_has "$said" 'NoNewPrivs:	1' "the log"
assert_lacks "$(grep -o 'Cap...:	[0-9a-f]*' <<<"$said")" '[1-9a-f][0-9a-f]*$' "capabilities"
for dir in "${places[@]}"; do
	assert_has "$said" "touch: cannot touch '$dir/escaped'" "the log"
done
assert_eq "$(in_container find / -xdev -name 'escaped*' 2>/dev/null || true)" "" "files"
assert_eq "$(find "$work_dir" /dev/shm -name 'escaped*')" "" "files"
assert_eq "$(cat "$work_dir/run/before" "$STORE/before")" "before
before" "what was there"
rm "$STORE/before"

sed -i '2i touch /host/run/escaped || exit 7' "$SOURCE/configure"
fails 1 BUILD_FAILED
assert_has "$DETAIL" "cannot touch '/host/run/escaped'" "what failed"
