/* listen.c: subscriptions/listen, and what those who listen are sent.
 *
 * A listener names what it wants to hear of. What it may not see is left out, and so is what is too
 * much: the first message tells it what was taken. To find out, each thing is asked for as the
 * listener itself would, one after the other. */
#include "mcp/mcp_private.h"
#include "mcp/write.h"

enum { URIS_MAX = 32, TASKS_MAX = 32 };

/* What is wanted, and how far it was looked at. What is there is moved to the front. */
struct hearing {
    str uris[URIS_MAX], tasks[TASKS_MAX];
    size_t uri_wanted, uri_at, uri_kept;
    size_t task_wanted, task_at, task_kept;
};

/* ---- what is wanted ---- */

static bool refuse_filter(struct mcp_call *m, const char *name, const char *kind)
{
    mcp_refuse(m, RPC_PARAMS, STR(""), "params.notifications.%s must be %s", name, kind);
    return false;
}

static bool read_filter(struct mcp_call *m, const struct json *wishes, const char *name, bool *out)
{
    const struct json *wish = json_get(wishes, name);

    *out = json_is(wish, JSON_BOOL) && wish->len;
    return !wish || json_is(wish, JSON_BOOL) || refuse_filter(m, name, "true or false");
}

/* An array of strings, cut to `most`. */
static bool read_wishes(struct mcp_call *m, const struct json *wishes, const char *name, str *out,
                        size_t most, size_t *count)
{
    const struct json *all = json_get(wishes, name);
    bool fits = !all || json_is(all, JSON_ARRAY);

    *count = 0;
    for (uint32_t i = 0; all && fits && i < all->len; i++) {
        fits = json_is(&all->items[i], JSON_STRING);
        if (fits && *count < most)
            out[(*count)++] = json_text(&all->items[i]);
    }
    return fits || refuse_filter(m, name, "an array of strings");
}

/* ---- what is taken ---- */

static void write_taken(struct mcp_call *m, struct json_writer *w, const struct hearing *h)
{
    const struct json *wishes = json_get(m->message.params, "notifications");

    write_begin(w, STR("notifications"), '{');
    if (m->listen.tools)
        write_bool(w, STR("toolsListChanged"), true);
    if (m->listen.resources)
        write_bool(w, STR("resourcesListChanged"), true);
    if (json_get(wishes, "resourceSubscriptions"))
        write_texts(w, STR("resourceSubscriptions"), h->uris, h->uri_kept);
    if (json_get(wishes, "taskIds"))
        write_texts(w, STR("taskIds"), h->tasks, h->task_kept);
    json_write_end(w, '}');
}

static void acknowledge(struct mcp_call *m)
{
    const struct hearing *h = m->own;
    struct buf out = buf_in(m->arena);
    struct json_writer w = json_writer_to(&out);

    rpc_begin_notification(&w, STR("notifications/subscriptions/acknowledged"));
    json_write_begin(&w, '{');
    write_subscription(&w, json_printed(m->arena, m->message.id));
    write_taken(m, &w, h);
    json_write_end(&w, '}');
    rpc_end(&w);
    m->listen.uris = h->uris;
    m->listen.uri_count = h->uri_kept;
    m->listen.tasks = h->tasks;
    m->listen.task_count = h->task_kept;
    m->next = MCP_LISTEN;
    m->status = 200;
    m->answer = buf_str(&out);
}

/* ---- looking ---- */

static void look_on(struct mcp_call *m);

/* Whether what was asked for is there; other errors end it all, and are the answer. */
static bool is_there(struct mcp_call *m, const struct command *done, bool *there)
{
    *there = !done->error;
    if (!done->error || error_says_unknown(done->error) || done->error->kind == ERR_FORBIDDEN)
        return true;
    mcp_refuse_error(m, done->error, RPC_INTERNAL, STR(""));
    return false;
}

static void uri_done(struct mcp_call *m, const struct command *done)
{
    struct hearing *h = m->own;
    bool there;

    if (!is_there(m, done, &there))
        return;
    if (there)
        h->uris[h->uri_kept++] = h->uris[h->uri_at];
    h->uri_at++;
    look_on(m);
}

static void task_done(struct mcp_call *m, const struct command *done)
{
    struct hearing *h = m->own;
    bool there;

    if (!is_there(m, done, &there))
        return;
    if (there)
        h->tasks[h->task_kept++] = h->tasks[h->task_at];
    h->task_at++;
    look_on(m);
}

static void look_on(struct mcp_call *m)
{
    struct hearing *h = m->own;
    struct json input = json_object();
    int64_t version;
    str id;

    /* A version never changes, so nobody hears of one. */
    while (h->uri_at < h->uri_wanted &&
           !(state_uri_read(h->uris[h->uri_at], &id, &version) && !version))
        h->uri_at++;
    if (h->uri_at < h->uri_wanted) {
        json_put(m->arena, &input, STR("state_id"), json_string(id));
        mcp_ask_with(m, "state.schema", input, uri_done);
    } else if (h->task_at < h->task_wanted) {
        json_put(m->arena, &input, STR("run_id"), json_string(h->tasks[h->task_at]));
        mcp_ask_with(m, "run.get", input, task_done);
    } else {
        acknowledge(m);
    }
}

/* The list of prompts never changes, so that wish is not taken. */
void mcp_listen(struct mcp_call *m)
{
    const struct json *wishes = json_get(m->message.params, "notifications");
    struct hearing *h = ARENA_NEW(m->arena, struct hearing);
    bool prompts;

    if (!json_is(wishes, JSON_OBJECT)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.notifications must be an object");
        return;
    }
    m->own = h;
    if (!read_filter(m, wishes, "toolsListChanged", &m->listen.tools) ||
        !read_filter(m, wishes, "promptsListChanged", &prompts) ||
        !read_filter(m, wishes, "resourcesListChanged", &m->listen.resources) ||
        !read_wishes(m, wishes, "resourceSubscriptions", h->uris, URIS_MAX, &h->uri_wanted) ||
        !read_wishes(m, wishes, "taskIds", h->tasks, TASKS_MAX, &h->task_wanted))
        return;
    if (!json_get(wishes, "taskIds") || task_check_client(m))
        look_on(m);
}

/* ---- what listeners are sent ---- */

/* A notification with these params, of which there may be none. */
static str notification(struct arena *a, str method, str uri, str subscription)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    rpc_begin_notification(&w, method);
    json_write_begin(&w, '{');
    if (subscription.len)
        write_subscription(&w, subscription);
    if (uri.len)
        write_text(&w, STR("uri"), uri);
    json_write_end(&w, '}');
    rpc_end(&w);
    return buf_str(&out);
}

str mcp_list_changed(struct arena *a, const char *what, str subscription)
{
    return notification(a, arena_printf(a, "notifications/%s/list_changed", what), STR(""),
                        subscription);
}

str mcp_resource_updated(struct arena *a, str uri, str subscription)
{
    return notification(a, STR("notifications/resources/updated"), uri, subscription);
}

str mcp_listen_over(struct arena *a, const struct json *id)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    rpc_begin_result(&w, id);
    json_write_begin(&w, '{');
    write_text(&w, STR("resultType"), STR("complete"));
    write_subscription(&w, json_printed(a, id));
    json_write_end(&w, '}');
    rpc_end(&w);
    return buf_str(&out);
}
