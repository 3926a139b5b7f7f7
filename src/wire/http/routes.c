/* routes.c: what the server answers that is no operation: how it is, what it takes, and where the
 * streams begin.
 *
 * Some of them need no token, so that whoever watches over the process can ask, and a browser
 * shows something to sign in by; so they say nothing of what is stored. */
#include <inttypes.h>

#include "json/write.h"
#include "wire/http/page.h"
#include "wire/http/sign_in.h"
#include "wire/http/text.h"

#define TYPE_JSON "application/json"

/* ---- how it is ---- */

static void health(struct http_exchange *x)
{
    struct buf out = buf_in(x->arena);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("status"), STR("ok"));
    write_text(&w, STR("version"), str_from(x->conn->server->options.version));
    json_write_end(&w, '}');
    http_respond(x, 200, TYPE_JSON, buf_str(&out));
}

static void ready(struct http_exchange *x)
{
    const struct server *s = x->conn->server;
    const char *why = s->options.unready ? s->options.unready(s->options.self) : NULL;
    struct buf out = buf_in(x->arena);
    struct json_writer w = json_writer_to(&out);

    if (s->stopping)
        why = "the server stops";
    json_write_begin(&w, '{');
    if (!why)
        write_text(&w, STR("status"), STR("ready"));
    if (s->options.parts)
        s->options.parts(s->options.self, &w);
    json_write_end(&w, '}');
    str members = str_slice(buf_str(&out), 1, out.len - 1);
    if (why)
        http_refuse(x, err_with(x->arena, err_new(x->arena, ERR_UNAVAILABLE, "%s", why), members));
    else
        http_respond(x, 200, TYPE_JSON, buf_str(&out));
}

/* ---- numbers ---- */

static void write_metric(struct buf *out, const char *name, const char *type, const char *help,
                         uint64_t value)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name, help, name, type, name,
               value);
}

static void write_by_class(struct buf *out, const struct server *s)
{
    buf_add(out, STR("# HELP baton_http_requests_total Requests answered, by class of status.\n"
                     "# TYPE baton_http_requests_total counter\n"));
    for (int i = 1; i <= 5; i++)
        buf_printf(out, "baton_http_requests_total{class=\"%dxx\"} %" PRIu64 "\n", i,
                   s->by_class[i]);
}

static void write_counts(struct buf *out, const char *name, const char *help,
                         const struct json *counts)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
    for (uint32_t i = 0; counts && i < counts->len; i++)
        buf_printf(out, "%s{status=\"" STR_FMT "\"} " STR_FMT "\n", name,
                   STR_ARG(json_name(&counts->members[i])),
                   STR_ARG(json_text(&counts->members[i].value)));
}

/* What system.team has answered. */
static void write_team(struct buf *out, const struct json *team)
{
    int64_t oldest = json_int_or(team, "queue_oldest_ms", 0);

    write_counts(out, "baton_sessions", "Sessions that are live, by status.",
                 json_get(team, "sessions"));
    write_counts(out, "baton_runs", "Runs that have not ended, by status.", json_get(team, "runs"));
    write_metric(out, "baton_runners", "gauge", "Runners that are there.",
                 (uint64_t)json_int_or(team, "runners", 0));
    write_metric(out, "baton_callbacks_waiting", "gauge",
                 "Ends of children on their way to parents.",
                 (uint64_t)json_int_or(team, "callbacks_waiting", 0));
    buf_printf(out,
               "# HELP baton_queue_oldest_seconds How long the first of the queue waits for a "
               "runner.\n# TYPE baton_queue_oldest_seconds gauge\n"
               "baton_queue_oldest_seconds %.3f\n",
               (double)oldest / 1000);
}

