/* core_test.c: schemas, states, their history and the log, on a real database.
 *
 * Ids are counted and time is a number, so every run is the same. */
#include "base/cache.h"
#include "check.h"
#include "core/alias.h"
#include "core/idempotency.h"
#include "core/node.h"
#include "core/session.h"
#include "core/state.h"
#include "core/tables.h"
#include "core/token.h"
#include "json_help.h"
#include "sim/both.h"
#include "store/store.h"

struct fixture {
    struct store *store;
    struct sql *sql;
    struct store_node node;
    struct cache *compiled;
    struct actor actor;
    struct tx_source source;
    int64_t now_ms;
    int ids;
    struct tx tx;
};

static str count_id(void *self, struct arena *a, const char *prefix)
{
    struct fixture *w = self;
    return arena_printf(a, "%s%d", prefix, ++w->ids);
}

static void count_bytes(void *self, unsigned char *bytes, size_t count)
{
    struct fixture *w = self;
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)++w->ids;
}

/* On a store that has only so many steps done, as an older version left it. */
static struct fixture *fixture_of_step(const char *store, int count)
{
    struct fixture *w = ARENA_NEW(check_arena(), struct fixture);
    struct store_migration *steps =
        ARENA_ARRAY(check_arena(), struct store_migration, (size_t)count);

    for (int i = 0; i < count; i++)
        steps[i] = (struct store_migration){ tables_steps[i].version, tables_steps[i].statements };
    struct store_options options = { .migrations = steps, .migration_count = count };
    CHECK_OK(store_open(check_arena(), str_from(store), &options, &w->store));
    CHECK_OK(store_connect(check_arena(), w->store, STORE_WRITES, &w->sql));
    w->compiled = cache_new(CACHE_LEAST);
    w->source = (struct tx_source){ count_id, count_bytes, w };
    w->actor = (struct actor){ .kind = ACTOR_OPERATOR, .name = STR("operator") };
    w->now_ms = 1000;
    return w;
}

static struct fixture *fixture_new(void)
{
    return fixture_of_step(both_store("core.db"), tables_step_count);
}

static void fixture_free(struct fixture *w)
{
    both_note_rows(w->sql);
    cache_free(w->compiled);
    store_disconnect(w->sql);
    store_close(w->store);
}

/* A command of its own, in a transaction of its own. */
static struct tx *begin(struct fixture *w)
{
    CHECK_OK(store_begin(w->sql, check_arena(), &w->node));
    w->tx = (struct tx){ .arena = check_arena(),
                         .sql = w->sql,
                         .now_ms = ++w->now_ms,
                         .seq = &w->node.seq,
                         .actor = &w->actor,
                         .source = &w->source,
                         .compiled = w->compiled };
    return &w->tx;
}

/* Commits when the command succeeded, as perform does; gives its error. */
static err end(struct fixture *w, err e)
{
    err why;

    if (e)
        store_rollback(w->sql);
    else
        CHECK_INT(store_commit(w->sql, &w->node, &why), STORE_COMMITTED);
    return e;
}

static err schema_add(struct tx *tx, str name, const struct json *text, str description,
                      struct schema_version *out, bool *created)
{
    struct schema_ready *ready;

    TRY(schema_prepare(tx->arena, text, &ready));
    return schema_register(tx, name, ready, description, out, created);
}

#define RUN(w, call) end((w), (begin(w), (call)))

static const struct json *json(const char *text)
{
    struct json *j = arena_alloc(check_arena(), sizeof *j);
    *j = json_of(check_arena(), text);
    return j;
}

static const struct json *json_of_int(int n)
{
    return json(arena_printf(check_arena(), "%d", n).at);
}

static const char task_schema[] =
    "{'type':'object','required':['status'],'properties':{'status':{'enum':['open','done']},"
    "'n':{'type':'integer'},'list':{'type':'array'}}}";

static struct schema_version registered(struct fixture *w)
{
    struct schema_version v;
    bool created;
    CHECK_OK(
        RUN(w, schema_add(&w->tx, STR("task"), json(task_schema), STR("a task"), &v, &created)));
    return v;
}

static struct state created(struct fixture *w, const char *data)
{
    struct schema_version v = registered(w);
    struct state s;
    CHECK_OK(RUN(w, state_create(&w->tx, &v, json(data), STR(""), &s)));
    return s;
}

