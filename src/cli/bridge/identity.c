/* identity.c: who the client is: a session, and a token for it.
 *
 * Inside a run, the token is the run's. An agent that a person started has none: the
 * bridge mints one, by the operator's, for a session of that agent's own, so that it
 * has a state, can start others and is told when they are done. Which session that is,
 * the server says when the agent calls a tool: it may have met the agent's hooks, and a
 * client may begin another conversation. Tokens are given back at the end, and the session
 * is said to have ended, which counts where no hook speaks for it. A bridge that is killed
 * can do neither: its token has a lease, which ends when it is not renewed. */
#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/ancestor.h"
#include "cli/bridge/private.h"
#include "cli/place.h"
#include "json/write.h"
#include "os/random.h"

enum {
    NAME_MAX_BYTES = 60,       /* of a session's name */
    ID_MAX_BYTES = 100,        /* of its id */
    ID_SHOWN = 8,              /* bytes of its id in its name */
    RANDOM_BYTES = 8,          /* in an id that we make */
    TOKEN_SECONDS = 7 * 86400, /* a token that was not given back ends by itself */
    LEASE_SECONDS_MIN = 10,
};

static const char *env(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* ---- names ---- */

/* In letters that names have, at most so many of them; ids have no underscore. */
static str fit(struct arena *a, str text, size_t most)
{
    str out = arena_copy(a, str_slice(text, 0, most));

    for (char *at = (char *)out.at; at < out.at + out.len; at++) {
        bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                     (*at >= '0' && *at <= '9') || *at == '_';
        if (!plain)
            *at = '-';
    }
    return out;
}

static str base_name(str path)
{
    while (path.len > 1 && path.at[path.len - 1] == '/')
        path.len--;
    size_t from = path.len;
    while (from > 0 && path.at[from - 1] != '/')
        from--;
    return str_slice(path, from, path.len);
}

str identity_session_name(struct arena *a, str client, str directory, str id)
{
    str who = fit(a, client, NAME_MAX_BYTES / 3);
    str start = fit(a, id, ID_SHOWN);
    str where = fit(a, base_name(directory), NAME_MAX_BYTES - who.len - start.len - 2);

    return where.len ? arena_printf(a, STR_FMT "-" STR_FMT "-" STR_FMT, STR_ARG(who),
                                    STR_ARG(where), STR_ARG(start))
                     : arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(who), STR_ARG(start));
}

/* What the client calls itself: at initialize, or with each message. */
static str client_name(const struct rpc *m)
{
    const struct json *meta = json_get(m->params, "_meta");
    str name = json_str(json_get(m->params, "clientInfo"), "name");

    if (!name.len)
        name = json_str(json_get(meta, "io.modelcontextprotocol/clientInfo"), "name");
    return name.len ? name : STR("client");
}

/* Clients that have hooks of ours, and how they are told from others. */
static const char *const known[] = { "claude", "codex", "gemini", "opencode" };

static str client_of(struct arena *a, const struct rpc *first)
{
    str name = fit(a, client_name(first), NAME_MAX_BYTES / 2);

    if (env("CLAUDE_CODE_SESSION_ID"))
        return STR("claude");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts(name, str_from(known[i])))
            return str_from(known[i]);
    for (char *at = (char *)name.at; at < name.at + name.len; at++)
        *at = *at == '_' ? '-' : *at;
    return name;
}

/* What it is as long as nobody knows better: the same session for all that an agent starts, where
 * that says which one it is, or one of the bridge's own. */
static void choose(struct identity *i, const struct rpc *first)
{
    struct arena *a = i->arena;

    i->client = client_of(a, first);
    i->conversation = str_from(env("CLAUDE_CODE_SESSION_ID"));
    i->by_process = i->conversation.len || str_eq(i->client, STR("gemini")) ||
                    str_eq(i->client, STR("opencode"));
    str own = i->conversation.len ? i->conversation : random_hex(a, RANDOM_BYTES);
    i->session_id = arena_printf(a, "%s" STR_FMT "-" STR_FMT, i->conversation.len ? "" : "mcp-",
                                 STR_ARG(i->client),
                                 STR_ARG(fit(a, own, ID_MAX_BYTES - NAME_MAX_BYTES / 2 - 8)));
    for (char *at = (char *)i->session_id.at; *at; at++)
        *at = *at == '_' ? '-' : *at;
    i->session_name = identity_session_name(a, i->client, place_folder(a, i->client, STR("")), own);
}

