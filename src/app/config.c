/* config.c: what can be set: the table, and values as texts. Files are read by config_read.c. */
#define _GNU_SOURCE /* memmem */
#include "app/config.h"

#include <assert.h>
#include <stdlib.h>

#include "app/config_private.h"
#include "base/arena.h"
#include "base/date.h"
#include "cli/cli.h"
#include "core/idempotency.h"
#include "core/state.h"
#include "json/patch.h"

#define KIB (INT64_C(1) << 10)
#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)
#define SECOND INT64_C(1000)
#define DAY (24 * 3600 * SECOND)

#define AT(member) offsetof(struct config, member), sizeof(((struct config *)0)->member)

/* Limits have the names that GET /limits gives them; a time there is in ms, and called body_ms
 * where the setting is body_time. */
// clang-format off
static const struct setting settings[] = {
    /* name                 kind           where                              least    most */
    { "listen",             SETTING_TEXT,  AT(listen),                        0,       0,
      "where to listen for HTTP: HOST:PORT; port 0 takes a free one" },
    { "socket",             SETTING_TEXT,  AT(socket),                        0,       0,
      "the Unix socket's path, or off; empty: baton.sock in the data directory" },
    { "store",              SETTING_TEXT,  AT(store),                         0,       0,
      "sqlite, sqlite:PATH, or postgres://USER@HOST/DATABASE, which several servers may share" },
    { "hosts",              SETTING_TEXT,  AT(hosts),                         0,       0,
      "names in Host that are answered beside this machine's own, with commas" },
    { "log_level",          SETTING_LEVEL, AT(log_level),                     0,       0,
      "debug, info, warn or error" },
    { "stop_time",          SETTING_TIME,  AT(stop_grace_ms),                 0,       DAY,
      "how long requests in flight may take when the server stops" },
    { "cache_bytes",        SETTING_SIZE,  AT(cache_bytes),                   0,       64 * GIB,
      "bytes of documents that are kept in memory" },
    { "batch_max",          SETTING_COUNT, AT(batch_max),                     1,       BATCH_MOST,
      "commands that are committed together, at most" },
    { "wal_bytes_max",      SETTING_SIZE,  AT(wal_bytes_max),                 1 * MIB, 16 * GIB,
      "the database's log begins anew at this size" },
    { "disk_free_min",      SETTING_SIZE,  AT(disk_free_min),                 0,       GIB << 20,
      "with less free on the disk, writes are refused (507)" },
    { "lock_time",          SETTING_TIME,  AT(lock_ms),                       100,     DAY,
      "a server that stops while it writes to a shared database loses its turn after this" },
    { "commit_time",        SETTING_TIME,  AT(find_ms),                       1,       DAY,
      "a cut commit to it is looked for that long; then the server ends, with 70" },
    { "lost_time",          SETTING_TIME,  AT(lost_ms),                       0,       DAY,
      "without the shared database for longer, the server is not ready (503)" },
    { "events_kept",        SETTING_COUNT, AT(retention.events),              0,       INT64_MAX,
      "events that can always be replayed, the newest ones" },
    { "events_time",        SETTING_TIME,  AT(retention.events_ms),           0,       3660 * DAY,
      "and all that are younger than this" },
    { "versions_kept",      SETTING_COUNT, AT(retention.versions),            1,       INT64_MAX,
      "versions of a state that are all kept, the newest ones" },
    { "versions_step",      SETTING_COUNT, AT(retention.versions_step),       1,       INT64_MAX,
      "of older versions, every so many-th is kept" },
    { "keys_time",          SETTING_TIME,  AT(retention.keys_ms),             1000,    3660 * DAY,
      "how long an Idempotency-Key is remembered" },
    { "session_retention",  SETTING_TIME,  AT(retention.sessions_ms),         0,       3660 * DAY,
      "how long sessions are kept after all of their tree have ended, with runs and output, and messages that were read, and commands that have ended; 0: for good" },
    { "body_bytes",         SETTING_SIZE,  AT(limits.http.body_max),          1 * KIB, 1 * GIB,
      "bytes of a request's body (413)" },
    { "request_line_bytes", SETTING_SIZE,  AT(limits.http.request_line_max),  256,     1 * MIB,
      "bytes of a request's first line (414)" },
    { "header_bytes",       SETTING_SIZE,  AT(limits.http.field_max),         256,     1 * MIB,
      "bytes of one header (431)" },
    { "headers_bytes",      SETTING_SIZE,  AT(limits.http.fields_max),        1 * KIB, 4 * MIB,
      "bytes of all headers of a request (431)" },
    { "headers",            SETTING_COUNT, AT(limits.http.field_count_max),   8,       1000,
      "headers of a request, at most (431)" },
    { "header_time",        SETTING_TIME,  AT(limits.header_ms),              1,       DAY,
      "time until a request's headers are complete (408)" },
    { "body_time",          SETTING_TIME,  AT(limits.body_ms),                1,       DAY,
      "time until its body is complete (408)" },
    { "idle_time",          SETTING_TIME,  AT(limits.idle_ms),                1,       DAY,
      "a connection without requests is closed after this time" },
    { "write_time",         SETTING_TIME,  AT(limits.write_ms),               1,       DAY,
      "a peer that takes nothing for this long is dropped" },
    { "connections",        SETTING_COUNT, AT(limits.connections_max),        1,       1000000,
      "connections at a time (503)" },
    { "connections_kept",   SETTING_COUNT, AT(limits.connections_kept),       0,       1000,
      "connections of those that are kept for the operator" },
    { "connections_unknown", SETTING_COUNT, AT(limits.connections_unknown),   1,       1000000,
      "connections that have shown no token; for one more, the oldest of them is closed" },
    { "token_connections",  SETTING_COUNT, AT(limits.token_connections),      1,       1000000,
      "connections of one token that is not the operator's (429)" },
    { "token_waits",        SETTING_COUNT, AT(limits.token_waits),            1,       1000000,
      "long polls and subscriptions of one token that is not the operator's (429)" },
    { "token_requests",     SETTING_COUNT, AT(limits.token_requests),         1,       1000000,
      "requests of one token that are worked on at a time, unless it is the operator's (429)" },
    { "token_bytes",        SETTING_SIZE,  AT(limits.token_bytes),            64 * KIB, 64 * GIB,
      "bytes of requests, and of answers that wait, of one token that is not the operator's (503)" },
    { "answer_bytes",       SETTING_SIZE,  AT(limits.answer_max),             64 * KIB, 1 * GIB,
      "bytes of an answer (413), or of a page: then it has a next" },
    { "held_bytes",         SETTING_SIZE,  AT(limits.held_max),               1 * MIB, 64 * GIB,
      "bytes that wait for slow readers; for more, the slowest is dropped (503)" },
    { "buffered_bytes",     SETTING_SIZE,  AT(limits.buffered_max),           1 * MIB, 64 * GIB,
      "bytes of all requests together, parsed values included (503)" },
    { "message_bytes",      SETTING_SIZE,  AT(limits.message_max),            1 * KIB, 1 * GIB,
      "bytes of a WebSocket's message (1009)" },
    { "behind_events",      SETTING_COUNT, AT(limits.behind_events),          1,       1000000,
      "events that a slow subscriber may be behind" },
    { "behind_bytes",       SETTING_SIZE,  AT(limits.behind_bytes),           1 * KIB, 1 * GIB,
      "bytes that a slow subscriber may be behind" },
    { "ping_time",          SETTING_TIME,  AT(limits.ping_ms),                1,       DAY,
      "time between pings to a silent subscriber" },
    { "wait_time",          SETTING_TIME,  AT(limits.wait_max_ms),            1,       DAY,
      "time that a long poll may ask for" },
    { "mcp_wait_time",      SETTING_TIME,  AT(limits.mcp_wait_ms),            1,       DAY,
      "time that a tool waits at most, before it says that its work goes on" },
    { "mcp_progress_time",  SETTING_TIME,  AT(limits.mcp_progress_ms),        1,       DAY,
      "time between signs of life of a tool that waits" },
    { "mcp_session_time",   SETTING_TIME,  AT(limits.mcp_session_ms),         1,       366 * DAY,
      "a session of an MCP client that nobody uses ends after this time" },
    { "mcp_sessions",       SETTING_COUNT, AT(limits.mcp_sessions_max),       1,       1000000,
      "sessions of MCP clients; for one more, the token's own that is unused for longest ends" },
    { "token_mcp_sessions", SETTING_COUNT, AT(limits.token_mcp_sessions),     1,       1000000,
      "of those, of one token that is not the operator's (429)" },
    { "state_update_max_retries", SETTING_COUNT, AT(team.update_attempts),    1,       100,
      "times that an agent is asked to record its result, before that has failed" },
    { "state_update_timeout", SETTING_TIME, AT(team.update_timeout_ms),       1,       DAY,
      "time that it has for that, each time" },
    { "state_update_retry_delay", SETTING_TIME, AT(team.update_delay_ms),     0,       DAY,
      "time between two of them" },
    { "lease_time",         SETTING_TIME,  AT(team.lease_ms),                 1,       DAY,
      "a run is its runner's for this long after the last sign of it" },
    { "claim_max",          SETTING_COUNT, AT(team.claim_max),                1,       1000,
      "runners that may lose a run, before it has failed" },
    { "match_time",         SETTING_TIME,  AT(team.match_ms),                 1,       366 * DAY,
      "a run that no runner could take has failed after this time" },
    { "run_time",           SETTING_TIME,  AT(team.run_ms),                   1,       366 * DAY,
      "how long a run may take, when nobody says otherwise" },
    { "run_grace",          SETTING_TIME,  AT(team.run_grace_ms),             0,       DAY,
      "time beyond that, before the server ends it without its runner" },
    { "run_stop_time",      SETTING_TIME,  AT(team.stop_ms),                  1,       DAY,
      "a run that was asked to stop counts as stopped after this time" },
    { "poll_time",          SETTING_TIME,  AT(team.poll_ms),                  1,       DAY,
      "how long a runner's claim waits for a run" },
    { "heartbeat_time",     SETTING_TIME,  AT(team.beat_ms),                  1,       DAY,
      "how often a runner says that it is there" },
    { "silent_time",        SETTING_TIME,  AT(team.silent_ms),                1,       DAY,
      "a runner that was not heard of for this long is lost" },
    { "tree_depth_max",     SETTING_COUNT, AT(team.depth_max),                1,       1000,
      "levels of a tree of sessions (429)" },
    { "tree_sessions_max",  SETTING_COUNT, AT(team.tree_max),                 1,       1000000,
      "live sessions of one tree (429)" },
    { "profile_sessions_max", SETTING_COUNT, AT(team.profile_max),            1,       1000000,
      "live sessions of one profile (429)" },
    { "output_bytes",       SETTING_SIZE,  AT(team.output_bytes),             0,       1 * GIB,
      "bytes that are kept of what a run writes, the newest ones" },
    { "session_events_max", SETTING_COUNT, AT(team.session_events),           1,       1000000,
      "events that are kept of what one session tells of itself, the newest ones" },
    { "state_warn_bytes",   SETTING_SIZE,  AT(team.state_warn_bytes),         1 * KIB, 1 * GIB,
      "a state of so many bytes is answered with a warning" },
    { "permission_time",    SETTING_TIME,  AT(team.permission_ms),            1,       366 * DAY,
      "a use of a tool that nobody has decided on is refused after this time" },
    { "wake",               SETTING_SWITCH, AT(team.wake),                    0,       0,
      "whether idle clients of agents that people started are woken, for their children's ends" },
    { "wake_grace",         SETTING_TIME,  AT(team.wake_grace_ms),            0,       DAY,
      "while such an agent works, its hooks and tools have this long to tell it" },
    { "wake_return",        SETTING_TIME,  AT(team.wake_return_ms),           1,       DAY,
      "news that did not arrive within this time after a stop are offered again" },
    { "execution_moves",    SETTING_COUNT, AT(team.execution_moves),          1,       10000,
      "moves of an execution in one commit; it goes on in the next" },
    { "execution_spin",     SETTING_COUNT, AT(team.execution_spin),           1,       1000000,
      "moves of an execution without anything from outside, before it asks a person" },
    { "execution_marks",    SETTING_COUNT, AT(team.execution_marks),          1,       100000,
      "places where one execution may be at once" },
    { "loop_items",         SETTING_COUNT, AT(team.loop_items),               1,       10000,
      "items of one for_each" },
    { "job_lease_time",     SETTING_TIME,  AT(team.job_lease_ms),             1,       DAY,
      "how long a job is a worker's that does not say for how long" },
    { "execution_retention", SETTING_TIME, AT(team.execution_retention_ms),   0,       3660 * DAY,
      "executions that have ended for longer are deleted; 0: never" },
    { "member_silent_time", SETTING_TIME,  AT(team.member_silent_ms),         1,       366 * DAY,
      "an agent of a project that was not heard of for this long is shown as silent" },
};
// clang-format on

