/* adversary.c: clients that mean ill, by the thousand. */
#define _GNU_SOURCE
#include "black/adversary.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json_help.h"
#include "wire/ws/frame.h"

enum {
    KINDS_MOST = 32,
    LIST = BLACK_SANITIZED ? 50000 : 500000, /* elements of the state that is moved about in */
    MEMBERS = 90000,                         /* of the object that is written in reverse order */
    LARGE = 900 << 10,                       /* bytes of the text in the state that is read */
    VERSIONS = 24,                           /* of it */
    BODY = 4 << 20,
    PATTERNS = 19000,
    MOVES = 1000,     /* in one patch, which is more work than it may be */
    MOVES_OK = 12,    /* and nearly as much as it may be */
    PROMPT = 1000000, /* characters of four bytes */
    PIPELINED = 64,
    OPEN_MOST = 64,      /* connections that are opened in a turn */
    CHANGE_ONE_OF = 200, /* answers after which one is closed, by chance */
};

/* Who they say they are. */
enum token { NOBODY, UNKNOWN, VIEWER, LISTER, OWNER, SECOND_OPERATOR, TOKENS };

struct adversary_setup {
    const struct black *server;
    str tokens[TOKENS];
    str large, list, members, small; /* states */
    str texts[KINDS_MOST];           /* what each kind sends */
};

/* ---- what they send ---- */

static void head_add(const struct adversary_setup *s, struct buf *out, enum token token,
                     const char *route)
{
    buf_printf(out, "%s HTTP/1.1\r\nHost: localhost\r\n", route);
    if (token != NOBODY)
        buf_printf(out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(s->tokens[token]));
}

static void body_add(struct buf *out, str body)
{
    buf_printf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", body.len);
    buf_add(out, body);
}

static const char *state_route(const char *method, str state, const char *rest)
{
    return arena_printf(check_arena(), "%s /workflow-states/" STR_FMT "%s", method, STR_ARG(state),
                        rest)
        .at;
}

static void repeat(struct buf *out, const char *what, int count)
{
    for (int i = 0; i < count; i++)
        buf_add(out, str_from(what));
}

static void silence(const struct adversary_setup *s, struct buf *out)
{
    (void)s, (void)out;
}

static void half_a_head(const struct adversary_setup *s, struct buf *out)
{
    head_add(s, out, NOBODY, "GET /health");
    buf_add(out, STR("X-Half: "));
}

static void unknown_token(const struct adversary_setup *s, struct buf *out)
{
    for (int i = 0; i < PIPELINED; i++) {
        head_add(s, out, UNKNOWN, "GET /tokens");
        buf_add(out, STR("\r\n"));
    }
}

/* One byte of it never comes. */
static void endless_body(const struct adversary_setup *s, struct buf *out)
{
    head_add(s, out, LISTER, state_route("PATCH", s->list, ""));
    buf_printf(out, "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", BODY);
    repeat(out, "[0,0,0,0", BODY / 8 - 1);
}

/* Eight times as large when it is read. */
static void many_values(const struct adversary_setup *s, struct buf *out)
{
    struct buf body = buf_in(check_arena());

    buf_add(&body, STR("{\"operations\":["));
    repeat(&body, "0,", BODY / 2 - 100);
    buf_add(&body, STR("0]}"));
    head_add(s, out, LISTER, state_route("PATCH", s->list, ""));
    body_add(out, buf_str(&body));
}

static void long_query(const struct adversary_setup *s, struct buf *out)
{
    struct buf query = buf_in(check_arena());

    buf_add(&query, STR("?query=%24.big%5B0"));
    repeat(&query, ",0", 500);
    buf_add(&query, STR("%5D"));
    for (int i = 0; i < 4; i++) {
        head_add(s, out, VIEWER, state_route("GET", s->large, buf_str(&query).at));
        buf_add(out, STR("\r\n"));
    }
}

static void long_history(const struct adversary_setup *s, struct buf *out)
{
    for (int i = 0; i < 4; i++) {
        head_add(s, out, VIEWER, state_route("GET", s->large, "/history?limit=150"));
        buf_add(out, STR("\r\n"));
    }
}

