/* fault_sites.h: where a batch or a read can be hit, and how. */
#ifndef SIM_FAULT_SITES_H
#define SIM_FAULT_SITES_H

#include "json_help.h"
#include "sim/world.h"
#include "sim/proxy.h"
#include "sim/vfs.h"

/* What is under a world's store and can fail by itself: a disk, or the wire to a server, or nothing
 * that we can reach, when only calls fail. */
struct medium {
    struct vfs *disk;
    struct proxy *wire;
};

// clang-format off
#define FAULT_SITES(X)                                                                   \
    X(CALL,   "call fails")  /* a statement or a savepoint                     */  \
    X(FULL,   "disk full")   /* inside the batch, or while it is committed     */  \
    X(IOERR,  "i/o error")   /* a read, a write or a sync; or the wire is cut  */  \
    X(COMMIT, "no commit")   /* the commit fails                               */  \
    X(LOST,   "no answer")   /* it succeeds, and nobody hears of it            */  \
    X(CRASH,  "crash")       /* the power goes                                 */

enum fault_site {
#define FAULT_SITE_ENUM(id, name) FAULT_SITE_##id,
    FAULT_SITES(FAULT_SITE_ENUM)
#undef FAULT_SITE_ENUM
    FAULT_SITE_COUNT,
    FAULT_SITE_NONE = FAULT_SITE_COUNT
};
// clang-format on

extern const char *const fault_site_names[FAULT_SITE_COUNT];

/* Whether a fault of that kind can meet an operation at all. */
bool fault_site_applies(enum fault_site site, const struct op *op);

/* Plans a fault for a batch of so many commands; a crash is planned by nobody: see crash_points.h. */
void fault_site_plan(enum fault_site site, struct world *w, const struct medium *on,
                     struct random *r, size_t count);

/* The same for a read, which only a call that fails and an error of the medium can meet. */
void fault_site_plan_read(enum fault_site site, struct world *w, const struct medium *on,
                          struct random *r);

/* Takes it back; whether it has happened. */
bool fault_site_clear(struct world *w, const struct medium *on);

/* Whether the store is why a command was refused. */
bool fault_site_is_to_blame(const struct command *c);

/* Whether a fault that has happened met a command. One call that fails meets one of a batch; what
 * meets the batch meets all that were not refused for reasons of their own. */
bool fault_site_met(enum fault_site site, const struct command *c);

#endif
