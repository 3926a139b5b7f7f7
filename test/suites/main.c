/* main.c: baton-suites: baton with what suites and tests ask of it beside its own commands. */
#include <assert.h>

#include "app/program.h"
#include "app/serve.h"
#include "suites/suites.h"

enum { ROWS_MAX = 32 };

static struct verb verbs[ROWS_MAX], json_verbs_and_batch[ROWS_MAX];
static struct option serve_options_and_fixtures[ROWS_MAX];

static err serve_suites_run(struct cli *c)
{
    return serve_run_with(c, cli_flag(c, "--mcp-fixtures") ? &mcp_fixtures : NULL);
}

/* A table with one more row, and the empty one at its end. */
static void verbs_extend(struct verb *to, const struct verb *from, struct verb more)
{
    size_t n = 0;

    for (; from[n].name; n++)
        to[n] = from[n];
    assert(n + 1 < ROWS_MAX);
    to[n] = more;
}

static void options_extend(struct option *to, const struct option *from, struct option more)
{
    size_t n = 0;

    for (; from[n].name; n++)
        to[n] = from[n];
    assert(n + 1 < ROWS_MAX);
    to[n] = more;
}

int main(int argc, char **argv)
{
    verbs_extend(json_verbs_and_batch, json_verbs,
                 (struct verb){ .name = "batch",
                                .summary = "Answer requests, one on each line",
                                .example = "< requests.jsonl",
                                .details = json_batch_details,
                                .run = json_batch_run });
    options_extend(serve_options_and_fixtures, serve_options,
                   (struct option){ "--mcp-fixtures", 0, NULL,
                                    "let /mcp serve the conformance suite, without a token" });
    verbs_extend(verbs, program_verbs, (struct verb){ 0 });
    for (struct verb *v = verbs; v->name; v++)
        if (v->run == serve_run) {
            v->options = serve_options_and_fixtures;
            v->run = serve_suites_run;
        } else if (v->verbs == json_verbs) {
            v->verbs = json_verbs_and_batch;
        }
    return program_main(verbs, argc, argv);
}
