/* text.h: what is ours in a text that belongs to somebody else.
 *
 * A block is added at the end, behind one empty line, and taken out again so that every other byte
 * is as it was: also where the last line had no end, since then ours has none. Does not know what
 * the text is. */
#ifndef CLI_INIT_TEXT_H
#define CLI_INIT_TEXT_H

#include "base/arena.h"

/* "\r\n" where the first line ends so, else "\n". */
str text_eol(str text);

/* The lines of `block`, which end in "\n", behind the text. */
str text_append(struct arena *a, str text, str block);

/* The text without its bytes from `from` to `to`, which are whole lines, and without the empty line
 * in front of them. */
str text_cut(struct arena *a, str text, size_t from, size_t to);

/* The text with other bytes from `from` to `to`. */
str text_splice(struct arena *a, str text, size_t from, size_t to, str with);

/* ---- a block between two marks, each a line of its own ---- */

#define MARK_BEGIN "<!-- baton:begin -->"
#define MARK_END "<!-- baton:end -->"

/* Where the block is, its marks and the end of its last line included. False: there is none, or
 * one of the marks is alone. */
bool text_marked(str text, size_t *from, size_t *to);

/* The text with that block, in its place when there is one, or without any when `lines` is empty. */
str text_mark(struct arena *a, str text, str lines);

#endif
