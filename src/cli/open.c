/* open.c: baton open: the server's page, in a browser, signed in.
 *
 * The address ends with a code behind '#', which browsers send to nobody; the page exchanges it for a
 * token of its own. So no token is ever in an address, a history or a log. */
#include <stdlib.h>

#include "cli/init/init.h"
#include "cli/status.h"
#include "client/caller.h"
#include "json/json.h"

enum {
    ASK_MS = 5000,
    CODE_MS = 30000, /* how long a code is good */
};

/* Where the page is: browsers know no Unix sockets. */
static err page_url(struct cli *c, str *out)
{
    const char *data = cli_value(c, "--data"), *url = getenv("BATON_URL");
    const struct json *health;
    struct caller k;
    str dir;

    caller_init(&k, data);
    k.timeout_ms = ASK_MS;
    err e =
        caller_call(&k, c->arena, &(struct call){ .method = "GET", .pattern = "/health" }, &health);
    caller_release(&k);
    if (e)
        return e;
    if (!data && url && *url) {
        *out = str_from(url);
    } else {
        TRY(data_dir_find(c->arena, data, &dir));
        *out = endpoint_url(c->arena, dir.at);
    }
    if (!str_starts(*out, STR("http")))
        return err_new(c->arena, ERR_UNAVAILABLE,
                       "the server listens on a socket alone, which no browser can open");
    *out = arena_printf(c->arena, STR_FMT "%s", STR_ARG(*out), str_ends(*out, STR("/")) ? "" : "/");
    return NULL;
}

/* The address with a code behind it. It is asked for once: one that was lost is worth nothing soon. */
static err page_code(struct cli *c, str *url)
{
    const char *name = cli_value(c, "--as");
    struct json asked = json_object();
    const struct json *code;
    struct caller k;

    json_put(c->arena, &asked, STR("kind"),
             json_string(cli_flag(c, "--viewer") ? STR("viewer") : STR("operator")));
    json_put(c->arena, &asked, STR("valid_for"), json_int(c->arena, CODE_MS / 1000));
    if (name)
        json_put(c->arena, &asked, STR("name"), json_string(str_from(name)));
    caller_init(&k, cli_value(c, "--data"));
    k.timeout_ms = ASK_MS;
    err e = caller_call(&k, c->arena,
                        &(struct call){ .method = "POST",
                                        .pattern = "/tokens/codes",
                                        .body = json_printed(c->arena, &asked),
                                        .once = true },
                        &code);
    caller_release(&k);
    if (!e)
        *url = arena_printf(c->arena, STR_FMT "#code=" STR_FMT, STR_ARG(*url),
                            STR_ARG(json_str(code, "code")));
    return e;
}

/* What opens pages here: $BROWSER, or what the desktop has; empty: nothing does. */
static str browser_find(struct arena *a)
{
    static const char *const names[] = { "xdg-open", "open", "wslview" };
    const char *given = getenv("BROWSER");
    str found = STR("");

    if (given && *given)
        return strchr(given, '/') ? str_from(given) : client_program(a, given);
    for (size_t i = 0; !found.len && i < sizeof names / sizeof *names; i++)
        found = client_program(a, names[i]);
    return found;
}

err open_run(struct cli *c)
{
    struct buf out = buf_in(c->arena);
    str url, path, leads;

    TRY(page_url(c, &url));
    str shown = url;
    TRY(page_code(c, &url));
    str browser = c->terminal && !cli_flag(c, "--print") ? browser_find(c->arena) : STR("");
    bool opened = false;
    if (browser.len) {
        err e = open_file_make(c->arena, cli_value(c, "--data"), url, CODE_MS, &path, &leads);
        if (e)
            cli_warn(c, e);
        else
            opened = open_file_show(browser, path, leads, CODE_MS);
    }
    if (opened)
        buf_add(&out, STR("opening "));
    term_put(&out, PAINT_PLAIN, opened ? shown : url);
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
    return NULL;
}

// clang-format off
const struct option open_options[] = {
    { "--print",  'n', NULL,   "print the address, and open nothing" },
    { "--as",     0,   "NAME", "who you are, as history shows what you decide; operator without it" },
    { "--viewer", 0,   NULL,   "a page that only looks: for a screen that others see" },
    { "--data",   0,   "DIR",  "of the server of this data directory" },
    { 0 },
};
// clang-format on

const char open_details[] =
    "Opens the page of the server and signs you in, by a code in the address that is good for 30\n"
    "seconds and once. The page gets a token of its own for it, which is good for a week, shows in\n"
    "baton token list, and goes with baton token revoke or when you sign out.\n"
    "It is opened by $BROWSER, or by xdg-open or open. They are given the address of a file in DIR\n"
    "that only you can read and that leads to the page, since others on this machine see what a\n"
    "program is started with; it is removed when the code is over. Where there is no browser, or the\n"
    "output is no terminal, the address is printed; so it is with --print, for a browser that may not\n"
    "read that file.";
