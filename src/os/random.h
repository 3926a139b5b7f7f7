/* random.h: bytes that nobody can guess.
 *
 * There is no way to go on without them: ids would repeat and tokens could be guessed. So the
 * process ends when the system has none, and no caller has a path for it. */
#ifndef OS_RANDOM_H
#define OS_RANDOM_H

#include "base/arena.h"

void random_bytes(void *out, size_t count);

/* So many bytes, as twice as many hexadecimal digits. */
str random_hex(struct arena *a, size_t count);

#endif
