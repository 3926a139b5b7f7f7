/* top_terminal.h: the whole of a terminal for one command, and its return as it was.
 *
 * However the command ends, by its own will or by a signal, the terminal is given back. */
#ifndef CLI_TOP_TERMINAL_H
#define CLI_TOP_TERMINAL_H

#include "base/arena.h"

/* Takes the terminal of standard output, and keys from standard input where that is one too. A byte
 * is written to `wake` when its size has changed, or after it was given back for a while (Ctrl-Z).
 * Ctrl-C ends the program. */
void terminal_take(int wake);
void terminal_give_back(void);

/* How many lines it has. */
size_t terminal_height(void);

/* The frame, of as many lines as there are, as what makes a terminal show it and nothing else. */
void terminal_frame(struct buf *out, str frame);

#endif
