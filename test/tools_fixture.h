/* tools_fixture.h: an agent at its tools, with the real operations behind them: for tests. */
#ifndef TEST_TOOLS_FIXTURE_H
#define TEST_TOOLS_FIXTURE_H

#include "core/tx.h"
#include "json/schema/schema.h"
#include "json_help.h"
#include "mcp/tools.h"
#include "sim/world.h"

/* ---- calling ---- */

/* MCP in front of the operations, and who sits before it. */
struct fixture {
    struct world *w;
    struct mcp *mcp;
    struct mcp_client legacy; /* what the session of an older client knows */
    bool older;               /* it is such a client */
    bool tasks;               /* it has the extension */
    int performed;            /* how many operations the last call took */
    str state, head;          /* what X-Workflow-State-Id says; empty: nothing */
    str run, runner;          /* that the runner holds */
    int64_t fence;
    str request_state;
    int64_t waited_ms;      /* by the last call */
    struct op_cache *cache; /* NULL: there is none */
};

/* An operation by hand, which must succeed; its answer. */
static inline const struct json *did(struct fixture *d, const char *op, const char *input)
{
    const struct command *c = world_call(d->w, op, input, "");

    CHECK_OK(c->error);
    return json_parsed(check_arena(), c->answer.text);
}

static inline bool head_field(const void *self, const char *name, str *value)
{
    const struct fixture *d = self;

    *value = d->head;
    return d->head.len && str_eq(str_from(name), STR("x-workflow-state-id"));
}

/* As a transport does it: a wait lasts until its end, since nothing happens meanwhile. */
static inline void perform(struct fixture *d, struct mcp_call *m)
{
    struct command command = { .arena = arena_new(), .op = m->op, .actor = m->actor },
                   *c = &command;
    struct json input = json_copy(command.arena, m->input);
    struct engine *reader;

    command.input = &input;
    CHECK_OK(world_reader(d->w, &reader));
    for (bool again = true; again;) {
        if (m->op->effect == OP_READS)
            op_read(reader, c);
        else
            op_perform(&d->w->engine, &c, 1);
        again = command.answer.waits;
        if (again) {
            d->waited_ms += command.answer.wait_until_ms - d->w->now_ms;
            d->w->now_ms = command.answer.wait_until_ms;
            command.wait_over = true;
        }
    }
    world_check_answer(d->w, c);
    d->performed++;
    mcp_performed(m, c);
    arena_free(command.arena);
}

/* What a message says of its client, where it says all of it. */
static inline const char *meta_of(const struct fixture *d)
{
#define META(more)                                                     \
    "'_meta':{'io.modelcontextprotocol/protocolVersion':'2026-07-28'," \
    "'io.modelcontextprotocol/clientCapabilities':{" more "}}"
    if (d->older)
        return "'_meta':{}";
    return d->tasks ? META("'extensions':{'io.modelcontextprotocol/tasks':{}}") : META("");
}

static inline struct mcp_call *call_new(struct fixture *d)
{
    struct mcp_call *m = ARENA_NEW(check_arena(), struct mcp_call);
    struct actor *actor = ARENA_NEW(check_arena(), struct actor);

    *actor = d->w->actor;
    m->arena = check_arena();
    m->mcp = d->mcp;
    m->actor = actor;
    m->now_ms = d->w->now_ms;
    m->session = d->older ? &d->legacy : NULL;
    if (d->head.len)
        m->head = (struct mcp_head){ head_field, d };
    return m;
}

static inline const struct json *said(struct fixture *d, const char *method, const char *params)
{
    struct mcp_call *m = call_new(d);
    str text = arena_printf(m->arena, "{'jsonrpc':'2.0','id':1,'method':'%s','params':{%s%s%s}}",
                            method, params, *params ? "," : "", meta_of(d));
    struct json body = json_of(m->arena, text.at);

    if (d->request_state.len)
        json_put(m->arena, (struct json *)json_get(&body, "params"), STR("requestState"),
                 json_string(d->request_state));
    d->performed = 0;
    d->waited_ms = 0;
    mcp_begin(m, json_printed(m->arena, &body));
    while (m->next == MCP_PERFORM)
        if (!d->cache || !mcp_peek(m, d->cache))
            perform(d, m);
    CHECK_INT(m->next, MCP_ANSWER);
    return json_parsed(m->arena, m->answer);
}

static inline const struct json *called(struct fixture *d, const char *tool, const char *arguments)
{
    const struct json *answer =
        said(d, "tools/call",
             arena_printf(check_arena(), "'name':'%s','arguments':%s", tool, arguments).at);

    if (!json_get(answer, "result"))
        check_fail(__FILE__, __LINE__, "%s: " STR_FMT, tool,
                   STR_ARG(json_printed(check_arena(), answer)));
    return json_get(answer, "result");
}

static inline str text_of(const struct json *result, size_t block)
{
    return json_str(json_at(json_get(result, "content"), block), "text");
}

/* The names of all tools that are listed. */
static inline str names_listed(struct fixture *d)
{
    const struct json *tools = json_get(json_get(said(d, "tools/list", ""), "result"), "tools");
    struct buf names = buf_in(check_arena());

    for (uint32_t i = 0; i < tools->len; i++)
        buf_printf(&names, "%s" STR_FMT, i ? " " : "", STR_ARG(json_str(&tools->items[i], "name")));
    return buf_str(&names);
}

static inline const struct json *listed_tool(struct fixture *d, const char *name)
{
    const struct json *tools = json_get(json_get(said(d, "tools/list", ""), "result"), "tools");

    for (uint32_t i = 0; i < tools->len; i++)
        if (str_eq(json_str(&tools->items[i], "name"), str_from(name)))
            return &tools->items[i];
    check_fail(__FILE__, __LINE__, "there is no tool %s", name);
}

