/* overview.c: what someone sees who has never seen baton: the overview, help, the version. */
#include "cli/cli.h"

/* What people look for together. A command that is in no group is one of work. */
static const struct group {
    const char *title, *verbs[9];
} groups[] = {
    { "Start here", { "serve", "init", "status", "doctor", "demo" } },
    { "Watch", { "top", "watch", "logs", "event", "open" } },
    { "State", { "state", "schema", "json" } },
    { "Agents", { "project", "session", "message", "file", "agent", "profile" } },
    { "Workflows", { "workflow", "execution", "step", "phase", "job" } },
    { "Waits for you",
      { "inbox", "approvals", "approve", "reject", "answer", "approval", "incident",
        "permission" } },
    { "Work", { "run", "prompt", "mcp", "hook" } },
    { "Operate", { "stop", "runner", "node", "token", "store", "completions", "version", "help" } },
};

enum { GROUPS = sizeof groups / sizeof *groups, WORK = 6, NAME_COLUMN = 15 };

static bool is_in(const struct group *g, const char *name)
{
    for (const char *const *verb = g->verbs; *verb; verb++)
        if (strcmp(*verb, name) == 0)
            return true;
    return false;
}

static const struct group *group_of(const char *name)
{
    for (size_t i = 0; i < GROUPS; i++)
        if (is_in(&groups[i], name))
            return &groups[i];
    return &groups[WORK];
}

/* What it is, and what can be done with it. */
static void put_verb(struct buf *out, const struct verb *v)
{
    struct buf text = buf_in(out->arena);

    buf_add(&text, str_from(v->summary));
    for (const struct verb *below = v->verbs; below && below->name; below++)
        buf_printf(&text, "%s%s", below == v->verbs ? ": " : ", ", below->name);
    buf_printf(out, "  %-*s ", NAME_COLUMN - 3, v->name);
    help_put(out, NAME_COLUMN, buf_str(&text));
    buf_byte(out, '\n');
}

static void put_group(struct buf *out, const struct group *g, const struct verb *verbs)
{
    buf_printf(out, "\n%s\n", g->title);
    for (const char *const *name = g->verbs; *name; name++) {
        const struct verb *v = verb_find(verbs, str_from(*name));
        if (v)
            put_verb(out, v);
    }
    for (const struct verb *v = verbs; v->name; v++)
        if (group_of(v->name) == g && !is_in(g, v->name))
            put_verb(out, v);
}

err overview_run(struct cli *c)
{
    struct buf out = buf_in(c->arena);

    buf_add(&out,
            STR("baton is the shared memory and the control plane of a team of coding agents.\n"
                "It keeps their state as JSON documents that must fit a schema, and says no,\n"
                "with what to repair, to a change that does not.\n"));
    verb_all(c);
    for (size_t i = 0; i < GROUPS; i++)
        put_group(&out, &groups[i], c->root->verbs);
    buf_add(&out,
            STR("\n"
                "`baton help COMMAND` explains one, with its options and examples. A file named -\n"
                "is standard input. Lists are tables, documents are JSON, --json is always JSON;\n"
                "problems go to standard error, and exit codes tell them apart.\n"));
    cli_write(c, buf_str(&out));
    return NULL;
}

err help_run(struct cli *c)
{
    verb_all(c);
    const struct verb *v = c->root;
    str called = str_from(v->name);
    for (int i = 0; i < c->arg_count; i++) {
        const struct verb *below = v->verbs ? verb_find(v->verbs, str_from(c->args[i])) : NULL;
        if (!below)
            return verb_unknown(c, v, called, c->args[i]);
        v = below;
        called = arena_printf(c->arena, STR_FMT " %s", STR_ARG(called), v->name);
    }
    struct buf out = buf_in(c->arena);
    verb_help(&out, v, called);
    cli_write(c, buf_str(&out));
    return NULL;
}

err version_run(struct cli *c)
{
    str commit = str_from(cli_commit), text;

    if (c->json)
        text = commit.len ? arena_printf(c->arena,
                                         "{\"name\":\"baton\",\"version\":\"" BATON_VERSION
                                         "\",\"commit\":\"%s\"}\n",
                                         cli_commit)
                          : STR("{\"name\":\"baton\",\"version\":\"" BATON_VERSION
                                "\",\"commit\":null}\n");
    else
        text = commit.len ? arena_printf(c->arena, "baton " BATON_VERSION " (%s)\n", cli_commit)
                          : STR("baton " BATON_VERSION "\n");
    cli_write(c, text);
    return NULL;
}
