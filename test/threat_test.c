/* threat_test.c: what those cannot do who have a token and mean ill.
 *
 * Two trees stand beside each other. Everything in theirs that can hold a text holds the same odd
 * word, so that whoever hears it has heard too much. What a token is tried on is made from the
 * table of operations: one that is added is tried, too. */
#include "check.h"
#include "core/token.h"
#include "json/pointer.h"
#include "json_help.h"
#include "runner/stream.h"
#include "sim/engine.h"

#define ODD "zweifellos"

/* ---- a world ---- */

static const struct actor operator= { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };

static struct world *world_new(void)
{
    struct world *w;

    CHECK_OK(world_open("threat.db", NULL, &w));
    return w;
}

__attribute__((format(printf, 3, 4))) static struct command *call(struct world *w, const char *op,
                                                                  const char *format, ...)
{
    struct buf input = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&input, format, args);
    va_end(args);
    return world_call(w, op, buf_str(&input).at, "");
}

/* A member of an answer by its pointer; strings are their bytes, the rest is printed. */
static str at(const struct command *c, const char *pointer)
{
    const struct json *json, *value;

    CHECK_OK(c->error);
    CHECK_OK(json_parse(check_arena(), c->answer, NULL, &json));
    CHECK_OK(json_pointer_get(check_arena(), json, str_from(pointer), &value));
    return value->kind == JSON_STRING ? json_text(value) : json_printed(check_arena(), value);
}

/* ---- who acts ---- */

static void grant_drop(void *grant)
{
    grant_unref(grant);
}

/* Becomes whoever a token stands for, as a request that shows it does. */
static void be(struct world *w, str token)
{
    struct grant *grant;

    CHECK_OK(op_admit(&w->engine, check_arena(), token, &grant));
    arena_on_release(check_arena(), grant_drop, grant);
    w->actor = *grant->actor;
}

static str token_of(struct world *w, const char *kind)
{
    w->actor = operator;
    return at(call(w, "token.create", "{'kind':'%s'}", kind), "/token");
}

struct machine {
    str token, id;
};

static struct machine machine_new(struct world *w, const char *name)
{
    struct machine m = { .token = token_of(w, "runner") };

    be(w, m.token);
    m.id = at(call(w, "runner.register", "{'hostname':'%s','capacity':100}", name), "/runner_id");
    w->actor = operator;
    return m;
}

struct turn {
    str run_id, session_id, token;
    int64_t fence;
};

static struct turn claim(struct world *w, const struct machine *m)
{
    struct turn t;

    be(w, m->token);
    struct command *c = call(w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(m->id));
    t.run_id = at(c, "/run/run_id");
    t.session_id = at(c, "/run/session_id");
    t.token = at(c, "/run/token");
    CHECK(str_to_int(at(c, "/run/fence"), &t.fence));
    w->actor = operator;
    return t;
}

static struct command *report(struct world *w, const struct machine *m, const struct turn *t,
                              const char *what, const char *more)
{
    be(w, m->token);
    struct command *c = call(w, arena_printf(check_arena(), "runner.%s", what).at,
                             "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld%s}",
                             STR_ARG(m->id), STR_ARG(t->run_id), (long long)t->fence, more);
    w->actor = operator;
    return c;
}

/* A session at work, of whoever acts; all that it is asked and says has this word in it. */
static struct turn working(struct world *w, const struct machine *m, const char *name,
                           const char *word)
{
    CHECK_OK(call(w, "run.create",
                  "{'type':'start_session','session_name':'%s','prompt':'%s',"
                  "'metadata':{'%s':1}%s}",
                  name, word, word,
                  w->actor.kind == ACTOR_SESSION ? "" : ",'project_dir':'/work/here'")
                 ->error);
    struct turn t = claim(w, m);
    str more = arena_printf(check_arena(),
                            ",'heard':'%s','client_id':'%s','output':[{'stream':'stderr',"
                            "'text':'%s'}]",
                            word, word, word);
    CHECK_OK(report(w, m, &t, "started", "")->error);
    CHECK_OK(report(w, m, &t, "progress", more.at)->error);
    return t;
}

/* A root with a state, and two at work below it. */
struct tree {
    struct turn root, left, right;
    str state_id;
};

