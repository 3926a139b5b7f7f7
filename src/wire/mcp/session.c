/* session.c: sessions of clients that speak an older revision of MCP.
 *
 * A session is what `initialize` has told: the later requests name it and need not say it again. It
 * belongs to the token that it began with, and ends when it is asked to, when its token does, or
 * when nothing was heard of it for long. It is in this node's memory alone: a client whose session
 * is not known any more is told so, and begins another. */
#include <assert.h>

#include "base/utf8.h"
#include "os/random.h"
#include "wire/mcp/private.h"

enum {
    KEPT = 16,                    /* sessions, for the operator: or a quarter, when there are few */
    TEXT_MAX = 200,               /* bytes of what a client calls itself, and of its version */
    CHANNELS_KEPT = 16,           /* of a session, that have sent their last and may be asked for */
    CHANNEL_BYTES_KEPT = 1 << 20, /* and what they hold */
};

/* ---- ids ---- */

/* Nobody can guess one; all of it is visible ASCII. */
static void id_make(char id[MCP_ID_CHARS])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char random[MCP_ID_CHARS / 2];

    random_bytes(random, sizeof random);
    for (size_t i = 0; i < sizeof random; i++) {
        id[2 * i] = digits[random[i] >> 4];
        id[2 * i + 1] = digits[random[i] & 15];
    }
}

static struct list *bucket_of(struct mcp_front *f, str id)
{
    return &f->buckets[(unsigned char)(id.at[0] * 31 + id.at[1] * 7 + id.at[2])];
}

static str id_of(const struct mcp_session *s)
{
    return (str){ s->id, MCP_ID_CHARS };
}

/* ---- time ---- */

static void use(struct mcp_session *session)
{
    struct server *s = session->server;

    session->used_ms = loop_now_ms(s->loop);
    list_remove(&session->link);
    list_append(&s->mcp->sessions, &session->link);
}

static bool has_stream(const struct mcp_session *session)
{
    if (session->general->conn)
        return true;
    LIST_EACH(it, &session->channels)
        if (LIST_ENTRY(it, struct mcp_channel, link)->conn)
            return true;
    return false;
}

static bool is_idle(const struct mcp_session *session)
{
    return list_empty(&session->works) && !has_stream(session);
}

static void idle_look(void *owner)
{
    struct server *s = owner;
    int64_t now = loop_now_ms(s->loop), most = s->limits.mcp_session_ms;

    while (s->mcp->session_count) {
        struct mcp_session *oldest = LIST_ENTRY(s->mcp->sessions.next, struct mcp_session, link);
        if (now - oldest->used_ms < most) {
            timer_set(s->mcp->idle, oldest->used_ms + most - now);
            return;
        }
        if (is_idle(oldest))
            mcp_session_end(oldest);
        else
            use(oldest);
    }
}

/* ---- one ---- */

struct mcp_session *mcp_session_find(struct server *s, const struct http_request *r,
                                     const struct grant *g)
{
    str id;

    if (!http_header(r, "mcp-session-id", &id) || id.len != MCP_ID_CHARS)
        return NULL;
    LIST_EACH(it, bucket_of(s->mcp, id)) {
        struct mcp_session *session = LIST_ENTRY(it, struct mcp_session, bucket);
        if (!str_eq(id_of(session), id))
            continue;
        if (!str_eq(session->quota->token_id, g ? g->token_id : STR("")))
            return NULL;
        use(session);
        return session;
    }
    return NULL;
}

/* Ends the one of a share (NULL: of any) that was not used for longest. False: all are in use. */
static bool idle_end(struct server *s, const struct quota *of)
{
    LIST_EACH(it, &s->mcp->sessions) {
        struct mcp_session *session = LIST_ENTRY(it, struct mcp_session, link);
        if (is_idle(session) && (!of || session->quota == of)) {
            mcp_session_end(session);
            return true;
        }
    }
    return false;
}

/* Makes room for one more: among a token's own, for nobody is to end another's. Only the operator's
 * stands before all others, and some places are for the operator alone. */
static err make_room(struct server *s, const struct quota *sh, struct arena *a)
{
    uint32_t most = s->limits.mcp_sessions_max, kept = most > 4 * KEPT ? KEPT : most / 4;

    if (quota_check_session(s, sh, a) && !idle_end(s, sh))
        return quota_check_session(s, sh, a);
    if (s->mcp->session_count < (sh->operates ? most : most - kept) || idle_end(s, sh) ||
        (sh->operates && idle_end(s, NULL)))
        return NULL;
    return err_new(a, ERR_UNAVAILABLE,
                   "expected at most %u sessions of MCP (mcp_sessions), found as many in use: try "
                   "again later",
                   (unsigned)most);
}

static str text_put(char **at, str text)
{
    str copy = { *at, text.len };

    if (text.len)
        memcpy(*at, text.at, text.len);
    *at += text.len;
    return copy;
}

