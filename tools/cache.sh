# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What takes long is made once and kept outside the work tree, keyed by a digest of what it is made from: Debian's
# packages mostly, from the machine's own mirrors. For scripts; each keeps its things in a room of its own: cache_dir.

cache_dir=${GDRKIT_CACHE:-${XDG_CACHE_HOME:-${HOME:-~}/.cache}/gdrkit}
PATH=$PATH:/usr/sbin:/sbin

note() { echo "$*" >&2; }
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

# mirrors RELEASE: the machine's own, as lines of apt's, whatever form its sources have: none is named here
mirrors() {
	apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		grep -F " $1" | sort -u
}

# make_root PACKAGES... -- OPTIONS...: DIR/root.tar, a root of the machine's own release with these packages and what
# they need, without documents. OPTIONS are mmdebstrap's; the last word is DIR
make_root() {
	local release packages=() lines
	release=$(. /etc/os-release && echo "$VERSION_CODENAME")
	while [ "$1" != -- ]; do
		packages+=("$1")
		shift
	done
	shift
	mapfile -t lines < <(mirrors "$release")
	as_root mmdebstrap --quiet --include="$(IFS=,; echo "${packages[*]}")" \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --aptopt='APT::Install-Recommends "false"' \
		"${@:1:$#-1}" "$release" "${*: -1}/root.tar" "${lines[@]}"
}
