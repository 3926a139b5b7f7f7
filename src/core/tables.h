/* tables.h: the data model, as the store makes it. */
#ifndef CORE_TABLES_H
#define CORE_TABLES_H

/* Statements of one step; NULL ends them. */
struct tables_step {
    int version;
    const char *const *statements;
};

/* Databases of older versions were made while the first steps were still being written, and have
 * other tables than these steps begin with. */
enum { TABLES_VERSION_MIN = 2 };

extern const struct tables_step tables_steps[];
extern const int tables_step_count;

#endif
