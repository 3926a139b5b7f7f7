/* ao.c: the names of the program that scripts for an "agent orchestrator" know it by.
 *
 *   ao-start NAME -p PROMPT    ao-resume NAME -p PROMPT    both wait, and print the result
 *   ao-status NAME             running, finished or not_existent
 *   ao-get-result NAME         ao-list-sessions
 *
 * They are `baton session …` in other words. */
#include "cli/op_verbs.h"
#include "cli/session_verbs.h"

static err ao_start_run(struct cli *c)
{
    return session_begin(c, false, true, true);
}

static err ao_resume_run(struct cli *c)
{
    return session_begin(c, true, true, true);
}

static err ao_result_run(struct cli *c)
{
    return session_result(c, cli_flag(c, "--wait"));
}

/* Three words are all that scripts ask for; `baton session status` knows more. */
static err ao_status_run(struct cli *c)
{
    const struct json *status = NULL;
    struct caller k;

    caller_init(&k, cli_value(c, "--data"));
    err e = caller_call(&k, c->arena,
                        &(struct call){ .method = "GET",
                                        .pattern = "/sessions/{id}/status",
                                        PARAMS({ "id", str_from(c->args[0]) }) },
                        &status);
    caller_release(&k);
    if (e && e->kind != ERR_NOT_FOUND)
        return e;
    if (c->json && status)
        cli_write(c, arena_printf(c->arena, STR_FMT "\n", STR_ARG(json_printed(c->arena, status))));
    else if (c->json)
        cli_write(c, STR("{\"status\":\"not_existent\"}\n"));
    else
        cli_write(c, e                                        ? STR("not_existent\n")
                     : json_bool_or(status, "settled", false) ? STR("finished\n")
                                                              : STR("running\n"));
    return NULL;
}

static err ao_list_run(struct cli *c)
{
    const struct verb *session = verb_find(op_verbs(c->arena), STR("session"));

    c->verb = verb_find(session->verbs, STR("list"));
    return op_call_run(c);
}

static const struct verb ao_verbs[] = {
    {
        .name = "ao-start",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Start a session, wait until it has settled, and print its result",
        .example = "reviewer -p 'Review the last commit'",
        .details = "Without -p the prompt is standard input. The same as\n"
                   "  baton session start NAME --wait",
        .options = session_start_options,
        .run = ao_start_run,
    },
    {
        .name = "ao-resume",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Ask a session for more, wait until it has settled, and print its result",
        .example = "reviewer -p 'And the tests?'",
        .details = "Without -p the prompt is standard input. The same as\n"
                   "  baton session resume NAME --wait",
        .options = session_resume_options,
        .run = ao_resume_run,
    },
    {
        .name = "ao-status",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Print running, finished or not_existent",
        .example = "reviewer",
        .details = "`baton session status NAME` tells more.",
        .options = session_plain_options,
        .run = ao_status_run,
    },
    {
        .name = "ao-get-result",
        .args = "NAME",
        .args_min = 1,
        .args_max = 1,
        .summary = "Print what the agent of a session said last",
        .example = "reviewer",
        .details = "The same as\n"
                   "  baton session result NAME",
        .options = session_result_options,
        .run = ao_result_run,
    },
    {
        .name = "ao-list-sessions",
        .summary = "List sessions",
        .example = "",
        .details = "The same as\n"
                   "  baton session list",
        .options = session_plain_options,
        .run = ao_list_run,
    },
    { 0 },
};

const struct verb *ao_verb(const char *path)
{
    const char *slash = strrchr(path, '/');

    return verb_find(ao_verbs, str_from(slash ? slash + 1 : path));
}
