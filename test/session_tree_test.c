/* session_tree_test.c: pictures of trees of sessions, from JSON to text. */
#include "cli/session_tree.h"

#include <time.h>

#include "check.h"
#include "cli/cli.h"
#include "cli/top.h"
#include "json_help.h"

/* 2025-01-15T10:40:00Z */
#define NOW_MS 1736937600000LL

static const char team[] =
    "[{'session_id':'s1','session_name':'lead','status':'idle','parent_session_id':null,"
    "  'created_at':'2025-01-15T10:00:00Z','updated_at':'2025-01-15T10:30:00Z',"
    "  'agent_name':'planner','profile':'claude',"
    "  'usage':{'input_tokens':1500,'output_tokens':500,'cost_usd':0.5}},"
    " {'session_id':'s3','session_name':'tests','status':'failed','parent_session_id':'s1',"
    "  'state_update_status':'failed','error':'no compiler\\nand more',"
    "  'created_at':'2025-01-15T10:02:00Z','updated_at':'2025-01-15T10:39:55Z','profile':'codex',"
    "  'ended_at':'2025-01-15T10:39:55Z','usage':{'cost_usd':0.25}},"
    " {'session_id':'s2','session_name':'code','status':'running','parent_session_id':'s1',"
    "  'created_at':'2025-01-15T10:01:00Z','updated_at':'2025-01-15T10:01:00Z',"
    "  'last_event':'writing main.c','last_event_at':'2025-01-15T10:39:00Z','profile':'claude',"
    "  'usage':{'input_tokens':2000000,'output_tokens':0,'cost_usd':1.25}},"
    " {'session_id':'s4','session_name':'lint','status':'finished','parent_session_id':'s2',"
    "  'state_update_status':'completed','created_at':'2025-01-15T10:03:00Z',"
    "  'updated_at':'2025-01-15T08:40:00Z','usage':{'cost_usd':0.000125}}]";

enum { ALL = 1023 };

static const struct json *value_of(const char *text)
{
    struct json *value = ARENA_NEW(check_arena(), struct json);

    *value = json_of(check_arena(), text);
    return value;
}

static struct session_tree tree_of(const char *sessions, struct tree_source source)
{
    struct session_tree tree;

    source.sessions = value_of(sessions);
    source.now_ms = NOW_MS;
    session_tree_make(check_arena(), &source, &tree);
    return tree;
}

static str drawn(const struct session_tree *tree, struct tree_style look)
{
    struct buf out = buf_in(check_arena());

    look.now_ms = NOW_MS;
    session_tree_print(&out, tree, &look);
    return buf_str(&out);
}

TEST(tree_shows_who_is_below_whom_and_what_it_cost)
{
    struct session_tree tree = tree_of(team, (struct tree_source){ .top = STR("") });
    struct tree_style look = { .columns = TREE_STATUS | TREE_UPDATE | TREE_AGE | TREE_TOKENS |
                                          TREE_COST | TREE_COST_ALL | TREE_LAST,
                               .unicode = true };

    CHECK_STR(drawn(&tree, look),
              "session     status    update     age  tokens    cost  with all  last\n"
              "lead        idle                 10m    2.0k   $0.50     $2.00\n"
              "├─ code     running               1m    2.0M   $1.25     $1.25  writing main.c\n"
              "│  └─ lint  finished  completed   2h          <$0.01    <$0.01\n"
              "└─ tests    failed    failed      5s           $0.25     $0.25  no compiler\n");
    look.unicode = false;
    look.columns = TREE_STATUS;
    CHECK_STR(drawn(&tree, look), "session     status\n"
                                  "lead        idle\n"
                                  "|- code     running\n"
                                  "|  `- lint  finished\n"
                                  "`- tests    failed\n");
}

