/* mcp_server.c: a server that speaks MCP, with clients, for tests. */
#include "mcp_server.h"

#include <netinet/tcp.h>
#include <signal.h>

#include "json_help.h"
#include "net_help.h"
#include "suites/suites.h"

/* ---- what the server wants of its maker ---- */

static int64_t http_fixture_now(void *self)
{
    return ((struct mcp_server *)self)->world->now_ms;
}

static void perform(struct mcp_server *s, struct command *c)
{
    struct engine *reader;

    s->performed++;
    c->answer.waits = false;
    c->error = NULL;
    CHECK_OK(world_reader(s->world, &reader));
    if (c->op->effect == OP_WRITES)
        op_perform(&s->world->engine, &c, 1);
    else
        op_read(reader, c);
}

void mcp_server_perform(struct mcp_server *s)
{
    while (s->waiting) {
        struct command *c = s->waiting;
        s->waiting = c->follows;
        c->follows = NULL;
        arena_take(c->arena);
        perform(s, c);
        server_performed(s->server, c);
    }
}

static bool http_fixture_submit(void *self, struct command *list)
{
    struct mcp_server *s = self;

    if (s->full)
        return false;
    commands_wait(&s->waiting, list);
    if (!s->holds)
        mcp_server_perform(s);
    return true;
}

static void http_fixture_admit(void *self, struct admission *a)
{
    struct mcp_server *s = self;
    struct engine *reader;

    CHECK_OK(world_reader(s->world, &reader));
    a->error = op_admit(reader, a->arena, a->token, &a->grant);
    server_admitted(s->server, a);
}

static void on_stop(void *self)
{
    loop_stop(((struct mcp_server *)self)->loop);
}

static void on_stopped(void *self)
{
    ((struct mcp_server *)self)->stopped = true;
}

/* ---- the server ---- */

static void furnish(struct mcp_server *s)
{
    struct world *w = s->world;
    struct command *c = world_call(w, "token.create", "{'kind':'operator'}", "");

    CHECK_OK(c->error);
    const struct json *answer = json_parsed(check_arena(), c->answer.text);
    s->operator_token = json_str(answer, "token");
    s->operator_token_id = json_str(answer, "token_id");
    c = world_call(w, "schema.create", "{'name':'s','json_schema':{'type':'object'}}", "");
    CHECK_OK(c->error);
    c = world_call(w, "state.create", "{'schema_name':'s','initial_data':{'title':'t'}}", "");
    CHECK_OK(c->error);
    answer = json_parsed(check_arena(), c->answer.text);
    s->state_id = json_str(answer, "state_id");
}

static int64_t last_seq(struct mcp_server *s)
{
    struct store_node node;

    CHECK_OK(store_begin(s->world->engine.sql, check_arena(), &node));
    store_rollback(s->world->engine.sql);
    return node.seq;
}

struct mcp_server *mcp_server_open(const struct server_limits *limits, bool fixtures)
{
    struct mcp_server *s = ARENA_NEW(check_arena(), struct mcp_server);

    signal(SIGPIPE, SIG_IGN);
    CHECK_OK(world_open("mcp.db", NULL, &s->world));
    furnish(s);
    s->loop = loop_new();
    s->stop = wakeup_new(s->loop, on_stop, s);
    s->timer = timer_new(s->loop, on_stop, s);
    s->mcp = mcp_new(&(struct mcp_options){ .table = s->world->table,
                                            .version = "1.2.3",
                                            .served = fixtures ? &mcp_fixtures : NULL,
                                            .secret = "secret",
                                            .wait_ms = 45000 });
    s->server =
        server_new(&(struct server_options){ .loop = s->loop,
                                             .table = s->world->table,
                                             .seq = last_seq(s),
                                             .cache_bytes = 1 << 20,
                                             .limits = limits ? *limits : server_limits_default(),
                                             .now_ms = http_fixture_now,
                                             .submit = http_fixture_submit,
                                             .admit = http_fixture_admit,
                                             .self = s,
                                             .version = "1.2.3",
                                             .mcp = s->mcp,
                                             .mcp_open = fixtures });
    CHECK_OK(loop_listen_tcp(s->loop, check_arena(), STR("127.0.0.1"), &s->port, server_accept,
                             s->server, &s->tcp));
    return s;
}

