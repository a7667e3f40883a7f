# SPDX-License-Identifier: Apache-2.0
# what ofed-driver itself takes while it builds, without what it runs

with_driver() {
	"$driver" build --source "$source" --kernel "$kver" --headers "$headers" --output "$work/trees"
}

# peaks PID: "PID VmHWM" of it and of those below it that are ofed-driver, again and again while it lives
peaks() {
	local pid
	while [ -d "/proc/$1" ]; do
		for pid in "$1" $(pgrep -P "$1" -x ofed-driver || true); do
			sed -n "s/^VmHWM:[^0-9]*\([0-9]*\).*/$pid \1/p" "/proc/$pid/status" 2>/dev/null || true
		done
		sleep 0.05
	done
}

. "$top/tests/vm/cache.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kver=$("$vm_dir/kernel" --name 6.1)
headers=$(kernel_headers "$kver")
source=$("$vm_dir/standin" "$kver" b)
note "build-memory: a build"
with_driver >"$work/log" 2>&1 &
peaks $! | sort -k1,1n -k2,2n >"$work/peaks"
wait $! || { cat "$work/log" >&2; exit 1; }
read -r kib n < <(awk '{ peak[$1] = $2 } END { for (p in peak) { sum += peak[p]; n++ } print sum, n }' "$work/peaks")
row build-memory "$(quotient "$kib" 1024)" MiB 4 "host: peak memory of ofed-driver's $n processes during a build, added up (VmHWM: what\
 they share counts for each)"