/* What it cost goes before what it did last: that is what a person looks for. */
TEST(last_words_stay_when_there_is_no_room_for_what_it_cost)
{
    struct session_tree tree = tree_of(team, (struct tree_source){ .top = STR("") });

    for (size_t width = 70; width <= 80; width++)
        CHECK(str_contains(drawn(&tree, (struct tree_style){ .columns = ALL, .width = width }),
                           STR("  writing")));
}

TEST(part_of_a_tree_begins_with_its_own_root)
{
    struct session_tree tree = tree_of(team, (struct tree_source){ .top = STR("s2") });

    CHECK_STR(drawn(&tree, (struct tree_style){ .columns = TREE_STATUS | TREE_CHILDREN }),
              "session  status    children\n"
              "code     running          1\n"
              "`- lint  finished\n");
}

/* What has no room goes, the least important first; in the end names are cut. */
TEST(no_line_is_wider_than_the_terminal)
{
    struct session_tree tree = tree_of(team, (struct tree_source){ .top = STR("") });

    for (int unicode = 0; unicode <= 1; unicode++) {
        for (size_t width = 4; width < 120; width++) {
            str rest = drawn(&tree, (struct tree_style){ .columns = ALL,
                                                         .width = width,
                                                         .unicode = unicode,
                                                         .selected = STR("s2") });
            str line;
            while (str_cut(rest, '\n', &line, &rest)) {
                size_t columns = 0;
                for (size_t i = 0; i < line.len; i++)
                    columns += ((unsigned char)line.at[i] & 0xc0) != 0x80;
                if (columns > width)
                    check_fail(__FILE__, __LINE__, "width %zu: " STR_FMT, width, STR_ARG(line));
            }
        }
    }
    CHECK_STR(drawn(&tree, (struct tree_style){ .columns = ALL, .width = 24 }),
              "session     status\n"
              "lead        idle\n"
              "|- code     running\n"
              "|  `- lint  finished\n"
              "`- tests    failed\n");
    CHECK_STR(drawn(&tree, (struct tree_style){ .columns = TREE_STATUS, .width = 17 }),
              "session\n"
              "lead\n"
              "|- code\n"
              "|  `- lint\n"
              "`- tests\n");
    CHECK_STR(drawn(&tree, (struct tree_style){ .columns = TREE_STATUS, .width = 7 }), "session\n"
                                                                                       "lead\n"
                                                                                       "|- code\n"
                                                                                       "|  `- ~\n"
                                                                                       "`- tes~\n");
}

/* A child that failed is its parent's business; a root that failed is yours, and so is work that no
 * runner takes. */
TEST(who_needs_somebody_comes_first)
{
    const char *sessions =
        "[{'session_id':'old','session_name':'old','status':'finished','created_at':"
        "  '2025-01-15T09:00:00Z','updated_at':'2025-01-15T09:30:00Z'},"
        " {'session_id':'idle','session_name':'idle','status':'idle','created_at':"
        "  '2025-01-15T09:00:00Z','updated_at':'2025-01-15T10:00:00Z'},"
        " {'session_id':'below','session_name':'below','status':'running',"
        "  'parent_session_id':'busy','created_at':'2025-01-15T10:01:00Z',"
        "  'updated_at':'2025-01-15T10:01:00Z'},"
        " {'session_id':'busy','session_name':'busy','status':'idle','created_at':"
        "  '2025-01-15T10:00:00Z','updated_at':'2025-01-15T10:00:00Z'},"
        " {'session_id':'child','session_name':'child','status':'failed',"
        "  'parent_session_id':'busy','created_at':'2025-01-15T10:02:00Z',"
        "  'updated_at':'2025-01-15T10:02:00Z'},"
        " {'session_id':'lost','session_name':'lost','status':'failed','created_at':"
        "  '2025-01-15T10:30:00Z','updated_at':'2025-01-15T10:31:00Z'},"
        " {'session_id':'ages','session_name':'ages','status':'failed','created_at':"
        "  '2025-01-01T10:30:00Z','updated_at':'2025-01-01T10:31:00Z'}]";
    struct tree_source source = { .urgent_first = true,
                                  .runs = value_of("[{'session_id':'idle'}]"),
                                  .runners = value_of("[{'alive':true}]") };
    struct session_tree tree = tree_of(sessions, source);

    CHECK_STR(drawn(&tree, (struct tree_style){ .columns = TREE_STATUS | TREE_QUEUED }),
              "   session   status    queued\n"
              " ! lost      failed\n"
              "   busy      idle\n"
              "   |- below  running\n"
              "   `- child  failed\n"
              "   idle      idle           1\n"
              "   old       finished\n"
              "   ages      failed\n");
    source.runners = value_of("[{'alive':false}]");
    tree = tree_of(sessions, source);
    CHECK_STR(tree.rows[0].node->name, "idle");
    CHECK_STR(tree.rows[1].node->name, "lost");
    CHECK_INT(tree.ranks[RANK_NEEDS_YOU], 2);
    CHECK_INT(tree.queued, 1);
}

