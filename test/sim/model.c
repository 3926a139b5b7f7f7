/* model.c: what must be true, as plain values in memory. */
#include "sim/model.h"

#include "core/token.h"
#include "json/patch.h"
#include "json/pointer.h"
#include "json/schema/schema.h"
#include "json_help.h"

struct model *model_new(struct arena *a, const struct retention *retention)
{
    struct model *m = ARENA_NEW(a, struct model);

    m->arena = a;
    m->retention = retention;
    m->states = map_in(a);
    m->keys = map_in(a);
    m->tokens = map_in(a);
    m->sessions = map_in(a);
    m->runners = map_in(a);
    m->permissions = map_in(a);
    m->approvals = map_in(a);
    m->executions = map_in(a);
    m->incidents = map_in(a);
    m->jobs = map_in(a);
    m->runs = map_in(a);
    return m;
}

static void *copied(struct arena *a, const void *from, size_t bytes)
{
    return bytes ? memcpy(arena_alloc(a, bytes), from, bytes) : NULL;
}

/* Documents are never changed, so they need not be copied. */
struct model *model_copy(const struct model *m)
{
    struct model *copy = copied(m->arena, m, sizeof *m);

    copy->events = copied(m->arena, m->events, (size_t)m->seq * sizeof *m->events);
    copy->event_room = m->seq;
    copy->states = map_in(m->arena);
    for (uint32_t i = 0; i < m->states.count; i++) {
        struct model_state *s = copied(m->arena, m->states.entries[i].value, sizeof *s);
        s->versions = copied(m->arena, s->versions, (size_t)s->version * sizeof *s->versions);
        s->room = (size_t)s->version;
        map_put(&copy->states, s->id, s);
    }
    return copy;
}

struct model_state *model_state(const struct model *m, str id)
{
    return map_get(&m->states, id);
}

/* ---- following messages ---- */

static void version_add(struct model *m, struct model_state *s, struct json doc)
{
    if ((size_t)s->version == s->room) {
        size_t room = s->room ? 2 * s->room : 8;
        s->versions = arena_grow(m->arena, s->versions, s->room * sizeof *s->versions,
                                 room * sizeof *s->versions);
        s->room = room;
    }
    s->versions[s->version++] = (struct model_version){ m->seq, doc };
    s->looked = false;
}

static struct model_state *state_new(struct model *m, str id)
{
    struct model_state *s = ARENA_NEW(m->arena, struct model_state);

    CHECK(!model_state(m, id));
    s->id = id;
    map_put(&m->states, id, s);
    return s;
}

/* The first version is a patch too, of nothing. */
static void state_follow(struct model *m, const struct json *message, str type, str id)
{
    struct model_state *s = model_state(m, id);
    int64_t version = json_int_or(message, "version", 0);

    if (!s)
        s = state_new(m, id);
    CHECK(!s->deleted);
    m->events[m->seq - 1].state = s;
    if (str_eq(type, STR("workflow_state_deleted"))) {
        CHECK_INT(version, s->version);
        s->deleted = true;
        return;
    }
    CHECK_INT(version, s->version + 1);
    struct json doc = s->version ? json_copy(m->arena, &s->versions[s->version - 1].doc)
                                 : json_null();
    CHECK_OK(json_patch(m->arena, &doc, json_get(message, "patch"), NULL));
    version_add(m, s, doc);
}

static void schema_follow(struct model *m, const struct json *message, str id)
{
    const struct json *data = json_get(message, "data");
    struct model_schema *s = ARENA_NEW(m->arena, struct model_schema);

    *s = (struct model_schema){ .id = id,
                                .name = json_str(data, "name"),
                                .version = json_int_or(data, "version", 0),
                                .next = m->schemas };
    m->schemas = s;
    m->schema_count++;
}

void model_message(struct model *m, str text)
{
    str copy = arena_copy(m->arena, text);

    const struct json *message = json_parsed(m->arena, copy);
    str type = json_str(message, "event_type"), state = json_str(message, "state_id");
    CHECK_INT(json_int_or(message, "seq", 0), m->seq + 1); /* none lost, none twice, in order */
    if (m->seq == m->event_room) {
        int64_t room = m->event_room ? 2 * m->event_room : 64;
        m->events = arena_grow(m->arena, m->events, (size_t)m->event_room * sizeof *m->events,
                               (size_t)room * sizeof *m->events);
        m->event_room = room;
    }
    m->events[m->seq++] =
        (struct model_event){ .subject = state.len ? state : json_str(message, "subject"),
                              .type = type,
                              .message = copy,
                              .version = json_int_or(message, "version", 0),
                              .time_ms = m->now_ms };
    if (state.len)
        state_follow(m, message, type, state);
    else if (str_eq(type, STR("schema_registered")))
        schema_follow(m, message, json_str(message, "subject"));
}

