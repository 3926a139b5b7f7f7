/* inbox_verbs.c: baton inbox and its short forms: what waits for a person, and deciding it.
 *
 * An id may be the beginning of one, and may be left out where one thing alone waits that can be decided
 * so. What is decided is what was seen: its digest goes with the decision. */
#include "cli/inbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/execution_verbs.h"
#include "cli/names.h"

enum {
    ENTRIES_MAX = 5000,
    LINES_SHOWN = 40, /* of what there is to judge, on a terminal */
    NAMED_MAX = 5,    /* that an error names */
};

static err inbox_load(struct cli *c, struct caller *k, const char *kind, struct json *out)
{
    struct url_param filter = { "kind", str_from(kind) };
    struct json all;
    bool cut;

    TRY(call_pages(k, c->arena, "/inbox", kind ? &filter : NULL, "entries", ENTRIES_MAX, &all,
                   &cut));
    *out = inbox_sorted(c->arena, &all);
    return NULL;
}

static void print_json(struct cli *c, const struct json *value)
{
    struct buf out = buf_in(c->arena);

    render_json(c, &out, value, c->terminal && !c->json);
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

/* ---- which one is meant ---- */

/* The beginning of an id, with or without what tells its kind. */
static bool begins(str id, str word)
{
    str kind, rest;

    return str_starts(id, word) || (str_cut(id, '_', &kind, &rest) && str_starts(rest, word));
}

static str named(struct cli *c, const struct json *entries)
{
    struct buf out = buf_in(c->arena);

    for (uint32_t i = 0; i < entries->len && i < NAMED_MAX; i++)
        buf_printf(&out, "%s" STR_FMT " (" STR_FMT ")", i ? ", " : "",
                   STR_ARG(json_str(&entries->items[i], "id")),
                   STR_ARG(json_str(&entries->items[i], "title")));
    if (entries->len > NAMED_MAX)
        buf_printf(&out, " and %u more", entries->len - NAMED_MAX);
    return buf_str(&out);
}

/* The only one that waits. */
static err only_one(struct cli *c, const struct json *all, const char *decision,
                    const struct json **out)
{
    struct json fit = json_array();

    for (uint32_t i = 0; i < all->len; i++)
        if (inbox_takes(&all->items[i], decision))
            json_push(c->arena, &fit, all->items[i]);
    if (!all->len)
        return err_new(c->arena, ERR_CONFLICT, "nothing waits for you");
    if (!fit.len)
        return err_new(c->arena, ERR_CONFLICT,
                       "nothing waits that can be decided by '%s': there is " STR_FMT, decision,
                       STR_ARG(named(c, all)));
    if (fit.len > 1)
        return usage_error(c, arena_printf(c->arena, "%u wait for you, so say which: " STR_FMT ".",
                                           fit.len, STR_ARG(named(c, &fit))));
    *out = &fit.items[0];
    cli_note(c, STR_FMT ": " STR_FMT, STR_ARG(json_str(*out, "id")),
             STR_ARG(json_str(*out, "title")));
    return NULL;
}

static err ask(struct cli *c, struct caller *k, str id, const struct json **out)
{
    return caller_call(
        k, c->arena,
        &(struct call){ .method = "GET", .pattern = "/inbox/{id}", PARAMS({ "id", id }) }, out);
}

/* What a word names; NULL or empty: the only one that can be decided so. Among what waits, or, by its
 * whole id, what has waited. */
static err meant(struct cli *c, struct caller *k, const char *word, const char *decision,
                 const struct json **out)
{
    struct json all, fit = json_array();

    TRY(inbox_load(c, k, NULL, &all));
    if (!word || !*word)
        return only_one(c, &all, decision, out);
    for (uint32_t i = 0; i < all.len; i++) {
        str id = json_str(&all.items[i], "id");
        if (begins(id, str_from(word)))
            json_push(c->arena, &fit, all.items[i]);
        if (str_eq(id, str_from(word))) {
            *out = &all.items[i];
            return NULL;
        }
    }
    if (fit.len > 1)
        return usage_error(c,
                           arena_printf(c->arena, "'%s' is the beginning of %u ids: " STR_FMT ".",
                                        word, fit.len, STR_ARG(named(c, &fit))));
    if (!fit.len)
        return names_meant(c, k, ask(c, k, str_from(word), out), "inbox", str_from(word));
    *out = &fit.items[0];
    return NULL;
}

static err with_caller(struct cli *c, err (*run)(struct cli *c, struct caller *k))
{
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = run(c, &k);
    caller_release(&k);
    return e;
}

static const char *first_arg(const struct cli *c)
{
    return c->arg_count ? c->args[0] : NULL;
}

/* ---- list ---- */

static err list_print(struct cli *c, struct caller *k, const char *kind)
{
    struct buf out = buf_in(c->arena);
    struct json entries, answer = json_object();

    TRY(inbox_load(c, k, kind, &entries));
    if (c->json) {
        json_put(c->arena, &answer, STR("entries"), entries);
        print_json(c, &answer);
        return NULL;
    }
    struct json rows = inbox_rows(c->arena, &entries, cli_now_ms());
    if (rows.len)
        render_rows(c, &out, "inbox", &rows);
    else
        buf_add(&out, STR("nothing waits for you\n"));
    cli_write(c, buf_str(&out));
    if (rows.len && c->terminal)
        cli_note(c, "`baton inbox show ID` shows what there is to judge, and how to decide");
    return NULL;
}

static err list(struct cli *c, struct caller *k)
{
    static const char *const kinds[] = { "approval", "incident", "permission" };
    const char *kind = cli_value(c, "--kind");
    struct guess g = { .wanted = str_from(kind) };

    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        guess_try(&g, kinds[i]);
    if (kind && (!g.name || g.distance))
        return usage_error(c, arena_printf(c->arena,
                                           "--kind expects approval, incident or permission, but "
                                           "found '%s'" STR_FMT,
                                           kind, STR_ARG(guess_hint(c->arena, &g))));
    return list_print(c, k, kind);
}

static err approvals(struct cli *c, struct caller *k)
{
    return list_print(c, k, "approval");
}

err inbox_list_run(struct cli *c)
{
    return with_caller(c, list);
}

err inbox_approvals_run(struct cli *c)
{
    return with_caller(c, approvals);
}

/* ---- show ---- */

static err show(struct cli *c, struct caller *k)
{
    struct execution_text look = execution_text_here(c);
    struct buf out = buf_in(c->arena);
    const struct json *entry;
    bool all = cli_flag(c, "--all") || !c->terminal;

    TRY(meant(c, k, first_arg(c), NULL, &entry));
    if (c->json) {
        print_json(c, entry);
        return NULL;
    }
    inbox_entry_put(&out, &look, entry, all ? 0 : LINES_SHOWN);
    cli_write(c, buf_str(&out));
    return NULL;
}

static err show_run(struct cli *c)
{
    return with_caller(c, show);
}

/* ---- modifications ---- */

static err object_of(struct cli *c, const char *what, str text, const struct json **out)
{
    err e = json_parse(c->arena, text, NULL, out);

    if (e)
        return err_within(c->arena, e, "%s", what);
    if (!json_is(*out, JSON_OBJECT))
        return err_new(c->arena, ERR_INVALID,
                       "%s: expected a JSON object like {\"tone\":\"calm\"}, found %s", what,
                       json_kind_name((*out)->kind));
    return NULL;
}

static err modifications_given(struct cli *c, const struct json **out)
{
    const char *given = cli_value(c, "--modifications");
    str text;

    *out = NULL;
    if (!given)
        return NULL;
    if (given[0] == '{')
        return object_of(c, "--modifications", str_from(given), out);
    err e = cli_read(c, c->arena, given + (given[0] == '@'), &text);
    if (e && e->kind == ERR_NOT_FOUND && given[0] != '@')
        return usage_error(c, arena_printf(c->arena,
                                           "--modifications expects a JSON object like "
                                           "'{\"tone\":\"calm\"}', the name of a file with one, or "
                                           "-, but found '%s'.",
                                           given));
    return e ? err_within(c->arena, e, "--modifications")
             : object_of(c, "--modifications", text, out);
}

static const char *editor(void)
{
    const char *visual = getenv("VISUAL"), *plain = getenv("EDITOR");

    return visual && *visual ? visual : plain && *plain ? plain : "vi";
}

/* Whatever the editor is, with its arguments, as git and others call it. */
static err edit_file(struct cli *c, const char *path)
{
    const char *script =
        arena_printf(c->arena, "%s \"$1\"", editor()).at; /* its words are the person's own */
    int status = -1;
    pid_t child;

    cli_flush(c);
    child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", script, "sh", path, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    return err_new(c->arena, ERR_INVALID,
                   "nothing is decided: the editor '%s' did not end well (set $EDITOR to another)",
                   editor());
}

