/* agent.h: roles, and how kinds of clients are started: agents and profiles.
 *
 * Both are data, printed JSON objects under a name. An agent says what a session is
 * for: profile, prompts, model, tools, MCP servers. A profile says how to start and
 * resume one kind of client and how to read its output; some come with the program,
 * and a stored one of the same name stands before them. Only the operator writes
 * either, so no agent can choose a command line.
 *
 * An agent that nobody has registered may be offered by runners (agent_offer.h), or come with the
 * program, as the roles of its own workflows do: of one name the registered one stands before what is
 * offered, and that before what comes with the program.
 *
 * Entries come over the API or from files of the server's directory. What came over
 * the API is the later decision, so a file of the same name does not replace it. */
#ifndef CORE_AGENT_H
#define CORE_AGENT_H

#include "core/agent_offer.h"
#include "core/tx.h"
#include "json/json.h"

enum catalog { CATALOG_AGENTS, CATALOG_PROFILES };

struct entry {
    enum catalog catalog;
    str name;
    str text; /* printed JSON object, with its name */
    str source; /* "api", "file", "built in"; of an agent that is offered: "project", "home", "data" */
    int64_t created_at_ms, updated_at_ms; /* 0: built in, or offered */
    const struct agent_offer *offers;     /* who offers it: in lists alone */
    size_t offer_count;
};

/* The table `entry`: see columns.h. */
// clang-format off
#define ENTRY_COLUMNS(X, e)                       \
    X(catalog,    INT,  INSERT, e->catalog)       \
    X(name,       TEXT, INSERT, e->name)          \
    X(text,       JSON, INSERT, e->text)          \
    X(source,     TEXT, INSERT, e->source)        \
    X(created_at, TIME, INSERT, e->created_at_ms) \
    X(updated_at, TIME, INSERT, e->updated_at_ms)
#define ENTRY_NAMES COLUMNS(ENTRY_COLUMNS)
// clang-format on

/* NOT_FOUND, with the names that there are. */
err entry_get(struct tx *tx, enum catalog c, str name, struct entry *out);

/* By name, those built in too, and agents that runners offer. Of the roles of the program's own workflows
 * those of one that was begun or deployed here, or (`roles`) all: they are of no use to others. */
err entry_list(struct tx *tx, enum catalog c, str after, int64_t limit, bool roles,
               const struct entry **out, size_t *count);

/* UNFIT when the text is not what such an entry must be, with what is wrong; CONFLICT when `fresh`
 * and one is stored already. An entry that is as it was is left alone. Emits agent_updated or
 * profile_updated. */
err entry_put(struct tx *tx, enum catalog c, str name, const struct json *text, str source,
              bool fresh, struct entry *out);

/* A profile that was built in is that again. NOT_FOUND when nothing is stored. */
err entry_delete(struct tx *tx, enum catalog c, str name);

struct entry_refusal {
    str name;
    err why;
};

struct entry_loaded {
    int64_t kept, dropped;               /* of those that came from files */
    const struct entry_refusal *refused; /* files that are not what an entry must be, or whose name
                                          * was taken over the API */
    size_t refused_count;
};

/* Makes the entries that come from files those of an array of objects, each with its name; others
 * that came from files go, where `drop`. One that is refused does not keep the others out. */
err entry_load(struct tx *tx, enum catalog c, const struct json *all, bool drop,
               struct entry_loaded *out);

/* A session that starts another one. */
struct agent_starter {
    str session_id, role; /* empty: it counts for nothing */
    bool is_root;
};

/* Whether the entry of an agent says, in its `started_by`, that this session may give its role to
 * another: by "root", by the starter's own role, or by its id. An agent that is not there lets
 * nobody. */
err agent_startable(struct tx *tx, str agent, const struct agent_starter *by, bool *out);

/* Who is meant by an agent's name in a directory. */
enum agent_source { AGENT_UNKNOWN, AGENT_REGISTERED, AGENT_OFFERED, AGENT_BUILT_IN };
err agent_source_of(struct tx *tx, str name, str dir, enum agent_source *out);

/* The profile of a session in a directory: the agent's where it has one, else what was asked for, else
 * "claude". NOT_FOUND when the agent or the profile is not known. `agent` may be empty. */
err entry_resolve(struct tx *tx, str agent, str dir, str wish, str *profile);

#endif
