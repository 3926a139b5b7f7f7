/* clock.c: what differs from run to run: time, and chance. */
#include "app/clock.h"

#include <assert.h>
#include <time.h>

#include "os/random.h"

enum { ID_CHARACTERS = 12 };

/* ---- time ---- */

static int64_t read_ms(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_wall_ms(void)
{
    return read_ms(CLOCK_REALTIME);
}

void clock_start(struct clock *c, int64_t floor_ms)
{
    int64_t wall = clock_wall_ms();

    c->boot_ms = read_ms(CLOCK_BOOTTIME);
    c->started_ms = wall > floor_ms ? wall : floor_ms;
}

int64_t clock_now_ms(void *clock)
{
    const struct clock *c = clock;
    return c->started_ms + (read_ms(CLOCK_BOOTTIME) - c->boot_ms);
}

int64_t clock_steady_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ---- chance ---- */

/* What was given is wiped, so that a secret is not found in memory twice. */
static void random_take(void *self, unsigned char *out, size_t count)
{
    struct chance *c = self;

    while (count) {
        if (c->left == 0) {
            random_bytes(c->bytes, sizeof c->bytes);
            c->left = sizeof c->bytes;
        }
        size_t n = count < c->left ? count : c->left;
        unsigned char *from = c->bytes + sizeof c->bytes - c->left;
        memcpy(out, from, n);
        explicit_bzero(from, n);
        out += n;
        count -= n;
        c->left -= n;
    }
}

static str id_new(void *self, struct arena *a, const char *prefix)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char bytes[ID_CHARACTERS];
    char text[ID_CHARACTERS + 1] = "";

    random_take(self, bytes, sizeof bytes);
    for (int i = 0; i < ID_CHARACTERS; i++)
        text[i] = alphabet[bytes[i] & 31];
    return arena_printf(a, "%s%s", prefix, text);
}

struct tx_source chance_source(struct chance *c)
{
    return (struct tx_source){ .id = id_new, .random = random_take, .self = c };
}
