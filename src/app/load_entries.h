/* load_entries.h: agents and profiles that the operator keeps as files of the data directory.
 *
 *   DIR/agents/reviewer.md    or .json: one agent
 *   DIR/profiles/mine.json    one profile
 *
 * What is there at the start of the server is what counts until the next one. */
#ifndef APP_LOAD_ENTRIES_H
#define APP_LOAD_ENTRIES_H

#include "ops/perform.h"

/* A file that cannot be read, or is not what it must be, costs a warning that names it; the error is
 * one of the database. */
err entries_load(struct arena *a, struct engine *e, str folder, bool shared);

/* Performs an operation as the server itself, before anybody else can. */
err system_perform(struct arena *a, struct engine *e, const char *op, const struct json *input,
                   const struct json **answer);

#endif