static void upgrade_add(const struct adversary_setup *s, struct buf *out, enum token token)
{
    head_add(s, out, token, "GET /ws");
    buf_add(out, STR("Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
}

/* A message of which a byte never comes, before anybody has shown a token. */
static void socket_of_nobody(const struct adversary_setup *s, struct buf *out)
{
    struct buf text = buf_in(check_arena());

    repeat(&text, "[[[[[[[[", (1 << 20) / 8);
    upgrade_add(s, out, NOBODY);
    websocket_frame_masked(out, WEBSOCKET_TEXT, buf_str(&text), (const unsigned char *)"mask");
    out->len--;
}

static void deaf_subscriber(const struct adversary_setup *s, struct buf *out)
{
    upgrade_add(s, out, VIEWER);
    websocket_frame_masked(out, WEBSOCKET_TEXT, STR("{\"action\":\"subscribe\",\"after\":0}"),
                           (const unsigned char *)"mask");
}

static void deaf_stream(const struct adversary_setup *s, struct buf *out)
{
    head_add(s, out, VIEWER, "GET /events?after=0");
    buf_add(out, STR("Accept: text/event-stream\r\n\r\n"));
}

static void wait_in_vain(const struct adversary_setup *s, struct buf *out)
{
    head_add(s, out, VIEWER, state_route("GET", s->large, "?wait_version=99999999&timeout=30"));
    buf_add(out, STR("\r\n"));
}

static void mcp_add(const struct adversary_setup *s, struct buf *out, enum token token, str body)
{
    head_add(s, out, token, "POST /mcp");
    buf_add(out, STR("Accept: application/json, text/event-stream\r\n"));
    body_add(out, body);
}

static void many_sessions(const struct adversary_setup *s, struct buf *out)
{
    for (int i = 0; i < PIPELINED; i++)
        mcp_add(s, out, VIEWER,
                STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                    "\"clientInfo\":{\"name\":\"ill\",\"version\":\"1\"}}}"));
}

static void huge_prompt(const struct adversary_setup *s, struct buf *out)
{
    struct buf body = buf_in(check_arena());

    buf_add(&body, STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"start_agent_session\",\"arguments\":{"
                       "\"session_name\":\"kid\",\"execution_mode\":\"sync\",\"prompt\":\""));
    repeat(&body, "\xf0\x9f\x98\x80", PROMPT);
    buf_add(&body, STR("\"}}}"));
    mcp_add(s, out, LISTER, buf_str(&body));
}

static void moves_add(const struct adversary_setup *s, struct buf *out, int count)
{
    struct buf body = buf_in(check_arena());

    buf_add(&body, STR("{\"operations\":["));
    for (int i = 0; i < count; i++)
        buf_printf(&body, "%s{\"op\":\"move\",\"from\":\"/list/%d\",\"path\":\"/list/0\"}",
                   i ? "," : "", LIST - 1);
    buf_add(&body, STR("]}"));
    head_add(s, out, LISTER, state_route("PATCH", s->list, ""));
    body_add(out, buf_str(&body));
}

static void many_moves(const struct adversary_setup *s, struct buf *out)
{
    moves_add(s, out, MOVES);
}

static void members_add(struct buf *out, bool reverse)
{
    for (int i = 0; i < MEMBERS; i++)
        buf_printf(out, "%s\"%d\":0", i ? "," : "", reverse ? MEMBERS - i : i + 1);
}

static void members_put(const struct adversary_setup *s, struct buf *out, bool reverse)
{
    struct buf body = buf_in(check_arena());

    buf_printf(&body, "{%s\"data\":{", reverse ? "" : "\"representation\":false,");
    members_add(&body, reverse);
    buf_add(&body, STR("}}"));
    head_add(s, out, OWNER, state_route("PUT", s->members, ""));
    body_add(out, buf_str(&body));
}

static void reverse_members(const struct adversary_setup *s, struct buf *out)
{
    members_put(s, out, true);
}

static void many_patterns(const struct adversary_setup *s, struct buf *out)
{
    struct buf body = buf_in(check_arena());

    buf_add(&body, STR("{\"name\":\"patterns\",\"json_schema\":{\"allOf\":["));
    for (int i = 0; i < PATTERNS; i++)
        buf_printf(&body, "%s{\"pattern\":\"(a|%d)*b{1,9}\"}", i ? "," : "", i);
    buf_add(&body, STR("]}}"));
    head_add(s, out, SECOND_OPERATOR, "POST /workflow-schemas");
    body_add(out, buf_str(&body));
}

