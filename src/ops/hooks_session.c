/* hooks_session.c: which session a client's event belongs to. */
#include "base/digest.h"
#include "base/utf8.h"
#include "core/alias.h"
#include "ops/hooks.h"

enum {
    OWN_ID_MAX = 50,   /* of a client's id that is taken as it is */
    DIGEST_CHARS = 32, /* of one that is not */
    DIR_BYTES_MAX = 30,
    SHORT_ID_BYTES = 8,
    CLIENT_BYTES_MAX = 20, /* of what runs it, in a name */
    CLIENT_ID_MAX = 200,   /* of what is kept of a client's id */
};

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* ---- names ---- */

str hook_session_id(struct arena *a, str client, str own)
{
    unsigned char sum[SHA256_BYTES];
    bool plain = own.len <= OWN_ID_MAX;

    for (size_t i = 0; i < own.len; i++)
        plain = plain && is_plain(own.at[i]);
    if (!plain) {
        sha256(own, sum);
        own = str_slice(hex_encode(a, (str){ (const char *)sum, sizeof sum }), 0, DIGEST_CHARS);
    }
    return arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(client), STR_ARG(own));
}

/* The last part of a path, in letters that names have. */
static str dir_word(struct arena *a, str path)
{
    while (path.len > 1 && path.at[path.len - 1] == '/')
        path.len--;
    size_t from = path.len;
    while (from > 0 && path.at[from - 1] != '/')
        from--;
    str word = arena_copy(a, utf8_cut(str_slice(path, from, path.len), DIR_BYTES_MAX));
    for (char *at = (char *)word.at; *at; at++)
        if (!is_plain(*at) && *at != '_')
            *at = '-';
    return word;
}

/* What is left of an id without the words before it that all of a client's have. */
static str short_id(str client, str id)
{
    size_t from = str_starts(id, STR("mcp-")) ? 4 : 0;

    if (str_starts(str_slice(id, from, id.len), client))
        from += client.len + 1;
    return str_slice(id, from, from + SHORT_ID_BYTES);
}

err hook_session_name(struct tx *tx, str client, str dir, str id, str *out)
{
    str where = dir_word(tx->arena, dir), own = short_id(client, id);
    struct session other;
    bool taken;

    client = utf8_cut(client, CLIENT_BYTES_MAX);
    *out = arena_printf(tx->arena, STR_FMT "-" STR_FMT "%s" STR_FMT, STR_ARG(client),
                        STR_ARG(where), where.len ? "-" : "", STR_ARG(own));
    TRY(session_find(tx, *out, &other, &taken));
    if (taken)
        *out = id;
    return NULL;
}

/* ---- where it is ---- */

struct member_place hook_place(const struct input *in, const char *state_field)
{
    return (struct member_place){ .hostname = input_str(in, "host"),
                                  .common_dir = input_str(in, "common_dir"),
                                  .worktree = input_str(in, "worktree"),
                                  .project = input_str(in, "project"),
                                  .state = input_str(in, state_field) };
}

str hook_no_parent(struct arena *a, str parent)
{
    return arena_printf(a,
                        "BATON_SESSION_ID=" STR_FMT
                        " is not followed: there is no such session (baton session list).",
                        STR_ARG(utf8_cut(parent, 80)));
}

/* ---- registering ---- */

static str client_name(const struct hook *h)
{
    return str_from(hook_client_names[h->client]);
}

/* Nobody here resumes it. One whose parent runs it as a part of its own turn does not call back:
 * the parent sees its end, and must not wait for one that was killed. */
