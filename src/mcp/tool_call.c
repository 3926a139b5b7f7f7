/* tool_call.c: tools/call: arguments → operation → result.
 *
 * A call is one operation, or two where a session is started and its answer waited for. No call
 * waits longer than a client bears: who can repeat a request at no cost is asked to, and others are
 * told how things stand. Last, a session that somebody outside runs is told with its answer which of
 * its children have ended. */
#include <assert.h>

#include "mcp/mcp_private.h"
#include "mcp/write.h"
#include "mcp/tools.h"

enum {
    ROUNDS_MAX = 5, /* that a client is asked to repeat a request */
    ROUND_LIVES_MS = 10 * 60 * 1000,
    TIMEOUT_MAX_S = 60,                   /* of every operation that waits */
    WHOLE_BYTES_MAX = 2 * TOOL_CHARS_MAX, /* of a text that every client shows whole */
};

/* A call under way. */
struct calling {
    const struct tool *tool;
    const struct json *arguments;
    int64_t timeout_s; /* of one round */
    int64_t round;
    bool waits;               /* it waits for something … */
    bool patient;             /* … and has not said how long: several rounds will do */
    bool sync;                /* it starts a session and waits for its answer */
    str session;              /* that it has started */
    const struct json *past;  /* what requestState holds; NULL: nothing */
    const struct json *input; /* of the operation, while a person is asked */

    str text; /* the result, while callbacks are looked for */
    bool is_error;
    str quoted; /* it, as a JSON string; empty: it is not known as that */
};

static const struct json no_input = { .kind = JSON_OBJECT };

/* ---- results ---- */

/* `quoted` is the text as a JSON string, or empty; `extra` is a second text, or empty, which a
 * session alone is told. A result that is no error is JSON. */
static void answer(struct mcp_call *m, str text, str quoted, bool is_json, bool is_error, str extra)
{
    struct json_writer *w = mcp_result_begin(m);

    assert(!extra.len || !tool_is_structured(m));

    buf_reserve(w->out, 2 * text.len + text.len / 4 + extra.len + 200);
    write_begin(w, STR("content"), '[');
    if (quoted.len)
        write_quoted_block(w, quoted);
    else
        write_text_block(w, text);
    if (extra.len)
        write_text_block(w, extra);
    json_write_end(w, ']');
    if (is_json && tool_is_structured(m))
        write_printed(w, STR("structuredContent"), text);
    if (is_error)
        write_bool(w, STR("isError"), true);
    mcp_result_end(m);
}

void tool_answer_text(struct mcp_call *m, str text, bool is_error)
{
    answer(m, text, STR(""), false, is_error, STR(""));
}

/* ---- what else the agent is told: which of its children have ended ---- */

static void answer_with(struct mcp_call *m, str callbacks)
{
    const struct calling *c = m->own;

    answer(m, c->text, STR(""), !c->is_error, c->is_error, callbacks);
}

/* What was taken is told by this answer. What could not be taken waits on. */
static void callbacks_taken(struct mcp_call *m, const struct command *done)
{
    const struct json *taken;
    bool none = done->error || json_parse_own(m->arena, done->answer.text, &taken);

    answer_with(m, none ? STR("") : json_str(taken, "text"));
}

static void callbacks_looked(struct mcp_call *m, const struct command *done)
{
    if (!done->error && str_eq(projection_find(done->answer.text, STR("waiting")), STR("true"))) {
        mcp_ask(m, "callback.take", &no_input, callbacks_taken);
        return;
    }
    if (!done->error)
        m->quiet_at = done->seq;
    answer_with(m, STR(""));
}

/* The text need not live longer than this. Of a long one clients show a part, or where it is: what
 * was in it might never be read, so callbacks wait for the next. */
static void conclude(struct mcp_call *m, str text, bool is_error)
{
    struct calling *c = m->own;

    if (!actor_is_attended(m->actor) || m->quiet || text.len > WHOLE_BYTES_MAX) {
        answer(m, text, c->quoted, !is_error, is_error, STR(""));
        return;
    }
    c->text = arena_copy(m->arena, text);
    c->is_error = is_error;
    m->key = STR(""); /* it is the first operation's */
    mcp_ask(m, "callback.waiting", &no_input, callbacks_looked);
}

static str told(struct mcp_call *m, const struct tool *t, str printed)
{
    struct buf out = buf_in(m->arena);

    buf_reserve(&out, printed.len);
    projection_write(&out, printed, t->tool_output, t->output_count);
    return buf_str(&out);
}

static void conclude_answer(struct mcp_call *m, const struct tool *t, str printed)
{
    conclude(m, told(m, t, printed), false);
}

/* A document that many ask for is told to all of them in the same words: one tool alone shows what
 * is in the cache. */
