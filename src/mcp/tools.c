/* tools.c: tools/list: the operation table as an agent sees it.
 *
 * An agent pays for this list with every turn. So a tool has of its operation's input what an agent
 * needs, in few words, and of its output what it tells. What each kind of token sees is printed once
 * and never changes. */
#include "mcp/tools.h"

#include <assert.h>

#include "mcp/write.h"

enum { PAGE = 50 };

struct tool_list {
    struct tool *tools; /* in the order of the table */
    size_t count;
};

/* ---- schemas, reduced ---- */

static bool names_it(const struct json *list, str name)
{
    for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->len; i++)
        if (json_is(&list->items[i], JSON_STRING) && str_eq(json_text(&list->items[i]), name))
            return true;
    return false;
}

/* The type that a value has when it is not null; empty: it may have several. A choice of words is
 * text. */
static str type_of(const struct json *schema)
{
    const struct json *type = json_get(schema, "type");
    str found = STR("");
    int count = 0;

    if (json_is(type, JSON_STRING))
        return json_text(type);
    for (uint32_t i = 0; json_is(type, JSON_ARRAY) && i < type->len; i++) {
        if (str_eq(json_text(&type->items[i]), STR("null")))
            continue;
        found = json_text(&type->items[i]);
        count++;
    }
    return count == 1 ? found : json_get(schema, "enum") ? STR("string") : STR("");
}

/* Of several the first: a model is told one, and the others are taken as well. */
static str field_type(const struct json *schema)
{
    const struct json *first = json_at(json_get(schema, "type"), 0);
    str type = type_of(schema);

    return type.len || !json_is(first, JSON_STRING) ? type : json_text(first);
}

/* A field that takes any value takes an object, nearly always, and models that are not told so write
 * it as a string. An array must say what is in it, or some clients refuse the tool. */
static void write_field(struct json_writer *w, const struct json *field, str about)
{
    const struct json *choices = json_get(field, "enum"), *items = json_get(field, "items");
    str type = field_type(field);

    json_write_begin(w, '{');
    write_text(w, STR("type"), type.len ? type : STR("object"));
    if (choices)
        write_value(w, STR("enum"), choices);
    if (str_eq(type, STR("array"))) {
        write_begin(w, STR("items"), '{');
        write_text(w, STR("type"), items ? field_type(items) : STR("object"));
        json_write_end(w, '}');
    }
    if (about.len)
        write_text(w, STR("description"), about);
    json_write_end(w, '}');
}

static void write_required(struct json_writer *w, const struct json *required,
                           const struct json *shown, const char *implied)
{
    bool any = false;

    for (uint32_t i = 0; json_is(required, JSON_ARRAY) && i < required->len; i++) {
        str name = json_text(&required->items[i]);
        if (!json_find(shown, name) || str_eq(name, str_from(implied)))
            continue;
        if (!any)
            write_begin(w, STR("required"), '[');
        any = true;
        json_write_str(w, name);
    }
    if (any)
        json_write_end(w, ']');
}

/* Without what combines schemas at the top: some models take no tool that has that. The operation
 * checks it all. */
static void write_input(struct json_writer *w, const struct op *op, const struct json *input,
                        const struct json *shows)
{
    const struct json *fields = json_get(input, "properties");

    write_begin(w, STR("inputSchema"), '{');
    write_text(w, STR("type"), STR("object"));
    write_begin(w, STR("properties"), '{');
    for (uint32_t i = 0; i < shows->len; i++) {
        str name = json_name(&shows->members[i]);
        json_write_name(w, name);
        write_field(w, json_find(fields, name), json_text(&shows->members[i].value));
    }
    json_write_end(w, '}');
    write_required(w, json_get(input, "required"), shows, op->implied);
    json_write_end(w, '}');
}

/* What is nullable is left out when it is null, so it is not required, and never null. */
static void write_output(struct json_writer *w, const struct tool *t, const struct json *output)
{
    const struct json *members = json_get(output, "properties");
    const struct json *required = json_get(output, "required");

    write_begin(w, STR("outputSchema"), '{');
    write_text(w, STR("type"), STR("object"));
    write_begin(w, STR("properties"), '{');
    for (size_t i = 0; i < t->output_count; i++) {
        str type = type_of(json_find(members, t->tool_output[i].name));
        write_begin(w, t->tool_output[i].name, '{');
        if (type.len)
            write_text(w, STR("type"), type);
        json_write_end(w, '}');
    }
    json_write_end(w, '}');
    write_begin(w, STR("required"), '[');
    for (size_t i = 0; i < t->output_count; i++)
        if (!t->tool_output[i].nullable && names_it(required, t->tool_output[i].name))
            json_write_str(w, t->tool_output[i].name);
    json_write_end(w, ']');
    json_write_end(w, '}');
}

