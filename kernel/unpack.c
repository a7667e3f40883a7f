/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

#include "common/cleanup.h"

#ifndef MFD_NOEXEC_SEAL /* Linux 6.3; with vm.memfd_noexec=2 a must */
#define MFD_NOEXEC_SEAL 8U
#endif

enum { CHUNK = 64 << 10, XZ_MEMORY = 256 << 20 };

/* What flows from one descriptor to the other. A step consumes of src and makes of dst. */
struct flow {
	int from, to;
	uint64_t room; /* bytes that may still come out */
	size_t pos, len, made;
	bool last; /* nothing comes after src */
	uint8_t src[CHUNK], dst[CHUNK];
};

struct method {
	size_t magic_len;
	uint8_t magic[6];
	int (*start)(void **ret_state);
	/* 1: a member is whole, 0: go on, or -errno */
	int (*step)(void *state, struct flow *f);
	void (*stop)(void *state);
};

static int gz_start(void **ret_state)
{
	_cleanup_free_ z_stream *z = calloc(1, sizeof(*z));

	if (!z || inflateInit2(z, 16 + MAX_WBITS) != Z_OK)
		return -ENOMEM;
	*ret_state = TAKE_PTR(z);
	return 0;
}

static int gz_step(void *state, struct flow *f)
{
	z_stream *z = state;
	int status;

	z->next_in = f->src + f->pos;
	z->avail_in = (uInt)(f->len - f->pos);
	z->next_out = f->dst;
	z->avail_out = CHUNK;
	status = inflate(z, Z_NO_FLUSH);
	f->pos = f->len - z->avail_in;
	f->made = CHUNK - z->avail_out;
	if (status == Z_STREAM_END)
		return inflateReset(z) == Z_OK ? 1 : -EBADMSG;
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	return status == Z_OK || status == Z_BUF_ERROR ? 0 : -EBADMSG;
}

static void gz_stop(void *state)
{
	inflateEnd(state);
	free(state);
}

static int xz_start(void **ret_state)
{
	_cleanup_free_ lzma_stream *xz = calloc(1, sizeof(*xz));

	if (!xz || lzma_stream_decoder(xz, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
		return -ENOMEM;
	*ret_state = TAKE_PTR(xz);
	return 0;
}

static int xz_step(void *state, struct flow *f)
{
	lzma_stream *xz = state;
	lzma_ret status;

	xz->next_in = f->src + f->pos;
	xz->avail_in = f->len - f->pos;
	xz->next_out = f->dst;
	xz->avail_out = CHUNK;
	status = lzma_code(xz, f->last ? LZMA_FINISH : LZMA_RUN);
	f->pos = f->len - xz->avail_in;
	f->made = CHUNK - xz->avail_out;
	if (status == LZMA_MEM_ERROR)
		return -ENOMEM;
	if (status == LZMA_MEMLIMIT_ERROR)
		return -EFBIG;
	if (status == LZMA_STREAM_END)
		return 1;
	return status == LZMA_OK || status == LZMA_BUF_ERROR ? 0 : -EBADMSG;
}

static void xz_stop(void *state)
{
	lzma_end(state);
	free(state);
}

static int zst_start(void **ret_state)
{
	ZSTD_DStream *zst = ZSTD_createDStream();

	if (!zst)
		return -ENOMEM;
	*ret_state = zst;
	return 0;
}

static int zst_step(void *state, struct flow *f)
{
	ZSTD_inBuffer in = { f->src, f->len, f->pos };
	ZSTD_outBuffer out = { f->dst, CHUNK, 0 };
	size_t left = ZSTD_decompressStream(state, &out, &in);

	if (ZSTD_isError(left))
		return -EBADMSG;
	f->pos = in.pos;
	f->made = out.pos;
	return left == 0;
}

static void zst_stop(void *state)
{
	ZSTD_freeDStream(state);
}

static int plain_start(void **ret_state)
{
	*ret_state = NULL;
	return 0;
}

static int plain_step(void *state, struct flow *f)
{
	(void)state;
	f->made = f->len - f->pos;
	memcpy(f->dst, f->src + f->pos, f->made);
	f->pos = f->len;
	return 1;
}

static void plain_stop(void *state)
{
	(void)state;
}

static const struct method methods[] = {
	{ 2, { 0x1f, 0x8b }, gz_start, gz_step, gz_stop },
	{ 6, { 0xfd, '7', 'z', 'X', 'Z', 0 }, xz_start, xz_step, xz_stop },
	{ 4, { 0x28, 0xb5, 0x2f, 0xfd }, zst_start, zst_step, zst_stop },
	{ 0, { 0 }, plain_start, plain_step, plain_stop }, /* anything else */
};

static const struct method *method_of(const struct flow *f)
{
	const struct method *m = methods;

	while (f->len < m->magic_len || memcmp(f->src, m->magic, m->magic_len) != 0)
		m++;
	return m;
}

/* Fills src when it is used up. */
static int fill(struct flow *f)
{
	if (f->pos < f->len || f->last)
		return 0;
	for (f->pos = f->len = 0; f->len < CHUNK && !f->last;) {
		ssize_t n = read(f->from, f->src + f->len, CHUNK - f->len);

		if (n < 0 && errno != EINTR)
			return -errno;
		f->last = n == 0;
		if (n > 0)
			f->len += (size_t)n;
	}
	return 0;
}

static int drain(struct flow *f)
{
	if (f->made > f->room)
		return -EFBIG;
	f->room -= f->made;
	for (size_t at = 0; at < f->made;) {
		ssize_t n = write(f->to, f->dst + at, f->made - at);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			at += (size_t)n;
	}
	return 0;
}

static int run(struct flow *f, const struct method *m, void *state)
{
	bool whole = false;

	for (;;) {
		int r = fill(f);
		size_t before = f->pos;

		if (r < 0)
			return r;
		if (whole && f->last && f->pos == f->len)
			return 0;
		r = m->step(state, f);
		if (r < 0)
			return r;
		whole = r == 1;
		if (!whole && f->pos == before && f->made == 0)
			return -EBADMSG; /* cut off */
		r = drain(f);
		if (r < 0)
			return r;
	}
}

static int flow_through(struct flow *f, bool *ret_packed)
{
	const struct method *m;
	void *state;
	int r = fill(f);

	if (r < 0)
		return r;
	m = method_of(f);
	r = m->start(&state);
	if (r < 0)
		return r;
	r = run(f, m, state);
	m->stop(state);
	if (r == 0)
		*ret_packed = m->magic_len > 0;
	return r;
}

static int new_memfd(void)
{
	int fd = memfd_create("unpacked", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("unpacked", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd < 0 ? -errno : fd;
}

/* finit_module(2) says ETXTBSY while a file is open for writing. */
static int seal(int fd, int *ret_fd)
{
	char path[32];
	int sealed;

	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	sealed = open(path, O_RDONLY | O_CLOEXEC);
	if (sealed < 0)
		return -errno;
	*ret_fd = sealed;
	return 0;
}

int unpack(int fd, uint64_t max, int *ret_fd, bool *ret_packed)
{
	_cleanup_free_ struct flow *f = malloc(sizeof(*f));
	_cleanup_close_ int out = -1;
	bool packed = false;
	int r;

	if (!f)
		return -ENOMEM;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	out = new_memfd();
	if (out < 0)
		return out;
	f->from = fd;
	f->to = out;
	f->room = max;
	f->pos = f->len = f->made = 0;
	f->last = false;
	r = flow_through(f, &packed);
	if (r == 0)
		r = seal(out, ret_fd);
	if (r == 0 && ret_packed)
		*ret_packed = packed;
	return r;
}