_Static_assert(sizeof settings / sizeof *settings == SETTING_COUNT_ALL, "config_private.h counts");

struct config config_default(void)
{
    struct config c = {
        .listen = STR("127.0.0.1:8765"),
        .store = STR("sqlite"),
        .socket = STR(""),
        .hosts = STR(""),
        .log_level = LOG_INFO,
        .stop_grace_ms = 10 * SECOND,
        .cache_bytes = 64 * MIB,
        .batch_max = 128,
        .wal_bytes_max = 64 * MIB,
        .disk_free_min = 64 * MIB,
        .lock_ms = 5 * SECOND,
        .find_ms = 20 * SECOND,
        .lost_ms = 5 * SECOND,
        .retention = retention_default,
        .team = team_rules_default,
        .limits = server_limits_default(),
    };
    c.limits.http = (struct http_limits){
        .request_line_max = 8 * KIB,
        .field_max = 8 * KIB,
        .fields_max = 32 * KIB,
        .field_count_max = 64,
        .body_max = 4 * MIB,
    };
    return c;
}

/* ---- members by their place ---- */

static void number_put(struct config *c, const struct setting *s, int64_t n)
{
    char *at = (char *)c + s->at;
    uint32_t narrow = (uint32_t)n;

    assert(s->size == 8 || (s->size == 4 && n >= 0 && n <= UINT32_MAX));
    if (s->size == 8)
        memcpy(at, &n, 8);
    else
        memcpy(at, &narrow, 4);
}