err mcp_session_begin(struct server *s, struct arena *a, const struct mcp_client *client,
                      const struct grant *g,
                      void (*cancel)(struct mcp_work *w, enum cancel_reason why),
                      struct mcp_session **out)
{
    struct mcp_front *f = s->mcp;
    struct quota *sh = quota_of(s, g);
    str name = utf8_cut(client->name, TEXT_MAX),
        version = utf8_cut(client->client_version, TEXT_MAX);
    err full = make_room(s, sh, a);

    if (full) {
        quota_unref(sh);
        return full;
    }
    struct mcp_session *session = mem_alloc(sizeof *session + name.len + version.len);
    char *texts = (char *)(session + 1);
    *session = (struct mcp_session){
        .server = s, .quota = sh, .client = *client, .cancel = cancel, .channel_next = 1
    };
    sh->sessions++;
    session->client.name = text_put(&texts, name);
    session->client.client_version = text_put(&texts, version);
    id_make(session->id);
    list_init(&session->link);
    list_init(&session->works);
    list_init(&session->channels);
    list_append(bucket_of(f, id_of(session)), &session->bucket);
    session->listener = mcp_listener_new(session);
    if (f->session_count++ == 0)
        timer_set(f->idle, s->limits.mcp_session_ms);
    use(session);
    *out = session;
    return NULL;
}

/* Works that are cancelled are answered at once or soon; they do without the session then, and so do
 * channels that somebody still listens to. */
void mcp_session_end(struct mcp_session *session)
{
    struct mcp_front *f = session->server->mcp;

    f->session_count--;
    list_remove(&session->link);
    list_remove(&session->bucket);
    while (!list_empty(&session->works)) {
        struct mcp_work *w = LIST_ENTRY(session->works.next, struct mcp_work, link);
        list_remove(&w->link);
        w->session = NULL;
        session->cancel(w, CANCEL_SESSION);
    }
    while (!list_empty(&session->channels))
        mcp_channel_forget(LIST_ENTRY(session->channels.next, struct mcp_channel, link));
    mcp_listener_free(session->listener);
    session->quota->sessions--;
    quota_unref(session->quota);
    mem_free(session);
}

/* ---- its channels ---- */

bool mcp_session_resume(struct mcp_session *session, str event_id, struct mcp_channel **channel,
                        int64_t *after)
{
    int64_t number;
    str left, right;

    if (!str_cut(event_id, '-', &left, &right) || !str_to_int(left, &number) ||
        !str_to_int(right, after) || *after < 0)
        return false;
    *channel = number == 0 ? session->general : NULL;
    LIST_EACH(it, &session->channels) {
        struct mcp_channel *ch = LIST_ENTRY(it, struct mcp_channel, link);
        if (ch->number == number)
            *channel = ch;
    }
    return *channel && *after <= (*channel)->sent;
}

void mcp_session_trim(struct mcp_session *session)
{
    struct mcp_channel *oldest = NULL;
    uint32_t count = 0;
    size_t bytes = 0;

    LIST_EACH(it, &session->channels) {
        struct mcp_channel *ch = LIST_ENTRY(it, struct mcp_channel, link);
        if (ch->owner || ch->conn)
            continue;
        oldest = oldest ? oldest : ch;
        bytes += ch->kept_bytes;
        count++;
    }
    if (count > 1 && (count > CHANNELS_KEPT || bytes > CHANNEL_BYTES_KEPT)) {
        mcp_channel_forget(oldest);
        mcp_session_trim(session);
    }
}

/* ---- all of them ---- */

/* Sessions of a token end with it. */
static void sessions_revoke(struct server *s, str token_id)
{
    LIST_EACH(it, &s->mcp->sessions) {
        struct mcp_session *session = LIST_ENTRY(it, struct mcp_session, link);
        if (str_eq(session->quota->token_id, token_id))
            mcp_session_end(session);
    }
}

struct mcp_front *mcp_front_new(struct server *s)
{
    struct mcp_front *f = mem_alloc(sizeof *f);

    *f = (struct mcp_front){ .idle = timer_new(s->loop, idle_look, s) };
    list_init(&f->sessions);
    list_init(&f->listeners);
    for (size_t i = 0; i < sizeof f->buckets / sizeof *f->buckets; i++)
        list_init(&f->buckets[i]);
    s->revoked = sessions_revoke;
    return f;
}

/* What a client may still come back for has no connection that would be told. */
void mcp_front_stop(struct server *s)
{
    if (!s->mcp)
        return;
    timer_clear(s->mcp->idle);
    while (!list_empty(&s->mcp->sessions))
        mcp_session_end(LIST_ENTRY(s->mcp->sessions.next, struct mcp_session, link));
}

void mcp_front_free(struct server *s)
{
    if (!s->mcp)
        return;
    mcp_front_stop(s);
    assert(list_empty(&s->mcp->listeners));
    timer_free(s->mcp->idle);
    mem_free(s->mcp);
}