TEST_BOTH(a_known_name_gets_the_next_version_and_the_same_text_the_same_one)
{
    struct fixture *w = fixture_new();
    struct schema_version v;
    bool is_new;

    CHECK_OK(RUN(w, schema_add(&w->tx, STR("task"), json(task_schema), STR(""), &v, &is_new)));
    CHECK_INT(v.version, 1);
    CHECK(is_new);
    CHECK_STR(v.id, "schema_1");
    CHECK_OK(RUN(w, schema_add(&w->tx, STR("task"), json(task_schema), STR(""), &v, &is_new)));
    CHECK_INT(v.version, 1);
    CHECK(!is_new);
    CHECK_OK(RUN(w, schema_add(&w->tx, STR("task"), json("{'maximum':10000000000000000000001}"),
                               STR(""), &v, &is_new)));
    CHECK_INT(v.version, 2);
    CHECK_OK(RUN(w, schema_add(&w->tx, STR("task"), json("{'maximum':10000000000000000000002}"),
                               STR(""), &v, &is_new)));
    CHECK_INT(v.version, 3);

    CHECK_OK(RUN(w, schema_find(&w->tx, STR("task"), 2, &v)));
    CHECK_STR(v.text, "{\"maximum\":10000000000000000000001}");
    CHECK_OK(RUN(w, schema_find(&w->tx, STR("task"), 0, &v)));
    CHECK_INT(v.version, 3);
    fixture_free(w);
}

TEST_BOTH(schemas_are_refused_with_what_is_wrong)
{
    struct fixture *w = fixture_new();
    struct schema_version v;
    bool is_new;

    err e = RUN(w, schema_add(&w->tx, STR("a b"), json("{}"), STR(""), &v, &is_new));
    CHECK_ERR(e, ERR_INVALID);
    CHECK_STR(e->message,
              "expected a name of 1 to 100 letters, digits and - _ . for a schema, found "
              "\"a b\"");
    e = RUN(w, schema_add(&w->tx, STR("a"), json("{'type':'strin'}"), STR(""), &v, &is_new));
    CHECK_ERR(e, ERR_UNFIT);
    e = RUN(w, schema_find(&w->tx, STR("a"), 0, &v));
    CHECK_ERR(e, ERR_NOT_FOUND);
    registered(w);
    e = RUN(w, schema_find(&w->tx, STR("task"), 4, &v));
    CHECK_ERR(e, ERR_NOT_FOUND);
    CHECK_STR(e->message, "schema \"task\" has no version 4: its newest is 1");
    fixture_free(w);
}

TEST_BOTH(schemas_are_listed_by_name_and_by_version)
{
    struct fixture *w = fixture_new();
    const struct schema_version *all;
    struct schema_version v;
    size_t count;
    bool is_new;

    for (int i = 0; i < 3; i++) {
        CHECK_OK(RUN(w, schema_add(&w->tx, STR("b"),
                                   json(arena_printf(check_arena(), "{'minimum':%d}", i).at),
                                   STR(""), &v, &is_new)));
        CHECK_OK(RUN(w, schema_add(&w->tx, arena_printf(check_arena(), "a%d", i), json("true"),
                                   STR(""), &v, &is_new)));
    }
    CHECK_OK(RUN(w, schema_list(&w->tx, STR(""), 3, &all, &count)));
    CHECK_INT(count, 3);
    CHECK_STR(all[2].name, "a2");
    CHECK_OK(RUN(w, schema_list(&w->tx, all[2].name, 3, &all, &count)));
    CHECK_INT(count, 1);
    CHECK_STR(all[0].name, "b");
    CHECK_INT(all[0].version, 3);
    CHECK_OK(RUN(w, schema_versions(&w->tx, STR("b"), 0, 10, &all, &count)));
    CHECK_INT(count, 3);
    CHECK_INT(all[0].version, 3);
    CHECK_INT(all[2].version, 1);
    fixture_free(w);
}

TEST_BOTH(each_write_makes_the_next_version)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open','list':[1]}");

    CHECK_STR(s.id, "wfstate_2");
    CHECK_INT(s.version, 1);
    CHECK_OK(
        RUN(w, state_patch(&w->tx, s.id, json("[{'op':'add','path':'/n','value':1}]"), 0, &s)));
    CHECK_INT(s.version, 2);
    CHECK_OK(RUN(w, state_merge(&w->tx, s.id, json("{'n':null,'status':'done'}"), 2, &s)));
    CHECK_OK(RUN(w, state_replace(&w->tx, s.id, json("{'status':'open','n':7}"), 0, 0, &s, NULL)));
    CHECK_INT(s.version, 4);
    CHECK_STR(s.body, "{\"status\":\"open\",\"n\":7}");
    CHECK_OK(RUN(w, state_get(&w->tx, s.id, &s)));
    CHECK_INT(s.version, 4);
    CHECK_STR(s.body, "{\"status\":\"open\",\"n\":7}");
    CHECK_INT(s.updated_at_ms, w->now_ms - 1);
    fixture_free(w);
}

