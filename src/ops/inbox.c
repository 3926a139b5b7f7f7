/* inbox.c: all that waits for a person, whatever it is, as one list.
 *
 * What can wait is a table of kinds: how those of a kind are found, what there is to say of one, and what
 * can be decided. One more kind is one more row. Ids tell the kinds apart by what they begin with, so the
 * list is in the order of ids, kind after kind. */
#include "base/utf8.h"
#include "core/permission.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/write.h"

enum { DECISIONS_MAX = 4 };

struct kind;

/* Something that waits, or has waited. */
struct entry {
    const struct kind *kind;
    str id, title, status, why;
    bool waits, chooses; /* chooses: approving it names a variant */
    str session_id, session_name, execution_id, workflow, step; /* who; empty: nobody */
    int64_t since_ms, until_ms;                                 /* 0: any time */
    str if_nobody;                                              /* has decided by then */
    str content;                                                /* printed JSON object */
};

struct kind {
    const char *name, *prefix;
    const char *decisions[DECISIONS_MAX];
    const char *fields[8]; /* of the input, those that it takes beside the decision */
    err (*list)(struct tx *tx, str after, int64_t limit, struct entry *out, size_t *count);
    err (*get)(struct tx *tx, str id, struct entry *out);
    err (*decide)(struct tx *tx, const struct input *in, str id, str decision);
};

/* ---- approvals of steps ---- */

static void approval_entry(struct tx *tx, const struct approval *p, struct entry *out)
{
    bool choose = str_eq(p->kind, STR("select_variant"));

    *out = (struct entry){
        .id = p->id,
        .title = arena_printf(tx->arena, "%s " STR_FMT, choose ? "choose a variant of" : "approve",
                              STR_ARG(p->title)),
        .status = team_name(&approval_words, (int)p->status),
        .why = arena_printf(tx->arena,
                            "step " STR_FMT " of " STR_FMT
                            " is done, and what comes after it waits for you",
                            STR_ARG(p->node), STR_ARG(p->workflow)),
        .waits = p->status == APPROVAL_WAITING,
        .chooses = choose,
        .session_id = p->session_id,
        .execution_id = p->execution_id,
        .workflow = p->workflow,
        .step = p->node,
        .since_ms = p->created_at_ms,
        .until_ms = p->deadline_ms,
        .if_nobody = !p->deadline_ms || !p->fallback.len   ? STR("it waits on")
                     : str_eq(p->fallback, STR("approve")) ? STR("it counts as approved")
                     : p->on_reject.len
                         ? arena_printf(tx->arena,
                                        "it counts as rejected, and step " STR_FMT " is done anew",
                                        STR_ARG(p->on_reject))
                         : STR("it counts as rejected, and the execution fails"),
        .content = arena_printf(tx->arena,
                                "{\"content\":" STR_FMT ",\"digest\":\"" STR_FMT
                                "\",\"options\":" STR_FMT "}",
                                STR_ARG(p->content), STR_ARG(p->digest), STR_ARG(p->options)),
    };
}

static err approvals_list(struct tx *tx, str after, int64_t limit, struct entry *out, size_t *count)
{
    struct approval_filter f = { .status = STR("waiting"), .after = after, .limit = limit };
    const struct approval *all;

    TRY(approval_list(tx, &f, &all, count));
    for (size_t i = 0; i < *count; i++)
        approval_entry(tx, &all[i], &out[i]);
    return NULL;
}

static err approvals_get(struct tx *tx, str id, struct entry *out)
{
    struct approval p;

    TRY(approval_get(tx, id, &p));
    approval_entry(tx, &p, out);
    return NULL;
}

static err approvals_decide(struct tx *tx, const struct input *in, str id, str decision)
{
    enum approval_status status = APPROVAL_WAITING;
    struct execution e;
    struct approval p;

    (void)approval_status_of(decision, &status);
    struct approval_decision d = approval_decision_in(in, status);
    TRY(approval_decision_check(tx, &d));
    return approval_decide(tx, id, &d, &p, &e);
}

/* ---- incidents ---- */

static void incident_entry(struct tx *tx, const struct incident *i, struct entry *out)
{
    struct json content = json_object();

    json_put(tx->arena, &content, STR("kind"), json_string(i->kind));
    json_put(tx->arena, &content, STR("message"), json_string(i->message));
    *out = (struct entry){
        .id = i->id,
        .title = arena_printf(tx->arena, STR_FMT " of " STR_FMT " stands still",
                              STR_ARG(i->node.len ? i->node : STR("all")), STR_ARG(i->workflow)),
        .status = team_name(&incident_words, (int)i->status),
        .why = i->message,
        .waits = i->status == INCIDENT_OPEN,
        .execution_id = i->execution_id,
        .workflow = i->workflow,
        .step = i->node,
        .since_ms = i->raised_at_ms,
        .if_nobody = STR("it stands still"),
        .content = json_printed(tx->arena, &content),
    };
}

