/* team_load.c: runners and agents of a benchmark. */
#include "bench/team_load.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "bench/load.h"
#include "bench/set.h"
#include "runner/scripted.h"

/* ---- a client by hand ---- */

struct api_client api_client_new(int port)
{
    return (struct api_client){ .fd = load_connect(port), .arena = arena_new() };
}

static struct api_client api_client_local(const char *socket)
{
    return (struct api_client){ .fd = load_connect_local(socket), .arena = arena_new() };
}

void api_client_free(struct api_client *k)
{
    close(k->fd);
    arena_free(k->arena);
}

/* One request with a token and a body (empty: none); its status, and the answer (NULL: none). */
static int api_client_ask(struct api_client *k, const char *token, const char *method, str path,
                          str body, const struct json **answer)
{
    struct arena *a = k->arena;
    str found;

    load_ask(k->fd, arena_printf(a,
                                 "%s " STR_FMT " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                 "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
                                 "Content-Length: %zu\r\n\r\n" STR_FMT,
                                 method, STR_ARG(path), token, body.len, STR_ARG(body)));
    int status = load_answer(a, k->fd, &found);
    *answer = found.len ? parsed(a, found) : NULL;
    k->requests++;
    return status;
}

const struct json *api_client_must(struct api_client *k, const char *token, const char *method,
                                   str path, str body)
{
    const struct json *answer;
    int status = api_client_ask(k, token, method, path, body, &answer);

    if (status < 200 || status > 299)
        fail(arena_copy(k->arena, path).at,
             answer ? json_printed(k->arena, answer) : STR("it was refused"));
    return answer;
}

const char *api_client_runner_token(struct api_client *k, struct arena *a, const struct target *t)
{
    const struct json *made =
        api_client_must(k, t->token, "POST", STR("/tokens"), STR("{\"kind\":\"runner\"}"));

    return arena_copy(a, json_str(made, "token")).at;
}

/* ---- all that the threads share ---- */

struct shared {
    const struct team_load *load;
    const struct target *target;
    const char *runner_token;
    pthread_mutex_t lock;
    int started; /* children */
    bool over;   /* the parent has settled */
};

struct worker {
    struct shared *shared;
    pthread_t thread;
    int number;
    struct api_client client;
    str id;    /* as a runner */
    str token; /* of the run that it has */
    str state_id;
};

static int64_t take_number(struct shared *s)
{
    pthread_mutex_lock(&s->lock);
    int number = s->started < s->load->children ? ++s->started : 0;
    pthread_mutex_unlock(&s->lock);
    return number;
}

/* ---- the parent ---- */

static const char scenario[] =
    "{\"work\":[{\"say\":\"it works\"},{\"cost_usd\":0.01,\"tokens\":[1000,100]}],"
    "\"state_update\":[[{\"call\":{\"op\":\"state.patch\",\"input\":{\"operations\":"
    "[{\"op\":\"add\",\"path\":\"/results/-\",\"value\":\"done\"}]},\"expect\":200}}]]}";

static void children_start(struct worker *w, uint32_t count)
{
    struct arena *a = w->client.arena;
    int64_t number;

    while (count-- > 0 && (number = take_number(w->shared))) {
        struct json prompt = json_string(str_from(scenario));
        str body = arena_printf(
            a,
            "{\"type\":\"start_session\",\"session_name\":\"child-%lld\",\"demands\":"
            "{\"profile\":\"scripted\"},\"execution_mode\":\"async_callback\",\"prompt\":" STR_FMT
            "}",
            (long long)number, STR_ARG(json_printed(a, &prompt)));
        api_client_must(&w->client, arena_copy(a, w->token).at, "POST", STR("/runs"), body);
    }
}

/* Its first turn starts some; each one that has called back makes room for another. */
static void parent_play(struct worker *w, const struct json *run)
{
    const struct json *sources = json_get(json_get(run, "metadata"), "callback_sources");

    children_start(w, sources ? sources->len : (uint32_t)w->shared->load->at_a_time);
}

/* ---- a child ---- */

static err child_call(void *self, struct arena *a, str op, const struct json *input, int *status,
                      const struct json **answer)
{
    struct worker *w = self;

    if (!str_eq(op, STR("state.patch")))
        return err_new(a, ERR_INVALID, "the benchmark knows state.patch alone");
    str path = arena_printf(a, "/workflow-states/" STR_FMT, STR_ARG(w->state_id));
    *status = api_client_ask(&w->client, arena_copy(a, w->token).at, "PATCH", path,
                             json_printed(a, input), answer);
    return NULL;
}

static err child_tell(void *self, struct arena *a, const struct json *line)
{
    (void)self, (void)a, (void)line;
    return NULL;
}

static void child_play(struct worker *w, const struct json *run)
{
    struct arena *a = w->client.arena;
    struct scripted_io io = { .self = w, .emit = child_tell, .call = child_call };
    struct scripted_turn turn = { .purpose = json_str(run, "purpose"),
                                  .attempt = 1,
                                  .client_id = json_str(run, "session_name") };
    const struct json *played = parsed(a, str_from(scenario));

    if (scripted_play(a, played, &turn, &io) != 0)
        fail("a scripted child", STR("did not end well"));
}

/* ---- a runner ---- */

