/* wiring.c: a wiring: which program configurations name by it, and what is said to stay. */
#define _GNU_SOURCE /* memrchr */
#include "cli/init/init.h"

bool wiring_names_baton(const struct wiring *w, str program)
{
    const char *slash = program.len ? memrchr(program.at, '/', program.len) : NULL;
    size_t name = slash ? (size_t)(slash + 1 - program.at) : 0;

    return str_eq(program, w->baton) || str_eq(str_slice(program, name, program.len), STR("baton"));
}

void wiring_note_kept(const struct wiring *w, str where, const char *why)
{
    if (w->kept)
        buf_printf(w->kept, STR_FMT ": %s\n", STR_ARG(where), why);
}
