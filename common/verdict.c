/* SPDX-License-Identifier: Apache-2.0 */
#include "common/verdict.h"

#include <stdarg.h>
#include <string.h>

static void *need(void *p)
{
	if (!p) {
		log_error("out_of_memory", "reason", reason_info(REASON_SYSTEM)->code);
		exit(EXIT_SYSTEM);
	}
	return p;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool has(const struct verdicts *vs, const struct verdict *new)
{
	for (size_t i = 0; i < vs->n; i++) {
		const struct verdict *v = &vs->v[i];

		if (v->why == new->why &&
		    v->state == new->state &&same_text(v->object, new->object) &&
		    same_text(v->detail, new->detail))
			return true;
	}
	return false;
}

void verdicts_add(struct verdicts *vs, enum reason why, enum verdict_state state,
		  const char *object, const char *detail, ...)
{
	_cleanup_free_ char *text = NULL;
	struct verdict new = { .why = why, .state = state };
	va_list args;

	if (detail) {
		va_start(args, detail);
		if (vasprintf(&text, detail, args) < 0)
			text = need(NULL);
		va_end(args);
	}
	new.object = (char *)object;
	new.detail = text;
	if (has(vs, &new))
		return;
	vs->v = need(reallocarray(vs->v, vs->n + 1, sizeof(*vs->v)));
	new.object = need(strdup(object));
	new.detail = TAKE_PTR(text);
	vs->v[vs->n++] = new;
}

void verdicts_clear(struct verdicts *vs)
{
	for (size_t i = 0; i < vs->n; i++) {
		free(vs->v[i].object);
		free(vs->v[i].detail);
	}
	free(vs->v);
	*vs = (struct verdicts){ 0 };
}

static const struct verdict *first_no(const struct verdicts *vs)
{
	for (size_t i = 0; i < vs->n; i++) {
		if (vs->v[i].state == VERDICT_NO)
			return &vs->v[i];
	}
	return NULL;
}

bool verdicts_refuse(const struct verdicts *vs)
{
	return first_no(vs) != NULL;
}

int verdicts_exit(const struct verdicts *vs)
{
	const struct verdict *no = first_no(vs);

	return no ? reason_info(no->why)->exit : 0;
}

void verdicts_log(const struct verdicts *vs, enum log_level level)
{
	for (size_t i = 0; i < vs->n; i++) {
		const struct verdict *v = &vs->v[i];
		const struct reason_info *info = reason_info(v->why);
		bool no = v->state == VERDICT_NO;

		log_event(no ? level : LEVEL_WARN, no ? "refused" : "could_not_see", "reason",
			  info->code, "object", v->object, "detail", v->detail, "cause",
			  info->cause, "remedy", info->remedy, NULL);
	}
}