TEST_BOTH(a_refused_write_changes_nothing)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open'}"), after;
    int64_t seq = w->node.seq;

    err e =
        RUN(w, state_patch(&w->tx, s.id, json("[{'op':'replace','path':'/status','value':'dnoe'}]"),
                           0, &after));
    CHECK_ERR(e, ERR_UNFIT);
    e = RUN(w, state_patch(&w->tx, s.id, json("[{'op':'remove','path':'/none'}]"), 0, &after));
    CHECK_ERR(e, ERR_UNFIT);
    e = RUN(w, state_replace(&w->tx, s.id, json("{'status':'done'}"), 7, 0, &after, NULL));
    CHECK_ERR(e, ERR_CONFLICT);
    CHECK_STR(e->message,
              "state wfstate_2 is at version 1, expected 7: read it again and repeat the "
              "change on what it is now");
    CHECK_STR(e->members, "\"current_version\":1");
    CHECK_ERR(RUN(w, state_get(&w->tx, STR("wfstate_9"), &after)), ERR_NOT_FOUND);
    CHECK_OK(RUN(w, state_get(&w->tx, s.id, &after)));
    CHECK_INT(after.version, 1);
    CHECK_INT(w->node.seq, seq);
    fixture_free(w);
}

/* Snapshots are taken on the way, for the number of versions and for the size of the patches. */
TEST_BOTH(every_version_can_be_had_again)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open','list':[],'n':0}");
    enum { VERSIONS = 350 };
    static str bodies[VERSIONS + 1];

    bodies[1] = s.body;
    for (int v = 2; v <= VERSIONS; v++) {
        str patch =
            v % 2 == 0
                ? arena_printf(check_arena(), "[{'op':'add','path':'/list/-','value':%d}]", v)
                : arena_printf(check_arena(), "[{'op':'replace','path':'/n','value':%d}]", v);
        CHECK_OK(RUN(w, state_patch(&w->tx, s.id, json(patch.at), v - 1, &s)));
        bodies[v] = s.body;
    }
    int64_t far = 0;
    for (int v = VERSIONS; v >= 1; v--) {
        struct json doc;
        const struct event *row;
        CHECK_OK(RUN(w, state_at(&w->tx, &s, v, &doc)));
        CHECK_STR(json_printed(check_arena(), &doc), bodies[v].at);
        CHECK_OK(RUN(w, event_get(&w->tx, s.last_seq - (VERSIONS - v), &row)));
        CHECK_INT(row->version, v);
        if (row->seq - row->snap_seq > far)
            far = row->seq - row->snap_seq;
    }
    CHECK(far > 3 && far < 100);
    struct json none;
    CHECK_ERR(RUN(w, state_at(&w->tx, &s, VERSIONS + 1, &none)), ERR_NOT_FOUND);
    CHECK_ERR(RUN(w, state_at(&w->tx, &s, 0, &none)), ERR_NOT_FOUND);
    fixture_free(w);
}

TEST_BOTH(a_rollback_is_a_new_version)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open','n':1}");

    CHECK_OK(RUN(w, state_replace(&w->tx, s.id, json("{'status':'done'}"), 0, 0, &s, NULL)));
    CHECK_OK(RUN(w, state_rollback(&w->tx, s.id, 1, 2, &s)));
    CHECK_INT(s.version, 3);
    CHECK_STR(s.body, "{\"status\":\"open\",\"n\":1}");
    fixture_free(w);
}

TEST_BOTH(history_says_who_wrote_what_and_when)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open'}");
    const struct event *rows;
    size_t count;

    w->actor = (struct actor){
        .kind = ACTOR_SESSION, .name = STR("child-1"), .session_id = STR("ses_1"), .state_id = s.id
    };
    CHECK_OK(
        RUN(w, state_patch(&w->tx, s.id, json("[{'op':'add','path':'/n','value':1}]"), 0, &s)));
    CHECK_OK(RUN(w, state_history(&w->tx, &s, 0, 10, &rows, &count, &(bool){ false })));
    CHECK_INT(count, 2);
    CHECK_INT(rows[0].version, 2);
    CHECK_STR(rows[0].actor, "child-1");
    CHECK_STR(rows[0].session_id, "ses_1");
    CHECK_STR(rows[0].data, "[{\"op\":\"add\",\"path\":\"/n\",\"value\":1}]");
    CHECK_STR(rows[1].actor, "operator");
    CHECK_OK(RUN(w, state_history(&w->tx, &s, 2, 10, &rows, &count, &(bool){ false })));
    CHECK_INT(count, 1);
    CHECK_INT(rows[0].version, 1);
    fixture_free(w);
}