static struct tree tree_new(struct world *w, const struct machine *m, const char *name,
                            const char *word)
{
    struct tree t;

    w->actor = operator;
    t.root = working(w, m, arena_printf(check_arena(), "%s-root", name).at, word);
    t.state_id = at(call(w, "state.create",
                         "{'schema_name':'any','root_session':'" STR_FMT "',"
                         "'initial_data':{'%s':'%s'}}",
                         STR_ARG(t.root.session_id), word, word),
                    "/state_id");
    be(w, t.root.token);
    t.left = working(w, m, arena_printf(check_arena(), "%s-left", name).at, word);
    be(w, t.root.token);
    t.right = working(w, m, arena_printf(check_arena(), "%s-right", name).at, word);
    return t;
}

struct threat {
    struct world *w;
    struct machine machine;
    struct tree ours, theirs;
};

static struct threat threat_new(void)
{
    struct threat t = { .w = world_new() };

    t.w->actor = operator;
    CHECK_OK(call(t.w, "schema.create", "{'name':'any','json_schema':{'type':'object'}}")->error);
    t.machine = machine_new(t.w, "here");
    t.theirs = tree_new(t.w, &t.machine, "their", ODD);
    t.ours = tree_new(t.w, &t.machine, "our", "ours");
    return t;
}

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

    CHECK_OK(json_parse(a, str_from(op->input), NULL, &schema));
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
            be(w, token);
            try_one(w, op, field, id);
        }
    }
}

/* All that the operator sees of a session and its run. */
static void show_turn(struct world *w, const struct turn *t, struct buf *out)
{
    static const char *const of_session[] = { "session.get", "session.events", "session.result" };
    static const char *const of_run[] = { "run.get", "run.output" };

    for (size_t i = 0; i < 3; i++)
        buf_add(
            out,
            call(w, of_session[i], "{'session_id':'" STR_FMT "'}", STR_ARG(t->session_id))->answer);
    for (size_t i = 0; i < 2; i++)
        buf_add(out, call(w, of_run[i], "{'run_id':'" STR_FMT "'}", STR_ARG(t->run_id))->answer);
}

static str show_tree(struct world *w, const struct tree *t)
{
    struct buf out = buf_in(check_arena());

    w->actor = operator;
    show_turn(w, &t->root, &out);
    show_turn(w, &t->left, &out);
    show_turn(w, &t->right, &out);
    buf_add(&out,
            call(w, "state.read", "{'state_id':'" STR_FMT "'}", STR_ARG(t->state_id))->answer);
    buf_add(&out,
            call(w, "session.list", "{'root':'" STR_FMT "'}", STR_ARG(t->root.session_id))->answer);
    return buf_str(&out);
}

TEST_LIMIT(session_reaches_nothing_of_another_tree_by_any_operation, 60)
{
    struct threat t = threat_new();
    const str things[] = { t.theirs.root.session_id, t.theirs.root.run_id, t.theirs.left.session_id,
                           t.theirs.left.run_id,     t.theirs.state_id,    t.machine.id };
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
    static const char *const decisions[] = { "token",  "agent",  "profile", "schema",
                                             "runner", "system", "node",    NULL };
    static const char *const of_runners[] = { "runner", "agent", "profile", NULL };
    struct world *w = world_new();

    for (size_t i = 0; i < op_count(w->table); i++) {
        const struct op *op = op_at(w->table, i);
        bool writes = op->effect == OP_WRITES, runner = op->by & BY_RUNNER;
        CHECK(!(writes && op->by & BY_VIEWER));
        CHECK(!(writes && op->by & BY_SESSION && is_one_of(op, decisions)));
        CHECK(!(runner && !is_one_of(op, of_runners)));
        CHECK(!(runner && writes && !is_noun(op, "runner")));
        CHECK(!(op->secret && op->by & (BY_SESSION | BY_VIEWER)));
    }
    world_close(w);
}

/* ---- what a session asks for ---- */

