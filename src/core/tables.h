/* tables.h: the data model, as the store makes it. */
#ifndef CORE_TABLES_H
#define CORE_TABLES_H

/* Statements of one step; NULL ends them. */
struct tables_step {
    int version;
    const char *const *statements;
};

extern const struct tables_step tables_steps[];
extern const int tables_step_count;

#endif