TEST_BOTH(the_log_has_every_event_once_and_in_order)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open'}");
    struct event_page page;

    CHECK_ERR(RUN(w, state_replace(&w->tx, s.id, json("{}"), 0, 0, &s, NULL)), ERR_UNFIT);
    CHECK_OK(RUN(w, state_get(&w->tx, s.id, &s)));
    CHECK_OK(RUN(w, state_replace(&w->tx, s.id, json("{'status':'done'}"), 0, 0, &s, NULL)));
    CHECK_OK(RUN(w, state_delete(&w->tx, s.id, 2)));
    CHECK_OK(RUN(w, event_list(&w->tx, &(struct event_query){ .limit = 100 }, &page)));
    CHECK_INT(page.count, 4);
    static const enum event_type types[] = { EVENT_SCHEMA_REGISTERED, EVENT_STATE_CREATED,
                                             EVENT_STATE_UPDATED, EVENT_STATE_DELETED };
    for (size_t i = 0; i < page.count; i++) {
        CHECK_INT(page.events[i].seq, i + 1);
        CHECK_INT(page.events[i].type, types[i]);
    }
    struct event_query of_state = { .after = 2, .subject = s.id, .limit = 100 };
    CHECK_OK(RUN(w, event_list(&w->tx, &of_state, &page)));
    CHECK_INT(page.count, 2);
    CHECK_ERR(RUN(w, state_get(&w->tx, s.id, &s)), ERR_NOT_FOUND);
    fixture_free(w);
}

/* A document that stops fitting must name the schema version that it is bound to, not the newest. */
TEST_BOTH(a_state_stays_bound_to_its_schema_version)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open'}");
    struct schema_version v;
    bool is_new;

    CHECK_OK(RUN(w, schema_add(&w->tx, STR("task"), json("{'required':['other']}"), STR(""), &v,
                               &is_new)));
    CHECK_OK(RUN(w, state_replace(&w->tx, s.id, json("{'status':'done'}"), 0, 0, &s, NULL)));
    CHECK_STR(s.schema_id, "schema_1");
    fixture_free(w);
}

/* A name and a version may come again with another text; what was kept of the first must not. */
TEST_BOTH(a_schema_that_was_rolled_back_leaves_no_rules)
{
    struct fixture *w = fixture_new();
    struct schema_version v;
    struct state s;
    bool is_new;

    begin(w);
    CHECK_OK(schema_add(&w->tx, STR("task"), json("{'type':'string'}"), STR(""), &v, &is_new));
    CHECK_OK(state_create(&w->tx, &v, json("'text'"), STR(""), &s));
    store_rollback(w->sql);
    CHECK_OK(
        RUN(w, schema_add(&w->tx, STR("task"), json("{'type':'integer'}"), STR(""), &v, &is_new)));
    CHECK_INT(v.version, 1);
    CHECK_OK(RUN(w, state_create(&w->tx, &v, json("1"), STR(""), &s)));
    CHECK_ERR(RUN(w, state_replace(&w->tx, s.id, json("'text'"), 0, 0, &s, NULL)), ERR_UNFIT);
    fixture_free(w);
}

/* More schemas than are kept at hand, one of them as deep as a request can bring it. */
TEST_BOTH(rules_that_were_thrown_out_are_made_again)
{
    static const struct json_limits envelope = { .depth_max = JSON_DEPTH_MAX + 4 };
    struct fixture *w = fixture_new();
    struct state states[12], s;
    struct schema_version v;
    bool is_new;

    for (int i = 0; i < 12; i++) {
        struct buf text = buf_in(check_arena());
        for (int deep = 0; deep < 66; deep++)
            buf_add(&text, STR("{\"not\":"));
        buf_printf(&text, "{\"const\":%d}", i);
        for (int deep = 0; deep < 66; deep++)
            buf_add(&text, STR("}"));
        const struct json *schema;
        CHECK_OK(json_parse(check_arena(), buf_str(&text), &envelope, &schema));
        CHECK_OK(RUN(w, schema_add(&w->tx, arena_printf(check_arena(), "s%d", i), schema, STR(""),
                                   &v, &is_new)));
        CHECK_OK(RUN(w, state_create(&w->tx, &v, json_of_int(i), STR(""), &states[i])));
    }
    for (int i = 0; i < 24; i++) {
        CHECK_OK(
            RUN(w, state_replace(&w->tx, states[i % 12].id, json_of_int(i % 12), 0, 0, &s, NULL)));
        CHECK_ERR(RUN(w, state_replace(&w->tx, states[i % 12].id, json_of_int(99), 0, 0, &s, NULL)),
                  ERR_UNFIT);
    }
    fixture_free(w);
}

