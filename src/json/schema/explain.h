/* explain.h: walking a program again to say what does not fit. Private to json/schema_*.c.
 *
 *   violations.c      what callers see
 *   explain.c         the walk over the keywords of a node
 *   explain_object.c  … those of objects
 *   closest.c         … anyOf and oneOf: which alternative was meant
 *   findings.c        collecting violations, the useful ones first
 *   message.c         the words
 *
 * The walk happens only after a check has failed. It has a budget of its own. */
#ifndef JSON_SCHEMA_EXPLAIN_H
#define JSON_SCHEMA_EXPLAIN_H

#include "base/map.h"
#include "json/schema/check.h"

/* Where in the document: the way up to its root. */
struct location {
    const struct location *up;        /* NULL: the root */
    const struct json_member *member; /* NULL: an element */
    uint32_t index;                   /* of the element */
    uint32_t depth;
};

struct finding {
    struct violation violation;
    str key;       /* pointer, keyword and message, for telling two apart */
    uint64_t rank; /* the lower, the more useful; distinct within a list */
    uint32_t depth;
};

/* A list in which each violation is once. */
struct findings {
    struct finding *items;
    uint32_t count, room, most;
    struct map known;
};

struct explain {
    struct arena *arena;
    struct check check;    /* answers what fits, and holds the steps that are left */
    struct findings *into; /* where violations go: those of an alternative are kept apart */
    uint32_t failures;     /* all that were met, also those that `into` has already */
    uint32_t cells_left;   /* of looking for near texts */
    str reason;            /* why a keyword applies, put behind each message; often empty */
};

/* Violations of `v`, which is at that location, against `n`; none when it fits. */
void explain_node(struct explain *x, const struct node *n, const struct json *v,
                  const struct location *at);

/* `v` fits none of the alternatives of anyOf or oneOf: says why for the one that is closest. */
void explain_closest(struct explain *x, const struct rule *r, const struct json *v,
                     const struct location *at);

/* It fits several of oneOf: says which. */
void explain_several(struct explain *x, const struct rule *r, const uint32_t *fit, uint32_t count,
                     const struct location *at);

/* {required: […]} and nothing else. */
bool node_only_requires(const struct node *n);

/* Says that `v`, a string, holds JSON of one of those kinds, if it does: see message_quoted. */
void explain_quoted(struct explain *x, struct buf *m, const struct json *v, unsigned kinds);

/* Adds a violation with that message, which is taken. */
void explain_report(struct explain *x, const struct location *at, const char *keyword,
                    struct buf *m);

/* Violations of an object against the keywords for objects. */
void explain_object(struct explain *x, const struct node *n, const struct json *v,
                    const struct location *at);

/* A member that `n` allows by no name that it declares. */
void explain_unknown_member(struct explain *x, const struct node *n, const char *keyword,
                            const struct json_member *member, const struct location *at);

/* Too few or too many of something, or nothing to say. */
void explain_count(struct explain *x, const struct location *at, const char *noun, uint64_t found,
                   const char *min_keyword, uint32_t min, const char *max_keyword, uint32_t max);

/* Whether a text matches; when that cannot be found out, says so. */
enum regex_result explain_match(struct explain *x, const struct regex *regex, str pattern, str text,
                                const struct location *at);

/* "expected one of these, found that; did you mean this?" */
void explain_values(struct explain *x, const struct location *at, const char *keyword,
                    const struct json *values, size_t count, const struct json *v);

struct findings findings_in(struct arena *a, uint32_t most);

/* Adds a copy, unless it is there already or the list is full. */
void findings_add(struct findings *f, const struct finding *found);

static inline bool explain_stopped(const struct explain *x)
{
    return check_exhausted(&x->check) || x->into->count == x->into->most;
}

static inline void explain_charge(struct explain *x, uint64_t steps)
{
    check_charge(&x->check, steps);
}

static inline struct location location_member(const struct location *up,
                                              const struct json_member *m)
{
    return (struct location){ up, m, 0, up->depth + 1 };
}

static inline struct location location_element(const struct location *up, uint32_t index)
{
    return (struct location){ up, NULL, index, up->depth + 1 };
}

#endif
