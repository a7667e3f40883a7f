# the headers on the node have another .config or Module.symvers: built again
small_source
builds_again
before=$(jq -r .config_sha256 "$TREE/manifest.json")
for file in .config Module.symvers; do
	line='# changed'
	[ $file = .config ] || line='0x12345678\tgdr_fake\tvmlinux\tEXPORT_SYMBOL\t'
	put_over_host "$HEADERS/$file" "$(edited "$host/root/$HEADERS/$file" "\$a\\$line")"
	builds_again
	[ -n "$(logged cache_rejected detail)" ] || fail "it does not say why it built again"
	finds
done
assert_eq "$(trees | grep -c '\.ko$')" 1 "modules in the store"
