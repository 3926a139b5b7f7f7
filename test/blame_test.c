/* blame_test.c: who wrote what, told by state.blame and by a model that follows every value.
 *
 * The model is a document in which each value is {"v": version, "c": the value}, and
 * the same patches are applied to it, at "/c/…/c/…". So a moved value takes its
 * version along, which is all there is to it. */
#include "check.h"
#include "core/blame.h"
#include "hostile.h"
#include "json/patch.h"
#include "json/pointer.h"
#include "json_help.h"
#include "sim/both.h"
#include "sim/world.h"

static struct world *world_new(const char *data)
{
    static int worlds;
    struct world *w;

    CHECK_OK(world_open(arena_printf(check_arena(), "blame%d.db", ++worlds).at, NULL, &w));
    CHECK_OK(world_call(w, "schema.create", "{'name':'any','json_schema':true}", "")->error);
    CHECK_OK(
        world_call(w, "state.create",
                   arena_printf(check_arena(), "{'schema_name':'any','initial_data':%s}", data).at,
                   "")
            ->error);
    return w;
}

static struct command *patch(struct world *w, const char *operations)
{
    struct command *c = world_call(
        w, "state.patch",
        arena_printf(check_arena(), "{'state_id':'wfstate_2','operations':%s}", operations).at, "");
    CHECK_OK(c->error);
    return c;
}

static const struct json *entries(struct world *w, const char *pointer)
{
    struct command *c = world_call(
        w, "state.blame",
        arena_printf(check_arena(), "{'state_id':'wfstate_2','pointer':'%s'}", pointer).at, "");

    CHECK_OK(c->error);
    const struct json *json = json_parsed(check_arena(), c->answer.text);
    return json_get(json, "entries");
}

/* "pointer=version …" */
static str blamed(struct world *w, const char *pointer)
{
    const struct json *all = entries(w, pointer);
    struct buf out = buf_in(check_arena());

    for (uint32_t i = 0; i < all->len; i++)
        buf_printf(&out, "%s" STR_FMT "=%d", i ? " " : "",
                   STR_ARG(json_str(&all->items[i], "pointer")),
                   (int)json_int_or(&all->items[i], "version", 0));
    return buf_str(&out);
}

TEST_BOTH(blame_names_the_last_writer_of_a_value_and_of_what_is_in_it)
{
    struct world *w = world_new("{'a':1,'b':{'x':1,'y':1},'c':[1,2]}");

    CHECK_STR(blamed(w, ""), "=1 /a=1 /b=1 /c=1");
    w->actor = (struct actor){ .kind = ACTOR_SESSION,
                               .name = STR("child"),
                               .session_id = STR("ses_1"),
                               .state_id = STR("wfstate_2") };
    patch(w, "[{'op':'replace','path':'/b/x','value':2}]");
    patch(w, "[{'op':'test','path':'/a','value':1}]");
    CHECK_STR(blamed(w, ""), "=2 /a=1 /b=2 /c=1");
    CHECK_STR(blamed(w, "/b"), "/b=2 /b/x=2 /b/y=1");
    const struct json *x = &entries(w, "/b/x")->items[0];
    CHECK_STR(json_shown(check_arena(), x),
              "{'pointer':'/b/x','version':2,'time':'2025-01-15T10:35:00Z','actor':'child',"
              "'session_id':'ses_1'}");
    CHECK_ERR(world_call(w, "state.blame", "{'state_id':'wfstate_2','pointer':'/b/z'}", "")->error,
              ERR_NOT_FOUND);
    CHECK_ERR(world_call(w, "state.blame", "{'state_id':'wfstate_2','pointer':'b'}", "")->error,
              ERR_INVALID);
    world_close(w);
}

