# SPDX-License-Identifier: Apache-2.0
# what it costs to find that a built tree is as it was written

cache_hit() { "$driver" build --source "$payload/sources/a" --kernel "$kver" --headers "$headers" --output "$payload/trees/a"; }
files() { (cd "$tree" && sha256sum lib/modules/*/*/*.ko); }

# us_of COMMAND...: sets us
us_of() {
	local began
	began=$(now_us)
	"$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; return 1; }
	us=$(($(now_us) - began))
}

. "$top/tests/vm/cache.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kver=$("$vm_dir/kernel" --name 6.1)
headers=$(kernel_headers "$kver")
payload=$("$vm_dir/payload" "$kver" a)
tree=$(echo "$payload"/trees/a/*/)

for ((i = 0; i < 11; i++)); do
	us_of cache_hit
	hit+=("$us")
	us_of files
	sums+=("$us")
done

n=$(jq '.modules | length' "$tree/manifest.json")
row digests "$(quotient "$(median "${hit[@]}")" 1000)" ms 50 "host: ofed-driver build of a tree of $n modules that is there, all of it:\
 the source's note, the headers' digests, every file's; sha256sum of the modules alone: $(quotient "$(median "${sums[@]}")" 1000) ms"
