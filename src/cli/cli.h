/* cli.h: what the commands of the command line share.
 *
 * A verb is an entry in a table: its help, its options, its completions and its
 * dispatch all come from there. A verb's function gets a struct cli that holds
 * the arguments, writes to standard output through it, and returns an error that
 * is printed, and turned into the exit code, in one place. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "json/json.h"
#include "json/patch.h"

#ifndef BATON_VERSION
#define BATON_VERSION "0.1.0"
#endif

/* JSON, or nearly, as a text without escapes. Not to be wrapped in another macro. */
#define JSON(...) #__VA_ARGS__

struct cli;
struct op;
struct response;

/* Tables of options and of verbs end with an entry without a name. */
struct option {
    const char *name;  /* "--max" */
    char letter;       /* 'q' also means -q; 0: none */
    const char *value; /* what stands for the value in help; NULL: a flag */
    const char *help;
};

struct verb {
    const char *name;
    const char *args; /* as help shows them: "SCHEMA DOC..." */
    int args_min;
    int args_max;                 /* ARGS_MANY: no limit */
    const char *summary;          /* one line, no full stop */
    const char *example;          /* arguments of a typical call */
    const char *details;          /* paragraphs for --help, or NULL */
    const struct option *options; /* NULL: none but --help */
    const struct verb *verbs;     /* when it leads to others */
    err (*run)(struct cli *c);    /* of a verb with verbs: when it is called without any */
    bool noun; /* it is a noun of the table too: what can be done with that is below it */

    /* Of the program: verbs that are made when one of them may be meant, to come behind `verbs`. */
    const struct verb *(*more)(struct arena *a);
    const struct op *op; /* of a verb that op_verbs.c made: the operation that it calls */
};

#define ARGS_MANY 0x7fffffff

struct option_given {
    const struct option *option;
    const char *value;
};

struct cli {
    struct arena *arena;     /* lives as long as the command */
    const struct verb *root; /* the program itself, for help and completions */
    const struct verb *verb; /* the one that runs */
    str called;              /* how it was called: "baton json check" */
    const char **args;
    int arg_count;
    struct option_given *options;
    int option_count;
    bool json;       /* --json: compact results, errors as JSON */
    bool terminal;   /* standard output is one */
    bool coloured;   /* standard output wants colours */
    bool stdin_used; /* standard input can be read only once */
    int write_error; /* errno of the first write that failed */
    int exit;        /* the exit code when no error is returned */
};

/* ---- verb.c ---- */

/* The whole program: finds the verb, reads its options, runs it; gives the exit code. */
int cli_main(const struct verb *root, int argc, char **argv);

/* Finds the verb that the words name, and reads its arguments and options. *help: they ask for
 * its help instead. */
err verb_enter(struct cli *c, char **words, bool *help);

/* Puts those verbs into c->root too that are made at run time: before all of them are shown. */
void verb_all(struct cli *c);

const struct verb *verb_find(const struct verb *verbs, str name);

/* The text of --help. `called` is the verb with everything before it: "baton json". */
void verb_help(struct buf *out, const struct verb *v, str called);

/* INVALID: there is no command `name` below `v`; names the nearest that there is. */
err verb_unknown(struct cli *c, const struct verb *v, str called, const char *name);

/* INVALID: the problem, and where the help of the verb is. */
err usage_error(struct cli *c, str problem);

/* Appends text, broken at spaces where a line would pass the width of help; lines but the first
 * begin at the column, where the first is already. */
void help_put(struct buf *out, size_t column, str text);

/* Whether a flag was given, and the value of an option or NULL. The option must be in the verb's
 * table; of an option given twice the last counts. */
bool cli_flag(const struct cli *c, const char *name);
const char *cli_value(const struct cli *c, const char *name);

/* Finds the nearest of the names that are tried, for "did you mean". */
struct guess {
    str wanted;
    const char *name;
    unsigned distance;
};

void guess_try(struct guess *g, const char *name);

/* "; did you mean 'check'?", or "." when no name was near. */
str guess_hint(struct arena *a, const struct guess *g);

/* ---- term.c ---- */

enum paint { PAINT_PLAIN, PAINT_ERROR, PAINT_GOOD, PAINT_KEY, PAINT_STRING, PAINT_DIM };

/* Whether what is written to the descriptor should be coloured: a terminal that can, or
 * CLICOLOR_FORCE, and no NO_COLOR. */
