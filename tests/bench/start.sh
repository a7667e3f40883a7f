# with the tree's modules live, from exec to ready, and a shell that only finds that they are
# kernels: 6.1
. "$PAYLOAD/vm/scenarios/rows.bash"

# The comparison alone, with no process more than it takes.
cat >/run/compare <<'END'
live=$(lsmod)
for file in "$1"/*.ko; do
	name=${file##*/}
	name=${name%.ko}
	[[ $live == *$'\n'"$name "* ]] || exit 1
	[ "$(modinfo -F srcversion "$file")" = "$(cat "/sys/module/$name/srcversion")" ] || exit 1
done
END

by_shell() {
	local began
	began=$(now_us)
	bash /run/compare "$modules"
	us=$(($(now_us) - began))
}

# by_driver: `run`, supervisor and all, until it says that it is ready
by_driver() {
	local began log line=
	began=$(now_us)
	exec {log}< <(exec "$PAYLOAD/bin/ofed-driver" run --tree "$tree" --log-format text 2>&1)
	until [[ $line == *" ready "* ]]; do read -r -u "$log" line; done
	us=$(($(now_us) - began))
	kill $!
	wait $!
	exec {log}<&-
}

rounds=9
tree=$(echo "$(image_tree)"/*/)
modules=$(echo "$tree"/lib/modules/*/*/)
export RESTORE_DRIVER_ON_POD_TERMINATION=false
inbox_stack_up
ofed_driver_direct load --tree "$tree" 2>/dev/null
stack=$(snapshot_stack)
for ((i = 0; i < rounds; i++)); do
	by_driver
	driver+=("$us")
	by_shell
	shell+=("$us")
done
assert_stack_is "$stack"

a=$(median "${driver[@]}") b=$(median "${shell[@]}")
row start "$(quotient "$a" "$b")" ratio 0.1 "nothing to do, $(ls "$modules" | wc -l) modules: exec of run to ready\
 ($((a / 1000)) ms) / lsmod, and modinfo and cat of each ($((b / 1000)) ms)"
