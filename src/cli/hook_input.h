/* hook_input.h: what a client says to its hook, by standard input. */
#ifndef CLI_HOOK_INPUT_H
#define CLI_HOOK_INPUT_H

#include "base/arena.h"
#include "base/err.h"

/* All of it, up to its end, and mended. INVALID: nothing. */
err hook_input(struct arena *a, str *out);

/* The next line, without its end; false: there is none. */
bool hook_input_line(struct arena *a, str *out);

/* Clients cut texts wherever they are too long, and may leave half of a character: \ud83d without
 * its other half. That, and \u0000, is no JSON of ours: it becomes \ufffd. In place. */
void hook_mend(char *text, size_t len);

#endif