// clang-format off
static const struct {
    const char *more; /* of a request for a session below */
    enum error_kind kind;
} wishes[] = {
    { "'project_dir':'/etc'",                       ERR_FORBIDDEN },
    { "'project_dir':'/work'",                      ERR_FORBIDDEN },
    { "'project_dir':'/work/hereafter'",            ERR_FORBIDDEN },
    { "'project_dir':'/work/here/../there'",        ERR_FORBIDDEN },
    { "'project_dir':'/work/here/..'",              ERR_FORBIDDEN },
    { "'project_dir':'/work/here/x/../../..'",      ERR_FORBIDDEN },
    { "'project_dir':'work/here'",                  ERR_INVALID },
    { "'demands':{'project_dir':'/etc'}",           ERR_FORBIDDEN },
    { "'demands':{'profile':'/bin/sh'}",            ERR_NOT_FOUND },
    { "'demands':{'profile':'sh -c id'}",           ERR_NOT_FOUND },
    { "'agent_name':'nobody'",                      ERR_NOT_FOUND },
    { "'args':['/bin/sh']",                         ERR_INVALID },
    { "'argv':['/bin/sh']",                         ERR_INVALID },
    { "'env':{'PATH':'/tmp'}",                      ERR_INVALID },
    { "'demands':{'args':['x']}",                   ERR_INVALID },
    { "'profile':{'start':['/bin/sh']}",            ERR_INVALID },
    { "'session_id':'../x'",                        ERR_INVALID },
    { "'max_seconds':2592001",                      ERR_INVALID },
    { "'priority':1001",                            ERR_INVALID },
};
// clang-format on

TEST(session_chooses_neither_a_command_line_nor_a_directory)
{
    struct threat t = threat_new();

    be(t.w, t.ours.root.token);
    for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
        struct command *c = call(t.w, "run.create",
                                 "{'type':'start_session','session_name':'below','prompt':'p',%s}",
                                 wishes[i].more);
        if (!c->error || c->error->kind != wishes[i].kind)
            check_fail(__FILE__, __LINE__, "%s: " STR_FMT, wishes[i].more,
                       STR_ARG(world_told(check_arena(), c)));
    }
    CHECK_OK(call(t.w, "run.create",
                  "{'type':'start_session','session_name':'below','prompt':'p',"
                  "'project_dir':'/work/here/deeper'}")
                 ->error);
    world_close(t.w);
}

/* A token for a session that nobody here runs, as the operator mints one by hand. */
static str token_for(struct world *w, const char *session)
{
    w->actor = operator;
    return at(call(w, "token.create", "{'kind':'session','scope':{'session_id':'%s'}}", session),
              "/token");
}

TEST(session_hands_on_no_more_than_it_may_write_itself)
{
    static const struct {
        const char *pointers;
        bool may;
    } cases[] = {
        { "['/a']", true }, { "['/a/b','/a']", true }, { "[]", true },           { "['']", false },
        { "['/']", false }, { "['/ab']", false },      { "['/a','/b']", false },
    };
    struct threat t = threat_new();

    be(t.w, t.ours.root.token);
    CHECK_OK(call(t.w, "session.create", "{'session_name':'narrow','pointers':['/a']}")->error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        be(t.w, token_for(t.w, "narrow"));
        struct command *c = call(t.w, "session.create",
                                 "{'session_name':'below-%zu','pointers':%s}", i,
                                 cases[i].pointers);
        CHECK_INT(c->error ? c->error->kind : 0, cases[i].may ? 0 : ERR_FORBIDDEN);
    }
    /* Without a word about them, they are its parent's. */
    CHECK_STR(at(call(t.w, "session.create", "{'session_name':'same'}"), "/pointers"), "[\"/a\"]");
    be(t.w, token_for(t.w, "same"));
    CHECK_ERR(call(t.w, "state.patch",
                   "{'state_id':'" STR_FMT "','operations':[{'op':'add','path':'/b','value':1}]}",
                   STR_ARG(t.ours.state_id))
                  ->error,
              ERR_FORBIDDEN);
    world_close(t.w);
}

/* Whoever can choose the id of a session could choose that of the runner, or of the operator, and
 * answer for them. */
