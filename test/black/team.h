/* team.h: teams of scripted agents on a real server, and what has become of them.
 *
 * Every agent is a process of its own, started by a runner. What it was asked is kept in
 * prompts/, in a file whose name says which session it was, in which run, and as which process:
 * the agents' own record, beside the log of the server. Agents go on and wait where a scenario
 * says so, by files that they touch and wait for (src/runner/scripted.h). */
#ifndef TEST_BLACK_TEAM_H
#define TEST_BLACK_TEAM_H

#include "black/black.h"
#include "json_help.h"

/* ---- scenarios, with single quotes ---- */

#define TEAM_WAIT(file) "{'wait_file':'" file "'}"
#define TEAM_TOUCH(file) "{'touch':'" file "'}"

/* Puts a member of this name into the state of the tree. */
#define TEAM_WRITE(name)                                                                 \
    "{'call':{'op':'state.patch','input':{'operations':[{'op':'add','path':'/" name "'," \
    "'value':true}]}}}"

/* Another session below this one, which calls back; or in another mode. */
#define TEAM_START(name, scenario) TEAM_START_AS(name, "async_callback", scenario)
#define TEAM_START_AS(name, mode, scenario) \
    "{'start':{'session_name':'" name "','mode':'" mode "','prompt':" scenario "}}"

/* ---- the team ---- */

struct team {
    struct black server;
    struct json events; /* all that were heard, in order */
    int64_t seen;       /* the number of the last of them */
    int unheard;        /* ends of children that nobody is told of, by intention; else 0 */
};

/* Starts a server with a runner, or lets another one be started, with these settings, "name=value",
 * up to a NULL; and makes agents that keep what they are asked. */
void team_start(struct team *t, const char *const *settings);
void team_start_without_runner(struct team *t, const char *const *settings);

/* The arguments of such a server, and what is done once it is there. The store may be NULL. */
const char *const *team_args(const char *runner, const char *store, const char *const *settings);
void team_prepare(const struct black *server);

/* Checks that nothing is left: each cycle has ended and was told once, no agent runs and none was
 * started twice, and the store is in order. Ends the server. */
void team_stop(struct team *t);

/* The server dies, and is there again. */
void team_restart(struct team *t);

/* A session with a state {} of its tree, whose schema says this of state updates: {'policy':…}.
 * It is started with a scenario. */
void team_lead(struct team *t, const char *name, const char *policy, const char *scenario);

/* The same without a state, as the operator starts it. */
const struct json *team_turn(struct team *t, const char *type, const char *name,
                             const char *scenario);

/* ---- runners ---- */

/* One for the server's directory, which ends with the test. */
pid_t team_runner_start(const struct black *server);
void team_runner_kill(pid_t runner);

/* The one that the server has started. */
pid_t team_runner_of(const struct black *server);

/* ---- what has become of it ---- */

/* Waits for the n-th event of a type whose data has these members: "session_name=kid cycle=1". */
const struct json *team_wait(struct team *t, int n, const char *type, const char *with);

/* How many there are by now. */
int team_count(struct team *t, const char *type, const char *with);

/* Waits until a session has settled; checks how, and how its update went ("": it owes none). */
const struct json *team_settled(struct team *t, const char *name, const char *status,
                                const char *update);

/* The n-th run of a session; what its agent was asked. Both fail when there is none. */
const struct json *team_run_of(struct team *t, const char *name, int n);
str team_prompt(struct team *t, const char *name, int n);
pid_t team_pid(struct team *t, const char *name, int n);

/* How many agents were started for a session; all that they were asked. */
int team_starts(const char *name);
str team_prompts(str name);

/* The state of a tree. */
str team_state(struct team *t, const char *name);

/* All sessions, or all events of a type; from any server. */
struct json team_sessions(const struct black *server);
struct json team_events(const struct black *server, const char *type);

/* Each cycle that settled below another session was told to that exactly once, and later. */
void team_check_told(const struct json *sessions, const struct json *settled,
                     const struct json *delivered, int unheard);

/* Whether nothing of an agent's processes is left, by the id of its first. */
bool team_is_gone(pid_t group);

/* No agent is there any more, and none was started twice for the same run. How many there were. */
int team_check_agents(void);

/* ---- files ---- */

void team_touch(const char *path);
void team_wait_file(const char *path);

#endif
