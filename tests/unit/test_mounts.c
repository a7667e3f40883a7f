/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_node.h"

#include <sys/stat.h>

#include "kernel/mounts.h"

static void table(const struct fake_node *node, const char *lines)
{
	fake_file(node, "proc/1/mountinfo", lines);
}

static struct mounts read_node(const struct fake_node *node)
{
	struct mounts mounts = { 0 };

	assert_int_equal(mounts_read(node->root, &mounts), 0);
	return mounts;
}

/* sys/dev/block/8:1 -> ../../devices/..., and sys/class/block/NAME too */
static void disk(const struct fake_node *node, const char *number, const char *path)
{
	_cleanup_free_ char *by_number = NULL, *by_name = NULL, *target = NULL, *dir = NULL;

	assert_true(asprintf(&by_number, "sys/dev/block/%s", number) > 0);
	assert_true(asprintf(&by_name, "sys/class/block/%s", strrchr(path, '/') + 1) > 0);
	assert_true(asprintf(&target, "../../devices/%s", path) > 0);
	assert_true(asprintf(&dir, "sys/devices/%s", path) > 0);
	assert_int_equal(sysroot_mkdirs(node->root, dir, 0755), 0);
	assert_int_equal(sysroot_link(node->root, target, by_number), 0);
	assert_int_equal(sysroot_link(node->root, target, by_name), 0);
}

static void slave(const struct fake_node *node, const char *of, const char *name)
{
	_cleanup_free_ char *link = NULL;

	assert_true(asprintf(&link, "sys/devices/%s/slaves/%s", of, name) > 0);
	assert_int_equal(sysroot_link(node->root, name, link), 0);
}

static void nfs_over_rdma_rides_on_rpcrdma(void **state)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };

	table(*state, "22 1 0:20 / / rw - overlay overlay rw\n"
		      "23 22 0:41 / /data rw,relatime - nfs4 10.0.0.1:/x rw,proto=rdma,port=20049\n"
		      "24 22 0:42 / /home rw,relatime - nfs4 10.0.0.1:/y rw,vers=4.2,proto=tcp\n");
	mounts = read_node(*state);
	assert_int_equal(mounts.n, 1);
	assert_string_equal(mounts.m[0].target, "/data");
	assert_string_equal(mounts.m[0].source, "10.0.0.1:/x");
	assert_string_equal(mounts.m[0].fstype, "nfs4");
	assert_string_equal(mounts.m[0].rides_on, "rpcrdma");
}

static void cifs_and_9p_ride_on_rdma_by_option(void **state)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };

	table(*state, "23 22 0:41 / /a rw - cifs //s/x rw,vers=3.1.1,rdma\n"
		      "24 22 0:42 / /b rw - 9p host rw,trans=rdma\n"
		      "25 22 0:43 / /c rw - cifs //s/y rw,vers=3.1.1\n"
		      "26 22 0:44 / /d rw - 9p host rw,trans=virtio\n");
	mounts = read_node(*state);
	assert_int_equal(mounts.n, 2);
	assert_string_equal(mounts.m[0].rides_on, "cifs");
	assert_string_equal(mounts.m[1].rides_on, "9pnet_rdma");
}

static void a_partition_of_an_nvme_over_rdma_rides_on_nvme_rdma(void **state)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };
	struct fake_node *node = *state;

	disk(node, "259:1", "virtual/nvme-fabrics/ctl/nvme0/nvme0n1/nvme0n1p1");
	fake_file(node, "sys/devices/virtual/nvme-fabrics/ctl/nvme0/transport", "rdma\n");
	disk(node, "259:2", "pci0000:00/0000:00:04.0/nvme/nvme1/nvme1n1");
	fake_file(node, "sys/devices/pci0000:00/0000:00:04.0/nvme/nvme1/transport", "pcie\n");
	table(node, "23 22 259:1 / /a rw - ext4 /dev/nvme0n1p1 rw\n"
		    "24 22 259:2 / /b rw - ext4 /dev/nvme1n1 rw\n");
	mounts = read_node(node);
	assert_int_equal(mounts.n, 1);
	assert_string_equal(mounts.m[0].target, "/a");
	assert_string_equal(mounts.m[0].rides_on, "nvme_rdma");
}

