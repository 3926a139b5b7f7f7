/* session_help.h: a tree of sessions, and whoever speaks in it, for tests of sessions. */
#ifndef TEST_SESSION_HELP_H
#define TEST_SESSION_HELP_H

#include "core/session.h"
#include "calls.h"

static inline struct world *world_new(void)
{
    static int worlds;
    struct world *w;

    CHECK_OK(world_open(arena_printf(check_arena(), "sessions%d.db", ++worlds).at, NULL, &w));
    return w;
}

/* A member of a session as text. */
static inline str shown(struct world *w, const char *session, const char *member)
{
    const struct json *all = answer_of(call(w, "session.get", "{'session_id':'%s'}", session));

    CHECK(json_get(all, member));
    return json_shown(check_arena(), json_get(all, member));
}

/* Below a parent, or NULL: a root. */
static inline void session(struct world *w, const char *name, const char *parent)
{
    str below = parent ? arena_printf(check_arena(), ",'parent_session_name':'%s'", parent)
                       : STR("");

    CHECK_OK(call(w, "session.create", "{'session_id':'ses_%s','session_name':'%s'" STR_FMT "}",
                  name, name, STR_ARG(below))
                 ->error);
}

/* root ← a ← b, root ← c, and another tree. */
static inline struct world *world_with_tree(void)
{
    struct world *w = world_new();

    session(w, "root", NULL);
    session(w, "a", "root");
    session(w, "b", "ses_a");
    session(w, "c", "root");
    session(w, "other", NULL);
    answer(w, "schema.create", "{'name':'task','json_schema':{'type':'object'}}");
    return w;
}

/* Whoever holds a token that is minted for a session now. */
static inline void become(struct world *w, const char *session_name)
{
    w->actor = the_operator;
    act_as(w, at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'%s'}}",
                      session_name),
                 "/token"));
}

static inline void become_operator(struct world *w)
{
    w->actor = the_operator;
}

/* The names of the sessions of a page. */
static inline str listed(struct world *w, const char *input)
{
    const struct json *page = answer(w, "session.list", input);
    const struct json *all = json_get(page, "sessions");
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++)
        buf_printf(&out, "%s" STR_FMT, i ? " " : "",
                   STR_ARG(json_str(&all->items[i], "session_name")));
    if (json_get(page, "next"))
        buf_add(&out, STR(" …"));
    return buf_str(&out);
}

#endif