static void metrics_answer(struct http_exchange *x, const struct json *team)
{
    const struct server *s = x->conn->server;
    struct buf out = buf_in(x->arena);

    buf_printf(&out,
               "# HELP baton_build_info The version of the program.\n"
               "# TYPE baton_build_info gauge\n"
               "baton_build_info{version=\"%s\"} 1\n",
               s->options.version);
    write_by_class(&out, s);
    write_metric(&out, "baton_http_cache_hits_total", "counter", "Requests answered from memory.",
                 s->cache_hits);
    write_metric(&out, "baton_connections", "gauge", "Connections that are open.", s->conn_count);
    write_metric(&out, "baton_connections_unknown", "gauge",
                 "Connections of those that have shown no token.", s->unknown_count);
    write_metric(&out, "baton_connections_dropped_total", "counter",
                 "Connections that were closed to make room for others.", s->dropped);
    write_metric(&out, "baton_buffered_bytes", "gauge",
                 "Bytes that requests take, parsed values included.", s->buffered);
    write_metric(&out, "baton_held_bytes", "gauge", "Bytes that wait for their readers.", s->held);
    write_metric(&out, "baton_published_seq", "gauge", "The number of the last event published.",
                 (uint64_t)s->published);
    if (s->options.metrics)
        s->options.metrics(s->options.self, &out);
    if (team)
        write_team(&out, team);
    http_respond(x, 200, "text/plain; version=0.0.4; charset=utf-8", buf_str(&out));
}

/* Without the database there are still the other numbers. */
static void team_counted(struct pending *p)
{
    struct http *h = p->owner;
    const struct command *c = &p->command;
    const struct json *team = NULL;

    if (h->x.conn && !c->error && !json_parse_own(c->arena, c->answer.text, &team))
        metrics_answer(&h->x, team);
    else if (h->x.conn)
        metrics_answer(&h->x, NULL);
    http_go_on(h);
}

/* Sessions and runs are counted by one read, when somebody looks. */
static void metrics(struct http_exchange *x)
{
    struct http *h = http_of(x);
    const struct server_options *o = &h->server->options;
    struct json *input = ARENA_NEW(x->arena, struct json);

    *input = json_object();
    h->pending = (struct pending){ .server = h->server,
                                   .command = { .arena = x->arena,
                                                .op = op_find(o->table, STR("system.team")),
                                                .input = input,
                                                .actor = o->system },
                                   .cached = STR(""),
                                   .done = team_counted,
                                   .owner = h };
    if (o->system && h->pending.command.op && !pending_submit(&h->pending))
        h->phase = HTTP_PENDING;
    else
        metrics_answer(x, NULL);
}

/* ---- what it takes ---- */

static void write_limit(struct json_writer *w, const char *name, uint64_t value)
{
    write_int(w, str_from(name), (int64_t)value);
}

static void write_limits(struct json_writer *w, const struct server_limits *l,
                         const struct http_limits *http)
{
    write_limit(w, "request_line_bytes", http->request_line_max);
    write_limit(w, "header_bytes", http->field_max);
    write_limit(w, "headers_bytes", http->fields_max);
    write_limit(w, "headers", http->field_count_max);
    write_limit(w, "body_bytes", http->body_max);
    write_limit(w, "json_depth", JSON_DEPTH_MAX);
    write_limit(w, "header_ms", (uint64_t)l->header_ms);
    write_limit(w, "body_ms", (uint64_t)l->body_ms);
    write_limit(w, "idle_ms", (uint64_t)l->idle_ms);
    write_limit(w, "write_ms", (uint64_t)l->write_ms);
    write_limit(w, "connections", l->connections_max);
    write_limit(w, "connections_kept_for_operator", l->connections_kept);
    write_limit(w, "connections_unknown", l->connections_unknown);
    write_limit(w, "token_connections", l->token_connections);
    write_limit(w, "token_waits", l->token_waits);
    write_limit(w, "token_requests", l->token_requests);
    write_limit(w, "token_bytes", l->token_bytes);
    write_limit(w, "answer_bytes", l->answer_max);
    write_limit(w, "held_bytes", l->held_max);
    write_limit(w, "buffered_bytes", l->buffered_max);
    write_limit(w, "message_bytes", l->message_max);
    write_limit(w, "behind_events", l->behind_events);
    write_limit(w, "behind_bytes", l->behind_bytes);
    write_limit(w, "ping_ms", (uint64_t)l->ping_ms);
    write_limit(w, "wait_ms", (uint64_t)l->wait_max_ms);
    write_limit(w, "mcp_wait_ms", (uint64_t)l->mcp_wait_ms);
    write_limit(w, "mcp_progress_ms", (uint64_t)l->mcp_progress_ms);
    write_limit(w, "mcp_session_ms", (uint64_t)l->mcp_session_ms);
    write_limit(w, "mcp_sessions", l->mcp_sessions_max);
    write_limit(w, "token_mcp_sessions", l->token_mcp_sessions);
}

