/* opencode.c: the plugin of ours for opencode: a file that is all ours, and part of the program. */
#define _GNU_SOURCE /* memmem */
#include "cli/init/init.h"

/* The build runs where that folder is. */
__asm__(".section .rodata\n"
        "opencode_plugin_at:\n"
        ".incbin \"plugin/opencode/baton.js\"\n"
        "opencode_plugin_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char opencode_plugin_at[], opencode_plugin_end[];

#define PROGRAM "const program = "

/* The line that names the program, without what ends it: parts before, in and behind it. */
static bool program_cut(str text, str *before, str *value, str *after)
{
    const char *at = text.len ? memmem(text.at, text.len, PROGRAM, sizeof PROGRAM - 1) : NULL;

    if (!at)
        return false;
    size_t from = (size_t)(at - text.at) + sizeof PROGRAM - 1;
    *before = str_slice(text, 0, from);
    return str_cut(str_slice(text, from, text.len), ';', value, after);
}

/* As init writes it for a program; `literal` is how JavaScript writes that. */
static str plugin_text(struct arena *a, str literal)
{
    str whole = { opencode_plugin_at, (size_t)(opencode_plugin_end - opencode_plugin_at) };
    str before = STR(""), value, after = STR("");

    program_cut(whole, &before, &value, &after);
    return arena_printf(a, STR_FMT STR_FMT ";" STR_FMT, STR_ARG(before), STR_ARG(literal),
                        STR_ARG(after));
}

/* Whether it was written by init, this one or another. */
static bool is_ours(str text)
{
    str first, rest = STR("");

    str_cut(text, '\n', &first, &rest);
    return str_starts((str){ opencode_plugin_at, first.len + 1 }, first) &&
           opencode_plugin_at[first.len] == '\n';
}

err wire_opencode_plugin(const struct wiring *w, str text, str *out)
{
    struct json program = json_string(w->baton);
    str before, value, after;
    const struct json *named;

    *out = text;
    if (text.len && !is_ours(text)) {
        if (w->wanted)
            return err_new(w->arena, ERR_INVALID,
                           "expected a plugin that init wrote, found somebody else's");
        return NULL;
    }
    if (w->wanted) {
        *out = plugin_text(w->arena, json_printed(w->arena, &program));
        return NULL;
    }
    bool same = program_cut(text, &before, &value, &after) &&
                !json_parse(w->arena, value, NULL, &named) && json_is(named, JSON_STRING) &&
                wiring_names_baton(w, json_text(named)) &&
                str_eq(text, plugin_text(w->arena, value));
    if (same)
        *out = STR("");
    else if (text.len)
        wiring_note_kept(w, STR("all of it"), "it is not as init writes it");
    return NULL;
}
