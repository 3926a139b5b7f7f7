/* writer.c: the one thread that changes the database.
 *
 * A batch never waits for company: it is what was there when the last one was done, and what comes
 * before it is committed; but no more than is done in a while. Tokens take turns. The server's own
 * work, when some is due, goes in front of a batch: several pieces of it, each a command like any
 * other, but not so many that others would wait for them. Between batches the writer looks after the
 * length of the log and the space on the disk. */
#include <assert.h>
#include <unistd.h>

#include "app/threads_private.h"
#include "base/log.h"
#include "cli/cli.h"

enum {
    EXIT_UNKNOWN = 70,           /* nobody can say what is committed: a restart will see */
    CHECKPOINT_BYTES = 16 << 20, /* the checkpointer is called when the log has grown by this */
    DISK_LOOK_MS = 100,          /* how old the knowledge of the disk's space may be */
    TICK_AFTER_MS = 100,         /* commands may have made something due: look again that soon */
    BATCH_US = 20000,        /* of work, after which a batch is committed: others wait for that */
    TICKS_MOST = 32,         /* pieces of the server's own work in one batch */
    TICKS_US = 5000,         /* and what they may take of it when others are waiting */
    BEAT_MS = 5000,          /* others take a node for dead that was not seen for three of them */
    TICK_RETRY_MS = 1000,    /* after one that failed, when nothing could be put off */
    PUT_OFF_MS = 60 * 1000,  /* of work that fails by its own fault */
    PUT_OFF_SHORT_MS = 1000, /* and by the store's */
    TICK_SHARED_MS = 5000,   /* other nodes may have made something due, and be gone */
};

struct writer {
    struct threads *threads;
    struct engine *engine;
    const struct config *config;
    struct arena *arena; /* of the log's errors */
    struct arena *node_arena;

    const struct op *tick; /* NULL: this build has no work of its own */
    int64_t tick_at_ms;    /* by the server's clock; INT64_MAX: nothing is due */
    bool tick_more;        /* and when it is, that is more than one piece */
    int64_t tick_us;       /* what one took lately; 0: not known */
    struct arena *tick_arena;
    const struct json *put_off; /* what the last tick failed at: the next one puts it off */

    const struct op *beat; /* NULL: nobody shares the database */
    int64_t beat_at_ms;
    str name, node_id; /* how others see this node */

    struct command **batch; /* that is being performed */
    size_t batch_ticks;     /* how many of them, from the first on, are the server's own work */
    size_t batch_done;      /* of these, and what they took, when that was last looked at */
    int64_t batch_us;
    int64_t batch_began_us;  /* when the transaction had its turn; 0: it has not yet */
    struct fair_batch taken; /* for it, by what its commands will take */

    int64_t log_moved;  /* how long the log was when the checkpointer was last called */
    int64_t restart_at; /* and where it begins anew */

    int64_t disk_at_ms; /* when the disk was looked at */
    int64_t disk_free;
    bool disk_full; /* which was logged */
};

/* ---- performing ---- */

/* When it is not known what was committed, nobody may be told anything, not even that the server
 * stops in good order. */
static void turn_account(struct writer *w, struct command *const *commands, size_t done,
                         int64_t began_us)
{
    struct threads *t = w->threads;

    if (w->engine->stopped) {
        log_error("store.unknown", LOG_S("why", STR("a commit failed and may be on disk or not")),
                  LOG_S("do", t->options.shared
                                  ? STR("see that the database can be reached, then start again")
                                  : STR("see the disk's errors in the system's log, then start "
                                        "again")));
        _exit(EXIT_UNKNOWN);
    }
    for (size_t i = 0; i < done; i++)
        fault_note(t, commands[i]->op->name, commands[i]->error);
    COUNT(t->batch_us, clock_steady_us() - began_us);
    COUNT(t->batch_count, 1);
    COUNT(t->command_count, (long long)done);
    SHOW(t->again_count, w->engine->again);
    SHOW(t->store_full, w->engine->trouble_at_ms && w->engine->trouble == ERR_FULL);
    SHOW(t->trip_count, store_trips(w->engine->sql));
    SHOW(t->log_bytes, store_log_bytes(w->engine->sql));
}

/* All of them, however long it takes. */
static void perform_all(struct writer *w, struct command **commands, size_t count)
{
    int64_t began_us = clock_steady_us();

    op_perform(w->engine, commands, count);
    turn_account(w, commands, count, began_us);
}

/* ---- the disk ---- */

/* What gives space back, or closes a door, is done on a full disk too; so is the server's own work. */
static bool is_removal(const struct op *op)
{
    return !op->http ? op->by == BY_SYSTEM : str_starts(str_from(op->http), STR("DELETE "));
}

