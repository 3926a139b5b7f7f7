/* completion.c: completion/complete: how an argument that somebody types may go on.
 *
 * Arguments of prompts and of the templates of resources are completed by what the one who asks
 * can see: states by id, versions of a state, schemas and sessions by name. Lists are gone through
 * page by page, and not for ever. */
#include "mcp/mcp_private.h"
#include "mcp/write.h"

enum { VALUES_MAX = 100, PAGE = 500, PAGES_MAX = 20, VERSIONS_MAX = 10000 };

/* What is typed so far, and what was found. */
struct completing {
    const struct source *source;
    str typed;
    str values[VALUES_MAX];
    int64_t found; /* also beyond those that are kept */
    int pages;
    bool cut; /* there may be more that was not looked at */
};

/* Where values are listed. In order: what begins with the same bytes stands together. */
static const struct source {
    const char *op, *list, *field;
    bool in_order;
} sources[] = {
    [COMPLETES_STATES] = { "state.list", "states", "state_id", true },
    [COMPLETES_SCHEMAS] = { "schema.list", "schemas", "name", true },
    [COMPLETES_SESSIONS] = { "session.list", "sessions", "session_name", false },
};

/* ---- the answer ---- */

static void answer(struct mcp_call *m, const struct completing *c)
{
    struct json_writer *w = mcp_result_begin(m);

    write_begin(w, STR("completion"), '{');
    write_begin(w, STR("values"), '[');
    for (int64_t i = 0; i < c->found && i < VALUES_MAX; i++)
        json_write_str(w, c->values[i]);
    json_write_end(w, ']');
    if (!c->cut)
        write_int(w, STR("total"), c->found);
    write_bool(w, STR("hasMore"), c->cut || c->found > VALUES_MAX);
    json_write_end(w, '}');
    mcp_result_end(m);
}

static void take(struct completing *c, str value)
{
    if (!str_starts(value, c->typed))
        return;
    if (c->found < VALUES_MAX)
        c->values[c->found] = value;
    c->found++;
}

/* Whether the operation has answered; what is not there has nothing to offer, and other errors are
 * the answer. */
static bool answered(struct mcp_call *m, const struct command *done)
{
    if (!done->error)
        return true;
    if (error_says_unknown(done->error))
        answer(m, m->own);
    else
        mcp_refuse_error(m, done->error, RPC_PARAMS, STR(""));
    return false;
}

/* ---- lists ---- */

static void ask_page(struct mcp_call *m, str after);

static void page_done(struct mcp_call *m, const struct command *done)
{
    struct completing *c = m->own;

    if (!answered(m, done))
        return;
    const struct json *page = mcp_answer_json(m, done), *all = json_get(page, c->source->list);
    str next = json_str(page, "next"), last = STR("");
    for (uint32_t i = 0; i < all->len; i++)
        take(c, last = json_str(&all->items[i], c->source->field));
    c->pages++;
    bool past = c->source->in_order && str_compare(last, c->typed) > 0 &&
                !str_starts(last, c->typed);
    if (next.len && !past && c->pages < PAGES_MAX) {
        ask_page(m, next);
        return;
    }
    c->cut = next.len && !past;
    answer(m, c);
}

static void ask_page(struct mcp_call *m, str after)
{
    const struct completing *c = m->own;
    struct json input = json_object();

    json_put(m->arena, &input, STR("limit"), json_int(m->arena, PAGE));
    if (after.len)
        json_put(m->arena, &input, STR("after"), json_string(after));
    mcp_ask_with(m, c->source->op, input, page_done);
}

/* A text that comes right before all that begins with what is typed: its last byte less one, and
 * then what no name has. Empty: begin with the first. */
static str before_typed(struct arena *a, str typed)
{
    if (!typed.len || typed.at[typed.len - 1] <= ' ')
        return STR("");
    return arena_printf(a, STR_FMT "%c\x7f", (int)typed.len - 1, typed.at,
                        typed.at[typed.len - 1] - 1);
}

/* ---- versions ---- */

/* The newest first. */
static void versions_done(struct mcp_call *m, const struct command *done)
{
    struct completing *c = m->own;

    if (!answered(m, done))
        return;
    int64_t least = done->answer.version > VERSIONS_MAX ? done->answer.version - VERSIONS_MAX : 0;
    for (int64_t v = done->answer.version; v > least; v--)
        take(c, arena_printf(m->arena, "%lld", (long long)v));
    c->cut = least > 0;
    answer(m, c);
}

/* Of the state that was chosen before. */
static void ask_versions(struct mcp_call *m)
{
    const struct json *context = json_get(m->message.params, "context");
    str id = json_str(json_get(context, "arguments"), "id");
    struct json input = json_object();

    if (!id.len) {
        answer(m, m->own);
        return;
    }
    json_put(m->arena, &input, STR("state_id"), json_string(id));
    mcp_ask_with(m, "state.read", input, versions_done);
    m->plain = true;
    m->plain_id = id;
}

/* ---- the method ---- */

/* The variables of the templates. */
static bool template_completes(str template, str variable, enum completes *out)
{
    bool version = str_eq(template, STR(VERSION_TEMPLATE));

    if (!version && !str_eq(template, STR(STATE_TEMPLATE)))
        return false;
    *out = str_eq(variable, STR("id")) ? COMPLETES_STATES : COMPLETES_VERSIONS;
    return *out == COMPLETES_STATES || (version && str_eq(variable, STR("n")));
}

static bool find_source(struct mcp_call *m, enum completes *out)
{
    const struct json *ref = json_get(m->message.params, "ref");
    str argument = json_str(json_get(m->message.params, "argument"), "name");
    str type = json_str(ref, "type");

    if (str_eq(type, STR("ref/prompt")) && prompt_completes(json_str(ref, "name"), argument, out))
        return true;
    if (str_eq(type, STR("ref/resource")) &&
        template_completes(json_str(ref, "uri"), argument, out))
        return true;
    mcp_refuse(m, RPC_PARAMS, STR(""),
               "expected params.ref to be a prompt or a template of resources, and "
               "params.argument.name one of its arguments: prompts/list and "
               "resources/templates/list tell which there are");
    return false;
}

void mcp_complete(struct mcp_call *m)
{
    const struct json *typed = json_get(json_get(m->message.params, "argument"), "value");
    struct completing *c = ARENA_NEW(m->arena, struct completing);
    enum completes from;

    if (!find_source(m, &from))
        return;
    if (!json_is(typed, JSON_STRING)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.argument.value must be a string");
        return;
    }
    m->own = c;
    c->typed = json_text(typed);
    if (from == COMPLETES_NOTHING) {
        answer(m, c);
    } else if (from == COMPLETES_VERSIONS) {
        ask_versions(m);
    } else {
        c->source = &sources[from];
        ask_page(m, c->source->in_order ? before_typed(m->arena, c->typed) : STR(""));
    }
}
