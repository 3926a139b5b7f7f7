/* runs_write.c: asking sessions for a turn, and taking that back. */
#include "base/date.h"
#include "core/agent.h"
#include "ops/runs.h"

enum { SYNC_WAIT_S = 45, METADATA_BYTES_MAX = 16384 };

/* ---- asking for one ---- */

static enum run_type type_of(const struct input *in)
{
    str name = str_from(in->op->name);

    if (str_eq(name, STR("session.start")))
        return RUN_TYPE_START;
    if (str_eq(name, STR("session.resume")))
        return RUN_TYPE_RESUME;
    return (enum run_type)team_word(&run_type_words, input_str(in, "type"));
}

/* An agent is called back by what it starts, unless it says otherwise; the operator looks. */
static err mode_of(struct tx *tx, const struct input *in, enum run_mode *out)
{
    str asked = input_str(in, "execution_mode");
    bool callback = input_bool(in, "callback", false);

    *out = callback || tx->actor->kind == ACTOR_SESSION ? MODE_CALLBACK : MODE_POLL;
    if (asked.len)
        *out = (enum run_mode)team_word(&mode_words, asked);
    if (callback && *out != MODE_CALLBACK)
        return err_new(tx->arena, ERR_INVALID,
                       "\"callback\" means the execution mode async_callback, found \"" STR_FMT
                       "\": leave one of them out",
                       STR_ARG(asked));
    return NULL;
}

static str session_asked(const struct input *in)
{
    str id = input_str(in, "session_id");

    return id.len ? id : input_str(in, "session_name");
}

/* Who gives both means one session. */
static err session_is_named(struct tx *tx, const struct input *in, const struct session *s)
{
    str name = input_str(in, "session_name");

    if (!name.len || str_eq(name, s->name) || str_eq(name, s->id))
        return NULL;
    return err_new(tx->arena, ERR_INVALID,
                   "\"session_id\" is that of session " STR_FMT
                   ", and \"session_name\" is \"" STR_FMT "\": give one of them",
                   STR_ARG(s->name), STR_ARG(name));
}

static str first_of(str a, str b)
{
    return a.len ? a : b;
}

static err session_new(struct tx *tx, const struct input *in, bool calls_back, struct session *out)
{
    struct session_new n = {
        .id = input_str(in, "session_id"),
        .name = input_str(in, "session_name"),
        .parent = input_str(in, "parent_session_name"),
        .agent = input_str(in, "agent_name"),
        .project_dir = first_of(input_str(in, "project_dir"),
                                json_str(input_json(in, "demands"), "project_dir")),
        .calls_back = calls_back,
    };

    if (!n.name.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected a \"session_name\" for the session that is to be started");
    TRY(entry_resolve(tx, n.agent, json_str(input_json(in, "demands"), "profile"), &n.profile));
    return session_create(tx, &n, out);
}

/* Its agent, where one is named; the role that it has already stays with the same one. */
static err agent_give(struct tx *tx, struct session *s, str agent)
{
    str role;

    if (!agent.len)
        return NULL;
    TRY(session_role(tx, agent, &role));
    if (role.len || !str_eq(agent, s->agent))
        s->role = role;
    s->agent = agent;
    return NULL;
}

/* A session that is there and has had no turn: made by hand, or no runner could take its first. */
static err session_adopt(struct tx *tx, const struct input *in, bool calls_back, struct session *s)
{
    bool begun;

    TRY(session_is_named(tx, in, s));
    TRY(run_begun(tx, s->id, &begun));
    if (begun || (s->attended && s->status != SESSION_PENDING))
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT
                       " has been started already: ask it for more with resume_agent_session "
                       "(a run of the type resume_session), or choose another name",
                       STR_ARG(s->name));
    str wish = first_of(json_str(input_json(in, "demands"), "profile"), s->profile);
    TRY(agent_give(tx, s, input_str(in, "agent_name")));
    TRY(entry_resolve(tx, s->agent, wish, &s->profile));
    s->attended = false;
    calls_back = calls_back && s->parent_id.len;
    if (!s->settled)
        s->calls_back |= calls_back; /* a parent that waits for it already still does */
    return session_reopen(tx, s, calls_back);
}

static err session_for_start(struct tx *tx, const struct input *in, bool calls_back,
                             struct session *s)
{
    bool found, reached = false;