/* What differs from what was shown. */
static struct json changed(struct cli *c, const struct json *before, const struct json *after)
{
    struct json out = json_object();

    for (uint32_t i = 0; i < after->len; i++) {
        const struct json *was = json_find(before, json_name(&after->members[i]));
        if (!was || !json_equal(was, &after->members[i].value))
            json_put(c->arena, &out, json_name(&after->members[i]), after->members[i].value);
    }
    return out;
}

/* Begins with what there is to judge, or with what was given; what the person changes is sent. */
static err modifications_edit(struct cli *c, const struct json *entry, const struct json **out)
{
    const struct json *given = *out, *after,
                      *shown = json_get(json_get(json_get(entry, "content"), "content"), "outputs");
    const char *tmp = getenv("TMPDIR");
    struct buf text = buf_in(c->arena);
    const struct json none = json_object();
    const struct json *before = given ? given : json_is(shown, JSON_OBJECT) ? shown : &none;
    str path = arena_printf(c->arena, "%s/baton-modifications-XXXXXX.json",
                            tmp && *tmp ? tmp : "/tmp"),
        now;

    json_print_pretty(&text, before);
    buf_byte(&text, '\n');
    int fd = mkstemps((char *)path.at, (int)strlen(".json"));
    if (fd < 0 || write(fd, text.at, text.len) != (ssize_t)text.len || close(fd) < 0)
        return err_new(c->arena, ERR_FORBIDDEN, "cannot write a file like %s: %s", path.at,
                       strerror(errno));
    err failed = edit_file(c, path.at);
    if (failed) {
        unlink(path.at);
        return failed;
    }
    TRY(cli_read(c, c->arena, path.at, &now));
    failed = object_of(c, path.at, now, &after);
    if (failed)
        return err_within(c->arena, failed, "nothing is decided, and the file is still there");
    unlink(path.at);
    struct json *sent = ARENA_NEW(c->arena, struct json);
    *sent = given ? json_copy(c->arena, after) : changed(c, before, after);
    *out = sent;
    return NULL;
}

