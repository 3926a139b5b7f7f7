/* checks.h: a runner, played by the test, that looks for the evidence of steps. */
#ifndef TEST_CHECKS_H
#define TEST_CHECKS_H

#include "calls.h"

#define GOOD_COMMAND "{'kind':'command','ok':true,'what':'make test','found':'exit 0'}"
#define BAD_COMMAND \
    "{'kind':'command','ok':false,'what':'make test','found':'exit 2','output':'1 of 9 failed'}"
#define GOOD_FILE "{'kind':'file','ok':true,'what':'a.c','found':'it','sha256':'abcd'}"
#define GOOD_TESTS \
    "{'kind':'junit','ok':true,'what':'report.xml','found':'9 tests','tests':9,'failures':0}"

static const struct actor runner_actor = { .kind = ACTOR_RUNNER,
                                           .name = STR("runner"),
                                           .token_id = STR("rn_checks") };

/* What it was given. */
struct check {
    str run_id, input, folder;
    str runner_id;
    int64_t fence;
};

static inline str runner_new(struct world *w)
{
    w->actor = runner_actor;
    str id = at(call(w, "runner.register", "{'hostname':'box','commands':true,'capacity':9}"),
                "/runner_id");
    w->actor = the_operator;
    return id;
}

/* "started", "completed", "failed" …, and what there is to say besides, beginning with a comma. */
static inline struct command *check_ends(struct world *w, const struct check *k, const char *how,
                                         const char *more)
{
    str op = arena_printf(check_arena(), "runner.%s", how);

    w->actor = runner_actor;
    struct command *c = call(w, op.at,
                             "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld%s}",
                             STR_ARG(k->runner_id), STR_ARG(k->run_id), (long long)k->fence, more);
    w->actor = the_operator;
    return c;
}

/* The next check; its run_id is empty when there is none. */
static inline struct check check_claim(struct world *w, str runner)
{
    struct check taken = { .runner_id = runner };

    w->actor = runner_actor;
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(runner));
    w->actor = the_operator;
    if (c->answer.waits || !json_get(answer_of(c), "run"))
        return taken;
    CHECK_STR(at(c, "/run/argv"), "[\"baton\",\"evidence\"]");
    taken.run_id = at(c, "/run/run_id");
    taken.input = at(c, "/run/stdin");
    taken.folder = json_str(json_get(answer_of(c), "run"), "project_dir");
    CHECK(str_to_int(at(c, "/run/fence"), &taken.fence));
    CHECK_OK(check_ends(w, &taken, "started", "")->error);
    return taken;
}

/* What baton evidence prints, as the runner reports it; quotes of JSON are single here. */
static inline struct command *check_says(struct world *w, const struct check *k, bool ok,
                                         const char *checks)
{
    struct buf text = buf_in(check_arena());
    str document =
        arena_printf(check_arena(), "{'ok':%s,'checks':[%s]}", ok ? "true" : "false", checks);

    for (size_t i = 0; i < document.len; i++)
        if (document.at[i] == '\'')
            buf_add(&text, STR("\\\""));
        else
            buf_byte(&text, document.at[i]);
    return check_ends(w, k, "completed",
                      arena_printf(check_arena(), ",'exit_code':0,'result':'" STR_FMT "'",
                                   STR_ARG(buf_str(&text)))
                          .at);
}

#endif