static void so_does_a_multipath_disk_that_has_one_path_over_rdma(void **state)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };
	struct fake_node *node = *state;

	disk(node, "259:1", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1");
	fake_file(node, "sys/devices/virtual/nvme-fabrics/ctl/nvme1/transport", "rdma\n");
	assert_int_equal(sysroot_link(node->root, "../../nvme-fabrics/ctl/nvme1",
				      "sys/devices/virtual/nvme-subsystem/nvme-subsys0/nvme1"),
			 0);
	table(node, "23 22 259:1 / /a rw - xfs /dev/nvme0n1 rw\n");
	mounts = read_node(node);
	assert_int_equal(mounts.n, 1);
	assert_string_equal(mounts.m[0].rides_on, "nvme_rdma");
}

#define SESSION "platform/host4/session1/target4:0:0/4:0:0:1/block/sda"

static void a_disk_of_iser_or_srp_is_told_by_its_scsi_host(void **state)
{
	static const char *const hosts[][2] = { { "iscsi_iser\n", "ib_iser" },
						{ "ib_srp\n", "ib_srp" },
						{ "iscsi_tcp\n", NULL } };
	struct fake_node *node = *state;

	disk(node, "8:0", SESSION);
	table(node, "23 22 8:0 / /a rw - ext4 /dev/sda rw\n");
	for (size_t i = 0; i < 3; i++) {
		_cleanup_mounts_ struct mounts mounts = { 0 };

		fake_file(node, "sys/class/scsi_host/host4/proc_name", hosts[i][0]);
		mounts = read_node(node);
		assert_int_equal(mounts.n, hosts[i][1] ? 1 : 0);
		if (hosts[i][1])
			assert_string_equal(mounts.m[0].rides_on, hosts[i][1]);
	}
}

static void dm_and_md_ride_on_what_is_below_them(void **state)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };
	struct fake_node *node = *state;

	disk(node, "8:0", SESSION);
	fake_file(node, "sys/class/scsi_host/host4/proc_name", "ib_srp\n");
	disk(node, "9:0", "virtual/block/md0");
	disk(node, "253:0", "virtual/block/dm-0");
	slave(node, "virtual/block/md0", "sda");
	slave(node, "virtual/block/dm-0", "md0");
	table(node, "23 22 253:0 / /a rw - ext4 /dev/mapper/a rw\n");
	mounts = read_node(node);
	assert_int_equal(mounts.n, 1);
	assert_string_equal(mounts.m[0].rides_on, "ib_srp");
}

static void a_device_that_is_its_own_slave_ends(void **state)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };
	struct fake_node *node = *state;

	disk(node, "253:0", "virtual/block/dm-0");
	slave(node, "virtual/block/dm-0", "dm-0");
	table(node, "23 22 253:0 / /a rw - ext4 /dev/mapper/a rw\n");
	mounts = read_node(node);
	assert_int_equal(mounts.n, 0);
}

static void escapes_in_names_are_undone(void **state)
{
	_cleanup_mounts_ struct mounts mounts = { 0 };

	table(*state, "23 22 0:41 / /my\\040data rw - nfs s:/x rw,proto=rdma\n");
	mounts = read_node(*state);
	assert_string_equal(mounts.m[0].target, "/my data");
}

static void a_table_that_cannot_be_read_is_an_error(void **state)
{
	struct mounts mounts = { 0 };

	assert_int_equal(mounts_read(((struct fake_node *)*state)->root, &mounts), -ENOENT);
	assert_null(mounts.m);
}

static void the_hosts_root_is_slash_where_host_is_no_mount(void **state)
{
	struct stat root, host;
	bool mounted =
		stat("/host", &host) == 0 && stat("/", &root) == 0 && host.st_dev != root.st_dev;

	(void)state;
	assert_string_equal(mounts_host_root(), mounted ? "/host" : "/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		on_a_node(nfs_over_rdma_rides_on_rpcrdma),
		on_a_node(cifs_and_9p_ride_on_rdma_by_option),
		on_a_node(a_partition_of_an_nvme_over_rdma_rides_on_nvme_rdma),
		on_a_node(so_does_a_multipath_disk_that_has_one_path_over_rdma),
		on_a_node(a_disk_of_iser_or_srp_is_told_by_its_scsi_host),
		on_a_node(dm_and_md_ride_on_what_is_below_them),
		on_a_node(a_device_that_is_its_own_slave_ends),
		on_a_node(escapes_in_names_are_undone),
		on_a_node(a_table_that_cannot_be_read_is_an_error),
		cmocka_unit_test(the_hosts_root_is_slash_where_host_is_no_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
