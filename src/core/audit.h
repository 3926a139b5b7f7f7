/* audit.h: what holds in every database, whatever was done to it.
 *
 * Each rule is a statement that finds the rows which break it, so that a whole
 * database can be checked in one transaction that only reads, beside a server
 * that writes. Rules that need more than SQL look at documents one by one.
 *
 * Repairs nothing: a broken rule is a mistake of ours or of the disk, and what was
 * meant cannot be known from what is there. */
#ifndef CORE_AUDIT_H
#define CORE_AUDIT_H

#include "core/tx.h"

#define AUDIT_SHOWN 20 /* findings of one rule that are given at most */

struct audit_finding {
    const char *rule; /* its name */
    str place;        /* "state wfstate_2, event 17" */
    str problem;
    const char *advice;
};

/* Called for each finding, which lives as long as the call. */
typedef void audit_sink(void *self, const struct audit_finding *finding);

/* All rules that SQL can state. */
err audit_rows(struct tx *tx, audit_sink *sink, void *self);

/* The documents of some states after the one of that id: each parses and fits its schema, which is
 * the text that was registered. `after` becomes where to go on; empty: those were all. What it
 * allocates may go before the next call, but for that. Needs tx->schemas. */
err audit_documents(struct tx *tx, str *after, audit_sink *sink, void *self);

size_t audit_rule_count(void);

#endif