static bool disk_is_full(struct writer *w)
{
    int64_t now = clock_steady_us() / 1000;

    if (w->threads->options.shared)
        return false; /* it is the database server's */
    if (now - w->disk_at_ms >= DISK_LOOK_MS) {
        w->disk_at_ms = now;
        w->disk_free = data_free_bytes(w->threads->options.data);
    }
    bool full = w->disk_free < w->config->disk_free_min;
    if (full && !w->disk_full)
        log_error("disk.full", LOG_N("free_bytes", w->disk_free),
                  LOG_N("disk_free_min", w->config->disk_free_min),
                  LOG_S("do", STR("free some space: writes are refused until then")));
    if (!full && w->disk_full)
        log_info("disk.free", LOG_N("free_bytes", w->disk_free));
    w->disk_full = full;
    return full;
}

/* Of a full disk: keeps those that may be performed, and gives their number; the others have their
 * error. */
static size_t refuse_writes(struct writer *w, struct command *const *all, size_t count,
                            struct command **kept)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        if (is_removal(all[i]->op))
            kept[n++] = all[i];
        else
            all[i]->error = err_new(all[i]->arena, ERR_FULL,
                                    "the disk has %lld MiB left, and writes are refused below %lld "
                                    "MiB: free some space; reads and deletes go on",
                                    (long long)(w->disk_free >> 20),
                                    (long long)(w->config->disk_free_min >> 20));
    }
    return n;
}

/* ---- the log ---- */

/* The checkpointer works beside the writer and never catches up with one who is busy; so now and
 * then the writer waits for the rest to be moved, which is little. */
static void log_restart(struct writer *w, int64_t length)
{
    err e = store_restart_log(w->engine->sql, w->arena);

    if (!e) {
        COUNT(w->threads->restart_count, 1);
        w->restart_at = w->config->wal_bytes_max;
        w->log_moved = 0;
    } else {
        log_debug("wal.restart", LOG_S("error", e->message), LOG_N("bytes", length));
        w->restart_at = length + CHECKPOINT_BYTES; /* when readers are done, perhaps */
    }
    arena_reset(w->arena);
}

static void log_look(struct writer *w)
{
    int64_t length = store_log_bytes(w->engine->sql);

    if (length < w->log_moved)
        w->log_moved = 0; /* it began anew by itself */
    if (length >= w->restart_at) {
        log_restart(w, length);
    } else if (length - w->log_moved >= CHECKPOINT_BYTES) {
        w->log_moved = length;
        queue_put(w->threads->calls, "", 1); /* one call is enough for all */
    }
}

/* ---- commands ---- */

static size_t take(struct writer *w, struct command **room, size_t most, int64_t wait_ms)
{
    struct fair_item turns[BATCH_MOST];
    size_t count = fair_queue_take(w->threads->writes, turns, most, wait_ms, &w->taken);

    for (size_t i = 0; i < count; i++) {
        room[i] = turns[i].value;
        arena_take(room[i]->arena);
    }
    return count;
}

static void give_back(struct writer *w, struct command *const *commands, size_t count)
{
    struct fair_item turns[BATCH_MOST];

    for (size_t i = 0; i < count; i++) {
        turns[i] = fair_item_of(commands[i]);
        arena_give(commands[i]->arena);
    }
    fair_queue_give_back(w->threads->writes, turns, count);
}

/* For op_perform_turn: what has come meanwhile. Where writers of several nodes take turns, the time
 * that this one has waited for is no work. */
static size_t join(void *writer, struct command **room, size_t most)
{
    struct writer *w = writer;

    if (!w->batch_began_us)
        w->batch_began_us = clock_steady_us();
    return most ? take(w, room, most, 0) : 0;
}

/* A token whose commands take long has its turn less often. When a piece of the server's own work has
 * failed, the batch ends with it: the next tick would find the same piece again. */
static bool enough(void *writer, size_t done)
{
    struct writer *w = writer;
    int64_t us = clock_steady_us() - w->batch_began_us;
    bool is_tick = done > 0 && done <= w->batch_ticks;

    if (is_tick)
        w->tick_us = us / (int64_t)done;
    else if (done > w->batch_done)
        fair_queue_took(w->threads->writes, actor_token(w->batch[done - 1]->actor),
                        us - w->batch_us);
    w->batch_done = done;
    w->batch_us = us;
    return us >= BATCH_US || (is_tick && w->batch[done - 1]->error);
}

/* On a full disk. */
static void refuse_some(struct writer *w, struct command **all, size_t count)
{
    struct command *kept[TICKS_MOST + BATCH_MOST];
    size_t n = refuse_writes(w, all, count, kept);

    if (n)
        perform_all(w, kept, n);
}

