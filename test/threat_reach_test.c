/* threat_reach_test.c: no token reaches what is not its own, by any operation.
 *
 * What a token is tried on is made from the table of operations: one that is added is tried, too. */
#include "threats.h"

/* ---- every operation on an object ---- */

/* Fields without which an operation is not even looked at. */
static const struct {
    const char *op, *more;
} needs[] = {
    { "state.patch", "{'operations':[{'op':'add','path':'/x','value':1}]}" },
    { "run.create", "{'type':'resume_session'}" },
};

static struct json some_value(const struct json *schema)
{
    const struct json *words = json_get(schema, "enum"), *type = json_get(schema, "type");

    if (words)
        return words->items[0];
    str kind = json_is(type, JSON_ARRAY) ? json_text(&type->items[0])
               : type                    ? json_text(type)
                                         : STR("object");
    if (str_eq(kind, STR("string")))
        return json_string(STR("some"));
    if (str_eq(kind, STR("integer")))
        return json_int(check_arena(), json_int_or(schema, "minimum", 1));
    if (str_eq(kind, STR("boolean")))
        return json_bool(true);
    return str_eq(kind, STR("array")) ? json_array() : json_object();
}

/* The least that an operation takes, with a value in one field. */
static str input_with(const struct world *w, const struct op *op, str field, str value)
{
    struct arena *a = check_arena();
    const struct json *schema, *fields = op_fields(w->table, op), *names;
    struct json input = json_object();

    schema = json_parsed(a, str_from(op->input));
    names = json_get(schema, "required");
    json_put(a, &input, field, json_string(value));
    for (uint32_t i = 0; names && i < names->len; i++)
        if (!json_find(&input, json_text(&names->items[i])))
            json_put(a, &input, json_text(&names->items[i]),
                     some_value(json_find(fields, json_text(&names->items[i]))));
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        struct json more = json_of(a, needs[i].more);
        for (uint32_t k = 0; strcmp(op->name, needs[i].op) == 0 && k < more.len; k++) {
            struct json *there = (struct json *)json_find(&input, json_name(&more.members[k]));
            if (!there)
                json_put(a, &input, json_name(&more.members[k]), more.members[k].value);
            else if (!str_eq(json_name(&more.members[k]), field))
                *there = more.members[k].value;
        }
    }
    return json_printed(a, &input);
}

static bool is_capture(const struct op *op, str field)
{
    const char *capture = arena_printf(check_arena(), "{" STR_FMT "}", STR_ARG(field)).at;
    return op->http && strstr(op->http, capture);
}

static bool takes_text(const struct json *schema)
{
    const struct json *type = json_get(schema, "type");
    return json_is(type, JSON_STRING) && str_eq(json_text(type), STR("string"));
}

/* All that can be heard of a command. */
static bool tells(const struct command *c, const char *word)
{
    return strstr(world_told(check_arena(), c).at, word) != NULL;
}

static int tried; /* commands */

static void try_one(struct world *w, const struct op *op, str field, str id)
{
    struct command *c = world_call(w, op->name, input_with(w, op, field, id).at, "");

    tried++;
    if (tells(c, ODD) || tells(c, "their-"))
        check_fail(__FILE__, __LINE__, "too much is told: " STR_FMT,
                   STR_ARG(world_told(check_arena(), c)));
    if (is_capture(op, field) && (!c->error || c->error->kind != ERR_NOT_FOUND))
        check_fail(__FILE__, __LINE__, "expected NOT_FOUND: " STR_FMT,
                   STR_ARG(world_told(check_arena(), c)));
}

/* Each operation that sessions may call, with the id in each field that takes a text. Whatever comes
 * of it, nothing odd is heard; where the object itself is named, it is not there. */
