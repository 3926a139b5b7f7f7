/* resources.c: states as resources, read by their address.
 *
 *   baton://state/{id}        as it is now
 *   baton://state/{id}/v/{n}  as it was at version n
 *
 * What there is for whom is the business of state.list and state.read, which are performed for the
 * one who asks: a session sees its own state, the operator all. */
#include "mcp/mcp_private.h"
#include "mcp/write.h"

enum { PAGE = 100, TEMPLATES_TTL_MS = 300000 };

#define STATE_PREFIX "baton://state/"

/* ---- addresses ---- */

/* A version as it is written: digits, the first of them not 0. */
static bool version_read(str text, int64_t *out)
{
    return text.len && text.at[0] >= '1' && text.at[0] <= '9' && str_to_int(text, out);
}

bool state_uri_read(str uri, str *state_id, int64_t *version)
{
    str rest, kind, number;

    *version = 0;
    if (!str_starts(uri, STR(STATE_PREFIX)))
        return false;
    rest = str_slice(uri, sizeof STATE_PREFIX - 1, uri.len);
    if (str_cut(rest, '/', state_id, &rest) &&
        (!str_cut(rest, '/', &kind, &number) || !str_eq(kind, STR("v")) ||
         !version_read(number, version)))
        return false;
    return state_id->len > 0;
}

bool mcp_uri_state(str uri, str *state_id)
{
    int64_t version;

    return state_uri_read(uri, state_id, &version);
}

/* ---- what is not there ---- */

static str uri_data(struct mcp_call *m, str uri)
{
    struct buf out = buf_in(m->arena);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("uri"), uri);
    json_write_end(&w, '}');
    return buf_str(&out);
}

static enum rpc_code code_unknown(const struct mcp_call *m)
{
    return mcp_is_modern(m->client.version) ? RPC_PARAMS : RPC_RESOURCE_LEGACY;
}

static void refuse_uri(struct mcp_call *m, str uri)
{
    mcp_refuse(m, code_unknown(m), uri_data(m, uri),
               "there is no resource \"" STR_FMT "\": expected baton://state/ID or "
               "baton://state/ID/v/VERSION; resources/list tells which there are",
               STR_ARG(uri));
}

/* ---- lists ---- */

static void write_resource(struct mcp_call *m, struct json_writer *w, const struct json *state)
{
    str id = json_str(state, "state_id"), root = json_str(state, "root_session_name");
    str schema = json_str(state, "schema_name"), name = json_str(state, "name"),
        whose = root.len ? root : STR("the operator");
    long long version = (long long)json_int_or(state, "version", 0);

    json_write_begin(w, '{');
    write_text(w, STR("uri"), arena_printf(m->arena, STATE_PREFIX STR_FMT, STR_ARG(id)));
    write_text(w, STR("name"), name.len ? name : id);
    write_text(w, STR("title"),
               arena_printf(m->arena, "State of " STR_FMT " (" STR_FMT ", version %lld)",
                            STR_ARG(whose), STR_ARG(schema), version));
    write_text(w, STR("mimeType"), STR("application/json"));
    write_begin(w, STR("annotations"), '{');
    write_text(w, STR("lastModified"), json_str(state, "updated_at"));
    json_write_end(w, '}');
    json_write_end(w, '}');
}

static void list_done(struct mcp_call *m, const struct command *done)
{
    if (done->error) {
        mcp_refuse_error(m, done->error, RPC_PARAMS, STR(""));
        return;
    }
    const struct json *answer = mcp_answer_json(m, done), *states = json_get(answer, "states");
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("resources"), '[');
    for (uint32_t i = 0; i < states->len; i++)
        write_resource(m, w, &states->items[i]);
    json_write_end(w, ']');
    mcp_write_next(w, json_str(answer, "next"));
    mcp_write_cache(m, w, 0, false);
    mcp_result_end(m);
}