/* Ticks first, then what was taken from the queue, and there is room for BATCH_MOST of that. Commands for
 * which there was no time wait on, each for the turn of its token; ticks need not, there will be others.
 * Gives how many of all were performed. */
static size_t writer_turn(struct writer *w, struct command **all, size_t ticks, size_t count)
{
    const struct op_turn turn = {
        .most = ticks + (size_t)w->config->batch_max, .join = join, .enough = enough, .self = w
    };
    size_t done = count;

    if (disk_is_full(w)) {
        refuse_some(w, all, count);
    } else {
        int64_t began_us = clock_steady_us();
        w->batch = all;
        w->batch_ticks = ticks;
        w->batch_began_us = w->batch_us = 0;
        w->batch_done = 0;
        done = op_perform_turn(w->engine, all, &count, &turn);
        turn_account(w, all, done, began_us);
    }
    for (size_t i = done; i < ticks; i++)
        arena_free(all[i]->arena);
    size_t kept = done > ticks ? done : ticks;
    give_back(w, all + kept, count - kept);
    for (size_t i = 0; i < done; i++)
        all[i]->follows = i + 1 < done ? all[i + 1] : NULL;
    return done;
}

/* ---- the server's own work ---- */

static void tick_done(struct command *c)
{
    arena_free(c->arena);
}

static struct command *tick_new(const struct op *op)
{
    static const struct actor system = { .kind = ACTOR_SYSTEM, .name = { "system", 6 } };
    struct arena *a = arena_new();
    struct command *c = ARENA_NEW(a, struct command);
    struct json *input = ARENA_NEW(a, struct json);

    *input = json_object();
    *c = (struct command){
        .arena = a, .op = op, .input = input, .actor = &system, .done = tick_done
    };
    return c;
}

/* Work that has failed is put off, alone: what the store could not do now it can do soon, anything
 * else would fail again. Then the others have their turn at once; only when nothing can be put off,
 * because the store is away, is there a pause. */
static int64_t tick_failed(struct writer *w, const struct command *c, int64_t now)
{
    bool stores = c->error->kind == ERR_UNAVAILABLE || c->error->kind == ERR_FULL;
    const struct json *members, *due;

    arena_reset(w->tick_arena);
    w->put_off = NULL;
    log_warn("system.tick", LOG_S("error", c->error->message), LOG_S("what", c->error->members));
    str text = arena_printf(w->tick_arena, "{" STR_FMT "}", STR_ARG(c->error->members));
    if (json_parse_own(w->tick_arena, text, &members) || !(due = json_get(members, "due")))
        return now + TICK_RETRY_MS;
    struct json *what = ARENA_NEW(w->tick_arena, struct json);
    *what = *due;
    json_put(w->tick_arena, what, STR("ms"),
             json_int(w->tick_arena, stores ? PUT_OFF_SHORT_MS : PUT_OFF_MS));
    w->put_off = what;
    return now;
}

/* When the next one is due, by what this one answered. */
static int64_t tick_next(struct writer *w, const struct command *c)
{
    int64_t now = w->engine->now_ms(w->engine->clock);
    const struct json *answer;

    w->tick_more = true;
    if (c->error)
        return tick_failed(w, c, now);
    err e = json_parse_own(c->arena, c->answer.text, &answer);
    assert(!e);
    w->put_off = NULL;
    w->tick_more = json_bool_or(answer, "more", false);
    if (w->tick_more)
        return now;
    int64_t next = json_int_or(answer, "next_at", INT64_MAX);
    if (w->threads->options.shared && next > now + TICK_SHARED_MS)
        next = now + TICK_SHARED_MS;
    return next > now ? next : now + TICK_AFTER_MS;
}

/* As many as there is work for, and as there is time for when others wait; by what they took lately. */
static size_t ticks_count(const struct writer *w, bool others)
{
    int64_t most = w->tick_us ? (others ? TICKS_US : BATCH_US) / w->tick_us : 1;

    if (!w->tick_more || most < 1)
        return 1;
    return most < TICKS_MOST ? (size_t)most : TICKS_MOST;
}

/* Puts them in front of what comes at `end`, and gives how many they are. */
static size_t ticks_make(struct writer *w, struct command **end, bool others)
{
    size_t count = ticks_count(w, others);

    for (size_t i = count; i > 0; i--)
        end[-(ptrdiff_t)i] = tick_new(w->tick);
    if (w->put_off) {
        struct command *first = *(end - count);
        json_put(first->arena, (struct json *)first->input, STR("put_off"), *w->put_off);
    }
    return count;
}

static void tick_after_commands(struct writer *w)
{
    int64_t soon = w->engine->now_ms(w->engine->clock) + TICK_AFTER_MS;

    if (w->tick && soon < w->tick_at_ms)
        w->tick_at_ms = soon;
}