TEST(session_shares_its_keys_with_nobody_whatever_it_is_called)
{
    static const char *const names[] = { "operator", "runner" };
    struct threat t = threat_new();

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        be(t.w, t.ours.root.token);
        CHECK_OK(
            call(t.w, "session.create", "{'session_name':'x%zu','session_id':'%s'}", i, names[i])
                ->error);
    }
    be(t.w, token_for(t.w, "operator"));
    struct command *c = world_call(t.w, "session.create", "{'session_name':'mine'}", "k1");
    CHECK_OK(c->error);
    t.w->actor = operator;
    c = world_call(t.w, "session.create", "{'session_name':'mine'}", "k1");
    CHECK(!c->repeated);
    CHECK_ERR(c->error, ERR_CONFLICT);

    /* A keeper's report is known by such a key, which the agent can guess. */
    str key = arena_printf(check_arena(), STR_FMT "-1-completed-1", STR_ARG(t.ours.left.run_id));
    be(t.w, token_for(t.w, "runner"));
    CHECK_OK(world_call(t.w, "session.create", "{'session_name':'guess'}", key.at)->error);
    be(t.w, t.machine.token);
    str end = arena_printf(check_arena(),
                           "{'runner_id':'" STR_FMT "','run_id':'" STR_FMT "','fence':%lld}",
                           STR_ARG(t.machine.id), STR_ARG(t.ours.left.run_id),
                           (long long)t.ours.left.fence);
    CHECK_OK(world_call(t.w, "runner.completed", end.at, key.at)->error);
    world_close(t.w);
}

/* ---- after its run ---- */

TEST(token_of_a_run_is_worth_nothing_when_the_run_has_ended_or_is_claimed_again)
{
    static const char *const ends[] = { "completed", "failed", "timed_out", "stopped" };
    struct threat t = threat_new();
    struct grant *grant;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        t.w->actor = operator;
        struct turn turn =
            working(t.w, &t.machine, arena_printf(check_arena(), "root-%zu", i).at, "word");
        be(t.w, turn.token);
        CHECK_OK(report(t.w, &t.machine, &turn, ends[i], "")->error);
        CHECK_ERR(op_admit(&t.w->engine, check_arena(), turn.token, &grant), ERR_UNAUTHENTICATED);
    }
    t.w->actor = operator;
    CHECK_OK(call(t.w, "run.create", "{'type':'start_session','session_name':'again','prompt':'p'}")
                 ->error);
    struct turn first = claim(t.w, &t.machine), second = claim(t.w, &t.machine);
    CHECK_STR(second.run_id, arena_copy(check_arena(), first.run_id).at);
    CHECK_ERR(op_admit(&t.w->engine, check_arena(), first.token, &grant), ERR_UNAUTHENTICATED);
    be(t.w, second.token);
    world_close(t.w);
}

/* ---- runners ---- */

static bool is_report(const struct world *w, const struct op *op)
{
    return op->by & BY_RUNNER && op_field(w->table, op, STR("fence"));
}

TEST(runner_reports_only_what_it_holds_under_its_own_name_and_fence)
{
    struct threat t = threat_new();
    struct machine other = machine_new(t.w, "elsewhere");
    struct turn ours = t.ours.left;
    str before = show_tree(t.w, &t.ours);
    int reports = 0;

    for (size_t i = 0; i < op_count(t.w->table); i++) {
        const struct op *op = op_at(t.w->table, i);
        const char *what = op->name + strlen("runner.");
        struct machine liar = { .token = other.token, .id = t.machine.id };
        struct turn old = ours, future = ours, none = ours;
        if (!is_report(t.w, op))
            continue;
        old.fence--;
        future.fence++;
        none.run_id = STR("run_none");
        CHECK_ERR(report(t.w, &other, &ours, what, "")->error, ERR_CONFLICT);
        CHECK_ERR(report(t.w, &liar, &ours, what, "")->error, ERR_NOT_FOUND);
        CHECK_ERR(report(t.w, &t.machine, &old, what, "")->error,
                  old.fence ? ERR_CONFLICT : ERR_INVALID);
        CHECK_ERR(report(t.w, &t.machine, &future, what, "")->error, ERR_CONFLICT);
        CHECK_ERR(report(t.w, &t.machine, &none, what, "")->error, ERR_NOT_FOUND);
        reports++;
    }
    CHECK_INT(reports, 6);
    CHECK_STR(show_tree(t.w, &t.ours), arena_copy(check_arena(), before).at);
    world_close(t.w);
}

