# SIGTERM in the middle of a build: gone within two seconds with all its children, and only the log is left
commands_source '[./configure]' <<'END'
#!/bin/sh
sleep 301 &
setsid sleep 302 &
touch begun
echo 'it was here'
sleep 303
END
# stops SIGNAL: to ofed-driver's first process, as a runtime sends it
stops() {
	build_begins
	kill "-$1" "$KEEPER"
	all_gone 2000
	wait $BUILD || true
	assert_eq "$(stored)" .log-KEY "the store"
	assert_has "$(cat "$STORE"/.log-*)" 'it was here' "the log"
	assert_has "$(cat "$work_dir/stderr")" "exit status $((128 + $(kill -l "$1")))" "the end"
	assert_lacks "$(cat "$work_dir/stderr")" 'reason":"SYSTEM"' "the log"
}
stops TERM
stops INT

# One that does not listen.
sed -i "2i trap '' TERM INT HUP" "$SOURCE/configure"
rm "$STORE"/.log-*
stops TERM
