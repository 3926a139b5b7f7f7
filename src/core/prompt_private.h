/* prompt_private.h: how texts of ours hold words of others. Private to the files of prompt.h. */
#ifndef CORE_PROMPT_PRIVATE_H
#define CORE_PROMPT_PRIVATE_H

#include "base/str.h"

/* Appends data in a fence that nothing in it can end, and an empty line. */
void prompt_fence(struct buf *out, const char *language, str data);

/* Appends a name as code. Of a name that could be more than one, what could is left out. */
void prompt_name(struct buf *out, str name);

#endif
