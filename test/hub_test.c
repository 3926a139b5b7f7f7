/* hub_test.c: whoever listens gets every event after a number once, in order, whatever happens
 * between his asking and his being live. */
#include "json_help.h"
#include "log_server.h"

/* ---- a listener that writes down what it is told ---- */

struct receiver {
    struct log_server *log;
    struct subscriber *subscriber;
    const char *subject;
    bool one_type;
    int64_t listened_at; /* what was published when it began */
    bool started, paused, caught_up, failed;
    int64_t began, last; /* the number it began after; the last that it was given */
    int64_t seqs[LOG_MAX];
    int count;
    int pause_after; /* pauses itself at so many events; 0: never */
    bool leave_then; /* and leaves instead */
    enum error_kind why;
    str text; /* of the last event */
};

static void receiver_started(void *owner, int64_t seq)
{
    struct receiver *e = owner;

    CHECK(!e->started);
    e->started = true;
    e->began = e->last = seq;
}

static void receiver_event(void *owner, struct shared *framed, int64_t seq)
{
    struct receiver *e = owner;

    CHECK(e->started && !e->paused);
    CHECK(seq > e->last);
    e->last = seq;
    e->seqs[e->count++] = seq;
    e->text = arena_copy(check_arena(), framed->bytes);
    if (e->pause_after && e->count % e->pause_after == 0) {
        if (e->leave_then) {
            hub_unsubscribe(e->subscriber);
            e->subscriber = NULL;
        } else {
            hub_pause(e->subscriber);
            e->paused = true;
        }
    }
}

static void receiver_caught_up(void *owner, int64_t seq)
{
    struct receiver *e = owner;

    CHECK(seq >= e->last);
    e->caught_up = true;
}

/* What is older than `oldest` and was not given is excused. */
static void receiver_gap(void *owner, int64_t oldest, int64_t newest)
{
    struct receiver *e = owner;

    CHECK(e->started && !e->paused && oldest <= newest + 1);
    e->began = oldest - 1;
    e->last = oldest - 1;
    e->count = 0;
}

static void receiver_failed(void *owner, err why)
{
    struct receiver *e = owner;

    e->failed = true;
    e->why = why->kind;
    hub_unsubscribe(e->subscriber);
    e->subscriber = NULL;
}

static const struct hub_events receiver_events = { receiver_started, receiver_event,
                                                   receiver_caught_up, receiver_gap,
                                                   receiver_failed };

static str one_type = STR("workflow_state_updated");

static void receiver_subscribe(struct receiver *e, struct log_server *w, const char *subject,
                               int64_t after, bool filtered, enum hub_encoding look)
{
    *e = (struct receiver){
        .log = w, .subject = subject, .one_type = filtered, .listened_at = w->server->published
    };
    struct hub_filter filter = {
        .subject = str_from(subject), .types = &one_type, .type_count = filtered, .after = after
    };
    e->subscriber =
        hub_subscribe(w->server->hub, &filter, &w->operator_grant, look, &receiver_events, e);
}

static void receiver_leave(struct receiver *e)
{
    if (e->subscriber)
        hub_unsubscribe(e->subscriber);
    e->subscriber = NULL;
}

/* It has all that there is for it after the number that it began with. */
static void check_complete(const struct receiver *e)
{
    const struct log_server *w = e->log;
    int at = 0;

    CHECK(e->started);
    for (int64_t i = e->began; i < w->committed; i++) {
        const struct event *v = &w->events[i];
        if ((e->subject[0] && !str_eq(v->subject, str_from(e->subject))) ||
            (e->one_type && v->type != EVENT_STATE_UPDATED))
            continue;
        if (at == e->count || e->seqs[at] != v->seq)
            check_fail(__FILE__, __LINE__, "expected event %lld, found %lld", (long long)v->seq,
                       at == e->count ? -1LL : (long long)e->seqs[at]);
        at++;
    }
    CHECK_INT(at, e->count);
}

/* ---- what is promised, one by one ---- */

TEST(hub_gives_a_listener_what_comes_from_now_on)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    log_add(w, "a");
    log_turn(w);
    receiver_subscribe(&e, w, "a", -1, false, HUB_WEBSOCKET);
    log_settle(w);
    CHECK(e.started && e.began == 1 && e.count == 0);
    log_add(w, "b");
    log_add(w, "a");
    log_settle(w);
    CHECK_INT(e.count, 1);
    CHECK_INT(e.seqs[0], 3);
    receiver_leave(&e);
    log_close(w);
}