/* ---- what those send who are merely busy ---- */

static void health(const struct adversary_setup *s, struct buf *out)
{
    head_add(s, out, NOBODY, "GET /health");
    buf_add(out, STR("\r\n"));
}

static void small_add(const struct adversary_setup *s, struct buf *out, enum token token)
{
    head_add(s, out, token, state_route("GET", s->small, ""));
    buf_add(out, STR("\r\n"));
}

static void small_things(const struct adversary_setup *s, struct buf *out)
{
    small_add(s, out, VIEWER);
}

static void some_moves(const struct adversary_setup *s, struct buf *out)
{
    moves_add(s, out, MOVES_OK);
}

static void members_again(const struct adversary_setup *s, struct buf *out)
{
    members_put(s, out, false);
}

static void small_of_operator(const struct adversary_setup *s, struct buf *out)
{
    small_add(s, out, SECOND_OPERATOR);
}

// clang-format off
static const struct kind {
    const char *name;
    void (*make)(const struct adversary_setup *s, struct buf *out);
    bool reads; /* takes its answers, and sends the same again; else it sends once and is deaf */
    enum token token;
} kinds[] = {
    { "connections that say nothing",               silence,          false, NOBODY          },
    { "heads that do not end",                      half_a_head,      false, NOBODY          },
    { "an unknown token, pipelined",                unknown_token,    true,  UNKNOWN         },
    { "bodies that do not end",                     endless_body,     false, LISTER          },
    { "bodies of many values",                      many_values,      true,  LISTER          },
    { "queries that multiply what they read",       long_query,       false, VIEWER          },
    { "histories that nobody takes",                long_history,     false, VIEWER          },
    { "WebSockets without a token",                 socket_of_nobody, false, NOBODY          },
    { "subscribers that do not read",               deaf_subscriber,  false, VIEWER          },
    { "streams that nobody reads",                  deaf_stream,      false, VIEWER          },
    { "waits in vain",                              wait_in_vain,     false, VIEWER          },
    { "MCP sessions",                               many_sessions,    true,  VIEWER          },
    { "prompts that are as large as they can be",   huge_prompt,      true,  LISTER          },
    { "patches that move what is large",            many_moves,       true,  LISTER          },
    { "objects written in reverse",                 reverse_members,  true,  OWNER           },
    { "schemas of many patterns",                   many_patterns,    true,  SECOND_OPERATOR },
    { "small reads",                                small_things,     true,  VIEWER          },
    { "patches that fit",                           some_moves,       true,  LISTER          },
    { "objects written again",                      members_again,    true,  OWNER           },
    { "small reads of an operator",                 small_of_operator, true, SECOND_OPERATOR },
    { "questions for the server's health",          health,           true,  NOBODY          },
};
// clang-format on

enum { KINDS = sizeof kinds / sizeof *kinds, BUSY = 5, ILL = KINDS - BUSY };

_Static_assert((int)KINDS <= (int)KINDS_MOST, "there is room for the text of each");

size_t adversary_kinds(void)
{
    return ILL;
}

const char *adversary_name(size_t kind)
{
    return kinds[kind].name;
}

/* The one that is merely busy, and shows the same token; nobody knows an unknown one. */
static size_t busy_instead_of(size_t ill)
{
    enum token token = kinds[ill].token == UNKNOWN ? NOBODY : kinds[ill].token;
    size_t k = ILL;

    while (kinds[k].token != token)
        k++;
    return k;
}

size_t adversary_kind(const char *name)
{
    size_t k = 0;

    while (k < KINDS && !str_starts(str_from(kinds[k].name), str_from(name)))
        k++;
    CHECK(k < KINDS);
    return k;
}

/* ---- what they use ---- */

str adversary_token(const struct black *b, const char *session, str state, const char *pointers)
{
    struct arena *a = check_arena();
    str root = arena_printf(
        a, "{'session_name':'%s','session_id':'ses_%s','workflow_state_id':'" STR_FMT "'}", session,
        session, STR_ARG(state));
    str token = arena_printf(a,
                             "{'kind':'session','scope':{'session_id':'ses_%s','state_id':'" STR_FMT
                             "'%s}}",
                             session, STR_ARG(state), pointers);

    black_expect(b, 201, "POST /sessions", root.at);
    return json_str(black_expect(b, 201, "POST /tokens", token.at), "token");
}