/* The server does not let it happen; a picture must not hang on it all the same. */
TEST(parents_that_go_round_in_a_circle_are_shown_once)
{
    struct session_tree tree =
        tree_of("[{'session_id':'a','session_name':'a','parent_session_id':'b'},"
                " {'session_id':'b','session_name':'b','parent_session_id':'a'},"
                " {'session_id':'c','session_name':'c','parent_session_id':'c'},"
                " {'session_id':'d','session_name':'d','parent_session_id':'nobody'}]",
                (struct tree_source){ .top = STR("") });

    CHECK_INT(tree.count, 4);
    CHECK_STR(drawn(&tree, (struct tree_style){ .columns = 0 }), "session\n"
                                                                 "c\n"
                                                                 "d\n"
                                                                 "a\n"
                                                                 "`- b\n");
}

static const char *many(int n)
{
    struct buf out = buf_in(check_arena());

    buf_byte(&out, '[');
    for (int i = 0; i < n; i++)
        buf_printf(&out,
                   "%s{'session_id':'s%d','session_name':'session-%d','status':'running',"
                   "'parent_session_id':'s%d','created_at':'2025-01-15T10:%02d:%02dZ',"
                   "'usage':{'cost_usd':0.01,'input_tokens':10,'output_tokens':1}}",
                   i ? "," : "", i, i, i % 50 ? i / 2 : i, i / 60 % 60, i % 60);
    buf_byte(&out, ']');
    return buf_str(&out).at;
}

/* A frame has 200 ms in all: making and drawing a thousand sessions must be a small part of it. */
TEST(thousand_sessions_are_drawn_in_no_time)
{
    struct timespec begun, ended;
    const char *sessions = many(1000);
    str text;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    struct session_tree tree = tree_of(sessions, (struct tree_source){ .urgent_first = true });
    text = drawn(&tree, (struct tree_style){ .columns = ALL, .width = 120, .unicode = true });
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    int64_t us = (ended.tv_sec - begun.tv_sec) * 1000000 + (ended.tv_nsec - begun.tv_nsec) / 1000;

    check_note("%lld us", (long long)us);
    CHECK_INT(tree.count, 1000);
    CHECK_INT(tree.sum.cost, 10000000);
    CHECK_INT(tree.sum.tokens, 11000);
    CHECK(text.len > 1000 * 20);
    CHECK(us < 500000);
}