static int64_t number_get(const struct config *c, const struct setting *s)
{
    const char *at = (const char *)c + s->at;
    int64_t wide;
    uint32_t narrow;

    if (s->size == 8) {
        memcpy(&wide, at, 8);
        return wide;
    }
    memcpy(&narrow, at, 4);
    return narrow;
}

/* ---- values as texts ---- */

static const struct {
    const char *name;
    int64_t bytes;
} units[] = { { "GiB", GIB }, { "MiB", MIB }, { "KiB", KIB }, { "B", 1 }, { "", 1 } };

enum { UNIT_COUNT = sizeof units / sizeof *units };

static bool size_parse(str text, int64_t *out)
{
    for (int i = 0; i < UNIT_COUNT; i++) {
        str unit = str_from(units[i].name);
        if (!str_ends(text, unit))
            continue;
        str digits = str_trim(str_slice(text, 0, text.len - unit.len));
        return str_to_int(digits, out) && !__builtin_mul_overflow(*out, units[i].bytes, out);
    }
    return false;
}

static str size_print(struct arena *a, int64_t bytes)
{
    int i = 0;
    while (bytes % units[i].bytes || (bytes == 0 && units[i].bytes > 1))
        i++;
    return arena_printf(a, "%lld%s", (long long)(bytes / units[i].bytes), units[i].name);
}