static err session_register(struct tx *tx, struct hook *h, str id, str own, str parent)
{
    bool by_session = tx->actor->kind == ACTOR_SESSION;
    str dir = json_str(h->payload, "cwd");
    struct session above;
    struct session_new n = { .id = id, .attended = true, .calls_back = !by_session };
    bool found = false;

    TRY(hook_session_name(tx, client_name(h), dir, id, &n.name));
    if (!by_session && parent.len)
        TRY(session_find(tx, parent, &above, &found));
    if (found)
        n.parent = above.id;
    else if (!by_session && parent.len)
        h->notice = hook_no_parent(tx->arena, parent);
    if (!by_session && str_starts(dir, STR("/")) &&
        !team_text_check(tx->arena, "a project_dir", dir, DEMAND_DIR_MAX))
        n.project_dir = dir;
    TRY(session_create(tx, &n, &h->s));
    h->fresh = true;
    h->s.client_id = own;
    return session_store(tx, &h->s);
}

/* ---- finding ---- */

/* Whether the client's conversation is the one of the session whose token it shows. The first that
 * is heard of is; after that, the agent may have started another client within its turn. */
static err is_own(struct tx *tx, struct hook *h, str id, str own, bool *out)
{
    struct session *s = &h->s;
    bool same_client = str_eq(s->profile, str_from(hook_client_names[h->client]));

    *out = !s->client_id.len || str_eq(s->client_id, own) || str_eq(s->id, id);
    if (s->client_id.len || !(s->attended || same_client))
        return NULL;
    s->client_id = own;
    return session_store(tx, s);
}

static err session_by_id(struct tx *tx, struct hook *h, str id, bool *found)
{
    bool reached;

    TRY(session_find_id(tx, id, &h->s, found));
    if (!*found)
        return NULL;
    TRY(session_in_reach(tx, &h->s, &reached));
    if (reached && (h->s.attended || tx->actor->kind != ACTOR_SESSION))
        return NULL;
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "session " STR_FMT " is not one that this token speaks for", STR_ARG(id));
}

/* Its tools may have been met before anybody told what the conversation is called: it is theirs from
 * now on, also when another process of the client resumes it. */
static err session_by_aliases(struct tx *tx, struct hook *h, str id, str own, str process,
                              bool *found)
{
    str known, words = arena_printf(tx->arena, "mcp-" STR_FMT, STR_ARG(client_name(h)));

    TRY(alias_find(tx, ALIAS_CONVERSATION, id, &known));
    if (known.len)
        return session_by_id(tx, h, known, found);
    if (!process.len)
        return NULL;
    TRY(alias_find(tx, ALIAS_PROCESS, process, &known));
    if (!str_starts(known, words))
        return NULL;
    TRY(session_find_id(tx, known, &h->s, found));
    *found = *found && h->s.attended && !h->s.client_id.len;
    if (!*found)
        return NULL;
    h->s.client_id = own;
    h->fresh = true;
    TRY(alias_set(tx, ALIAS_CONVERSATION, id, h->s.id));
    return session_store(tx, &h->s);
}

err hook_session(struct tx *tx, struct hook *h, str parent, str process, bool *there)
{
    str own = json_str(h->payload, "session_id");

    *there = false;
    if (!own.len)
        return NULL;
    str id = hook_session_id(tx->arena, client_name(h), own);
    own = utf8_cut(own, CLIENT_ID_MAX);
    if (tx->actor->kind == ACTOR_SESSION) {
        bool known;
        TRY(session_find_id(tx, tx->actor->session_id, &h->s, &known));
        if (!known)
            return NULL; /* it was deleted: there is nobody that this could be below of */
        TRY(is_own(tx, h, id, own, there));
    }
    if (!*there) {
        TRY(session_by_id(tx, h, id, there));
        if (*there && h->s.attended && !h->s.client_id.len) {
            h->s.client_id =
                own; /* its tools have registered it: now its hooks speak for it, too */
            TRY(session_store(tx, &h->s));
        }
    }
    if (tx->actor->kind == ACTOR_SESSION)
        process = STR("");
    else if (!*there)
        TRY(session_by_aliases(tx, h, id, own, process, there));
    if (!*there && !str_eq(h->name, STR("SessionEnd"))) {
        *there = true;
        TRY(session_register(tx, h, id, own, parent));
    }
    return *there && process.len ? alias_set(tx, ALIAS_PROCESS, process, h->s.id) : NULL;
}