TEST(hub_replays_the_log_and_then_is_live_without_reading_on)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    for (int i = 0; i < 500; i++)
        log_add(w, i % 2 ? "a" : "b");
    w->page_max = 70;
    log_turn(w);
    receiver_subscribe(&e, w, "a", 3, false, HUB_WEBSOCKET);
    for (int i = 0; i < 5; i++)
        log_settle(w);
    CHECK(e.caught_up);
    check_complete(&e);
    int reads = w->reads;
    log_add(w, "a");
    log_settle(w);
    check_complete(&e);
    CHECK_INT(w->reads, reads);
    receiver_leave(&e);
    log_close(w);
}

TEST(hub_keeps_what_is_published_while_the_last_page_is_on_its_way)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    w->by_hand = true;
    log_add(w, "a");
    log_turn(w);
    receiver_subscribe(&e, w, "a", 0, false, HUB_WEBSOCKET);
    log_turn(w);
    struct command *page = log_read(w, 0);
    log_add(w, "a"); /* the page does not show it */
    log_add(w, "a");
    log_turn(w);
    server_performed(w->server, page);
    log_turn(w);
    CHECK_INT(w->asked_count, 0);
    CHECK_INT(e.count, 3);
    receiver_leave(&e);
    log_close(w);
}

/* The name is another's by the time that the second page is read. */
TEST(hub_follows_a_subject_that_was_called_by_its_name_by_its_id)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    w->by_hand = true;
    w->name = "plan";
    w->named = "a";
    log_add(w, "a");
    log_turn(w);
    receiver_subscribe(&e, w, "plan", 0, false, HUB_WEBSOCKET);
    log_turn(w);
    struct command *page = log_read(w, 0);
    log_add(w, "a"); /* the page does not show it, and nobody knows yet that it is for him */
    log_add(w, "plan");
    w->named = "b";
    log_turn(w);
    server_performed(w->server, page);
    w->by_hand = false;
    log_settle(w);
    log_add(w, "b");
    log_add(w, "a");
    log_settle(w);
    e.subject = "a";
    CHECK(e.caught_up);
    check_complete(&e);
    CHECK_INT(e.count, 3);
    receiver_leave(&e);
    log_close(w);
}

TEST(hub_reads_again_when_more_was_published_than_is_kept)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    w->by_hand = true;
    receiver_subscribe(&e, w, "a", 0, false, HUB_WEBSOCKET);
    log_turn(w);
    struct command *page = log_read(w, 0);
    for (int i = 0; i < 1000; i++)
        log_add(w, "a");
    log_turn(w);
    server_performed(w->server, page);
    w->by_hand = false;
    log_settle(w);
    check_complete(&e);
    CHECK(e.caught_up);
    receiver_leave(&e);
    log_close(w);
}

TEST(hub_announces_what_the_log_does_not_reach_back_to)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    for (int i = 0; i < 20; i++)
        log_add(w, "a");
    w->floor = 11;
    log_turn(w);
    receiver_subscribe(&e, w, "", 3, false, HUB_SSE);
    log_settle(w);
    CHECK_INT(e.began, 10);
    CHECK_INT(e.count, 10);
    check_complete(&e);
    receiver_leave(&e);
    log_close(w);
}

/* The log was replaced by an older one. */
TEST(hub_resets_a_listener_who_has_seen_more_than_there_is)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    for (int i = 0; i < 5; i++)
        log_add(w, "a");
    log_turn(w);
    receiver_subscribe(&e, w, "a", 900, false, HUB_WEBSOCKET);
    log_settle(w);
    log_add(w, "a");
    log_settle(w);
    CHECK_INT(e.began, 5);
    check_complete(&e);
    receiver_leave(&e);
    log_close(w);
}

/* Its subject may be silent for longer than the log reaches back. */
TEST(hub_does_not_reset_a_quiet_listener_that_was_paused)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    receiver_subscribe(&e, w, "quiet", 0, false, HUB_WEBSOCKET);
    log_settle(w);
    for (int i = 0; i < 50; i++)
        log_add(w, "a");
    log_settle(w);
    w->floor = 40;
    hub_pause(e.subscriber);
    log_add(w, "quiet");
    log_settle(w);
    CHECK_INT(e.count, 0);
    hub_resume(e.subscriber);
    log_settle(w);
    CHECK_INT(e.began, 0);
    CHECK_INT(e.count, 1);
    receiver_leave(&e);
    log_close(w);
}