/* ---- answers ---- */

static str key_name(struct model *m, const struct command *c)
{
    str owner = c->actor->session_id.len ? c->actor->session_id : c->actor->name;
    return arena_printf(m->arena, "%s " STR_FMT "\n" STR_FMT, actor_kind_name(c->actor->kind),
                        STR_ARG(owner), STR_ARG(c->key));
}

bool model_key_promised(const struct model *m, const struct model_key *k)
{
    return k && m->now_ms - k->at_ms < m->retention->keys_ms - MODEL_MARGIN_MS;
}

static bool is_of_the_store(err e)
{
    return e->kind == ERR_UNAVAILABLE || e->kind == ERR_FULL;
}

void model_key_check(struct model *m, const struct command *c)
{
    const struct model_key *k = c->key.len ? map_get(&m->keys, key_name(m, c)) : NULL;

    if (c->op->secret || !model_key_promised(m, k))
        return;
    bool same = c->op == k->op &&
                str_eq(json_printed(m->arena, c->input), json_printed(m->arena, k->input));
    if (same)
        CHECK(!c->error || is_of_the_store(c->error));
    else
        CHECK(c->error); /* UNFIT, if it is well-formed and allowed at all */
}

static void key_keep(struct model *m, str name, const struct command *c)
{
    struct model_key *k = ARENA_NEW(m->arena, struct model_key);

    *k = (struct model_key){ .op = c->op,
                             .input = c->input,
                             .actor = c->actor,
                             .key = c->key,
                             .answer = c->answer.text,
                             .version = c->answer.version,
                             .at_ms = m->now_ms,
                             .created = c->answer.created,
                             .empty = c->answer.empty };
    map_put(&m->keys, name, k);
}

void model_may_learn(struct model *m, const struct command *c, bool silent)
{
    str name = key_name(m, c);

    if (silent && c->repeated && !model_key_promised(m, map_get(&m->keys, name)))
        key_keep(m, name, c);
}

static void key_answered(struct model *m, const struct command *c)
{
    str name = key_name(m, c);
    const struct model_key *k = map_get(&m->keys, name);

    if (!c->repeated) {
        CHECK(!model_key_promised(m, k));
        key_keep(m, name, c);
        return;
    }
    CHECK(k && str_eq(c->answer.text, k->answer) && c->answer.version == k->version);
    CHECK(c->answer.created == k->created && c->answer.empty == k->empty && !c->events);
}

/* Members that an actor may not write are in `b` as they are in `a`. */
static void sections_same(struct arena *arena, const struct actor *actor, const struct json *a,
                          const struct json *b)
{
    for (uint32_t i = 0; a->kind == JSON_OBJECT && i < a->len; i++) {
        str name = json_name(&a->members[i]);
        const struct json *other = json_find(b, name);
        struct buf pointer = buf_in(arena);
        json_pointer_add(&pointer, name);
        if (actor_may_write(actor, buf_str(&pointer)))
            continue;
        if (!other || !json_equal(&a->members[i].value, other))
            check_fail(__FILE__, __LINE__, STR_FMT " has changed " STR_FMT, STR_ARG(actor->name),
                       STR_ARG(buf_str(&pointer)));
    }
}

/* A session with sections has changed nothing outside of them; the swarm's are members. */
static void sections_check(struct model *m, const struct command *c, const struct model_state *s)
{
    if (!c->actor->pointers || s->version < 2)
        return;
    const struct model_version *v = &s->versions[s->version - 1];
    sections_same(m->arena, c->actor, &v->doc, &v[-1].doc);
    sections_same(m->arena, c->actor, &v[-1].doc, &v->doc);
}

