/* phases.h: a team at work, for tests of how cycles of sessions end and how parents hear of it.
 *
 * A team is a world with one runner, played by the test: it claims a run, says that its agent
 * began, and how it ended. Time is a number. Tests are told in these words, so they are short. */
#ifndef TEST_PHASES_H
#define TEST_PHASES_H

#include "core/team.h"
#include "json_help.h"
#include "sim/world.h"

struct team {
    struct vfs *disk;
    struct world *w;
    struct team_rules rules;
    str runner, state;
    str run, prompt; /* that the runner holds */
    int64_t fence;
    bool faulty;    /* its store fails at times, and everyone asks again */
    bool restarted; /* it stopped, because nobody knew whether a commit had succeeded */
    int keys, writes;
};

/* ---- teams ---- */

/* Schemas of its state: one that says nothing, and one that says how updates are had. */
#define PLAIN "{'type':'object'}"
#define WITH(said) "{'type':'object','x-baton':{'state_update':{" said "}}}"

/* A runner, and nothing else. */
struct team *team_bare(void);

/* A root that has begun, with a state of that schema. */
struct team *team_with(const char *schema);

/* And a child of it, whose first turn is all there is to do. */
struct team *team_with_child(const char *schema);

/* What holds in every database held in this one. */
void team_free(struct team *t);

/* ---- who speaks ---- */

void as_operator(struct team *t);
void as_runner(struct team *t);
void as_session(struct team *t, const char *name);

/* By whoever speaks; a team whose store fails asks until it is answered. */
struct command *call(struct team *t, const char *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Of a command that was not refused. */
const struct json *answer_of(const struct command *c);

/* ---- what the runner does; all from here on leave the operator speaking ---- */

/* A new one, which from now on is the one. */
void runner_comes(struct team *t);

/* Claims what is next, which must be this; and says that it has begun. */
void claim(struct team *t, const char *session, const char *purpose);
void begin(struct team *t, const char *session, const char *purpose);

/* There is nothing to claim. */
void claim_none(struct team *t);

/* How the run that it holds has ended; more members of the report begin with a comma. */
struct command *report(struct team *t, const char *what, const char *facts);
void done(struct team *t);
void failed(struct team *t);

/* From its beginning to its good end; or to that with its result recorded. */
void turn(struct team *t, const char *session, const char *purpose);
void turn_and_write(struct team *t, const char *session, const char *purpose);

/* Holds again what it held before: `*t` as it was then. */
void hold_again(struct team *t, const struct team *before);

/* ---- what sessions do ---- */

/* Writes its own member of the state, each time something else. */
struct command *write_by(struct team *t, const char *name);
void wrote(struct team *t, const char *name);

/* Its parent starts a child, to be called back or in another mode, or asks it for more. */
void start(struct team *t, const char *parent, const char *name);
void start_as(struct team *t, const char *parent, const char *name, const char *mode);
void resume(struct team *t, const char *parent, const char *name);

/* ---- time ---- */

/* That much later, when all that was due by then has happened. */
void after_ms(struct team *t, int64_t ms);

/* When the next prompt for an update may be claimed. */
void next_attempt(struct team *t);

/* ---- what is seen ---- */

/* The one row that a statement with one name or id gives. */
const struct row *row_by(struct team *t, const char *text, str name);
const struct row *row_of(struct team *t, const char *text, const char *name);

/* "status update attempts cycle", with - for no update; and "!" when it has settled. */
void is(struct team *t, const char *name, const char *expected);

/* How many callbacks to a parent are on their way, and how many it has got. */
void heard(struct team *t, const char *parent, int waiting, int in_flight, int delivered);

str error_of(struct team *t, const char *name);

/* A text is the one in test/cases/prompts; BATON_WRITE_CASES writes it there instead. */
void text_is(str text, const char *name);

#endif
