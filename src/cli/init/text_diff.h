/* text_diff.h: how two texts differ, line by line, as people read it: a unified diff.
 *
 * For files of some thousand lines, to be shown before they are written. Knows no files. */
#ifndef CLI_INIT_TEXT_DIFF_H
#define CLI_INIT_TEXT_DIFF_H

#include "base/arena.h"

/* Appends the diff from `old` to `new`, with three lines around each change; nothing when they are
 * the same. A text that is empty is one that is not there. Control characters are shown, not sent
 * to the terminal. */
void text_diff(struct buf *out, const char *path, str old, str new, bool coloured);

#endif
