/* tokens.c: operations on tokens. */
#include "core/session.h"
#include "core/token.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/shapes.h"
#include "ops/write.h"

/* How long a code is good, and the token that a page gets for it, unless somebody asks for less or more. */
enum { CODE_SECONDS = 30, PAGE_SECONDS = 7 * 24 * 3600 };

/* The members of a token; the object is left open for its secret. */
static void write_head(struct tx *tx, struct json_writer *w, const struct token *t)
{
    json_write_begin(w, '{');
    write_text(w, STR("token_id"), t->id);
    write_text(w, STR("kind"), str_from(actor_kind_name(t->kind)));
    write_text(w, STR("name"), t->name);
    write_stored(tx, w, STR("scope"), THING("token", t->id), t->scope);
    write_time(w, STR("created_at"), t->created_at_ms);
    write_time_or_null(w, STR("expires_at"), t->expires_at_ms);
    write_time_or_null(w, STR("revoked_at"), t->revoked_at_ms);
}

/* A session is known by its id where nobody gave it a name. */
static str name_of(const struct input *in)
{
    str name = input_str(in, "name"), session = json_str(input_json(in, "scope"), "session_id");

    return name.len ? name : session.len ? session : input_str(in, "kind");
}

/* A session that is not there yet is one that can come. */
static err session_check(struct tx *tx, enum actor_kind kind, str session)
{
    struct session s;
    bool found;

    if (kind != ACTOR_SESSION || !session.len)
        return NULL;
    TRY(session_find(tx, session, &s, &found));
    return found ? NULL : session_id_check(tx, session);
}

/* The id of a state that a scope names. A token for a name that no state has would be one for
 * whichever gets it later. */
static err scope_state(struct tx *tx, const struct json *named)
{
    str id = json_text(named);

    TRY(state_resolve(tx, &id));
    if (!state_is_id(id))
        return err_new(tx->arena, ERR_NOT_FOUND,
                       "there is no state " STR_FMT ": state.list tells which there are",
                       STR_ARG(id));
    *(struct json *)named = json_string(id);
    return NULL;
}

/* One that may be read is there: a typing mistake would show as nothing to be seen, much later. */
static err scope_reads(struct tx *tx, const struct json *named)
{
    struct state s;

    TRY(scope_state(tx, named));
    return state_head(tx, json_text(named), &s);
}

/* The scope that is asked for, with states by their ids. */
static err scope_in(struct tx *tx, const struct input *in, const struct json **out)
{
    *out = input_json(in, "scope");
    if (!*out)
        return NULL;
    struct json *scope = ARENA_NEW(tx->arena, struct json);
    *scope = json_copy(tx->arena, *out);
    if (json_get(scope, "state_id"))
        TRY(scope_state(tx, json_get(scope, "state_id")));
    const struct json *reads = json_get(scope, "reads");
    for (uint32_t i = 0; reads && i < reads->len; i++)
        TRY(scope_reads(tx, &reads->items[i]));
    *out = scope;
    return NULL;
}

static err token_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str kind_name = input_str(in, "kind"), text;
    const struct json *scope;
    enum actor_kind kind;
    struct token token;

    if (!actor_kind_find(kind_name, &kind))
        return err_new(tx->arena, ERR_INVALID,
                       "expected a kind of operator, runner, viewer or session, found \"" STR_FMT
                       "\"",
                       STR_ARG(kind_name));
    TRY(scope_in(tx, in, &scope));
    TRY(session_check(tx, kind, json_str(scope, "session_id")));
    TRY(token_create(tx, kind, name_of(in), scope, input_int(in, "expires_in", 0) * 1000, &token,
                     &text));
    if (input_int(in, "lease", 0))
        TRY(token_lease(tx, token.id, input_int(in, "lease", 0) * 1000));
    out->created = true;
    write_head(tx, &out->json, &token);
    write_text(&out->json, STR("token"), text);
    json_write_end(&out->json, '}');
    return NULL;
}

