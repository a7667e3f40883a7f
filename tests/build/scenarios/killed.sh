# kill -9 in the middle of a build, of any of its processes: none is left, nor anything but the log; the next build works
begins() {
	build_begins
	wait_for 5 "all of it runs" eval '[ "$(inside | grep -c sleep)" = 3 ]'
}
commands_source '[./configure]' <<'END'
#!/bin/sh
sleep 301 &
setsid sleep 302 &
touch begun
sleep 303
END
begins
kill -KILL "$WORKER"
all_gone 2000
wait $BUILD || true
assert_eq "$(stored)" .log-KEY "the store"

begins
kill -KILL "$KEEPER"
all_gone 2000
wait $BUILD || true
assert_eq "$(stored)" .log-KEY "the store"

# As when a container's memory runs out, or its runtime kills it.
begins
inside | cut -d' ' -f1 | xargs kill -KILL
all_gone 2000
wait $BUILD || true
assert_eq "$(trees)" "" "the trees in the store"

rm "$SOURCE/configure"
cp "$top/tests/vm/small/driver.conf" "$SOURCE/"
builds_again
assert_lacks "$(stored)" '^\.build-' "the store"
