/* elicit.c: asking the person in front of a client for what only a person decides.
 *
 * Where the definition of a workflow lets them, somebody who sits before an agent's client answers by
 * a form of it. An older client is asked by a request of ours on the stream of its call; a newer one by
 * the result, and repeats its call with the answer. What they decide holds for what they were shown:
 * it is recorded with the approval's id and the digest of its content. What the agent has passed is
 * shown as what it proposes, and decides nothing. */
#include "base/utf8.h"
#include "mcp/mcp_private.h"
#include "mcp/write.h"

#define KEY "decision" /* of the form among what a newer client is asked for */

enum {
    ASK_MS = 10 * 60 * 1000, /* for an answer, where nothing else is said */
    CONTENT_BYTES = 6000,    /* of what is to be judged, in the form */
    PROPOSAL_BYTES = 1000,
    REASON_BYTES = 4000,
};

struct elicitation {
    const struct elicit_ends *ends;
    const struct json *input; /* of step.approve */
    str approval_id, digest;  /* of what is shown */
    const struct json *question;
    str ask_id;
};

bool elicit_can(const struct mcp_call *m, const struct op *op)
{
    return op->elicits && m->client.elicits_form && m->client.version >= MCP_2025_06_18 &&
           actor_is_attended(m->actor);
}

/* ---- what is asked ---- */

static void put_content(struct mcp_call *m, struct buf *out, const struct elicitation *e)
{
    struct buf content = buf_in(m->arena);

    json_print_pretty(&content, json_get(e->question, "content"));
    str shown = utf8_cut(buf_str(&content), CONTENT_BYTES);
    buf_add(out, shown);
    if (shown.len < content.len)
        buf_printf(out, "\n… (%zu of %zu bytes; `baton inbox show " STR_FMT "` shows all of it)",
                   shown.len, content.len, STR_ARG(e->approval_id));
}

/* As JSON, in which nothing looks like a word of ours. */
static void put_proposal(struct mcp_call *m, struct buf *out, const struct elicitation *e)
{
    static const char *const fields[] = { "approved", "selected_variant", "modifications",
                                          "reason" };
    struct json proposal = json_object();

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct json *value = json_get(e->input, fields[i]);
        if (value)
            json_put(m->arena, &proposal, str_from(fields[i]), *value);
    }
    buf_printf(out, "\n\nYour agent proposes " STR_FMT ". That decides nothing: you do.",
               STR_ARG(utf8_cut(json_printed(m->arena, &proposal), PROPOSAL_BYTES)));
}

static str message(struct mcp_call *m, const struct elicitation *e)
{
    struct buf out = buf_in(m->arena);
    struct json title = json_string(json_str(e->question, "title"));

    buf_printf(&out, "Step " STR_FMT " of workflow " STR_FMT " waits for your approval.\n\n",
               STR_ARG(json_printed(m->arena, &title)), STR_ARG(json_str(e->question, "workflow")));
    put_content(m, &out, e);
    put_proposal(m, &out, e);
    buf_printf(&out, "\n\nApproval " STR_FMT ", of what has the SHA-256 " STR_FMT ".",
               STR_ARG(e->approval_id), STR_ARG(e->digest));
    return buf_str(&out);
}

static void write_choice(struct json_writer *w, const char *name, const char *title,
                         const struct json *among)
{
    write_begin(w, str_from(name), '{');
    write_text(w, STR("type"), STR("string"));
    write_text(w, STR("title"), str_from(title));
    if (among && among->len)
        write_value(w, STR("enum"), among);
    json_write_end(w, '}');
}

static void write_form(struct mcp_call *m, struct json_writer *w, const struct elicitation *e)
{
    struct json words = json_array();

    json_push(m->arena, &words, json_string(STR("approve")));
    json_push(m->arena, &words, json_string(STR("reject")));
    write_begin(w, STR("requestedSchema"), '{');
    write_text(w, STR("type"), STR("object"));
    write_begin(w, STR("properties"), '{');
    write_choice(w, "decision", "Your decision", &words);
    if (json_bool_or(e->question, "chooses", false))
        write_choice(w, "selected_variant", "Of the variants, the one that you choose",
                     json_get(e->question, "variants"));
    write_choice(w, "reason", "Why (may be left out)", NULL);
    json_write_end(w, '}');
    write_begin(w, STR("required"), '[');
    json_write_str(w, STR("decision"));
    json_write_end(w, ']');
    json_write_end(w, '}');
}

static void write_params(struct mcp_call *m, struct json_writer *w, const struct elicitation *e)
{
    json_write_begin(w, '{');
    if (m->client.version >= MCP_2025_11_25)
        write_text(w, STR("mode"), STR("form"));
    write_text(w, STR("message"), message(m, e));
    write_form(m, w, e);
    json_write_end(w, '}');
}