static str large_state(const struct black *b)
{
    struct arena *a = check_arena();
    char *text = arena_alloc(a, LARGE + 1);
    str id = black_add_state(b, "{}");

    for (int i = 0; i < VERSIONS; i++) {
        memset(text, 'a' + i, LARGE);
        text[LARGE] = '\0';
        black_expect(b, 200, black_route("PUT", id),
                     arena_printf(a, "{'data':{'big':['%s']}}", text).at);
    }
    return id;
}

struct adversary_setup *adversary_setup_new(const struct black *b)
{
    struct adversary_setup *s = ARENA_NEW(check_arena(), struct adversary_setup);
    struct buf list = buf_in(check_arena()), members = buf_in(check_arena());

    buf_add(&list, STR("{'list':["));
    repeat(&list, "0,", LIST - 1);
    buf_add(&list, STR("0]}"));
    buf_add(&members, STR("{"));
    members_add(&members, false);
    buf_add(&members, STR("}"));
    s->server = b;
    s->large = large_state(b);
    s->list = black_add_state(b, buf_str(&list).at);
    s->members = black_add_state(b, buf_str(&members).at);
    s->small = black_add_state(b, "{}");
    s->tokens[UNKNOWN] = STR("op_aaaaaaaaaaaa.0123456789abcdefghijklmnopqrstuv");
    s->tokens[VIEWER] = black_add_token(b, "viewer").text;
    s->tokens[SECOND_OPERATOR] = black_add_token(b, "operator").text;
    s->tokens[LISTER] = adversary_token(b, "lister", s->list, "");
    s->tokens[OWNER] = adversary_token(b, "owner", s->members, ",'pointers':['/1','/2']");
    for (size_t k = 0; k < KINDS; k++) {
        struct buf text = buf_in(check_arena());
        kinds[k].make(s, &text);
        s->texts[k] = buf_str(&text);
    }
    return s;
}

/* ---- connections ---- */

struct adversary_conn {
    int fd; /* −1: it is to be opened */
    size_t kind, sent;
    bool reached; /* it has sent something, or was closed, at least once */
};

struct adversary {
    const struct adversary_setup *setup;
    pthread_t thread;
    int epoll;
    const char *name;
    bool any; /* kind that is ill, and now and then another */
    struct random random;
    struct adversary_conn *foes;
    int count;
    atomic_bool over;
    atomic_int reached;
    _Atomic int64_t rounds, closed;
};

static void foe_reached(struct adversary *a, struct adversary_conn *f)
{
    if (!f->reached)
        a->reached++;
    f->reached = true;
}

static void foe_close(struct adversary *a, struct adversary_conn *f)
{
    foe_reached(a, f);
    close(f->fd);
    f->fd = -1;
    a->closed++;
    if (a->any)
        f->kind = random_below(&a->random, ILL);
}

static void foe_watch(struct adversary *a, struct adversary_conn *f, int how, bool writes)
{
    struct epoll_event e = { .data.ptr = f };

    e.events = EPOLLRDHUP | (writes ? EPOLLOUT : 0) | (kinds[f->kind].reads ? EPOLLIN : 0);
    CHECK(epoll_ctl(a->epoll, how, f->fd, &e) == 0);
}

/* False: there is no room here for one more. */
static bool foe_open(struct adversary *a, struct adversary_conn *f)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(a->setup->server->port) };

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    f->sent = 0;
    if (f->fd < 0)
        return false;
    if (connect(f->fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) {
        foe_close(a, f);
        return false;
    }
    foe_watch(a, f, EPOLL_CTL_ADD, true);
    return true;
}

static void foe_send(struct adversary *a, struct adversary_conn *f)
{
    str text = a->setup->texts[f->kind];
    ssize_t n = send(f->fd, text.at + f->sent, text.len - f->sent, MSG_NOSIGNAL);

    foe_reached(a, f);
    if (n < 0 && errno != EAGAIN) {
        foe_close(a, f);
        return;
    }
    f->sent += n > 0 ? (size_t)n : 0;
    if (f->sent < text.len)
        return;
    a->rounds++;
    foe_watch(a, f, EPOLL_CTL_MOD, false);
}

