# the second build is a cache hit, and needs neither headers nor compiler
small_source
builds_again
first=$TREE before=$(trees)
finds
assert_eq "$TREE" "$first" "the tree"

without_headers
without_compiler
finds
assert_eq "$TREE $(trees)" "$first $before" "the tree"

echo '/* another source */' >>"$SOURCE/$SMALL.c"
fails 1 HEADERS_MISSING