static void limits(struct http_exchange *x)
{
    const struct server *s = x->conn->server;
    const struct server_options *o = &s->options;
    struct buf out = buf_in(x->arena);
    struct json_writer w = json_writer_to(&out);
    int64_t number;

    json_write_begin(&w, '{');
    write_limits(&w, &s->limits, &http_of(x)->parser.limits); /* where defaults are filled in */
    for (size_t i = 0; i + 1 < o->config_count; i += 2) {
        json_write_name(&w, o->config[i]);
        if (str_to_int(o->config[i + 1], &number))
            json_write_int(&w, number);
        else
            json_write_str(&w, o->config[i + 1]);
    }
    json_write_end(&w, '}');
    http_respond(x, 200, TYPE_JSON, buf_str(&out));
}

/* ---- which is which ---- */

static str openapi_text(struct server *s, struct arena *a)
{
    return op_openapi(a, s->options.table, s->options.version);
}

static const struct http_file openapi = { .type = TYPE_JSON,
                                          .caching = "no-cache",
                                          .text = openapi_text };

/* A list of events is an operation; a stream of them is what asks for one by name. */
static bool wants_stream(const struct server *s, const struct http_request *r)
{
    bool named = false;
    str accept;

    (void)s;
    return str_eq(r->method, STR("GET")) && http_header(r, "accept", &accept) &&
           http_accepts(accept, STR("text/event-stream"), &named) > 0 && named;
}

static bool has_mcp(const struct server *s, const struct http_request *r)
{
    (void)r;
    return s->mcp;
}

// clang-format off
#define GET  { STR("GET") }
#define POST { STR("POST") }
#define MANY { STR("GET"), STR("POST"), STR("DELETE") }

static const struct http_route routes[] = {
    { STR("/"),             ROUTE_OPEN,   GET,  NULL,      &http_page, http_wants_page },
    { STR("/page/"),        ROUTE_OPEN,   GET,  page_route, NULL,      NULL            },
    { STR("/sign-in"),      ROUTE_OPEN,   POST, sign_in,   NULL,       NULL            },
    { STR("/mcp"),          ROUTE_FENCED, MANY, mcp_route, NULL,       has_mcp         },
    { STR("/health"),       ROUTE_OPEN,   GET,  health,    NULL,       NULL            },
    { STR("/ready"),        ROUTE_OPEN,   GET,  ready,     NULL,       NULL            },
    { STR("/metrics"),      ROUTE_TOKEN,  GET,  metrics,   NULL,       NULL            },
    { STR("/limits"),       ROUTE_TOKEN,  GET,  limits,    NULL,       NULL            },
    { STR("/openapi.json"), ROUTE_TOKEN,  GET,  NULL,      &openapi,   NULL            },
    { STR("/ws"),           ROUTE_SELF,   GET,  ws_begin,  NULL,       NULL            },
    { STR("/events"),       ROUTE_TOKEN,  GET,  sse_begin, NULL,       wants_stream    },
    { .path = STR("") },
};
// clang-format on

const struct http_route *const server_routes = routes;
