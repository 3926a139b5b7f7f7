/* approvals.c: operations on what steps of workflows wait for and only a person decides. */
#include "core/stored.h"
#include "ops/executions.h"
#include "ops/ops.h"
#include "ops/page.h"
#include "ops/write.h"

void write_approval(struct tx *tx, struct json_writer *w, const struct approval *p)
{
    struct stored self = THING("approval", p->id);

    json_write_begin(w, '{');
    write_text(w, STR("approval_id"), p->id);
    write_text(w, STR("execution_id"), p->execution_id);
    write_text(w, STR("workflow"), p->workflow);
    write_text(w, STR("step"), p->node);
    write_text(w, STR("title"), p->title);
    write_text(w, STR("kind"), p->kind);
    write_text(w, STR("status"), team_name(&approval_words, (int)p->status));
    write_stored(tx, w, STR("content"), self, p->content);
    write_text(w, STR("digest"), p->digest);
    write_stored(tx, w, STR("options"), self, p->options);
    write_or_null(w, STR("on_reject"), p->on_reject);
    write_bool(w, STR("attended"), p->attended);
    write_or_null(w, STR("session_id"), p->session_id);
    write_time_or_null(w, STR("deadline"), p->deadline_ms);
    write_or_null(w, STR("fallback"), p->fallback);
    write_stored(tx, w, STR("decision"), self, p->decision);
    write_or_null(w, STR("decided_by"), p->decided_by);
    write_or_null(w, STR("channel"), p->channel);
    write_time(w, STR("created_at"), p->created_at_ms);
    write_time_or_null(w, STR("decided_at"), p->decided_at_ms);
    json_write_end(w, '}');
}

struct approval_decision approval_decision_in(const struct input *in, enum approval_status status)
{
    str channel = input_str(in, "channel");

    return (struct approval_decision){
        .status = status,
        .step = input_str(in, "step"),
        .reason = input_str(in, "reason"),
        .selected_variant = input_str(in, "selected_variant"),
        .modifications = input_json(in, "modifications"),
        .digest = input_str(in, "digest"),
        .channel = channel.len ? channel : STR("http"),
    };
}

bool approval_status_of(str word, enum approval_status *out)
{
    static const struct {
        const char *word;
        enum approval_status status;
    } words[] = {
        { "approve", APPROVAL_APPROVED },
        { "reject", APPROVAL_REJECTED },
        { "rework", APPROVAL_REWORK },
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(word, str_from(words[i].word))) {
            *out = words[i].status;
            return true;
        }
    return false;
}

/* What is about to be lost is said, and not left out. */
err approval_decision_check(struct tx *tx, const struct approval_decision *d)
{
    if (d->step.len && d->status != APPROVAL_REWORK)
        return err_new(tx->arena, ERR_INVALID,
                       "\"step\" is of the decision rework: it names what is done anew");
    if ((d->selected_variant.len || (d->modifications && d->modifications->len)) &&
        d->status != APPROVAL_APPROVED)
        return err_new(
            tx->arena, ERR_INVALID,
            "\"selected_variant\" and \"modifications\" are of the decision approve: say "
            "in \"reason\" what is to be different");
    return NULL;
}

static err approval_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct approval_filter filter = { .execution_id = input_str(in, "execution"),
                                      .status = input_str(in, "status"),
                                      .after = input_str(in, "after"),
                                      .limit = page_rows(in) };
    const struct approval *all;
    size_t count;

    TRY(approval_list(tx, &filter, &all, &count));
    size_t shown = page_begin(in, out, STR("approvals"), count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        write_approval(tx, &out->json, &all[i]);
    page_end(out, shown < count ? all[shown - 1].id : STR(""));
    return NULL;
}

static err approval_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct approval p;

    TRY(approval_get(tx, input_str(in, "approval_id"), &p));
    write_approval(tx, &out->json, &p);
    return NULL;
}

static err approval_decide_op(struct tx *tx, const struct input *in, struct answer *out)
{
    enum approval_status status = APPROVAL_WAITING;
    struct execution e;
    struct approval p;

    (void)approval_status_of(input_str(in, "decision"), &status);
    struct approval_decision d = approval_decision_in(in, status);
    TRY(approval_decision_check(tx, &d));
    TRY(approval_decide(tx, input_str(in, "approval_id"), &d, &p, &e));
    write_approval(tx, &out->json, &p);
    return NULL;
}

/* ---- by the person in front of an agent's client ---- */

/* The names of the variants that there are to choose from. */
static err write_variants(struct tx *tx, struct json_writer *w, const struct approval *p)
{
    const struct json *options;

    TRY(stored_parse(tx, THING("approval", p->id), p->options, &options));
    write_begin(w, STR("variants"), '[');
    for (uint32_t i = 0; i < options->len; i++) {
        str name = approval_option_name(tx->arena, &options->items[i]);
        if (name.len)
            json_write_str(w, name);
    }
    json_write_end(w, ']');
    return NULL;
}

