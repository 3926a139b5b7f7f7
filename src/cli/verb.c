/* verb.c: from argv to a verb with its options read, by the tables alone.
 *
 * Does not know what any verb does. */
#include "cli/cli.h"

#include <assert.h>
#include <unistd.h>

/* ---- did you mean ---- */

/* Of names that are as near, the one that was begun or gone beyond is meant: "states" is "state". One
 * that was only begun is near, however long it is. */
void guess_try(struct guess *g, const char *name)
{
    unsigned most = g->wanted.len < 4 ? 1 : g->wanted.len < 8 ? 2 : 3;
    unsigned distance = str_distance(g->wanted, str_from(name), most);
    bool begun = str_starts(str_from(name), g->wanted) && g->wanted.len > 2;
    if (begun && distance > 1)
        distance = 1;
    bool same = begun || str_starts(g->wanted, str_from(name));
    if (distance <= most &&
        (!g->name || distance < g->distance || (distance == g->distance && same))) {
        g->name = name;
        g->distance = distance;
    }
}

str guess_hint(struct arena *a, const struct guess *g)
{
    return g->name ? arena_printf(a, "; did you mean '%s'?", g->name) : STR(".");
}

/* ---- verbs ---- */

const struct verb *verb_find(const struct verb *verbs, str name)
{
    for (const struct verb *v = verbs; v && v->name; v++)
        if (str_eq(str_from(v->name), name))
            return v;
    return NULL;
}

/* What other programs call it. */
static const struct {
    const char *theirs, *ours;
} synonyms[] = {
    { "ls", "list" },    { "rm", "delete" },   { "remove", "delete" }, { "show", "get" },
    { "new", "create" }, { "add", "create" },  { "kill", "stop" },     { "ps", "top" },
    { "up", "serve" },   { "start", "serve" }, { "down", "stop" },     { "edit", "update" },
    { "cat", "read" },   { "rm", "remove" },   { "delete", "remove" }, { "setup", "init" },
};

static struct guess verb_guess(const struct verb *verbs, const char *name)
{
    struct guess g = { .wanted = str_from(name) };
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(synonyms[i].theirs, name) == 0 && verb_find(verbs, str_from(synonyms[i].ours)))
            g.name = synonyms[i].ours;
    for (const struct verb *v = verbs; v && v->name; v++)
        guess_try(&g, v->name);
    return g;
}

err verb_unknown(struct cli *c, const struct verb *v, str called, const char *name)
{
    struct guess g = verb_guess(v->verbs, name);
    str hint = guess_hint(c->arena, &g);

    /* It may be meant for another table: 'baton check' for 'baton json check'. */
    for (const struct verb *other = c->root->verbs; other->name; other++) {
        bool exact = v == c->root && verb_find(other->verbs, str_from(name));
        struct guess theirs = verb_guess(other->verbs, name);
        if (!theirs.name || (g.name && !exact))
            continue;
        hint = arena_printf(c->arena, "; did you mean '%s %s %s'?", c->root->name, other->name,
                            theirs.name);
        g = theirs;
        if (exact)
            break;
    }
    return err_new(c->arena, ERR_INVALID,
                   "there is no command '%s'" STR_FMT " See '" STR_FMT "%s'.", name, STR_ARG(hint),
                   STR_ARG(called), v == c->root ? " help" : " --help");
}

/* ---- help ---- */

#define HELP_COLUMNS 79

void help_put(struct buf *out, size_t column, str text)
{
    size_t at = column;
    while (text.len > 0) {
        str word, rest;
        bool more = str_cut(text, ' ', &word, &rest);
        if (at > column && at + 1 + word.len > HELP_COLUMNS) {
            buf_printf(out, "\n%*s", (int)column, "");
            at = column;
        } else if (at > column) {
            buf_byte(out, ' ');
            at++;
        }
        buf_add(out, word);
        at += word.len;
        text = more ? rest : STR("");
    }
}

static void help_verbs(struct buf *out, const struct verb *verbs)
{
    buf_add(out, STR("\ncommands:\n"));
    for (const struct verb *v = verbs; v->name; v++) {
        buf_printf(out, "  %-12s ", v->name);
        help_put(out, 15, str_from(v->summary));
        buf_byte(out, '\n');
    }
}

static str option_shown(struct arena *a, const struct option *o)
{
    struct buf left = buf_in(a);
    if (o->letter)
        buf_printf(&left, "-%c, ", o->letter);
    buf_add(&left, str_from(o->name));
    if (o->value)
        buf_printf(&left, " %s", o->value);
    return buf_str(&left);
}

static void help_option(struct buf *out, const struct option *o, size_t width)
{
    buf_printf(out, "  %-*s  ", (int)width, option_shown(out->arena, o).at);
    help_put(out, width + 4, str_from(o->help));
    buf_byte(out, '\n');
}

