/* model.h: what must be true, as plain values in memory.
 *
 * The model is told what clients were told, and nothing else: the messages of events that were
 * published, and answers that were given. It follows the messages as a subscriber would, so its
 * documents are "a snapshot and the events after it"; model_look compares them with what reads
 * answer, model_audit with every row of the database.
 *
 * Knows no rule of core/: it does not foresee answers, it holds the server to them. */
#ifndef SIM_MODEL_H
#define SIM_MODEL_H

#include "base/digest.h"
#include "base/map.h"
#include "json/json.h"
#include "sim/world.h"

/* Clocks of a world may be set back by this much, and what was promised until then is not asked
 * for so close to its end. */
#define MODEL_MARGIN_MS (10 * 60 * 1000)

struct model_event {
    str subject, type, message;
    struct model_state *state; /* NULL: of something else */
    int64_t version, time_ms;
};

struct model_version {
    int64_t seq;
    struct json doc;
};

struct model_state {
    str id;
    bool deleted;
    bool looked; /* at what reads say of its newest version */
    int64_t version;
    struct model_version *versions; /* versions[0] is the first */
    size_t room;
    struct model_schema *schema; /* of the newest version */
};

struct model_schema {
    str id, name;
    int64_t version;
    const struct json *text;
    struct schema *program;
    struct model_schema *next; /* the one that was registered before it */
};

/* A request that was applied under a key, and what was answered. */
struct model_key {
    const struct op *op;
    const struct json *input;
    const struct actor *actor;
    str key, answer;
    int64_t version, at_ms;
    bool created, empty;
};

struct model_session {
    str id;
    bool settled, gone;
};

/* A turn of a session, and who has it under which fence. */
struct model_run {
    str id, runner_id;
    int64_t fence; /* 0: nobody has had it */
    bool held;
};

struct model {
    struct arena *arena;
    const struct retention *retention;
    struct model_event *events; /* events[0] is number 1 */
    int64_t seq, event_room;
    int64_t now_ms;
    struct map states;                      /* id → struct model_state */
    struct map keys;                        /* owner and key → struct model_key */
    struct map tokens;                      /* id → itself */
    struct map runners;                     /* likewise; some may be gone */
    struct map permissions, approvals;      /* likewise */
    struct map executions, incidents, jobs; /* likewise; jobs that somebody had */
    struct map sessions;                    /* id → struct model_session */
    struct map runs;                        /* id → struct model_run */
    struct model_schema *schemas;
    size_t schema_count;
};

/* In an arena, and gone with it. */
struct model *model_new(struct arena *a, const struct retention *retention);

/* A copy, as one who reads everything anew gets it. */
struct model *model_copy(const struct model *m);

struct model_state *model_state(const struct model *m, str id);

/* The next event, as subscribers get it. */
void model_message(struct model *m, str message);

/* Whether the key of an applied request must still be remembered. */
bool model_key_promised(const struct model *m, const struct model_key *k);

/* Before a command's answer counts: under a key that was used, the same request is not refused and
 * another one is. */
void model_key_check(struct model *m, const struct command *c);

/* A repeated answer of a command that may have happened before, though nobody heard of it and no
 * event tells: then its key is news. */
void model_may_learn(struct model *m, const struct command *c, bool silent);

/* A command of a client's that was answered without an error: its events and its key. */
void model_answered(struct model *m, const struct command *c);

/* Reads, on the second connection, whatever has changed since the last look, and what there is to
 * know beside it: the schema of each state, the text of each schema. */
void model_look(struct model *m, struct world *w);

/* Reads every version of a state; gives how many were dropped, as they may be. */
int64_t model_look_back(const struct model *m, struct world *w, const struct model_state *s);

/* Whether a version may have been dropped by now. */
bool model_outgrown(const struct model *m, const struct model_state *s, int64_t version);

/* Compares every row with the model. */
void model_audit(const struct model *m, struct world *w);

/* Two models agree about all documents. */
void model_same(const struct model *a, const struct model *b);

/* A digest of all rows, as the second connection reads them. */
void world_digest(struct world *w, unsigned char out[SHA256_BYTES]);

/* Performs a read on the second connection, with an input in single quotes. */
struct command *world_ask(struct world *w, struct arena *a, const char *op, str input);

#endif