static err incidents_list(struct tx *tx, str after, int64_t limit, struct entry *out, size_t *count)
{
    struct incident_filter f = { .status = STR("open"), .after = after, .limit = limit };
    const struct incident *all;

    TRY(incident_list(tx, &f, &all, count));
    for (size_t i = 0; i < *count; i++)
        incident_entry(tx, &all[i], &out[i]);
    return NULL;
}

static err incidents_get(struct tx *tx, str id, struct entry *out)
{
    struct incident i;

    TRY(incident_get(tx, id, &i));
    incident_entry(tx, &i, out);
    return NULL;
}

static err incidents_decide(struct tx *tx, const struct input *in, str id, str decision)
{
    struct execution e;
    struct incident i;

    (void)decision;
    return incident_resolve(tx, id, input_json(in, "variables"), &i, &e);
}

/* ---- permissions ---- */

static void permission_entry(struct tx *tx, const struct permission *p, struct entry *out)
{
    const struct json tool = json_string(p->tool);

    *out = (struct entry){
        .id = p->id,
        .title = arena_printf(tx->arena, STR_FMT " wants to use " STR_FMT, STR_ARG(p->session_name),
                              STR_ARG(p->tool)),
        .status = team_name(&permission_words, (int)p->status),
        .why = STR("its role may use that tool when a person has said so"),
        .waits = p->status == PERMISSION_WAITING,
        .session_id = p->session_id,
        .session_name = p->session_name,
        .since_ms = p->created_at_ms,
        .until_ms = p->created_at_ms + team_rules_of(tx)->permission_ms,
        .if_nobody = STR("it counts as rejected, and the agent is told so"),
        .content = arena_printf(tx->arena, "{\"tool_name\":" STR_FMT ",\"tool_input\":" STR_FMT "}",
                                STR_ARG(json_printed(tx->arena, &tool)), STR_ARG(p->input)),
    };
}

static err permissions_list(struct tx *tx, str after, int64_t limit, struct entry *out,
                            size_t *count)
{
    struct permission_filter f = { .status = STR("waiting"), .after = after, .limit = limit };
    const struct permission *all;

    TRY(permission_list(tx, &f, &all, count));
    for (size_t i = 0; i < *count; i++)
        permission_entry(tx, &all[i], &out[i]);
    return NULL;
}

static err permissions_get(struct tx *tx, str id, struct entry *out)
{
    struct permission p;

    TRY(permission_get(tx, id, &p));
    permission_entry(tx, &p, out);
    return NULL;
}

static err permissions_decide(struct tx *tx, const struct input *in, str id, str decision)
{
    struct permission p;

    return permission_resolve(tx, id, str_eq(decision, STR("approve")), input_str(in, "reason"),
                              &p);
}

/* ---- all of them ---- */

// clang-format off
/* In the order of what their ids begin with. */
static const struct kind kinds[] = {
    { "approval", "apr_", { "approve", "reject", "rework" },
      { "step", "reason", "selected_variant", "modifications", "digest", "channel" },
      approvals_list, approvals_get, approvals_decide },
    { "incident", "inc_", { "retry" }, { "variables", "channel" },
      incidents_list, incidents_get, incidents_decide },
    { "permission", "prm_", { "approve", "reject" }, { "reason", "channel" },
      permissions_list, permissions_get, permissions_decide },
};

/* Words of other places that mean the same. */
static const struct {
    const char *word, *means;
} words[] = {
    { "allow", "approve" }, { "deny", "reject" }, { "resolve", "retry" },
};
// clang-format on

enum { KINDS = sizeof kinds / sizeof *kinds };

static err kind_find(struct tx *tx, str id, const struct kind **out)
{
    struct buf prefixes = buf_in(tx->arena);

    for (size_t i = 0; i < KINDS; i++) {
        *out = &kinds[i];
        if (str_starts(id, str_from(kinds[i].prefix)))
            return NULL;
        buf_printf(&prefixes, "%s%s…", i ? ", " : "", kinds[i].prefix);
    }
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "there is nothing like " STR_FMT " in the inbox: expected an id as inbox.list "
                   "gives it, " STR_FMT,
                   STR_ARG(utf8_cut(id, 80)), STR_ARG(buf_str(&prefixes)));
}

