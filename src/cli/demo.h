/* demo.h: baton demo: scripted agents on a live server, to watch.
 *
 * There are two stories. The team: a lead starts three workers at the same time. One does
 * what it should; one ignores twice that it has to record its result; one fails. What baton
 * does about that is the story. The generation: a workflow of seven steps, with a person who
 * approves, a check that fails, seven agents at once, and a server that is killed. Nothing of
 * it is played by the command itself: the server, the runner and the agents are real
 * processes, and the stories are told from the log of events. */
#ifndef CLI_DEMO_H
#define CLI_DEMO_H

#include "cli/call.h"

/* ---- demo.c ---- */

extern const struct option demo_options[];
extern const char demo_details[];
err demo_run(struct cli *c);

/* What a story is told on. */
struct demo_host {
    struct cli *cli;
    struct caller *caller;
    str folder; /* of the server's data */
    bool ours;  /* the server is: it may be killed */
    str prefix; /* of names, where others may have the same; empty: nobody has */
    bool (*interrupted)(void);

    /* Kills the server as if the power had gone, and starts it anew. */
    err (*restart)(struct demo_host *h);
};

/* ---- demo_generation.c ---- */

/* Plays all of it; `id` is the execution, empty while there is none. */
err demo_generation(struct demo_host *h, str *id);

/* ---- demo_cast.c: who plays ---- */

enum demo_worker { WORKER_GOOD, WORKER_FORGETFUL, WORKER_FAILING, WORKERS };

struct demo_cast {
    str lead, workers[WORKERS]; /* names of sessions */
    str state_id;
};

/* How many requests to record a result each session gets. */
enum { DEMO_PROMPTS = 3 };

/* Registers the schema and the agents, makes the lead's session and its state, and starts it. Names
 * end in `suffix`, since no two sessions have the same. */
err demo_begin(struct caller *k, struct arena *a, str suffix, struct demo_cast *out);

/* Whether the state holds what the story is to leave in it. */
err demo_state_is_right(struct caller *k, struct arena *a, const struct demo_cast *cast,
                        bool *right);

/* ---- demo_story.c: what is told ---- */

/* A line of a story: when, who, and what; on a narrow terminal what stands below who. */
void demo_line(struct cli *c, struct arena *a, int64_t ms, enum paint paint, str who, str what);

struct demo_promise {
    bool kept;
    str text;
};

/* Shows what came of each; false when one was not kept. `version` is of what the story has left. */
bool demo_promises(struct cli *c, struct arena *a, const struct demo_promise *all, size_t count,
                   int64_t version);

/* What is known of a worker's part so far. */
struct story_part {
    int prompts,
        callbacks; /* requests to record its result; how often the lead was told of its end */
    bool failed;   /* its work did */
    bool recorded, settled, called_early;
    str status; /* that it settled with */
};

struct story {
    struct cli *cli;
    const struct demo_cast *cast;
    struct story_part parts[WORKERS];
    bool lead_finished, state_right;
    int64_t version; /* of the state */
    int64_t began_ms;
};

/* Takes an event of the log, and shows it: in words, or as it is with --json. */
void story_take(struct story *s, struct arena *a, const struct json *event);

/* Whether the last thing has happened that is to happen. */
bool story_is_over(const struct story *s);

/* Shows what came of each promise; false when one was not kept. */
bool story_end(struct story *s, struct arena *a);

#endif