/* ---- deciding ---- */

static void put_text(struct cli *c, struct json *body, const char *field, const char *value)
{
    if (value && *value)
        json_put(c->arena, body, str_from(field), json_string(str_from(value)));
}

/* The value of an option that the verb may not have. */
static const char *given(struct cli *c, const char *name)
{
    for (const struct option *o = c->verb->options; o && o->name; o++)
        if (strcmp(o->name, name) == 0)
            return o->value ? cli_value(c, name) : cli_flag(c, name) ? "" : NULL;
    return NULL;
}

static void decided_print(struct cli *c, const struct json *entry, const struct json *answer)
{
    struct buf out = buf_in(c->arena);
    const struct json *who = json_get(entry, "who");

    if (c->json || !c->terminal) {
        print_json(c, answer);
        return;
    }
    term_put(&out, c->coloured ? PAINT_GOOD : PAINT_PLAIN, json_str(answer, "status"));
    buf_add(&out, STR(": "));
    term_put(&out, PAINT_PLAIN, json_str(entry, "title"));
    buf_byte(&out, '\n');
    if (json_str(who, "execution_id").len)
        buf_printf(&out, "  baton execution show " STR_FMT "\n",
                   STR_ARG(json_str(who, "execution_id")));
    cli_write(c, buf_str(&out));
}

