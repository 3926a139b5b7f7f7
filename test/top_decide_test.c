/* top_decide_test.c: which entry a key of baton top means, and what is shown of a decision. */
#include "check.h"
#include "cli/inbox.h"
#include "cli/top.h"
#include "json_help.h"

#define ENTRY(id, title, decisions)                                                        \
    "{'id':'" id "','kind':'approval','title':'" title "','since':'2025-01-15T10:00:00Z'," \
    "'content':{'digest':'d-" id "'},'decisions':[" decisions "]}"
#define JUDGED "{'decision':'approve'},{'decision':'reject'},{'decision':'rework'}"
#define RETRIED "{'decision':'retry','command':'baton inbox retry'}"

static const struct session_tree nobody;

static const struct json *value_of(const char *text)
{
    struct json *value = ARENA_NEW(check_arena(), struct json);

    *value = json_of(check_arena(), text);
    return value;
}

static struct top_view view_of(const char *inbox, struct top_decisions *d)
{
    return (struct top_view){ .tree = &nobody,
                              .inbox = value_of(inbox),
                              .decisions = d,
                              .width = 100,
                              .height = 24,
                              .clock_ms = 1000,
                              .live = true };
}

static str frame_of(const struct top_view *v)
{
    struct buf out = buf_in(check_arena());

    top_frame(&out, v);
    return buf_str(&out);
}

static const char two[] = "[" ENTRY("inc_1", "mend", RETRIED) "," ENTRY(
    "apr_1", "approve a", JUDGED) "," ENTRY("apr_2", "approve b", JUDGED) "]";

TEST(a_number_means_what_was_seen_with_it)
{
    struct top_decisions d = { 0 };
    struct top_view v = view_of(two, &d);
    struct arena *a = check_arena();

    CHECK_HAS(frame_of(&v), "s: stop  a: approve  r: reject  w: rework  q: quit");
    CHECK_STR(top_decide_ask(a, &d, &v, "reject"), "");
    CHECK_INT(v.mode, TOP_WHICH);
    CHECK_HAS(frame_of(&v), "reject which? 2, 3; enter: 2, any other key: none");
    CHECK(!top_decide_changed(&d, &v));
    CHECK_STR(top_decide_which(a, &d, &v, '1'), "1 does not take reject");
    CHECK_STR(top_decide_which(a, &d, &v, '9'), "9 does not take reject");
    CHECK_STR(top_decide_which(a, &d, &v, 'x'), "");
    CHECK_INT(d.count, 0);
    CHECK_STR(top_decide_ask(a, &d, &v, "reject"), "");
    v.inbox = value_of("[" ENTRY("apr_2", "approve b", JUDGED) "]");
    CHECK(top_decide_changed(&d, &v));

    v = view_of(two, &d);
    CHECK_STR(top_decide_ask(a, &d, &v, "approve"), "");
    CHECK_STR(top_decide_which(a, &d, &v, '\r'), "");
    CHECK_INT(v.mode, TOP_LIST);
    CHECK_INT(d.count, 1);
    CHECK_STR(str_from(d.all[0].id), "apr_1");
    CHECK_STR(str_from(d.all[0].digest), "d-apr_1");
}

TEST(a_decision_is_shown_until_its_time_and_can_be_taken_back)
{
    struct top_decisions d = { 0 };
    struct top_view v = view_of("[" ENTRY("apr_1", "approve a", JUDGED) "]", &d);
    struct arena *a = check_arena();

    CHECK(top_decide_due(&d) == INT64_MAX);
    CHECK_STR(top_decide_ask(a, &d, &v, "approve"), "");
    CHECK_INT(top_decide_due(&d), 6000);
    v.clock_ms = 3100;
    CHECK_HAS(frame_of(&v), "z: take it back  approve in 3s: approve a");
    CHECK_HAS(frame_of(&v), "approve in 3s\n");

    /* The last decision about a thing is the decision, and has all of its time. */
    CHECK_STR(top_decide_ask(a, &d, &v, "rework"), "");
    CHECK_INT(d.count, 1);
    CHECK_INT(top_decide_due(&d), 8100);
    CHECK_STR(top_decide_take_back(a, &d), "taken back: rework approve a");
    CHECK_INT(d.count, 0);
    CHECK_HAS(top_decide_take_back(a, &d), "nothing is on its way");
}

TEST(what_cannot_be_decided_by_a_key_says_why)
{
    struct top_decisions d = { 0 };
    struct top_view v = view_of("[" ENTRY("inc_1", "mend", RETRIED) "]", &d);
    struct arena *a = check_arena();

    CHECK_HAS(top_decide_ask(a, &d, &v, "approve"), "nothing that waits takes approve");
    CHECK(!str_contains(frame_of(&v), STR("a: approve")));
    v.height = 10;
    CHECK_HAS(top_decide_ask(a, &d, &v, "approve"), "no room here for what waits for you");
    v.inbox = NULL;
    CHECK_STR(top_decide_ask(a, &d, &v, "approve"), "nothing waits for you");
    v = view_of("[{'id':'apr_9','kind':'approval','title':'choose','content':{'options':"
                "['rain','sun']},'decisions':[" JUDGED "]}]",
                &d);
    CHECK_HAS(top_decide_ask(a, &d, &v, "approve"),
              "choose a variant: baton inbox approve apr_9 --variant NAME, of ");
    v.mode = TOP_DETAILS;
    CHECK_STR(top_decide_ask(a, &d, &v, "reject"), "");
    CHECK_INT(d.count, 0);

    /* No more at once than there is room for. */
    for (int i = 0; i <= TOP_PENDING_MAX; i++) {
        char one[] = "[" ENTRY("apr_X", "it", JUDGED) "]";
        *strchr(one, 'X') = (char)('a' + i);
        v = view_of(one, &d);
        CHECK(str_contains(top_decide_ask(a, &d, &v, "reject"), STR("too much at once")) ==
              (i == TOP_PENDING_MAX));
    }
    CHECK_INT(d.count, TOP_PENDING_MAX);
}
