/* wait_test.c: who waits is woken by what he waits for, alone where it is for one, and misses
 * nothing. The log is an array, and other threads are steps of the test: see log_server.h. */
#include "log_server.h"

enum { WAITERS = 15 };

/* One who wants an event of a subject for himself. */
struct waiter {
    struct command command;
    struct waiting *waiting;
    const char *wants;
    int64_t mark;
    int runs, answers;
    int64_t got; /* the number of the event that it took; 0: none */
    bool fails;  /* its next run is an error */
};

static bool taken[LOG_MAX + 1]; /* events that somebody has taken, by number */

static bool waiter_wakes(const void *self, const struct event *e)
{
    const struct waiter *v = self;
    return str_eq(event_subject(e), str_from(v->wants));
}

static int64_t untaken(const struct log_server *w, const char *subject)
{
    for (int64_t seq = 1; seq <= w->committed; seq++)
        if (!taken[seq] && str_eq(w->events[seq - 1].subject, str_from(subject)))
            return seq;
    return 0;
}

static void perform_take(struct log_server *w, struct command *c)
{
    struct waiter *v = LIST_ENTRY(c, struct waiter, command);

    v->runs++;
    c->seq = w->committed;
    if (v->fails)
        c->error = err_new(check_arena(), ERR_UNAVAILABLE, "no room");
    if (c->error)
        return;
    v->got = untaken(w, v->wants);
    taken[v->got] = v->got;
    c->answer.waits = !v->got && !c->wait_over;
    c->answer.wait_seq = w->committed;
    c->answer.wait_until_ms = w->now_ms + 40;
    c->answer.wakes = waiter_wakes;
    c->answer.wait_self = v;
}

/* One who watches the subject "a", and never has an answer before his time is up. */
static void perform_watch(struct log_server *w, struct command *c)
{
    LIST_ENTRY(c, struct waiter, command)->runs++;
    c->seq = w->committed;
    c->answer.waits = !c->wait_over;
    c->answer.wait_subject = STR("a");
    c->answer.wait_seq = w->committed;
    c->answer.wait_until_ms = w->now_ms + 40;
}

/* One who looks again every 10 ms, and tells himself how often he has. */
static void perform_again(struct log_server *w, struct command *c)
{
    struct waiter *v = LIST_ENTRY(c, struct waiter, command);

    CHECK(c->waited == (v->runs++ ? v : NULL));
    c->seq = w->committed;
    c->answer.waits = !c->wait_over;
    c->answer.wait_seq = w->committed;
    c->answer.wait_until_ms = w->now_ms + 40;
    c->answer.wait_again_ms = w->now_ms + 10;
    c->answer.wakes = waiter_wakes;
    c->answer.wait_self = v;
}

static void waiter_done(struct command *c)
{
    struct waiter *v = LIST_ENTRY(c, struct waiter, command);

    if (c->answer.waits && !c->error) {
        v->waiting = wait_begin(c->owner, c, v->mark);
        return;
    }
    v->waiting = NULL;
    v->answers++;
}

static void waiter_ask(struct log_server *w, struct waiter *v, const char *wants)
{
    *v = (struct waiter){ .wants = wants, .mark = wait_mark(w->server) };
    log_wait(w, &v->command, waiter_done);
}

static struct log_server *world_of(void (*perform)(struct log_server *w, struct command *c))
{
    struct log_server *w = log_open(NULL);

    memset(taken, 0, sizeof taken);
    w->perform = perform;
    return w;
}

/* The command that was asked for is performed now, and handed over later. */
static struct command *perform_one(struct log_server *w)
{
    CHECK_INT(w->asked_count, 1);
    return log_read(w, 0);
}

static void hand_over(struct log_server *w, struct command *c)
{
    server_performed(w->server, c);
    log_settle(w);
}

/* ---- events that are for one ---- */

TEST(event_has_one_of_those_look_who_would_choose_it_the_one_who_came_first)
{
    struct log_server *w = world_of(perform_take);
    struct waiter all[WAITERS];

    for (int i = 0; i < WAITERS; i++) {
        waiter_ask(w, &all[i], i % 3 == 2 ? "b" : "a"); /* ten want a, five want b */
        log_settle(w);
    }
    for (int i = 0; i < WAITERS; i++) {
        if (i % 3 == 2)
            continue;
        log_add(w, "a");
        log_settle(w);
        for (int j = 0; j < WAITERS; j++) {
            bool had = j <= i && j % 3 != 2;
            CHECK_INT(all[j].runs, had ? 2 : 1);
            CHECK_INT(all[j].answers, had);
        }
        CHECK_INT(all[i].got, w->committed);
    }
    for (int i = 2; i < WAITERS; i += 3)
        wait_cancel(all[i].waiting);
    log_close(w);
}

