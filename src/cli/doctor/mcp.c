/* mcp.c: MCP in both eras, over HTTP and over stdio.
 *
 * Both transports are asked the same questions, as a client would ask them: with a session that
 * `initialize` opens, and by messages that say all of it. None of them leaves anything behind. */
#include "cli/doctor/doctor.h"

#include "client/socket.h"
#include "os/program.h"

enum { STDIO_MS = 15000 };

#define LEGACY "2025-11-25"
#define MODERN "2026-07-28"

/* What one conversation goes through; the way to a server is behind `request`. */
struct mcp_probe {
    struct doctor *doctor;
    struct arena *arena;
    const char *version;
    bool modern;
    str session;                /* HTTP: what the server calls it; empty: none yet */
    struct doctor_child *child; /* stdio: the other end */
    int next_id;
};

/* ---- messages ---- */

static str message(struct mcp_probe *t, const char *method, str params, bool notification)
{
    struct buf out = buf_in(t->arena);

    buf_add(&out, STR("{\"jsonrpc\":\"2.0\","));
    if (!notification)
        buf_printf(&out, "\"id\":%d,", ++t->next_id);
    buf_printf(&out, "\"method\":\"%s\",\"params\":" STR_FMT "}", method, STR_ARG(params));
    return buf_str(&out);
}

static str params_of(struct mcp_probe *t)
{
    if (!t->modern)
        return STR("{}");
    return STR("{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MODERN "\","
               "\"io.modelcontextprotocol/clientCapabilities\":{},"
               "\"io.modelcontextprotocol/clientInfo\":"
               "{\"name\":\"baton-doctor\",\"version\":\"" BATON_VERSION "\"}}}");
}

static str params_initialize(void)
{
    return STR("{\"protocolVersion\":\"" LEGACY "\",\"capabilities\":{},\"clientInfo\":"
               "{\"name\":\"baton-doctor\",\"version\":\"" BATON_VERSION "\"}}");
}

/* The result of the response with the last id; an error of it becomes ours. */
static err result_read(struct mcp_probe *t, const char *method, str text, const struct json **out)
{
    const struct json *m, *error;

    err e = json_parse(t->arena, text, NULL, &m);
    if (e)
        return err_within(t->arena, e, "the answer to %s is not JSON", method);
    error = json_get(m, "error");
    if (error)
        return err_new(t->arena, ERR_INTERNAL, "%s was refused: " STR_FMT, method,
                       STR_ARG(json_str(error, "message")));
    *out = json_get(m, "result");
    if (json_int_or(m, "id", 0) != t->next_id || !json_is(*out, JSON_OBJECT))
        return err_new(t->arena, ERR_INTERNAL, "expected the result of %s, found something else",
                       method);
    return NULL;
}

/* ---- HTTP ---- */

/* Of an answer that is a stream of events, the last one's data. */
static str last_data(str body)
{
    str line, rest = STR(""), data = body;

    for (; body.len; body = rest) {
        rest = STR("");
        str_cut(body, '\n', &line, &rest);
        if (str_starts(line, STR("data:")))
            data = str_trim(str_slice(line, 5, line.len));
    }
    return data;
}

static err http_send(struct mcp_probe *t, const char *verb, const char *method, str body,
                     struct response *r)
{
    struct response_field fields[4] = { { STR("Accept"), STR("text/event-stream") } };
    struct call call = {
        .method = verb, .pattern = "/mcp", .fields = fields, .field_count = 1, .body = body
    };

    if (t->modern || t->session.len)
        fields[call.field_count++] =
            (struct response_field){ STR("MCP-Protocol-Version"), str_from(t->version) };
    if (t->modern)
        fields[call.field_count++] = (struct response_field){ STR("Mcp-Method"), str_from(method) };
    if (t->session.len)
        fields[call.field_count++] = (struct response_field){ STR("Mcp-Session-Id"), t->session };
    TRY(caller_request(&t->doctor->caller, t->arena, &call, r));
    if (r->status < 400)
        return NULL;
    return err_within(t->arena, response_error(t->arena, r), "%s", method);
}

/* ---- one question, on either way ---- */

static err request(struct mcp_probe *t, const char *method, str params, const struct json **out)
{
    str text = message(t, method, params, false), line;
    struct response r;

    if (!t->child) {
        TRY(http_send(t, "POST", method, text, &r));
        if (strcmp(method, "initialize") == 0 && !response_value(&r, "Mcp-Session-Id", &t->session))
            t->session = STR("");
        return result_read(t, method, last_data(r.body), out);
    }
    child_send(t->child, arena_printf(t->arena, STR_FMT "\n", STR_ARG(text)));
    while (child_line(t->child, &line)) {
        const struct json *m;
        if (!json_parse(t->arena, line, NULL, &m) && json_get(m, "id") && !json_get(m, "method"))
            return result_read(t, method, line, out);
    }
    return err_new(t->arena, ERR_UNAVAILABLE, "%s was not answered%s", method,
                   t->child->late ? " in time" : "");
}

static err notify(struct mcp_probe *t, const char *method)
{
    str text = message(t, method, STR("{}"), true);
    struct response r;

    if (!t->child)
        return http_send(t, "POST", method, text, &r);
    child_send(t->child, arena_printf(t->arena, STR_FMT "\n", STR_ARG(text)));
    return NULL;
}