/* What a write answers is what its event says, and one that expected a version got the next. */
static void write_answered(struct model *m, const struct command *c)
{
    const struct json *answer, *data;
    int64_t expected = json_int_or(c->input, "expected_version", 0);

    if (c->answer.text.len == 0)
        return;
    answer = json_parsed(m->arena, c->answer.text);
    str token = json_str(answer, "token_id");
    if (token.len && !map_get(&m->tokens, token))
        map_put(&m->tokens, token, (void *)token.at);
    struct model_state *s = model_state(m, json_str(answer, "state_id"));
    if (!s || !c->events || !str_starts(str_from(c->op->name), STR("state.")))
        return; /* a project's answer names its state, and is none of it */
    CHECK(!expected || c->answer.version == expected + 1);
    CHECK_INT(c->answer.version, s->version);
    if ((data = json_get(answer, "current_data")))
        CHECK(json_equal(data, &s->versions[s->version - 1].doc));
    sections_check(m, c, s);
}

/* ---- what there is to name ---- */

static void session_follow(struct model *m, const struct event *e)
{
    struct model_session *s = map_get(&m->sessions, e->subject);

    if (!s) {
        s = ARENA_NEW(m->arena, struct model_session);
        s->id = arena_copy(m->arena, e->subject);
        map_put(&m->sessions, s->id, s);
    }
    s->settled = e->type == EVENT_SESSION_SETTLED;
    s->gone = e->type == EVENT_SESSION_DELETED;
}

/* One of a list of which nothing but the id is known. */
static void id_add(struct model *m, struct map *ids, str id)
{
    str copy = arena_copy(m->arena, id);

    if (copy.len && !map_get(ids, copy))
        map_put(ids, copy, (void *)copy.at);
}

static void id_follow(struct model *m, struct map *ids, const struct event *e)
{
    id_add(m, ids, e->subject);
}

static void incident_follow(struct model *m, const struct event *e)
{
    id_add(m, &m->incidents, json_str(json_parsed(m->arena, e->data), "incident_id"));
}

/* The jobs that a claim has brought. */
static void jobs_follow(struct model *m, const struct command *c)
{
    const struct json *jobs;

    if (!str_contains(c->answer.text, STR("\"job_id\"")))
        return;
    jobs = json_get(json_parsed(m->arena, c->answer.text), "jobs");
    for (uint32_t i = 0; json_is(jobs, JSON_ARRAY) && i < jobs->len; i++)
        id_add(m, &m->jobs, json_str(&jobs->items[i], "job_id"));
}

static void run_follow(struct model *m, const struct event *e)
{
    struct model_run *r = map_get(&m->runs, e->subject);
    const struct json *data = json_parsed(m->arena, e->data);

    if (!r) {
        r = ARENA_NEW(m->arena, struct model_run);
        r->id = arena_copy(m->arena, e->subject);
        map_put(&m->runs, r->id, r);
    }
    r->held = e->type != EVENT_RUN_ENQUEUED && e->type != EVENT_RUN_FINISHED;
    if (e->type != EVENT_RUN_CLAIMED)
        return;
    r->runner_id = json_str(data, "runner_id");
    r->fence++;
}

/* Ids of teams, for those who ask about them. */
static void names_follow(struct model *m, const struct event *e)
{
    switch (e->type) {
    case EVENT_SESSION_CREATED:
    case EVENT_SESSION_UPDATED:
    case EVENT_SESSION_SETTLED:
    case EVENT_SESSION_DELETED: session_follow(m, e); break;
    case EVENT_RUNNER_JOINED: id_follow(m, &m->runners, e); break;
    case EVENT_APPROVAL_REQUESTED:
        id_follow(m, str_starts(e->subject, STR("apr_")) ? &m->approvals : &m->permissions, e);
        break;
    case EVENT_EXECUTION_STARTED: id_follow(m, &m->executions, e); break;
    case EVENT_INCIDENT_RAISED: incident_follow(m, e); break;
    case EVENT_RUN_ENQUEUED:
    case EVENT_RUN_CLAIMED:
    case EVENT_RUN_STARTED:
    case EVENT_RUN_STOPPING:
    case EVENT_RUN_FINISHED: run_follow(m, e); break;
    default: break;
    }
}

void model_answered(struct model *m, const struct command *c)
{
    for (const struct event *e = c->events; e; e = event_after(e)) {
        struct buf message = buf_in(m->arena);
        event_print(&message, e, EVENT_MESSAGE);
        model_message(m, buf_str(&message));
        names_follow(m, e);
    }
    if (c->key.len && c->op->effect == OP_WRITES && !c->op->secret)
        key_answered(m, c);
    write_answered(m, c);
    jobs_follow(m, c);
}

