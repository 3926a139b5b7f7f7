/* incidents.c: operations on what executions cannot go on with until a person has helped. */
#include <stdio.h>

#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/write.h"

void write_incident(struct json_writer *w, const struct incident *i)
{
    json_write_begin(w, '{');
    write_text(w, STR("incident_id"), i->id);
    write_text(w, STR("execution_id"), i->execution_id);
    write_text(w, STR("workflow"), i->workflow);
    write_or_null(w, STR("step"), i->node);
    if (i->n) {
        char token[40];
        int len = snprintf(token, sizeof token, "token-%lld", (long long)i->n);
        write_text(w, STR("token"), (str){ token, (size_t)len });
    } else {
        write_null(w, STR("token"));
    }
    write_text(w, STR("kind"), i->kind);
    write_text(w, STR("message"), i->message);
    write_text(w, STR("status"), team_name(&incident_words, (int)i->status));
    write_time(w, STR("raised_at"), i->raised_at_ms);
    write_time_or_null(w, STR("resolved_at"), i->resolved_at_ms);
    write_or_null(w, STR("resolved_by"), i->resolved_by);
    json_write_end(w, '}');
}

static err incident_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct incident_filter filter = { .execution_id = input_str(in, "execution"),
                                      .status = input_str(in, "status"),
                                      .after = input_str(in, "after"),
                                      .limit = page_rows(in) };
    const struct incident *all;
    size_t count;

    if (filter.execution_id.len) {
        struct execution e;
        TRY(execution_get(tx, filter.execution_id, &e));
    }
    TRY(incident_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("incidents"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_incident(&out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

static err incident_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct incident i;

    TRY(incident_get(tx, input_str(in, "incident_id"), &i));
    write_incident(&out->json, &i);
    return NULL;
}

static err incident_resolve_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct incident i;
    struct execution e;

    TRY(incident_resolve(tx, input_str(in, "incident_id"), input_json(in, "variables"), &i, &e));
    write_incident(&out->json, &i);
    return NULL;
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "incident.list", .http = "GET /incidents", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List incidents, by id: what executions cannot go on with until a person has helped.",
        .input = FIELDS("", JSON(
            "execution": { "type": "string", "maxLength": 100, "description": "Only those of this execution." },
            "status": { "enum": ["open", "resolved"], "description": "Only those with this status." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("incidents"), SHAPE_LIST("incidents", "A page of them.", INCIDENT_SHAPE) "," PAGE_NEXT),
        .run = incident_list_op,
    },
    {
        .name = "incident.get", .http = "GET /incidents/{incident_id}", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show an incident: what stands still, why, and what to do.",
        .input = FIELDS(JSON("incident_id"), INCIDENT_ID), .output = INCIDENT_SHAPE, .run = incident_get_op,
    },
    {
        .name = "incident.resolve", .http = "POST /incidents/{incident_id}/resolve", .effect = OP_WRITES,
        .on = ON_HTTP | ON_CLI, .by = BY_OPERATOR,
        .summary = "Let an execution try again where it stands still, after setting variables where that is what it needs.",
        .input = FIELDS(JSON("incident_id"), INCIDENT_ID "," JSON(
            "variables": { "type": "object", "description": "Variables to set first, by their names." })),
        .output = INCIDENT_SHAPE, .run = incident_resolve_op,
    },
};
// clang-format on

const struct op_list incident_ops = { ops, sizeof ops / sizeof *ops };