static err decide(struct cli *c, struct caller *k, const struct json *entry, const char *decision,
                  const char *variant)
{
    bool approval = str_eq(json_str(entry, "kind"), STR("approval"));
    const struct json *content = json_get(entry, "content"), *modifications = NULL, *answer,
                      *options = json_get(content, "options");
    struct json body = json_object(), variables = json_object();

    bool edits = given(c, "--edit") != NULL;
    if (given(c, "--modifications") || edits)
        TRY(modifications_given(c, &modifications));
    if (approval && strcmp(decision, "approve") == 0 && options && options->len && !variant)
        return usage_error(c, arena_printf(c->arena, "choose one with --variant: " STR_FMT ".",
                                           STR_ARG(inbox_variants(c->arena, entry))));
    if (edits)
        TRY(modifications_edit(c, entry, &modifications));
    if (given(c, "--set"))
        TRY(execution_variables_read(c, &variables));
    put_text(c, &body, "decision", decision);
    put_text(c, &body, "reason", given(c, "--reason"));
    put_text(c, &body, "step", given(c, "--step"));
    put_text(c, &body, "selected_variant", variant);
    if (modifications && modifications->len)
        json_put(c->arena, &body, STR("modifications"), *modifications);
    if (variables.len)
        json_put(c->arena, &body, STR("variables"), variables);
    if (approval && json_bool_or(entry, "waits", false))
        json_put(c->arena, &body, STR("digest"), json_string(json_str(content, "digest")));
    put_text(c, &body, "channel", "cli");
    TRY(caller_call(k, c->arena,
                    &(struct call){ .method = "POST",
                                    .pattern = "/inbox/{id}",
                                    .body = json_printed(c->arena, &body),
                                    .key = idempotency_key(c->arena),
                                    PARAMS({ "id", json_str(entry, "id") }) },
                    &answer));
    decided_print(c, entry, answer);
    return NULL;
}

static err decide_first(struct cli *c, struct caller *k, const char *decision)
{
    const struct json *entry;

    TRY(meant(c, k, first_arg(c), decision, &entry));
    return decide(c, k, entry, decision, given(c, "--variant"));
}

static err approve(struct cli *c, struct caller *k)
{
    return decide_first(c, k, "approve");
}

static err reject(struct cli *c, struct caller *k)
{
    return decide_first(c, k, "reject");
}

static err rework(struct cli *c, struct caller *k)
{
    return decide_first(c, k, "rework");
}

static err retry(struct cli *c, struct caller *k)
{
    return decide_first(c, k, "retry");
}

/* A word that is no decision is a variant, where there are variants to choose from. */
static err answer(struct cli *c, struct caller *k)
{
    static const char *const decisions[] = { "approve", "reject", "rework", "retry",
                                             "allow",   "deny",   "resolve" };
    const char *word = c->args[c->arg_count - 1];
    const struct json *entry, *options;
    bool known = false;

    TRY(meant(c, k, c->arg_count > 1 ? c->args[0] : NULL, NULL, &entry));
    options = json_get(json_get(entry, "content"), "options");
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++)
        known = known || strcmp(word, decisions[i]) == 0;
    if (known)
        return decide(c, k, entry, word, NULL);
    if (options && options->len)
        return decide(c, k, entry, "approve", word);
    const struct json *can = json_get(entry, "decisions");
    struct buf names = buf_in(c->arena);
    for (uint32_t i = 0; json_is(can, JSON_ARRAY) && i < can->len; i++)
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "",
                   STR_ARG(json_str(&can->items[i], "decision")));
    return usage_error(c, arena_printf(c->arena, "expected one of " STR_FMT ", but found '%s'.",
                                       STR_ARG(buf_str(&names)), word));
}

err inbox_approve_run(struct cli *c)
{
    return with_caller(c, approve);
}

err inbox_reject_run(struct cli *c)
{
    return with_caller(c, reject);
}

err inbox_answer_run(struct cli *c)
{
    return with_caller(c, answer);
}

static err rework_run(struct cli *c)
{
    return with_caller(c, rework);
}

static err retry_run(struct cli *c)
{
    return with_caller(c, retry);
}

/* ---- the tables ---- */

// clang-format off
#define PLAIN_OPTIONS                                                                              \
    { "--json", 0, NULL,  "one line of JSON, and errors as JSON too" },                            \
    { "--data", 0, "DIR", "ask the server of this data directory" },                               \
    { 0 }

#define REASON_OPTION { "--reason", 0, "TEXT", "why; whoever does it anew reads it" }

const struct option inbox_plain_options[] = { PLAIN_OPTIONS };

const struct option inbox_list_options[] = {
    { "--kind", 0, "WORD", "only those of one kind: approval, incident or permission" },
    PLAIN_OPTIONS,
};

static const struct option show_options[] = {
    { "--all", 0, NULL, "all lines of it; on a terminal the first 40 are shown" },
    PLAIN_OPTIONS,
};