TEST_BOTH(a_state_beyond_its_size_is_refused)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open'}");
    struct json doc = json_object(), list = json_array();

    for (int i = 0; i < 300000; i++)
        json_push(check_arena(), &list, json_int(check_arena(), i));
    json_put(check_arena(), &doc, STR("status"), json_string(STR("open")));
    json_put(check_arena(), &doc, STR("list"), list);
    err e = RUN(w, state_replace(&w->tx, s.id, &doc, 0, 0, &s, NULL));
    CHECK_ERR(e, ERR_TOO_LARGE);
    fixture_free(w);
}

/* ---- tokens ---- */

static str minted(struct fixture *w, enum actor_kind kind, const char *scope, int64_t expires_in_ms,
                  struct token *token)
{
    str text;
    CHECK_OK(RUN(w, token_create(&w->tx, kind, STR("somebody"), scope ? json(scope) : NULL,
                                 expires_in_ms, token, &text)));
    return text;
}

TEST_BOTH(a_token_is_known_by_its_secret_alone)
{
    struct fixture *w = fixture_new();
    struct token token, found;
    struct actor actor;
    str text = minted(w, ACTOR_OPERATOR, NULL, 0, &token);

    CHECK(str_starts(text, arena_printf(check_arena(), STR_FMT ".", STR_ARG(token.id))));
    CHECK_OK(RUN(w, token_actor(&w->tx, text, &found, &actor)));
    CHECK_INT(actor.kind, ACTOR_OPERATOR);
    CHECK_STR(actor.name, "somebody");

    char *wrong = (char *)arena_copy(check_arena(), text).at;
    wrong[text.len - 1] ^= 1;
    CHECK_ERR(RUN(w, token_actor(&w->tx, (str){ wrong, text.len }, &found, &actor)),
              ERR_UNAUTHENTICATED);
    CHECK_ERR(RUN(w, token_actor(&w->tx, token.id, &found, &actor)), ERR_UNAUTHENTICATED);
    CHECK_ERR(RUN(w, token_actor(&w->tx, STR(""), &found, &actor)), ERR_UNAUTHENTICATED);

    const struct row *row;
    begin(w);
    CHECK_OK(
        sql_one(w->sql, &row, "SELECT hash FROM token WHERE token_id = $1", ARGS(TEXT(token.id))));
    CHECK_INT(row_str(row, 0).len, 64);
    CHECK_OK(end(w, NULL));
    fixture_free(w);
}

TEST_BOTH(a_revoked_or_expired_token_is_unknown)
{
    struct fixture *w = fixture_new();
    struct token token, found;
    struct actor actor;
    str first = minted(w, ACTOR_VIEWER, NULL, 0, &token);
    str second = minted(w, ACTOR_RUNNER, NULL, 100, &found);

    CHECK_OK(RUN(w, token_revoke(&w->tx, token.id)));
    CHECK_OK(RUN(w, token_revoke(&w->tx, token.id)));
    CHECK_INT(w->node.seq, 1); /* one event, however often */
    CHECK_ERR(RUN(w, token_revoke(&w->tx, STR("op_none"))), ERR_NOT_FOUND);
    CHECK_ERR(RUN(w, token_actor(&w->tx, first, &found, &actor)), ERR_UNAUTHENTICATED);
    CHECK_OK(RUN(w, token_actor(&w->tx, second, &found, &actor)));
    w->now_ms += 100;
    CHECK_ERR(RUN(w, token_actor(&w->tx, second, &found, &actor)), ERR_UNAUTHENTICATED);

    const struct token *all;
    size_t count;
    CHECK_OK(RUN(w, token_list(&w->tx, STR(""), 10, &all, &count)));
    CHECK_INT(count, 2);
    fixture_free(w);
}