TEST(hub_lets_a_listener_pause_and_leave_in_the_middle_of_a_page)
{
    struct log_server *w = log_open(NULL);
    struct receiver pauses, leaves, stays;

    for (int i = 0; i < 30; i++)
        log_add(w, "a");
    log_turn(w);
    receiver_subscribe(&pauses, w, "a", 0, false, HUB_WEBSOCKET);
    receiver_subscribe(&leaves, w, "a", 0, false, HUB_WEBSOCKET);
    receiver_subscribe(&stays, w, "a", 0, false, HUB_WEBSOCKET);
    pauses.pause_after = 7;
    leaves.pause_after = 9;
    leaves.leave_then = true;
    log_settle(w);
    CHECK_INT(pauses.count, 7);
    CHECK_INT(leaves.count, 9);
    check_complete(&stays);
    for (int i = 0; i < 6; i++) {
        log_add(w, "a");
        pauses.paused = false;
        hub_resume(pauses.subscriber);
        log_settle(w);
    }
    check_complete(&pauses);
    check_complete(&stays);
    receiver_leave(&pauses);
    receiver_leave(&stays);
    log_close(w);
}

/* Of several who are told of one event, the first may end the others. */
static void receiver_ends_the_other(void *owner, struct shared *framed, int64_t seq)
{
    struct receiver *e = owner;

    (void)framed, (void)seq;
    e->count++;
    receiver_leave((struct receiver *)(void *)e->subject);
}

TEST(hub_lets_a_listener_end_the_next_one_while_it_is_told)
{
    const struct hub_events ends = { receiver_started, receiver_ends_the_other, receiver_caught_up,
                                     receiver_gap, receiver_failed };
    struct log_server *w = log_open(NULL);
    struct receiver first = { 0 }, next, last;
    struct hub_filter filter = { .subject = STR("a"), .after = -1 };

    first.subject = (const char *)&next;
    first.subscriber =
        hub_subscribe(w->server->hub, &filter, &w->operator_grant, HUB_WEBSOCKET, &ends, &first);
    receiver_subscribe(&next, w, "a", -1, false, HUB_WEBSOCKET);
    receiver_subscribe(&last, w, "a", -1, false, HUB_WEBSOCKET);
    log_settle(w);
    log_add(w, "a");
    log_settle(w);
    CHECK_INT(first.count, 1);
    CHECK_INT(next.count, 0);
    CHECK_INT(last.count, 1);
    receiver_leave(&first);
    receiver_leave(&last);
    log_close(w);
}

TEST(hub_forgets_a_listener_who_leaves_while_his_page_is_on_its_way)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    w->by_hand = true;
    log_add(w, "a");
    receiver_subscribe(&e, w, "a", 0, false, HUB_WEBSOCKET);
    log_turn(w);
    receiver_leave(&e);
    server_performed(w->server, log_read(w, 0));
    log_turn(w);
    CHECK(!e.started);
    log_close(w);
}

TEST(hub_asks_again_when_there_was_no_room)
{
    struct log_server *w = log_open(NULL);
    struct receiver e;

    log_add(w, "a");
    w->busy = true;
    receiver_subscribe(&e, w, "a", 0, false, HUB_WEBSOCKET);
    log_settle(w);
    CHECK(!e.started);
    w->busy = false;
    while (!e.caught_up)
        log_turn(w);
    check_complete(&e);
    receiver_leave(&e);
    log_close(w);
}

