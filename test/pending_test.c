/* pending_test.c: whoever has a command on its way is told once, whatever becomes of it. */
#include "server_told.h"
#include "wire/hub.h"
#include "wire/pending.h"

static struct grant token = { .token_id = STR("tok_1"), .refs = 1 };
static int waits_told;

static void pending_done(struct pending *p)
{
    tell_answer(p->owner, p->command.error);
}

static void pending_waits(struct pending *p)
{
    (void)p;
    waits_told++;
}

static const struct actor viewer = { .kind = ACTOR_VIEWER, .name = { "viewer", 6 } };

/* A read of the token's, not submitted yet. */
static struct pending *pending_new(struct server_fixture *b, const char *name)
{
    struct pending *p = ARENA_NEW(check_arena(), struct pending);
    struct arena *a = arena_new();
    struct quota *quota = quota_of(b->server, &token);

    *p = (struct pending){
        .server = b->server,
        .command = { .arena = a, .op = op_find(b->table, STR("thing.read")), .actor = &viewer },
        .charge = charge_new(b->server, a, quota),
        .done = pending_done,
        .waits = pending_waits,
        .owner = (void *)name
    };
    quota_unref(quota); /* the charge has its own */
    return p;
}

static struct pending *submitted(struct server_fixture *b, const char *name)
{
    struct pending *p = pending_new(b, name);

    CHECK_OK(pending_submit(p));
    net_turn(b->loop);
    return p;
}

/* Another thread has performed it, with that answer. */
static void performed_as(struct server_fixture *b, struct pending *p, struct answer answer)
{
    CHECK(p->performing || p->waiting);
    b->submitted = NULL;
    b->submitted_end = &b->submitted;
    p->command.answer = answer;
    server_performed(b->server, &p->command);
    net_turn(b->loop);
}

/* An answer that waits for an event of wfstate_1, or for a minute. */
static struct answer waiting_answer(const struct server_fixture *b)
{
    return (struct answer){ .waits = true,
                            .wait_subject = STR("wfstate_1"),
                            .wait_seq = b->server->published,
                            .wait_until_ms = b->now_ms + 60 * 1000 };
}

/* The arena has the charge, and so the quota. */
static void pending_free(struct pending *p)
{
    arena_free(p->command.arena);
}

TEST(pending_is_told_once_and_counts_as_a_request_until_then)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = submitted(b, "a");

    CHECK_INT(p->charge->quota->requests, 1);
    CHECK_STR(str_from(told), "");
    performed_as(b, p, (struct answer){ 0 });
    CHECK_STR(str_from(told), "a@4 ");
    CHECK_INT(p->charge->quota->requests, 0);
    CHECK(!p->performing && !p->waiting);
    pending_free(p);
    fixture_free(b);
}

static void one_request(struct server_options *o)
{
    o->limits.token_requests = 1;
}

TEST(pending_that_is_one_too_many_is_refused_and_not_told)
{
    struct server_fixture *b = fixture = fixture_new(one_request);
    struct pending *p = submitted(b, "a"), *other = pending_new(b, "b");

    err e = pending_submit(other);
    CHECK_ERR(e, ERR_LIMIT);
    CHECK(strstr(e->message.at, "token_requests"));
    performed_as(b, p, (struct answer){ 0 });
    CHECK_OK(pending_submit(other)); /* there is room again */
    net_turn(b->loop);
    performed_as(b, other, (struct answer){ 0 });
    CHECK_STR(str_from(told), "a@4 b@4 ");
    pending_free(p);
    pending_free(other);
    fixture_free(b);
}

TEST(pending_for_which_there_is_no_room_is_unavailable_and_not_told)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = pending_new(b, "a");

    while (server_submit(b->server, command_new("thing.read", "")))
        continue;
    CHECK_ERR(pending_submit(p), ERR_UNAVAILABLE);
    CHECK(!p->performing);
    CHECK_INT(p->charge->quota->requests, 0);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "");
    pending_free(p);
    fixture_free(b);
}

