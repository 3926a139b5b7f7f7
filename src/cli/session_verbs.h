/* session_verbs.h: commands on sessions that are more than one operation. */
#ifndef CLI_SESSION_VERBS_H
#define CLI_SESSION_VERBS_H

#include "cli/call.h"
#include "cli/session_tree.h"

/* What `baton session` has besides, or instead of, the operations on sessions. */
extern const struct verb session_verbs[];

/* What a command that waited for a session, or asked for its result, ends with. */
enum session_exit { SESSION_EXIT_FAILED = 16, SESSION_EXIT_STOPPED = 17, SESSION_EXIT_OPEN = 18 };

extern const struct option session_start_options[], session_resume_options[],
    session_result_options[], session_plain_options[];

/* ---- session_begin.c ---- */

/* Starts or resumes the session that the first argument names. `waits`: whether or not --wait was
 * given, its result is waited for and printed. `reads`: without -p the prompt is standard input. */
err session_begin(struct cli *c, bool resumes, bool waits, bool reads);

/* Prints the result of the session that the first argument names; `wait`: when it has settled. */
err session_result(struct cli *c, bool wait);

/* ---- session_verbs.c ---- */

/* Whether the terminal's character set is said to be UTF-8. */
bool session_unicode(void);

/* ---- logs.c, top.c ---- */

extern const struct verb logs_verb, top_verb;

/* ---- ao.c ---- */

/* The command that the program is when it is called by one of the names ao-start, ao-resume,
 * ao-status, ao-get-result, ao-list-sessions; NULL: it is called otherwise. */
const struct verb *ao_verb(const char *path);

#endif
