/* wait_subject_test.c: a command that waits for a subject runs again when something happens to it, or
 * its time is up. */
#include "log_server.h"

struct waiter {
    struct command command;
    struct waiting *waiting;
    int runs, answers;
    int64_t wanted; /* waits until its subject has so many events */
};

static void perform_wait(struct log_server *w, struct command *c)
{
    struct waiter *v = LIST_ENTRY(c, struct waiter, command);
    int64_t count = 0;

    v->runs++;
    for (int64_t i = 0; i < w->committed; i++)
        count += str_eq(w->events[i].subject, STR("a"));
    c->seq = w->committed;
    if (count >= v->wanted || c->wait_over)
        return;
    c->answer.waits = true;
    c->answer.wait_subject = STR("a");
    c->answer.wait_seq = w->committed;
    c->answer.wait_until_ms = w->now_ms + 40;
}

static void waiter_done(struct command *c)
{
    struct waiter *v = LIST_ENTRY(c, struct waiter, command);

    if (c->answer.waits) {
        v->waiting = wait_begin(c->owner, c, 0);
        return;
    }
    v->waiting = NULL;
    v->answers++;
}

static struct log_server *waiter_begin(struct waiter *v, int64_t wanted)
{
    struct log_server *w = log_open(NULL);

    w->perform = perform_wait;
    *v = (struct waiter){ .wanted = wanted };
    log_wait(w, &v->command, waiter_done);
    return w;
}

TEST(wait_runs_a_command_again_at_events_of_its_subject_alone)
{
    struct waiter v;
    struct log_server *w = waiter_begin(&v, 2);

    log_settle(w);
    CHECK(v.waiting && v.runs == 1);
    log_add(w, "b");
    log_settle(w);
    CHECK_INT(v.runs, 1);
    log_add(w, "a");
    log_settle(w);
    CHECK(v.waiting && v.runs == 2);
    log_add(w, "a");
    log_settle(w);
    CHECK_INT(v.runs, 3);
    CHECK_INT(v.answers, 1);
    CHECK(!v.command.error && !v.command.wait_over);
    log_close(w);
}

TEST(wait_ends_at_the_time_that_the_command_named_first)
{
    struct waiter v;
    struct log_server *w = waiter_begin(&v, 9);

    log_settle(w);
    w->now_ms += 30;
    log_add(w, "a"); /* runs again, and would have 40 ms from now on */
    log_settle(w);
    CHECK(v.waiting && v.runs == 2);
    w->now_ms += 10;
    while (!v.answers)
        log_turn(w);
    CHECK(v.command.wait_over && !v.command.error);
    CHECK_INT(v.runs, 3);
    log_close(w);
}

/* The event was published between its look at the log and its parking. */
TEST(wait_does_not_miss_an_event_that_came_before_it_was_parked)
{
    struct waiter v;
    struct log_server *w = waiter_begin(&v, 1);

    w->by_hand = true;
    log_turn(w);
    struct command *c = log_read(w, 0);
    log_add(w, "a");
    log_turn(w);
    w->by_hand = false;
    server_performed(w->server, c);
    log_settle(w);
    CHECK_INT(v.answers, 1);
    CHECK_INT(v.runs, 2);
    log_close(w);
}

TEST(wait_is_cancelled_while_parked_and_while_performed)
{
    struct waiter v;
    struct log_server *w = waiter_begin(&v, 1);

    log_settle(w);
    wait_cancel(v.waiting);
    CHECK_INT(v.answers, 1);
    CHECK_ERR(v.command.error, ERR_UNAVAILABLE);
    log_close(w);

    w = waiter_begin(&v, 2);
    log_settle(w);
    w->by_hand = true;
    log_add(w, "a");
    log_settle(w);
    CHECK_INT(w->asked_count, 1);
    wait_cancel(v.waiting);
    CHECK_INT(v.answers, 0);
    server_performed(w->server, log_read(w, 0));
    log_settle(w);
    CHECK_INT(v.answers, 1);
    CHECK_ERR(v.command.error, ERR_UNAVAILABLE);
    log_close(w);
}