static void report(struct worker *w, const struct json *run, const char *what, const char *more)
{
    struct arena *a = w->client.arena;
    str path =
        arena_printf(a, "/runner/runs/" STR_FMT "/%s", STR_ARG(json_str(run, "run_id")), what);
    str body = arena_printf(a, "{\"runner_id\":\"" STR_FMT "\",\"fence\":%lld%s}", STR_ARG(w->id),
                            (long long)json_int_or(run, "fence", 0), more);

    api_client_must(&w->client, w->shared->runner_token, "POST", path, body);
}

static void run_play(struct worker *w, const struct json *run)
{
    str client = arena_printf(w->client.arena, ",\"client_id\":\"" STR_FMT "\"",
                              STR_ARG(json_str(run, "session_name")));

    w->token = json_str(run, "token");
    w->state_id = json_str(json_get(run, "env"), "WORKFLOW_STATE_ID");
    report(w, run, "started", client.at);
    if (str_eq(json_str(run, "session_name"), STR("parent")))
        parent_play(w, run);
    else
        child_play(w, run);
    report(w, run, "completed",
           ",\"result\":\"done\",\"usage\":{\"input_tokens\":1000,\"output_tokens\":100,"
           "\"cost_usd\":0.01}");
}

static void *worker_main(void *self)
{
    struct worker *w = self;
    struct arena *own = arena_new();
    const char *token = w->shared->runner_token;
    str name = arena_printf(own, "{\"name\":\"worker-%d\",\"hostname\":\"bench\",\"capacity\":1}",
                            w->number);

    w->id = arena_copy(own, json_str(api_client_must(&w->client, token, "POST",
                                                     STR("/runner/register"), name),
                                     "runner_id"));
    str claim = arena_printf(own, "/runner/runs?runner_id=" STR_FMT, STR_ARG(w->id));
    while (!__atomic_load_n(&w->shared->over, __ATOMIC_ACQUIRE)) {
        const struct json *answer;
        int status = api_client_ask(&w->client, token, "GET", claim, STR(""), &answer);
        if (status == 200 && json_get(answer, "run"))
            run_play(w, json_get(answer, "run"));
        else if (status != 204)
            fail("a claim", STR("was refused"));
        arena_reset(w->client.arena);
    }
    arena_free(own);
    return NULL;
}

/* ---- all of it ---- */

static void stage_prepare(struct api_client *k, const struct target *t)
{
    api_client_must(k, t->token, "POST", STR("/workflow-schemas"),
                    STR("{\"name\":\"results\",\"json_schema\":{\"type\":\"object\",\"properties\":"
                        "{\"results\":{\"type\":\"array\"}}}}"));
    const struct json *state =
        api_client_must(k, t->token, "POST", STR("/workflow-states"),
                        STR("{\"schema_name\":\"results\",\"initial_data\":{\"results\":[]}}"));
    api_client_must(k, t->token, "POST", STR("/sessions"),
                    arena_printf(k->arena,
                                 "{\"session_name\":\"parent\",\"workflow_state_id\":\"" STR_FMT
                                 "\"}",
                                 STR_ARG(json_str(state, "state_id"))));
    api_client_must(
        k, t->token, "POST", STR("/runs"),
        STR("{\"type\":\"start_session\",\"session_name\":\"parent\",\"prompt\":\"go\"}"));
}

/* A counter of /metrics, which is no JSON. */
static int64_t metric_of(struct api_client *k, const struct target *t, str name)
{
    str text, line, rest;
    int64_t value = 0;

    load_ask(k->fd, arena_printf(k->arena,
                                 "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                                 "Authorization: Bearer %s\r\n\r\n",
                                 t->token));
    if (load_answer(k->arena, k->fd, &text) != 200)
        fail("/metrics", STR("was refused"));
    for (rest = text; rest.len;) {
        str_cut(rest, '\n', &line, &rest);
        if (str_starts(line, name) && line.len > name.len && line.at[name.len] == ' ')
            str_to_int(str_slice(line, name.len + 1, line.len), &value);
    }
    return value;
}

static struct api_client api_client_of(const struct team_load *c, const struct target *t)
{
    return c->socket ? api_client_local(c->socket) : api_client_new(t->port);
}

void team_load_run(struct team_load *c, const struct target *t)
{
    struct arena *a = arena_new();
    struct shared shared = { .load = c, .target = t, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct worker *workers = arena_zero(a, (size_t)c->workers * sizeof *workers);
    struct api_client k = api_client_of(c, t);

    shared.runner_token = api_client_runner_token(&k, a, t);
    double began = now_s(), cpu_began = process_cpu_s(t->pid);
    for (int i = 0; i < c->workers; i++) {
        workers[i] =
            (struct worker){ .shared = &shared, .number = i, .client = api_client_of(c, t) };
        if (pthread_create(&workers[i].thread, NULL, worker_main, &workers[i]) != 0)
            fail("a worker", STR("could not be started"));
    }
    stage_prepare(&k, t);
    while (
        !json_bool_or(api_client_must(&k, t->token, "GET",
                                      STR("/sessions/parent/status?wait=true&timeout=20"), STR("")),
                      "settled", false))
        arena_reset(k.arena);
    c->seconds = now_s() - began;
    c->cpu_s = process_cpu_s(t->pid) - cpu_began;
    c->commits = metric_of(&k, t, STR("baton_batches_total"));
    __atomic_store_n(&shared.over, true, __ATOMIC_RELEASE);
    for (int i = 0; i < c->workers; i++) {
        pthread_join(workers[i].thread, NULL);
        c->requests += workers[i].client.requests;
        api_client_free(&workers[i].client);
    }
    api_client_free(&k);
    arena_free(a);
}