TEST(events_that_come_together_have_one_each)
{
    struct log_server *w = world_of(perform_take);
    struct waiter all[3];

    for (int i = 0; i < 3; i++)
        waiter_ask(w, &all[i], "a");
    log_settle(w);
    log_add(w, "a");
    log_add(w, "a");
    log_settle(w);
    CHECK(all[0].got == 1 && all[1].got == 2);
    CHECK_INT(all[2].runs, 1);
    wait_cancel(all[2].waiting);
    log_close(w);
}

/* Somebody else has taken it before; and then there was another, which it could not see. */
TEST(one_who_found_nothing_waits_again_and_hears_of_what_came_while_he_looked)
{
    struct log_server *w = world_of(perform_take);
    struct waiter v;

    waiter_ask(w, &v, "a");
    log_settle(w);
    w->by_hand = true;
    log_add(w, "a");
    taken[1] = true;
    log_settle(w);
    struct command *c = perform_one(w);
    log_add(w, "b"); /* this one is not for him */
    log_settle(w);
    hand_over(w, c);
    CHECK(v.waiting && v.runs == 2 && w->asked_count == 0);

    log_add(w, "a");
    taken[3] = true;
    log_settle(w);
    c = perform_one(w);
    log_add(w, "a");
    log_settle(w);
    hand_over(w, c);
    hand_over(w, perform_one(w));
    CHECK_INT(v.runs, 4);
    CHECK_INT(v.got, 4);
    CHECK_INT(v.answers, 1);
    log_close(w);
}

/* Before his first wait nobody could ask him what he would choose. */
TEST(one_who_waits_for_the_first_time_has_missed_nothing_either)
{
    struct log_server *w = world_of(perform_take);
    struct waiter v;

    w->by_hand = true;
    waiter_ask(w, &v, "a");
    log_settle(w);
    struct command *c = perform_one(w);
    log_add(w, "b");
    log_settle(w);
    hand_over(w, c);
    c = perform_one(w); /* it may have been one for him */
    log_add(w, "b");
    log_settle(w);
    hand_over(w, c);
    CHECK(v.waiting && v.runs == 2); /* and now it is known that it is none */
    wait_cancel(v.waiting);
    log_close(w);
}

TEST(one_who_is_gone_is_passed_over)
{
    struct log_server *w = world_of(perform_take);
    struct waiter first, second;

    waiter_ask(w, &first, "a");
    waiter_ask(w, &second, "a");
    log_settle(w);
    wait_cancel(first.waiting);
    CHECK_ERR(first.command.error, ERR_UNAVAILABLE);
    log_add(w, "a");
    log_settle(w);
    CHECK_INT(first.runs, 1);
    CHECK_INT(second.got, 1);
    log_close(w);
}

TEST(what_one_could_not_look_at_another_does)
{
    struct log_server *w = world_of(perform_take);
    struct waiter first, second;

    waiter_ask(w, &first, "a");
    waiter_ask(w, &second, "a");
    log_settle(w);
    first.fails = true;
    log_add(w, "a");
    log_settle(w);
    CHECK_INT(first.answers, 1);
    CHECK_ERR(first.command.error, ERR_UNAVAILABLE);
    CHECK_INT(second.got, 1);
    log_close(w);
}

TEST(choosing_ends_at_its_time)
{
    struct log_server *w = world_of(perform_take);
    struct waiter v;

    waiter_ask(w, &v, "a");
    log_settle(w);
    w->now_ms += 40;
    while (!v.answers)
        log_turn(w);
    CHECK(v.command.wait_over && !v.command.error && v.runs == 2);
    log_close(w);
}

/* Who wants to look again before anything comes does, and his end is not put off by that. */
TEST(one_who_looks_on_waits_until_his_time_all_the_same)
{
    struct log_server *w = world_of(perform_again);
    struct waiter v;

    waiter_ask(w, &v, "a");
    log_settle(w);
    for (int looks = 2; looks <= 4; looks++) {
        w->now_ms += 10;
        while (v.runs < looks)
            log_turn(w);
        CHECK(!v.answers && !v.command.wait_over);
    }
    w->now_ms += 10;
    while (!v.answers)
        log_turn(w);
    CHECK(v.command.wait_over && v.runs == 5);
    log_close(w);
}

/* ---- memory ---- */

enum { MADE = 10000 }; /* bytes of each run */

/* The arenas that runs were given and that are not released; the first is the command's own. */
static struct arena *held[8];

static void held_release(void *place)
{
    *(struct arena **)place = NULL;
}

static void held_note(struct arena *a)
{
    int i = 0;

    while (held[i] && held[i] != a)
        CHECK(++i < 8);
    if (held[i])
        return;
    held[i] = a;
    arena_on_release(a, held_release, &held[i]);
}

static size_t held_bytes(void)
{
    size_t bytes = 0;

    for (int i = 0; i < 8; i++)
        bytes += held[i] ? held[i]->bytes : 0;
    return bytes;
}

