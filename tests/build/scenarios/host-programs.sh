# kbuild's programs that cannot run in the container: HOST_PROGRAM_UNUSABLE says which and what it lacks
small_source
first=("${volumes[@]}")
# broken PROGRAM WANTED SED...: as another distribution's, made by patching Debian's
broken() {
	local program=$KBUILD/$1
	volumes=("${first[@]}")
	put_over_host "$program" "$(edited "$host/root/$program" "${@:3}")"
	fails 1 HOST_PROGRAM_UNUSABLE
	assert_has "$OBJECT $DETAIL" "$(basename "$1")" "which"
	assert_has "$OBJECT $DETAIL" "$2" "what it lacks"
}
broken scripts/basic/fixdep GLIBC_9.99 's/GLIBC_2\.[0-9][0-9]/GLIBC_9.99/'
broken scripts/mod/modpost /lib64/ld-linux-x86-64.so.9 's#/lib64/ld-linux-x86-64.so.2#/lib64/ld-linux-x86-64.so.9#'
broken tools/objtool/objtool libelf.so.9 's/libelf\.so\.1/libelf.so.9/'
broken scripts/basic/fixdep architecture '1s/^\(\x7fELF.\{14\}\)\x3e/\1\xb7/'
volumes=("${first[@]}")
put_over_host "$KBUILD/scripts/mod/modpost" "$(not_executable)"
fails 1 HOST_PROGRAM_UNUSABLE
assert_has "$OBJECT $DETAIL" modpost "which"
assert_eq "$(trees)" "" "the trees in the store"