TEST(pending_that_waits_is_run_again_by_an_event_and_told_once)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = submitted(b, "a");
    const struct quota *quota = p->charge->quota;

    performed_as(b, p, waiting_answer(b));
    CHECK(p->waiting);
    CHECK_INT(waits_told, 1);
    CHECK_INT(quota->waits, 1);
    CHECK_INT(quota->requests, 0); /* nobody works on it */
    CHECK_INT(b->submits, 1);
    server_performed(b->server, update_at("w", 5));
    net_turn(b->loop);
    CHECK_INT(b->submits, 2);
    performed_as(b, p, waiting_answer(b)); /* it was nothing for it: it waits on */
    CHECK_INT(waits_told, 1);
    CHECK_INT(quota->waits, 1);
    server_performed(b->server, update_at("w", 6));
    net_turn(b->loop);
    performed_as(b, p, (struct answer){ 0 });
    CHECK_STR(str_from(told), "w@5 w@6 a@6 ");
    CHECK_INT(quota->waits, 0);
    pending_free(p);
    fixture_free(b);
}

static void no_waits(struct server_options *o)
{
    o->limits.token_waits = 0;
}

TEST(pending_that_may_not_wait_is_answered_with_the_limit)
{
    struct server_fixture *b = fixture = fixture_new(no_waits);
    struct pending *p = submitted(b, "a");

    performed_as(b, p, waiting_answer(b));
    CHECK_STR(str_from(told), "aLIMIT@4 ");
    CHECK_INT(waits_told, 0);
    CHECK_INT(p->charge->quota->waits, 0);
    pending_free(p);
    fixture_free(b);
}

// clang-format off
static const struct {
    enum cancel_reason why;
    const char *told, *text;
} reasons[] = {
    { CANCEL_GONE,     "aUNAVAILABLE@4 ",     "is gone" },
    { CANCEL_REVOKED,  "aUNAUTHENTICATED@4 ", "not valid any more" },
    { CANCEL_STOPPING, "aUNAVAILABLE@4 ",     "the server stops" },
    { CANCEL_ASKED,    "aUNAVAILABLE@4 ",     "the client has cancelled" },
    { CANCEL_SESSION,  "aUNAVAILABLE@4 ",     "the session has ended" },
};
// clang-format on

static void each_reason(void (*cancels)(struct server_fixture *b, struct pending *p,
                                        enum cancel_reason why))
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        struct server_fixture *b = fixture = fixture_new(NULL);
        struct pending *p = submitted(b, "a");

        *told = '\0';
        cancels(b, p, reasons[i].why);
        CHECK_STR(str_from(told), reasons[i].told);
        CHECK(strstr(p->command.error->message.at, reasons[i].text));
        CHECK(str_eq(p->command.error->message, str_from(cancel_text(reasons[i].why))));
        CHECK_INT(p->charge->quota->waits + p->charge->quota->requests, 0);
        pending_free(p);
        fixture_free(b);
    }
}

static void cancel_waiting(struct server_fixture *b, struct pending *p, enum cancel_reason why)
{
    performed_as(b, p, waiting_answer(b));
    pending_cancel(p, why);
    net_turn(b->loop);
}

TEST(pending_that_waits_ends_with_the_reason_of_its_cancelling)
{
    each_reason(cancel_waiting);
}

/* As when a token is revoked between the submission and the answer: it would have waited. */
static void cancel_performing(struct server_fixture *b, struct pending *p, enum cancel_reason why)
{
    pending_cancel(p, why);
    net_turn(b->loop);
    CHECK_STR(str_from(told), ""); /* another thread has its arena */
    performed_as(b, p, waiting_answer(b));
    CHECK_INT(waits_told, 0);
}

TEST(pending_that_is_cancelled_while_it_is_performed_does_not_begin_to_wait)
{
    each_reason(cancel_performing);
}

/* It has waited, was woken, and is with another thread when it is cancelled. */
static void cancel_woken(struct server_fixture *b, struct pending *p, enum cancel_reason why)
{
    performed_as(b, p, waiting_answer(b));
    hub_notify(b->server->hub, STR("wfstate_1"));
    net_turn(b->loop);
    CHECK_INT(b->submits, 2);
    pending_cancel(p, why);
    performed_as(b, p, (struct answer){ 0 });
}