static str time_print(struct arena *a, int64_t ms)
{
    char text[DATE_TEXT_MAX];
    return arena_copy(a, duration_print(text, ms));
}

static str count_print(struct arena *a, int64_t n)
{
    return arena_printf(a, "%lld", (long long)n);
}

static const char *const levels[] = {
    [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"
};

static bool level_parse(str text, int64_t *out)
{
    for (*out = LOG_DEBUG; *out <= LOG_ERROR; ++*out)
        if (str_eq(text, str_from(levels[*out])))
            return true;
    return false;
}

static str level_print(struct arena *a, int64_t level)
{
    (void)a;
    return str_from(levels[level]);
}

static bool switch_parse(str text, int64_t *out)
{
    *out = str_eq(text, STR("on"));
    return *out || str_eq(text, STR("off"));
}

static str switch_print(struct arena *a, int64_t on)
{
    (void)a;
    return on ? STR("on") : STR("off");
}

static const struct {
    bool (*parse)(str text, int64_t *out);
    str (*print)(struct arena *a, int64_t n);
    const char *expected;
} kinds[] = {
    [SETTING_COUNT] = { str_to_int, count_print, "a whole number" },
    [SETTING_SIZE] = { size_parse, size_print, "a size like 512KiB or 4MiB" },
    [SETTING_TIME] = { duration_parse, time_print, "a time like 500ms, 10s or 2m" },
    [SETTING_LEVEL] = { level_parse, level_print, "debug, info, warn or error" },
    [SETTING_SWITCH] = { switch_parse, switch_print, "on or off" },
};

static err value_wrong(struct arena *a, const struct setting *s, str value)
{
    str range = STR("");

    if (s->most)
        range = arena_printf(a, " from " STR_FMT " to " STR_FMT,
                             STR_ARG(kinds[s->kind].print(a, s->least)),
                             STR_ARG(kinds[s->kind].print(a, s->most)));
    return err_new(a, ERR_INVALID, "%s: expected %s" STR_FMT ", but found '" STR_FMT "'", s->name,
                   kinds[s->kind].expected, STR_ARG(range), STR_ARG(value));
}

err setting_put(struct arena *a, struct config *c, const struct setting *s, str value)
{
    int64_t n;

    if (s->kind == SETTING_TEXT) {
        str copy = arena_copy(a, value);
        memcpy((char *)c + s->at, &copy, sizeof copy);
        return NULL;
    }
    if (!kinds[s->kind].parse(value, &n) || (s->most && (n < s->least || n > s->most)))
        return value_wrong(a, s, value);
    number_put(c, s, n);
    return NULL;
}

static str setting_show(struct arena *a, const struct config *c, const struct setting *s)
{
    str text;

    if (s->kind != SETTING_TEXT)
        return kinds[s->kind].print(a, number_get(c, s));
    memcpy(&text, (const char *)c + s->at, sizeof text);
    return s->at == offsetof(struct config, store) ? config_store_redacted(a, text) : text;
}

/* ---- by name ---- */

err setting_find(struct arena *a, str name, const struct setting **out)
{
    struct guess g = { .wanted = name };

    for (const struct setting *s = settings; s < settings + SETTING_COUNT_ALL; s++) {
        if (str_eq(name, str_from(s->name))) {
            *out = s;
            return NULL;
        }
        guess_try(&g, s->name);
    }
    return err_new(a, ERR_INVALID,
                   "there is no setting '" STR_FMT "'" STR_FMT " See 'baton serve --settings'.",
                   STR_ARG(name), STR_ARG(guess_hint(a, &g)));
}

size_t setting_index(const struct setting *s)
{
    return (size_t)(s - settings);
}

err config_set(struct arena *a, struct config *c, str name, str value)
{
    const struct setting *s;
    TRY(setting_find(a, name, &s));
    return setting_put(a, c, s, value);
}

/* The variable of a setting: body_bytes is BATON_BODY_BYTES. */
static const char *variable_of(struct arena *a, const struct setting *s)
{
    str name = arena_printf(a, "BATON_%s", s->name);
    char *at = (char *)name.at;

    for (; *at; at++)
        if (*at >= 'a' && *at <= 'z')
            *at -= 'a' - 'A';
    return name.at;
}

err config_environment(struct arena *a, struct config *c)
{
    for (const struct setting *s = settings; s < settings + SETTING_COUNT_ALL; s++) {
        const char *name = variable_of(a, s), *value = getenv(name);
        err e = value ? setting_put(a, c, s, str_from(value)) : NULL;
        if (e)
            return err_within(a, e, "%s in the environment", name);
    }
    return NULL;
}

/* ---- the password of a store ---- */

/* The part of a URL that is a password: behind the user's name, or a parameter. False: none. */
static bool password_find(str url, size_t *from, size_t *to)
{
    static const char scheme[] = "://", parameter[] = "password=";
    const char *at = memmem(url.at, url.len, scheme, strlen(scheme));
    size_t begin = at ? (size_t)(at - url.at) + strlen(scheme) : 0;
    size_t sign = url.len, colon;

    while (sign > begin && url.at[sign - 1] != '@') /* a password may have an @ of its own */
        sign--;
    for (colon = begin; colon < sign && url.at[colon] != ':'; colon++) {
    }
    *from = colon + 1;
    *to = sign - 1;
    if (at && sign > begin && colon<sign && * to> * from)
        return true;
    at = memmem(url.at, url.len, parameter, strlen(parameter));
    if (!at)
        return false;
    *from = *to = (size_t)(at - url.at) + strlen(parameter);
    while (*to < url.len && url.at[*to] != '&')
        ++*to;
    return *to > *from;
}

bool config_store_has_password(str store)
{
    size_t from, to;
    return password_find(store, &from, &to);
}

str config_store_redacted(struct arena *a, str store)
{
    struct buf out = buf_in(a);
    size_t from, to;

    while (password_find(store, &from, &to)) {
        buf_add(&out, str_slice(store, 0, from));
        buf_add(&out, STR("…"));
        store = str_slice(store, to, store.len);
    }
    buf_add(&out, store);
    return buf_str(&out);
}

/* ---- all of them ---- */

static void put_quoted(struct buf *out, str text)
{
    buf_byte(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '"' || text.at[i] == '\\')
            buf_byte(out, '\\');
        buf_byte(out, text.at[i]);
    }
    buf_byte(out, '"');
}

