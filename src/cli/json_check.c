/* json_check.c: baton json check: documents against a schema.
 *
 * What a schema refers to comes from files that the caller names; nothing is
 * ever fetched. */
#include "cli/cli.h"

#include "json/schema/schema.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#define VIOLATIONS_MAX 1000000
#define VIOLATIONS_DEFAULT 50

// clang-format off
const struct option json_check_options[] = {
    { "--format",  0,   NULL,  "let 'format' refuse texts that do not have it" },
    { "--dialect", 0,   "URI", "of a schema without $schema: draft-07, 2019-09, 2020-12" },
    { "--ref",     0,   "REF", "for $ref: URI=FILE, or a folder of .json files with $id" },
    { "--max",     0,   "N",   "show at most N violations of a document (default 50)" },
    OPTIONS_JSON_LIMITS,
    { "--quiet",   'q', NULL,  "leave it to the exit code to say what fits" },
    { "--json",    0,   NULL,  "one line for each document: {\"file\", \"valid\", \"errors\"}" },
    { 0 },
};

static const struct { const char *name, *uri; } dialects[] = {
    { "draft-07", "http://json-schema.org/draft-07/schema#" },
    { "2019-09",  "https://json-schema.org/draft/2019-09/schema" },
    { "2020-12",  "https://json-schema.org/draft/2020-12/schema" },
};
// clang-format on

struct check {
    struct cli *cli;
    struct schema *schema;
    size_t violations_max;
    bool quiet;
    size_t fitting, unfitting;
    int failure; /* exit code of the first document that could not be checked; 0: none */
};

/* ---- what $ref may reach ---- */

struct documents {
    struct schema_document *items;
    size_t count, room;
};

static void documents_add(struct arena *a, struct documents *d, str uri, const struct json *text)
{
    if (d->count == d->room) {
        size_t room = d->room ? 2 * d->room : 16;
        d->items = arena_grow(a, d->items, d->room * sizeof(*d->items), room * sizeof(*d->items));
        d->room = room;
    }
    d->items[d->count++] = (struct schema_document){ uri, text };
}

/* The .json files of a folder that have an $id; other files are not ours to judge. */
static err add_folder(struct cli *c, const char *path, struct documents *d)
{
    DIR *folder = opendir(path);
    if (!folder)
        return err_new(c->arena, ERR_INVALID, "cannot read the folder %s: %s", path,
                       strerror(errno));
    err e = NULL;
    size_t before = d->count;
    for (struct dirent *entry; !e && (entry = readdir(folder));) {
        if (!str_ends(str_from(entry->d_name), STR(".json")))
            continue;
        const struct json *text;
        str file = arena_printf(c->arena, "%s/%s", path, entry->d_name);
        e = json_load_limited(c, c->arena, file.at, &text);
        if (!e && json_is(json_get(text, "$id"), JSON_STRING))
            documents_add(c->arena, d, json_str(text, "$id"), text);
    }
    closedir(folder);
    if (!e && d->count == before)
        e = err_new(c->arena, ERR_INVALID, "--ref %s: no .json file there has an $id", path);
    return e;
}

/* URI=FILE is cut at its last '=', since a URI is likelier to hold one than the name of a file. */
static err add_ref(struct cli *c, const char *ref, struct documents *d)
{
    struct stat st;
    if (stat(ref, &st) == 0 && S_ISDIR(st.st_mode))
        return add_folder(c, ref, d);

    const char *equals = strrchr(ref, '=');
    if (!equals || equals == ref || !equals[1])
        return err_new(c->arena, ERR_INVALID, "--ref expects URI=FILE or a folder, but found '%s'",
                       ref);
    const struct json *text;
    TRY(json_load_limited(c, c->arena, equals + 1, &text));
    documents_add(c->arena, d, (str){ ref, (size_t)(equals - ref) }, text);
    return NULL;
}

/* ---- the schema ---- */

static str dialect_uri(const char *name)
{
    for (size_t i = 0; name && i < sizeof(dialects) / sizeof(dialects[0]); i++)
        if (strcmp(name, dialects[i].name) == 0)
            return str_from(dialects[i].uri);
    return str_from(name);
}

static void show_warnings(struct cli *c, const struct schema_warnings *w)
{
    for (size_t i = 0; i < w->count; i++)
        cli_warn(c, err_new(c->arena, ERR_INVALID, "warning: %s: " STR_FMT "/" STR_FMT ": " STR_FMT,
                            cli_path_name(c->args[0]), STR_ARG(w->items[i].pointer),
                            STR_ARG(w->items[i].keyword), STR_ARG(w->items[i].message)));
}

static err compile(struct cli *c, struct schema **out)
{
    struct documents d = { 0 };
    struct schema_warnings warnings = { .count = 0 };
    for (int i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].option->name, "--ref") == 0)
            TRY(add_ref(c, c->options[i].value, &d));

    struct schema_options options = {
        .dialect = dialect_uri(cli_value(c, "--dialect")),
        .assert_formats = cli_flag(c, "--format"),
        .warnings = &warnings,
        .parts_max = 1000000,
        .documents = d.items,
        .document_count = d.count,
    };
    const struct json *text;
    TRY(json_load_limited(c, c->arena, c->args[0], &text));
    err e = schema_compile(c->arena, text, &options, out);
    show_warnings(c, &warnings);
    if (!e)
        return NULL;

    /* UNFIT would read as "the document does not fit"; here the schema itself is malformed. */
    enum error_kind kind = e->kind == ERR_UNFIT ? ERR_INVALID : e->kind;
    return err_new(c->arena, kind, "%s: " STR_FMT, cli_path_name(c->args[0]), STR_ARG(e->message));
}

/* ---- one document ---- */