/* ---- a tool ---- */

/* What its route says of it: PUT and DELETE take something away, and may be repeated. */
static void write_annotations(struct json_writer *w, const struct op *op)
{
    str route = str_from(op->http);
    bool takes = str_starts(route, STR("PUT ")) || str_starts(route, STR("DELETE "));

    write_begin(w, STR("annotations"), '{');
    write_bool(w, STR("readOnlyHint"), op->effect == OP_READS);
    if (op->effect == OP_WRITES) {
        write_bool(w, STR("destructiveHint"), takes);
        write_bool(w, STR("idempotentHint"), takes);
    }
    write_bool(w, STR("openWorldHint"), false);
    json_write_end(w, '}');
}

static const struct json *parsed(struct arena *a, const char *text)
{
    const struct json *json;
    err e = json_parse(a, str_from(text), NULL, &json);

    assert(!e); /* op_table_new has read it */
    (void)e;
    return json;
}

static str tool_name(struct arena *a, const struct op *op)
{
    str name = arena_copy(a, str_from(op->tool ? op->tool : op->name));

    for (char *at = (char *)name.at; (at = strchr(at, '.'));)
        *at = '_';
    return name;
}

/* What models are told is text, of which nothing is promised: they read it. */
static str tool_listed(struct arena *a, const struct tool *t, const struct json *shows,
                       bool promises)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);

    json_write_begin(&w, '{');
    write_text(&w, STR("name"), t->name);
    write_text(&w, STR("description"), str_from(t->op->hint ? t->op->hint : t->op->summary));
    write_input(&w, t->op, parsed(a, t->op->input), shows);
    if (promises)
        write_output(&w, t, parsed(a, t->op->output));
    write_annotations(&w, t->op);
    write_begin(&w, STR("_meta"), '{');
    write_bool(&w, STR("anthropic/alwaysLoad"), true); /* else its client hides it until asked */
    json_write_end(&w, '}');
    json_write_end(&w, '}');
    return buf_str(&out);
}

static void tool_make(struct arena *a, const struct op_table *table, const struct op *op,
                      struct tool *out)
{
    assert(op->tool_input && op->tool_output); /* what is a tool says what it has */
    *out = (struct tool){ .op = op,
                          .name = tool_name(a, op),
                          .is_capped = op_field(table, op, STR("max_chars")),
                          .starts = op_field(table, op, STR("execution_mode")) };
    out->output_count =
        projection_make(a, parsed(a, op->tool_output), parsed(a, op->output), &out->tool_output);
    out->listed = tool_listed(a, out, parsed(a, op->tool_input), true);
    out->listed_short = tool_listed(a, out, parsed(a, op->tool_input), false);
}

struct tool_list *tools_new(struct arena *a, const struct op_table *t)
{
    struct tool_list *list = ARENA_NEW(a, struct tool_list);

    list->tools = ARENA_ARRAY(a, struct tool, op_count(t));
    for (size_t i = 0; i < op_count(t); i++)
        if (op_at(t, i)->on & ON_MCP)
            tool_make(a, t, op_at(t, i), &list->tools[list->count++]);
    return list;
}

/* ---- who sees it ---- */

bool tool_is_read(const struct actor *actor)
{
    enum op_tier tier = actor_tier(actor);

    return tier == TIER_CHILD || tier == TIER_ROOT;
}

bool tool_is_structured(const struct mcp_call *m)
{
    return !tool_is_read(m->actor) && m->client.version >= MCP_2025_06_18;
}

static bool is_seen(const struct op *op, enum op_tier tier)
{
    switch (tier) {
    case TIER_CHILD:
    case TIER_ROOT: return (op->by & BY_SESSION) && op->tier <= tier;
    case TIER_OPERATOR: return op->by & BY_OPERATOR;
    case TIER_VIEWER: return (op->by & BY_VIEWER) && op->effect == OP_READS;
    case TIER_NONE: break;
    }
    return false;
}

const struct tool *tool_seen(const struct mcp *m, const struct actor *actor, str name)
{
    enum op_tier tier = actor_tier(actor);

    for (size_t i = 0; i < m->tools->count; i++)
        if (str_eq(m->tools->tools[i].name, name))
            return is_seen(m->tools->tools[i].op, tier) ? &m->tools->tools[i] : NULL;
    return NULL;
}

