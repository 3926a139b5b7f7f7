/* policy.h: what a schema says of its states beyond JSON Schema.
 *
 *   "x-baton": { "format": "annotation", "state_bytes_max": 65536, "state_update": { … },
 *                "retention": "7d", "writer": "engine" }
 *
 * stands at the top of a schema and is for the whole state. "x-owner" stands at a
 * property, or at the top, and says who alone may change what is there and below:
 *
 *   "verdict": { "type": "string", "x-owner": ["reviewer", "root"] }
 *
 * An owner is "operator", "root" (the session that the state belongs to), the name
 * of an agent (a session that has that role) or the id of a session; what a session
 * calls itself makes it nothing. The operator may always write. Of two sections inside
 * each other, the inner one's owners decide about the inner one. */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "core/tx.h"
#include "json/json.h"

/* What a schema says of the update that sessions owe its states. */
struct policy_update {
    bool always;       /* who has written already is asked, too; else only who has not */
    bool skip_failure; /* who failed is not asked to record it; else once */
    int64_t attempts, timeout_ms, delay_ms; /* −1: as the settings say */
};

struct policy {
    bool formats_asserted;
    bool engine_writes; /* "writer": "engine": a document of an execution, and nobody else's */
    uint32_t state_bytes_max;
    struct policy_update update;
    int64_t retention_ms;               /* of states whose root session has ended; −1: for good */
    const struct policy_section *owned; /* the document; NULL: nothing has an owner */
};

/* Reads what a schema says; the policy lives in the arena `keep`. UNFIT, with a pointer into the
 * schema, for annotations that nobody would understand: an owner that would be ignored is worse
 * than none. */
err policy_read(struct arena *a, struct arena *keep, const struct json *schema, struct policy *out);

/* Whether there is anything that the actor may not change; without it no check is needed. */
bool policy_binds(const struct policy *p, const struct actor *who);

/* Who writes. */
struct policy_writer {
    const struct actor *who;
    str agent, role;  /* of its session: see session.h; empty: none */
    bool id_given;    /* whether it owns what its id does */
    str root_session; /* that the state belongs to */
    bool is_member;   /* of the project whose state it is: then it stands for the root */
};

/* FORBIDDEN, naming the section and its owners, when a document differs from the one before at a
 * section that belongs to others. What counts is the effect, not how the change was written. */
err policy_check(struct arena *a, const struct policy *p, const struct policy_writer *by,
                 const struct json *before, const struct json *after);

#endif
