# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the guests are made from, in a room of its own of the cache (tools/cache.sh).

vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$vm_dir/../../tools/cache.sh"
cache_dir+=/vm

die() { note "$(basename "$0"): $*"; exit 100; }

# newest_kernel 6.1|6.12|KVER: the newest of Debian's kernels of that series (no cloud, no rt); a full KVER stays
newest_kernel() {
	local found
	case $1 in
	*-amd64) echo "$1"; return ;;
	esac
	package_lists
	found=$(apt-cache pkgnames "linux-image-$1." |
		grep -E '^linux-image-[0-9.]+[^-]*(-[0-9]+)?-amd64$' | sort -V | tail -1)
	[ -n "$found" ] || die "no kernel package for $1 (is it in the machine's apt sources?)"
	echo "${found#linux-image-}"
}

# kernel_headers KVER: prints their directory. They are installed: Debian's headers name absolute paths.
kernel_headers() {
	local dir=/usr/src/linux-headers-$1
	if [ ! -d "$dir" ]; then
		package_lists
		note "installing linux-headers-$1"
		as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "linux-headers-$1" >&2
	fi
	echo "$dir"
}
