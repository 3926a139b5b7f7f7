/* evidence_verb.c: the command `evidence`: checks on standard input, what was found on standard output. */
#include "app/evidence_verb.h"

#include "os/exec.h"
#include "runner/evidence.h"

const char evidence_verb_details[] =
    "A runner executes it before a step whose definition asks for evidence counts as done.\n"
    "It reads, on standard input, what is to be seen in the folder that it is started in:\n"
    "\n"
    "  {\"checks\": [{\"kind\": \"command\", \"argv\": [\"make\", \"test\"], \"exit\": 0},\n"
    "              {\"kind\": \"file\", \"path\": \"build/app\", \"sha256\": null},\n"
    "              {\"kind\": \"junit\", \"path\": \"report.xml\"}]}\n"
    "\n"
    "and prints one object: whether all of it was so, and for each check what was found,\n"
    "with the last lines of a command that has failed. Commands run one after the other,\n"
    "with this environment, and what one leaves running is killed. Files are those of the\n"
    "folder: a path that leads out of it, by .. or by a link, is not followed.\n"
    "\n"
    "Exit codes: 0 everything was looked at, whatever was found; 2 wrong usage, or checks\n"
    "that are none; 14 a command could not be waited for.";

err evidence_verb_run(struct cli *c)
{
    const struct json *asked;
    struct json found;
    struct buf out = buf_in(c->arena);

    TRY(json_load(c, c->arena, "-", &asked));
    exec_adopt();
    TRY(evidence_check(c->arena, asked, &found));
    json_print(&out, &found);
    buf_byte(&out, '\n');
    cli_write(c, buf_str(&out));
    return NULL;
}