static err token_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct token *all;
    size_t count;

    TRY(token_list(tx, input_str(in, "after"), page_rows(in), &all, &count));
    size_t shown = page_begin(in, out, STR("tokens"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++) {
        write_head(tx, &out->json, &all[i]);
        json_write_end(&out->json, '}');
    }
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

static err token_renew_op(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return token_lease(tx, input_str(in, "token_id"), input_int(in, "lease", 0) * 1000);
}

static err token_code_op(struct tx *tx, const struct input *in, struct answer *out)
{
    bool views = str_eq(input_str(in, "kind"), STR("viewer"));
    str name = input_str(in, "name"), text;
    struct token code;

    if (!name.len)
        name = views ? STR("viewer") : STR("operator");
    TRY(token_code(tx, views ? ACTOR_VIEWER : ACTOR_OPERATOR, name,
                   input_int(in, "valid_for", CODE_SECONDS) * 1000,
                   input_int(in, "expires_in", PAGE_SECONDS) * 1000, &code, &text));
    out->created = true;
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("token_id"), code.id);
    write_text(&out->json, STR("kind"), views ? STR("viewer") : STR("operator"));
    write_text(&out->json, STR("name"), code.name);
    write_time(&out->json, STR("valid_until"), code.expires_at_ms);
    write_text(&out->json, STR("code"), text);
    json_write_end(&out->json, '}');
    return NULL;
}

static err token_exchange_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct token token;
    str text;

    TRY(token_exchange(tx, input_str(in, "code"), &token, &text));
    write_head(tx, &out->json, &token);
    write_text(&out->json, STR("token"), text);
    json_write_end(&out->json, '}');
    return NULL;
}

