# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What a scenario of tests/build may use besides ../assert.sh. It runs as root, as `set -eEuo pipefail`, in an empty
# directory of its own, $work_dir. The container has what shared/design/node.md gives it: the node's root at /host, read
# only but for run/, a store of its own, few capabilities. The root itself can be written here, as buildah has no other.

STORE=$work_dir/store SOURCE=$work_dir/source
kernel_named() { sed -n "s/^$1 //p" "$host/kernels"; }
KVER=$(kernel_named amd64)
HEADERS=usr/src/linux-headers-$KVER # below the host's root
KBUILD=usr/lib/linux-kbuild-6.1

mkdir -p "$STORE" "$SOURCE" "$work_dir/run"
volumes=(-v "$host/root:/host:ro" -v /proc:/host/proc:ro -v /sys:/host/sys:ro -v "$work_dir/run:/host/run"
	-v "$STORE:/mnt/drivers-inventory")

# --- what the container has ------------------------------------------------------------------------------------------
# source_is DIR: what is built, a copy, seen at /source
source_is() {
	cp -r "$1/." "$SOURCE/"
	put_over /source "$SOURCE"
}
small_source() { source_is "$top/tests/vm/small"; }
SMALL=gdr_small

# commands_source COMMAND...: the same module, by a script `configure` (stdin) and then these words, each a YAML list
commands_source() {
	small_source
	{
		sed '/^build:/,$d' "$top/tests/vm/small/driver.conf"
		printf 'build:\n  commands:\n'
		printf '    - %s\n' "$@"
	} >"$SOURCE/driver.conf"
	cat >"$SOURCE/configure"
	chmod +x "$SOURCE/configure"
}
KBUILD_COMMAND='[make, -C, "%{headers}", "M=%{source}", KCFLAGS=-g0, CONFIG_DEBUG_INFO_BTF_MODULES=, modules]'

# put_over PATH FILE: FILE (or directory) is seen at the container's PATH; put_over_host: at the host's
put_over() {
	local i
	for i in "${!volumes[@]}"; do
		case ${volumes[i]} in *":$1:ro") unset "volumes[i-1]" "volumes[i]" ;; esac
	done
	volumes=("${volumes[@]}" -v "$2:$1:ro")
}
put_over_host() { put_over "/host/$1" "$2"; }

# edited FILE SED...: prints the path of a copy of the file, edited
edited() {
	local copy
	copy=$(mktemp "$work_dir/edited.XXXXXX")
	cp -p "$1" "$copy"
	sed -i "${@:2}" "$copy"
	refute cmp "$1" "$copy"
	echo "$copy"
}

empty_directory() { mktemp -d "$work_dir/empty.XXXXXX"; }
not_executable() { mktemp "$work_dir/file.XXXXXX"; }

# without_headers, without_compiler: as on a node, and in an image, that has none
without_headers() {
	put_over_host usr/src "$(empty_directory)"
	put_over_host usr/lib/modules "$(empty_directory)"
}
GCC=/usr/bin/x86_64-linux-gnu-gcc-12 # where the image's names for gcc lead
without_compiler() { put_over $GCC "$(not_executable)"; }

# --- building --------------------------------------------------------------------------------------------------------
# in_container COMMAND...: the rights of shared/design/node.md
in_container() {
	buildah --root "$storage/root" --runroot "$storage/run" --storage-driver vfs run --isolation chroot \
		--cap-drop all --cap-add SYS_MODULE --cap-add NET_ADMIN --cap-add SYS_PTRACE --cap-add DAC_READ_SEARCH \
		"${volumes[@]}" "$container" -- "$@"
}

# build [OPTIONS]: sets STATUS, TREE (of the host; empty if it failed), LOG (JSON lines)
build() {
	STATUS=0 TREE=
	in_container /ofed-driver build --kernel "$KVER" --output /mnt/drivers-inventory --log-format json "$@" \
		>"$work_dir/result" 2>"$work_dir/stderr" || STATUS=$?
	LOG=$(grep '^{' "$work_dir/stderr" || true)
	if [ $STATUS = 0 ]; then TREE=$STORE/$(basename "$(cat "$work_dir/result")"); fi
}

# logged EVENT [FIELD]: the lines, or that field of each
logged() { jq -r --arg event "$1" "select(.event == \$event)${2+ | .$2}" <<<"$LOG"; }

