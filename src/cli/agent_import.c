/* agent_import.c: baton agent import: the agents of a project's files, registered with the server.
 *
 * It may be called again and again: what has not changed is left alone. */
#include "cli/agent_import.h"

#include "client/agent_file.h"
#include "client/caller.h"

/* ---- one agent ---- */

enum agent_imported { AGENT_REGISTERED, AGENT_CHANGED, AGENT_UNCHANGED };

/* The file stands before it, so that the reason is enough. */
static err refusal(struct arena *a, const struct response *r)
{
    str detail = response_detail(a, r);

    return err_new(a, response_kind(r->status), STR_FMT,
                   STR_ARG(detail.len ? detail : STR("the server gave no reason")));
}

/* What the server adds to an agent, and what the operator alone says of it: a project's files may be
 * written by agents. */
static bool is_added(str member)
{
    return str_eq(member, STR("started_by")) || str_eq(member, STR("source")) ||
           str_eq(member, STR("created_at")) || str_eq(member, STR("updated_at"));
}

/* The merge patch that makes one agent of another; empty when they are the same. */
static struct json difference(struct arena *a, const struct json *from, const struct json *to)
{
    struct json out = json_object();

    for (uint32_t i = 0; i < to->len; i++) {
        const struct json *old = json_find(from, json_name(&to->members[i]));
        if (!old || !json_equal(old, &to->members[i].value))
            json_put(a, &out, json_name(&to->members[i]), to->members[i].value);
    }
    for (uint32_t i = 0; i < from->len; i++) {
        str name = json_name(&from->members[i]);
        if (!json_find(to, name) && !is_added(name))
            json_put(a, &out, name, json_null());
    }
    return out;
}

/* Makes the server's agent of that name this one. */
static err agent_import(struct arena *a, struct caller *k, const struct json *agent,
                        enum agent_imported *out)
{
    struct url_param name = { "name", json_str(agent, "name") };
    struct call create = { .method = "POST",
                           .pattern = "/agents",
                           .body = json_printed(a, agent),
                           .key = idempotency_key(a) };
    struct call read = {
        .method = "GET", .pattern = "/agents/{name}", .params = &name, .param_count = 1
    };
    const struct json *answer;

    *out = AGENT_REGISTERED;
    err e = caller_call(k, a, &create, &answer);
    if (!e || e->kind != ERR_CONFLICT)
        return e;
    TRY(caller_call(k, a, &read, &answer));
    struct json merge = difference(a, answer, agent), body = json_object();
    *out = merge.len ? AGENT_CHANGED : AGENT_UNCHANGED;
    if (!merge.len)
        return NULL;
    json_put(a, &body, STR("merge"), merge);
    struct call patch = { .method = "PATCH",
                          .pattern = "/agents/{name}",
                          .params = &name,
                          .param_count = 1,
                          .body = json_printed(a, &body),
                          .key = idempotency_key(a) };
    return caller_call(k, a, &patch, &answer);
}

/* ---- the command ---- */

static const char *const words[] = {
    [AGENT_REGISTERED] = "registered", [AGENT_CHANGED] = "changed", [AGENT_UNCHANGED] = "unchanged"
};

/* One line for each file. */
static void show(struct cli *c, const struct agent_file *f, const char *word, err e)
{
    str name = e ? STR("") : json_str(&f->agent, "name");
    struct buf out = buf_in(c->arena);
    struct json_writer w = json_writer_to(&out);

    if (!c->json && e) {
        cli_warn(c, e);
        return;
    }
    if (!c->json) {
        buf_printf(&out, "%-10s  ", word);
        term_put(&out, c->coloured ? PAINT_KEY : PAINT_PLAIN, name);
        buf_printf(&out, "  (");
        term_put(&out, PAINT_PLAIN, str_from(f->path));
        buf_byte(&out, ')');
    } else {
        json_write_begin(&w, '{');
        json_write_name(&w, STR("file"));
        json_write_str(&w, term_utf8(c->arena, str_from(f->path)));
        json_write_name(&w, e ? STR("error") : STR("name"));
        json_write_str(&w, e ? term_utf8(c->arena, e->message) : name);
        json_write_name(&w, STR("result"));
        json_write_str(&w, str_from(word));
        json_write_end(&w, '}');
    }
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
}

static err import_all(struct cli *c, struct caller *k, const struct agent_file *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum agent_imported what = AGENT_UNCHANGED;
        err e = all[i].error;
        if (!e && (e = agent_import(c->arena, k, &all[i].agent, &what)))
            e = err_within(c->arena, e, "%s", all[i].path);
        if (e && (e->kind == ERR_UNAVAILABLE || e->kind == ERR_UNAUTHENTICATED ||
                  e->kind == ERR_FORBIDDEN))
            return e; /* and so would all the others be */
        show(c, &all[i], e ? "refused" : words[what], e);
        if (e && !c->exit)
            c->exit = error_kind_info(e->kind)->exit;
    }
    return NULL;
}

static err import_run(struct cli *c)
{
    const char *project = c->arg_count ? c->args[0] : ".";
    const char *folder = arena_printf(c->arena, "%s/.claude/agents", project).at;
    const struct agent_file *all;
    struct caller caller;
    size_t count;

    TRY(agent_folder_read(c->arena, folder, &all, &count));
    if (!count)
        return err_new(c->arena, ERR_NOT_FOUND,
                       "there are no agents in %s: expected files like reviewer.md there. Give the "
                       "project's folder, or register one with `baton agent create`",
                       folder);
    caller_init(&caller, cli_value(c, "--data"));
    caller.refusal = refusal;
    err e = caller_find(&caller, c->arena);
    if (!e)
        e = import_all(c, &caller, all, count);
    caller_release(&caller);
    return e;
}

// clang-format off
static const struct option import_options[] = {
    { "--json", 0, NULL,  "one line of JSON for each file" },
    { "--data", 0, "DIR", "ask the server of this data directory" },
    { 0 },
};
// clang-format on

const struct verb agent_verbs[] = {
    {
        .name = "import",
        .args = "[DIR]",
        .args_max = 1,
        .summary = "Register the agents of a project's .claude/agents",
        .example = "~/src/shop",
        .details =
            "DIR is the project's folder, the one that .claude is in; here without it. A file\n"
            "is a role: name, description, tools and model stand between two lines of ---,\n"
            "and what follows is its system prompt. Its profile is claude unless it names\n"
            "another one (profile: codex). An agent that is registered already becomes\n"
            "what its file says; one that is as its file says is left alone.\n"
            "\n"
            "Exit codes: 0 all of them are registered; 5 there are none; that of the first\n"
            "file which was refused, after all others were done.",
        .options = import_options,
        .run = import_run,
    },
    { 0 },
};
