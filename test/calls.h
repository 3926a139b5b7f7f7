/* calls.h: operations that a test calls on a world, and looking into what is answered. */
#ifndef TEST_CALLS_H
#define TEST_CALLS_H

#include <stdarg.h>

#include "check.h"
#include "json/pointer.h"
#include "json_help.h"
#include "sim/world.h"

static const struct actor the_operator = { .kind = ACTOR_OPERATOR, .name = STR("operator") };

/* An operation with an input like printf's. */
__attribute__((format(printf, 3, 4))) static inline struct command *call(struct world *w,
                                                                         const char *op,
                                                                         const char *format, ...)
{
    struct buf input = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&input, format, args);
    va_end(args);
    return world_call(w, op, buf_str(&input).at, "");
}

/* The answer to a command that was not refused; NULL: there was nothing to say. */
static inline const struct json *answer_of(const struct command *c)
{
    CHECK_OK(c->error);
    if (c->answer.empty)
        return NULL;
    return json_parsed(check_arena(), c->answer.text);
}

/* A member of it by its pointer; strings are their bytes, the rest is printed. */
static inline str at(const struct command *c, const char *pointer)
{
    const struct json *answer = answer_of(c), *value;

    CHECK(answer);
    CHECK_OK(json_pointer_get(check_arena(), answer, str_from(pointer), &value));
    return value->kind == JSON_STRING ? json_text(value) : json_printed(check_arena(), value);
}

/* What an operation answers that must succeed. */
static inline const struct json *answer(struct world *w, const char *op, const char *input)
{
    return answer_of(world_call(w, op, input, ""));
}

/* Why one is refused that must be, and must have changed nothing. */
static inline err refused(struct world *w, const char *op, const char *input)
{
    struct command *c = world_call(w, op, input, "");

    CHECK(c->error && !c->events);
    return c->error;
}

static inline void grant_drop(void *grant)
{
    grant_unref(grant);
}

/* Becomes whoever a token stands for, as a request that shows it does. */
static inline void act_as(struct world *w, str token)
{
    struct grant *grant;

    CHECK_OK(op_admit(&w->engine, check_arena(), token, &grant));
    arena_on_release(check_arena(), grant_drop, grant);
    w->actor = *grant->actor;
    CHECK(w->actor.token_id.len && str_eq(w->actor.token_id, grant->token_id));
}

#endif