void mcp_server_close(struct mcp_server *s)
{
    listener_close(s->tcp);
    if (!s->server->stopping)
        server_stop(s->server, 100, on_stopped);
    s->holds = false;
    for (int i = 0; i < 1000 && !s->stopped; i++) {
        mcp_server_perform(s);
        timer_set(s->timer, 5);
        loop_run(s->loop);
    }
    CHECK(s->stopped);
    CHECK_INT(s->server->buffered, 0);
    server_free(s->server);
    mcp_free(s->mcp);
    timer_free(s->timer);
    wakeup_free(s->stop);
    loop_free(s->loop);
    world_close(s->world);
}

void mcp_server_turn(struct mcp_server *s)
{
    for (int i = 0; i < 12; i++) {
        wakeup_send(s->stop);
        loop_run(s->loop);
    }
}

void mcp_server_wait(struct mcp_server *s, int64_t ms)
{
    s->world->now_ms += ms;
    timer_set(s->timer, ms);
    loop_run(s->loop);
    mcp_server_turn(s);
}

static void nothing(struct command *c)
{
    (void)c;
}

const struct json *mcp_server_do(struct mcp_server *s, const char *op, const char *input)
{
    struct command *c = world_call(s->world, op, input, "");
    const struct json *answer = NULL;

    CHECK_OK(c->error);
    if (!c->answer.empty)
        answer = json_parsed(check_arena(), c->answer.text);
    c->done = nothing;
    c->arena = check_arena_new(); /* all that it refers to is in the test's, which stays here */
    server_performed(s->server, c);
    mcp_server_turn(s);
    return answer;
}

str mcp_server_session(struct mcp_server *s, const char *name, str state_id)
{
    struct arena *a = check_arena();
    str bound = state_id.len
                    ? arena_printf(a, ",'workflow_state_id':'" STR_FMT "'", STR_ARG(state_id))
                    : STR("");
    str made = json_str(
        mcp_server_do(s, "session.create",
                      arena_printf(a, "{'session_name':'%s'" STR_FMT "}", name, STR_ARG(bound)).at),
        "session_id");

    return json_str(
        mcp_server_do(s, "token.create",
                      arena_printf(a, "{'kind':'session','scope':{'session_id':'" STR_FMT "'}}",
                                   STR_ARG(made))
                          .at),
        "token");
}

/* ---- clients ---- */

struct mcp_peer *mcp_peer_new(struct mcp_server *s)
{
    struct mcp_peer *p = ARENA_NEW(check_arena(), struct mcp_peer);

    *p = (struct mcp_peer){ .server = s, .fd = net_tcp(s->port), .heard = buf_in(check_arena()) };
    setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 },
               sizeof(int)); /* pieces go as they are */
    mcp_server_turn(s);
    return p;
}

void mcp_peer_listen(struct mcp_peer *p)
{
    mcp_server_turn(p->server);
    text_hear(p->fd, &p->heard);
}

void mcp_peer_say(struct mcp_peer *p, str bytes)
{
    if (bytes.len > 0)
        CHECK_INT(send(p->fd, bytes.at, bytes.len, MSG_NOSIGNAL), bytes.len);
    mcp_peer_listen(p);
}

void mcp_peer_close(struct mcp_peer *p)
{
    close(p->fd);
    mcp_server_turn(p->server);
}

str mcp_post(str token, const char *fields, const char *body)
{
    struct arena *a = check_arena();
    str text = quotes_double(a, body);
    str head = arena_printf(a,
                            "POST /mcp HTTP/1.1|Host: localhost|%s" STR_FMT "%s"
                            "Content-Type: application/json|%sContent-Length: %zu||",
                            token.len ? "Authorization: Bearer " : "", STR_ARG(token),
                            token.len ? "|" : "", fields, text.len);
    struct buf out = buf_in(a);
    buf_add(&out, text_wire(head.at));
    buf_add(&out, text);
    return buf_str(&out);
}

void mcp_peer_post(struct mcp_peer *p, const char *fields, const char *body)
{
    str all = arena_printf(check_arena(), "Accept: application/json, text/event-stream|%s", fields);

    p->heard.len = 0;
    mcp_peer_say(p,
                 mcp_post(p->server->server->options.mcp_open ? STR("") : p->server->operator_token,
                          all.at, body));
}

str mcp_peer_field(const struct mcp_peer *p, const char *name)
{
    str rest = { p->heard.at, p->heard.len }, line, left, right;

    while (rest.len && str_cut(rest, '|', &line, &rest) && line.len)
        if (str_cut(line, ':', &left, &right) && http_same(left, str_from(name)))
            return arena_copy(check_arena(), str_trim(right));
    return STR("");
}
