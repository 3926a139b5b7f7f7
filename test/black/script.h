/* script.h: agents that are shell scripts, on a server with a runner of its own.
 *
 * Scripts work in the folder of the test, are registered as agents of that name, and end by
 * themselves. */
#ifndef TEST_BLACK_SCRIPT_H
#define TEST_BLACK_SCRIPT_H

#include "black/black.h"

/* The arguments of a server that starts a runner. */
extern const char *const script_runner[];

/* Writes a program of the shell. */
void script_write(const char *path, const char *text);

/* Writes it and makes an agent of the profile `shell` of it. */
void script_agent(const struct black *b, const char *name, const char *text);

/* Starts a session of an agent with a prompt, here; more of the request is JSON with single quotes,
 * beginning with a comma. An empty agent: the request says what to start. */
void script_start(const struct black *b, const char *session, const char *agent, const char *prompt,
                  const char *more);
void script_resume(const struct black *b, const char *session, const char *prompt);

/* Waits until a session has settled, as `status`; what is known of it then. */
const struct json *script_settled(const struct black *b, const char *session, const char *status);

/* Its last words. */
str script_result(const struct black *b, const char *session);

/* Waits for a line in a pipe that a script writes to, and tells one that reads to go on. */
str script_hear(const char *pipe);
void script_tell(const char *pipe);

/* The path of the program that the server is. */
const char *script_program(const struct black *b);

#endif