/* ---- reading ---- */

struct command *world_ask(struct world *w, struct arena *a, const char *op, str input)
{
    static const struct actor operator_actor = { .kind = ACTOR_OPERATOR,
                                                 .name = { "operator", 8 } };
    struct command *c = ARENA_NEW(a, struct command);
    struct json *json = arena_alloc(a, sizeof *json);
    struct engine *reader;

    *json = json_of(a, input.at);
    *c = (struct command){
        .arena = a, .op = op_find(w->table, str_from(op)), .input = json, .actor = &operator_actor
    };
    CHECK_OK(world_reader(w, &reader));
    op_read(reader, c);
    world_check_answer(w, c);
    return c;
}

static void release(void *program)
{
    schema_free(program);
}

static void schema_look(struct model *m, struct world *w, struct model_schema *s)
{
    struct schema_options options = { .assert_formats = true };
    struct command *c = world_ask(w, m->arena, "schema.get",
                                  arena_printf(m->arena, "{'name':'" STR_FMT "','version':%lld}",
                                               STR_ARG(s->name), (long long)s->version));

    CHECK_OK(c->error);
    const struct json *answer = json_parsed(m->arena, c->answer.text);
    CHECK(str_eq(json_str(answer, "schema_id"), s->id));
    s->text = json_get(answer, "json_schema");
    CHECK_OK(schema_compile(m->arena, s->text, &options, &s->program));
    arena_on_release(m->arena, release, s->program);
}

static struct model_schema *schema_by_id(const struct model *m, str id)
{
    for (struct model_schema *s = m->schemas; s; s = s->next)
        if (str_eq(s->id, id))
            return s;
    return NULL;
}

/* Reads never go back: what was acknowledged before is seen, and nothing that was not. */
static void state_look(struct model *m, struct world *w, struct model_state *s)
{
    struct command *c =
        world_ask(w, m->arena, "state.read",
                  arena_printf(m->arena, "{'state_id':'" STR_FMT "'}", STR_ARG(s->id)));

    s->looked = true;
    CHECK_INT(c->seq, m->seq);
    if (s->deleted) {
        CHECK_ERR(c->error, ERR_NOT_FOUND);
        return;
    }
    CHECK_OK(c->error);
    CHECK_INT(c->answer.version, s->version);
    const struct json *answer = json_parsed(m->arena, c->answer.text);
    CHECK(json_equal(json_get(answer, "current_data"), &s->versions[s->version - 1].doc));
    s->schema = schema_by_id(m, json_str(answer, "schema_id"));
    CHECK(s->schema);
}

void model_look(struct model *m, struct world *w)
{
    for (struct model_schema *s = m->schemas; s && !s->text; s = s->next)
        schema_look(m, w, s);
    for (uint32_t i = 0; i < m->states.count; i++) {
        struct model_state *s = m->states.entries[i].value;
        if (!s->looked)
            state_look(m, w, s);
    }
}

bool model_outgrown(const struct model *m, const struct model_state *s, int64_t version)
{
    return version <= s->version - m->retention->versions &&
           version % m->retention->versions_step != 0;
}

int64_t model_look_back(const struct model *m, struct world *w, const struct model_state *s)
{
    int64_t dropped = 0;

    for (int64_t v = 1; v <= s->version; v++) {
        struct command *c =
            world_ask(w, m->arena, "state.read",
                      arena_printf(m->arena, "{'state_id':'" STR_FMT "','version':%lld}",
                                   STR_ARG(s->id), (long long)v));
        if (c->error && c->error->kind == ERR_GONE && model_outgrown(m, s, v)) {
            dropped++;
            continue;
        }
        CHECK_OK(c->error);
        CHECK_INT(c->answer.version, v);
        const struct json *answer = json_parsed(m->arena, c->answer.text);
        CHECK(json_equal(json_get(answer, "current_data"), &s->versions[v - 1].doc));
    }
    return dropped;
}

void model_same(const struct model *a, const struct model *b)
{
    CHECK_INT(a->states.count, b->states.count);
    for (uint32_t i = 0; i < a->states.count; i++) {
        const struct model_state *s = a->states.entries[i].value, *t = model_state(b, s->id);
        CHECK(t && s->deleted == t->deleted);
        CHECK_INT(s->version, t->version);
        CHECK(json_equal(&s->versions[s->version - 1].doc, &t->versions[t->version - 1].doc));
    }
}