/* Who may only look can still put its own token away. */
static err token_revoke_op(struct tx *tx, const struct input *in, struct answer *out)
{
    if (tx->actor->kind == ACTOR_VIEWER && !str_eq(input_str(in, "token_id"), tx->actor->token_id))
        return err_new(tx->arena, ERR_FORBIDDEN, "a viewer revokes its own token and no other");
    out->empty = true;
    return token_revoke(tx, input_str(in, "token_id"));
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "token.create", .http = "POST /tokens", .effect = OP_WRITES, .secret = true,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Mint a token; this is the only time that it is shown.",
        .input = JSON({
            "type": "object", "required": ["kind"], "additionalProperties": false,
            "properties": {
                "kind": { "enum": ["operator", "runner", "viewer", "session"],
                    "description": "Who its holder is to be: it decides which operations may be called with it." },
                "name": { "type": "string", "minLength": 1, "maxLength": 60,
                    "description": "How history shows what its holder did; a session's id, or the kind, when there is none." },
                "scope": { "type": "object", "additionalProperties": false,
                    "description": "How far its holder may reach; a session's token needs one.",
                    "properties": {
                        "session_id": { "type": "string", "minLength": 1, "maxLength": 100,
                            "description": "The session that it stands for, by id or name. The id of one that is not there yet is kept for it: only the token's holder or the operator registers it, and no other session gets it as its name." },
                        "state_id": { "type": "string", "minLength": 1, "maxLength": 100,
                            "description": "The one state that it sees, by id or name; without one, a session sees none." },
                        "pointers": { "type": "array", "items": { "type": "string" }, "maxItems": 100,
                            "description": "JSON Pointers to the sections of the state that it may write; all of it without this." },
                        "reads": { "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 100 }, "maxItems": 20,
                            "description": "Other states that it may read and hear of, and not write, by id or name." },
                        "jobs": { "type": "array", "items": { "type": "string", "minLength": 1, "maxLength": 100 }, "minItems": 1, "maxItems": 32,
                            "description": "Of a runner's token, which makes it a worker's: the types of jobs that it may claim and see, and it does nothing else. A type that ends in * stands for all that begin so." } } },
                "expires_in": { "type": "integer", "minimum": 1, "maximum": 315360000,
                    "description": "Seconds until it stops being valid; never without this." },
                "lease": { "type": "integer", "minimum": 10, "maximum": 86400,
                    "description": "Seconds until it is revoked unless it is renewed; a session that nobody else speaks for ends with it." } } }),
        .output = JSON({
            "type": "object", "required": ["token_id", "token", "kind", "name", "scope", "created_at"],
            "properties": {
                "token_id": { "type": "string", "description": "What it is called; no secret." },
                "token": { "type": "string", "description": "The secret to show with requests." },
                "kind": { "type": "string", "description": "Who its holder is to be: it decides which operations may be called with it." },
                "name": { "type": "string", "description": "How history shows what its holder did." },
                "scope": { "type": "object", "description": "How far its holder may reach." },
                "created_at": { "type": "string", "format": "date-time", "description": "When it was made." },
                "expires_at": { "type": ["string", "null"], "format": "date-time",
                    "description": "When it stops being valid; null: never." },
                "revoked_at": { "type": ["string", "null"], "format": "date-time",
                    "description": "When it was revoked; null: it was not." } } }),
        .run = token_create_op,
    },
    {
        .name = "token.code", .http = "POST /tokens/codes", .effect = OP_WRITES, .secret = true,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Make a code that a page in a browser exchanges for a token of its own, once, by POST /sign-in.",
        .input = FIELDS("", JSON(
            "kind": { "enum": ["operator", "viewer"], "default": "operator",
                "description": "Of what kind that token is: an operator's, which makes no tokens itself, or a viewer's, which only looks." },
            "name": { "type": "string", "minLength": 1, "maxLength": 60,
                "description": "Who it is, as history shows what was done with the token; the kind when nobody says." },
            "valid_for": { "type": "integer", "minimum": 1, "maximum": 300, "default": 30,
                "description": "Seconds until the code is worth nothing." },
            "expires_in": { "type": "integer", "minimum": 60, "maximum": 31536000, "default": 604800,
                "description": "Seconds until the token that it is exchanged for is worth nothing." })),
        .output = SHAPE(JSON("token_id", "code", "kind", "name", "valid_until"), JSON(
            "token_id": { "type": "string", "description": "What the code is called, to revoke it; no secret." },
            "code": { "type": "string", "description": "The code, shown this once." },
            "kind": { "type": "string", "description": "Of what kind the token will be." },
            "name": { "type": "string", "description": "Who it will be, as history shows it." },
            "valid_until": { "type": "string", "format": "date-time", "description": "When the code is worth nothing any more." })),
        .run = token_code_op,
    },
    {
        .name = "token.exchange", .effect = OP_WRITES, .secret = true, .by = BY_SYSTEM,
        .summary = "Exchange a code for the token that it is worth; what POST /sign-in does.",
        .input = FIELDS(JSON("code"), JSON(
            "code": { "type": "string", "minLength": 1, "maxLength": 200, "description": "What token.code has answered." })),
        .output = SHAPE(JSON("token_id", "token", "kind", "name", "scope", "created_at", "expires_at"), JSON(
            "token_id": { "type": "string", "description": "What the token is called; no secret." },
            "token": { "type": "string", "description": "The secret to show with requests." },
            "kind": { "type": "string", "description": "operator or viewer." },
            "name": { "type": "string", "description": "How history shows what its holder did." },
            "scope": { "type": "object", "description": "That it is a page's." },
            "created_at": { "type": "string", "format": "date-time", "description": "When it was made." },
            "expires_at": { "type": "string", "format": "date-time", "description": "When it stops being valid." },
            "revoked_at": { "type": ["string", "null"], "format": "date-time", "description": "When it was revoked; null: it was not." })),
        .run = token_exchange_op,
    },
    {
        .name = "token.list", .http = "GET /tokens", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "List tokens, revoked and expired ones included; never their secrets.",
        .input = FIELDS("", PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("tokens"), JSON(
            "tokens": { "type": "array", "items": { "type": "object" },
                "description": "By id; each as token.create answers it, without the secret." }) "," PAGE_NEXT),
        .run = token_list_op,
    },
    {
        .name = "token.renew", .http = "POST /tokens/{token_id}/renew", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Have the lease of a token begin anew: its holder lives.",
        .input = JSON({
            "type": "object", "required": ["token_id", "lease"], "additionalProperties": false,
            "properties": {
                "token_id": { "type": "string", "description": "What it is called, not the secret." },
                "lease": { "type": "integer", "minimum": 10, "maximum": 86400, "description": "Seconds until it is revoked unless it is renewed again." } } }),
        .output = JSON({ "type": "object", "properties": {} }), .run = token_renew_op,
    },
    {
        .name = "token.revoke", .http = "DELETE /tokens/{token_id}", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "Make a token worthless, at once; a viewer its own.",
        .input = JSON({
            "type": "object", "required": ["token_id"], "additionalProperties": false,
            "properties": { "token_id": { "type": "string", "description": "What it is called, not the secret." } } }),
        .output = JSON({ "type": "object", "properties": {} }), .run = token_revoke_op,
    },
};
// clang-format on

const struct op_list token_ops = { ops, sizeof ops / sizeof *ops };