void identity_init(struct bridge *b, void (*leaves)(struct bridge *b))
{
    b->identity = (struct identity){ .leaves = leaves, .arena = arena_new() };
    list_init(&b->identity.past);
    if (env("BATON_TOKEN") || env("BATON_TOKEN_FILE"))
        b->identity.token = b->identity.row = IDENTITY_KNOWN; /* somebody has chosen it */
}

/* ---- what is asked of the server ---- */

static const struct json *answer_of(struct bridge *b, const struct response *r)
{
    const struct json *answer = NULL;
    return json_parse(b->scratch, r->body, &json_limits_own, &answer) ? NULL : answer;
}

/* Not now: whoever waits for it is told, and the next message asks again. */
static bool is_passing(const struct response *r)
{
    return r->status >= 500 || r->status == 429;
}

/* ---- the token ---- */

static int64_t lease_seconds(const struct bridge *b)
{
    int64_t seconds = b->options.lease_ms / 1000;
    return seconds > LEASE_SECONDS_MIN ? seconds : LEASE_SECONDS_MIN;
}

enum { BEATS = 3 }; /* in the time of a lease: one may be lost */

static void beat_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "POST", "/tokens/{token_id}/renew", b->identity.token_id, true);
    head_body(out, c->body);
}

/* While there is none, nothing is renewed. */
static bool beat_ready(struct bridge *b, struct exchange *c)
{
    (void)c;
    return b->identity.own;
}

/* One that is not known any more is replaced when the client asks for something. */
static void beat_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    (void)r;
    exchange_retry(b, c, b->options.lease_ms / BEATS);
}

static const struct exchange_kind beat = {
    .head = beat_head, .ready = beat_ready, .done = beat_done, .failed = exchange_has_failed
};

static void beat_begin(struct bridge *b)
{
    struct exchange *c = exchange_new(b, &beat);

    b->identity.beats = true;
    c->lasting = true; /* it has time, and has no server started */
    c->body = arena_printf(c->arena, "{\"lease\":%lld}", (long long)lease_seconds(b));
    c->not_before_ms = b->now_ms + b->options.lease_ms / BEATS;
    exchange_queue(b, c);
}

static void mint_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "POST", "/tokens", STR(""), true);
    head_body(out, c->body);
}

static void mint_failed(struct bridge *b, struct exchange *c, err e)
{
    b->identity.token = IDENTITY_UNKNOWN;
    exchanges_fail(b, e);
    exchange_end(b, c);
}

/* Where the operator's token may not, or is none, what there is must do. */
static void mint_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    struct identity *i = &b->identity;
    const struct json *answer = answer_of(b, r);

    if (is_passing(r)) {
        mint_failed(b, c, exchange_refusal(b->scratch, r));
        return;
    }
    i->own = r->status == 201 && json_str(answer, "token").len;
    i->token = IDENTITY_KNOWN;
    if (i->own) {
        i->token_id = arena_copy(i->arena, json_str(answer, "token_id"));
        i->token_text = arena_copy(i->arena, json_str(answer, "token"));
        if (!i->beats)
            beat_begin(b);
    } else {
        i->row = IDENTITY_KNOWN;
        lines_note("no session of its own: " STR_FMT,
                   STR_ARG(exchange_refusal(b->scratch, r)->message));
    }
    exchange_end(b, c);
}

static const struct exchange_kind mint = {
    .head = mint_head, .ready = exchange_always, .done = mint_done, .failed = mint_failed
};

