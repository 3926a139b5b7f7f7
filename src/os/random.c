/* random.c: bytes that nobody can guess. */
#include "os/random.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/digest.h"

void random_bytes(void *out, size_t count)
{
    unsigned char *at = out;

    while (count) {
        ssize_t n = getrandom(at, count, 0);
        if (n < 0 && errno != EINTR)
            abort();
        if (n > 0) {
            at += n;
            count -= (size_t)n;
        }
    }
}

str random_hex(struct arena *a, size_t count)
{
    char *bytes = arena_alloc(a, count);

    random_bytes(bytes, count);
    return hex_encode(a, (str){ bytes, count });
}
