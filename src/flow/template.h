/* template.h: texts with expressions in them: "Plan a fix of {{ issue.title }}."
 *
 * What stands between {{ and }} is FEEL (feel.h); braces and quotes inside it may hold }} too.
 * Everything else stays as it is. A {{ that is meant as such is the value of a string:
 * {{ "{{" }}. Knows no prompts, no steps. */
#ifndef FLOW_TEMPLATE_H
#define FLOW_TEMPLATE_H

#include "flow/feel.h"

#define TEMPLATE_BYTES_MAX (64u << 10) /* of a template, and of what it is rendered to */

/* Lives in the arena that it was compiled in, and does not change. */
struct template;

/* INVALID, with line and column, what was expected and what was found. */
err template_compile(struct arena *a, str text, const struct template **out);

/* A string goes in as it is, null as nothing, any other value as JSON. LIMIT beyond 64 KiB, or when
 * the expressions together take more than the steps of one evaluation. */
err template_render(struct arena *a, const struct template *t, const struct feel_scope *scope,
                    int64_t now_ms, str *out);

/* The variables that its expressions may read, each once, as feel_names tells them. */
size_t template_names(const struct template *t, const str **names);

/* What it was compiled from. */
str template_text(const struct template *t);

#endif