/* What begins after an id, among those of a kind; false: nothing of this kind does. */
static bool begins_after(const struct kind *k, str after, str *out)
{
    str prefix = str_from(k->prefix);

    *out = str_starts(after, prefix) ? after : STR("");
    return out->len || str_compare(after, prefix) < 0;
}

static void write_decisions(struct tx *tx, struct json_writer *w, const struct entry *e)
{
    write_begin(w, STR("decisions"), '[');
    for (size_t i = 0; e->waits && i < DECISIONS_MAX && e->kind->decisions[i]; i++) {
        bool chooses = e->chooses && i == 0;
        json_write_begin(w, '{');
        write_text(w, STR("decision"), str_from(e->kind->decisions[i]));
        write_text(w, STR("command"),
                   arena_printf(tx->arena, "baton inbox %s " STR_FMT "%s", e->kind->decisions[i],
                                STR_ARG(e->id), chooses ? " --variant NAME" : ""));
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}

static void write_entry(struct tx *tx, struct json_writer *w, const struct entry *e)
{
    json_write_begin(w, '{');
    write_text(w, STR("id"), e->id);
    write_text(w, STR("kind"), str_from(e->kind->name));
    write_text(w, STR("title"), e->title);
    write_text(w, STR("status"), e->status);
    write_bool(w, STR("waits"), e->waits);
    write_begin(w, STR("who"), '{');
    write_or_null(w, STR("session_id"), e->session_id);
    write_or_null(w, STR("session_name"), e->session_name);
    write_or_null(w, STR("execution_id"), e->execution_id);
    write_or_null(w, STR("workflow"), e->workflow);
    write_or_null(w, STR("step"), e->step);
    json_write_end(w, '}');
    write_text(w, STR("why"), e->why);
    write_time(w, STR("since"), e->since_ms);
    write_time_or_null(w, STR("until"), e->until_ms);
    write_text(w, STR("if_nobody"), e->if_nobody);
    write_stored(tx, w, STR("content"), THING(e->kind->name, e->id), e->content);
    write_decisions(tx, w, e);
    json_write_end(w, '}');
}

static err inbox_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    int64_t rows = page_rows(in);
    struct entry *all = ARENA_ARRAY(tx->arena, struct entry, (size_t)rows);
    str kind = input_str(in, "kind"), after;
    size_t count = 0, found;

    for (size_t i = 0; i < KINDS && (int64_t)count < rows; i++) {
        if ((kind.len && !str_eq(kind, str_from(kinds[i].name))) ||
            !begins_after(&kinds[i], input_str(in, "after"), &after))
            continue;
        TRY(kinds[i].list(tx, after, rows - (int64_t)count, &all[count], &found));
        for (size_t k = 0; k < found; k++)
            all[count + k].kind = &kinds[i];
        count += found;
    }
    size_t shown = page_begin(in, out, STR("entries"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_entry(tx, &out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

static err entry_get(struct tx *tx, const struct kind *k, str id, struct answer *out)
{
    struct entry e;

    TRY(k->get(tx, id, &e));
    e.kind = k;
    write_entry(tx, &out->json, &e);
    return NULL;
}

static err inbox_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct kind *k;

    TRY(kind_find(tx, input_str(in, "id"), &k));
    return entry_get(tx, k, input_str(in, "id"), out);
}

static bool is_one_of(const char *const *list, size_t count, str word)
{
    for (size_t i = 0; i < count && list[i]; i++)
        if (str_eq(word, str_from(list[i])))
            return true;
    return false;
}

/* A text or an object without anything in it says nothing. */
static bool says(const struct json *value)
{
    return (value->kind != JSON_STRING && value->kind != JSON_OBJECT) || value->len;
}

/* What a kind does not take is not left out silently. */
static err fields_check(struct tx *tx, const struct kind *k, const struct input *in)
{
    for (uint32_t i = 0; i < in->json->len; i++) {
        str name = json_name(&in->json->members[i]);
        if (!str_eq(name, STR("id")) && !str_eq(name, STR("decision")) &&
            says(&in->json->members[i].value) &&
            !is_one_of(k->fields, sizeof k->fields / sizeof *k->fields, name))
            return err_new(tx->arena, ERR_INVALID, "\"" STR_FMT "\" is not of the kind %s",
                           STR_ARG(name), k->name);
    }
    return NULL;
}

static err decision_find(struct tx *tx, const struct kind *k, str word, str *out)
{
    struct buf names = buf_in(tx->arena);

    *out = word;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(word, str_from(words[i].word)))
            *out = str_from(words[i].means);
    if (is_one_of(k->decisions, DECISIONS_MAX, *out))
        return NULL;
    for (size_t i = 0; i < DECISIONS_MAX && k->decisions[i]; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", k->decisions[i]);
    return err_new(tx->arena, ERR_INVALID,
                   "expected a decision on this %s, one of: " STR_FMT ", found \"" STR_FMT "\"",
                   k->name, STR_ARG(buf_str(&names)), STR_ARG(word));
}

static err inbox_decide_op(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct kind *k;
    str id = input_str(in, "id"), decision;

    TRY(kind_find(tx, id, &k));
    TRY(decision_find(tx, k, input_str(in, "decision"), &decision));
    TRY(fields_check(tx, k, in));
    TRY(k->decide(tx, in, id, decision));
    return entry_get(tx, k, id, out);
}

// clang-format off

#define INBOX_ID JSON("id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "What waits, by the id that inbox.list gives it." })

#define ENTRY_SHAPE SHAPE(JSON("id", "kind", "title", "status", "waits", "who", "why", "since", "until", "if_nobody", "content", "decisions"), JSON( \
    "id": { "type": "string", "description": "What inbox.decide takes." },                         \
    "kind": { "enum": ["approval", "incident", "permission"], "description": "approval: a step was done, and you judge it; incident: an execution stands still until you have helped; permission: an agent wants to use a tool." }, \
    "title": { "type": "string", "description": "What is asked, in a few words." },                \
    "status": { "type": "string", "description": "How it stands, in the words of its kind." },     \
    "waits": { "type": "boolean", "description": "Whether it can still be decided." },             \
    "why": { "type": "string", "description": "Why you are asked." },                              \
    "since": { "type": "string", "format": "date-time", "description": "Since when it waits." },   \
    "until": { "type": ["string", "null"], "format": "date-time", "description": "By when it is to be decided; null: any time." }, \
    "if_nobody": { "type": "string", "description": "What happens when nobody has decided by then." }, \
    "content": { "type": "object", "description": "What there is to judge: of an approval content, digest and options; of an incident kind and message; of a permission tool_name and tool_input." }) \
    ",\"who\":" SHAPE("", JSON(                                                                    \
        "session_id": { "type": ["string", "null"], "description": "The session that waits for it; null: none." }, \
        "session_name": { "type": ["string", "null"], "description": "How people call it; null: none, or see session.get." }, \
        "execution_id": { "type": ["string", "null"], "description": "The execution that waits for it; null: none." }, \
        "workflow": { "type": ["string", "null"], "description": "The name of its workflow; null: none." }, \
        "step": { "type": ["string", "null"], "description": "Where it stands; null: nowhere in particular." })) "," \
    SHAPE_LIST("decisions", "What you can decide; none when it does not wait any more.", SHAPE(JSON("decision", "command"), JSON( \
        "decision": { "type": "string", "description": "What inbox.decide takes." },               \
        "command": { "type": "string", "description": "The command that does it." }))))

static const struct op ops[] = {
    {
        .name = "inbox.list", .http = "GET /inbox", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "List all that waits for a person, by id: approvals of steps, incidents, permissions.",
        .input = FIELDS("", JSON(
            "kind": { "enum": ["approval", "incident", "permission"], "description": "Only those of this kind." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("entries"), SHAPE_LIST("entries", "A page of them.", ENTRY_SHAPE) "," PAGE_NEXT),
        .run = inbox_list_op,
    },
    {
        .name = "inbox.get", .http = "GET /inbox/{id}", .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR | BY_VIEWER,
        .summary = "Show what waits for a person, with all that there is to judge; also when it was decided.",
        .input = FIELDS(JSON("id"), INBOX_ID), .output = ENTRY_SHAPE, .run = inbox_get_op,
    },
    {
        .name = "inbox.decide", .http = "POST /inbox/{id}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Decide what waits for a person, whatever it is.",
        .input = FIELDS(JSON("id", "decision"), INBOX_ID "," JSON(
            "decision": { "enum": ["approve", "reject", "rework", "retry", "allow", "deny", "resolve"], "description": "One of its decisions, as inbox.list names them; allow and deny are approve and reject, and resolve is retry." },
            "variables": { "type": "object", "description": "Of an incident: variables to set first, by their names." }) "," DECISION_FIELDS),
        .output = ENTRY_SHAPE, .run = inbox_decide_op,
    },
};
// clang-format on

const struct op_list inbox_ops = { ops, sizeof ops / sizeof *ops };