void mcp_resources_list(struct mcp_call *m)
{
    struct json input = json_object();
    str after;

    if (!mcp_cursor(m, &after))
        return;
    json_put(m->arena, &input, STR("limit"), json_int(m->arena, PAGE));
    if (after.len)
        json_put(m->arena, &input, STR("after"), json_string(after));
    mcp_ask_with(m, "state.list", input, list_done);
}

static const struct {
    const char *template, *name, *title, *description;
} templates[] = {
    { STATE_TEMPLATE, "state", "Workflow state",
      "The state that a team of agents shares, with its version and schema." },
    { VERSION_TEMPLATE, "state_version", "Workflow state at a version",
      "The same as it was at version n; a version never changes." },
};

void mcp_resources_templates(struct mcp_call *m)
{
    if (!mcp_one_page(m))
        return;
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("resourceTemplates"), '[');
    for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
        json_write_begin(w, '{');
        write_text(w, STR("uriTemplate"), str_from(templates[i].template));
        write_text(w, STR("name"), str_from(templates[i].name));
        write_text(w, STR("title"), str_from(templates[i].title));
        write_text(w, STR("description"), str_from(templates[i].description));
        write_text(w, STR("mimeType"), STR("application/json"));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    mcp_write_cache(m, w, TEMPLATES_TTL_MS, true);
    mcp_result_end(m);
}

/* ---- one ---- */

static void read_done(struct mcp_call *m, const struct command *done)
{
    if (done->error) {
        mcp_refuse_error(m, done->error, code_unknown(m), uri_data(m, m->uri));
        return;
    }
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("contents"), '[');
    json_write_begin(w, '{');
    write_text(w, STR("uri"), m->uri);
    write_text(w, STR("mimeType"), STR("application/json"));
    write_text(w, STR("text"), done->answer.text);
    json_write_end(w, '}');
    json_write_end(w, ']');
    mcp_write_cache(m, w, 0, false);
    mcp_result_end(m);
}

void mcp_resources_read(struct mcp_call *m)
{
    struct json input = json_object();
    int64_t version;
    str state_id;

    if (!mcp_param_str(m, "uri", true, &m->uri))
        return;
    if (!state_uri_read(m->uri, &state_id, &version)) {
        refuse_uri(m, m->uri);
        return;
    }
    json_put(m->arena, &input, STR("state_id"), json_string(state_id));
    if (version)
        json_put(m->arena, &input, STR("version"), json_int(m->arena, version));
    mcp_ask_with(m, "state.read", input, read_done);
    m->plain = !version;
    m->plain_id = state_id;
}

/* ---- hearing of one, for older clients: see listen.c for the others ---- */

static void answer_empty(struct mcp_call *m, enum mcp_next next)
{
    mcp_result_begin(m);
    mcp_result_end(m);
    m->next = next;
}

static void subscribe_done(struct mcp_call *m, const struct command *done)
{
    if (done->error)
        mcp_refuse_error(m, done->error, code_unknown(m), uri_data(m, m->uri));
    else
        answer_empty(m, MCP_SUBSCRIBE);
}

/* Who may see it may hear of it. The schema is asked for since the document may be large. */
void mcp_resources_subscribe(struct mcp_call *m)
{
    struct json input = json_object();
    int64_t version;
    str state_id;

    if (!mcp_param_str(m, "uri", true, &m->uri))
        return;
    if (!state_uri_read(m->uri, &state_id, &version)) {
        refuse_uri(m, m->uri);
    } else if (version) {
        mcp_refuse(m, RPC_PARAMS, STR(""),
                   "a version never changes: subscribe to " STATE_PREFIX STR_FMT,
                   STR_ARG(state_id));
    } else {
        json_put(m->arena, &input, STR("state_id"), json_string(state_id));
        mcp_ask_with(m, "state.schema", input, subscribe_done);
    }
}

/* Not having subscribed is no mistake: the outcome is the same. */
void mcp_resources_unsubscribe(struct mcp_call *m)
{
    if (mcp_param_str(m, "uri", true, &m->uri))
        answer_empty(m, MCP_UNSUBSCRIBE);
}
