/* team.c: a random run of a team: who comes next, what the server does meanwhile, and the end. */
#include <sqlite3.h>

#include "sim/team_private.h"

enum { STEPS = 24, CALM_ROUNDS = 100, CALM_WAIT_MS = 5000, TICKS_MAX = 500 };

const struct actor team_operator = { .kind = ACTOR_OPERATOR, .name = { "operator", 8 } };
static const struct actor server = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };

/* So little time that a few steps use it up, and so few sessions that limits are met. */
static const struct team_rules rules = {
    .update_attempts = 3,
    .update_timeout_ms = 120 * 1000,
    .update_delay_ms = 5 * 1000,
    .lease_ms = 60 * 1000,
    .claim_max = 3,
    .match_ms = 10 * 60 * 1000,
    .run_ms = 20 * 60 * 1000,
    .run_grace_ms = 30 * 1000,
    .stop_ms = 30 * 1000,
    .poll_ms = 30 * 1000,
    .beat_ms = 10 * 1000,
    .silent_ms = 60 * 1000,
    .depth_max = 4,
    .tree_max = 8,
    .profile_max = 16,
    .output_bytes = 100,
    .session_events = 4,
};

/* ---- the log ---- */

static void note_line(struct team *t, struct buf *line)
{
    buf_byte(line, '\n');
    sha256_add(&t->sum, buf_str(line));
    fwrite(line->at, 1, line->len, stdout);
    if (t->options->log)
        fwrite(line->at, 1, line->len, t->options->log);
}

__attribute__((format(printf, 2, 3))) static void note(struct team *t, const char *format, ...)
{
    struct buf line = buf_in(t->arena);
    va_list args;

    buf_printf(&line, "%llu.%d ", (unsigned long long)t->seed, t->step);
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    note_line(t, &line);
}

static void note_command(struct team *t, const struct command *c)
{
    note(t, "%s by " STR_FMT " " STR_FMT ": %s%s" STR_FMT, c->op->name, STR_ARG(c->actor->name),
         STR_ARG(json_printed(t->arena, c->input)),
         c->error          ? error_kind_info(c->error->kind)->name
         : c->answer.waits ? "waits"
                           : "ok",
         c->error      ? ": "
         : c->repeated ? ", as before"
                       : "",
         STR_ARG(c->error ? c->error->message : STR("")));
}

static void follow(struct team *t, const struct event *first)
{
    for (const struct event *e = first; e; e = e->next) {
        note(t, "  %lld %s " STR_FMT " " STR_FMT, (long long)e->seq, event_name(e->type),
             STR_ARG(e->subject), STR_ARG(e->data));
        team_model_follow(t->model, e);
    }
}

/* ---- the world ---- */

/* What holds in every database. */
static void audit(struct team *t)
{
    struct sql *sql = t->w->engine.sql;
    struct store_node node;

    CHECK_OK(store_begin(sql, t->arena, &node));
    sql_audit(sql, t->arena);
    store_rollback(sql);
    CHECK_INT(node.seq, t->model->seq); /* of what was told, nothing is missing, and nothing new */
}

static void world_begin(struct team *t)
{
    CHECK_OK(world_open_in(t->arena, "team.db", vfs_name(t->disk), &t->w));
    t->w->team = rules;
}

static struct command *command_of(struct team *t, const struct actor *who, const char *op,
                                  struct json *input, str key)
{
    struct command *c = ARENA_NEW(t->arena, struct command);

    *c = (struct command){ .arena = t->arena,
                           .op = op_find(t->w->table, str_from(op)),
                           .input = input,
                           .actor = who,
                           .key = key };
    CHECK(c->op);
    return c;
}

static void perform(struct team *t, struct command *c)
{
    if (t->w->now_ms > t->now_ms)
        t->now_ms = t->w->now_ms;
    op_perform(&t->w->engine, &c, 1);
}

/* Somebody was told this. */
static void answered(struct team *t, struct command *c)
{
    note_command(t, c);
    world_check_answer(t->w, c);
    CHECK(!c->error || (c->error->kind != ERR_INTERNAL && c->error->kind != ERR_UNAVAILABLE));
    follow(t, c->events);
}