TEST_BOTH(a_session_writes_within_its_sections_only)
{
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open','list':[],'n':1,'no':{}}"), after;
    struct token token;
    struct actor actor;
    str text = minted(w, ACTOR_SESSION,
                      "{'session_id':'ses_1','state_id':'wfstate_2','pointers':['/list','/n']}", 0,
                      &token);

    CHECK_OK(RUN(w, token_actor(&w->tx, text, &token, &actor)));
    w->actor = actor;
    CHECK_OK(RUN(w, state_patch(&w->tx, s.id,
                                json("[{'op':'add','path':'/list/0','value':1},"
                                     "{'op':'replace','path':'/n','value':2},"
                                     "{'op':'test','path':'/status','value':'open'},"
                                     "{'op':'copy','from':'/status','path':'/list/0'}]"),
                                0, &s)));
    static const char *const refused[] = {
        "[{'op':'replace','path':'/status','value':'done'}]",
        "[{'op':'add','path':'/no/x','value':1}]",
        "[{'op':'move','from':'/status','path':'/list/0'}]",
        "[{'op':'replace','path':'','value':{'status':'open'}}]",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(RUN(w, state_patch(&w->tx, s.id, json(refused[i]), 0, &after)));
    err e = RUN(w, state_merge(&w->tx, s.id, json("{'status':'done'}"), 0, &after));
    CHECK_ERR(e, ERR_FORBIDDEN);
    CHECK_STR(e->message,
              "this write changes \"/status\", which is outside of what this session may "
              "write: /list, /n");
    CHECK_OK(RUN(w, state_merge(&w->tx, s.id, json("{'n':3}"), 0, &s)));
    CHECK_INT(s.version, 3);
    fixture_free(w);
}

/* The shortest patch of such a change replaces all of the document. */
TEST_BOTH(a_whole_document_may_differ_within_the_sections)
{
    static const struct {
        const char *data;
        bool allowed;
    } cases[] = {
        { "{'status':'open','list':[{'k':[1,2,3],'l':{}}],'n':1}", true },
        { "{'status':'open','list':[7,{'z':'zzzzzzzzzzzzzzzzzzzzz'}],'n':9}", true },
        { "{'status':'open'}", true },
        { "{'status':'open','list':[],'n':1,'no':{}}", false },
        { "{'status':'done','list':[],'n':1}", false },
        { "{'list':[],'n':1}", false },
        { "[]", false },
    };
    struct fixture *w = fixture_new();
    struct state s = created(w, "{'status':'open','list':[{'k':[1],'l':{'a':1}}],'n':1}");
    struct actor before = w->actor;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        str sections[] = { STR("/list"), STR("/n") };
        w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                   .name = STR("child"),
                                   .session_id = STR("ses_1"),
                                   .state_id = s.id,
                                   .pointers = sections,
                                   .pointer_count = 2 };
        err e = RUN(w, state_replace(&w->tx, s.id, json(cases[i].data), 0, 0, &s, NULL));
        CHECK(cases[i].allowed ? !e : e && e->kind == ERR_FORBIDDEN);
    }
    w->actor = before;
    fixture_free(w);
}

/* An element's pointer names a place, and what stands there changes when one before it comes or
 * goes: by a patch as by a whole document. */