static void conclude_shown(struct mcp_call *m, const struct tool *t,
                           const struct cached_answer *shown)
{
    struct calling *c = m->own;
    struct tool_text known = shown->tool;

    if (!known.text.len) {
        struct buf quoted = buf_in(m->arena);
        known.text = told(m, t, shown->text);
        json_print_string(&quoted, known.text);
        known.quoted = buf_str(&quoted);
        m->tool_text = known;
    }
    c->quoted = known.quoted;
    conclude(m, known.text, false);
}

static void conclude_error(struct mcp_call *m, err e)
{
    const struct calling *c = m->own;

    conclude(m, tool_error_text(m->arena, c->tool, c->arguments, e), true);
}

/* ---- waiting ---- */

/* What was waited for has not come, and the client is to ask again: true, when that is the answer.
 * It costs no model a word, but there is an end to it. */
static bool goes_round(struct mcp_call *m)
{
    const struct calling *c = m->own;
    struct buf payload = buf_in(m->arena);
    struct json_writer w = json_writer_to(&payload);

    if (!c->patient || !mcp_is_modern(m->client.version) || c->round == ROUNDS_MAX)
        return false;
    json_write_begin(&w, '{');
    write_int(&w, STR("round"), c->round + 1);
    write_text(&w, STR("session"), c->session);
    json_write_end(&w, '}');
    round_begin(m);
    round_end(m, round_seal(m, buf_str(&payload), ROUND_LIVES_MS));
    return true;
}

/* Whether an answer has what was waited for. */
static bool is_over(const struct calling *c, const struct command *done)
{
    int64_t wanted = json_int_or(c->arguments, "wait_version", 0);

    return wanted ? done->answer.version >= wanted
                  : !str_eq(projection_find(done->answer.text, STR("settled")), STR("false"));
}

/* ---- starting a session and waiting for its answer ---- */

static void result_came(struct mcp_call *m, const struct command *done)
{
    const struct calling *c = m->own;

    if (done->error)
        conclude(
            m,
            arena_printf(m->arena,
                         "The session was started, but its answer could not be waited for: " STR_FMT
                         ". Ask for it with get_agent_session_result, session_id " STR_FMT
                         " and wait true.",
                         STR_ARG(done->error->message), STR_ARG(c->session)),
            true);
    else if (is_over(c, done) || !goes_round(m))
        conclude_answer(m, tool_of(m->mcp, "session.result"), done->answer.text);
}

static void result_ask(struct mcp_call *m)
{
    const struct calling *c = m->own;
    struct json *input = ARENA_NEW(m->arena, struct json);

    *input = json_object();
    json_put(m->arena, input, STR("session_id"), json_string(c->session));
    json_put(m->arena, input, STR("wait"), json_bool(true));
    json_put(m->arena, input, STR("timeout"), json_int(m->arena, c->timeout_s));
    m->key = STR("");
    mcp_ask(m, "session.result", input, result_came);
}

static void started(struct mcp_call *m, const struct command *done)
{
    struct calling *c = m->own;

    if (done->error) {
        conclude_error(m, done->error);
        return;
    }
    const struct json *run = mcp_answer_json(m, done);
    c->session = json_str(run, "session_id");
    if (m->client.tasks)
        task_answer_created(m, run);
    else
        result_ask(m);
}

/* ---- a call ---- */

static void performed(struct mcp_call *m, const struct command *done)
{
    const struct calling *c = m->own;
    const struct cached_answer *shown = m->cached;

    /* What came out of the cache is all of a document, and may be more than is shown. */
    if (shown && done->answer.text.len > TOOL_CHARS_MAX)
        mcp_ask(m, c->tool->op->name, m->input, performed);
    else if (done->error)
        conclude_error(m, done->error);
    else if (shown)
        conclude_shown(m, c->tool, shown);
    else if (!c->waits || is_over(c, done) || !goes_round(m))
        conclude_answer(m, c->tool, done->answer.text);
}

