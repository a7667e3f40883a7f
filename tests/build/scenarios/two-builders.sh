# two builders of the same tree at once build it once
commands_source '[./configure]' "$KBUILD_COMMAND" <<'END'
#!/bin/sh
touch begun
sleep 2
END
build_begins
builds
assert_eq "$(logged waiting event)" waiting "the second's events"
assert_eq "$(logged building event)" "" "the second's events"
second=$TREE
wait $BUILD
assert_eq "$(stored)" ".log-KEY
KEY" "the store"
finds
assert_eq "$TREE" "$second" "the tree"
