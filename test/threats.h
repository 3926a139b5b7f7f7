/* threats.h: two trees of sessions beside each other, for tests of what those cannot do who have a
 * token and mean ill.
 *
 * Everything in theirs that can hold a text holds the same odd word, so that whoever hears it has
 * heard too much. */
#ifndef TEST_THREATS_H
#define TEST_THREATS_H

#include "core/token.h"
#include "calls.h"

#define ODD "zweifellos"

static inline struct world *world_new(void)
{
    struct world *w;

    CHECK_OK(world_open("threat.db", NULL, &w));
    return w;
}

/* ---- who acts ---- */

static inline str token_of(struct world *w, const char *kind)
{
    w->actor = the_operator;
    return at(call(w, "token.create", "{'kind':'%s'}", kind), "/token");
}

struct fake_runner {
    str token, id;
};

static inline struct fake_runner fake_runner_new(struct world *w, const char *name)
{
    struct fake_runner m = { .token = token_of(w, "runner") };

    act_as(w, m.token);
    m.id = at(call(w, "runner.register", "{'hostname':'%s','capacity':100}", name), "/runner_id");
    w->actor = the_operator;
    return m;
}

struct turn {
    str run_id, session_id, token;
    int64_t fence;
};

static inline struct turn claim(struct world *w, const struct fake_runner *m)
{
    struct turn t;

    act_as(w, m->token);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    t.run_id = at(c, "/run/run_id");
    t.session_id = at(c, "/run/session_id");
    t.token = at(c, "/run/token");
    CHECK(str_to_int(at(c, "/run/fence"), &t.fence));
    w->actor = the_operator;
    return t;
}

static inline struct command *report(struct world *w, const struct fake_runner *m,
                                     const struct turn *t, const char *what, const char *more)
{
    act_as(w, m->token);
    struct command *c = call(w, arena_printf(check_arena(), "runner.%s", what).at,
                             "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld%s}",
                             STR_ARG(m->id), STR_ARG(t->run_id), (long long)t->fence, more);
    w->actor = the_operator;
    return c;
}

/* A session at work, of whoever acts; all that it is asked and says has this word in it. */
static inline struct turn working(struct world *w, const struct fake_runner *m, const char *name,
                                  const char *word)
{
    CHECK_OK(call(w, "run.create",
                  "{'type':'start_session','session_name':'%s','prompt':'%s',"
                  "'metadata':{'%s':1}%s}",
                  name, word, word,
                  w->actor.kind == ACTOR_SESSION ? "" : ",'project_dir':'/work/here'")
                 ->error);
    struct turn t = claim(w, m);
    str more = arena_printf(check_arena(),
                            ",'heard':'%s','client_id':'%s','output':[{'stream':'stderr',"
                            "'text':'%s'}]",
                            word, word, word);
    CHECK_OK(report(w, m, &t, "started", "")->error);
    CHECK_OK(report(w, m, &t, "progress", more.at)->error);
    return t;
}

/* A root with a state, and two at work below it. */
struct tree {
    struct turn root, left, right;
    str state_id;
};

static inline struct tree tree_new(struct world *w, const struct fake_runner *m, const char *name,
                                   const char *word)
{
    struct tree t;

    w->actor = the_operator;
    t.root = working(w, m, arena_printf(check_arena(), "%s-root", name).at, word);
    t.state_id = at(call(w, "state.create",
                         "{'schema_name':'any','root_session':'" STR_FMT "',"
                         "'initial_data':{'%s':'%s'}}",
                         STR_ARG(t.root.session_id), word, word),
                    "/state_id");
    act_as(w, t.root.token);
    t.left = working(w, m, arena_printf(check_arena(), "%s-left", name).at, word);
    act_as(w, t.root.token);
    t.right = working(w, m, arena_printf(check_arena(), "%s-right", name).at, word);
    return t;
}

struct threat {
    struct world *w;
    struct fake_runner runner;
    struct tree ours, theirs;
};

static inline struct threat threat_new(void)
{
    struct threat t = { .w = world_new() };

    t.w->actor = the_operator;
    CHECK_OK(call(t.w, "schema.create", "{'name':'any','json_schema':{'type':'object'}}")->error);
    t.runner = fake_runner_new(t.w, "here");
    t.theirs = tree_new(t.w, &t.runner, "their", ODD);
    t.ours = tree_new(t.w, &t.runner, "our", "ours");
    return t;
}

/* ---- what is seen ---- */

/* All that the operator sees of a session and its run. */
static inline void show_turn(struct world *w, const struct turn *t, struct buf *out)
{
    static const char *const of_session[] = { "session.get", "session.events", "session.result" };
    static const char *const of_run[] = { "run.get", "run.output" };

    for (size_t i = 0; i < 3; i++)
        buf_add(out, call(w, of_session[i], "{'session_id':'" STR_FMT "'}", STR_ARG(t->session_id))
                         ->answer.text);
    for (size_t i = 0; i < 2; i++)
        buf_add(out,
                call(w, of_run[i], "{'run_id':'" STR_FMT "'}", STR_ARG(t->run_id))->answer.text);
}

static inline str show_tree(struct world *w, const struct tree *t)
{
    struct buf out = buf_in(check_arena());

    w->actor = the_operator;
    show_turn(w, &t->root, &out);
    show_turn(w, &t->left, &out);
    show_turn(w, &t->right, &out);
    buf_add(&out,
            call(w, "state.read", "{'state_id':'" STR_FMT "'}", STR_ARG(t->state_id))->answer.text);
    buf_add(&out, call(w, "session.list", "{'root':'" STR_FMT "'}", STR_ARG(t->root.session_id))
                      ->answer.text);
    return buf_str(&out);
}

#endif
