# kill -9 after every line of the journal in turn: the next start ends in wholly old or wholly new
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
export GDRKIT_TREE=/payload/trees/b

kill_stopped() {
	kill -9 "$STOPPED"
	{ wait "$STOPPED" || true; } 2>/dev/null
}

for ((n = 1; ; n++)); do
	stop_after "$n" load || break
	kill_stopped
	assert_status 0 ofed_driver_direct unload
	assert_stack_is "$inbox" "after a kill at line $n and unload, the stack"
	assert_guards_down

	stop_after "$n" load
	kill_stopped
	assert_status 0 ofed_driver_direct load --retry
	assert_stack_of "$GDRKIT_TREE"
	assert_guards_down
	ofed_driver_direct unload 2>/dev/null
	assert_stack_is "$inbox"
done
say "killed at $((n - 1)) places"
[ "$n" -gt 15 ] || fail "only $((n - 1)) lines in the journal"
