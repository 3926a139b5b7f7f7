/* document_help.h: workflows as documents 001 and 002 show them, for tests of what they print. */
#ifndef TEST_DOCUMENT_HELP_H
#define TEST_DOCUMENT_HELP_H

#include "base/date.h"
#include "workflow_help.h"

/* With a NUL behind it. */
static inline const char *z(str s)
{
    return arena_printf(check_arena(), STR_FMT, STR_ARG(s)).at;
}

/* It is this moment, as the document writes it. */
static inline void clock_at(struct world *w, const char *time)
{
    int64_t ms;

    CHECK(date_parse(str_from(time), &ms));
    w->now_ms = ms;
}

/* What an operation answers, as text, and what a document prints, written with single quotes: the same
 * members in the same order. */
#define CHECK_PRINTED(done, expected)                                                  \
    do {                                                                               \
        const struct command *printed_ = (done);                                       \
        CHECK_OK(printed_->error);                                                     \
        CHECK_STR(printed_->answer.text, quotes_double(check_arena(), (expected)).at); \
    } while (0)

static inline struct command *viewed(struct world *w, str id, const char *view)
{
    return call(w, "execution.view", "{'execution_id':'" STR_FMT "','view':'%s'}", STR_ARG(id),
                view);
}

/* The text of a view that is none of JSON. */
static inline str view_text(struct world *w, str id, const char *view)
{
    struct command *c = viewed(w, id, view);

    CHECK(c->answer.media);
    return at(c, "/text");
}

#endif
