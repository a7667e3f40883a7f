# an image without a compiler: COMPILER_MISSING, and nothing is made
small_source
without_compiler
fails 1 COMPILER_MISSING
assert_eq "$(trees)" "" "the trees in the store"
