/* inputs.c: what a client of the swarm asks for. */
#include "sim/inputs_private.h"

static const char *const schema_names[] = { "plan", "code-review-workflow", "notes" };

/* All are objects, so that every document can be patched by member. */
static const char *const schema_texts[] = {
    "{'type':'object'}",
    "{'type':'object','required':['status'],'properties':{'status':{'enum':['pending','active',"
    "'done']},'a':{'type':'integer'},'list':{'type':'array','items':{'type':'integer'}}}}",
    "{'type':'object','additionalProperties':false,'properties':{'a':{'type':'integer','minimum':0,"
    "'maximum':100},'b':{'type':'string','maxLength':20},'list':{'type':'array','maxItems':6}}}",
    "{'type':'object','properties':{'a':{'type':['integer','null']},'tasks':{'type':'array','items'"
    ":{'$ref':'#/$defs/task'}}},'$defs':{'task':{'type':'object','required':['id','status'],"
    "'properties':{'id':{'type':'string','minLength':1},'status':{'enum':['open','done']}}}}}",
    "{'type':'object','required':['at'],'properties':{'at':{'type':'string','format':'date-time'},"
    "'text':{'type':'string','minLength':3000,'maxLength':6000},'b':{'type':'boolean'}}}",
    "{'type':'nonsense'}",
};

/* ---- what there is ---- */

struct model_state *inputs_state(struct inputs *in)
{
    const struct map *states = &in->model->states;
    uint32_t from = states->count ? random_below(in->random, states->count) : 0;

    if (chance(in, 2))
        from = 0; /* one that is used more than others has a long history */
    for (uint32_t i = 0; i < states->count; i++) {
        struct model_state *s = states->entries[(from + i) % states->count].value;
        if (!s->deleted && s->schema)
            return s;
    }
    return NULL;
}

static struct model_schema *any_schema(struct inputs *in)
{
    struct model_schema *s = in->model->schemas;

    for (uint32_t n = random_below(in->random, 4); n > 0 && s && s->next; n--)
        s = s->next;
    return s;
}

/* Another version of the schema that a state has, perhaps. */
static struct model_schema *sibling_schema(struct inputs *in)
{
    struct model_schema *s = in->model->schemas, *found = in->state->schema;

    for (; s; s = s->next)
        if (str_eq(s->name, found->name) && chance(in, 2))
            found = s;
    return found;
}

/* ---- documents and patches ---- */

struct json inputs_document(struct inputs *in, const struct model_schema *schema)
{
    struct generator g = { .arena = in->arena, .random = in->random };

    if (!schema || !schema->text)
        return random_json(in->arena, in->random, 2, 4);
    g.root = schema->text;
    return generate(&g, schema->text);
}

static const struct json *document_now(struct inputs *in)
{
    return in->state && in->state->version ? &in->state->versions[in->state->version - 1].doc
                                           : NULL;
}

/* A member of the document or of its schema, as a pointer, with a value that may go there. */
static str any_place(struct inputs *in, struct json *value)
{
    struct json document = inputs_document(in, in->schema);
    const struct json *now = document_now(in);
    const struct json *from = json_is(now, JSON_OBJECT) && now->len && chance(in, 2) ? now
                                                                                     : &document;

    *value = random_scalar(in->arena, in->random);
    if (!json_is(from, JSON_OBJECT) || from->len == 0)
        return STR("/a");
    const struct json_member *m = &from->members[random_below(in->random, from->len)];
    const struct json *fitting = json_find(&document, json_name(m));
    if (memchr(m->name, '/', m->name_len) || memchr(m->name, '~', m->name_len))
        return STR("/a");
    if (json_is(&m->value, JSON_ARRAY) && chance(in, 2)) {
        *value = json_int(in->arena, random_below(in->random, 9));
        return arena_printf(in->arena, "/" STR_FMT "/%s", STR_ARG(json_name(m)),
                            chance(in, 2) ? "0" : "-");
    }
    if (fitting)
        *value = json_copy(in->arena, fitting);
    return arena_printf(in->arena, "/" STR_FMT, STR_ARG(json_name(m)));
}