TEST_BOTH(blame_follows_elements_of_arrays)
{
    static const struct {
        const char *operations, *blamed; /* of /c after version 2 replaced its second element */
    } cases[] = {
        { "[{'op':'add','path':'/c/0','value':9}]", "/c=3 /c/0=3 /c/1=1 /c/2=2 /c/3=1" },
        { "[{'op':'add','path':'/c/-','value':9}]", "/c=3 /c/0=1 /c/1=2 /c/2=1 /c/3=3" },
        { "[{'op':'remove','path':'/c/0'}]", "/c=3 /c/0=2 /c/1=1" },
        { "[{'op':'move','from':'/c/1','path':'/c/0'}]", "/c=3 /c/0=2 /c/1=1 /c/2=1" },
        { "[{'op':'move','from':'/c/0','path':'/c/-'}]", "/c=3 /c/0=2 /c/1=1 /c/2=1" },
        { "[{'op':'move','from':'/c/1','path':'/d'},{'op':'move','from':'/d','path':'/c/-'}]",
          "/c=3 /c/0=1 /c/1=1 /c/2=2" },
        { "[{'op':'copy','from':'/c/1','path':'/c/0'}]", "/c=3 /c/0=3 /c/1=1 /c/2=2 /c/3=1" },
        { "[{'op':'move','from':'/c','path':'/d'},{'op':'move','from':'/d','path':'/c'}]",
          "/c=2 /c/0=1 /c/1=2 /c/2=1" },
        { "[{'op':'replace','path':'','value':{'c':[2]}}]", "/c=3 /c/0=3" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world *w = world_new("{'a':{'0':1,'1':1},'c':[1,2,3],"
                                    "'pad':'01234567890123456789012345678901234567890123456789'}");
        patch(w, "[{'op':'replace','path':'/c/1','value':7}]");
        patch(w, cases[i].operations);
        CHECK_STR(blamed(w, "/c"), cases[i].blamed);
        world_close(w);
    }
}

/* Numbers as names of members are not indexes. */
TEST_BOTH(blame_tells_members_from_elements)
{
    struct world *w = world_new("{'a':{'0':1,'1':1,'-':1}}");

    patch(w, "[{'op':'add','path':'/a/0','value':2},{'op':'remove','path':'/a/0'}]");
    CHECK_STR(blamed(w, "/a"), "/a=2 /a/1=1 /a/-=1");
    patch(w, "[{'op':'add','path':'/a/-','value':2}]");
    CHECK_STR(blamed(w, "/a"), "/a=3 /a/1=1 /a/-=3");
    world_close(w);
}

TEST_BOTH(blame_of_a_wide_value_is_cut)
{
    struct buf data = buf_in(check_arena());

    for (int i = 0; i < 1001; i++)
        buf_printf(&data, "%s%d", i ? "," : "[", i);
    struct world *w = world_new(arena_printf(check_arena(), "%s]", buf_str(&data).at).at);
    struct command *c = world_call(w, "state.blame", "{'state_id':'wfstate_2'}", "");
    CHECK_OK(c->error);
    CHECK(str_ends(c->answer.text, STR("\"truncated\":true}")));
    CHECK_INT(entries(w, "")->len, 1001);
    world_close(w);
}

/* ---- the model ---- */

static struct json wrapped(const struct json *value, int64_t version)
{
    struct arena *a = check_arena();
    struct json out = json_object(), inner = *value;

    if (value->kind == JSON_ARRAY) {
        inner = json_array();
        for (uint32_t i = 0; i < value->len; i++)
            json_push(a, &inner, wrapped(&value->items[i], version));
    } else if (value->kind == JSON_OBJECT) {
        inner = json_object();
        for (uint32_t i = 0; i < value->len; i++)
            json_put(a, &inner, json_name(&value->members[i]),
                     wrapped(&value->members[i].value, version));
    }
    json_put(a, &out, STR("v"), json_int(a, version));
    json_put(a, &out, STR("c"), inner);
    return out;
}

static struct json unwrapped(const struct json *model)
{
    struct arena *a = check_arena();
    const struct json *value = json_get(model, "c");
    struct json out = *value;

    if (value->kind == JSON_ARRAY) {
        out = json_array();
        for (uint32_t i = 0; i < value->len; i++)
            json_push(a, &out, unwrapped(&value->items[i]));
    } else if (value->kind == JSON_OBJECT) {
        out = json_object();
        for (uint32_t i = 0; i < value->len; i++)
            json_put(a, &out, json_name(&value->members[i]), unwrapped(&value->members[i].value));
    }
    return out;
}

static str mapped(str pointer, size_t tokens)
{
    struct json_pointer p;
    struct buf out = buf_in(check_arena());

    CHECK_OK(json_pointer_parse(check_arena(), pointer, &p));
    for (size_t i = 0; i < p.count && i < tokens; i++) {
        buf_add(&out, STR("/c"));
        json_pointer_add(&out, p.tokens[i]);
    }
    return buf_str(&out);
}

static void model_apply(struct json *model, struct json op)
{
    struct json one = json_array();

    json_push(check_arena(), &one, op);
    CHECK_OK(json_patch(check_arena(), model, &one, NULL));
}

/* Everything around a changed place is changed. */
static void model_touch(struct json *model, str pointer, int64_t version)
{
    struct json_pointer p;

    CHECK_OK(json_pointer_parse(check_arena(), pointer, &p));
    for (size_t n = 0; n < p.count; n++) {
        struct json op = json_object();
        json_put(check_arena(), &op, STR("op"), json_string(STR("replace")));
        json_put(check_arena(), &op, STR("path"),
                 json_string(
                     arena_printf(check_arena(), STR_FMT "/v", STR_ARG(mapped(pointer, n)))));
        json_put(check_arena(), &op, STR("value"), json_int(check_arena(), version));
        model_apply(model, op);
    }
}

static void model_follow(struct json *model, const struct json *op, int64_t version)
{
    struct arena *a = check_arena();
    str name = json_str(op, "op"), path = json_str(op, "path"), from = json_str(op, "from");
    bool copies = str_eq(name, STR("copy")), moves = str_eq(name, STR("move"));
    struct json same = json_object(), value;

    if (str_eq(name, STR("test")) || (moves && str_eq(from, path)))
        return;
    json_put(a, &same, STR("op"), json_string(copies ? STR("add") : name));
    json_put(a, &same, STR("path"), json_string(mapped(path, SIZE_MAX)));
    if (moves) {
        json_put(a, &same, STR("from"), json_string(mapped(from, SIZE_MAX)));
        model_touch(model, from, version);
    } else if (copies) {
        const struct json *there;
        CHECK_OK(json_pointer_get(a, model, mapped(from, SIZE_MAX), &there));
        value = unwrapped(there);
        json_put(a, &same, STR("value"), wrapped(&value, version));
    } else if (json_get(op, "value")) {
        json_put(a, &same, STR("value"), wrapped(json_get(op, "value"), version));
    }
    model_apply(model, same);
    model_touch(model, path, version);
}

/* ---- random histories ---- */

struct places {
    str all[2000];
    size_t count;
};

static void places_find(struct places *p, const struct json *value, str pointer)
{
    if (p->count < sizeof p->all / sizeof *p->all)
        p->all[p->count++] = pointer;
    if (value->kind != JSON_ARRAY && value->kind != JSON_OBJECT)
        return;
    for (uint32_t i = 0; i < value->len; i++) {
        struct buf below = buf_in(check_arena());
        bool named = value->kind == JSON_OBJECT;
        buf_add(&below, pointer);
        if (named)
            json_pointer_add(&below, json_name(&value->members[i]));
        else
            json_pointer_add_index(&below, i);
        places_find(p, named ? &value->members[i].value : &value->items[i], buf_str(&below));
    }
}

static str random_place(struct random *r, const struct places *p)
{
    return p->all[1 + random_below(r, (uint32_t)p->count - 1)];
}

/* A place where something may be put: often one that is there, else one beside the others. */
static str random_target(struct random *r, const struct places *p)
{
    static const char *const ends[] = { "-", "0", "1", "2", "x" };
    str place = random_place(r, p);

    if (random_below(r, 3) == 0)
        return place;
    return arena_printf(check_arena(), STR_FMT "/%s", STR_ARG(place), ends[random_below(r, 5)]);
}

static struct json random_op(struct random *r, const struct places *p)
{
    static const char *const names[] = {
        "add", "add", "remove", "replace", "move", "move", "copy"
    };
    struct arena *a = check_arena();
    const char *name = names[random_below(r, sizeof names / sizeof *names)];
    struct json op = json_object();
    bool puts = strcmp(name, "remove") && strcmp(name, "replace");

    json_put(a, &op, STR("op"), json_string(str_from(name)));
    json_put(a, &op, STR("path"), json_string(puts ? random_target(r, p) : random_place(r, p)));
    if (!strcmp(name, "move") || !strcmp(name, "copy"))
        json_put(a, &op, STR("from"), json_string(random_place(r, p)));
    else if (strcmp(name, "remove"))
        json_put(a, &op, STR("value"), random_json(a, r, 2, 4));
    return op;
}

/* A write of one to three operations, or of a whole document that is much like the last one. */
static struct command *random_write(struct world *w, struct random *r, const struct json *doc)
{
    struct places p = { .count = 0 };
    struct json operations = json_array(), next = json_copy(check_arena(), doc);

    places_find(&p, doc, STR(""));
    for (uint32_t n = 1 + random_below(r, 3); n > 0; n--)
        json_push(check_arena(), &operations, random_op(r, &p));
    bool whole = random_below(r, 4) == 0 && !json_patch(check_arena(), &next, &operations, NULL) &&
                 p.count < 100;
    struct buf input = buf_in(check_arena());
    buf_printf(&input, "{\"state_id\":\"wfstate_2\",\"%s\":", whole ? "data" : "operations");
    json_print(&input, whole ? &next : &operations);
    buf_byte(&input, '}');

    struct command *c = world_command(w, whole ? "state.update" : "state.patch", "{}", "");
    CHECK_OK(json_parse(check_arena(), buf_str(&input), NULL, &c->input));
    op_perform(&w->engine, &c, 1);
    return c;
}

static void blame_check(struct world *w, const struct json *model, str pointer)
{
    struct buf input = buf_in(check_arena());
    const struct json *json, *there;

    buf_printf(&input, "{\"state_id\":\"wfstate_2\",\"pointer\":");
    json_print_string(&input, pointer);
    buf_byte(&input, '}');
    struct command *c = world_command(w, "state.blame", "{}", "");
    CHECK_OK(json_parse(check_arena(), buf_str(&input), NULL, &c->input));
    op_perform(&w->engine, &c, 1);
    CHECK_OK(c->error);
    json = json_parsed(check_arena(), c->answer.text);
    const struct json *all = json_get(json, "entries");
    for (uint32_t i = 0; i < all->len; i++) {
        str place = json_str(&all->items[i], "pointer");
        CHECK_OK(json_pointer_get(check_arena(), model, mapped(place, SIZE_MAX), &there));
        if (json_int_or(&all->items[i], "version", 0) != json_int_or(there, "v", -1))
            check_fail(__FILE__, __LINE__, STR_FMT ": expected %d, found %d", STR_ARG(place),
                       (int)json_int_or(there, "v", -1),
                       (int)json_int_or(&all->items[i], "version", 0));
    }
}

TEST_BOTH_LIMIT(random_histories_are_blamed_as_the_model_says, 60)
{
    struct random r = random_start();
    int writes = 0, moves = 0;
    str pad = arena_printf(check_arena(), "%0600d", 0);

    for (int round = 0; round < 12; round++) {
        struct json doc = json_of(check_arena(), "{'a':[1,2,3],'b':{'0':[],'1':{}}}");
        if (round % 2) /* longer ways between whole bodies */
            json_put(check_arena(), &doc, STR("pad"), json_string(pad));
        struct world *w = world_new(json_printed(check_arena(), &doc).at);
        struct json model = wrapped(&doc, 1);
        for (int i = 0; i < 60; i++) {
            struct command *c = random_write(w, &r, &doc);
            if (c->error || !c->events) /* it was refused, or all was so already */
                continue;
            const struct json *logged = json_parsed(check_arena(), c->events->data);
            for (uint32_t k = 0; k < logged->len; k++) {
                model_follow(&model, &logged->items[k], c->answer.version);
                moves += str_eq(json_str(&logged->items[k], "op"), STR("move"));
            }
            writes++;
            doc = unwrapped(&model);
            struct places p = { .count = 0 };
            places_find(&p, &doc, STR(""));
            if (p.count < 2)
                break;
            blame_check(w, &model, p.all[random_below(&r, (uint32_t)p.count)]);
            blame_check(w, &model, STR(""));
        }
        world_close(w);
    }
    check_note("%d writes, %d moves", writes, moves);
    CHECK(writes > 100 && moves > 20);
}

/* Long histories are walked quickly: what is never written again is found at their beginning. */
TEST_LIMIT(blame_through_ten_thousand_versions_takes_milliseconds, 60)
{
    struct world *w = world_new("{'first':1,'n':0,'list':[],'pad':"
                                "'01234567890123456789012345678901234567890123456789'}");
    struct command *batch[100];

    for (int v = 1; v < 10000;) {
        size_t n = 0;
        for (; n < 100 && v < 10000; n++, v++)
            batch[n] = world_command(
                w, "state.patch",
                arena_printf(check_arena(),
                             "{'state_id':'wfstate_2','operations':[{'op':'add','path':'/%s',"
                             "'value':%d}]}",
                             v % 100 ? "n" : "list/-", v)
                    .at,
                "");
        op_perform(&w->engine, batch, n);
        CHECK_OK(batch[n - 1]->error);
    }
    static const char *const pointers[] = { "/first", "/list/0", "" };
    for (int i = 0; i < 3; i++) {
        struct work start = work_now();
        const struct json *all = entries(w, pointers[i]);
        struct work spent = work_since(start);
        CHECK_INT(json_int_or(&all->items[0], "version", 0), i == 0 ? 1 : i == 1 ? 101 : 10000);
        check_work(pointers[i], spent);
    }
    world_close(w);
}
