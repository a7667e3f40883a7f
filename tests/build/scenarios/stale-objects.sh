# a source with objects of another kernel's build in it is built right, and is the same source
small_source
builds_again
key=$(basename "$TREE")
rm -rf "${STORE:?}"/* "$STORE"/.log-*

volumes+=(-v "$SOURCE:/stale")
in_container /bin/bash -c 'cd /stale
	for f in gdr_small.o gdr_small.ko gdr_small.mod.o; do cp /ofed-driver $f; done
	echo /stale/gdr_small.o >gdr_small.mod; echo junk >gdr_small.mod.c; echo "cmd_/stale/gdr_small.o := true" >.gdr_small.o.cmd
	echo gdr_small.ko >modules.order; printf "0x00000000\tjunk\tgdr_small\tEXPORT_SYMBOL\t\n" >Module.symvers
	touch -d "+1 day" gdr_small.o gdr_small.ko gdr_small.mod.o .gdr_small.o.cmd'
builds_again
assert_eq "$(basename "$TREE")" "$key" "the key"
assert_eq "$(modinfo -F name "$TREE"/lib/modules/*/*/$SMALL.ko)" $SMALL "the module"
assert_lacks "$(cat "$TREE"/usr/src/*/*/*/Module.symvers)" junk "the symbols"
