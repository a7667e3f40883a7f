# the whole RDMA stack out and the tree's in, by ofed-driver and by modprobe
# kernels: 6.1
. "$PAYLOAD/vm/scenarios/rows.bash"

# modprobe_dir NAME FILE...: modules for `modprobe -d /run/NAME`
modprobe_dir() {
	local dir=/run/$1/lib/modules/$KVER
	mkdir -p "$dir"
	cp "${@:2}" "$dir/"
	touch "$dir"/modules.{order,builtin,builtin.modinfo}
	depmod -b "/run/$1" "$KVER"
}

sorted() { sort | tr '\n' ' '; }

# live_set: the set's modules that are live, the last that came first
live_set() { cut -d' ' -f1 /proc/modules | grep -xF "$(printf '%s\n' "${names[@]}")" || true; }

# by_modprobe FROM TO: sets out_us and in_us
by_modprobe() {
	local began top_first
	mapfile -t top_first < <(live_set)
	began=$(now_us)
	modprobe -d "/run/$1" -r "${top_first[@]}"
	out_us=$(($(now_us) - began))
	assert_eq "$(live_set)" "" "what modprobe -r left"
	began=$(now_us)
	modprobe -d "/run/$2" -a "${names[@]}"
	in_us=$(($(now_us) - began))
	assert_eq "$(live_set | sorted)" "$set" "what modprobe loaded"
}

# event EVENT FIELD: of ofed-driver's log
event() { jq -r "select(.event == \"$1\") | $2" /run/log; }

# by_driver VERB...: sets span_ms, and its parts out_ms and in_ms
by_driver() {
	ofed_driver_direct "$@" --log-format json 2>/run/log
	assert_eq "$(event module_unloaded .module | sorted)" "$set" "what ofed-driver unloaded"
	assert_eq "$(event module_loaded .module | sorted)" "$set" "what ofed-driver loaded"
	span_ms=$(event swapped .span_ms)
	out_ms=$(event module_unloaded '(.at | tonumber) + (.ms | tonumber)' | sort -n | tail -1)
	in_ms=$((span_ms - out_ms))
}

rounds=7
tree=$(echo "$(image_tree)"/*/)
mapfile -t names < <(jq -r '.modules[].name' "$tree/manifest.json")
set=$(printf '%s\n' "${names[@]}" | sorted)

# What the set stands on (udp_tunnel, psample...) comes now and stays: modprobe's directories have the set alone, so
# that `modprobe -r` does not take away what ofed-driver leaves. Simulated NICs are not there: modprobe would probe
# them within its time, ofed-driver after its span.
modprobe -a "${names[@]}"
inbox=$(snapshot_stack)
mapfile -t files < <(modinfo -n "${names[@]}")
modprobe_dir inbox "${files[@]}"
modprobe_dir tree "$tree/lib/modules/$KVER"/*/*.ko

for ((i = 0; i < rounds; i++)); do
	by_driver load --tree "$tree"
	assert_stack_of "$(image_tree)"
	span+=("$span_ms") out+=("$out_ms") in+=("$in_ms")
	by_driver unload
	assert_stack_is "$inbox"
	span_back+=("$span_ms")
	by_modprobe inbox tree
	assert_stack_of "$(image_tree)"
	modprobe_out+=($((out_us / 1000))) modprobe_in+=($((in_us / 1000))) modprobe+=($(((out_us + in_us) / 1000)))
	by_modprobe tree inbox
	assert_stack_is "$inbox"
	modprobe_back+=($(((out_us + in_us) / 1000)))
done

a=$(median "${span[@]}") b=$(median "${modprobe[@]}")
row swap "$(quotient "$a" "$b")" ratio 0.45 "${#names[@]} modules out, those of a tree in: first unload to last init\
 ($a ms) / one modprobe -r and one modprobe -a of the same ($b ms)"
row swap-out "$(median "${out[@]}")" ms - "its first part, until all are out; modprobe -r: $(median "${modprobe_out[@]}") ms"
row swap-in "$(median "${in[@]}")" ms - "its second part, until all are in; modprobe -a: $(median "${modprobe_in[@]}") ms"
a=$(median "${span_back[@]}") b=$(median "${modprobe_back[@]}")
row swap-back "$(quotient "$a" "$b")" ratio - "the same back to the host's modules ($a ms) / modprobe -r and -a ($b ms)"