static struct json make_operations(struct inputs *in)
{
    static const char *const kinds[] = {
        "add", "add", "replace", "remove", "test", "copy", "move"
    };
    struct json operations = json_array();

    for (uint32_t n = 1 + random_below(in->random, 3); n > 0; n--) {
        const char *kind = kinds[chance(in, 2) ? 0 : random_below(in->random, COUNT(kinds))];
        struct json op = json_object(), value, unused;
        str path = any_place(in, &value);
        json_put(in->arena, &op, STR("op"), text(kind));
        json_put(in->arena, &op, STR("path"), json_string(path));
        if (strcmp(kind, "copy") == 0 || strcmp(kind, "move") == 0)
            json_put(in->arena, &op, STR("from"), json_string(any_place(in, &unused)));
        else if (strcmp(kind, "remove") != 0)
            json_put(in->arena, &op, STR("value"), value);
        json_push(in->arena, &operations, op);
    }
    return operations;
}

static struct json make_schema(struct inputs *in)
{
    uint32_t which =
        random_below(in->random, chance(in, 8) ? COUNT(schema_texts) : COUNT(schema_texts) - 1);
    struct json schema = json_of(in->arena, schema_texts[which]);

    if (chance(in, 2)) /* another text, so another version */
        json_put(in->arena, &schema, STR("title"),
                 json_string(arena_printf(in->arena, "%u", random_below(in->random, 1000))));
    return schema;
}

/* ---- what properties mean ---- */

static bool refer_state_id(struct inputs *in, struct json *out)
{
    const struct map *states = &in->model->states;
    struct model_state *any =
        states->count ? states->entries[random_below(in->random, states->count)].value : NULL;

    if (any && chance(in, 12))
        in->state = any; /* perhaps a deleted one */
    *out = in->state && !chance(in, 30) ? json_string(in->state->id) : text("wfstate_none");
    return true;
}

static bool refer_version(struct inputs *in, struct json *out)
{
    bool of_schema = str_starts(str_from(in->op->name), STR("schema."));
    int64_t newest = of_schema ? (in->schema ? in->schema->version : 1)
                               : (in->state ? in->state->version : 1);
    int64_t version = 1 + (int64_t)random_below(in->random, (uint32_t)newest);

    if (str_starts(str_from(in->op->name), STR("node.")))
        return false; /* of a program, which is a text */
    *out = json_int(in->arena, chance(in, 20) ? newest + 1 : version);
    return true;
}

static bool refer_expected(struct inputs *in, struct json *out)
{
    int64_t newest = in->state ? in->state->version : 1;

    *out = json_int(in->arena, chance(in, 4) && newest > 1 ? newest - 1 : newest);
    return true;
}

static bool refer_schema_name(struct inputs *in, struct json *out)
{
    bool makes = str_eq(str_from(in->op->name), STR("schema.create"));

    *out = makes || !in->schema || chance(in, 20)
               ? text(schema_names[random_below(in->random, COUNT(schema_names))])
               : json_string(in->schema->name);
    return true;
}

/* Of agents and profiles there are two at most, so that they meet. */
static bool refer_name(struct inputs *in, struct json *out)
{
    if (op_is_of(in, "schema."))
        return refer_schema_name(in, out);
    if (op_is_of(in, "state.")) {
        *out = json_string(arena_printf(in->arena, "plan-%u", random_below(in->random, 200)));
        return true;
    }
    *out = text(chance(in, 3) ? "tester" : "reviewer");
    return op_is_of(in, "agent.") || op_is_of(in, "profile.");
}

static bool refer_schema_version(struct inputs *in, struct json *out)
{
    *out = json_int(in->arena, in->schema ? in->schema->version : 1);
    return true;
}

static bool refer_document(struct inputs *in, struct json *out)
{
    *out = inputs_document(in, in->schema);
    return true;
}