static void help_options(struct buf *out, const struct option *options)
{
    static const struct option help = { "--help", 'h', NULL, "show this" };
    size_t width = 14;
    for (const struct option *o = options; o && o->name; o++) {
        size_t len = option_shown(out->arena, o).len;
        width = len > width ? len : width;
    }
    buf_add(out, STR("\noptions:\n"));
    for (const struct option *o = options; o && o->name; o++)
        help_option(out, o, width);
    help_option(out, &help, width);
}

void verb_help(struct buf *out, const struct verb *v, str called)
{
    buf_printf(out, "usage: " STR_FMT "%s%s%s\n\n", STR_ARG(called), v->args ? " " : "",
               v->args ? v->args : "", v->options ? " [options]" : "");
    help_put(out, 0, arena_printf(out->arena, "%s.", v->summary));
    buf_byte(out, '\n');
    if (v->verbs)
        help_verbs(out, v->verbs);
    if (v->details)
        buf_printf(out, "\n%s\n", v->details);
    if (v->run && (!v->verbs || v->options))
        help_options(out, v->options);
    if (v->example)
        buf_printf(out, "\nexample:\n  " STR_FMT "%s%s\n", STR_ARG(called), *v->example ? " " : "",
                   v->example);
    if (v->verbs)
        buf_printf(out, "\n'" STR_FMT " COMMAND --help' tells more about one.\n", STR_ARG(called));
}

static bool asks_for_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* ---- options ---- */

err usage_error(struct cli *c, str problem)
{
    return err_new(c->arena, ERR_INVALID, STR_FMT " See '" STR_FMT " --help'.", STR_ARG(problem),
                   STR_ARG(c->called));
}

/* The option that a word names, by its letter or by the name up to '='. */
static const struct option *option_find(const struct verb *v, const char *word)
{
    str name, value;
    str_cut(str_from(word), '=', &name, &value);
    for (const struct option *o = v->options; o && o->name; o++) {
        if (str_eq(name, str_from(o->name)))
            return o;
        if (o->letter && word[1] == o->letter && !word[2])
            return o;
    }
    return NULL;
}

static err option_unknown(struct cli *c, const char *word)
{
    str name, value;
    str_cut(str_from(word), '=', &name, &value);
    struct guess g = { .wanted = name };
    for (const struct option *o = c->verb->options; o && o->name; o++)
        guess_try(&g, o->name);
    guess_try(&g, "--help");
    str hint = guess_hint(c->arena, &g);
    return usage_error(c, arena_printf(c->arena, "there is no option '" STR_FMT "'" STR_FMT,
                                       STR_ARG(name), STR_ARG(hint)));
}

/* Reads one option and its value; *next is moved past both. */
static err option_read(struct cli *c, char ***next)
{
    const char *word = *(*next)++;
    const struct option *o = option_find(c->verb, word);
    if (!o)
        return option_unknown(c, word);

    const char *value = strncmp(word, "--", 2) == 0 ? strchr(word, '=') : NULL;
    if (value)
        value++;
    if (value && !o->value)
        return usage_error(c, arena_printf(c->arena, "%s takes no value.", o->name));
    if (!value && o->value && !(value = *(*next)++))
        return usage_error(c, arena_printf(c->arena, "%s needs a value: %s %s.", o->name, o->name,
                                           o->value));

    c->options[c->option_count++] = (struct option_given){ o, value };
    if (strcmp(o->name, "--json") == 0)
        c->json = true;
    return NULL;
}

static err count_check(struct cli *c)
{
    const struct verb *v = c->verb;
    if (c->arg_count >= v->args_min && c->arg_count <= v->args_max)
        return NULL;
    if (!v->args)
        return usage_error(c, arena_printf(c->arena,
                                           "no arguments were expected, but '%s' was "
                                           "found.",
                                           c->args[0]));
    return usage_error(c, arena_printf(c->arena, "expected %s, but found %d argument%s.", v->args,
                                       c->arg_count, c->arg_count == 1 ? "" : "s"));
}

/* Splits the words after the verb into arguments and options; "--" ends the options. */
static err verb_read(struct cli *c, char **words, bool *help)
{
    size_t n = 0;
    while (words[n])
        n++;
    c->args = ARENA_ARRAY(c->arena, const char *, n + 1);
    c->options = ARENA_ARRAY(c->arena, struct option_given, n + 1);

    bool options = true;
    while (*words && !*help) {
        if (options && strcmp(*words, "--") == 0) {
            options = false;
            words++;
        } else if (options && asks_for_help(*words)) {
            *help = true;
        } else if (options && (*words)[0] == '-' && (*words)[1]) {
            TRY(option_read(c, &words));
        } else {
            c->args[c->arg_count++] = *words++;
        }
    }
    return *help ? NULL : count_check(c);
}

