/* workflow_data.h: the definitions that come with the program. */
#ifndef CORE_EXEC_WORKFLOW_DATA_H
#define CORE_EXEC_WORKFLOW_DATA_H

#include "base/str.h"

struct workflow_built_in {
    const char *name; /* NULL: there are fewer */
    str text;         /* JSON as it is laid out for people */
};
struct workflow_built_in workflow_built_in(size_t i);

#endif
