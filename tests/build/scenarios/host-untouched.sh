# nothing is written into the host's headers, not even where it could be
small_source
volumes=("${volumes[@]/:\/host:ro/:/host}")
# looks: all of the host's root, with what a write changes
looks() { find "$host/root" -path "$host/root/run" -prune -o -printf '%P %y %m %s %T@ %C@ %l\n' | sort | digest_of; }
digest_of() { sha256sum | cut -d' ' -f1; }
in_container touch /host/tmp/can-be-written
rm "$host/root/tmp/can-be-written"
before=$(looks)
for name in amd64 6.12; do
	KVER=$(kernel_named $name)
	builds_again
done
assert_eq "$(looks)" "$before" "the host's root"
