/* config.h: what can be set, and where it is set.
 *
 * One table has all settings. Each has its default; DIR/baton.toml says
 * otherwise, then the environment (BATON_BODY_BYTES=8MiB), then flags. Does not know
 * what a setting does: the values are members of a struct. */
#ifndef APP_CONFIG_H
#define APP_CONFIG_H

#include "base/log.h"
#include "core/retain.h"
#include "core/team.h"
#include "wire/server.h"

enum {
    BATCH_MOST = 1024,       /* what batch_max can be set to */
    TOKEN_WRITES_MAX = 2048, /* of one token, that wait for the writer */
};

struct config {
    str listen, store, socket;
    str hosts;         /* separated by commas */
    int64_t log_level; /* enum log_level */
    int64_t stop_grace_ms;
    uint64_t cache_bytes;
    uint32_t batch_max;
    int64_t wal_bytes_max, disk_free_min;
    int64_t lock_ms, find_ms, lost_ms; /* where several servers share a database */
    struct retention retention;
    struct team_rules team;
    struct server_limits limits;
};

struct config config_default(void);

/* Sets one by its name. INVALID says what was expected, and of a name that there is not, the
 * nearest that there is. The value is copied. */
err config_set(struct arena *a, struct config *c, str name, str value);

/* Reads a file's text: lines of `name = value`, `[table]` before names that begin alike, comments.
 * Values are strings in quotes or whole numbers, as TOML has them; `path` is for messages. */
err config_read(struct arena *a, struct config *c, str text, const char *path);

/* A store's name as it may be shown: what stands for a password in a URL is "…". */
str config_store_redacted(struct arena *a, str store);
bool config_store_has_password(str store);

/* Takes what BATON_<NAME> says in the environment. */
err config_environment(struct arena *a, struct config *c);

/* All settings with their values, as a file that config_read takes. */
void config_print(struct buf *out, const struct config *c);

/* Names and values, in turn, of the limits that the server does not know: bytes, ms and counts. */
const str *config_rows(struct arena *a, const struct config *c, size_t *count);

#endif