static str mint_body(struct bridge *b, struct arena *a)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("kind"), STR("session"));
    write_text(&w, STR("name"), b->identity.session_name);
    write_int(&w, STR("expires_in"), TOKEN_SECONDS);
    write_int(&w, STR("lease"), lease_seconds(b));
    write_begin(&w, STR("scope"), '{');
    write_text(&w, STR("session_id"), b->identity.session_id);
    json_write_end(&w, '}');
    json_write_end(&w, '}');
    return buf_str(&out);
}

bool identity_token(struct bridge *b, const struct exchange *first)
{
    struct identity *i = &b->identity;

    if (i->token != IDENTITY_UNKNOWN)
        return i->token == IDENTITY_KNOWN;
    if (!i->session_id.len)
        choose(i, &first->rpc);
    i->token = IDENTITY_ASKED;
    struct exchange *c = exchange_new(b, &mint);
    c->body = mint_body(b, c->arena);
    exchange_queue(b, c);
    return false;
}

void identity_renew(struct bridge *b)
{
    struct identity *i = &b->identity;

    if (i->own)
        i->token = i->row = IDENTITY_UNKNOWN;
    i->own = false;
}

/* ---- another session than it was taken for ---- */

/* A token that is given back at the end: exchanges may be under way with it. */
struct past_token {
    struct list link;
    size_t len;
    char id[];
};

/* What listens goes on as the new one. */
static void become(struct bridge *b, str session_id, str session_name)
{
    struct identity *i = &b->identity;
    struct arena *fresh = arena_new();

    i->leaves(b);
    if (i->own) {
        struct past_token *p = mem_alloc(sizeof *p + i->token_id.len);
        p->len = i->token_id.len;
        memcpy(p->id, i->token_id.at, p->len);
        list_append(&i->past, &p->link);
    }
    i->client = arena_copy(fresh, i->client);
    i->conversation = arena_copy(fresh, i->conversation);
    i->session_id = arena_copy(fresh, session_id);
    i->session_name = arena_copy(fresh, session_name);
    i->token_id = i->token_text = STR("");
    arena_free(i->arena);
    i->arena = fresh;
    i->token = IDENTITY_UNKNOWN;
    i->own = false;
    LIST_EACH(it, &b->in_flight) {
        struct exchange *c = LIST_ENTRY(it, struct exchange, link);
        if (c->lasting)
            exchange_retry(b, c, 0);
    }
}

void identity_release(struct bridge *b)
{
    LIST_EACH(it, &b->identity.past)
        mem_free(LIST_ENTRY(it, struct past_token, link));
    arena_free(b->identity.arena);
}

/* ---- the session ---- */

static void enroll_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "POST", "/sessions/attend", STR(""), true);
    head_body(out, c->body);
}

static void enroll_failed(struct bridge *b, struct exchange *c, err e)
{
    b->identity.row = IDENTITY_UNKNOWN;
    exchanges_fail(b, e);
    exchange_end(b, c);
}

static void enroll(struct bridge *b, bool with_state);

/* Who may not ask, or asks an older server, stays what it was taken for. */
static void enroll_done(struct bridge *b, struct exchange *c, const struct response *r)
{
    struct identity *i = &b->identity;
    const struct json *answer = answer_of(b, r);
    str id = json_str(answer, "session_id"), notice = json_str(answer, "notice");

    if (is_passing(r)) {
        enroll_failed(b, c, exchange_refusal(b->scratch, r));
        return;
    }
    if (r->status >= 400 && i->with_state) {
        enroll(b, false);
    } else {
        i->row = IDENTITY_KNOWN;
        if (r->status < 400 && notice.len)
            lines_note(STR_FMT, STR_ARG(notice)); /* its briefing has it, too */
        if (r->status >= 400)
            lines_note("no session of its own: " STR_FMT,
                       STR_ARG(exchange_refusal(b->scratch, r)->message));
        else if (id.len && !str_eq(id, i->session_id))
            become(b, id, json_str(answer, "session_name"));
    }
    exchange_end(b, c);
}

static const struct exchange_kind enrolment = {
    .head = enroll_head, .ready = exchange_always, .done = enroll_done, .failed = enroll_failed
};

