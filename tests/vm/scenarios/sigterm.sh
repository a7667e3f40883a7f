# SIGTERM after every line of the journal in turn: the swap ends in wholly old or wholly new
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
export GDRKIT_TREE=/payload/trees/b
old=0 new=0

for ((n = 1; ; n++)); do
	stop_after "$n" load || break
	kill -TERM "$STOPPED"
	kill -CONT "$STOPPED"
	status=0
	wait "$STOPPED" || status=$?
	if [ $status = 0 ]; then
		new=$((new + 1))
		assert_stack_of "$GDRKIT_TREE"
		ofed_driver_direct unload 2>/dev/null
	else
		old=$((old + 1))
		assert_eq $status 143 "exit status of the interrupted swap ($(tail -n 4 /run/stopped.log))"
	fi
	assert_stack_is "$inbox" "after SIGTERM at line $n, the stack"
	assert_guards_down
done
say "SIGTERM at $((n - 1)) places: $old times old, $new times new"
[ $old -gt 10 ] || fail "hardly ever undone"