const struct op *tool_find(const struct mcp *m, const struct actor *actor, str name)
{
    const struct tool *t = tool_seen(m, actor, name);

    return t ? t->op : NULL;
}

const struct tool *tool_of(const struct mcp *m, const char *op)
{
    for (size_t i = 0; i < m->tools->count; i++)
        if (str_eq(str_from(m->tools->tools[i].op->name), str_from(op)))
            return &m->tools->tools[i];
    return NULL;
}

/* ---- tools/list ---- */

enum { CHILD_TOOLS = 12, ROOT_TOOLS = 20 };

/* What a list that is too long loses, in this order; all of it can be called as before. */
static const char *const lost[] = {
    "validate_prerequisites", "list_agent_blueprints", "delete_all_agent_sessions",
    "list_workflows",         "cancel_workflow",       "resume_workflow",
};

/* Which of them somebody's list has: a flag for each. */
static bool *choose(struct mcp_call *m, const bool used[GROUPS])
{
    const struct tool_list *all = m->mcp->tools;
    enum op_tier tier = actor_tier(m->actor);
    size_t count = 0, most = tier == TIER_CHILD ? CHILD_TOOLS : ROOT_TOOLS;
    bool *shown = arena_zero(m->arena, all->count * sizeof *shown);

    for (size_t i = 0; i < all->count; i++) {
        shown[i] = is_seen(all->tools[i].op, tier) && used[all->tools[i].op->group];
        count += shown[i];
    }
    for (size_t k = 0; k < sizeof lost / sizeof *lost && count > most; k++)
        for (size_t i = 0; i < all->count; i++)
            if (shown[i] && str_eq(all->tools[i].name, str_from(lost[k]))) {
                shown[i] = false;
                count--;
            }
    return shown;
}

/* The place behind the tool that the last page ended with; false: there is no such tool. */
static bool page_begin(struct mcp_call *m, const bool *shown, size_t *out)
{
    const struct tool_list *all = m->mcp->tools;
    str after;

    *out = 0;
    if (!mcp_cursor(m, &after))
        return false;
    if (!after.len)
        return true;
    while (*out < all->count && !(shown[*out] && str_eq(all->tools[*out].name, after)))
        ++*out;
    if ((*out)++ < all->count)
        return true;
    mcp_refuse(m, RPC_PARAMS, STR(""),
               "params.cursor is none of this list: begin again without it");
    return false;
}

static void answer_list(struct mcp_call *m, const bool used[GROUPS])
{
    enum { KEPT_MS = 5 * 60 * 1000 };
    const struct tool_list *all = m->mcp->tools;
    const bool *shown = choose(m, used);
    str last = STR(""), next = STR("");
    size_t i, written = 0;

    if (!page_begin(m, shown, &i))
        return;
    struct json_writer *w = mcp_result_begin(m);
    write_begin(w, STR("tools"), '[');
    for (; i < all->count && !next.len; i++) {
        const struct tool *t = &all->tools[i];
        if (!shown[i])
            continue;
        if (written == PAGE)
            next = last;
        else
            json_write_printed(w, tool_is_read(m->actor) ? t->listed_short : t->listed);
        last = t->name;
        written++;
    }
    json_write_end(w, ']');
    mcp_write_next(w, next);
    mcp_write_cache(m, w, KEPT_MS, false);
    mcp_result_end(m);
}

/* What could not be asked is not listed: a list is better than none. */
static void used_asked(struct mcp_call *m, const struct command *done)
{
    bool used[GROUPS] = { [GROUP_NONE] = true };

    if (!done->error) {
        const struct json *answer = mcp_answer_json(m, done);
        used[GROUP_PHASES] = json_bool_or(answer, "phases", false);
        used[GROUP_STEPS] = json_bool_or(answer, "steps", false);
    }
    answer_list(m, used);
}

/* A child's list is that of what its run is for; others see what their project uses. */
void mcp_tools_list(struct mcp_call *m)
{
    enum op_tier tier = actor_tier(m->actor);
    str by = actor_records_by(m->actor);
    bool used[GROUPS] = { [GROUP_NONE] = true };

    if (tier != TIER_CHILD && tier != TIER_NONE) {
        mcp_ask_with(m, "workflow.used", json_object(), used_asked);
        return;
    }
    for (size_t i = 0; i < m->mcp->tools->count && by.len; i++)
        if (str_eq(m->mcp->tools->tools[i].name, by))
            used[m->mcp->tools->tools[i].op->group] = true;
    answer_list(m, used);
}