static err approval_ask_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct json_writer *w = &out->json;
    struct approval p;
    bool found;

    TRY(step_approval(tx, in, &p, &found));
    json_write_begin(w, '{');
    write_bool(w, STR("asks"), found && p.attended);
    if (found && p.attended) {
        write_text(w, STR("approval_id"), p.id);
        write_text(w, STR("workflow"), p.workflow);
        write_text(w, STR("title"), p.title);
        write_stored(tx, w, STR("content"), THING("approval", p.id), p.content);
        write_text(w, STR("digest"), p.digest);
        write_bool(w, STR("chooses"), str_eq(p.kind, STR("select_variant")));
        TRY(write_variants(tx, w, &p));
    }
    json_write_end(w, '}');
    return NULL;
}

static err approval_answer_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct approval_decision d = { .reason = input_str(in, "reason"),
                                   .selected_variant = input_str(in, "selected_variant"),
                                   .digest = input_str(in, "digest"),
                                   .channel = STR("elicitation"),
                                   .by_person = true };
    struct execution e;
    struct approval p;

    (void)approval_status_of(input_str(in, "decision"), &d.status);
    TRY(approval_decision_check(tx, &d));
    TRY(approval_decide(tx, input_str(in, "approval_id"), &d, &p, &e));
    return write_step_decided(tx, &out->json, &e, p.node);
}

// clang-format off
static const struct op ops[] = {
    {
        .name = "approval.list", .http = "GET /approvals", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "List approvals, by id: what steps of workflows wait for and a person decides.",
        .input = FIELDS("", JSON(
            "execution": { "type": "string", "maxLength": 100, "description": "Only those of this execution." },
            "status": { "enum": ["waiting", "approved", "rejected", "rework", "expired", "withdrawn"], "description": "Only those with this status." }) "," PAGE_AFTER_ID "," PAGE_LIMIT),
        .output = SHAPE(JSON("approvals"), SHAPE_LIST("approvals", "A page of them.", APPROVAL_SHAPE) "," PAGE_NEXT),
        .run = approval_list_op,
    },
    {
        .name = "approval.get", .http = "GET /approvals/{approval_id}", .on = ON_HTTP | ON_CLI, .by = BY_READERS,
        .summary = "Show an approval: what there is to judge, by when, and what was decided.",
        .input = FIELDS(JSON("approval_id"), APPROVAL_ID), .output = APPROVAL_SHAPE, .run = approval_get_op,
    },
    {
        .name = "approval.decide", .http = "POST /approvals/{approval_id}", .effect = OP_WRITES, .on = ON_HTTP | ON_CLI,
        .by = BY_OPERATOR | BY_SESSION,
        .summary = "Approve what a step has given, reject it, or have that step or an earlier one done anew; only a person decides.",
        .input = FIELDS(JSON("approval_id", "decision"), APPROVAL_ID "," JSON(
            "decision": { "enum": ["approve", "reject", "rework"], "description": "approve: what comes after it begins; reject: the step has failed, or what its definition says is done anew; rework: a step is done anew, and told the reason." }) "," DECISION_FIELDS),
        .output = APPROVAL_SHAPE, .run = approval_decide_op,
    },
    {
        .name = "approval.ask", .by = BY_SESSION,
        .summary = "Show what the person in front of an agent's client is to be asked about a step, where its definition lets them answer.",
        .input = FIELDS(JSON("workflow_id", "step"), JSON(
            "workflow_id": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The workflow, by the id that it was started with." }) ","
            STEP("step", "The step, by its number or its id.")),
        .output = SHAPE(JSON("asks"), JSON(
            "asks": { "type": "boolean", "description": "The step waits, and its person may answer; false: there is nothing to ask them." },
            "approval_id": { "type": "string", "description": "What waits there." },
            "workflow": { "type": "string", "description": "The name of its workflow." },
            "title": { "type": "string", "description": "How people call the step." },
            "content": { "type": "object", "description": "What there is to judge." },
            "digest": { "type": "string", "description": "The SHA-256 of that." },
            "chooses": { "type": "boolean", "description": "One of several variants is to be chosen." },
            "variants": { "type": "array", "items": { "type": "string" }, "description": "Their names; none: any name will do." })),
        .run = approval_ask_op,
    },
    {
        .name = "approval.answer", .effect = OP_WRITES, .by = BY_PERSON,
        .summary = "Record what the person in front of an agent's client has decided when it asked them.",
        .input = FIELDS(JSON("approval_id", "digest", "decision"), APPROVAL_ID "," JSON(
            "digest": { "type": "string", "minLength": 1, "maxLength": 100, "description": "The digest of what they were shown." },
            "decision": { "enum": ["approve", "reject"], "description": "What they have decided." },
            "selected_variant": { "type": "string", "maxLength": 200, "description": "The variant that they have chosen." },
            "reason": { "type": "string", "maxLength": 4000, "description": "Why, in their words." })),
        .output = DECIDED_SHAPE, .run = approval_answer_op,
    },
};
// clang-format on

const struct op_list approval_ops = { ops, sizeof ops / sizeof *ops };