static bool refer_operations(struct inputs *in, struct json *out)
{
    *out = make_operations(in);
    return true;
}

static bool refer_merge(struct inputs *in, struct json *out)
{
    if (!op_is_of(in, "state.")) {
        *out = json_of(in->arena, chance(in, 2) ? "{'description':'new'}" : "{'unset':null}");
        return true;
    }
    *out = inputs_document(in, in->schema);
    if (out->kind == JSON_OBJECT && out->len && chance(in, 4))
        out->members[0].value = json_null();
    return true;
}

static bool refer_json_schema(struct inputs *in, struct json *out)
{
    *out = make_schema(in);
    return true;
}

/* Servers come and go while one of them runs. */
static bool refer_node_id(struct inputs *in, struct json *out)
{
    *out = json_string(arena_printf(in->arena, "node_%u", random_below(in->random, 4)));
    return true;
}

static bool refer_token_id(struct inputs *in, struct json *out)
{
    const struct map *tokens = &in->model->tokens;

    *out = tokens->count && !chance(in, 10)
               ? json_string(tokens->entries[random_below(in->random, tokens->count)].key)
               : text("vw_none");
    return true;
}

static bool refer_pointer(struct inputs *in, struct json *out)
{
    struct json unused;

    *out = json_string(chance(in, 5) ? STR("") : any_place(in, &unused));
    return true;
}

static bool refer_pointers(struct inputs *in, struct json *out)
{
    struct json pointer;

    *out = json_array();
    refer_pointer(in, &pointer);
    json_push(in->arena, out, pointer);
    return true;
}

static bool refer_query(struct inputs *in, struct json *out)
{
    static const char *const queries[] = { "$.*", "$..id", "$.list[0]",
                                           "$.tasks[?@.status=='open']", "$.[" };
    *out = text(queries[random_below(in->random, COUNT(queries))]);
    return true;
}

static bool refer_timeout(struct inputs *in, struct json *out)
{
    *out = json_int(in->arena, 0);
    return true;
}

static const struct {
    const char *name;
    bool (*refer)(struct inputs *in, struct json *out);
} words[] = {
    { "state_id", refer_state_id },
    { "subject", refer_state_id },
    { "version", refer_version },
    { "before", refer_version },
    { "from", refer_version },
    { "to", refer_version },
    { "since_version", refer_version },
    { "wait_version", refer_version },
    { "expected_version", refer_expected },
    { "schema_name", refer_schema_name },
    { "schema", refer_schema_name },
    { "name", refer_name },
    { "schema_version", refer_schema_version },
    { "initial_data", refer_document },
    { "data", refer_document },
    { "operations", refer_operations },
    { "merge", refer_merge },
    { "json_schema", refer_json_schema },
    { "token_id", refer_token_id },
    { "node_id", refer_node_id },
    { "workflow_state_id", refer_state_id },
    { "pointer", refer_pointer },
    { "pointers", refer_pointers },
    { "query", refer_query },
    { "timeout", refer_timeout },
    { "wait", refer_timeout },
};

static bool refer(void *self, str name, const struct json *schema, struct json *out)
{
    (void)schema;
    if (inputs_flow_refer(self, name, out) || inputs_team_refer(self, name, out))
        return true;
    for (size_t i = 0; i < COUNT(words); i++)
        if (str_eq(name, str_from(words[i].name)))
            return words[i].refer(self, out);
    return false;
}

/* ---- all of it ---- */

void inputs_init(struct inputs *in, struct arena *a, struct random *r, struct model *m)
{
    *in = (struct inputs){ .arena = a, .random = r, .model = m };
    in->generator = (struct generator){ .arena = a, .random = r, .refer = refer, .self = in };
}

/* Inputs of which the rules ask more than their schema says. */
static const struct {
    const char *op, *input;
} examples[] = {
    { "agent.create", "{'name':'%s','description':'reads','profile':'claude','tags':['t']}" },
    { "project.create", "{'name':'%s','project_dir':'/work'}" },
    { "wake.report", "{'waker':'same','failed':'%s'}" },
    { "profile.create", "{'name':'%s','start':['run','{prompt}'],'unset':['A*']}" },
};

