/* team_private.h: what a run of a team is made of. */
#ifndef SIM_TEAM_PRIVATE_H
#define SIM_TEAM_PRIVATE_H

#include "json_help.h"
#include "sim/world.h"
#include "sim/team.h"
#include "sim/team_model.h"
#include "sim/vfs.h"

enum { TEAM_RUNNERS = 3, TEAM_TURNS_MAX = 256 };

/* A machine; it has an id while it is registered, as far as it knows. */
struct team_runner {
    const char *host, *about; /* the rest of what it says of itself, as JSON */
    str token, id;
    bool alive;
    int names; /* under how many it has come */
};

/* What an agent was given: a run under a fence. It stays after its end, as a ghost that still
 * knows its fence and its token. */
struct team_turn {
    struct seen_run *run;
    struct team_runner *runner;
    str runner_id, token;
    int64_t fence;
    bool started, over;
    bool mute; /* it has stalled, or its machine is gone */
    bool stop; /* its runner was told to stop it */
};

struct team {
    uint64_t seed;
    int step;
    struct random random;
    struct arena *arena;
    const struct team_options *options;
    struct team_totals *totals;
    struct sha256 sum;

    struct vfs *disk;
    struct world *w;
    struct team_model *model;
    int64_t now_ms; /* the highest that any command has seen */
    int restart_at; /* the step */
    bool restart_due;
    bool calm; /* everybody does what is expected of them */

    struct team_runner runners[TEAM_RUNNERS];
    struct team_turn turns[TEAM_TURNS_MAX];
    size_t turn_count;
    int names, keys, words;
};

static inline uint32_t below(struct team *t, uint32_t n)
{
    return random_below(&t->random, n);
}

static inline bool chance(struct team *t, uint32_t one_in)
{
    return below(t, one_in) == 0;
}

/* ---- team.c ---- */

extern const struct actor team_operator;

/* A command, whatever happens to the server: after a restart it is sent again under its key. Only a
 * claim, whose answer is a secret, is not: then the answer is that there was none, UNAVAILABLE. */
struct command *team_call(struct team *t, const struct actor *who, const char *op,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
const struct json *team_answer(struct team *t, const struct command *c);

/* Time passes, and what becomes due is done. */
void team_pass(struct team *t, int64_t ms);

/* Asks for a turn, and tells the model. `who` asks for more of the input, as JSON after a comma. */
struct command *team_ask(struct team *t, const struct actor *who, bool starts, str name,
                         const char *mode, const char *more);

/* A session at random, of those that are there; NULL: there is none. */
struct seen_session *team_any(struct team *t);

/* A name that no session has. */
str team_name_new(struct team *t);

/* ---- team_agent.c ---- */

void team_runners_init(struct team *t);

/* One of them does something. */
void team_runner_step(struct team *t);
void team_turn_step(struct team *t);
void team_ghost_step(struct team *t);

/* All runners are there, take what there is, and their agents do all of it. Whether anything was
 * done. */
bool team_work(struct team *t);

/* ---- team_people.c ---- */

/* There is somebody to work with: a root, and one below it. */
void team_people_begin(struct team *t);
void team_people_step(struct team *t);

/* Those who attend a session end what they are at, and hear what there is to hear; who was stopped
 * is resumed when its children have something to say. */
void team_people_end(struct team *t);

#endif