const struct option inbox_approve_options[] = {
    { "--variant",       0, "TEXT", "the one that you choose, where there are variants" },
    { "--modifications", 0, "JSON", "what is to be different: an object, a file with one, or -" },
    { "--edit",          0, NULL,   "write that in $EDITOR, which begins with what there is" },
    REASON_OPTION,
    PLAIN_OPTIONS,
};

const struct option inbox_reject_options[] = { REASON_OPTION, PLAIN_OPTIONS };

static const struct option rework_options[] = {
    { "--step", 0, "STEP", "an earlier step that is done anew, with all after it; else this one" },
    REASON_OPTION,
    PLAIN_OPTIONS,
};

static const struct option retry_options[] = {
    { "--set", 0, "NAME=VALUE", "set a variable first: JSON, or a text; may be repeated" },
    PLAIN_OPTIONS,
};

const struct option inbox_answer_options[] = { REASON_OPTION, PLAIN_OPTIONS };
// clang-format on

#define ID_DETAILS                                                                  \
    "INBOX_ID may be the beginning of one. Without it the only one is meant that\n" \
    "waits and can be decided so; which that is, is said."

const char inbox_details[] =
    "Approvals: a step was done, and you judge it. Incidents: an execution stands\n"
    "still until you have helped. Permissions: an agent wants to use a tool. What is\n"
    "decided without you the soonest comes first, with what is decided then.\n"
    "\n"
    "`baton approvals`, `baton approve`, `baton reject` and `baton answer` are short\n"
    "forms. What agents have written is in `baton message list`.";

const char inbox_approve_details[] = ID_DETAILS
    "\n"
    "\n"
    "Modifications are the variable `modifications` of the steps that come after.";

const char inbox_reject_details[] = ID_DETAILS;

const char inbox_answer_details[] =
    "WORD is one of its decisions: approve, reject, rework, retry; or, where variants\n"
    "are to be chosen from, one of them.\n"
    "\n" ID_DETAILS;

const struct verb inbox_verbs[] = {
    {
        .name = "list",
        .summary = "Show what waits for you, the most urgent first",
        .example = "--kind approval",
        .details = inbox_details,
        .options = inbox_list_options,
        .run = inbox_list_run,
    },
    {
        .name = "show",
        .args = "[INBOX_ID]",
        .args_max = 1,
        .summary = "Show what there is to judge, and how it is decided",
        .example = "apr_4hq2m7k1x9ab",
        .details = ID_DETAILS,
        .options = show_options,
        .run = show_run,
    },
    {
        .name = "approve",
        .args = "[INBOX_ID]",
        .args_max = 1,
        .summary = "Say yes: what comes after it begins, or the tool is used",
        .example = "apr_4hq2m7k1x9ab --variant A",
        .details = inbox_approve_details,
        .options = inbox_approve_options,
        .run = inbox_approve_run,
    },
    {
        .name = "reject",
        .args = "[INBOX_ID]",
        .args_max = 1,
        .summary = "Say no: a step fails or is done anew, a tool is not used",
        .example = "apr_4hq2m7k1x9ab --reason 'the tests come first'",
        .details = ID_DETAILS,
        .options = inbox_reject_options,
        .run = inbox_reject_run,
    },
    {
        .name = "rework",
        .args = "[INBOX_ID]",
        .args_max = 1,
        .summary = "Have a step done anew, which is told your reason",
        .example = "apr_4hq2m7k1x9ab --reason 'name the files' --step plan",
        .details = ID_DETAILS,
        .options = rework_options,
        .run = rework_run,
    },
    {
        .name = "retry",
        .args = "[INBOX_ID]",
        .args_max = 1,
        .summary = "Let an execution try again what stood still",
        .example = "inc_4hq2m7k1x9ab --set branch=main",
        .details = ID_DETAILS,
        .options = retry_options,
        .run = retry_run,
    },
    {
        .name = "answer",
        .args = "[INBOX_ID] WORD",
        .args_min = 1,
        .args_max = 2,
        .summary = "Decide by a word: one of its decisions, or a variant",
        .example = "apr_4hq2m7k1x9ab approve",
        .details = inbox_answer_details,
        .options = inbox_answer_options,
        .run = inbox_answer_run,
    },
    { 0 },
};
