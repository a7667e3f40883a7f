# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The source image in the guest, which builds there, and the kernel's headers on the node: for scenarios whose third line
# says "# builder: yes". tests/vm/builder makes the disk that both are on.

INVENTORY=/var/lib/gdrkit-cache # on the node: the cache of built trees
SMALL=gdr_small                 # the one module of its source, tests/vm/small

builder_up() {
	if mountpoint -q /builder; then return; fi
	wait_for 10 "the builder's disk" test -b /dev/vdc
	mkdir -p /builder $INVENTORY
	mount -o ro /dev/vdc /builder
}

header_directories() { (cd /builder/headers && printf '/%s\n' usr/src/linux-headers-* usr/lib/linux-kbuild-*); }

# headers_up, headers_down: as if the package were installed on the node, and removed
headers_up() {
	local dir
	builder_up
	for dir in $(header_directories); do
		mkdir -p "$dir"
		mount --bind "/builder/headers$dir" "$dir"
	done
	cp -P "/builder/headers/lib/modules/$KVER/build" "/lib/modules/$KVER/"
}

headers_down() {
	local dir
	rm "/lib/modules/$KVER/build"
	for dir in $(header_directories); do
		umount -l "$dir"
		rmdir "$dir"
	done
}

# source_driver OPTIONS... -- ARGS...: the container of the source image. Its root is mounted: loading 130 MB into podman
# takes long here
source_driver() {
	local options=()
	builder_up
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	podman run "${RIGHTS[@]}" -v $INVENTORY:/mnt/drivers-inventory -v "$PAYLOAD/bin/ofed-driver:/ofed-driver:ro" \
		--env GDRKIT_SOURCE=/source --env NVIDIA_NIC_DRIVERS_INVENTORY_PATH=/mnt/drivers-inventory \
		"${options[@]}" --rootfs /builder/root:O /ofed-driver "$@"
}

# source_driver_start NAME ARGS...: with DRIVER_OPTIONS, as driver_start
source_driver_start() {
	source_driver -d --name "$1" ${DRIVER_OPTIONS+"${DRIVER_OPTIONS[@]}"} -- "${@:2}" >/dev/null
}

# builder_reset: for reset_node, which has taken all mounts away
builder_reset() {
	[ -d $INVENTORY ] || return 0
	rm -rf $INVENTORY "/lib/modules/$KVER/build"
	find /usr/src /usr/lib -maxdepth 1 \( -name 'linux-headers-*' -o -name 'linux-kbuild-*' \) -exec rmdir {} +
}

# cached: the names in the cache, the key of the tree as KEY; a build that has come to its end leaves "KEY" and ".log-KEY"
# (.seen-KEY, a note of a lookup, apart)
cached() {
	[ ! -d $INVENTORY ] || find $INVENTORY -mindepth 1 -maxdepth 1 ! -name '.seen-*' -printf '%f\n' |
		sed -E 's/[0-9a-f]{64}/KEY/' | sort
}

# compiling SECONDS: until make has started a compiler; ofed-driver itself asks one for its flags before
compiling() { wait_for "$1" "make compiles" eval 'pgrep -x make && pgrep -x cc1'; }

# assert_small_live: the module of the tree in the cache is the live one, whole, and its code runs
assert_small_live() {
	local tree
	tree=$(echo $INVENTORY/*/)
	assert_stack_of $INVENTORY
	assert_eq "$(jq -r '.modules[] | .sha256 + "  " + .path' "$tree/manifest.json")" \
		"$(cd "$tree" && sha256sum "lib/modules/$KVER"/*/*.ko)" "the digests of the tree's files"
	assert_has "$(jq -r .compiler "$tree/manifest.json")" "$(sed 's/.* //' /sys/kernel/$SMALL/compiler)" "the compiler"
}

# count_logged NAME EVENT: how often it is in the log of that container
count_logged() { driver_log "$1" | grep -cE "\"event\": ?\"$2\"" || true; }
