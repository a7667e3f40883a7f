# modules of another kernel, with another symbol's CRC, truncated or of another architecture are refused before anything moves
# kernels: 6.1
inbox_core_up
inbox=$(snapshot_stack)
core=$(stat -c %i /sys/module/ib_core)

# altered_tree NAME MODULE: a copy of tree b, the path of whose MODULE is in $KO
altered_tree() {
	rm -rf "/run/$1"
	cp -r /payload/trees/b "/run/$1"
	KO=$(find "/run/$1" -name "$2.ko")
}

# seal: the manifest agrees with the altered module again
seal() {
	local manifest tree
	tree=${KO%/lib/modules/*}
	manifest=$tree/manifest.json
	jq --arg path "${KO#"$tree"/}" --arg sum "$(sha256sum <"$KO" | cut -d' ' -f1)" \
		'(.modules[] | select(.path == $path)).sha256 = $sum' "$manifest" >"$manifest.new"
	mv "$manifest.new" "$manifest"
}

# assert_refused STATUS REASON TREE: and nothing has changed
assert_refused() {
	assert_status "$1" ofed_driver load --tree "/host/run/$3"
	assert_has "$OUTPUT" "$2"
	assert_stack_is "$inbox"
	assert_eq "$(stat -c %i /sys/module/ib_core)" "$core" "ib_core, which must not have moved,"
	[ ! -e $READY ] || fail "a ready file"
	assert_eq "$(ls /run/gdrkit/trees 2>/dev/null | wc -l)" 0 "kept trees"
}

altered_tree vermagic ib_core
sed -i 's/\(vermagic=[^ ]*\) SMP preempt/\1 SMP PREEMPT/' "$KO"
seal
assert_refused 1 VERMAGIC_MISMATCH vermagic

altered_tree crc ib_core
perl -0777 -pi -e 's/(.{8})(module_layout\0)/"\x01\x02\x03\x04\0\0\0\0$2"/se or die' "$KO"
seal
assert_refused 1 SYMBOL_CRC_MISMATCH crc

altered_tree short ib_core
truncate -s 20000 "$KO"
seal
assert_refused 1 MODULE_INVALID short

altered_tree arch ib_core
printf '\267\0' | dd of="$KO" bs=1 seek=18 conv=notrunc status=none
seal
assert_refused 1 ARCH_MISMATCH arch

altered_tree unsealed ib_core
echo >>"$KO"
assert_refused 100 TREE_INVALID unsealed

altered_tree other-kernel ib_core
perl -pi -e 's/"kernel":\s*"\K[^"]*/6.1.0-1-amd64/' "${KO%/lib/modules/*}"/manifest.json
assert_refused 1 TREE_MISSING other-kernel
assert_refused 1 VERMAGIC_MISMATCH "other-kernel/$(ls /run/other-kernel)"
