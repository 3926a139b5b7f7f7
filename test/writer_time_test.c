/* writer_time_test.c: no command within the limits keeps the writer for long.
 *
 * Everybody waits for the one writer, so what a command may cost there is what its neighbours wait: at
 * most some 50 ms, which is checked as an amount of work. Each case is the worst that was found for its operation. */
#include "core/schema.h"
#include "hostile.h"
#include "sim/world.h"
#include "calls.h"

struct costly {
    const char *name;
    struct text schema; /* of the state; empty: any document fits */
    struct text doc;    /* of the state */
    const char *op;
    struct text input;    /* without the state's id, which is put in front */
    struct text pointers; /* of the token that calls, with commas; none: the operator's */
    bool forgets;         /* compiled schemas are not at hand: the server was started again */
    const char *expected; /* as for struct hostile */
};

static void write_with(struct world *w, const char *op, str input)
{
    struct command *c = world_command(w, op, input.at, "");

    op_perform(&w->engine, &c, 1);
    CHECK_OK(c->error);
}

static str input_with(struct arena *a, const char *head, const struct text *t, const char *tail)
{
    str text = text_make(a, t, false);

    return arena_printf(a, "%s" STR_FMT "%s", head, STR_ARG(text), tail);
}

static struct command *costly_prepare(struct world *w, const struct costly *k)
{
    struct arena *a = w->arena;
    static const struct text any = PLAIN("true");

    if (k->doc.head) {
        write_with(w, "schema.create",
                   input_with(a, "{'name':'s','json_schema':", k->schema.head ? &k->schema : &any,
                              "}"));
        write_with(w, "state.create",
                   input_with(a, "{'schema_name':'s','initial_data':", &k->doc, "}"));
    }
    if (k->pointers.head) {
        str *granted = ARENA_ARRAY(a, str, k->pointers.count + 1);
        str rest = text_make(a, &k->pointers, false);
        for (size_t i = 0; i <= k->pointers.count; i++)
            str_cut(rest, ',', &granted[i], &rest);
        w->actor = (struct actor){ .kind = ACTOR_SESSION,
                                   .name = STR("agent"),
                                   .session_id = STR("ses_1"),
                                   .state_id = STR("wfstate_2"),
                                   .pointers = granted,
                                   .pointer_count = k->pointers.count + 1 };
    }
    if (k->forgets) {
        cache_free(w->engine.compiled);
        w->engine.compiled = cache_new(CACHE_LEAST);
    }
    str input = input_with(a, k->doc.head ? "{'state_id':'wfstate_2'," : "{", &k->input, "}");
    return world_command(w, k->op, input.at, "");
}

/* 50 ms, of the units that commands are made of (test/work.c). The largest is 48 million. */
#define COMMAND_UNITS 56000000

static const struct costly *current;

static err run_costly(struct arena *a, const struct hostile *h, struct work *spent)
{
    static int worlds;
    struct world *w;

    (void)h;
    CHECK_OK(world_open(arena_printf(a, "%s/%d.db", check_memory_folder(), ++worlds).at, NULL, &w));
    struct command *c = costly_prepare(w, current);
    bool refused = op_wants_preparing(c) && !op_prepare(w->table, c);
    struct work start = work_now();
    if (!refused)
        op_perform(&w->engine, &c, 1);
    *spent = work_since(start);
    err e = c->error ? err_new(a, c->error->kind, STR_FMT, STR_ARG(c->error->message)) : NULL;
    world_close(w);
    return e;
}

#define MEMBERS 100000
#define WIDE MANY("{'x':0", ",'\1':0", MEMBERS, "}")
#define LONG_ARRAY MANY("[0", ",0", 500000, "]")