TEST_BOTH(a_section_in_an_array_does_not_reach_its_neighbours)
{
    static const struct {
        const char *list, *patch, *after;
        bool allowed;
    } cases[] = {
        { "['a','b','c']", "[{'op':'replace','path':'/list/1','value':'B'}]", "['a','B','c']",
          true },
        { "['a','b','c']", "[{'op':'remove','path':'/list/1'}]", "['a','c']", false },
        { "['a','b','c']", "[{'op':'add','path':'/list/1','value':'x'}]", "['a','x','b','c']",
          false },
        { "['a','b','c']", "[{'op':'move','from':'/list/1','path':'/list/0'}]", "['b','a','c']",
          false },
        { "['a','b','c']", "[{'op':'move','from':'/list/1','path':'/list/1'}]", "['a','b','c']",
          true },
        { "['a','b','c']",
          "[{'op':'remove','path':'/list/1'},{'op':'add','path':'/list/1','value':7}]",
          "['a',7,'c']", true },
        { "['a','b','c']", "[{'op':'remove','path':'/list/2'}]", "['a','b']", false },
        { "['a','b','b']", "[{'op':'remove','path':'/list/1'}]", "['a','b']", false },
        { "['a','b']", "[{'op':'remove','path':'/list/1'}]", "['a']", true },
        { "['a']", "[{'op':'add','path':'/list/1','value':'b'}]", "['a','b']", true },
        { "['a','b']", "[{'op':'add','path':'/list/-','value':'c'}]", "['a','b','c']", false },
        { "['a',{'x':1,'y':[2]}]", "[{'op':'remove','path':'/list/1/y/0'}]", "['a',{'x':1,'y':[]}]",
          true },
    };
#define DOCUMENT "{'status':'open','list':%s}"
    static const str section = STR("/list/1");
    struct fixture *w = fixture_new();
    struct actor maker = w->actor;

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const char *patch = cases[i / 2].patch;
        w->actor = maker;
        struct state s = created(w, arena_printf(check_arena(), DOCUMENT, cases[i / 2].list).at);
        w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                   .name = STR("child"),
                                   .session_id = STR("ses_1"),
                                   .state_id = s.id,
                                   .pointers = &section,
                                   .pointer_count = 1 };
        str data = arena_printf(check_arena(), DOCUMENT, cases[i / 2].after);
        err e = i % 2 ? RUN(w, state_replace(&w->tx, s.id, json(data.at), 0, 0, &s, NULL))
                      : RUN(w, state_patch(&w->tx, s.id, json(patch), 0, &s));
        CHECK(cases[i / 2].allowed ? !e : e && e->kind == ERR_FORBIDDEN);
    }
    w->actor = maker;
    fixture_free(w);
}

TEST_BOTH(a_token_with_a_bad_scope_is_not_made)
{
    struct fixture *w = fixture_new();
    struct token token;
    str text;

    CHECK_ERR(RUN(w, token_create(&w->tx, ACTOR_SESSION, STR("x"), json("{}"), 0, &token, &text)),
              ERR_INVALID);
    CHECK_ERR(RUN(w,
                  token_create(&w->tx, ACTOR_SESSION, STR("x"),
                               json("{'session_id':'s','pointers':['tasks']}"), 0, &token, &text)),
              ERR_INVALID);
    fixture_free(w);
}

/* ---- idempotency ---- */

TEST_BOTH(an_answer_is_given_again_under_its_key)
{
    struct fixture *w = fixture_new();
    str answer;

    CHECK_OK(RUN(w, idempotency_find(&w->tx, STR("k1"), STR("d1"), &answer)));
    CHECK_STR(answer, "");
    CHECK_OK(RUN(w, idempotency_keep(&w->tx, STR("k1"), STR("d1"), STR("{\"a\":1}"))));
    CHECK_OK(RUN(w, idempotency_find(&w->tx, STR("k1"), STR("d1"), &answer)));
    CHECK_STR(answer, "{\"a\":1}");
    err e = RUN(w, idempotency_find(&w->tx, STR("k1"), STR("d2"), &answer));
    CHECK_ERR(e, ERR_UNFIT);
    CHECK_STR(e->message, "the Idempotency-Key \"k1\" was used for another request: a new request "
                          "needs a new key");
    CHECK_ERR(RUN(w, idempotency_find(&w->tx, STR(""), STR("d"), &answer)), ERR_INVALID);

    w->actor =
        (struct actor){ .kind = ACTOR_SESSION, .name = STR("x"), .session_id = STR("ses_1") };
    CHECK_OK(RUN(w, idempotency_find(&w->tx, STR("k1"), STR("d2"), &answer)));
    CHECK_STR(answer, "");
    fixture_free(w);
}

TEST_BOTH(old_keys_are_forgotten_a_few_at_a_time)
{
    struct fixture *w = fixture_new();
    str answer;

    for (int i = 0; i < 5; i++)
        CHECK_OK(RUN(w, idempotency_keep(&w->tx, arena_printf(check_arena(), "k%d", i), STR("d"),
                                         STR("{}"))));
    CHECK_OK(RUN(w, idempotency_forget(&w->tx, w->now_ms, 3)));
    int kept = 0;
    for (int i = 0; i < 5; i++) {
        CHECK_OK(RUN(w, idempotency_find(&w->tx, arena_printf(check_arena(), "k%d", i), STR("d"),
                                         &answer)));
        kept += answer.len > 0;
    }
    CHECK_INT(kept, 2);
    CHECK_STR(answer, "{}"); /* the newest is there */
    fixture_free(w);
}

/* ---- older databases ---- */