/* Everything, for a session, is what happens to its state. */
TEST(hub_lets_a_session_hear_of_its_own_state_only)
{
    struct {
        const char *subject;
        bool heard;
        enum error_kind why;
    } cases[] = {
        { "a", true, 0 },
        { "b", false, ERR_NOT_FOUND },
        { "", true, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct log_server *w = log_open(NULL);
        struct receiver e = { .log = w, .subject = cases[i].subject };
        struct hub_filter filter = { .subject = str_from(cases[i].subject), .after = 0 };
        e.subscriber = hub_subscribe(w->server->hub, &filter, &w->session_grant, HUB_WEBSOCKET,
                                     &receiver_events, &e);
        log_add(w, "a");
        log_add(w, "b");
        log_settle(w);
        log_add(w, "a");
        log_add(w, "b");
        log_settle(w);
        CHECK_INT(e.count, cases[i].heard ? 2 : 0);
        CHECK_INT(e.failed, !cases[i].heard);
        CHECK(!e.failed || e.why == cases[i].why);
        receiver_leave(&e);
        log_close(w);
    }
}

/* Live and from the log an event is the same bytes. */
TEST(hub_frames_an_event_the_same_way_live_and_from_the_log)
{
    for (int look = 0; look < HUB_ENCODINGS; look++) {
        struct log_server *w = log_open(NULL);
        struct receiver live, late;
        receiver_subscribe(&live, w, "a", 0, false, look);
        log_settle(w);
        log_add(w, "a");
        log_settle(w);
        receiver_subscribe(&late, w, "a", 0, false, look);
        log_settle(w);
        CHECK_INT(live.count, 1);
        CHECK_INT(late.count, 1);
        CHECK(str_eq(live.text, late.text));
        if (look == HUB_SSE)
            CHECK(str_starts(live.text, STR("id: 1\nevent: workflow_state_updated\ndata: {")) &&
                  str_ends(live.text, STR("}\n\n")));
        receiver_leave(&live);
        receiver_leave(&late);
        log_close(w);
    }
}

/* ---- at random ---- */

enum { RECEIVERS = 8 };

static void check_live(struct log_server *w, struct receiver *receivers)
{
    int reads = w->reads;

    log_add(w, "a");
    log_add(w, "b");
    log_settle(w);
    CHECK_INT(w->reads, reads);
    for (int i = 0; i < RECEIVERS; i++)
        if (receivers[i].subscriber)
            check_complete(&receivers[i]);
}

/* Everything that is under way comes to its end. */
static void settle_all(struct log_server *w, struct receiver *receivers, struct command **done,
                       int *done_count)
{
    while (*done_count)
        server_performed(w->server, done[--*done_count]);
    while (log_publish(w))
        ;
    w->by_hand = false;
    while (w->asked_count)
        server_performed(w->server, log_read(w, 0));
    for (int i = 0; i < RECEIVERS; i++) {
        receivers[i].pause_after = 0;
        if (receivers[i].subscriber && receivers[i].paused) {
            receivers[i].paused = false;
            hub_resume(receivers[i].subscriber);
        }
    }
    for (int i = 0; i < 40; i++)
        log_settle(w);
}

static void random_receiver_step(struct random *r, struct log_server *w, struct receiver *e)
{
    static const char *const subjects[] = { "", "a", "b" };

    if (!e->subscriber) {
        int64_t after = (int64_t)random_below(r, (uint32_t)w->server->published + 2) - 1;
        receiver_subscribe(e, w, subjects[random_below(r, 3)], after, random_below(r, 3) == 0,
                           random_below(r, 2));
        e->pause_after = random_below(r, 4) ? 0 : 1 + (int)random_below(r, 5);
    } else if (random_below(r, 12) == 0) {
        receiver_leave(e);
    } else if (e->paused) {
        e->paused = false;
        hub_resume(e->subscriber);
    } else if (random_below(r, 3) == 0) {
        e->paused = true;
        hub_pause(e->subscriber);
    }
}

static void random_run(struct random *r)
{
    struct log_server *w = log_open(NULL);
    struct receiver *receivers = ARENA_ARRAY(check_arena(), struct receiver, RECEIVERS);
    struct command *done[ASKED_MAX]; /* performed, and not yet with the server */
    int done_count = 0;

    memset(receivers, 0, RECEIVERS * sizeof *receivers);
    w->by_hand = true;
    w->page_max = 1 + (int)random_below(r, 6);
    for (int steps = 150; steps > 0; steps--) {
        switch (random_below(r, 8)) {
        case 0:
        case 1:
            log_commit(w, random_below(r, 2) ? "a" : "b",
                       random_below(r, 4) ? EVENT_STATE_UPDATED : EVENT_STATE_DELETED);
            break;
        case 2: log_publish(w); break;
        case 3:
            if (w->asked_count)
                done[done_count++] = log_read(w, (int)random_below(r, (uint32_t)w->asked_count));
            break;
        case 4:
            if (done_count)
                server_performed(w->server, done[--done_count]);
            break;
        case 5: random_receiver_step(r, w, &receivers[random_below(r, RECEIVERS)]); break;
        case 6:
            if (random_below(r, 20) == 0)
                w->floor += random_below(r, (uint32_t)(w->committed - w->floor + 2));
            break;
        case 7: log_turn(w); break;
        }
    }
    settle_all(w, receivers, done, &done_count);
    for (int i = 0; i < RECEIVERS; i++) {
        if (!receivers[i].subscriber)
            continue;
        CHECK(!receivers[i].failed);
        check_complete(&receivers[i]);
    }
    check_live(w, receivers);
    for (int i = 0; i < RECEIVERS; i++)
        receiver_leave(&receivers[i]);
    log_close(w);
}

TEST_LIMIT(random_listeners_get_every_event_once_and_in_order, 60)
{
    struct random r = random_start();

    for (int i = 0; i < 150; i++)
        random_run(&r);
}
