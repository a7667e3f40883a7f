/* SPDX-License-Identifier: Apache-2.0 */
#include "swap/act.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "common/events.h"
#include "common/strv.h"

#define UNLOAD_PATIENCE_MS \
	5000 /* transient references: an open sysfs file, udev looking at a device */
#define UNLOAD_RECHECK_MS 10
#define SLIPPED_IN_TRIES 5

/* One step on its thread. */
struct job {
	struct run *run;
	const struct step *step;
	uint64_t begin_us, end_us;
	int err;
	const char *note; /* constant text, NULL: as planned */
	bool ended;
};

/* All of the steps. Its lock is held but while a step does its work. */
struct run {
	const struct act *act;
	const struct steps *steps;
	struct verdicts *why;
	struct job *jobs; /* as many as steps, in their order */
	pthread_mutex_t lock;
	pthread_cond_t moved; /* a job has ended */
	int err;              /* the first; no step begins any more */
};

static uint64_t now_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static int delete_module(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) < 0 ? -errno : 0;
}

static int finit_module(int fd, const char *params)
{
	return syscall(SYS_finit_module, fd, params, 0) < 0 ? -errno : 0;
}

static bool busy(int err)
{
	return err == -EWOULDBLOCK || err == -EBUSY;
}

/* events_run() ends with what these return; 1 stands for success there. */
static int try_unload(void *data)
{
	int err = delete_module(data);

	if (busy(err))
		return 0;
	return err && err != -ENOENT ? err : 1;
}

static int give_up(void *data)
{
	(void)data;
	return -EWOULDBLOCK;
}

/* The kernel tells nobody when a reference goes. */
static int unload_when_free(const char *name)
{
	_cleanup_(events_freep) struct events *ev = NULL;
	int err = events_new(&ev);

	if (!err)
		err = events_timer(ev, UNLOAD_PATIENCE_MS, give_up, NULL, NULL);
	if (!err)
		err = events_recheck(ev, UNLOAD_RECHECK_MS, "a module's refcount", try_unload,
				     (void *)(uintptr_t)name, NULL);
	if (!err)
		err = events_run(ev);
	return err == 1 ? 0 : err;
}

static void run_unload(struct job *job)
{
	const char *name = job->step->m->name;
	int err = delete_module(name);

	if (busy(err)) {
		job->note = "waited for a reference to go";
		err = unload_when_free(name);
	}
	if (err == -ENOENT) {
		job->note = "was gone";
		err = 0;
	}
	job->err = err;
}

/*
 * Live already: ours (an interrupted swap had loaded it), or slipped in by somebody who may not
 * know better.
 */
static int settle_existing(struct job *job, const struct swap_side *want)
{
	struct identity id;
	int err = live_identity(job->run->act->root, job->step->m->name, &id);

	if (!err && identity_same(&id, &want->id)) {
		job->note = "was live";
		return 0;
	}
	job->note = "another build had slipped in and was taken out";
	err = unload_when_free(job->step->m->name);
	return err ? err : -EAGAIN;
}

static void run_load(struct job *job)
{
	const enum side side = job->run->steps->side;
	const struct swap_side *want = &job->step->m->side[side];
	const char *params = want->params ? want->params : "";

	for (int i = 0; i < SLIPPED_IN_TRIES; i++) {
		job->err = finit_module(module_fd(want->file), params);
		if (job->err == -EEXIST)
			job->err = settle_existing(job, want);
		else if (job->err == -EINVAL && *params && want->recorded) {
			/* what sysfs shows of a parameter need not be what its parser takes */
			job->note = "without its recorded parameters, which the kernel refused";
			params = "";
		} else
			return;
		if (job->err != -EAGAIN && job->err != -EINVAL)
			return;
	}
}

static bool is_bound(const struct sysroot *root, const char *device)
{
	_cleanup_free_ char *driver = NULL;

	return asprintf(&driver, "sys/bus/pci/devices/%s/driver", device) > 0 &&
	       sysroot_exists(root, driver);
}

/*
 * A device that its driver does not want stays unbound, and the write may succeed all the same;
 * verify knows which had to be bound.
 */
static void run_bind(struct job *job)
{
	const struct sysroot *root = job->run->act->root;
	const char *device = job->step->device;
	int err = sysroot_write_attr(root, "sys/bus/pci/drivers_probe", device);

	job->err = err == -EINVAL || err == -ENODEV ? 0 : err;
	if (!job->err && !is_bound(root, device))
		job->note = "no driver took it";
}

static void do_step(struct job *job)
{
	static void (*const run[])(struct job *) = {
		[STEP_UNLOAD] = run_unload,
		[STEP_LOAD] = run_load,
		[STEP_BIND] = run_bind,
	};

	job->begin_us = now_us();
	run[job->step->op](job);
	job->end_us = now_us();
}

static const char *object_of(const struct step *s)
{
	return s->m ? s->m->name : s->device;
}

static enum reason reason_of(const struct step *s)
{
	static const enum reason reasons[] = {
		[STEP_UNLOAD] = REASON_UNLOAD_FAILED,
		[STEP_LOAD] = REASON_LOAD_FAILED,
		[STEP_BIND] = REASON_GUARD_FAILED,
	};

	return reasons[s->op];
}

static int report(const struct job *job)
{
	const struct act *act = job->run->act;

	if (job->err) {
		verdicts_no(job->run->why, reason_of(job->step), object_of(job->step), "%s",
			    strerror(-job->err));
		return -EIO;
	}
	if (act->done)
		act->done(act->data, job->step, job->begin_us, job->end_us, job->note);
	return 0;
}