static void write_lines(struct check *k, struct arena *a, const char *file,
                        const struct violation *v, size_t count)
{
    struct buf out = buf_in(a);
    bool coloured = k->cli->coloured;
    bool more = count > k->violations_max;
    for (size_t i = 0; i < count - more; i++) {
        term_put(&out, PAINT_PLAIN, str_from(file));
        buf_add(&out, STR(": "));
        term_put(&out, coloured ? PAINT_KEY : PAINT_PLAIN,
                 v[i].pointer.len ? v[i].pointer : STR("(root)"));
        buf_add(&out, STR(": "));
        term_put(&out, coloured ? PAINT_ERROR : PAINT_PLAIN, v[i].keyword);
        buf_add(&out, STR(": "));
        term_put(&out, PAINT_PLAIN, v[i].message);
        buf_byte(&out, '\n');
    }
    if (more) {
        term_put(&out, PAINT_PLAIN, str_from(file));
        buf_printf(&out, ": there are more than %zu violations; --max shows more\n",
                   k->violations_max);
    }
    cli_write(k->cli, buf_str(&out));
}

/* {"file":…,"valid":…,"errors":[…]}, with "error" when the document could not be checked. */
static void write_object(struct check *k, struct arena *a, const char *file,
                         const struct violation *v, size_t count, err failure)
{
    struct buf out = buf_in(a);
    struct json_writer w = json_writer_to(&out);
    json_write_begin(&w, '{');
    json_write_name(&w, STR("file"));
    json_write_str(&w, term_utf8(a, str_from(file)));
    json_write_name(&w, STR("valid"));
    json_write_bool(&w, count == 0 && !failure);
    json_write_name(&w, STR("errors"));
    json_write_begin(&w, '[');
    for (size_t i = 0; i < count && i < k->violations_max; i++) {
        json_write_begin(&w, '{');
        json_write_name(&w, STR("pointer"));
        json_write_str(&w, v[i].pointer);
        json_write_name(&w, STR("keyword"));
        json_write_str(&w, v[i].keyword);
        json_write_name(&w, STR("message"));
        json_write_str(&w, v[i].message);
        json_write_end(&w, '}');
    }
    json_write_end(&w, ']');
    if (failure) {
        json_write_name(&w, STR("error"));
        json_write_str(&w, term_utf8(a, failure->message));
    }
    json_write_end(&w, '}');
    buf_byte(&out, '\n');
    cli_write(k->cli, buf_str(&out));
}

/* A document that cannot be read or judged does not keep the others from being checked. */
static void check_one(struct check *k, struct arena *a, const char *file)
{
    const struct json *doc;
    enum schema_verdict verdict = SCHEMA_FITS;
    err e = json_load_limited(k->cli, a, file, &doc);
    if (!e)
        verdict = schema_check(k->schema, doc);
    if (verdict == SCHEMA_EXHAUSTED)
        e = err_new(a, ERR_LIMIT, "%s: checking it took more than %d steps and was given up",
                    cli_path_name(file), SCHEMA_STEPS_MAX);
    if (e && !k->failure)
        k->failure = error_kind_info(e->kind)->exit;
    if (e && !k->cli->json)
        cli_warn(k->cli, e);
    k->fitting += !e && verdict == SCHEMA_FITS;
    k->unfitting += !e && verdict == SCHEMA_UNFIT;
    if (k->quiet)
        return;

    const struct violation *v = NULL;
    size_t count = 0;
    if (!e && verdict == SCHEMA_UNFIT)
        count = schema_explain(a, k->schema, doc, k->violations_max + 1, &v);
    if (k->cli->json)
        write_object(k, a, cli_path_name(file), v, count, e);
    else
        write_lines(k, a, cli_path_name(file), v, count);
}

/* ---- all of them ---- */

static void write_summary(struct check *k)
{
    struct cli *c = k->cli;
    int documents = c->arg_count - 1;
    bool all = k->fitting == (size_t)documents;
    struct buf text = buf_in(c->arena), out = buf_in(c->arena);
    if (documents > 1)
        buf_printf(&text, "%zu of %d documents fit %s", k->fitting, documents,
                   cli_path_name(c->args[0]));
    else if (k->failure)
        buf_printf(&text, "%s could not be checked", cli_path_name(c->args[1]));
    else
        buf_printf(&text, "%s %s %s", cli_path_name(c->args[1]), all ? "fits" : "does not fit",
                   cli_path_name(c->args[0]));
    term_put(&out, !c->coloured ? PAINT_PLAIN : all ? PAINT_GOOD : PAINT_ERROR, buf_str(&text));
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

static err violations_max(struct cli *c, size_t *out)
{
    int64_t n = VIOLATIONS_DEFAULT;
    const char *text = cli_value(c, "--max");
    if (text && (!str_to_int(str_from(text), &n) || n < 1 || n > VIOLATIONS_MAX))
        return err_new(c->arena, ERR_INVALID, "--max expects a number from 1 to %d, but found '%s'",
                       VIOLATIONS_MAX, text);
    *out = (size_t)n;
    return NULL;
}

err json_check_run(struct cli *c)
{
    struct check k = { .cli = c, .quiet = cli_flag(c, "--quiet") };
    TRY(violations_max(c, &k.violations_max));
    TRY(compile(c, &k.schema));

    struct arena *a = arena_new();
    for (int i = 1; i < c->arg_count; i++) {
        check_one(&k, a, c->args[i]);
        arena_reset(a);
    }
    arena_free(a);
    schema_free(k.schema);

    if (!k.quiet && !c->json)
        write_summary(&k);
    c->exit = k.failure ? k.failure : k.unfitting ? error_kind_info(ERR_UNFIT)->exit : 0;
    return NULL;
}
