/* flow_crew.h: who does what an execution of a play waits for: a runner and its agents, and a person.
 *
 * A runner takes every run that there is, at once, and holds it until the play says how it ends; what it is
 * to stop it stops. Does not know what follows from that: see flow_play.h. */
#ifndef SIM_FLOW_CREW_H
#define SIM_FLOW_CREW_H

#include "sim/flow_play.h"

/* The agents of flow_random.h are known, and there is a runner. */
void crew_join(struct play *p);

/* It takes what there is and stops what it is to; whether there was anything. */
bool crew_work(struct play *p);

/* Happens to a share of a step, to a check, to an approval. */
void crew_turn(struct play *p, const struct flow_event *e);
void crew_check(struct play *p, const struct flow_event *e);
void crew_decide(struct play *p, const struct flow_event *e);

/* Nobody decides a second time otherwise than the first; and no agent ever. */
void crew_decide_late(struct play *p);

/* The rows of shares, runs and approvals are those that the reference waits for. */
void crew_compare(struct play *p);

#endif