TEST(runner_speaks_for_no_other_runner_and_sees_no_state)
{
    struct threat t = threat_new();
    struct machine other = machine_new(t.w, "elsewhere");
    str before = show_tree(t.w, &t.ours), id = t.machine.id;

    be(t.w, other.token);
    CHECK_ERR(call(t.w, "runner.remove", "{'runner_id':'" STR_FMT "'}", STR_ARG(id))->error,
              ERR_NOT_FOUND);
    CHECK_ERR(call(t.w, "runner.heartbeat", "{'runner_id':'" STR_FMT "'}", STR_ARG(id))->error,
              ERR_NOT_FOUND);
    CHECK_STR(at(call(t.w, "runner.claim", "{'runner_id':'" STR_FMT "'}", STR_ARG(id)),
                 "/deregistered"),
              "true");
    CHECK_ERR(
        call(t.w, "state.read", "{'state_id':'" STR_FMT "'}", STR_ARG(t.ours.state_id))->error,
        ERR_FORBIDDEN);
    CHECK_STR(show_tree(t.w, &t.ours), arena_copy(check_arena(), before).at);
    world_close(t.w);
}

TEST(sign_of_life_of_a_runner_does_not_lengthen_the_lease_of_anothers_run)
{
    struct threat t = threat_new();
    struct machine other = machine_new(t.w, "elsewhere");
    int64_t lease_ms = team_rules_default.lease_ms;
    str id = t.ours.left.run_id;

    t.w->now_ms += lease_ms - 1000;
    be(t.w, other.token);
    CHECK_OK(call(t.w, "runner.heartbeat", "{'runner_id':'" STR_FMT "','runs':['" STR_FMT "']}",
                  STR_ARG(other.id), STR_ARG(id))
                 ->error);
    t.w->now_ms += 2000;
    t.w->actor = (struct actor){ .kind = ACTOR_SYSTEM, .name = STR("system") };
    while (str_ends(world_call(t.w, "system.tick", "{}", "")->answer, STR("\"more\":true}")))
        ;
    t.w->actor = operator;
    struct command *c = call(t.w, "run.get", "{'run_id':'" STR_FMT "'}", STR_ARG(id));
    CHECK_STR(at(c, "/status"), "pending");
    world_close(t.w);
}

// clang-format off
static const struct {
    const char *usage;
    enum error_kind kind; /* 0: taken */
} usages[] = {
    { "{'input_tokens':9223372036854775807,'output_tokens':9223372036854775807,'cost_usd':1e300}", 0 },
    { "{'input_tokens':9223372036854775807,'output_tokens':1,'cost_usd':9e12}",                     0 },
    { "{'input_tokens':1e308,'output_tokens':1e18,'cost_usd':1e308}",                               0 },
    { "{'cost_usd':9223372036854.5}",                                                              0 },
    { "{'models':{'m':{'n':1e308}}}",                                                              0 },
    { "{'models':{'m':{'n':1.5e308}}}",                                                            0 },
    { "{'models':{'m':[[[[[[]]]]]]}}",                                                             0 },
    { "{'models':{'m':9223372036854775807}}",                                                      0 },
    { "{'models':{'m':9223372036854775807}}",                                                      0 },
    { "{'input_tokens':-1}",                                                                       ERR_INVALID },
    { "{'cost_usd':-0.01}",                                                                        ERR_INVALID },
    { "{'input_tokens':'many'}",                                                                   ERR_INVALID },
    { "{'input_tokens':0.5}",                                                                      ERR_INVALID },
    { "{'models':[]}",                                                                             ERR_INVALID },
};
// clang-format on

/* Sums are never less than before, nor less than nothing. */
TEST(false_usage_cannot_break_the_sums)
{
    struct threat t = threat_new();
    int64_t spent = 0, now;

    for (size_t i = 0; i < sizeof usages / sizeof *usages; i++) {
        t.w->actor = operator;
        struct turn turn = { .fence = 0 };
        CHECK_OK(call(t.w, "run.create",
                      i ? "{'type':'resume_session','session_name':'spender','prompt':'p'}"
                        : "{'type':'start_session','session_name':'spender','prompt':'p'}")
                     ->error);
        turn = claim(t.w, &t.machine);
        CHECK_OK(report(t.w, &t.machine, &turn, "started", "")->error);
        str more = arena_printf(check_arena(), ",'client_id':'c','usage':%s", usages[i].usage);
        err e = report(t.w, &t.machine, &turn, "completed", more.at)->error;
        CHECK_INT(e ? e->kind : 0, usages[i].kind);
        if (e)
            CHECK_OK(report(t.w, &t.machine, &turn, "completed", ",'client_id':'c'")->error);
        struct command *c = call(t.w, "session.get", "{'session_id':'spender'}");
        CHECK(str_to_int(at(c, "/usage/input_tokens"), &now));
        CHECK(now >= spent);
        spent = now;
        CHECK(at(c, "/usage/cost_usd").at[0] != '-');
    }
    CHECK(spent == INT64_MAX);
    world_close(t.w);
}

