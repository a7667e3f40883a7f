# an error in the source: BUILD_FAILED with the compiler's first error, and the whole log is kept
small_source
sed -i 's/return r;/return no_such_thing;/' "$SOURCE/$SMALL.c"
fails 1 BUILD_FAILED
assert_has "$DETAIL" "no_such_thing" "the first error"
assert_eq "$(stored)" .log-KEY "the store"
assert_has "$(cat "$STORE"/.log-*)" "no_such_thing" "the log"

cp "$top/tests/vm/small/$SMALL.c" "$SOURCE/"
sed -i 's/^modules: .*/modules: [gdr_small, gdr_large]/' "$SOURCE/driver.conf"
fails 1 BUILD_FAILED
assert_has "$OBJECT $DETAIL" gdr_large "the module that was not made"
assert_eq "$(trees)" "" "the trees in the store"
