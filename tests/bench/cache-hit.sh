# a tree that was built before, from exec of run to the begin of the swap
# kernels: 6.1
. "$PAYLOAD/vm/scenarios/rows.bash"

# by_driver OPTIONS...: sets plan_us, when the plan was said, and step_us, when the first step was done
by_driver() {
	local began log line=
	began=$(now_us)
	exec {log}< <(exec "$PAYLOAD/bin/ofed-driver" run --log-format text "$@" 2>&1)
	until [[ $line == *" plan "* ]]; do read -r -u "$log" line; done
	plan_us=$(($(now_us) - began))
	read -r -u "$log" line
	step_us=$(($(now_us) - began))
	until [[ $line == *" ready "* ]]; do read -r -u "$log" line; done
	kill $!
	cat <&"$log" >/dev/null
	wait $!
	exec {log}<&-
}

# An emulated CPU is tens of times slower: the goal is one for a guest that has KVM.
goal=- cpu="an emulated CPU: no goal"
if grep -q kvm-clock /sys/devices/system/clocksource/clocksource0/available_clocksource; then goal=100 cpu=KVM; fi

rounds=5
cp -r "$PAYLOAD/trees/a" /var/node/cache
inbox_stack_up
inbox=$(snapshot_stack)
for ((i = 0; i < rounds; i++)); do
	by_driver --source "$PAYLOAD/sources/a" --output /var/node/cache
	hit+=("$plan_us") hit_step+=("$step_us")
	by_driver --tree "$PAYLOAD/trees/a"
	carried+=("$plan_us")
	assert_stack_is "$inbox"
done
rm -r /var/node/cache

n=$(jq '.modules | length' "$(image_tree)"/*/manifest.json)
a=$(median "${hit[@]}") b=$(median "${carried[@]}")
row cache-hit "$(quotient "$a" 1000)" ms $goal "guest, $cpu: a tree of $n modules, built before: exec of run to its plan, after which\
 modules move (the first one is out after $(($(median "${hit_step[@]}") / 1000)) ms)"
row cache-cost "$(quotient "$a" "$b")" ratio - "guest: the same / exec of run to its plan where the image carries that tree\
 ($((b / 1000)) ms)"