static const struct option_given *option_given(const struct cli *c, const char *name)
{
    assert(option_find(c->verb, name));
    for (int i = c->option_count - 1; i >= 0; i--)
        if (strcmp(c->options[i].option->name, name) == 0)
            return &c->options[i];
    return NULL;
}

bool cli_flag(const struct cli *c, const char *name)
{
    return option_given(c, name) != NULL;
}

const char *cli_value(const struct cli *c, const char *name)
{
    const struct option_given *given = option_given(c, name);
    return given ? given->value : NULL;
}

/* ---- the program ---- */

static void enter(struct cli *c, const struct verb *v)
{
    c->called = c->verb ? arena_printf(c->arena, STR_FMT " %s", STR_ARG(c->called), v->name)
                        : str_from(v->name);
    c->verb = v;
}

void verb_all(struct cli *c)
{
    const struct verb *root = c->root;
    if (!root->more)
        return;
    const struct verb *more = root->more(c->arena);
    size_t n = 0, m = 0;
    while (root->verbs[n].name)
        n++;
    while (more[m].name)
        m++;
    struct verb *verbs = ARENA_ARRAY(c->arena, struct verb, n + m + 1);
    memcpy(verbs, root->verbs, n * sizeof *verbs);
    for (size_t i = 0; i < m; i++) {
        const struct verb *same = verb_find(root->verbs, str_from(more[i].name));
        if (same)
            verbs[same - root->verbs].verbs = more[i].verbs;
        else
            verbs[n++] = more[i];
    }
    verbs[n] = more[m]; /* their end */

    struct verb *all = ARENA_NEW(c->arena, struct verb);
    *all = *root;
    all->verbs = verbs;
    all->more = NULL;
    c->root = all;
    if (c->verb == root)
        c->verb = all;
}

/* The verb below the current one, or NULL. Most are found without making those of run time. */
static const struct verb *verb_below(struct cli *c, const char *word)
{
    bool top = c->verb == c->root;
    const struct verb *v = verb_find(c->verb->verbs, str_from(word));
    if (!v && top && strcmp(word, "--version") == 0)
        v = verb_find(c->verb->verbs, STR("version"));
    if (top && (!v || v->noun)) {
        verb_all(c);
        v = verb_find(c->verb->verbs, str_from(word));
    }
    return v;
}

static err command_missing(struct cli *c)
{
    struct buf names = buf_in(c->arena);

    for (const struct verb *v = c->verb->verbs; v->name; v++)
        buf_printf(&names, "%s%s", v == c->verb->verbs ? "" : ", ", v->name);
    return usage_error(c, arena_printf(c->arena, "'" STR_FMT "' needs a command: " STR_FMT ".",
                                       STR_ARG(c->called), STR_ARG(buf_str(&names))));
}

err verb_enter(struct cli *c, char **words, bool *help)
{
    for (; c->verb->verbs; words++) {
        bool itself = c->verb->noun && (!*words || (**words == '-' && !asks_for_help(*words)));
        if (itself)
            return verb_read(c, words, help);
        if (!*words && c->verb->run)
            return NULL;
        if (!*words)
            return command_missing(c);
        *help = asks_for_help(*words);
        if (*help)
            return NULL;
        const struct verb *next = verb_below(c, *words);
        if (!next)
            return verb_unknown(c, c->verb, c->called, *words);
        enter(c, next);
    }
    return verb_read(c, words, help);
}

static err verb_run(struct cli *c, char **words)
{
    bool help = false;
    TRY(verb_enter(c, words, &help));
    if (!help)
        return c->verb->run(c);
    verb_all(c);
    struct buf out = buf_in(c->arena);
    verb_help(&out, c->verb, c->called);
    cli_write(c, buf_str(&out));
    return NULL;
}

/* A link to the program can stand for one of its verbs: 'baton-json' is 'baton json'. */
static const struct verb *verb_of_link(const struct verb *root, const char *path)
{
    const char *slash = strrchr(path, '/');
    str name = str_from(slash ? slash + 1 : path);
    if (str_starts(name, STR("baton-")))
        name = str_slice(name, 6, name.len);
    return verb_find(root->verbs, name);
}

int cli_main(const struct verb *root, int argc, char **argv)
{
    struct cli c = { .arena = arena_new(), .root = root };
    c.terminal = isatty(STDOUT_FILENO);
    c.coloured = term_coloured(STDOUT_FILENO);

    enter(&c, root);
    const struct verb *linked = argc > 0 ? verb_of_link(root, argv[0]) : NULL;
    if (linked)
        enter(&c, linked);

    int code = cli_end(&c, verb_run(&c, argc > 0 ? argv + 1 : argv));
    arena_free(c.arena);
    return code;
}