/* A waker of a session that is there. */
static struct json wake_input(struct inputs *in)
{
    struct json session;

    inputs_team_refer(in, STR("session"), &session);
    return json_of(in->arena,
                   arena_printf(in->arena,
                                "{'session_id':'" STR_FMT "','waker':'same','way':'rewake',"
                                "'timeout':0}",
                                STR_ARG(json_text(&session)))
                       .at);
}

static struct json input_of(struct inputs *in, const struct json *schema)
{
    if (op_is(in, "wake.take"))
        return wake_input(in);
    for (size_t i = 0; i < COUNT(examples); i++)
        if (op_is(in, examples[i].op))
            return json_of(in->arena, arena_printf(in->arena, examples[i].input,
                                                   chance(in, 3) ? "tester" : "reviewer")
                                          .at);
    return generate(&in->generator, schema);
}

struct json inputs_draw(struct inputs *in, const struct op *op, bool broken)
{
    const struct json *schema = json_parsed(in->arena, str_from(op->input));

    in->op = op;
    in->properties = json_get(schema, "properties");
    in->state = inputs_state(in);
    bool of_state = in->state && json_get(in->properties, "state_id");
    bool migrates = json_get(in->properties, "schema_version");
    in->schema = !of_state ? any_schema(in) : migrates ? sibling_schema(in) : in->state->schema;
    inputs_team_draw(in);
    in->generator.root = schema;
    struct json input = input_of(in, schema);
    if (broken)
        generate_break(&in->generator, &input);
    return input;
}

static enum actor_kind kind_for(struct inputs *in, const struct op *op, bool anybody)
{
    static const struct {
        enum actor_kind kind;
        unsigned by;
    } kinds[] = { { ACTOR_OPERATOR, BY_OPERATOR },
                  { ACTOR_SESSION, BY_SESSION },
                  { ACTOR_VIEWER, BY_VIEWER },
                  { ACTOR_RUNNER, BY_RUNNER },
                  { ACTOR_RUNNER, BY_WORKER } };
    uint32_t from = random_below(in->random, COUNT(kinds));

    for (size_t i = 0; i < COUNT(kinds); i++) {
        size_t k = (from + i) % COUNT(kinds);
        if (anybody || op->by & kinds[k].by)
            return kinds[k].kind;
    }
    return ACTOR_SYSTEM;
}

const struct actor *inputs_actor(struct inputs *in, const struct op *op, const struct json *input,
                                 bool anybody)
{
    static const str sections[][2] = { { { "/a", 2 }, { "/list", 5 } },
                                       { { "/tasks", 6 }, { "/status", 7 } } };
    static const str names[] = { [ACTOR_SYSTEM] = { "system", 6 },
                                 [ACTOR_OPERATOR] = { "operator", 8 },
                                 [ACTOR_RUNNER] = { "runner", 6 },
                                 [ACTOR_SESSION] = { "alice", 5 },
                                 [ACTOR_VIEWER] = { "viewer", 6 } };
    static const str every_job = { "t*", 2 };
    struct actor *a = ARENA_NEW(in->arena, struct actor);

    a->kind = kind_for(in, op, anybody);
    a->name = names[a->kind];
    if (a->kind == ACTOR_RUNNER && op->by & BY_WORKER) {
        a->jobs = &every_job;
        a->job_count = 1;
    }
    if (a->kind != ACTOR_SESSION)
        return a;
    bool second = chance(in, 2);
    a->session_id = second ? STR("ses_2") : STR("ses_1");
    a->state_id = chance(in, 10) ? STR("wfstate_none") : json_str(input, "state_id");
    if (second) {
        a->name = STR("bob");
        a->pointers = sections[random_below(in->random, COUNT(sections))];
        a->pointer_count = 2;
    }
    return a;
}