static int write_journal(const struct act *act, const struct step *s, struct verdicts *why)
{
	int err = journal_step(act->journal, step_op_name(s->op), object_of(s), s->wave);

	if (!err || act->stubborn)
		return 0;
	verdicts_no(why, REASON_JOURNAL_FAILED, "run/gdrkit/journal", "%s", strerror(-err));
	return -EIO;
}

static bool stopped(const struct act *act)
{
	struct pollfd pfd = { .fd = act->stop_fd, .events = POLLIN };

	return act->stop_fd >= 0 && poll(&pfd, 1, 0) > 0;
}

/* A module goes when its holders have gone, and comes when what it depends on is there. */
static bool needs(const struct run *r, const struct step *s, const struct step *other)
{
	const struct module *file;

	if (s->op != other->op)
		return s->op > other->op;
	if (s->op == STEP_UNLOAD)
		return strv_contains(s->m->holders, other->m->name);
	file = s->op == STEP_LOAD ? s->m->side[r->steps->side].file : NULL;
	return file && (strv_contains(module_info(file)->depends, other->m->name) ||
			strv_contains(module_info(file)->softdeps, other->m->name));
}

static bool may_begin(const struct run *r, const struct job *job)
{
	for (const struct job *before = r->jobs; before < job; before++)
		if (!before->ended && needs(r, job->step, before->step))
			return false;
	return true;
}

static int begin(const struct run *r, const struct step *s)
{
	return stopped(r->act) ? -ECANCELED : write_journal(r->act, s, r->why);
}

static void *run_job(void *data)
{
	struct job *job = data;
	struct run *r = job->run;

	(void)pthread_mutex_lock(&r->lock);
	while (!r->err && !may_begin(r, job))
		(void)pthread_cond_wait(&r->moved, &r->lock);
	if (!r->err)
		r->err = begin(r, job->step);
	if (!r->err) {
		int err;

		(void)pthread_mutex_unlock(&r->lock);
		do_step(job);
		(void)pthread_mutex_lock(&r->lock);
		err = report(job);
		r->err = r->err ? r->err : err;
	}
	job->ended = true;
	(void)pthread_cond_broadcast(&r->moved);
	(void)pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* A thread that cannot be had is no reason to stop: its step is done here, in the plan's order. */
static int run_jobs(struct job *jobs, size_t n)
{
	_cleanup_free_ pthread_t *threads = calloc(n + 1, sizeof(*threads));
	_cleanup_free_ bool *started = calloc(n + 1, sizeof(*started));

	if (!threads || !started)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		started[i] = pthread_create(&threads[i], NULL, run_job, &jobs[i]) == 0;
	for (size_t i = 0; i < n; i++)
		if (!started[i])
			(void)run_job(&jobs[i]);
	for (size_t i = 0; i < n; i++)
		if (started[i])
			(void)pthread_join(threads[i], NULL);
	return 0;
}

int swap_act(const struct act *act, const struct steps *steps, struct verdicts *why)
{
	_cleanup_free_ struct job *jobs = calloc(steps->n + 1, sizeof(*jobs));
	struct run run = {
		.act = act,
		.steps = steps,
		.why = why,
		.jobs = jobs,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.moved = PTHREAD_COND_INITIALIZER,
	};
	int err;

	if (!jobs)
		return -ENOMEM;
	for (size_t i = 0; i < steps->n; i++)
		jobs[i] = (struct job){ .run = &run, .step = &steps->s[i] };
	err = run_jobs(jobs, steps->n);
	return err ? err : run.err;
}

static void verify_module(const struct sysroot *root, const struct swap_module *m, enum side side,
			  struct verdicts *why)
{
	const struct swap_side *want = &m->side[side];
	struct identity id;
	int err = live_identity(root, m->name, &id);
	char have[96], wanted[96];

	/* a bystander that no longer fits was announced by the plan */
	if (m->role == ROLE_HOST || (m->role == ROLE_BYSTANDER && side == SIDE_TO))
		return;
	if (!want->live && err == -ENOENT)
		return;
	if (!want->live)
		verdicts_no(why, REASON_VERIFY_FAILED, m->name, "is live and should not be");
	else if (err)
		verdicts_no(why, REASON_VERIFY_FAILED, m->name, "is not live: %s", strerror(-err));
	else if (!identity_same(&id, &want->id))
		verdicts_no(why, REASON_VERIFY_FAILED, m->name, "live is %s, wanted %s",
			    identity_text(&id, have), identity_text(&want->id, wanted));
}

static void verify_binding(const struct pci_devices *pci, const struct state_binding *b,
			   struct verdicts *why)
{
	for (size_t i = 0; i < pci->n; i++)
		if (!strcmp(pci->d[i].address, b->device) && pci->d[i].driver)
			return;
	verdicts_no(why, REASON_VERIFY_FAILED, b->device, "was bound to %s and is not bound again",
		    b->module);
}

int swap_verify(const struct sysroot *root, const struct swap_facts *facts, enum side side,
		struct verdicts *why)
{
	_cleanup_pci_ struct pci_devices pci = { 0 };
	size_t before = why->n;
	int err = pci_read(root, &pci);

	if (err)
		return err;
	for (size_t i = 0; i < facts->n; i++)
		verify_module(root, &facts->m[i], side, why);
	for (size_t i = 0; i < facts->n_bound[side]; i++)
		verify_binding(&pci, &facts->bound[side][i], why);
	return why->n > before ? -EIO : 0;
}