/* One who makes much each time, and looks at what he made the last time. */
static void perform_making(struct log_server *w, struct command *c)
{
    struct waiter *v = LIST_ENTRY(c, struct waiter, command);
    char *made = arena_alloc(c->arena, MADE);

    held_note(c->arena);
    for (int i = 0; c->waited && i < MADE; i++)
        CHECK(((const char *)c->waited)[i] == (char)v->runs);
    memset(made, ++v->runs, MADE);
    c->answer.text = (str){ made, MADE };
    c->seq = w->committed;
    c->answer.waits = v->runs < 1010 && !c->wait_over;
    c->answer.wait_subject = STR("a");
    c->answer.wait_seq = w->committed;
    c->answer.wait_until_ms = w->now_ms + 40;
    c->answer.wait_self = made;
}

TEST(command_that_was_woken_a_thousand_times_holds_what_it_held_after_one)
{
    struct log_server *w = world_of(perform_making);
    struct waiter v;
    size_t once = 0;

    waiter_ask(w, &v, "a");
    log_settle(w);
    for (int i = 1; v.waiting; i++) {
        log_add(w, "a");
        log_settle(w);
        CHECK_INT(v.runs, i + 1);
        if (i == 1)
            once = held_bytes();
        else if (v.waiting)
            CHECK(held_bytes() < once + 100); /* an arena that was used before keeps a block */
    }
    CHECK(v.answers == 1 && v.runs == 1010);
    CHECK(v.command.arena == held[0]); /* the answer is as long there as it is the asker's */
    for (int i = 0; i < MADE; i++)
        CHECK(v.command.answer.text.at[i] == (char)v.runs);
    log_close(w);
}

/* ---- notifications ---- */

static void notify(struct log_server *w, const char *subject)
{
    struct command *c = ARENA_NEW(check_arena(), struct command);

    *c = (struct command){ .arena = check_arena_new(),
                           .op = op_find(w->table, STR("thing.write")),
                           .answer.notify = str_from(subject),
                           .done = log_written };
    server_performed(w->server, c);
    log_settle(w);
}

TEST(notify_wakes_all_who_watch_the_subject_and_nobody_else)
{
    struct log_server *w = world_of(perform_watch);
    struct waiter all[2];

    waiter_ask(w, &all[0], "");
    waiter_ask(w, &all[1], "");
    log_settle(w);
    notify(w, "b");
    CHECK(all[0].runs == 1 && all[1].runs == 1);
    notify(w, "a");
    CHECK(all[0].runs == 2 && all[1].runs == 2);
    notify(w, "a");
    CHECK(all[0].runs == 3 && all[0].waiting && all[1].waiting);
    wait_cancel(all[0].waiting);
    wait_cancel(all[1].waiting);
    log_close(w);
}

/* It has no number, so that it is after the question is all that can be said of it. */
TEST(notify_is_not_missed_by_one_who_read_before_it_and_wakes_only_once)
{
    struct log_server *w = world_of(perform_watch);
    struct waiter v;

    w->by_hand = true;
    waiter_ask(w, &v, "");
    log_settle(w);
    for (int i = 1; i <= 3; i++) { /* his first look, and later ones */
        struct command *c = perform_one(w);
        notify(w, "a");
        hand_over(w, c);
        CHECK(v.waiting && v.runs == i);
    }
    hand_over(w, perform_one(w));
    CHECK(v.waiting && v.runs == 4 && w->asked_count == 0);
    wait_cancel(v.waiting);
    log_close(w);
}

/* ---- all of it at once ---- */

/* A claim of a fixed number of waiters, who ask again when they have got something. Whatever the
 * order of things, in the end no event is left that somebody waits for. */
TEST(random_waiters_leave_no_event_that_one_of_them_wants)
{
    struct log_server *w = world_of(perform_take);
    struct waiter all[5];
    uint32_t r = 1;

    for (int i = 0; i < 5; i++)
        waiter_ask(w, &all[i], i < 3 ? "a" : "b");
    for (int step = 0; step < 6000; step++) {
        r = r * 1664525 + 1013904223;
        int what = (int)(r >> 28), which = (int)(r >> 16) % 5;
        struct waiter *v = &all[which];
        w->by_hand = step % 300 < 290;
        if (what < 3 && w->committed < LOG_MAX - 1)
            log_add(w, what ? "a" : "b");
        else if (what < 5 && v->answers)
            waiter_ask(w, v, v->wants);
        else if (what == 5 && v->waiting)
            wait_cancel(v->waiting);
        else if (what < 12 && w->asked_count)
            server_performed(w->server, log_read(w, (int)(r >> 8) % w->asked_count));
        else
            log_turn(w);
        if (step % 300 != 299)
            continue;
        while (w->asked_count)
            server_performed(w->server, log_read(w, 0));
        log_settle(w);
        for (int i = 0; i < 5; i++)
            CHECK(!all[i].waiting || !untaken(w, all[i].wants));
    }
    for (int i = 0; i < 5; i++)
        if (all[i].waiting)
            wait_cancel(all[i].waiting);
    log_close(w);
}
