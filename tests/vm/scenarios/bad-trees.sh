# an empty tree, a module named twice and a dependency circle are refused with their reason, and nothing is changed
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)

assert_refused() { # STATUS REASON TREE
	assert_status "$1" ofed_driver load --tree "/host/run/$3"
	assert_has "$OUTPUT" "$2"
	assert_stack_is "$inbox"
	[ ! -e $READY ] || fail "a ready file"
}

mkdir /run/nothing
assert_refused 1 TREE_MISSING nothing
assert_refused 1 TREE_MISSING not-there

changed() { # NAME JQ-PROGRAM
	cp -r /payload/trees/b "/run/$1"
	jq "$2" /run/"$1"/*/manifest.json >/run/manifest
	cp /run/manifest /run/"$1"/*/manifest.json
}
changed empty '.modules = []'
assert_refused 100 TREE_INVALID empty
changed twice '.modules += [.modules[0]]'
assert_refused 100 TREE_INVALID twice
changed circle '(.modules[] | select(.name == "ib_core")).depends = ["rdma_cm"]'
assert_refused 1 DEPENDENCY_CYCLE circle
changed untyped '.modules[0].path = 7'
assert_refused 100 TREE_INVALID untyped
cp -r /payload/trees/b /run/gone
find /run/gone -name ib_umad.ko -delete
assert_refused 100 TREE_INVALID gone
