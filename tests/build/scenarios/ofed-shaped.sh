# a source of OFED's shape is built by the commands of the recipe that ships: configure, symbols, headers, no dummies
source_is "$build_dir/sources/ofed"
sed -e 's/^name: .*/name: ofed-shaped/' -e '/^modules:/,/^auxiliary:/d' -e '/^# Some releases/d' \
	"$top/ofed/recipes/mlnx-ofa_kernel/driver.conf" >"$SOURCE/driver.conf"
sed -i '/^vendors:/a modules: [mlx_compat, gdr_core, gdr_user, ib_isert]\noptional: [rpcrdma]' "$SOURCE/driver.conf"
for name in amd64 6.12; do
	KVER=$(kernel_named $name)
	builds_again
	assert_eq "$(jq -r '[.modules[].name] | sort | join(" ")' "$TREE/manifest.json")" "gdr_core gdr_user mlx_compat" "the modules"
	assert_eq "$(logged left_out module | sort | paste -sd' ')" "ib_isert rpcrdma" "what is left out"
	exposed=$(echo "$TREE"/usr/src/ofa_kernel/*/"$KVER")
	assert_has "$(cat "$exposed/Module.symvers")" "	gdr_core_answer	" "the symbols"
	assert_lacks "$(cat "$exposed/Module.symvers")" "build-|$STORE" "the symbols"
	assert_has "$(cat "$exposed/compat/config.h")" "#define HAVE_KFREE 1" "what configure found out"
	assert_has "$(cat "$exposed/compat/config.h")" "undef HAVE_NO_SUCH_FIELD" "what configure found out"
	[ -f "$exposed/include/rdma/gdr_core.h" ] || fail "no headers for other builds"
	assert_has "$(cat "$STORE"/.log-"$(basename "$TREE")")" "checking if xarray is there... yes" "the log"
	assert_lacks "$(cat "$STORE"/.log-"$(basename "$TREE")")" "unknown option --with" "the log"
	[ "$(cat "$TREE"/lib/modules/*/*/*.ko | wc -c)" -lt 500000 ] || fail "debug information is still there"
done
assert_eq "$(find "$SOURCE" -newer "$SOURCE/driver.conf" -type f)" "" "files written into the source"
finds
