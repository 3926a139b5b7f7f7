/* answers_test.c: no answer is larger than it may be, and none takes much more memory to make. */
#include "core/retain.h"
#include "calls.h"

enum { ANSWER = 4 << 20, MEMORY = 28 << 20 }; /* bytes: of an answer, and of what makes one */

static str repeated(const char *what, int count)
{
    struct buf out = buf_in(check_arena());

    for (int i = 0; i < count; i++)
        buf_add(&out, str_from(what));
    return buf_str(&out);
}

static struct world *world_new(void)
{
    struct world *w;

    CHECK_OK(world_open("answers.db", NULL, &w));
    answer(w, "schema.create", "{'name':'any','json_schema':{}}");
    return w;
}

/* wfstate_2, whose document is a text of so many bytes. */
static void create_text(struct world *w, int bytes)
{
    answer_of(call(w, "state.create", "{'schema_name':'any','initial_data':['%s']}",
                   repeated("x", bytes).at));
}

static void replace_text(struct world *w, char letter, int bytes)
{
    char one[] = { letter, '\0' };

    answer_of(
        call(w, "state.update", "{'state_id':'wfstate_2','data':['%s']}", repeated(one, bytes).at));
}

/* Performs it with nothing around, and looks at what it took. */
__attribute__((format(printf, 3, 4))) static struct command *make(struct world *w, const char *op,
                                                                  const char *format, ...)
{
    struct buf input = buf_in(check_arena());
    va_list args;

    va_start(args, format);
    buf_vprintf(&input, format, args);
    va_end(args);
    struct command *c = world_command(w, op, buf_str(&input).at, "");
    size_t before = c->arena->bytes;
    op_perform(&w->engine, &c, 1);
    size_t took = c->arena->bytes - before;
    CHECK(c->answer.text.len <= ANSWER);
    if (took > MEMORY)
        check_fail(__FILE__, __LINE__, "%s: expected at most %d bytes of memory, found %zu", op,
                   MEMORY, took);
    return c;
}

/* ---- queries ---- */

TEST(query_that_finds_the_same_value_hundreds_of_times_is_refused_before_it_is_printed)
{
    struct world *w = world_new();
    struct command *c;

    create_text(w, 1000000);
    c = make(w, "state.read", "{'state_id':'wfstate_2','query':'$[0%s]'}", repeated(",0", 499).at);
    CHECK_ERR(c->error, ERR_TOO_LARGE);
    CHECK_HAS(c->error->message, "answer_bytes");

    /* Four of them fit; and with max_chars those that fit are chosen, but not out of gigabytes. */
    c = make(w, "state.read", "{'state_id':'wfstate_2','query':'$[0,0,0,0]'}");
    CHECK_OK(c->error);
    c = make(w, "state.read", "{'state_id':'wfstate_2','query':'$[0%s]','max_chars':1000}",
             repeated(",0", 30000).at);
    CHECK_ERR(c->error, ERR_TOO_LARGE);
    world_close(w);
}

TEST(query_whose_places_are_long_is_refused_before_they_are_printed)
{
    struct world *w = world_new();
    struct command *c;

    answer_of(call(w, "state.create", "{'schema_name':'any','initial_data':{'%s':[0%s]}}",
                   repeated("n", 500000).at, repeated(",0", 200000).at));
    c = make(w, "state.read", "{'state_id':'wfstate_2','query':'$.*[:50000]'}");
    CHECK_ERR(c->error, ERR_TOO_LARGE);
    c = make(w, "state.read", "{'state_id':'wfstate_2','query':'$..*'}");
    CHECK_ERR(c->error, ERR_TOO_LARGE);
    CHECK_HAS(c->error->message, "more specific");
    world_close(w);
}

TEST(document_of_the_largest_size_is_answered_whole)
{
    struct world *w = world_new();

    create_text(w, (1 << 20) - 4);
    struct command *c = make(w, "state.read", "{'state_id':'wfstate_2'}");
    CHECK_OK(c->error);
    CHECK(c->answer.text.len > 1 << 20);
    c = make(w, "state.read", "{'state_id':'wfstate_2','pointer':'/0'}");
    CHECK_OK(c->error);
    CHECK(c->answer.text.len > 1 << 20);
    world_close(w);
}

/* ---- pages ---- */

/* Follows `next` to the end; every row is there once, in order. */
static int pages_follow(struct world *w, const char *op, const char *rows, const char *number,
                        const char *input)
{
    int64_t after = 0, pages = 0, count = 0;
    bool more = true;

    for (; more; pages++) {
        struct command *c = after ? make(w, op, "{'after':%lld,%s}", (long long)after, input)
                                  : make(w, op, "{%s}", input);
        const struct json *page = answer_of(c), *all = json_get(page, rows);
        CHECK(all->len > 0 || pages > 0);
        for (uint32_t i = 0; i < all->len; i++, count++) {
            int64_t n = json_int_or(&all->items[i], number, 0);
            CHECK(!after || n == after - 1 || n == after + 1);
            after = n;
        }
        more = json_get(page, "next") && all->len;
        if (more)
            CHECK_INT(json_int_or(page, "next", 0), after);
    }
    CHECK(pages > 2);
    return (int)count;
}