TEST(ages_money_and_counts_are_short)
{
    static const struct {
        int64_t n;
        const char *age, *money, *count;
    } cases[] = {
        { -5, "0s", "", "" },
        { 0, "0s", "", "" },
        { 999, "0s", "<$0.01", "999" },
        { 1000, "1s", "<$0.01", "1.0k" },
        { 59999, "59s", "$0.06", "60k" },
        { 999499, "16m", "$1.00", "999k" },
        { 999500, "16m", "$1.00", "1.0M" },
        { 7200000, "2h", "$7.20", "7.2M" },
        { 864000000, "10d", "$864.00", "864M" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_STR(render_age(check_arena(), cases[i].n), cases[i].age);
        CHECK_STR(tree_money(check_arena(), cases[i].n), cases[i].money);
        CHECK_STR(tree_count(check_arena(), cases[i].n), cases[i].count);
    }
}

/* ---- top ---- */

static size_t lines_of(str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++)
        n += text.at[i] == '\n';
    return n;
}

static str frame_of(const struct top_view *v)
{
    struct buf out = buf_in(check_arena());

    top_frame(&out, v);
    return buf_str(&out);
}

TEST(frame_has_the_lines_of_the_terminal_and_the_selected_one_in_it)
{
    struct session_tree tree = tree_of(many(100), (struct tree_source){ .urgent_first = true });
    struct top_view v = {
        .tree = &tree, .now_ms = NOW_MS, .width = 120, .height = 10, .live = true
    };

    for (size_t i = 0; i < tree.count; i++) {
        v.selected = tree.rows[i].node->id;
        top_scroll(&v);
        CHECK(v.from <= i && i < v.from + 7);
        str frame = frame_of(&v);
        CHECK_INT(lines_of(frame), 10);
        CHECK(strstr(frame.at, arena_copy(check_arena(), tree.rows[i].node->name).at) != NULL);
    }
    v.mode = TOP_DETAILS;
    CHECK_INT(lines_of(frame_of(&v)), 10);
}

TEST(frame_says_how_it_stands_and_asks_before_it_stops)
{
    struct tree_source source = { .urgent_first = true };
    struct session_tree tree = tree_of(team, source);
    struct top_view v = { .tree = &tree,
                          .runners = value_of("[{'alive':true,'capacity':8,'runs':3},"
                                              " {'alive':false,'capacity':8,'runs':0}]"),
                          .now_ms = NOW_MS };
    str line, rest;

    str_cut(frame_of(&v), '\n', &line, &rest);
    CHECK_STR(line, "1 running, 1 idle, 2 ended  2.0M tokens  $2.00  1 runner, 3 of 8 busy");
    v.live = true;
    v.mode = TOP_CONFIRM;
    v.selected = STR("s2");
    CHECK(strstr(frame_of(&v).at, "stop code and all below it? y") != NULL);
    v.mode = TOP_DETAILS;
    v.selected = STR("s3");
    CHECK(strstr(frame_of(&v).at, "no compiler\n                     and more\n") != NULL);
    CHECK(strstr(frame_of(&v).at, "baton logs tests -f") != NULL);

    v.mode = TOP_LIST;
    v.own = value_of("{'state':'ended','last_end':'it was ended by signal 9 (Killed)'}");
    CHECK(strstr(frame_of(&v).at, "the server's runner is gone: it was ended by signal 9") != NULL);

    tree = tree_of("[]", source);
    v = (struct top_view){ .tree = &tree, .runners = value_of("[]") };
    CHECK_STR(frame_of(&v), "no sessions  no runner: `baton runner` starts one\n"
                            "`baton session start NAME -p PROMPT` starts one\n");
}

/* ---- members ---- */

static const char members[] =
    "[{'session_id':'m1','session_name':'ann','status':'running','silent':false,'attended':true,"
    "  'created_at':'2025-01-15T10:00:00Z','last_event':'mends the till','project':'shop',"
    "  'last_event_at':'2025-01-15T10:39:50Z'},"
    " {'session_id':'m2','session_name':'bob','status':'running','silent':true,'attended':true,"
    "  'created_at':'2025-01-15T10:01:00Z','last_event':'paints the door','project':'shop',"
    "  'last_event_at':'2025-01-15T10:20:00Z'},"
    " {'session_id':'m3','session_name':'eve','status':'finished','silent':true,'attended':true,"
    "  'created_at':'2025-01-15T10:02:00Z','last_event':'session_end','project':'shop',"
    "  'last_event_at':'2025-01-15T10:20:00Z','updated_at':'2025-01-15T10:20:00Z'}]";