static void enroll(struct bridge *b, bool with_state)
{
    struct exchange *c = exchange_new(b, &enrolment);
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);
    const struct identity *i = &b->identity;
    str directory = place_folder(c->arena, i->client, STR("")), process = STR("");
    const char *parent = place_variable("BATON_SESSION_ID");
    struct url_param place[PLACE_MEMBERS];
    size_t count = place_members(c->arena, directory, place);

    if (i->by_process)
        process = ancestor_client(c->arena, PROCESSES, getpid());
    json_write_begin(&w, '{');
    write_text(&w, STR("client"), i->client);
    if (i->conversation.len)
        write_text(&w, STR("conversation"), i->conversation);
    else
        write_text(&w, STR("session_id"), i->session_id);
    if (process.len)
        write_text(&w, STR("process"), process);
    if (parent)
        write_text(&w, STR("parent"), str_from(parent));
    if (directory.len && directory.len <= PLACE_DIR_BYTES_MAX && utf8_valid(directory))
        write_text(&w, STR("project_dir"), directory);
    for (size_t k = 0; k < count; k++)
        write_text(&w, str_from(place[k].name), place[k].value);
    if (with_state)
        write_text(&w, STR("workflow_state_id"), b->options.state_id);
    json_write_end(&w, '}');
    c->body = buf_str(&out);
    b->identity.with_state = with_state;
    exchange_queue(b, c);
}

/* A client may have begun another conversation since the last call. One whose hooks alone know of it
 * is looked up for each, which the next one may have changed. */
static bool is_due(struct identity *i, struct exchange *c)
{
    str conversation = STR("");

    if (str_eq(i->client, STR("codex"))) /* as it calls it to its hooks, too */
        conversation = json_str(json_get(c->rpc.params, "_meta"), "threadId");
    if (conversation.len && !str_eq(conversation, i->conversation)) {
        i->conversation = arena_copy(i->arena, conversation);
        return true;
    }
    return i->row == IDENTITY_UNKNOWN || (i->by_process && !c->met);
}

bool identity_row(struct bridge *b, struct exchange *c)
{
    struct identity *i = &b->identity;

    if (i->row == IDENTITY_ASKED || !i->own)
        return i->row == IDENTITY_KNOWN; /* it is being asked for, or somebody else has chosen it */
    if (!is_due(i, c))
        return true;
    c->met = true;
    i->row = IDENTITY_ASKED;
    enroll(b, b->options.state_id.len > 0);
    return false;
}

/* ---- the end ---- */

static void revoke_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "DELETE", "/tokens/{token_id}", c->version, true);
}

/* A token that cannot be given back ends by itself, later. */
static const struct exchange_kind revocation = { .head = revoke_head,
                                                 .ready = exchange_always,
                                                 .done = exchange_is_done,
                                                 .failed = exchange_has_failed };

static void farewell_head(struct bridge *b, struct exchange *c, struct buf *out)
{
    head_begin(b, out, "POST", "/sessions/{session_id}/events", b->identity.session_id, true);
    head_body(out, c->body);
}

static const struct exchange_kind farewell = { .head = farewell_head,
                                               .ready = exchange_always,
                                               .done = exchange_is_done,
                                               .failed = exchange_has_failed };

static void give_back(struct bridge *b, str token_id)
{
    struct exchange *c = exchange_new(b, &revocation);

    c->version = arena_copy(c->arena, token_id);
    exchange_queue(b, c);
}

void identity_end(struct bridge *b)
{
    const struct identity *i = &b->identity;

    if (i->own && i->row == IDENTITY_KNOWN) {
        struct exchange *c = exchange_new(b, &farewell);
        c->body = STR("{\"event_type\":\"session_end\",\"reason\":\"its client has ended\"}");
        exchange_queue(b, c);
    }
    if (i->own)
        give_back(b, i->token_id);
    LIST_EACH(it, &i->past) {
        const struct past_token *p = LIST_ENTRY(it, struct past_token, link);
        give_back(b, (str){ p->id, p->len });
    }
}
