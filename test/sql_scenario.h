/* sql_scenario.h: what happens in the scenario of sql_postgres_test.c, step by step. */
#ifndef TEST_SQL_SCENARIO_H
#define TEST_SQL_SCENARIO_H

#include "sim/world.h"

struct step {
    const char *op, *input;
    const char *key;
    const char *session; /* the id of the state that the caller sees; NULL: it is the operator */
    bool system;         /* the server itself asks */
    bool refused;        /* what it wrote is taken back */
};

/* Fails the test when a step is refused that must not be, or is not that must. */
void step_run(struct world *w, const struct step *s);

/* Workflows and their steps: jobs, approvals, agents and documents. */
void flows_run(struct world *w);

#endif