/* Takes what there is, and begins the next round when the last one was sent. */
static void foe_read(struct adversary *a, struct adversary_conn *f)
{
    static __thread char piece[65536];
    ssize_t n = recv(f->fd, piece, sizeof piece, 0);
    bool change = a->any && random_below(&a->random, CHANGE_ONE_OF) == 0;

    if (n == 0 || (n < 0 && errno != EAGAIN) || change) {
        foe_close(a, f);
        return;
    }
    if (n > 0 && f->sent == a->setup->texts[f->kind].len) {
        f->sent = 0;
        foe_watch(a, f, EPOLL_CTL_MOD, true);
    }
}

static void foe_serve(struct adversary *a, struct adversary_conn *f, uint32_t events)
{
    if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP))
        foe_close(a, f);
    else if (events & EPOLLIN)
        foe_read(a, f);
    else if (events & EPOLLOUT)
        foe_send(a, f);
}

static void *adversary_run(void *self)
{
    struct adversary *a = self;
    struct epoll_event events[256];
    int next = 0;

    while (!a->over) {
        for (int i = 0, opened = 0; i < a->count && opened < OPEN_MOST; i++) {
            struct adversary_conn *f = &a->foes[next++ % a->count];
            if (f->fd < 0 && ++opened && !foe_open(a, f))
                break;
        }
        next %= a->count;
        int n = epoll_wait(a->epoll, events, 256, 5);
        for (int i = 0; i < n; i++)
            foe_serve(a, events[i].data.ptr, events[i].events);
    }
    return NULL;
}

/* ---- from the beginning to the end ---- */

static struct adversary *adversary_new(const struct adversary_setup *setup, int count)
{
    struct adversary *a = ARENA_NEW(check_arena(), struct adversary);
    struct rlimit files;

    CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = files.rlim_max;
    CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
    a->setup = setup;
    a->count = count;
    a->foes = ARENA_ARRAY(check_arena(), struct adversary_conn, (size_t)count);
    a->epoll = epoll_create1(EPOLL_CLOEXEC);
    return a;
}

static struct adversary *adversary_go(struct adversary *a)
{
    CHECK(pthread_create(&a->thread, NULL, adversary_run, a) == 0);
    return a;
}

struct adversary *adversary_begin(const struct adversary_setup *setup, size_t kind, int count)
{
    struct adversary *a = adversary_new(setup, count);

    a->name = kinds[kind].name;
    for (int i = 0; i < count; i++)
        a->foes[i] = (struct adversary_conn){ .fd = -1, .kind = kind };
    return adversary_go(a);
}

struct adversary *adversary_begin_all(const struct adversary_setup *setup, int count_each,
                                      uint64_t seed)
{
    struct adversary *a = adversary_new(setup, count_each * ILL);

    a->name = "all kinds";
    a->any = true;
    a->random = (struct random){ seed };
    for (int i = 0; i < a->count; i++)
        a->foes[i] = (struct adversary_conn){ .fd = -1, .kind = (size_t)i % ILL };
    return adversary_go(a);
}

struct adversary *adversary_begin_busy(const struct adversary_setup *setup, int count_each)
{
    struct adversary *a = adversary_new(setup, count_each * ILL);

    a->name = "those who are merely busy";
    for (int i = 0; i < a->count; i++)
        a->foes[i] = (struct adversary_conn){ .fd = -1, .kind = busy_instead_of((size_t)i % ILL) };
    return adversary_go(a);
}

void adversary_wait(const struct adversary *a)
{
    while (a->reached < a->count) {
        black_alive(a->setup->server);
        usleep(1000); /* the test's own time limit ends a wait in vain */
    }
}

int64_t adversary_rounds(const struct adversary *a)
{
    return a->rounds;
}

void adversary_end(struct adversary *a)
{
    a->over = true;
    pthread_join(a->thread, NULL);
    for (int i = 0; i < a->count; i++)
        if (a->foes[i].fd >= 0)
            close(a->foes[i].fd);
    close(a->epoll);
    check_note("%d of %s: sent %lld times, %lld connections ended", a->count, a->name,
               (long long)a->rounds, (long long)a->closed);
}
