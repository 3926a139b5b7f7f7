/* doctor.c: baton doctor: the order of the checks, and how many of them went how. */
#include "cli/doctor/doctor.h"

#include <signal.h>
#include <stdlib.h>

#include "cli/init/init.h"

enum { UP_MS = 2000, CALL_MS = 5000 };

// clang-format off
const struct option doctor_options[] = {
    { "--start", 0, NULL,  "start a server when there is none, as `baton mcp` does" },
    { "--dir",   0, "DIR", "the project (here)" },
    { "--data",  0, "DIR", "ask the server of this data directory" },
    { "--json",  0, NULL,  "print one object" },
    { 0 },
};
// clang-format on

const char doctor_details[] =
    "It asks the server, calls each hook, speaks MCP in both of its eras over HTTP and\n"
    "stdio, looks at what `baton init` has written for each client, and asks the client\n"
    "itself (`claude mcp list` and its like) whether it uses that: in a folder that it does\n"
    "not trust, it does not. Each check is a line; below one that is not ok stands the\n"
    "command that mends it. Nothing is changed, no session is left behind, and nothing is\n"
    "waited for longer than half a minute.\n"
    "\n"
    "Exit codes: 0 nothing failed; 1 something did; 2 wrong usage.";

/* ---- showing ---- */

static void sum_show(struct doctor *d)
{
    struct json whole = json_object();
    struct buf out = buf_in(d->arena);

    if (!d->cli->json) {
        buf_printf(&out, "\n%zu ok, %zu warned, %zu failed, %zu skipped\n", d->counts[DOCTOR_OK],
                   d->counts[DOCTOR_WARN], d->counts[DOCTOR_FAIL], d->counts[DOCTOR_SKIP]);
    } else {
        json_put(d->arena, &whole, STR("ok"), json_bool(d->counts[DOCTOR_FAIL] == 0));
        json_put(d->arena, &whole, STR("checks"), d->found);
        json_print(&out, &whole);
        buf_byte(&out, '\n');
    }
    cli_write(d->cli, buf_str(&out));
}

/* ---- checking ---- */

/* Processes that are started find the server where we do. */
static err place_settle(struct doctor *d)
{
    const char *given = cli_value(d->cli, "--data"), *url = getenv("BATON_URL");

    d->data = STR("");
    if (given)
        setenv("BATON_DATA", given, 1);
    if (given)
        unsetenv("BATON_URL");
    else if (url && *url)
        return NULL;
    return data_dir_find(d->arena, given, &d->data);
}

static bool is_up(struct doctor *d)
{
    struct call health = { .method = "GET", .pattern = "/health", .timeout_ms = UP_MS };
    struct response r;

    return !caller_request(&d->caller, d->arena, &health, &r);
}

err doctor_run(struct cli *c)
{
    struct doctor d = { .cli = c, .arena = c->arena, .found = json_array() };

    TRY(init_root(c, &d.root));
    TRY(place_settle(&d));
    caller_init(&d.caller, cli_value(c, "--data"));
    d.caller.timeout_ms = CALL_MS;
    signal(SIGPIPE, SIG_IGN); /* a process that ends early is told of, and does not end us */
    if (cli_flag(c, "--start") && !is_up(&d))
        doctor_start(&d);
    doctor_server(&d);
    doctor_data(&d);
    doctor_runner(&d);
    doctor_project(&d);
    doctor_git(&d);
    doctor_clients(&d);
    doctor_hooks(&d);
    doctor_agents(&d);
    doctor_mcp_http(&d);
    doctor_mcp_stdio(&d);
    caller_release(&d.caller);
    sum_show(&d);
    c->exit = d.counts[DOCTOR_FAIL] ? 1 : 0;
    return NULL;
}