TEST(page_of_history_ends_when_its_bytes_do)
{
    enum { VERSIONS = 12 };
    struct world *w = world_new();

    create_text(w, 700000);
    for (int i = 1; i < VERSIONS; i++)
        replace_text(w, (char)('a' + i % 2), 700000);
    CHECK_INT(pages_follow(w, "state.history", "versions", "version",
                           "'state_id':'wfstate_2','limit':150"),
              VERSIONS);
    world_close(w);
}

TEST(page_of_events_ends_when_its_bytes_do)
{
    enum { VERSIONS = 12 };
    struct world *w = world_new();

    create_text(w, 700000);
    for (int i = 1; i < VERSIONS; i++)
        replace_text(w, (char)('a' + i % 2), 700000);
    CHECK_INT(pages_follow(w, "event.list", "events", "seq", "'limit':1000"), VERSIONS + 1);
    CHECK_INT(pages_follow(w, "event.list", "events", "seq",
                           "'limit':1000,'subject':'wfstate_2','shape':'message'"),
              VERSIONS);
    world_close(w);
}

TEST(row_that_is_too_much_by_itself_is_refused_and_the_refusal_names_the_limit)
{
    struct world *w = world_new();

    create_text(w, 100000);
    replace_text(w, 'a', 10);
    replace_text(w, 'b', 10);
    w->engine.answer_max = 64 << 10;
    struct command *c = make(w, "state.history", "{'state_id':'wfstate_2'}");
    CHECK_OK(c->error); /* those before it are a page of their own */
    CHECK_STR(c->answer.next, "2");
    c = make(w, "state.history", "{'state_id':'wfstate_2','after':2}");
    CHECK_ERR(c->error, ERR_TOO_LARGE);
    CHECK_HAS(c->error->message, "65536 bytes (answer_bytes)");
    c = make(w, "state.diff", "{'state_id':'wfstate_2','from':2,'to':1}");
    CHECK_ERR(c->error, ERR_TOO_LARGE);

    /* What was refused for its answer was not done. */
    c = call(w, "state.update", "{'state_id':'wfstate_2','data':['%s'],'representation':true}",
             repeated("x", 100000).at);
    CHECK_ERR(c->error, ERR_TOO_LARGE);
    CHECK_STR(at(make(w, "state.read", "{'state_id':'wfstate_2'}"), "/version"), "3");
    world_close(w);
}

TEST(page_of_small_rows_ends_when_its_bytes_do)
{
    struct world *w = world_new();

    for (int i = 0; i < 40; i++)
        answer(w, "state.create", "{'schema_name':'any','initial_data':{}}");
    w->engine.answer_max = 4096;
    struct command *c = call(w, "state.list", "{'limit':40}");
    size_t seen = 0;
    while (c->answer.next.len) {
        CHECK_OK(c->error);
        CHECK(c->answer.text.len <= 4096);
        seen += json_get(answer_of(c), "states")->len;
        c = call(w, "state.list", "{'limit':40,'after':'" STR_FMT "'}", STR_ARG(c->answer.next));
    }
    CHECK_INT(seen + json_get(answer_of(c), "states")->len, 40);
    world_close(w);
}

/* ---- the past ---- */

TEST(old_version_is_found_without_reading_all_that_came_after_it)
{
    struct world *w = world_new();
    struct command *c;

    create_text(w, 900000);
    for (int i = 0; i < 30; i++)
        replace_text(w, (char)('a' + i % 26), 900000);
    c = make(w, "state.read", "{'state_id':'wfstate_2','version':1}");
    CHECK_OK(c->error);
    c = make(w, "state.history", "{'state_id':'wfstate_2','after':3}");
    CHECK_OK(c->error);
    world_close(w);
}

TEST(blame_of_a_place_with_a_long_name_is_cut)
{
    struct world *w = world_new();
    str name = repeated("n", 400000);
    struct command *c;

    answer_of(call(w, "state.create", "{'schema_name':'any','initial_data':{'%s':[0%s]}}", name.at,
                   repeated(",0", 900).at));
    c = make(w, "state.blame", "{'state_id':'wfstate_2','pointer':'/%s'}", name.at);
    CHECK_OK(c->error);
    CHECK_STR(at(c, "/truncated"), "true");
    world_close(w);
}

TEST(blame_goes_back_as_far_as_there_is_memory_for)
{
    struct world *w = world_new();
    struct command *c;

    answer_of(call(w, "state.create", "{'schema_name':'any','initial_data':{'a':1,'b':[]}}"));
    for (int i = 0; i < 6; i++)
        answer_of(call(w, "state.patch",
                       "{'state_id':'wfstate_2','operations':[{'op':'add','path':'/b',"
                       "'value':[%d%s]}]}",
                       i, repeated(",0", 300000).at));
    c = make(w, "state.blame", "{'state_id':'wfstate_2'}");
    CHECK_OK(c->error);
    CHECK_STR(at(c, "/entries/2/version"), "7");
    CHECK_STR(at(c, "/entries/1/version"), "null");
    CHECK(json_int_or(&json_get(answer_of(c), "entries")->items[1], "before", 0) > 1);
    world_close(w);
}