TEST(pending_that_is_cancelled_while_it_looks_again_ends_with_the_reason)
{
    each_reason(cancel_woken);
}

TEST(pending_that_is_cancelled_while_it_is_performed_is_told_what_came_of_it)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = submitted(b, "a");

    pending_cancel(p, CANCEL_GONE);
    pending_cancel(p, CANCEL_REVOKED); /* the first reason counts */
    CHECK_INT(p->cancelled, CANCEL_GONE);
    performed_as(b, p, (struct answer){ .then = "thing.read" });
    CHECK_STR(str_from(told), "a@4 ");
    CHECK_INT(b->submits, 1); /* and nothing is read behind it */
    pending_free(p);
    fixture_free(b);
}

TEST(pending_that_would_wait_at_a_server_that_stops_does_not)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = submitted(b, "a");

    b->server->stopping = true;
    performed_as(b, p, waiting_answer(b));
    b->server->stopping = false;
    CHECK_STR(str_from(told), "aUNAVAILABLE@4 ");
    CHECK_STR(p->command.error->message, cancel_text(CANCEL_STOPPING));
    pending_free(p);
    fixture_free(b);
}

/* ---- a read behind what was written ---- */

static struct pending *written(struct server_fixture *b)
{
    struct pending *p = pending_new(b, "a");

    p->command.op = op_find(b->table, STR("thing.write"));
    CHECK_OK(pending_submit(p));
    net_turn(b->loop);
    return p;
}

static const struct answer wrote_answer = { .text = STR("wrote"), .then = "thing.read" };

TEST(pending_whose_write_names_a_read_is_answered_by_that)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = written(b);

    p->command.repeated = true;
    performed_as(b, p, wrote_answer);
    CHECK_STR(str_from(told), "");
    CHECK_STR(str_from(p->command.op->name), "thing.read");
    CHECK_STR(str_from(p->wrote->op->name), "thing.write");
    CHECK(p->command.actor == &viewer);
    CHECK_INT(p->charge->quota->requests, 1);
    performed_as(b, p, (struct answer){ .text = STR("read") });
    CHECK_STR(str_from(told), "a@4 ");
    CHECK_STR(p->command.answer.text, "read");
    CHECK(p->command.repeated); /* as the write was */
    pending_free(p);
    fixture_free(b);
}

TEST(pending_whose_read_fails_is_answered_by_the_write)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = written(b);

    performed_as(b, p, wrote_answer);
    p->command.error = err_new(check_arena(), ERR_INTERNAL, "cannot be read");
    performed_as(b, p, (struct answer){ 0 });
    CHECK_STR(str_from(told), "a@4 ");
    CHECK_STR(p->command.answer.text, "wrote");
    CHECK(!p->command.error);
    pending_free(p);
    fixture_free(b);
}

/* What was written is there: that the read behind it waits no longer does not take it back. */
TEST(pending_whose_read_is_cancelled_is_answered_by_the_write)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = written(b);

    performed_as(b, p, wrote_answer);
    performed_as(b, p, waiting_answer(b));
    CHECK(p->waiting);
    pending_cancel(p, CANCEL_REVOKED);
    net_turn(b->loop);
    CHECK_STR(str_from(told), "a@4 ");
    CHECK_STR(p->command.answer.text, "wrote");
    pending_free(p);
    fixture_free(b);
}

/* Fills the queue in the turn in which the write is answered. */
static void fills(struct command *c)
{
    (void)c;
    while (server_submit(fixture->server, command_new("thing.read", "")))
        continue;
}

TEST(pending_for_whose_read_there_is_no_room_is_answered_by_the_write)
{
    struct server_fixture *b = fixture = fixture_new(NULL);
    struct pending *p = written(b);
    struct command *before = command_new("thing.read", "");

    before->done = fills;
    server_performed(b->server, before);
    performed_as(b, p, wrote_answer);
    CHECK_STR(str_from(told), "a@4 ");
    CHECK_STR(p->command.answer.text, "wrote");
    pending_free(p);
    fixture_free(b);
}
