/* evidence.h: what a runner has to see before a step of a workflow counts as done.
 *
 *   {"checks": [{"kind": "command", "argv": ["make", "test"], "exit": 0},
 *               {"kind": "file", "path": "build/app", "sha256": "…" or null},
 *               {"kind": "junit", "path": "report.xml"}]}
 *
 * becomes, for each in its order, what it is, whether it was so, and what was found instead, in words
 * for people and short enough to be kept:
 *
 *   {"ok": false, "checks": [{"kind": "command", "ok": false, "what": "make test",
 *                             "found": "exit 2", "output": "…"}, …]}
 *
 * Everything is looked at, also after one that was not so. Files are those of the folder that this
 * process is in: what is elsewhere, by .. or by a link, is not looked at. */
#ifndef RUNNER_EVIDENCE_H
#define RUNNER_EVIDENCE_H

#include "json/json.h"

enum { EVIDENCE_CHECKS_MAX = 64 };

/* Commands get our environment, and what one leaves behind is killed before the next one begins:
 * so the process must have nothing else below it. INVALID: it is not asked as above. */
err evidence_check(struct arena *a, const struct json *asked, struct json *out);

#endif