bool term_coloured(int fd);

/* Appends text from outside, in a colour unless PAINT_PLAIN, its control characters escaped: a
 * document must not be able to drive the reader's terminal. */
void term_put(struct buf *out, enum paint paint, str text);

/* The text itself where it is UTF-8, else with what is not replaced: for names of files in JSON. */
str term_utf8(struct arena *a, str text);

/* Colours printed JSON without changing anything else. */
void term_put_json(struct buf *out, str printed);

/* A whole file, or standard input for "-", in the arena. NOT_FOUND, FORBIDDEN, INVALID. */
err cli_read(struct cli *c, struct arena *a, const char *path, str *out);

/* The same for JSON: what is too large, or has too many brackets inside each other, is refused while it
 * is read. */
err cli_read_json(struct cli *c, struct arena *a, const char *path,
                  const struct json_limits *limits, str *out);

/* How messages call it: the path, or "standard input" for "-". */
const char *cli_path_name(const char *path);

/* Writes to standard output. Failures are kept and reported when the command ends. */
void cli_write(struct cli *c, str text);

/* Pushes out what was written: false when that, or any write before, failed. */
bool cli_flush(struct cli *c);

/* Prints an error and goes on. */
void cli_warn(struct cli *c, err e);

/* A word for people on standard error; with --json none. */
void cli_note(struct cli *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends the command: flushes, prints the error if there is one, gives the exit code. */
int cli_end(struct cli *c, err e);

/* Time by the clock of this machine. */
int64_t cli_now_ms(void);

/* ---- json_load.c ---- */

/* Options of verbs that read JSON. */
// clang-format off
#define OPTIONS_JSON_LIMITS                                                                  \
    { "--max-bytes", 0, "N", "refuse a file that has more bytes; unless given, 268435456" }, \
    { "--max-depth", 0, "N", "refuse more brackets inside each other; unless given, 64" }
// clang-format on

/* What they say. */
err json_limits_given(struct cli *c, struct json_limits *out);

/* The number that an option sets, from 1 to `most`. */
err json_limit_given(struct cli *c, const char *option, int64_t most, int64_t otherwise,
                     int64_t *out);

/* Parses a file or standard input; errors name it. */
err json_load(struct cli *c, struct arena *a, const char *path, const struct json **out);

/* The same for a verb that has OPTIONS_JSON_LIMITS. */
err json_load_limited(struct cli *c, struct arena *a, const char *path, const struct json **out);

/* ---- json_check.c ---- */

extern const struct option json_check_options[];
err json_check_run(struct cli *c);

/* ---- json_verbs.c ---- */

extern const struct verb json_verbs[];
extern const struct json_patch_limits json_verb_patch_limits;

/* ---- render.c ---- */

/* Prints what the server answered: a list as a table, anything else and with --json all as JSON; an
 * error of the server becomes ours. */
err render_answer(struct cli *c, const struct response *r);

/* The same for an answer that is none of an error. */
void render_value(struct cli *c, const struct json *answer);

/* The list that the answer to the verb's operation is, and the name of the member that holds it;
 * NULL: it is no list. */
const struct json *render_list(struct cli *c, const struct json *answer, str *name);

/* Rows as the table of that name. */
void render_rows(struct cli *c, struct buf *out, const char *list, const struct json *rows);

/* A value as JSON, in colours where they are wanted. */
void render_json(struct cli *c, struct buf *out, const struct json *j, bool pretty);

/* How many columns the terminal has; COLUMNS or 80 where there is none. */
size_t render_width(void);

/* How many columns a text takes; and its start with a mark that there is more, where it would take
 * more than `width`. */
size_t render_text_width(str text);
str render_cut(struct arena *a, str text, size_t width);

/* "5s", "3m", "2h", "4d". */
str render_age(struct arena *a, int64_t ms);

/* ---- watch.c ---- */

extern const struct verb watch_verb;

/* ---- commit.c ---- */

/* The commit that the program was built of, with "-dirty" where files were changed; empty: it was not
 * built in a clone. */
extern const char cli_commit[];

/* ---- overview.c ---- */

err overview_run(struct cli *c);
err help_run(struct cli *c);
err version_run(struct cli *c);

/* ---- completions.c ---- */

err completions_run(struct cli *c);

#endif