/* The JSON that a result's first text is. */
static inline const struct json *json_of_text(const struct json *result)
{
    return json_parsed(check_arena(), text_of(result, 0));
}

/* What a tool has told: it is no error, it fits what the list promises to programs, and programs are
 * told the same. */
static inline const struct json *told(struct fixture *d, const char *tool, const char *arguments)
{
    const struct json *result = called(d, tool, arguments), *told;
    const struct json *structured = json_get(result, "structuredContent");
    struct actor *actor = &d->w->actor, before = *actor;
    struct fixture other = *d; /* whose looking into the list leaves no trace */
    struct schema *schema;

    if (json_get(result, "isError"))
        check_fail(__FILE__, __LINE__, "%s: " STR_FMT, tool, STR_ARG(text_of(result, 0)));
    told = json_of_text(result);
    CHECK(!structured || json_equal(structured, told));
    other.request_state = STR("");
    *actor = (struct actor){ .kind = ACTOR_OPERATOR };
    CHECK_OK(schema_compile(check_arena(), json_get(listed_tool(&other, tool), "outputSchema"),
                            NULL, &schema));
    *actor = before;
    CHECK_OK(schema_require(check_arena(), schema, told));
    schema_free(schema);
    return told;
}

static inline void tells(struct fixture *d, const char *tool, const char *arguments,
                         const char *expected)
{
    CHECK_STR(json_shown(check_arena(), told(d, tool, arguments)), expected);
}

static inline void refuses(struct fixture *d, const char *tool, const char *arguments,
                           const char *expected)
{
    const struct json *result = called(d, tool, arguments);

    CHECK(json_bool_or(result, "isError", false));
    CHECK(!json_get(result, "structuredContent"));
    CHECK_STR(text_of(result, 0), expected);
}

/* ---- who calls ---- */

static inline void become(struct fixture *d, enum actor_kind kind, const char *token)
{
    d->w->actor =
        (struct actor){ .kind = kind, .name = str_from(token), .token_id = str_from(token) };
}

static inline void as_session(struct fixture *d, const char *name, bool is_child)
{
    become(d, ACTOR_SESSION, name);
    d->w->actor.session_id = str_from(name);
    d->w->actor.state_id = d->state;
    d->w->actor.is_child = is_child;
}

static inline void as_runner(struct fixture *d)
{
    become(d, ACTOR_RUNNER, "rn_1");
}

static inline void as_operator(struct fixture *d)
{
    become(d, ACTOR_OPERATOR, "operator");
}

static inline void as_viewer(struct fixture *d)
{
    become(d, ACTOR_VIEWER, "vw_1");
}

/* A root with a state, whose child `kid` is nobody's to run; the root calls. */
static inline struct fixture *fixture_new(const char *data)
{
    struct fixture *d = ARENA_NEW(check_arena(), struct fixture);
    struct mcp_options o = { .version = "1.2.3",
                             .secret = "a secret of thirty-two bytes...",
                             .wait_ms = 45000 };

    CHECK_OK(world_open("tools.db", NULL, &d->w));
    o.table = d->w->table;
    d->mcp = mcp_new(&o);
    d->legacy.version = MCP_2025_11_25;
    as_runner(d);
    d->runner = json_str(did(d, "runner.register", "{'hostname':'here','tags':[],'capacity':10}"),
                         "runner_id");
    as_operator(d);
    did(d, "schema.create",
        "{'name':'plan','json_schema':{'type':'object','properties':{'status':{'enum':['open',"
        "'done']},'n':{'type':'integer'}}}}");
    did(d, "agent.create", "{'name':'tester','description':'Tests.','system_prompt':'You test.'}");
    did(d, "session.create", "{'session_name':'root','session_id':'root'}");
    did(d, "session.create",
        "{'session_name':'kid','session_id':'kid','parent_session_name':'root'}");
    if (data)
        d->state = json_str(did(d, "state.create",
                                arena_printf(check_arena(),
                                             "{'schema_name':'plan','root_session':'root',"
                                             "'initial_data':%s}",
                                             data)
                                    .at),
                            "state_id");
    as_session(d, "root", false);
    return d;
}

static inline void fixture_free(struct fixture *d)
{
    if (d->cache)
        op_cache_free(d->cache);
    mcp_free(d->mcp);
    world_close(d->w);
}

/* An operation of somebody else, amid what this one calls. */
static inline const struct json *meanwhile(struct fixture *d, void (*as)(struct fixture *d),
                                           const char *op, const char *input)
{
    struct actor before = d->w->actor;

    as(d);
    const struct json *answer = did(d, op, input);
    d->w->actor = before;
    return answer;
}

static inline void claim(struct fixture *d)
{
    const struct json *run = json_get(
        meanwhile(
            d, as_runner, "runner.claim",
            arena_printf(check_arena(), "{'runner_id':'" STR_FMT "'}", STR_ARG(d->runner)).at),
        "run");

    d->run = json_str(run, "run_id");
    d->fence = json_int_or(run, "fence", 0);
}

static inline void report(struct fixture *d, const char *op, const char *facts)
{
    meanwhile(d, as_runner, op,
              arena_printf(check_arena(),
                           "{'run_id':'" STR_FMT "','runner_id':'" STR_FMT "','fence':%lld%s}",
                           STR_ARG(d->run), STR_ARG(d->runner), (long long)d->fence, facts)
                  .at);
}

/* The next run does its work and ends. */
static inline void run_through(struct fixture *d)
{
    claim(d);
    report(d, "runner.started", "");
    report(d, "runner.completed", ",'result':'all done','client_id':'c-1'");
}

#endif
