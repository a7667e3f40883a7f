# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What takes long is made once and kept outside the work tree, keyed by a digest of what it is made from.

cache_dir=${GDRKIT_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gdrkit}/vm
vm_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PATH=$PATH:/usr/sbin:/sbin

note() { echo "$*" >&2; }
die() { note "$(basename "$0"): $*"; exit 100; }
digest() { sha256sum | cut -c1-16; }

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# cache NAME KEY COMMAND...: prints the path of NAME-KEY; where it is not there, `COMMAND... DIR` fills a new
# directory, which gets its name by rename. Neighbours of the same NAME that nobody asked for for a week go.
cache() {
	local name=$1 path=$cache_dir/$1-$2 started=$SECONDS lock new
	shift 2
	mkdir -p "$cache_dir"
	exec {lock}>"$cache_dir/$name.lock"
	flock -n "$lock" || { note "waiting: $name is being made"; flock "$lock"; }
	if [ ! -d "$path" ]; then
		note "making $name"
		find "$cache_dir" -maxdepth 1 -name "$name-*" -mtime +6 -exec rm -rf {} +
		new=$(mktemp -d "$cache_dir/new.XXXXXX")
		chmod 755 "$new"
		if ! "$@" "$new" >&2 {lock}>&-; then
			rm -rf "$new"
			note "making $name failed"
			exit 1
		fi
		mv -T "$new" "$path"
		note "made $name in $((SECONDS - started)) s"
	fi
	touch "$path"
	exec {lock}>&-
	echo "$path"
}

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

package_lists() {
	if [ -z "$(apt-cache pkgnames linux-source-6)" ]; then
		note "apt-get update"
		as_root apt-get update -qq
	fi
}

# package_versions PACKAGE...: one line for each, what the next download would give
package_versions() {
	package_lists
	apt-cache show --no-all-versions "$@" | sed -n 's/^\(Package\|Version\): //p' | paste - -
}

# unpack_package PACKAGE DIR: its files, without installing it
unpack_package() {
	local tmp
	download() { apt-get download -qq -o APT::Sandbox::User=root "$1"; }
	tmp=$(mktemp -d)
	(
		cd "$tmp"
		download "$1" || { as_root apt-get update -qq && download "$1"; }
		dpkg -x ./*.deb "$2"
	)
	rm -rf "$tmp"
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
