/* still.c: the same randomness in every run, for recordings that are compared.
 *
 * Loaded before libc into a server: ids are drawn from here, and lists are in the order of ids. So
 * two servers that draw alike list alike. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

ssize_t getrandom(void *at, size_t size, unsigned flags);

ssize_t getrandom(void *at, size_t size, unsigned flags)
{
    static _Atomic uint64_t drawn;
    unsigned char *bytes = at;

    (void)flags;
    for (size_t i = 0; i < size; i++) {
        /* splitmix64: neighbours have nothing in common. */
        uint64_t z = (atomic_fetch_add(&drawn, 1) + 1) * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        bytes[i] = (unsigned char)(z >> 56);
    }
    return (ssize_t)size;
}