# builds [OPTIONS]: it works, and what came out is whole: the module, of that kernel, as the manifest says
builds() {
	build "$@"
	[ $STATUS = 0 ] || blame "the build ended with $STATUS: $(cat "$work_dir/stderr" "$STORE"/.log-* 2>&1 | tail -n 30)"
	assert_whole "$TREE"
}

assert_whole() {
	local module
	assert_eq "$(jq -r '.modules[] | .sha256 + "  " + .path' "$1/manifest.json")" \
		"$(cd "$1" && jq -r '.modules[].path' manifest.json | xargs sha256sum)" "the digests of the tree's files"
	while read -r module; do
		assert_eq "$(modinfo -F vermagic "$1/$module" | cut -d' ' -f1)" "$KVER" "vermagic of $module"
	done < <(jq -r '.modules[].path' "$1/manifest.json")
}

# builds_again [OPTIONS]: as builds, and it was compiled, not found; finds [OPTIONS]: it was found, not compiled
builds_again() {
	builds "$@"
	assert_eq "$(logged building event) $(logged built event)" "building built" "events"
	assert_eq "$(logged cache_hit event)" "" "events"
}
finds() {
	builds "$@"
	assert_eq "$(logged cache_hit event) $(logged building event)" "cache_hit " "events"
}

# fails EXIT REASON [OPTIONS]: that, a remedy, and no tree; what the last line says is in OBJECT and DETAIL
fails() {
	local last before
	before=$(trees)
	build "${@:3}"
	last=$(tail -n 1 <<<"$LOG")
	assert_eq "$STATUS $(jq -r '"\(.event) \(.reason) \(.exit)"' <<<"$last")" "$1 failed $2 $1" "the end"
	[ -n "$(jq -r '.remedy // ""' <<<"$last")" ] || blame "no remedy: $last"
	OBJECT=$(jq -r '.object // ""' <<<"$last") DETAIL=$(jq -r '.detail // ""' <<<"$last")
	assert_eq "$(cat "$work_dir/result")" "" "stdout"
	assert_eq "$(trees)" "$before" "the trees in the store"
	assert_lacks "$(stored)" '^\.build-' "the store"
}

# --- the store -------------------------------------------------------------------------------------------------------
# stored: all names in it, KEY for each key, but for the notes (.seen-KEY) of trees that are there; trees: the trees'
# files with their digests
stored() {
	local name
	find "$STORE" -mindepth 1 -maxdepth 1 -printf '%f\n' | while read -r name; do
		[ -d "$STORE/${name/#.seen-/}" ] && [ "$name" != "${name#.seen-}" ] || echo "$name"
	done | sed -E 's/[0-9a-f]{64}/KEY/' | sort
}
trees() { (cd "$STORE" && find . -path './[!.]*' -type f -exec sha256sum {} + | sort -k2); }

# --- processes -------------------------------------------------------------------------------------------------------
# build_begins [OPTIONS]: in the background, until its command has made the file `begun` in the copy of the source. Sets
# BUILD (what `wait` takes), KEEPER (ofed-driver's first process) and WORKER (the one that builds)
build_begins() {
	build "$@" &
	BUILD=$!
	wait_for 30 "the build has begun" eval 'compgen -G "$STORE/.build-*/source/begun"'
	KEEPER=$(driver_below $BUILD)
	WORKER=$(driver_below "$KEEPER")
	NAMESPACE=$(readlink "/proc/$KEEPER/ns/mnt")
}

# driver_below PID: the process ofed-driver that descends from it
driver_below() {
	local child
	for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		if [ "$(cat "/proc/$child/comm")" = ofed-driver ]; then
			echo "$child"
		else
			driver_below "$child"
		fi
	done
}

# inside: the processes of the container, but for buildah's, as "PID NAME"
inside() {
	local process
	[ -n "${NAMESPACE-}" ] || return 0
	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/ns/mnt" 2>/dev/null)" = "$NAMESPACE" ] || continue
		echo "${process#/proc/} $(cat "$process/comm" 2>/dev/null || true)"
	done | grep -v buildah || true
}

# all_gone WITHIN_MS: since now none is left inside
all_gone() {
	local took
	took=$(date +%s%N)
	wait_for 15 "none of its processes is left" eval '[ -z "$(inside)" ]'
	took=$((($(date +%s%N) - took) / 1000000))
	[ $took -lt "$1" ] || blame "its processes were gone after $took ms only"
}
