# SPDX-License-Identifier: Apache-2.0
# a driver tree made of a source, by ofed-driver and by make alone

# measure COMMAND...: sets wall and cpu, in seconds
measure() {
	local times
	times=$({ time "$@" >"$work/log" 2>&1; } 2>&1) || { cat "$work/log" >&2; return 1; }
	read -r wall user system <<<"$times"
	cpu=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
}

with_driver() {
	"$driver" build --source "$1" --kernel "$kver" --headers "$headers" --output "$2"
}

# with_make SOURCE: one make for each of the recipe's directories, with its flags
with_make() {
	local dir symvers=
	for dir in "${dirs[@]}"; do
		make -C "$headers" M="$1/$dir" -j"$(nproc)" KBUILD_EXTRA_SYMBOLS="$symvers" "${flags[@]//%\{source\}/$1}" modules
		symvers+=" $1/$dir/Module.symvers"
	done
}

# recipe_list KEY: the items of the recipe's list of that name
recipe_list() {
	awk -v key="$1:" '$1 ~ /:$/ { on = $1 == key }
		on && $1 == "-" { sub(/^ *- /, ""); gsub(/^"|"$/, ""); print }' "$source/driver.conf"
}

srcversions() { find "$1" -name '*.ko' -exec modinfo -F srcversion {} \; | sort; }

least() { printf '%s\n' "$@" | sort -g | head -1; }

by_driver() {
	measure with_driver "$work/source" "$work/trees"
	driver_wall+=("$wall") driver_cpu+=("$cpu")
	built=$(srcversions "$work/trees")
	measure with_driver "$work/source" "$work/trees"
	hit_wall+=("$wall")
}

by_make() {
	measure with_make "$work/source"
	make_wall+=("$wall") make_cpu+=("$cpu")
	[ "$(srcversions "$work/source")" = "$built" ] || { note "make made other modules"; return 1; }
}

. "$top/tests/vm/cache.sh"
TIMEFORMAT='%R %U %S'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kver=$("$vm_dir/kernel" --name 6.1)
headers=$(kernel_headers "$kver")
source=$("$vm_dir/standin" "$kver" b)
mapfile -t dirs < <(recipe_list kbuild)
mapfile -t flags < <(recipe_list flags)

# There and back, so that a machine that gets slower or warmer does so for both; each in a fresh copy of the source.
for by in by_driver by_make by_make by_driver; do
	note "build: $by"
	cp -r "$source" "$work/source"
	$by
	rm -rf "$work/source" "$work/trees"
done

a=$(least "${driver_wall[@]}") b=$(least "${make_wall[@]}")
row build "$(quotient "$a" "$b")" ratio 1.05 "host: ofed-driver build of ${#dirs[@]} directories, copy and cage and all ($a s) /\
 make -j$(nproc) of them with the same flags ($b s), the faster of two each"
hit=$(least "${hit_wall[@]}")
row rebuild "$(quotient "$a" "$hit")" ratio - "host: the same build ($a s) / once more, a cache hit, with the whole source read\
 again ($hit s)"
a=$(least "${driver_cpu[@]}") b=$(least "${make_cpu[@]}")
row build-cpu "$(quotient "$a" "$b")" ratio - "host: the build in CPU time ($a s / $b s), which a busy machine changes less"