/* ---- much of it ---- */

static str many(char c, size_t n)
{
    char *at_ = arena_alloc(check_arena(), n + 1);

    memset(at_, c, n);
    at_[n] = '\0';
    return (str){ at_, n };
}

TEST(what_is_too_much_is_refused_or_cut_and_nothing_breaks)
{
    struct threat t = threat_new();
    struct turn turn = t.ours.left;
    const char *prompt = many('p', 1048577).at;

    be(t.w, t.ours.root.token);
    CHECK_ERR(call(t.w, "session.start", "{'session_name':'b','prompt':'%s'}", prompt)->error,
              ERR_INVALID);
    CHECK_ERR(call(t.w, "session.start", "{'session_name':'b','prompt':'p','metadata':{'m':'%s'}}",
                   many('m', 16384).at)
                  ->error,
              ERR_TOO_LARGE);
    CHECK_ERR(
        call(t.w, "session.start", "{'session_name':'%s','prompt':'p'}", many('n', 61).at)->error,
        ERR_INVALID);
    str big = many('x', 65537), words = many('w', 5000);
    str piece = arena_printf(check_arena(), ",'output':[{'stream':'stdout','text':'%s'}]", big.at);
    CHECK_ERR(report(t.w, &t.machine, &turn, "progress", piece.at)->error, ERR_TOO_LARGE);
    CHECK_OK(report(t.w, &t.machine, &turn, "progress",
                    arena_printf(check_arena(), ",'heard':'%s'", words.at).at)
                 ->error);
    CHECK(at(call(t.w, "session.get", "{'session_id':'our-left'}"), "/last_event").len <= 300);
    CHECK_ERR(report(t.w, &t.machine, &turn, "completed",
                     arena_printf(check_arena(), ",'result':'%s'", prompt).at)
                  ->error,
              ERR_INVALID);
    be(t.w, turn.token);
    struct command *c = call(t.w, "session.event",
                             "{'session_id':'our-left','event_type':'message','content':'%s'}",
                             many('e', 200000).at);
    CHECK_OK(c->error);
    c = call(t.w, "session.events", "{'session_id':'our-left'}");
    CHECK(c->answer.len < 100000);
    world_close(t.w);
}

/* ---- its token, in what it says ---- */

static void line_drop(void *to, str line)
{
    (void)to;
    (void)line;
}

TEST(token_is_in_no_fact_however_it_is_written)
{
    static const char *const streams[] = {
        "{'type':'r','text':'ss_s'}\n{'type':'r','text':'ecret!'}\n", /* in two pieces */
        "{'type':'r','text':'\\u0073s_secret!'}\n",                   /* by an escape */
        "{'type':'r','text':'ss_s\\u0065cret!'}\n",
    };
    struct json output = json_of(check_arena(),
                                 "{'format':'jsonl',"
                                 "'result':[{'at':'/text','add':'join'}],"
                                 "'client_id':[{'at':'/text'}],"
                                 "'heard':[{'at':'/text'}],'failed':[{'at':'/text'}]}");

    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
        struct stream *s = stream_new(&output, STR("ss_secret"), line_drop, NULL);
        str text = arena_copy(check_arena(), str_from(streams[i]));
        for (char *c = (char *)text.at; (c = strchr(c, '\''));)
            *c = '"';
        stream_feed(s, text);
        stream_end(s);
        struct stream_facts f = stream_facts(s);
        CHECK_STR(f.result, "*********!");
        const str others[] = { f.client_id, f.heard, f.error };
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            CHECK(!strstr(arena_copy(check_arena(), others[k]).at, "ss_secret"));
        stream_free(s);
    }
}
