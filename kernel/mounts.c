/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/mounts.h"

#include <fcntl.h>
#include <libmount/libmount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "kernel/blockdev.h"

static void tablep(struct libmnt_table **table)
{
	mnt_unref_table(*table);
}

static void iterp(struct libmnt_iter **iter)
{
	mnt_free_iter(*iter);
}

static bool is_listed(const char *dir)
{
	_cleanup_(tablep) struct libmnt_table *table =
		mnt_new_table_from_file("/proc/self/mountinfo");

	return table && mnt_table_find_target(table, dir, MNT_ITER_BACKWARD);
}

/* Since Linux 5.8 one call says it. */
static bool is_mount_point(const char *dir)
{
	struct statx st;

	if (statx(AT_FDCWD, dir, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &st) < 0)
		return false;
	if (st.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
	return is_listed(dir);
}

const char *mounts_host_root(void)
{
	return is_mount_point("/host") ? "/host" : "/";
}

/* value NULL: the option stands alone */
static bool has_option(struct libmnt_fs *fs, const char *name, const char *value)
{
	char *got = NULL;
	size_t len = 0;

	if (mnt_fs_get_option(fs, name, &got, &len) != 0)
		return false;
	return !value || (got && len >= strlen(value) && strncmp(got, value, strlen(value)) == 0);
}

static const char *network_transport(struct libmnt_fs *fs)
{
	static const struct {
		const char *fstype, *option, *value, *module;
	} known[] = {
		/* rdma6 too; xprtrdma is an alias of rpcrdma */
		{ "nfs", "proto", "rdma", "rpcrdma" },   { "nfs4", "proto", "rdma", "rpcrdma" },
		{ "9p", "trans", "rdma", "9pnet_rdma" }, { "cifs", "rdma", NULL, "cifs" },
		{ "smb3", "rdma", NULL, "cifs" },
	};
	const char *fstype = mnt_fs_get_fstype(fs);

	for (size_t i = 0; fstype && i < sizeof(known) / sizeof(*known); i++) {
		if (strcmp(fstype, known[i].fstype) == 0 &&
		    has_option(fs, known[i].option, known[i].value))
			return known[i].module;
	}
	return NULL;
}

/* btrfs and the like have a device number of their own: there the source tells. */
static dev_t block_device(const struct sysroot *root, struct libmnt_fs *fs)
{
	const char *source = mnt_fs_get_source(fs);
	dev_t dev = mnt_fs_get_devno(fs);
	struct stat st;

	if (major(dev) == 0 && source && strncmp(source, "/dev/", 5) == 0 &&
	    sysroot_stat(root, source + 1, &st) == 0 && S_ISBLK(st.st_mode))
		dev = st.st_rdev;
	return dev;
}

static int copy(const char *text, char **ret)
{
	char *p = strdup(text ? text : "");

	if (!p)
		return -ENOMEM;
	*ret = p;
	return 0;
}

static int add(struct libmnt_fs *fs, const char *rides_on, struct mounts *mounts)
{
	struct mount *m = reallocarray(mounts->m, mounts->n + 1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	mounts->m = m;
	m += mounts->n++;
	*m = (struct mount){ 0 };
	if (copy(mnt_fs_get_target(fs), &m->target) < 0 ||
	    copy(mnt_fs_get_source(fs), &m->source) < 0 ||
	    copy(mnt_fs_get_fstype(fs), &m->fstype) < 0 || copy(rides_on, &m->rides_on) < 0)
		return -ENOMEM;
	return 0;
}

static int read_table(const struct sysroot *root, struct libmnt_table *table, struct mounts *mounts)
{
	_cleanup_(iterp) struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	int r = iter ? 0 : -ENOMEM;

	while (r == 0 && mnt_table_next_fs(table, iter, &fs) == 0) {
		const char *rides_on = network_transport(fs);

		if (!rides_on)
			rides_on = blockdev_transport(root, block_device(root, fs));
		if (rides_on)
			r = add(fs, rides_on, mounts);
	}
	return r;
}

static int open_table(const struct sysroot *root, FILE **ret)
{
	_cleanup_close_ int fd = sysroot_openat(root, "proc/1/mountinfo", O_RDONLY, 0);
	FILE *file;

	if (fd < 0)
		return fd;
	file = fdopen(fd, "r");
	if (!file)
		return -errno;
	TAKE_FD(fd);
	*ret = file;
	return 0;
}

int mounts_read(const struct sysroot *root, struct mounts *ret)
{
	_cleanup_(tablep) struct libmnt_table *table = mnt_new_table();
	_cleanup_mounts_ struct mounts mounts = { 0 };
	_cleanup_fclose_ FILE *file = NULL;
	int r = table ? open_table(root, &file) : -ENOMEM;

	if (r == 0 && mnt_table_parse_stream(table, file, "mountinfo") != 0)
		r = -EBADMSG;
	if (r == 0)
		r = read_table(root, table, &mounts);
	if (r < 0)
		return r;
	*ret = mounts;
	mounts = (struct mounts){ 0 };
	return 0;
}

void mounts_clear(struct mounts *mounts)
{
	for (size_t i = 0; i < mounts->n; i++) {
		free(mounts->m[i].target);
		free(mounts->m[i].source);
		free(mounts->m[i].fstype);
		free(mounts->m[i].rides_on);
	}
	free(mounts->m);
	*mounts = (struct mounts){ 0 };
}