TEST(member_that_is_silent_is_shown_so_and_not_counted_as_running)
{
    struct session_tree tree = tree_of(members, (struct tree_source){ .urgent_first = true });
    struct top_view v = { .tree = &tree, .now_ms = NOW_MS };
    struct buf json = buf_in(check_arena());

    CHECK_STR(frame_of(&v), "1 running, 1 silent, 1 ended\n"
                            "session  status    agent    age  last\n"
                            "ann      running   outside  10s  mends the till\n"
                            "bob      silent    outside  20m  paints the door\n"
                            "eve      finished  outside  20m  session_end\n");
    top_json(&json, &v);
    CHECK_HAS(buf_str(&json), "\"running\":1,\"idle\":0,\"silent\":1,\"ended\":1,");
    CHECK(!str_contains(buf_str(&json), STR("\"files\"")));
}

TEST(frame_shows_the_files_that_two_are_at)
{
    struct session_tree tree = tree_of(members, (struct tree_source){ .urgent_first = true });
    struct top_view v = {
        .tree = &tree,
        .now_ms = NOW_MS,
        .files = value_of(
            "[{'path':'src/a.c','worktree':'/home/shop','host':'h','members':["
            "{'session_name':'ann','wrote_at':'2025-01-15T10:37:00Z','added':12,'removed':3},"
            "{'session_name':'bob','wrote_at':null,'added':0,'removed':0}]},"
            "{'path':'b','worktree':'/','members':[{'session_name':'ann'}]},"
            "{'path':'c'},7,{'path':'e','members':{}}]"),
    };
    str frame = frame_of(&v);

    CHECK_HAS(frame, "eve      finished  outside  20m  session_end\n"
                     "files that two are at:\n"
                     "  shop/src/a.c: ann (3m, +12 -3), bob (read)\n"
                     "  /b: ann (read)\n"
                     "  /c: \n");
    /* In a terminal some of them, and none where there is no room. */
    v.width = 30;
    for (size_t height = 1; height < 20; height++) {
        v.height = height;
        v.live = true;
        v.selected = STR("m3");
        top_scroll(&v);
        frame = frame_of(&v);
        CHECK_INT(lines_of(frame), height > 3 ? height : 3);
        CHECK(str_contains(frame, STR("files that two are at, 3 of 5")) == (height >= 12));
        CHECK(height < 4 || str_contains(frame, STR("eve")));
    }
}

TEST(frame_names_who_has_not_heard_where_there_is_room)
{
    struct session_tree tree = tree_of(members, (struct tree_source){ .urgent_first = true });
    struct top_view v = {
        .tree = &tree,
        .now_ms = NOW_MS,
        .unheard = value_of("[{'session_name':'ann','ends':2,'messages':1,"
                            "'since':'2025-01-15T10:37:00Z'},{'session_name':'bob','ends':0,"
                            "'messages':1,'since':'?'},{'ends':1},{'ends':1}]"),
    };
    struct buf json = buf_in(check_arena());

    CHECK_HAS(frame_of(&v),
              "ann has not heard of 2 ends and 1 message for 3m: its client hears at "
              "its next prompt\n"
              "bob has not heard of 1 message: its client hears at its next prompt\n");
    top_json(&json, &v);
    CHECK_HAS(buf_str(&json), "\"unheard\":[{\"session_name\":\"ann\",");
    for (size_t height = 1; height < 20; height++) {
        v.height = height;
        v.live = true;
        CHECK_INT(lines_of(frame_of(&v)), height > 3 ? height : 3);
        CHECK(str_contains(frame_of(&v), STR("bob has not heard")) == (height >= 12));
    }
}
