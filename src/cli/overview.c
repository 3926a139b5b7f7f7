/* overview.c: what someone sees who has never seen baton: the overview, help, the version. */
#include "cli/cli.h"

/* What needs a server: each noun with what can be done with it. */
static void put_nouns(struct buf *out, const struct verb *verbs)
{
    for (const struct verb *v = verbs; v->name; v++) {
        if (!v->verbs || !v->verbs->op)
            continue;
        buf_printf(out, "  baton %-12s ", v->name);
        struct buf names = buf_in(out->arena);
        for (const struct verb *below = v->verbs; below->name; below++)
            buf_printf(&names, "%s%s", below == v->verbs ? "" : ", ", below->name);
        help_put(out, 21, buf_str(&names));
        buf_byte(out, '\n');
    }
}

static void put_examples(struct buf *out, const struct verb *v)
{
    for (const struct verb *below = v->verbs; below->name; below++) {
        str call = arena_printf(out->arena, "baton %s %s %s", v->name, below->name, below->example);
        buf_printf(out, "  %-40s  %s\n", call.at, below->summary);
    }
}

err overview_run(struct cli *c)
{
    struct buf out = buf_in(c->arena);
    buf_add(&out,
            STR("baton is the shared memory and the control plane of a team of coding agents.\n"
                "It keeps their state as JSON documents that must fit a schema, and says no,\n"
                "with what to repair, to a change that does not.\n"
                "\n"
                "With a server:\n"
                "\n"));
    verb_all(c);
    put_nouns(&out, c->root->verbs);
    buf_add(&out, STR("  baton watch STATE_ID\n"
                      "  baton logs SESSION -f\n"
                      "  baton top          who is at work, and who needs you\n"
                      "  baton serve        starts it, as make run does\n"
                      "\n"
                      "Without one, for you, your scripts and your agents:\n"
                      "\n"));
    put_examples(&out, verb_find(c->root->verbs, STR("json")));
    buf_add(&out,
            STR("\n"
                "A file named - is standard input. Results go to standard output, problems to\n"
                "standard error, and exit codes tell them apart.\n"
                "\n"
                "  baton help               all commands\n"
                "  baton json --help        the JSON commands and their exit codes\n"
                "  baton help json check    one command, its options and examples\n"));
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
    cli_write(c, c->json ? STR("{\"name\":\"baton\",\"version\":\"" BATON_VERSION "\"}\n")
                         : STR("baton " BATON_VERSION "\n"));
    return NULL;
}