/* ---- conversations ---- */

static err tools_count(struct mcp_probe *t, size_t *out)
{
    const struct json *result, *tools;

    TRY(request(t, "tools/list", params_of(t), &result));
    tools = json_get(result, "tools");
    if (!json_is(tools, JSON_ARRAY))
        return err_new(t->arena, ERR_INTERNAL, "tools/list answered without a list of tools");
    *out = tools->len;
    return NULL;
}

static err probe_legacy(struct mcp_probe *t, size_t *tools)
{
    const struct json *result;
    struct response r;

    TRY(request(t, "initialize", params_initialize(), &result));
    if (!str_eq(json_str(result, "protocolVersion"), STR(LEGACY)))
        return err_new(t->arena, ERR_INTERNAL, "initialize answered with another version: " STR_FMT,
                       STR_ARG(json_str(result, "protocolVersion")));
    TRY(notify(t, "notifications/initialized"));
    TRY(tools_count(t, tools));
    TRY(request(t, "ping", STR("{}"), &result));
    return t->child || !t->session.len ? NULL : http_send(t, "DELETE", "DELETE", STR(""), &r);
}

static err probe_modern(struct mcp_probe *t, size_t *tools)
{
    const struct json *result;

    TRY(request(t, "server/discover", params_of(t), &result));
    str versions = json_get(result, "supportedVersions")
                       ? json_printed(t->arena, json_get(result, "supportedVersions"))
                       : STR("none");
    if (!strstr(versions.at, "\"" MODERN "\""))
        return err_new(t->arena, ERR_INTERNAL, "server/discover tells of other versions: " STR_FMT,
                       STR_ARG(versions));
    return tools_count(t, tools);
}

static void probe_report(struct mcp_probe *t, const char *way, err e, size_t tools, int64_t took_ms)
{
    const char *check = arena_printf(t->arena, "mcp %s %s", way, t->version).at;

    if (e)
        doctor_report(t->doctor, DOCTOR_FAIL, check, STR("stop the server, then: baton serve"),
                      STR_FMT, STR_ARG(e->message));
    else if (!tools)
        doctor_report(t->doctor, DOCTOR_WARN, check, STR(""), "this token sees no tool");
    else
        doctor_report(t->doctor, DOCTOR_OK, check, STR(""), "%zu tools, in %lld ms", tools,
                      (long long)took_ms);
}

/* `baton mcp`, as a client would start it; this very program. */
static err child_open(struct doctor *d, struct doctor_child *c)
{
    const char *const argv[] = { program_self(), "mcp", NULL };
    return child_start(d, argv, STDIO_MS, c);
}

static void probe_stdio(struct doctor *d, bool modern)
{
    struct doctor_child child;
    struct mcp_probe t = { d,      d->arena,           modern ? MODERN : LEGACY,
                           modern, .session = STR(""), .child = &child };
    int64_t began_ms = socket_clock_ms(), took_ms;
    size_t tools = 0;
    str errors;

    err e = child_open(d, &child);
    if (!e) {
        e = modern ? probe_modern(&t, &tools) : probe_legacy(&t, &tools);
        took_ms = socket_clock_ms() - began_ms;
        int code = child_end(&child, &errors);
        if (e && errors.len)
            e = err_new(d->arena, e->kind, STR_FMT ": " STR_FMT, STR_ARG(e->message),
                        STR_ARG(errors));
        else if (!e && code != 0)
            e = err_new(d->arena, ERR_INTERNAL, "it did not end with its input: exit code %d",
                        code);
    }
    probe_report(&t, "stdio", e, tools, e ? 0 : took_ms);
}

void doctor_mcp_http(struct doctor *d)
{
    for (int modern = 0; modern <= 1; modern++) {
        struct mcp_probe t = { d, d->arena, modern ? MODERN : LEGACY, modern, .session = STR("") };
        int64_t began_ms = socket_clock_ms();
        size_t tools = 0;
        if (!d->works) {
            doctor_report(d, DOCTOR_SKIP, modern ? "mcp http " MODERN : "mcp http " LEGACY, STR(""),
                          "there is no server to ask");
            continue;
        }
        err e = modern ? probe_modern(&t, &tools) : probe_legacy(&t, &tools);
        probe_report(&t, "http", e, tools, socket_clock_ms() - began_ms);
    }
}

void doctor_mcp_stdio(struct doctor *d)
{
    for (int modern = 0; modern <= 1; modern++)
        if (d->works)
            probe_stdio(d, modern);
        else
            doctor_report(d, DOCTOR_SKIP, modern ? "mcp stdio " MODERN : "mcp stdio " LEGACY,
                          STR("baton doctor --start"), "it would start a server");
}

void doctor_start(struct doctor *d)
{
    struct doctor_child child;
    struct mcp_probe t = { d, d->arena, LEGACY, false, .session = STR(""), .child = &child };
    const struct json *result;
    str errors;

    if (child_open(d, &child))
        return; /* what is missing then, the other checks tell */
    if (request(&t, "initialize", params_initialize(), &result) == NULL)
        (void)notify(&t, "notifications/initialized");
    child_end(&child, &errors);
}
