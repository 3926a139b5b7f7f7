/* runner.h: machines that run agents.
 *
 * A runner registers with what it can do, says every few seconds that it is there,
 * and claims runs. It is bound to the token that registered it: another token
 * cannot speak for it. One that falls silent is lost: its runs' leases pass their
 * time, each by itself. */
#ifndef CORE_RUNNER_H
#define CORE_RUNNER_H

#include "core/due.h"
#include "core/event.h"
#include "core/team.h"
#include "json/json.h"

struct runner {
    str id, token_id;
    str name, hostname, project_dir; /* project_dir: empty: any */
    str user;                        /* as whom agents run; empty: it does not say */
    const str *tags, *profiles;      /* no profiles: all */
    size_t tag_count, profile_count;
    str tags_printed, profiles_printed; /* as they are stored: JSON arrays */
    str agents; /* that its machine has, a printed JSON array: see agent_offer.h */
    int64_t capacity;
    bool commands; /* it takes runs of purpose command; one that does not say so knows none */
    int64_t registered_at_ms, seen_at_ms;
    bool lost;
    str claim_cursor; /* how far its last claim has come in the queue; empty: it has seen all of it */
};

/* The table `runner`: see columns.h. */
// clang-format off
#define RUNNER_COLUMNS(X, r)                            \
    X(runner_id,     TEXT, INSERT, r->id)               \
    X(token_id,      TEXT, INSERT, r->token_id)         \
    X(name,          TEXT, INSERT, r->name)             \
    X(hostname,      TEXT, INSERT, r->hostname)         \
    X(project_dir,   TEXT, INSERT, r->project_dir)      \
    X(tags,          JSON, INSERT, r->tags_printed)     \
    X(profiles,      JSON, INSERT, r->profiles_printed) \
    X(capacity,      INT,  INSERT, r->capacity)         \
    X(registered_at, TIME, INSERT, r->registered_at_ms) \
    X(seen_at,       TIME, INSERT, r->seen_at_ms)       \
    X(lost,          FLAG, INSERT, r->lost)             \
    X(claim_cursor,  TEXT, INSERT, r->claim_cursor)     \
    X(work_user,     TEXT, INSERT, r->user)             \
    X(commands,      FLAG, INSERT, r->commands)         \
    X(agents,        JSON, INSERT, r->agents)
#define RUNNER_NAMES COLUMNS(RUNNER_COLUMNS)
// clang-format on

/* Whether a path is a folder, or within it; never by way of "..". */
bool dir_is_within(str dir, str base);

/* Registers one, whose id, token and times are set here. One that registers under the same token
 * and name again is the same runner, with what it says now. Emits runner_joined. */
err runner_register(struct tx *tx, struct runner *r);

/* NOT_FOUND when there is none; also when the actor's token is not the one that registered it. */
err runner_get(struct tx *tx, str id, struct runner *out);

/* Notes that it was heard; one that was lost has joined again. */
err runner_seen(struct tx *tx, struct runner *r);

/* It has these agents from now on: see agent_offer.h. */
err runner_store_agents(struct tx *tx, struct runner *r, str agents);

/* Keeps how far it has come: see run_claim. */
err runner_store_cursor(struct tx *tx, const struct runner *r);

err runner_list(struct tx *tx, str after, int64_t limit, const struct runner **out, size_t *count);

/* Takes it away; its runs go back to the queue at once. Its next poll hears that it is gone. Emits
 * runner_lost. */
err runner_remove(struct tx *tx, str id);

due_run runner_due_silent;

#endif