static void session_of_step_2(struct fixture *w, const char *id, const char *parent)
{
    struct tx *tx = begin(w);

    CHECK_OK(sql_exec_(
        tx->sql,
        "INSERT INTO session (session_id, name, parent_id, root_id, depth, agent, profile,"
        " project_dir, status, live, state_id, pointers, attended, calls_back, settled, cycle,"
        " update_status, update_attempts, wrote_version, seen_version, run_id, client_id,"
        " hostname, git, result_run, error, tokens_in, tokens_out, tokens_cached, cost,"
        " usage_models, heard, heard_at, created_at, updated_at, ended_at)"
        " VALUES ($1, $1, $2, 'top', 1, 'coder', 'claude', '', 'idle', 1, '', '', 0, 0, 0, 1,"
        " '', 0, 0, 0, '', '', '', '', '', '', 0, 0, 0, 0, '', '', 0, 1, 1, 0)",
        ARGS(TEXT(str_from(id)), TEXT(str_from(parent)))));
    CHECK_OK(end(w, NULL));
}

/* Who chose an id, or an agent, was not kept: what a session may have chosen makes its child
 * nobody's owner. */
TEST_BOTH(sessions_of_an_older_database_own_what_only_the_operator_gave)
{
    static const struct {
        const char *id, *parent, *role;
        bool id_given;
    } cases[] = { { "top", "", "coder", true },
                  { "reviewer", "top", "", false },
                  { "ses_abc", "top", "", true } };
    const char *store = both_store("core.db");
    struct fixture *w = fixture_of_step(store, 2);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        session_of_step_2(w, cases[i].id, cases[i].parent);
    cache_free(w->compiled);
    store_disconnect(w->sql);
    store_close(w->store);
    w = fixture_of_step(store, tables_step_count);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct session s;
        bool found;
        CHECK_OK(session_find_id(begin(w), str_from(cases[i].id), &s, &found));
        CHECK(found);
        CHECK_STR(s.role, cases[i].role);
        CHECK_INT(s.id_given, cases[i].id_given);
        CHECK_OK(session_store(&w->tx, &s));
        CHECK_OK(end(w, NULL));
    }
    fixture_free(w);
}

/* Tables and columns have other names since; the rows are the same. */
TEST_BOTH(an_older_database_keeps_its_rows_under_new_names)
{
    const char *store = both_store("core.db");
    struct fixture *w = fixture_of_step(store, 8);
    const struct node *nodes;
    const struct row *row;
    size_t count;
    struct session s;
    bool found;
    str known;

    session_of_step_2(w, "top", "");
    struct tx *tx = begin(w);
    CHECK_OK(sql_exec_(tx->sql, "UPDATE session SET heard = 'reads', heard_at = 77", NO_ARGS));
    CHECK_OK(sql_exec_(tx->sql,
                       "INSERT INTO member (node_id, name, url, version, started_at, seen_at, seq)"
                       " VALUES ('node_1', 'here:1', 'http://here', '1', 900, 1000, 5)",
                       NO_ARGS));
    CHECK_OK(sql_exec_(tx->sql,
                       "INSERT INTO tie (kind, what, session_id, at)"
                       " VALUES ('process', 'here:7', 'top', 1000)",
                       NO_ARGS));
    CHECK_OK(sql_exec_(tx->sql,
                       "INSERT INTO runner (runner_id, token_id, name, hostname, project_dir, tags,"
                       " profiles, capacity, registered_at, seen_at, lost, looked)"
                       " VALUES ('r', '', 'r', '', '', '[]', '[]', 1, 1, 1, 0, 'so far')",
                       NO_ARGS));
    CHECK_OK(end(w, NULL));
    cache_free(w->compiled);
    store_disconnect(w->sql);
    store_close(w->store);

    w = fixture_of_step(store, tables_step_count);
    tx = begin(w);
    CHECK_OK(node_list(tx, STR(""), 10, &nodes, &count));
    CHECK_INT(count, 1);
    CHECK_STR(nodes[0].name, "here:1");
    CHECK_OK(alias_find(tx, ALIAS_PROCESS, STR("here:7"), &known));
    CHECK_STR(known, "top");
    CHECK_OK(session_find_id(tx, STR("top"), &s, &found));
    CHECK_STR(s.last_event, "reads");
    CHECK_INT(s.last_event_at_ms, 77);
    CHECK_OK(sql_one_(tx->sql, &row, "SELECT claim_cursor FROM runner", NO_ARGS));
    CHECK_STR(row_str(row, 0), "so far");
    CHECK_OK(end(w, NULL));
    fixture_free(w);
}
