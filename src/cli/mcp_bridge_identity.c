/* mcp_bridge_identity.c: who the client is: a session, and a token for it.
 *
 * Inside a run, the token is the run's. An agent that a person started has none: the
 * bridge mints one, by the operator's, for a session of that agent's own, so that it
 * has a state, can start others and is told when they are done. The session itself is
 * made when the agent calls its first tool; the token is given back at the end, and a
 * session that no hook speaks for is told to have ended. */
#include <assert.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/digest.h"
#include "cli/mcp_bridge_private.h"
#include "json/write.h"

enum {
    NAME_MAX_BYTES = 60,       /* of a session's name */
    ID_MAX_BYTES = 100,        /* of its id */
    ID_SHOWN = 8,              /* bytes of its id in its name */
    RANDOM_BYTES = 8,          /* in an id that we make */
    TOKEN_SECONDS = 7 * 86400, /* a token that was not given back ends by itself */
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

static str directory_of(struct arena *a)
{
    const char *project = env("CLAUDE_PROJECT_DIR");
    char *here = project ? NULL : getcwd(NULL, 0);
    str out = arena_copy(a, str_from(project ? project : here));

    free(here);
    return out;
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

static str random_id(struct arena *a)
{
    unsigned char random[RANDOM_BYTES];
    ssize_t got = getrandom(random, sizeof random, 0);

    assert(got == sizeof random); /* so few bytes come whole or not at all */
    return hex_encode(a, (str){ (const char *)random, sizeof random });
}

/* The same session for all that an agent starts, where it says which one it is. */
static void choose(struct identity *i, const struct rpc *first)
{
    str client = STR("claude"), own = str_from(env("CLAUDE_CODE_SESSION_ID"));
    struct arena *a = i->arena;

    if (own.len) {
        i->session_id = arena_printf(a, "claude-" STR_FMT, STR_ARG(fit(a, own, ID_MAX_BYTES - 8)));
    } else {
        i->alone = true;
        client = fit(a, client_name(first), NAME_MAX_BYTES / 2);
        own = random_id(a);
        i->session_id = arena_printf(a, "mcp-" STR_FMT "-" STR_FMT, STR_ARG(client), STR_ARG(own));
    }
    for (char *at = (char *)i->session_id.at; *at; at++)
        *at = *at == '_' ? '-' : *at;
    i->session_name = identity_session_name(a, client, directory_of(a), own);
}

void identity_init(struct bridge *b)
{
    b->identity = (struct identity){ .arena = arena_new() };
    if (env("BATON_TOKEN") || env("BATON_TOKEN_FILE"))
        b->identity.token = b->identity.row = SETTLED; /* somebody has chosen it */
}

/* ---- what is asked of the server ---- */

static const struct json *answer_of(struct bridge *b, const struct response *r)
{
    const struct json *answer = NULL;
    return json_parse(b->scratch, r->body, NULL, &answer) ? NULL : answer;
}

/* Not now: whoever waits for it is told, and the next message asks again. */
static bool is_passing(const struct response *r)
{
    return r->status >= 500 || r->status == 429;
}

/* ---- the token ---- */

static void mint_head(struct bridge *b, struct call *c, struct buf *out)
{
    head_begin(b, out, "POST", "/tokens", STR(""), true);
    head_body(out, c->body);
}

static void mint_failed(struct bridge *b, struct call *c, err e)
{
    b->identity.token = NOT_SETTLED;
    calls_fail(b, e);
    call_end(b, c);
}

/* Where the operator's token may not, or is none, what there is must do. */
static void mint_done(struct bridge *b, struct call *c, const struct response *r)
{
    struct identity *i = &b->identity;
    const struct json *answer = answer_of(b, r);

    if (is_passing(r)) {
        mint_failed(b, c, call_refusal(b->scratch, r));
        return;
    }
    i->own = r->status == 201 && json_str(answer, "token").len;
    i->token = SETTLED;
    if (i->own) {
        i->token_id = arena_copy(i->arena, json_str(answer, "token_id"));
        i->token_text = arena_copy(i->arena, json_str(answer, "token"));
    } else {
        i->row = SETTLED;
        lines_note("no session of its own: " STR_FMT,
                   STR_ARG(call_refusal(b->scratch, r)->message));
    }
    call_end(b, c);
}

static const struct errand mint = {
    .head = mint_head, .ready = call_always, .done = mint_done, .failed = mint_failed
};

static str mint_body(struct bridge *b, struct arena *a)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("kind"), STR("session"));
    write_text(&w, STR("name"), b->identity.session_name);
    write_int(&w, STR("expires_in"), TOKEN_SECONDS);
    write_begin(&w, STR("scope"), '{');
    write_text(&w, STR("session_id"), b->identity.session_id);
    if (b->options.state_id.len)
        write_text(&w, STR("state_id"), b->options.state_id);
    json_write_end(&w, '}');
    json_write_end(&w, '}');
    return buf_str(&out);
}