/* ---- what was answered ---- */

/* Whoever does not decide, or says what cannot be read, has decided nothing. */
static bool is_decision(const struct json *content)
{
    str decision = json_str(content, "decision");

    return str_eq(decision, STR("approve")) || str_eq(decision, STR("reject"));
}

static void hear(struct mcp_call *m, const struct json *response)
{
    const struct elicitation *e = m->elicitation;
    const struct json *content = json_get(response, "content");
    struct json input = json_object();

    if (!response || !str_eq(json_str(response, "action"), STR("accept")) ||
        !is_decision(content)) {
        e->ends->undecided(m);
        return;
    }
    str decision = json_str(content, "decision"), variant = json_str(content, "selected_variant"),
        reason = utf8_cut(json_str(content, "reason"), REASON_BYTES);
    json_put(m->arena, &input, STR("approval_id"), json_string(e->approval_id));
    json_put(m->arena, &input, STR("digest"), json_string(e->digest));
    json_put(m->arena, &input, STR("decision"), json_string(decision));
    if (variant.len && str_eq(decision, STR("approve")))
        json_put(m->arena, &input, STR("selected_variant"), json_string(variant));
    if (reason.len)
        json_put(m->arena, &input, STR("reason"), json_string(reason));
    m->key = STR(""); /* of the agent's own call */
    mcp_ask_with(m, "approval.answer", input, e->ends->decided);
    m->by_person = true;
}

/* ---- asking ---- */

static int64_t ask_ms(const struct mcp_call *m)
{
    int64_t said = m->mcp->options.ask_ms;

    return said ? said : ASK_MS;
}

/* A newer client: nothing is kept here; what it was shown comes back with what it answers. */
static void ask_round(struct mcp_call *m)
{
    const struct elicitation *e = m->elicitation;
    struct buf payload = buf_in(m->arena);
    struct json_writer inner = json_writer_to(&payload);

    json_write_begin(&inner, '{');
    write_text(&inner, STR("approval"), e->approval_id);
    write_text(&inner, STR("digest"), e->digest);
    json_write_end(&inner, '}');
    struct json_writer *w = round_begin(m);
    write_begin(w, STR("inputRequests"), '{');
    write_begin(w, STR(KEY), '{');
    write_text(w, STR("method"), STR("elicitation/create"));
    json_write_name(w, STR("params"));
    write_params(m, w, e);
    json_write_end(w, '}');
    json_write_end(w, '}');
    round_end(m, round_seal(m, buf_str(&payload), ask_ms(m)));
}

/* An older one. */
static void play(struct mcp_call *m, struct mcp_play *p)
{
    const struct elicitation *e = m->elicitation;
    struct buf out = buf_in(m->arena);
    struct json_writer w = json_writer_to(&out);

    if (p->number > 0) {
        const struct json *result = p->reply ? p->reply->result : NULL;
        p->step = MCP_STEP_END;
        hear(m, round_fits_elicitation(result) ? result : NULL);
        return;
    }
    rpc_begin_request(&w, e->ask_id, STR("elicitation/create"));
    write_params(m, &w, e);
    rpc_end(&w);
    p->step = MCP_STEP_ASK;
    p->text = buf_str(&out);
    p->ask_id = e->ask_id;
    p->pause_ms = ask_ms(m);
}

static void looked(struct mcp_call *m, const struct command *done)
{
    struct elicitation *e = m->elicitation;

    e->question = done->error ? NULL : mcp_answer_json(m, done);
    if (!json_bool_or(e->question, "asks", false)) {
        e->ends->undecided(m);
        return;
    }
    e->approval_id = json_str(e->question, "approval_id");
    e->digest = json_str(e->question, "digest");
    if (mcp_is_modern(m->client.version)) {
        ask_round(m);
        return;
    }
    e->ask_id = arena_printf(m->arena, "ask-%lld", (long long)++m->mcp->asked);
    m->play = play;
    m->next = MCP_PLAY;
}

void elicit(struct mcp_call *m, const struct json *input, const struct json *past,
            const struct elicit_ends *ends)
{
    static const char *const names[] = { "workflow_id", "step" };
    struct elicitation *e = ARENA_NEW(m->arena, struct elicitation);
    const struct json *answered = past ? round_response(m, KEY) : NULL;
    struct json step = json_object();

    *e = (struct elicitation){ .ends = ends,
                               .input = input,
                               .approval_id = json_str(past, "approval"),
                               .digest = json_str(past, "digest") };
    m->elicitation = e;
    if (answered && e->approval_id.len) {
        hear(m, answered);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct json *value = json_get(input, names[i]);
        if (value)
            json_put(m->arena, &step, str_from(names[i]), *value);
    }
    mcp_ask_with(m, "approval.ask", step, looked);
}
