/* toml_edit.h: changes of a TOML text that leave the rest of it, byte for byte, as it was.
 *
 * Reads as much of TOML as it takes to know where tables and values begin and end. A table of ours
 * is added at the end and taken out with everything below it; keys of it are set one by one, so
 * that what somebody has added to it stays. Knows no files, and not what values mean. */
#ifndef CLI_INIT_TOML_EDIT_H
#define CLI_INIT_TOML_EDIT_H

#include "base/arena.h"
#include "base/err.h"

struct toml_key {
    const char *name;
    str value; /* as TOML writes it */
    bool kept; /* what is there already stays, whatever it says */
};

/* Makes `table`, "mcp_servers.baton", have these keys. INVALID, with the line: it is not TOML, or
 * the table is written in a way that is not edited here: inline, or by dotted keys. */
err toml_put(struct arena *a, str text, const char *table, const struct toml_key *keys,
             size_t count, str *out);

/* Takes the table out, with those below it. INVALID as above. */
err toml_drop(struct arena *a, str text, const char *table, str *out);

/* The lines of the table and of those below it, with "\n" at their ends; empty: there is none.
 * INVALID as above. */
err toml_table(struct arena *a, str text, const char *table, str *out);

/* The value of a key as it is written, "mcp_servers.baton.url"; empty: there is none. */
err toml_get(struct arena *a, str text, const char *key, str *value);

/* A string as TOML writes it. */
str toml_string(struct arena *a, str value);

#endif
