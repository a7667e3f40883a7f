# a command that never ends, with --timeout: WAIT_TIMEOUT, its children are gone, and nothing but the log is left
commands_source '[./configure]' <<'END'
#!/bin/sh
trap '' TERM
touch begun
echo 'checking for the end of the world...'
sleep 86398 &
sleep 86399
END
before=$(date +%s)
fails 124 WAIT_TIMEOUT --timeout 3s
took=$(($(date +%s) - before))
[ $took -ge 2 ] && [ $took -lt 7 ] || fail "it took $took s"
assert_eq "$(stored)" .log-KEY "the store"
assert_has "$(cat "$STORE"/.log-*)" 'end of the world' "the log"
assert_eq "$(pgrep -fx "sleep 8639[89]" || true)" "" "its children"
