/* profile_data.h: the profiles that come with the program, and what any profile must be.
 *
 * Their texts are the files of profiles/, put into the program when it is built. What a
 * profile means is known to the runner alone. */
#ifndef CORE_PROFILE_DATA_H
#define CORE_PROFILE_DATA_H

#include "base/str.h"

struct profile_built_in {
    const char *name; /* NULL: there is none of that number */
    str text;         /* a JSON object */
};

/* By number, from 0 on, in the order of their names. */
struct profile_built_in profile_built_in(size_t i);

/* The JSON Schema of profiles. */
extern const char profile_schema_text[];

#endif
