/* scripted_verb.c: the command `scripted`: a scenario, played by a process against a server.
 *
 * It is to a runner what any client is: a prompt on standard input, lines of JSON on
 * standard output, and a conversation that it finds again by its id. */
#include "app/scripted_verb.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "app/data.h"
#include "cli/op_verbs.h"
#include "client/socket.h"
#include "runner/scripted.h"

enum {
    PAUSE_MOST_MS = 60 * 60 * 1000,
    AWAY_MS = 30 * 1000, /* that a server may be away before a call has failed */
    AGAIN_MS = 100,
};

// clang-format off
const struct option scripted_verb_options[] = {
    { "--start",  0, "ID", "begin the conversation of this id with the scenario on standard input" },
    { "--resume", 0, "ID", "go on with it" },
    { 0 },
};
// clang-format on

struct scripted {
    struct cli *cli;
    struct caller caller;
    str state_id;
    int calls;
};

static str variable(const char *name)
{
    return str_from(getenv(name));
}

/* ---- what the player asks for ---- */

static err emit(void *self, struct arena *a, const struct json *line)
{
    struct scripted *s = self;

    cli_write(s->cli, json_printed(a, line));
    cli_write(s->cli, STR("\n"));
    return cli_flush(s->cli) ? NULL : err_new(a, ERR_UNAVAILABLE, "nobody reads what it says");
}

/* The input, with what an agent's session implies. */
static struct json completed(struct scripted *s, struct arena *a, const struct op *op,
                             const struct json *input)
{
    struct json out = json_copy(a, input);

    if (op->implied && !json_get(&out, op->implied) && s->state_id.len)
        json_put(a, &out, str_from(op->implied), json_string(s->state_id));
    return out;
}

/* A server that is being started again is asked again; the key makes that the same as once. */
static err call_until_there(struct scripted *s, struct arena *a, struct call *call,
                            struct response *out)
{
    int64_t until_ms = socket_clock_ms() + AWAY_MS;

    s->calls++;
    if (strcmp(call->method, "GET") != 0)
        call->key = arena_printf(a, STR_FMT "-%d", STR_ARG(variable("BATON_RUN_ID")), s->calls);
    for (;;) {
        err e = caller_request(&s->caller, a, call, out);
        bool away = e ? e->kind == ERR_UNAVAILABLE
                      : out->status == error_kind_info(ERR_UNAVAILABLE)->http;
        if (!away || socket_clock_ms() >= until_ms)
            return e;
        poll(NULL, 0, AGAIN_MS);
    }
}

static const struct op *op_named(str name)
{
    size_t i = 0;

    while (op_nth(i) && !str_eq(str_from(op_nth(i)->name), name))
        i++;
    return op_nth(i);
}

static err call_named(void *self, struct arena *a, str name, const struct json *input, int *status,
                      const struct json **answer)
{
    struct scripted *s = self;
    const struct op *op = op_named(name);
    struct call call;
    struct response r;

    if (!op || !op->http)
        return err_new(a, ERR_INVALID, "there is no operation " STR_FMT " to call", STR_ARG(name));
    TRY(caller_find(&s->caller, a));
    struct json whole = completed(s, a, op, input);
    op_call_make(a, op, &whole, &call);
    TRY(call_until_there(s, a, &call, &r));
    *status = r.status;
    *answer = NULL;
    if (r.body.len)
        TRY(json_parse(a, r.body, &json_limits_own, answer));
    if (str_eq(name, STR("state.create")) && r.status == 201)
        s->state_id = arena_copy(s->cli->arena, json_str(*answer, "state_id"));
    return NULL;
}

static err pause_ms(void *self, struct arena *a, int64_t ms)
{
    (void)self, (void)a;
    while (ms > 0) {
        int step = ms < PAUSE_MOST_MS ? (int)ms : PAUSE_MOST_MS;
        poll(NULL, 0, step);
        ms -= ms == INT64_MAX ? 0 : step;
    }
    return NULL;
}

static err touch(void *self, struct arena *a, str path)
{
    int fd = open(arena_copy(a, path).at, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)self;
    if (fd < 0)
        return err_new(a, ERR_FORBIDDEN, "cannot touch " STR_FMT ": %s", STR_ARG(path),
                       strerror(errno));
    close(fd);
    return NULL;
}

static bool exists(void *self, str path)
{
    struct scripted *s = self;
    return access(arena_copy(s->cli->arena, path).at, F_OK) == 0;
}

/* ---- the conversation ---- */

/* Where it is kept; the id is a part of a file's name. */
static err path_of(struct cli *c, str id, str *out)
{
    str folder = variable("BATON_SCRIPTED_DIR");

    for (size_t i = 0; i < id.len; i++)
        if (!strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-", id.at[i]))
            id.len = 0;
    if (!id.len || id.len > 100)
        return usage_error(c, STR("expected an id of letters, digits, - and _."));
    *out = arena_printf(c->arena, STR_FMT "/" STR_FMT ".json",
                        STR_ARG(folder.len ? folder : STR(".")), STR_ARG(id));
    return NULL;
}

/* A prompt for work may bring another scenario with it; else the first one goes on. */
static err scenario_find(struct cli *c, str id, bool fresh, str purpose, const struct json **out)
{
    str prompt, path, kept;

    TRY(path_of(c, id, &path));
    TRY(cli_read(c, c->arena, "-", &prompt));
    bool asked = fresh || (str_eq(purpose, STR("work")) && !scripted_read(c->arena, prompt, out));
    if (!asked) {
        TRY(data_read(c->arena, path, &kept));
        if (!kept.len)
            return err_new(c->arena, ERR_NOT_FOUND,
                           "there is no conversation " STR_FMT ": %s is not there", STR_ARG(id),
                           path.at);
        return json_parse_own(c->arena, kept, out);
    }
    TRY(scripted_read(c->arena, prompt, out));
    return data_write(c->arena, path, json_printed(c->arena, *out));
}

static err play(struct cli *c, const struct json *scenario, const struct scripted_turn *turn)
{
    struct scripted s = { .cli = c, .state_id = variable("WORKFLOW_STATE_ID") };
    struct scripted_io io = { .self = &s,
                              .emit = emit,
                              .call = call_named,
                              .pause = pause_ms,
                              .touch = touch,
                              .exists = exists };

    caller_init(&s.caller, NULL);
    c->exit = scripted_play(c->arena, scenario, turn, &io);
    caller_release(&s.caller);
    return NULL;
}

err scripted_verb_run(struct cli *c)
{
    const char *started = cli_value(c, "--start"), *resumed = cli_value(c, "--resume");
    str purpose = variable("BATON_RUN_PURPOSE");
    struct scripted_turn turn = { .client_id = str_from(started ? started : resumed),
                                  .session_id = variable("BATON_SESSION_ID"),
                                  .workflow_id = variable("BATON_WORKFLOW_ID"),
                                  .purpose = purpose.len ? purpose : STR("work") };
    const struct json *scenario;

    if (!started == !resumed)
        return usage_error(c, STR("expected either --start ID or --resume ID."));
    str_to_int(variable("BATON_RUN_ATTEMPT"), &turn.attempt);
    TRY(scenario_find(c, turn.client_id, started != NULL, turn.purpose, &scenario));
    return play(c, scenario, &turn);
}