TEST_LIMIT(no_command_keeps_the_writer_for_long, 300)
{
    static const struct costly cases[] = {
        { "1,000 moves in a long array", .doc = LONG_ARRAY, .op = "state.patch",
          .input = MANY("'operations':[{'op':'move','from':'/0','path':'/400000'}",
                        ",{'op':'move','from':'/0','path':'/400000'}", 999, "]"),
          .expected = "TOO_LARGE" },
        { "1,000 replacements in a wide object", .doc = WIDE, .op = "state.patch",
          .input = MANY("'operations':[{'op':'replace','path':'/99999','value':1}",
                        ",{'op':'replace','path':'/99\1','value':1}", 999, "]"),
          .expected = "ok" },
        { "1,000 new members of a wide object", .doc = WIDE, .op = "state.patch",
          .input = MANY("'operations':[{'op':'add','path':'/n','value':1}",
                        ",{'op':'add','path':'/n\1','value':1}", 999, "]"),
          .expected = "ok" },
        { "1,000 removals from a wide object", .doc = WIDE, .op = "state.patch",
          .input = MANY("'operations':[{'op':'remove','path':'/x'}",
                        ",{'op':'remove','path':'/\1'}", 999, "]"),
          .expected = "TOO_LARGE" },
        { "a large value that moves deeper and back",
          .doc = MANY("{'b':{},'a':[0", ",0", 500000, "]}"), .op = "state.patch",
          .input = MANY(
              "'operations':[{'op':'test','path':'/b','value':{}}",
              ",{'op':'move','from':'/a','path':'/b/a'},{'op':'move','from':'/b/a','path':'/a'}",
              499, "]"),
          .expected = "TOO_LARGE" },
        { "a test of a wide object in another order",
          .doc = MANY("{'a':{'x':0", ",'\1':0", 90000, "}}"), .op = "state.patch",
          .input = { "'operations':[{'op':'test','path':'/a','value':{", "'\3':0,", 90000,
                     "'x':0}}", "", "]" },
          .expected = "ok" },
        { "a replacement in reverse by a session with sections", .doc = WIDE, .op = "state.update",
          .input = MANY("'data':{", "'\3':0,", MEMBERS, "'x':1}"), .pointers = PLAIN("/x"),
          .expected = "ok" },
        { "a long array by a session with many sections", .doc = MANY("[0", ",0", 400000, "]"),
          .op = "state.update", .input = MANY("'data':[1", ",0", 400000, "]"),
          .pointers = MANY("/0", ",/39\1", 99, ""), .expected = "ok" },
        { "a wide object by a session with many sections", .doc = WIDE, .op = "state.update",
          .input = MANY("'data':{", "'\3':0,", MEMBERS, "'x':1}"),
          .pointers = MANY("/x", ",/99\1", 99, ""), .expected = "ok" },
        { "a replacement in reverse", .doc = WIDE, .op = "state.update",
          .input = MANY("'data':{", "'\3':0,", MEMBERS, "'x':1}"), .expected = "ok" },
        { "a deep and long document by a session with sections",
          .doc = { "{'x':0,'a':", "[", 60, "[0", "]", "]}" }, .op = "state.update",
          .input = { "'data':{'x':1,'a':", "[", 60, "[0", "]", "]}" }, .pointers = PLAIN("/x"),
          .expected = "ok" },
        { "a replacement of all members", .doc = WIDE, .op = "state.update",
          .input = MANY("'data':{'y':0", ",'b\1':0", 90000, "}"), .expected = "ok" },
        { "a merge patch of all members", .doc = WIDE, .op = "state.patch",
          .input = MANY("'merge':{'y':0", ",'\1':1", MEMBERS, "}"), .expected = "ok" },
        { "a merge patch that removes all", .doc = WIDE, .op = "state.patch",
          .input = MANY("'merge':{'y':0", ",'\1':null", MEMBERS, "}"), .expected = "ok" },
        { "numbers that all differ", .doc = MANY("[0", ",\1", 140000, "]"), .op = "state.update",
          .input = MANY("'data':[0", ",-\1", 120000, "]"), .expected = "ok" },
        { "numbers in reverse", .doc = MANY("[0", ",\1", 140000, "]"), .op = "state.update",
          .input = MANY("'data':[0", ",\3", 140000, "]"), .expected = "ok" },
        { "objects with ids in reverse", .doc = MANY("[{'id':-1}", ",{'id':\1}", 60000, "]"),
          .op = "state.update", .input = MANY("'data':[{'id':-1}", ",{'id':\3}", 60000, "]"),
          .expected = "ok" },
        { "a document beyond the limit", .doc = MANY("[0", ",\1", 140000, "]"),
          .op = "state.update", .input = MANY("'data':[1", ",1", 2000000, "]"),
          .expected = "TOO_LARGE" },
        { "a long array of zeros and ones", .doc = LONG_ARRAY, .op = "state.update",
          .input = MANY("'data':[1", ",0,1,1", 170000, "]"), .expected = "ok" },
        { "owners of many members of a wide object",
          .schema = MANY("{'x-owner':'operator','properties':{'x':{'x-owner':'root'}",
                         ",'\1':{'x-owner':'root'}", 24900, "}}"),
          .doc = WIDE, .op = "state.patch",
          .input = PLAIN("'operations':[{'op':'replace','path':'/50000','value':1}]"),
          .pointers = PLAIN(""), .expected = "FORBIDDEN" },
        { "a deep document with its difference at the end",
          .doc = { "{'x':0,'a':", "[", 55, "[0,1,2,3,4,5,6,7,8,9]", ",0,0,0,0,0,0,0,0,0,0]", "}" },
          .op = "state.update",
          .input = { "'data':{'x':0,'a':", "[", 55, "[0,1,2,3,4,5,6,7,8,9]",
                     ",0,0,0,0,0,0,0,0,0,1]", "}" },
          .pointers = PLAIN("/x"), .expected = "FORBIDDEN" },
        { "a schema of many patterns", .op = "schema.create",
          .input = MANY("'name':'s','json_schema':{'properties':{'x':true",
                        ",'\1':{'pattern':'^(\1|[a-z]+)$'}", 1100, "}}"),
          .expected = "ok" },
        { "a schema that is not at hand any more",
          .schema =
              MANY("{'properties':{'x':true", ",'\1':{'pattern':'^(\1|[a-z]+)$'}", 1100, "}}"),
          .doc = PLAIN("{}"), .op = "state.update", .input = PLAIN("'data':{'x':1}"),
          .forgets = true, .expected = "ok" },
        { "a schema of many references that is not at hand any more",
          .schema = MANY("{'$defs':{'x':true", ",'\2':{'$ref':'#/$defs/\1'}", 24900, ",'0':true}}"),
          .doc = PLAIN("{}"), .op = "state.update", .input = PLAIN("'data':{'x':1}"),
          .forgets = true, .expected = "ok" },
        { "a schema of many parts that is not at hand any more",
          .schema = MANY("{'properties':{'x':true", ",'\1':{'type':'string'}", 24900, "}}"),
          .doc = PLAIN("{}"), .op = "state.update", .input = PLAIN("'data':{'x':1}"),
          .forgets = true, .expected = "ok" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct hostile h = { .name = cases[i].name, .expected = cases[i].expected };
        current = &cases[i];
        check_hostile_within(&h, 1, run_costly, COMMAND_UNITS);
    }
}