/* What happened and nobody was told of is in the log. */
static void catch_up(struct team *t)
{
    const struct event *first;
    int64_t last;

    CHECK_OK(op_follow(&t->w->engine, t->arena, t->model->seq, &first, &last));
    follow(t, first);
}

/* The process ends, or is killed, or the power goes. Whatever the clock says afterwards, time does
 * not go back. */
static void restart(struct team *t)
{
    static const int64_t later_ms[] = { -30 * 1000, 0, 0, 1000, 90 * 1000 };
    int64_t now_ms = t->w->now_ms + later_ms[below(t, 5)];
    struct json *input = ARENA_NEW(t->arena, struct json);
    int ids = t->w->ids;
    uint32_t how = below(t, 3);

    if (how == 1)
        vfs_kill(t->disk);
    if (how == 2)
        vfs_crash(t->disk, random_next(&t->random));
    world_close(t->w);
    world_begin(t);
    t->w->ids = ids;
    t->w->now_ms = now_ms;
    t->totals->restarts++;
    note(t, "restart");
    catch_up(t);
    if ((t->seed + (uint64_t)t->step) % 4 == 0) /* it takes longer than all the rest */
        audit(t);
    *input = json_of(t->arena, "{'node_id':'node_1'}");
    struct command *c = command_of(t, &server, "system.start", input, STR(""));
    perform(t, c);
    answered(t, c);
    team_model_restarted(t->model, t->now_ms);
}

/* The server dies before the command, or when it is done and before anybody was told. */
static bool dies_before(struct team *t)
{
    bool now = t->restart_due;

    t->restart_due = false;
    if (now && chance(t, 2)) {
        t->w->fault = (struct fault){ .kind = FAULT_LOST, .nth = 1 };
        return false;
    }
    return now;
}

struct command *team_call(struct team *t, const struct actor *who, const char *op,
                          const char *format, ...)
{
    struct json *input = ARENA_NEW(t->arena, struct json);
    struct buf text = buf_in(t->arena);
    str key = arena_printf(t->arena, "k%d", ++t->keys);
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    *input = json_of(t->arena, buf_str(&text).at);
    if (dies_before(t))
        restart(t);
    struct command *c = command_of(t, who, op, input, key);
    perform(t, c);
    t->totals->calls++;
    if (t->w->engine.stopped) {
        note_command(t, c);
        t->totals->lost++;
        restart(t);
        c = command_of(t, who, op, input, key);
        if (c->op->secret) {
            c->error = err_new(t->arena, ERR_UNAVAILABLE, "there was no answer");
            return c;
        }
        perform(t, c);
    }
    answered(t, c);
    return c;
}

const struct json *team_answer(struct team *t, const struct command *c)
{
    CHECK_OK(c->error);
    return json_parsed(t->arena, c->answer.text);
}

void team_pass(struct team *t, int64_t ms)
{
    bool more = true;

    t->w->now_ms += ms;
    note(t, "%lld ms pass", (long long)ms);
    for (int i = 0; more; i++) {
        CHECK(i < TICKS_MAX);
        const struct json *answer = team_answer(t, team_call(t, &server, "system.tick", "{}"));
        more = json_bool_or(answer, "more", false);
    }
}

/* ---- what everybody does ---- */

str team_name_new(struct team *t)
{
    return arena_printf(t->arena, "s%d", ++t->names);
}

struct seen_session *team_any(struct team *t)
{
    struct team_model *m = t->model;
    size_t from = m->session_count ? below(t, (uint32_t)m->session_count) : 0;

    for (size_t i = 0; i < m->session_count; i++) {
        struct seen_session *s = m->sessions[(from + i) % m->session_count];
        if (!s->deleted)
            return s;
    }
    return NULL;
}

struct command *team_ask(struct team *t, const struct actor *who, bool starts, str name,
                         const char *mode, const char *more)
{
    struct command *c = team_call(t, who, "run.create",
                                  "{'type':'%s','session_name':'" STR_FMT "','prompt':'go',"
                                  "'execution_mode':'%s'%s}",
                                  starts ? "start_session" : "resume_session", STR_ARG(name), mode,
                                  more);

    if (!c->error)
        team_model_asked(t->model, json_str(team_answer(t, c), "run_id"), starts,
                         strcmp(mode, "async_callback") == 0);
    return c;
}