    TRY(session_find(tx, session_asked(in), s, &found));
    if (found)
        TRY(session_in_reach(tx, s, &reached));
    /* One that is there and out of reach makes its name taken, and nothing more is told. */
    return reached ? session_adopt(tx, in, calls_back, s) : session_new(tx, in, calls_back, s);
}

static err session_for_resume(struct tx *tx, const struct input *in, bool calls_back,
                              struct session *s)
{
    bool begun;

    TRY(session_get(tx, session_asked(in), s));
    TRY(session_is_named(tx, in, s));
    TRY(run_begun(tx, s->id, &begun));
    if (str_eq(s->id, tx->actor->session_id))
        return err_new(tx->arena, ERR_FORBIDDEN,
                       "a session cannot ask itself for another turn: it is having one");
    if (s->attended)
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT " was not started from here, so no runner can resume it: "
                       "go on in the client that it runs in",
                       STR_ARG(s->name));
    if (!begun && !s->client_id.len)
        return err_new(tx->arena, ERR_CONFLICT,
                       "session " STR_FMT " has had no turn yet: start it with "
                       "start_agent_session (a run of the type start_session)",
                       STR_ARG(s->name));
    calls_back = calls_back && s->parent_id.len;
    if (s->settled)
        return session_reopen(tx, s, calls_back);
    if (!calls_back || s->calls_back)
        return NULL;
    s->calls_back = true; /* whoever asks now waits for it */
    return session_store(tx, s);
}

static struct demand demand_in(struct tx *tx, const struct input *in)
{
    const struct json *demands = input_json(in, "demands"), *tags = json_get(demands, "tags");
    uint32_t count = tags ? tags->len : 0;
    str *copies = ARENA_ARRAY(tx->arena, str, count);

    for (uint32_t i = 0; i < count; i++)
        copies[i] = json_text(&tags->items[i]);
    return (struct demand){ .hostname = json_str(demands, "hostname"),
                            .tags = copies,
                            .tag_count = count };
}

static err run_new_in(struct tx *tx, const struct input *in, struct run_new *out)
{
    const struct json *metadata = input_json(in, "metadata");
    str when = input_str(in, "not_before");

    *out = (struct run_new){ .type = type_of(in),
                             .purpose = PURPOSE_WORK,
                             .prompt = input_str(in, "prompt"),
                             .demand = demand_in(tx, in),
                             .priority = input_int(in, "priority", 0),
                             .max_ms = input_int(in, "max_seconds", 0) * 1000,
                             .metadata = metadata ? json_printed(tx->arena, metadata) : STR("") };
    if (when.len && !date_parse(when, &out->not_before_ms))
        return err_new(tx->arena, ERR_INVALID,
                       "expected \"not_before\" to be a time like 2025-01-15T10:35:00Z");
    if (out->metadata.len > METADATA_BYTES_MAX)
        return err_new(tx->arena, ERR_TOO_LARGE, "\"metadata\" may have %d bytes, found %zu",
                       METADATA_BYTES_MAX, out->metadata.len);
    return mode_of(tx, in, &out->mode);
}

/* Who wants the result in the answer waits for it after all of this is committed. */
static void answer_with_result(struct tx *tx, const struct input *in, str session_id,
                               struct answer *out)
{
    out->then = "session.result";
    out->then_input = json_object();
    json_put(tx->arena, &out->then_input, STR("session_id"), json_string(session_id));
    json_put(tx->arena, &out->then_input, STR("wait"), json_bool(true));
    json_put(tx->arena, &out->then_input, STR("timeout"),
             json_int(tx->arena, input_int(in, "timeout", SYNC_WAIT_S)));
}

err run_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run_new n;
    struct session s;
    struct run r;

    TRY(run_new_in(tx, in, &n));
    bool calls_back = n.mode == MODE_CALLBACK;
    TRY(n.type == RUN_TYPE_START ? session_for_start(tx, in, calls_back, &s)
                                 : session_for_resume(tx, in, calls_back, &s));
    TRY(run_create(tx, &s, &n, &r));
    out->created = true;
    if (n.mode == MODE_SYNC)
        answer_with_result(tx, in, s.id, out);
    write_run(tx, &out->json, &r, true);
    return NULL;
}

err run_stop_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct run r;

    TRY(run_get(tx, input_str(in, "run_id"), &r));
    str why = input_str(in, "reason");
    TRY(run_stop(
        tx, &r,
        why.len ? why : arena_printf(tx->arena, "stopped by " STR_FMT, STR_ARG(tx->actor->name))));
    write_run(tx, &out->json, &r, true);
    return NULL;
}
