/* agent_data.h: the roles that come with the program: those that its own workflows name. */
#ifndef CORE_AGENT_DATA_H
#define CORE_AGENT_DATA_H

#include "base/str.h"

struct agent_built_in {
    const char *name;     /* NULL: there are fewer */
    const char *workflow; /* that names it */
    const char *description;
};

/* By name. Their prompt is that of the step that they do. */
struct agent_built_in agent_built_in(size_t i);

#endif