static void clock_step(struct team *t)
{
    static const int64_t steps_ms[] = { 100, 5000, 5000, 20000, 35000, 61000, 125000, 660000 };

    team_pass(t, steps_ms[below(t, sizeof steps_ms / sizeof *steps_ms)]);
}

static void step(struct team *t)
{
    static void (*const steps[])(struct team * t) = {
        team_runner_step, team_runner_step, team_runner_step, team_runner_step, team_runner_step,
        team_runner_step, team_turn_step,   team_turn_step,   team_turn_step,   team_turn_step,
        team_turn_step,   team_turn_step,   team_turn_step,   team_turn_step,   team_ghost_step,
        team_ghost_step,  team_people_step, team_people_step, clock_step,       clock_step,
    };

    uint64_t calls = t->totals->calls;

    t->restart_due = t->options->restart_always || t->step == t->restart_at;
    while (t->totals->calls == calls) /* there is always something to do for somebody */
        steps[below(t, sizeof steps / sizeof *steps)](t);
}

/* Agents do all they are asked to, and time goes on, ever faster, until there is nothing to wait
 * for. */
static void calm_down(struct team *t)
{
    int64_t wait_ms = CALM_WAIT_MS;

    t->calm = true;
    for (int i = 0; i < CALM_ROUNDS; i++) {
        t->step++;
        if (team_work(t)) {
            wait_ms = CALM_WAIT_MS;
            continue;
        }
        team_people_end(t);
        if (!team_model_busy(t->model) && !team_model_untold(t->model))
            return;
        team_pass(t, wait_ms);
        wait_ms *= 2;
    }
}

/* ---- a run ---- */

/* Small pages, since what a run takes is mostly the copying of them. */
static void pages_set(const struct vfs *disk)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open_v2("team.db", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                              vfs_name(disk)),
              SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "PRAGMA page_size = 1024; VACUUM", NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

/* The disk of a new server that knows two schemas: it is the same for every run. */
static const struct vfs *disk_new(void)
{
    static struct vfs *disk;
    struct world *w;

    if (disk)
        return disk;
    disk = vfs_new(1, 4096);
    pages_set(disk);
    CHECK_OK(world_open("team.db", vfs_name(disk), &w));
    vfs_sync_directory(disk);
    CHECK_OK(world_call(w, "schema.create",
                        "{'name':'always','json_schema':{'type':'object','x-baton':"
                        "{'state_update':{'policy':'always'}}}}",
                        "")
                 ->error);
    CHECK_OK(world_call(w, "schema.create",
                        "{'name':'missing','json_schema':{'type':'object','x-baton':"
                        "{'state_update':{'on_failure':'skip'}}}}",
                        "")
                 ->error);
    world_close(w);
    return disk;
}

static void begin(struct team *t)
{
    t->disk = vfs_copy(disk_new());
    t->model = team_model_new(t->arena, &rules);
    world_begin(t);
    t->w->ids = 100;
    catch_up(t);
    team_runners_init(t);
    team_people_begin(t);
    t->restart_at = 1 + (int)below(t, STEPS);
}

static void end(struct team *t)
{
    audit(t);
    team_model_end(t->model);
    t->totals->runs++;
    t->totals->sessions += t->model->session_count;
    t->totals->turns += t->turn_count;
    t->totals->told += t->model->told;
    world_close(t->w);
    vfs_free(t->disk);
}

void team_run(uint64_t seed, const struct team_options *options, struct team_totals *totals,
              unsigned char digest[SHA256_BYTES])
{
    struct arena *a = arena_new();
    struct team *t = ARENA_NEW(a, struct team);

    *t = (struct team){ .seed = seed,
                        .random = { seed * 2654435761u },
                        .arena = a,
                        .options = options,
                        .totals = totals };
    sha256_init(&t->sum);
    begin(t);
    for (t->step = 1; t->step <= STEPS; t->step++)
        step(t);
    calm_down(t);
    end(t);
    sha256_end(&t->sum, digest);
    arena_free(a);
}