static void try_everything(struct world *w, str token, str id, bool captures)
{
    for (size_t i = 0; i < op_count(w->table); i++) {
        const struct op *op = op_at(w->table, i);
        const struct json *fields = op_fields(w->table, op);
        for (uint32_t k = 0; op->by & BY_SESSION && k < fields->len; k++) {
            str field = json_name(&fields->members[k]);
            if (!takes_text(&fields->members[k].value) || is_capture(op, field) != captures)
                continue;
            act_as(w, token);
            try_one(w, op, field, id);
        }
    }
}

TEST_LIMIT(session_reaches_nothing_of_another_tree_by_any_operation, 60)
{
    struct threat t = threat_new();
    const str things[] = { t.theirs.root.session_id, t.theirs.root.run_id, t.theirs.left.session_id,
                           t.theirs.left.run_id,     t.theirs.state_id,    t.runner.id };
    str before = show_tree(t.w, &t.theirs);

    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        try_everything(t.w, t.ours.root.token, things[i], true);
    for (size_t i = 0; i < sizeof things / sizeof *things; i++)
        try_everything(t.w, t.ours.root.token, things[i], false);
    CHECK_STR(show_tree(t.w, &t.theirs), arena_copy(check_arena(), before).at);
    CHECK(tried > 200); /* the table was really gone through */
    check_note("%d commands", tried);
    world_close(t.w);
}

/* The state is the tree's; sessions and runs above and beside are not there. */
TEST_LIMIT(session_reaches_neither_its_parent_nor_its_siblings, 60)
{
    struct threat t = threat_new();
    const struct turn *others[] = { &t.ours.root, &t.ours.right };
    str before = show_tree(t.w, &t.ours);

    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        str id = others[i]->session_id;
        try_everything(t.w, t.ours.left.token, id, true);
        try_everything(t.w, t.ours.left.token, others[i]->run_id, true);
        CHECK_ERR(call(t.w, "session.start",
                       "{'session_name':'x','prompt':'p','parent_session_name':'" STR_FMT "'}",
                       STR_ARG(id))
                      ->error,
                  ERR_NOT_FOUND);
        CHECK_ERR(call(t.w, "session.resume", "{'session_name':'" STR_FMT "','prompt':'p'}",
                       STR_ARG(id))
                      ->error,
                  ERR_NOT_FOUND);
    }
    CHECK_STR(show_tree(t.w, &t.ours), arena_copy(check_arena(), before).at);
    world_close(t.w);
}

/* ---- what each kind of token is for ---- */

static bool is_noun(const struct op *op, const char *noun)
{
    return str_starts(str_from(op->name), arena_printf(check_arena(), "%s.", noun));
}

static bool is_one_of(const struct op *op, const char *const *nouns)
{
    for (; *nouns; nouns++)
        if (is_noun(op, *nouns))
            return true;
    return false;
}

TEST(table_lets_viewers_read_runners_report_and_sessions_decide_nothing_for_others)
{
    static const char *const decisions[] = { "token",  "agent",    "profile", "schema",
                                             "runner", "system",   "node",    "workflow",
                                             "job",    "incident", NULL };
    static const char *const of_runners[] = { "runner", "agent", "profile", NULL };
    struct world *w = world_new();

    for (size_t i = 0; i < op_count(w->table); i++) {
        const struct op *op = op_at(w->table, i);
        bool writes = op->effect == OP_WRITES, runner = op->by & BY_RUNNER;
        /* But for its own token, which it may put away: a_viewer_puts_away_its_own_token_and_no_other. */
        CHECK(!(writes && op->by & BY_VIEWER) || strcmp(op->name, "token.revoke") == 0);
        CHECK(!(writes && op->by & BY_SESSION && is_one_of(op, decisions)));
        CHECK(!(runner && !is_one_of(op, of_runners)));
        CHECK(!(runner && writes && !is_noun(op, "runner")));
        CHECK(!(op->by & BY_WORKER && !is_noun(op, "job")));
        /* What waits is not kept for a repeat, whether there is a secret in it or not. */
        CHECK(!(op->secret && !op->wait && op->by & (BY_SESSION | BY_VIEWER)));
    }
    world_close(w);
}
