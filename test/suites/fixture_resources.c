/* fixture_resources.c: the suite's resources, and who hears of changes.
 *
 * The list is longer than a page, so that cursors are of use. */
#include "suites/fixture.h"
#include "mcp/write.h"

#define PAGE 3

// clang-format off
static const struct resource {
    const char *uri, *name, *description, *mime, *text, *blob;
} resources[] = {
    { "test://static-text", "static-text", "A text that never changes.", "text/plain", "This is the content of the static text resource.", NULL },
    { "test://static-binary", "static-binary", "A picture that never changes.", "image/png", NULL, fixture_png },
    { "test://watched-resource", "watched-resource", "A resource to subscribe to.", "text/plain", "Nothing has happened.", NULL },
    { "test://example-resource", "example-resource", "A resource that a prompt embeds.", "text/plain", "Embedded resource content for testing.", NULL },
};
// clang-format on

#define RESOURCES (sizeof resources / sizeof resources[0])

#define TEMPLATE_BEFORE "test://template/"
#define TEMPLATE_AFTER "/data"

static const struct resource *find(str uri)
{
    for (size_t i = 0; i < RESOURCES; i++)
        if (str_eq(str_from(resources[i].uri), uri))
            return &resources[i];
    return NULL;
}

/* The {id} of the template, if it is its address. */
static bool template_id(str uri, str *id)
{
    const str before = STR(TEMPLATE_BEFORE), after = STR(TEMPLATE_AFTER);

    if (uri.len <= before.len + after.len || !str_starts(uri, before) || !str_ends(uri, after))
        return false;
    *id = str_slice(uri, before.len, uri.len - after.len);
    return str_find(*id, '/') == id->len;
}

static void refuse_uri(struct mcp_call *m, str uri)
{
    struct buf data = buf_in(m->arena);
    struct json_writer w = json_writer_to(&data);

    json_write_begin(&w, '{');
    write_text(&w, STR("uri"), uri);
    json_write_end(&w, '}');
    mcp_refuse(m, mcp_is_modern(m->client.version) ? RPC_PARAMS : RPC_RESOURCE_LEGACY,
               buf_str(&data), "there is no resource " STR_FMT ": resources/list has all",
               STR_ARG(uri));
}

/* ---- lists ---- */

void fixture_resources_list(struct mcp_call *m)
{
    size_t from;
    str next;

    if (!fixture_page(m, RESOURCES, PAGE, &from, &next))
        return;
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("resources"), '[');
    for (size_t i = from; i < RESOURCES && i < from + PAGE; i++) {
        json_write_begin(w, '{');
        write_text(w, STR("uri"), str_from(resources[i].uri));
        write_text(w, STR("name"), str_from(resources[i].name));
        write_text(w, STR("description"), str_from(resources[i].description));
        write_text(w, STR("mimeType"), str_from(resources[i].mime));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
    mcp_write_next(w, next);
    mcp_write_cache(m, w, 0, true);
    mcp_result_end(m);
}

void fixture_resources_templates(struct mcp_call *m)
{
    size_t from;
    str next;

    if (!fixture_page(m, 1, PAGE, &from, &next))
        return;
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("resourceTemplates"), '[');
    json_write_begin(w, '{');
    write_text(w, STR("uriTemplate"), STR(TEMPLATE_BEFORE "{id}" TEMPLATE_AFTER));
    write_text(w, STR("name"), STR("template"));
    write_text(w, STR("description"), STR("A document with the id that it was asked for by."));
    write_text(w, STR("mimeType"), STR("application/json"));
    json_write_end(w, '}');
    json_write_end(w, ']');
    mcp_write_cache(m, w, 0, true);
    mcp_result_end(m);
}

/* ---- reading ---- */

static str template_text(struct arena *a, str id)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("id"), id);
    write_bool(&w, STR("templateTest"), true);
    write_text(&w, STR("data"), arena_printf(a, "Data for ID: " STR_FMT, STR_ARG(id)));
    json_write_end(&w, '}');
    return buf_str(&out);
}

static void answer(struct mcp_call *m, str uri, str mime, const char *holds, str text)
{
    struct json_writer *w = mcp_result_begin(m);

    write_begin(w, STR("contents"), '[');
    json_write_begin(w, '{');
    write_text(w, STR("uri"), uri);
    write_text(w, STR("mimeType"), mime);
    write_text(w, str_from(holds), text);
    json_write_end(w, '}');
    json_write_end(w, ']');
    mcp_write_cache(m, w, 0, true);
    mcp_result_end(m);
}

void fixture_resources_read(struct mcp_call *m)
{
    str uri, id;

    if (!mcp_param_str(m, "uri", true, &uri))
        return;
    const struct resource *r = find(uri);
    if (r && r->blob)
        answer(m, uri, str_from(r->mime), "blob", str_from(r->blob));
    else if (r)
        answer(m, uri, str_from(r->mime), "text", str_from(r->text));
    else if (template_id(uri, &id))
        answer(m, uri, STR("application/json"), "text", template_text(m->arena, id));
    else
        refuse_uri(m, uri);
}

/* ---- listening ---- */

static void subscribe(struct mcp_call *m, enum mcp_next next)
{
    str id;

    if (!mcp_param_str(m, "uri", true, &m->uri))
        return;
    if (!find(m->uri) && !template_id(m->uri, &id)) {
        refuse_uri(m, m->uri);
        return;
    }
    mcp_result_begin(m);
    mcp_result_end(m);
    m->next = next;
}

void fixture_resources_subscribe(struct mcp_call *m)
{
    subscribe(m, MCP_SUBSCRIBE);
}

void fixture_resources_unsubscribe(struct mcp_call *m)
{
    subscribe(m, MCP_UNSUBSCRIBE);
}

/* The lists of tools and of prompts are all that ever changes here: other wishes are not taken. */
void fixture_listen(struct mcp_call *m)
{
    const struct json *wishes = json_get(m->message.params, "notifications");
    struct buf out = buf_in(m->arena);
    struct json_writer w = json_writer_to(&out);

    if (!json_is(wishes, JSON_OBJECT)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "params.notifications must be an object");
        return;
    }
    m->listen.tools = json_bool_or(wishes, "toolsListChanged", false);
    m->listen.prompts = json_bool_or(wishes, "promptsListChanged", false);
    rpc_begin_notification(&w, STR("notifications/subscriptions/acknowledged"));
    json_write_begin(&w, '{');
    write_subscription(&w, json_printed(m->arena, m->message.id));
    write_begin(&w, STR("notifications"), '{');
    if (m->listen.tools)
        write_bool(&w, STR("toolsListChanged"), true);
    if (m->listen.prompts)
        write_bool(&w, STR("promptsListChanged"), true);
    json_write_end(&w, '}');
    json_write_end(&w, '}');
    rpc_end(&w);
    m->next = MCP_LISTEN;
    m->status = 200;
    m->answer = buf_str(&out);
}