/* The state that the call is about when it does not say: the one of the head, or the session's. */
static str state_implied(struct mcp_call *m)
{
    str named;

    if (m->head.field && m->head.field(m->head.self, "x-workflow-state-id", &named) && named.len)
        return named;
    return actor_state(m->actor);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What the arguments say of waiting. */
static void read_waiting(struct mcp_call *m, struct calling *c)
{
    const struct json *timeout = json_get(c->arguments, "timeout");
    int64_t most = least(m->mcp->options.wait_ms / 1000, TIMEOUT_MAX_S);

    c->sync = c->tool->starts && str_eq(json_str(c->arguments, "execution_mode"), STR("sync"));
    c->waits = c->sync || (c->tool->op->wait && (json_bool_or(c->arguments, "wait", false) ||
                                                 json_get(c->arguments, "wait_version")));
    c->patient = c->waits && !timeout;
    c->timeout_s = least(json_int_or(c->arguments, "timeout", most), most);
}

/* An argument as the operation gets it: what waits is cut to what a client bears, and a start that
 * is waited for is waited for here. */
static struct json argument(struct mcp_call *m, const struct calling *c,
                            const struct json_member *given)
{
    str name = json_name(given);

    if (str_eq(name, STR("timeout")) && given->value.kind == JSON_INTEGER && c->timeout_s >= 0)
        return json_int(m->arena, c->timeout_s);
    if (str_eq(name, STR("execution_mode")) && c->sync)
        return json_string(STR("async_poll"));
    return given->value;
}

static struct json *input_make(struct mcp_call *m, const struct calling *c)
{
    struct json *input = ARENA_NEW(m->arena, struct json);
    const struct json *given = c->arguments;

    *input = json_object();
    for (uint32_t i = 0; i < given->len; i++)
        json_put(m->arena, input, json_name(&given->members[i]),
                 argument(m, c, &given->members[i]));
    if (c->tool->is_capped && !json_get(given, "max_chars"))
        json_put(m->arena, input, STR("max_chars"), json_int(m->arena, TOOL_CHARS_MAX));
    if (c->patient && !c->sync)
        json_put(m->arena, input, STR("timeout"), json_int(m->arena, c->timeout_s));
    return input;
}

/* What to do where no state is implied. */
static const char *const stateless[] = {
    [TIER_CHILD] = "There is no shared state yet: the root of your sessions creates it with "
                   "state_create. Go on without it, and answer with your result.",
    [TIER_ROOT] = "There is no shared state yet. Create it with state_create, before you start "
                  "other agents: they inherit it.",
    [TIER_OPERATOR] = "Which state is meant? Give its state_id: no session implies one here.",
    [TIER_VIEWER] = "Which state is meant? Give its state_id: no session implies one here.",
    [TIER_NONE] = "",
};

/* Fills in what the session implies; false, when nothing does, and the call was answered. */
static bool input_imply(struct mcp_call *m, const struct calling *c, struct json *input)
{
    const char *field = c->tool->op->implied;

    if (!field || json_get(input, field))
        return true;
    str id = state_implied(m);
    if (id.len) {
        json_put(m->arena, input, str_from(field), json_string(id));
        return true;
    }
    conclude(m, str_from(stateless[actor_tier(m->actor)]), true);
    return false;
}

/* A read of a whole document, by nothing but its id, may be in memory. */
static void input_plain(struct mcp_call *m, const struct calling *c, const struct json *input)
{
    const char *field = c->tool->op->implied;
    uint32_t own = json_get(c->arguments, field) != NULL;
    const struct json *id = json_get(input, field);

    m->plain = c->tool->op->peek && c->arguments->len == own && json_is(id, JSON_STRING);
    if (m->plain)
        m->plain_id = json_text(id);
}

/* ---- what only a person decides ---- */

/* As of any agent whose person decides nothing here: it is told who does, and where. */
static void undecided(struct mcp_call *m)
{
    const struct calling *c = m->own;

    mcp_ask(m, c->tool->op->name, c->input, performed);
}

static void decided(struct mcp_call *m, const struct command *done)
{
    const struct calling *c = m->own;

    if (done->error)
        conclude_error(m, done->error);
    else
        conclude_answer(m, c->tool, done->answer.text);
}

/* ---- the call ---- */

static void call(struct mcp_call *m, struct calling *c)
{
    static const struct elicit_ends ends = { decided, undecided };

    read_waiting(m, c);
    if (c->sync && c->session.len) { /* a later round: it runs already */
        result_ask(m);
        return;
    }
    struct json *input = input_make(m, c);
    if (!input_imply(m, c, input))
        return;
    if (elicit_can(m, c->tool->op)) {
        c->input = input;
        elicit(m, input, c->past, &ends);
        return;
    }
    mcp_ask(m, c->tool->op->name, input, c->sync ? started : performed);
    input_plain(m, c, input);
}

void mcp_tools_call(struct mcp_call *m)
{
    const struct json *arguments = json_get(m->message.params, "arguments"), *past;
    struct calling *c = ARENA_NEW(m->arena, struct calling);
    str name;

    if (!mcp_param_str(m, "name", true, &name))
        return;
    c->tool = tool_seen(m->mcp, m->actor, name);
    if (!c->tool) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "Unknown tool: " STR_FMT, STR_ARG(name));
        return;
    }
    if (arguments && arguments->kind != JSON_OBJECT) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.arguments must be an object, found %s",
                   json_kind_name(arguments->kind));
        return;
    }
    if (!round_open(m, &past))
        return;
    c->arguments = arguments ? arguments : &no_input;
    c->past = past;
    c->round = json_int_or(past, "round", 0);
    c->session = json_str(past, "session");
    m->own = c;
    call(m, c);
}