bool identity_token(struct bridge *b, const struct call *first)
{
    struct identity *i = &b->identity;

    if (i->token != NOT_SETTLED)
        return i->token == SETTLED;
    if (!i->session_id.len)
        choose(i, &first->rpc);
    i->token = SETTLING;
    struct call *c = call_new(b, &mint);
    c->body = mint_body(b, c->arena);
    call_wait(b, c);
    return false;
}

void identity_renew(struct bridge *b)
{
    struct identity *i = &b->identity;

    if (i->own)
        i->token = i->row = NOT_SETTLED;
    i->own = false;
}

/* ---- the session ---- */

static void enroll_head(struct bridge *b, struct call *c, struct buf *out)
{
    head_begin(b, out, "POST", "/sessions", STR(""), true);
    head_body(out, c->body);
}

static void enroll_failed(struct bridge *b, struct call *c, err e)
{
    b->identity.row = NOT_SETTLED;
    calls_fail(b, e);
    call_end(b, c);
}

static void enroll(struct bridge *b, bool with_state);

/* 409 is that it is there, or that the state is another's; without the state only the first. */
static void enroll_done(struct bridge *b, struct call *c, const struct response *r)
{
    if (is_passing(r)) {
        enroll_failed(b, c, call_refusal(b->scratch, r));
        return;
    }
    if (r->status >= 400 && b->identity.with_state) {
        enroll(b, false);
    } else {
        b->identity.row = SETTLED;
        if (r->status >= 400 && r->status != 409)
            lines_note("no session of its own: " STR_FMT,
                       STR_ARG(call_refusal(b->scratch, r)->message));
    }
    call_end(b, c);
}

static const struct errand enrolment = {
    .head = enroll_head, .ready = call_always, .done = enroll_done, .failed = enroll_failed
};

static void enroll(struct bridge *b, bool with_state)
{
    struct call *c = call_new(b, &enrolment);
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);
    str directory = directory_of(c->arena);

    json_write_begin(&w, '{');
    write_text(&w, STR("session_id"), b->identity.session_id);
    write_text(&w, STR("session_name"), b->identity.session_name);
    if (directory.len)
        write_text(&w, STR("project_dir"), directory);
    if (with_state)
        write_text(&w, STR("workflow_state_id"), b->options.state_id);
    json_write_end(&w, '}');
    c->body = buf_str(&out);
    b->identity.with_state = with_state;
    call_wait(b, c);
}

bool identity_row(struct bridge *b)
{
    if (b->identity.row == NOT_SETTLED) {
        b->identity.row = SETTLING;
        enroll(b, b->options.state_id.len > 0);
    }
    return b->identity.row == SETTLED;
}

/* ---- the end ---- */

static void revoke_head(struct bridge *b, struct call *c, struct buf *out)
{
    (void)c;
    head_begin(b, out, "DELETE", "/tokens/{token_id}", b->identity.token_id, true);
}

/* A token that cannot be given back ends by itself, later. */
static const struct errand revocation = {
    .head = revoke_head, .ready = call_always, .done = call_is_done, .failed = call_has_failed
};

static void farewell_head(struct bridge *b, struct call *c, struct buf *out)
{
    head_begin(b, out, "POST", "/sessions/{session_id}/events", b->identity.session_id, true);
    head_body(out, c->body);
}

static const struct errand farewell = {
    .head = farewell_head, .ready = call_always, .done = call_is_done, .failed = call_has_failed
};

void identity_end(struct bridge *b)
{
    const struct identity *i = &b->identity;

    if (i->own && i->alone && i->row == SETTLED) {
        struct call *c = call_new(b, &farewell);
        c->body = STR("{\"event_type\":\"session_end\",\"reason\":\"its client has ended\"}");
        call_wait(b, c);
    }
    if (i->own)
        call_wait(b, call_new(b, &revocation));
}
