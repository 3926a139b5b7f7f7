/* used.c: which documents are used where: what they need is shown from then on.
 *
 * Does not know tools. */
#include "core/event.h"
#include "core/exec/documents.h"
#include "core/session.h"

/* What comes with the program is there before anybody wants it. */
#define IS_DEPLOYED \
    " FROM workflow WHERE name > '$' AND NOT (version = 1 AND name IN ('generation', 'planning'))"

/* Of a tree, of what its project's other trees do, and of what nobody has started for a session. */
#define IS_NEAR                                                                       \
    " FROM execution WHERE kind IN ('phases', 'generation', 'planning')"              \
    " AND ($1 = '' OR root_id IN ('', $1) OR root_id IN (SELECT s.session_id"         \
    "   FROM session s JOIN session r ON r.session_id = $1 AND r.project = s.project" \
    "   WHERE s.project <> ''))"

err documents_used(struct tx *tx, str root_id, struct documents_used *out)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row,
                "SELECT CASE WHEN EXISTS (SELECT 1" IS_DEPLOYED " AND kind = 'phases')"
                " OR EXISTS (SELECT 1" IS_NEAR " AND kind = 'phases') THEN 1 ELSE 0 END,"
                " CASE WHEN EXISTS (SELECT 1" IS_DEPLOYED " AND kind IN ('generation', 'planning'))"
                " OR EXISTS (SELECT 1" IS_NEAR " AND kind <> 'phases') THEN 1 ELSE 0 END",
                ARGS(TEXT(root_id))));
    *out = (struct documents_used){ .phases = row_int(row, 0), .steps = row_int(row, 1) };
    return NULL;
}

err documents_used_here(struct tx *tx, struct documents_used *out)
{
    struct session s = { .root_id = STR("") };
    bool found = false;

    if (tx->actor->kind == ACTOR_SESSION)
        TRY(session_find_id(tx, tx->actor->session_id, &s, &found));
    return documents_used(tx, found ? s.root_id : STR(""), out);
}

err documents_begin(struct tx *tx, str kind, str root_id)
{
    bool phases = str_eq(kind, str_from(graph_kind_names[GRAPH_PHASES])),
         steps = str_eq(kind, str_from(graph_kind_names[GRAPH_GENERATION])) ||
                 str_eq(kind, str_from(graph_kind_names[GRAPH_PLANNING]));
    struct documents_used used;
    struct event_writer data;

    if (!phases && !steps)
        return NULL;
    TRY(documents_used(tx, root_id, &used));
    if (phases ? used.phases : used.steps)
        return NULL;
    write_text(event_begin(tx, &data), STR("document"), phases ? STR("001") : STR("002"));
    return event_end(tx, &data,
                     (struct event){ .type = EVENT_DOCUMENT_USED,
                                     .subject = phases ? STR("document_001")
                                                       : STR("document_002") },
                     NULL);
}