/* A batch of what is due and what was taken from the queue. The last tick knows what is still due; its
 * events, and all others, are published together. */
static void batch_do(struct writer *w, struct command **all, size_t ticks, size_t count)
{
    size_t done = writer_turn(w, all, ticks, ticks + count);

    if (ticks)
        w->tick_at_ms = tick_next(w, all[(done < ticks ? done : ticks) - 1]);
    if (done > ticks)
        tick_after_commands(w);
    server_performed(w->threads->server, all[0]);
    log_look(w);
}

/* How long commands may be waited for; −1: as long as it takes. */
static int64_t tick_wait_ms(const struct writer *w)
{
    if (w->tick_at_ms == INT64_MAX)
        return -1;
    int64_t left = w->tick_at_ms - w->engine->now_ms(w->engine->clock);
    return left > 0 ? left : 0;
}

/* ---- being seen by other nodes ---- */

static void put(struct command *c, const char *name, str value)
{
    json_put(c->arena, (struct json *)c->input, str_from(name), json_string(value));
}

/* How many there are, itself included. */
static int64_t nodes_of(const struct command *c)
{
    const struct json *answer;

    if (c->error || json_parse_own(c->arena, c->answer.text, &answer))
        return 0;
    return json_int_or(answer, "nodes", 0);
}

/* Something of this node alone: an error is worth a line, and no more. */
static void node_do(struct writer *w, struct command *c)
{
    perform_all(w, &c, 1);
    if (c->error)
        log_warn(c->op->name, LOG_S("error", c->error->message));
    if (c->op == w->beat)
        SHOW(w->threads->nodes, nodes_of(c));
    server_performed(w->threads->server, c);
}

static void beat_do(struct writer *w)
{
    struct command *c = tick_new(w->beat);
    struct json *in = (struct json *)c->input;

    put(c, "node_id", w->node_id);
    put(c, "name", w->name);
    put(c, "url", w->threads->url);
    put(c, "version", STR(BATON_VERSION));
    json_put(c->arena, in, STR("seq"), json_int(c->arena, server_seq(w->threads->server)));
    w->beat_at_ms = w->engine->now_ms(w->engine->clock) + BEAT_MS;
    node_do(w, c);
}

static void leave_do(struct writer *w)
{
    struct command *c = tick_new(op_find(w->threads->options.table, STR("node.leave")));

    put(c, "node_id", w->node_id);
    node_do(w, c);
}

static void node_init(struct writer *w)
{
    const struct tx_source *source = w->engine->source;
    char host[256] = "";

    if (!w->threads->options.shared)
        return;
    gethostname(host, sizeof host - 1);
    w->beat = op_find(w->threads->options.table, STR("node.beat"));
    w->node_id = source->id(source->self, w->node_arena, "node_");
    w->name = arena_printf(w->node_arena, "%s:%lld", host, (long long)getpid());
}

static int64_t wait_ms(const struct writer *w)
{
    int64_t tick = tick_wait_ms(w);
    int64_t beat = w->beat_at_ms - w->engine->now_ms(w->engine->clock);

    if (!w->beat)
        return tick;
    beat = beat > 0 ? beat : 0;
    return tick < 0 || beat < tick ? beat : tick;
}

/* ---- the thread ---- */

void *writer_run(void *threads)
{
    struct threads *t = threads;
    struct writer w = {
        .threads = t,
        .engine = &t->writer.engine,
        .config = t->options.config,
        .arena = arena_new(),
        .node_arena = arena_new(),
        .tick_arena = arena_new(),
        .tick = op_find(t->options.table, STR("system.tick")),
        .restart_at = t->options.config->wal_bytes_max,
        .disk_free = INT64_MAX,
    };
    struct command *room[TICKS_MOST + BATCH_MOST], **commands = room + TICKS_MOST;

    w.tick_at_ms = w.tick ? 0 : INT64_MAX;
    node_init(&w);
    while (!fair_queue_ended(t->writes)) {
        w.taken = (struct fair_batch){ .left_us = BATCH_US };
        size_t n = take(&w, commands, (size_t)w.config->batch_max, wait_ms(&w));
        size_t ticks = tick_wait_ms(&w) == 0 ? ticks_make(&w, commands, n > 0) : 0;
        if (ticks + n)
            batch_do(&w, commands - ticks, ticks, n);
        if (w.beat && w.engine->now_ms(w.engine->clock) >= w.beat_at_ms)
            beat_do(&w);
    }
    if (w.beat)
        leave_do(&w);
    arena_free(w.node_arena);
    arena_free(w.tick_arena);
    arena_free(w.arena);
    return NULL;
}