void config_print(struct buf *out, const struct config *c)
{
    for (const struct setting *s = settings; s < settings + SETTING_COUNT_ALL; s++) {
        str value = setting_show(out->arena, c, s);
        buf_printf(out, "%s# %s\n%s = ", s == settings ? "" : "\n", s->help, s->name);
        if (s->kind == SETTING_COUNT)
            buf_add(out, value);
        else
            put_quoted(out, value);
        buf_byte(out, '\n');
    }
}

static bool is_servers(const struct setting *s)
{
    size_t from = offsetof(struct config, limits);
    return s->at >= from && s->at < from + sizeof(struct server_limits);
}

/* Limits that cannot be changed, but are good to know. */
static const struct {
    str name;
    int64_t value;
} fixed[] = {
    { STR("state_bytes"), STATE_BYTES_MAX },
    { STR("schema_bytes"), SCHEMA_TEXT_BYTES_MAX },
    { STR("patch_operations"), STATE_OPERATIONS_MAX },
    { STR("patch_copy_bytes"), STATE_COPY_BYTES_MAX },
    { STR("patch_work"), JSON_PATCH_WORK },
    { STR("schema_parts"), SCHEMA_PARTS_MAX },
    { STR("token_writes"), TOKEN_WRITES_MAX },
    { STR("check_steps"), SCHEMA_STEPS_MAX },
    { STR("key_bytes"), IDEMPOTENCY_KEY_MAX },
};

enum { FIXED_COUNT = sizeof fixed / sizeof *fixed };

/* A time is in milliseconds, and says so: stop_time is stop_ms there, run_grace run_grace_ms. */
static str row_name(struct arena *a, const struct setting *s)
{
    str name = str_from(s->name), time = STR("_time");

    if (s->kind != SETTING_TIME)
        return name;
    if (str_ends(name, time))
        name = str_slice(name, 0, name.len - time.len);
    return arena_printf(a, STR_FMT "_ms", STR_ARG(name));
}

const str *config_rows(struct arena *a, const struct config *c, size_t *count)
{
    str *rows = ARENA_ARRAY(a, str, 2 * (SETTING_COUNT_ALL + FIXED_COUNT));

    *count = 0;
    for (size_t i = 0; i < FIXED_COUNT; i++) {
        rows[(*count)++] = fixed[i].name;
        rows[(*count)++] = count_print(a, fixed[i].value);
    }
    for (const struct setting *s = settings; s < settings + SETTING_COUNT_ALL; s++) {
        if (is_servers(s) || !s->most)
            continue;
        rows[(*count)++] = row_name(a, s);
        rows[(*count)++] = count_print(a, number_get(c, s));
    }
    return rows;
}
