/* work.c: what steps and nodes have in common: who does the work, with what, how often, for which items,
 * and what a person calls it. */
#include "flow/graph_private.h"

enum {
    ATTEMPTS_MAX = 100,
    AGENTS_MAX = 100,    /* at once, of one step */
    AT_ONCE_MAX = 10000, /* of a loop */
    DEFAULT_ATTEMPTS = 3,
    DEFAULT_FACTOR_MILLI = 2000,
    FACTOR_MAX = 100,
    DEFAULT_MAX_BACKOFF_MS = 3600 * 1000,
};

#define T (1u << JSON_STRING)
#define B (1u << JSON_BOOL)
#define I (1u << JSON_INTEGER)
#define N (1u << JSON_INTEGER | 1u << JSON_REAL)
#define A (1u << JSON_ARRAY)
#define O (1u << JSON_OBJECT)

#define LISTS (~(1u << GRAPH_NODES))
#define NODES (1u << GRAPH_NODES)
#define PHASES (1u << GRAPH_PHASES)

#define REPORT (1u << FORM_REPORT)
#define CALLS (1u << FORM_JOB | 1u << FORM_RUN)
#define WORK (REPORT | CALLS)
#define DOES (WORK | 1u << FORM_SET)

// clang-format off
static const struct member part_members[] = {
    { "id",               PART_ID,               T | I,     0,      0 },
    { "step",             PART_ID,               T | I,     LISTS,  0 },
    { "phase",            PART_ID,               T | I,     LISTS,  0 },
    { "kind",             PART_KIND,             T,         NODES,  0 },
    { "title",            PART_TITLE,            T,         0,      0 },
    { "name",             PART_TITLE,            T,         0,      0 },
    { "description",      PART_DESCRIPTION,      T,         0,      0 },
    { "after",            PART_AFTER,            T | I | A, LISTS,  0 },
    { "prerequisites",    PART_AFTER,            T | I | A, LISTS,  0 },
    { "agent",            PART_AGENTS,           T | A,     0,      REPORT },
    { "agents",           PART_AGENTS,           T | A,     0,      REPORT },
    { "parallel",         PART_PARALLEL,         B | I,     0,      DOES },
    { "parallel_agents",  PART_PARALLEL_AGENTS,  I,         0,      REPORT },
    { "prompt",           PART_PROMPT,           T,         0,      REPORT },
    { "outputs",          PART_OUTPUTS,          A,         0,      WORK },
    { "when",             PART_WHEN,             T | B,     0,      DOES },
    { "for_each",         PART_FOR_EACH,         T | A,     0,      DOES },
    { "as",               PART_AS,               T,         0,      DOES },
    { "retry",            PART_RETRY,            O,         0,      WORK },
    { "retry_enabled",    PART_RETRY_ENABLED,    B,         0,      WORK },
    { "max_attempts",     PART_MAX_ATTEMPTS,     I,         0,      WORK },
    { "triggers_retry",   PART_TRIGGERS_RETRY,   B | T | I, LISTS,  WORK },
    { "timeout",          PART_TIMEOUT,          T,         0,      WORK },
    { "job",              PART_JOB,              T,         0,      0 },
    { "run",              PART_RUN,              T | A,     0,      0 },
    { "with",             PART_WITH,             O,         0,      CALLS },
    { "set",              PART_SET,              O,         0,      0 },
    { "by",               PART_BY,               T,         0,      REPORT },
    { "fails_when",       PART_FAILS_WHEN,       T | B,     0,      WORK },
    { "approval",         PART_APPROVAL,         B | O,     0,      WORK },
    { "human_approval",   PART_APPROVAL,         B | O,     0,      WORK },
    { "approval_type",    PART_APPROVAL_TYPE,    T,         0,      WORK },
    { "evidence",         PART_EVIDENCE,         A,         0,      WORK },
    { "status",           PART_STATUS,           T,         PHASES, 0 },
    { "deliverables",     PART_DELIVERABLES,     A,         PHASES, 0 },
    { "context_for_next", PART_CONTEXT_FOR_NEXT, T,         PHASES, 0 },
};

enum retry_slot { RETRY_ATTEMPTS, RETRY_BACKOFF, RETRY_FACTOR, RETRY_MAX_BACKOFF, RETRY_SLOTS };

static const struct member retry_members[] = {
    { "max_attempts", RETRY_ATTEMPTS,    I, 0, 0 },
    { "backoff",      RETRY_BACKOFF,     T, 0, 0 },
    { "factor",       RETRY_FACTOR,      N, 0, 0 },
    { "max_backoff",  RETRY_MAX_BACKOFF, T, 0, 0 },
};

enum defaults_slot { DEFAULTS_TIMEOUT, DEFAULTS_RETRY, DEFAULTS_ON_FAIL, DEFAULTS_SLOTS };

static const struct member defaults_members[] = {
    { "timeout", DEFAULTS_TIMEOUT, T, 0, 0 },
    { "retry",   DEFAULTS_RETRY,   O, 0, 0 },
    { "on_fail", DEFAULTS_ON_FAIL, T, 0, 0 },
};

enum approval_slot {
    APPROVAL_TYPE, APPROVAL_SHOW, APPROVAL_OPTIONS, APPROVAL_DEADLINE, APPROVAL_DEFAULT,
    APPROVAL_ON_REJECT, APPROVAL_ATTENDED, APPROVAL_SLOTS
};

static const struct member approval_members[] = {
    { "type",      APPROVAL_TYPE,      T,     0, 0 },
    { "show",      APPROVAL_SHOW,      A,     0, 0 },
    { "options",   APPROVAL_OPTIONS,   A | T, 0, 0 },
    { "deadline",  APPROVAL_DEADLINE,  T,     0, 0 },
    { "default",   APPROVAL_DEFAULT,   T,     0, 0 },
    { "on_reject", APPROVAL_ON_REJECT, T | I, LISTS, 0 },
    { "attended",  APPROVAL_ATTENDED,  B,     0, 0 },
};

enum evidence_slot {
    EVIDENCE_RUN, EVIDENCE_EXIT, EVIDENCE_FILE, EVIDENCE_SHA256, EVIDENCE_JUNIT, EVIDENCE_SLOTS
};

static const struct member evidence_members[] = {
    { "run",    EVIDENCE_RUN,    T | A, 0, 0 },
    { "exit",   EVIDENCE_EXIT,   I,     0, 0 },
    { "file",   EVIDENCE_FILE,   T,     0, 0 },
    { "sha256", EVIDENCE_SHA256, T,     0, 0 },
    { "junit",  EVIDENCE_JUNIT,  T,     0, 0 },
};

static const char *const form_words[WORK_FORMS] = {
    [FORM_REPORT] = "work that is reported",
    [FORM_JOB]    = "a job",
    [FORM_RUN]    = "a command",
    [FORM_SET]    = "setting variables",
    [FORM_NONE]   = "a node that does no work",
};
// clang-format on

enum {
    PART_MEMBERS = sizeof part_members / sizeof *part_members,
    RETRY_MEMBERS = sizeof retry_members / sizeof *retry_members,
    DEFAULTS_MEMBERS = sizeof defaults_members / sizeof *defaults_members,
    APPROVAL_MEMBERS = sizeof approval_members / sizeof *approval_members,
    EVIDENCE_MEMBERS = sizeof evidence_members / sizeof *evidence_members,
};

const char *const work_by_names[WORK_BY_COUNT] = { "report", "agent", "job", "run" };
const char *const on_fail_names[ON_FAIL_COUNT] = { "drain", "stop", "incident" };

/* ---- parts ---- */

static struct members members_at(struct arena *a, const struct spot *at, size_t slots)
{
    return (struct members){
        .at = at,
        .is = arena_zero(a, slots * sizeof(const struct json *)),
        .called = arena_zero(a, slots * sizeof(const char *)),
    };
}

struct part *parts_read(struct builder *b, const struct spot *at, const struct json *list,
                        const char *noun)
{
    struct part *parts = arena_zero(b->arena, list->len * sizeof *parts);

    for (uint32_t i = 0; i < list->len; i++) {
        struct part *p = &parts[i];
        p->spot = spot_element(at, i);
        p->spot.noun = noun;
        p->members = members_at(b->arena, &p->spot, PART_SLOTS);
        if (list->items[i].kind != JSON_OBJECT) {
            builder_wrong(b, &p->spot, "type",
                          "expected an object with the members of a %s, found " STR_FMT, noun,
                          STR_ARG(builder_shown(b, &list->items[i])));
            continue;
        }
        const struct json *id = json_get(&list->items[i], "id");
        for (size_t m = 0; !id && m < PART_MEMBERS && part_members[m].slot == PART_ID; m++)
            if (b->kind != GRAPH_NODES)
                id = json_get(&list->items[i], part_members[m].name);
        if (id && (id->kind == JSON_STRING || id->kind == JSON_INTEGER))
            p->spot.name = json_text(id); /* from here on messages have it */
        builder_members(b, &p->members, &list->items[i], part_members, PART_MEMBERS);
        struct spot spot = builder_spot(&p->members, PART_ID);
        if (p->members.is[PART_ID])
            builder_id(b, &spot, p->members.is[PART_ID], "an id", &p->id);
        else if (!id)
            builder_wrong(b, &p->spot, "required",
                          "expected an \"id\", by which others name this %s", noun);
        if (!builder_is_name(p->id))
            p->id = STR("");
    }
    return parts;
}

static struct spot part_id_spot(const void *of, size_t i)
{
    return builder_spot(&((const struct part *)of)[i].members, PART_ID);
}

struct name_table parts_names(struct builder *b, const struct part *parts, size_t count,
                              const char *noun)
{
    str *ids = ARENA_ARRAY(b->arena, str, count);

    for (size_t i = 0; i < count; i++)
        ids[i] = parts[i].id;
    return builder_names(b, ids, count, noun, part_id_spot, parts);
}

enum work_form part_form(struct builder *b, struct part *p)
{
    static const struct {
        enum part_slot slot;
        enum work_form form;
    } ways[] = { { PART_JOB, FORM_JOB }, { PART_RUN, FORM_RUN }, { PART_SET, FORM_SET } };
    const char *first = NULL;
    enum work_form form = FORM_NONE;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!p->members.is[ways[i].slot])
            continue;
        struct spot spot = builder_spot(&p->members, ways[i].slot);
        if (first)
            builder_wrong(
                b, &spot, "conflict",
                "\"%s\" says already how the work is done: make two of them, one after the other",
                first);
        else
            form = ways[i].form;
        first = first ? first : p->members.called[ways[i].slot];
    }
    return form;
}

/* Members that say something of another kind of work. */
static void check_members(struct builder *b, const struct part *p)
{
    bool told[PART_SLOTS] = { false };

    for (size_t i = 0; i < PART_MEMBERS; i++) {
        const struct member *m = &part_members[i];
        if (!p->members.is[m->slot] || told[m->slot] || !m->works || m->works >> p->form & 1)
            continue;
        told[m->slot] = true;
        struct spot spot = builder_spot(&p->members, m->slot);
        bool asks = m->slot == PART_WHEN && p->form == FORM_NONE;
        builder_wrong(b, &spot, "conflict", "this is not for %s: %s", form_words[p->form],
                      asks ? "what it asks stands as \"when\" on the flows" : "leave it out");
    }
}

/* ---- retry, timeout ---- */

static void read_retry(struct builder *b, const struct spot *at, const struct json *value,
                       struct graph_retry *r)
{
    struct members m = members_at(b->arena, at, RETRY_SLOTS);

    builder_members(b, &m, value, retry_members, RETRY_MEMBERS);
    struct spot attempts = builder_spot(&m, RETRY_ATTEMPTS),
                backoff = builder_spot(&m, RETRY_BACKOFF), factor = builder_spot(&m, RETRY_FACTOR),
                most = builder_spot(&m, RETRY_MAX_BACKOFF);
    if (m.is[RETRY_ATTEMPTS])
        builder_int(b, &attempts, m.is[RETRY_ATTEMPTS], 1, ATTEMPTS_MAX, &r->max_attempts);
    if (m.is[RETRY_BACKOFF])
        builder_duration(b, &backoff, m.is[RETRY_BACKOFF], &r->backoff_ms);
    if (m.is[RETRY_FACTOR]) {
        double number = json_to_double(m.is[RETRY_FACTOR]);
        if (number >= 1 && number <= FACTOR_MAX)
            r->factor_milli = (int64_t)(number * 1000 + 0.5);
        else
            builder_wrong(b, &factor, "range", "expected a number from 1 to %d, found " STR_FMT,
                          FACTOR_MAX, STR_ARG(builder_shown(b, m.is[RETRY_FACTOR])));
    }
    if (m.is[RETRY_MAX_BACKOFF]) {
        if (builder_duration(b, &most, m.is[RETRY_MAX_BACKOFF], &r->max_backoff_ms) &&
            r->max_backoff_ms < r->backoff_ms)
            builder_wrong(b, &most, "range", "expected at least the backoff, found " STR_FMT,
                          STR_ARG(builder_shown(b, m.is[RETRY_MAX_BACKOFF])));
    } else if (r->max_backoff_ms < r->backoff_ms) {
        r->max_backoff_ms = r->backoff_ms;
    }
}

static void part_retry(struct builder *b, struct part *p, struct graph_retry *r)
{
    const struct json *retry = p->members.is[PART_RETRY],
                      *enabled = p->members.is[PART_RETRY_ENABLED],
                      *attempts = p->members.is[PART_MAX_ATTEMPTS];
    struct spot retry_spot = builder_spot(&p->members, PART_RETRY),
                enabled_spot = builder_spot(&p->members, PART_RETRY_ENABLED),
                attempts_spot = builder_spot(&p->members, PART_MAX_ATTEMPTS);

    *r = b->retry;
    if (retry) {
        read_retry(b, &retry_spot, retry, r);
        if (enabled)
            builder_wrong(b, &enabled_spot, "conflict",
                          "\"retry\" says already how often: keep one of them");
        if (attempts)
            builder_wrong(b, &attempts_spot, "conflict",
                          "\"retry\" says already how often: write {\"max_attempts\": …} into it");
    } else if (attempts && !(enabled && enabled->len)) {
        builder_wrong(b, &attempts_spot, "conflict",
                      "this stands beside \"retry_enabled\": true, or within \"retry\"");
    } else if (attempts) {
        builder_int(b, &attempts_spot, attempts, 1, ATTEMPTS_MAX, &r->max_attempts);
    } else if (enabled) {
        r->max_attempts = !enabled->len         ? 1
                          : r->max_attempts > 1 ? r->max_attempts
                                                : DEFAULT_ATTEMPTS;
    }
    p->retries = r->max_attempts > 1;
}

void defaults_read(struct builder *b, const struct spot *at, const struct json *value,
                   enum graph_on_fail *on_fail)
{
    b->retry = (struct graph_retry){ .max_attempts = 1,
                                     .factor_milli = DEFAULT_FACTOR_MILLI,
                                     .max_backoff_ms = DEFAULT_MAX_BACKOFF_MS };
    if (!value)
        return;
    struct members m = members_at(b->arena, at, DEFAULTS_SLOTS);
    builder_members(b, &m, value, defaults_members, DEFAULTS_MEMBERS);
    struct spot timeout = builder_spot(&m, DEFAULTS_TIMEOUT),
                retry = builder_spot(&m, DEFAULTS_RETRY), word = builder_spot(&m, DEFAULTS_ON_FAIL);
    if (m.is[DEFAULTS_TIMEOUT])
        builder_duration(b, &timeout, m.is[DEFAULTS_TIMEOUT], &b->timeout_ms);
    if (m.is[DEFAULTS_RETRY])
        read_retry(b, &retry, m.is[DEFAULTS_RETRY], &b->retry);
    if (m.is[DEFAULTS_ON_FAIL]) {
        int n = builder_word(b, &word, m.is[DEFAULTS_ON_FAIL], on_fail_names, ON_FAIL_COUNT);
        *on_fail = n < 0 ? *on_fail : (enum graph_on_fail)n;
    }
}

/* ---- what is done ---- */

static struct graph_settings read_settings(struct builder *b, const struct spot *at,
                                           const struct json *value)
{
    struct graph_setting *settings = arena_zero(b->arena, value->len * sizeof *settings);

    for (uint32_t i = 0; i < value->len; i++) {
        str name = json_name(&value->members[i]);
        struct spot spot = spot_member(at, name);
        if (!builder_is_name(name))
            builder_wrong(
                b, &spot, "format",
                "expected the name of a variable: up to %d letters, digits, \"_\", \"-\" and \".\"",
                BUILDER_NAME_MAX);
        settings[i].name = name;
        settings[i].value = builder_value(b, &spot, &value->members[i].value);
    }
    return (struct graph_settings){ settings, value->len };
}

static void read_command(struct builder *b, const struct spot *at, const struct json *run,
                         const str **argv_out, size_t *argv_count)
{
    bool shell = run->kind == JSON_STRING;
    size_t count = shell ? 3 : run->len;
    str *argv = arena_zero(b->arena, count * sizeof *argv);

    if (shell && !str_trim(json_text(run)).len)
        builder_wrong(b, at, "format", "expected a command, like \"make test\", found " STR_FMT,
                      STR_ARG(builder_shown(b, run)));
    if (shell) {
        argv[0] = STR("sh");
        argv[1] = STR("-c");
        argv[2] = json_text(run);
    } else if (!run->len) {
        builder_wrong(b, at, "format",
                      "expected a program and its arguments, like [\"make\", \"test\"]");
    }
    for (size_t i = 0; !shell && i < count; i++) {
        struct spot spot = spot_element(at, i);
        if (run->items[i].kind != JSON_STRING || (i == 0 && !run->items[i].len))
            builder_wrong(b, &spot, "type", "expected %s, found " STR_FMT,
                          i ? "a string: an argument" : "a string: the program",
                          STR_ARG(builder_shown(b, &run->items[i])));
        else
            argv[i] = json_text(&run->items[i]);
    }
    *argv_out = argv;
    *argv_count = count;
}

static struct graph_work *read_work(struct builder *b, struct part *p)
{
    static const enum work_by by[WORK_FORMS] = { [FORM_JOB] = WORK_JOB, [FORM_RUN] = WORK_COMMAND };
    struct graph_work *w = ARENA_NEW(b->arena, struct graph_work);
    struct members *m = &p->members;
    struct spot job = builder_spot(m, PART_JOB), run = builder_spot(m, PART_RUN),
                with = builder_spot(m, PART_WITH), outputs = builder_spot(m, PART_OUTPUTS),
                timeout = builder_spot(m, PART_TIMEOUT), fails = builder_spot(m, PART_FAILS_WHEN);

    w->by = by[p->form];
    w->job_type = STR("");
    w->retry_step = GRAPH_NONE;
    w->timeout_ms = b->timeout_ms;
    part_retry(b, p, &w->retry);
    if (m->is[PART_JOB])
        builder_id(b, &job, m->is[PART_JOB], "a type of jobs", &w->job_type);
    if (m->is[PART_RUN])
        read_command(b, &run, m->is[PART_RUN], &w->argv, &w->argv_count);
    w->has_with = m->is[PART_WITH] != NULL;
    if (m->is[PART_WITH])
        w->with = read_settings(b, &with, m->is[PART_WITH]);
    if (m->is[PART_OUTPUTS])
        builder_name_list(b, &outputs, m->is[PART_OUTPUTS], "the name of an output", &w->outputs,
                          &w->output_count);
    if (m->is[PART_TIMEOUT])
        builder_duration(b, &timeout, m->is[PART_TIMEOUT], &w->timeout_ms);
    if (m->is[PART_FAILS_WHEN])
        w->fails_when = builder_condition(b, &fails, m->is[PART_FAILS_WHEN]);
    return w;
}

/* ---- loops ---- */

/* What an expression can name: a letter or "_" first, then digits too. */
static bool is_variable(str name)
{
    bool digit = name.len && name.at[0] >= '0' && name.at[0] <= '9';

    return builder_is_name(name) && !digit && str_find(name, '-') == name.len &&
           str_find(name, '.') == name.len;
}

static struct graph_loop *read_loop(struct builder *b, struct part *p)
{
    const struct json *items = p->members.is[PART_FOR_EACH], *as = p->members.is[PART_AS],
                      *parallel = p->members.is[PART_PARALLEL];
    struct spot items_spot = builder_spot(&p->members, PART_FOR_EACH),
                as_spot = builder_spot(&p->members, PART_AS),
                parallel_spot = builder_spot(&p->members, PART_PARALLEL);
    struct graph_loop *l = ARENA_NEW(b->arena, struct graph_loop);
    int64_t at_once = 0;

    l->as = STR("item");
    if (items->kind == JSON_STRING && !(items->len && items->text[0] == '='))
        builder_wrong(b, &items_spot, "expression",
                      "expected a list, or an expression of one, which begins with \"=\", like "
                      "\"=plan.parts\", found " STR_FMT,
                      STR_ARG(builder_shown(b, items)));
    else
        l->items = builder_value(b, &items_spot, items);
    if (as && is_variable(json_text(as)))
        l->as = json_text(as);
    else if (as)
        builder_wrong(
            b, &as_spot, "format",
            "expected the name of a variable, of letters, digits and \"_\", found " STR_FMT,
            STR_ARG(builder_shown(b, as)));
    if (parallel && parallel->kind == JSON_INTEGER)
        builder_int(b, &parallel_spot, parallel, 1, AT_ONCE_MAX, &at_once);
    else if (parallel && !parallel->len)
        at_once = 1;
    l->at_once = (uint32_t)at_once;
    return l;
}

/* ---- agents ---- */

/* Agents of our own definitions and of document 002's are started, those of document 001's phases report
 * what they do by themselves, unless the definition says otherwise. */
static void read_agents(struct builder *b, struct part *p, struct graph_step *s,
                        struct graph_work *w)
{
    static const char *const words[] = { "report", "run" };
    const struct members *m = &p->members;
    const struct json *agents = m->is[PART_AGENTS], *parallel = m->is[PART_PARALLEL],
                      *many = m->is[PART_PARALLEL_AGENTS];
    struct spot agents_spot = builder_spot(m, PART_AGENTS),
                parallel_spot = builder_spot(m, PART_PARALLEL),
                many_spot = builder_spot(m, PART_PARALLEL_AGENTS),
                by_spot = builder_spot(m, PART_BY), prompt_spot = builder_spot(m, PART_PROMPT);
    int64_t count = 0;

    if (agents && agents->kind == JSON_STRING) {
        str *one = ARENA_NEW(b->arena, str);
        if (builder_id(b, &agents_spot, agents, "the name of an agent", one))
            s->agents = one, s->agent_count = 1;
    } else if (agents) {
        builder_name_list(b, &agents_spot, agents, "the name of an agent", &s->agents,
                          &s->agent_count);
    }
    if (many && builder_int(b, &many_spot, many, 1, AGENTS_MAX, &count))
        s->parallel_agents = (uint32_t)count;
    if (many && s->agent_count > 1)
        builder_wrong(b, &many_spot, "conflict",
                      "this is how often one agent works at once, and there are %zu agents: write "
                      "\"parallel\": true",
                      s->agent_count);
    if (parallel && parallel->kind == JSON_INTEGER && !m->is[PART_FOR_EACH])
        builder_wrong(
            b, &parallel_spot, "conflict",
            "a number is how many items of \"for_each\" at once: there is none; several runs of "
            "one agent are \"parallel_agents\": " STR_FMT,
            STR_ARG(json_text(parallel)));
    s->agents_at_once = parallel && parallel->kind == JSON_BOOL && parallel->len &&
                        s->agent_count > 1;
    bool starts = agents && b->kind != GRAPH_PHASES;
    if (m->is[PART_BY])
        starts = builder_word(b, &by_spot, m->is[PART_BY], words, 2) == 1;
    if (starts && !agents)
        builder_wrong(b, &by_spot, "required", "expected an \"agent\" that is started");
    if (starts && s->agent_count)
        w->by = WORK_AGENT;
    if (m->is[PART_PROMPT])
        s->prompt = builder_template(b, &prompt_spot, m->is[PART_PROMPT]);
}

/* ---- approval, evidence ---- */

static const char *const approval_types[] = { "approve", "select_variant" };

static void read_approval_members(struct builder *b, const struct spot *at, const struct json *is,
                                  struct graph_approval *a)
{
    static const char *const defaults[] = { "approve", "reject" };
    struct members m = members_at(b->arena, at, APPROVAL_SLOTS);
    str id;

    builder_members(b, &m, is, approval_members, APPROVAL_MEMBERS);
    struct spot kind = builder_spot(&m, APPROVAL_TYPE), shown = builder_spot(&m, APPROVAL_SHOW),
                options = builder_spot(&m, APPROVAL_OPTIONS),
                deadline = builder_spot(&m, APPROVAL_DEADLINE),
                fallback = builder_spot(&m, APPROVAL_DEFAULT),
                on_reject = builder_spot(&m, APPROVAL_ON_REJECT);
    if (m.is[APPROVAL_TYPE])
        a->variant = builder_word(b, &kind, m.is[APPROVAL_TYPE], approval_types, 2) == 1;
    if (m.is[APPROVAL_SHOW])
        builder_name_list(b, &shown, m.is[APPROVAL_SHOW], "the name of an output", &a->show,
                          &a->show_count);
    if (m.is[APPROVAL_OPTIONS])
        a->options = builder_value(b, &options, m.is[APPROVAL_OPTIONS]);
    if (m.is[APPROVAL_DEADLINE])
        builder_duration(b, &deadline, m.is[APPROVAL_DEADLINE], &a->deadline_ms);
    if (m.is[APPROVAL_DEFAULT] &&
        builder_word(b, &fallback, m.is[APPROVAL_DEFAULT], defaults, 2) >= 0) {
        a->fallback = json_text(m.is[APPROVAL_DEFAULT]);
        if (!m.is[APPROVAL_DEADLINE])
            builder_wrong(b, &fallback, "conflict",
                          "this is what holds when nobody has decided by the \"deadline\", and "
                          "there is none");
    }
    if (m.is[APPROVAL_ON_REJECT])
        builder_id(b, &on_reject, m.is[APPROVAL_ON_REJECT], "a step's id", &id);
    a->attended = m.is[APPROVAL_ATTENDED] && m.is[APPROVAL_ATTENDED]->len;
}

static void read_approval(struct builder *b, struct part *p, struct graph_step *s)
{
    const struct json *is = p->members.is[PART_APPROVAL], *type = p->members.is[PART_APPROVAL_TYPE];
    struct spot at = builder_spot(&p->members, PART_APPROVAL),
                type_spot = builder_spot(&p->members, PART_APPROVAL_TYPE);
    int word = type ? builder_word(b, &type_spot, type, approval_types, 2) : -1;

    if (word >= 0 && !(is && is->kind == JSON_BOOL && is->len))
        builder_wrong(b, &type_spot, "conflict", "this stands beside \"human_approval\": true");
    if (!is || (is->kind == JSON_BOOL && !is->len))
        return;
    struct graph_approval *a = ARENA_NEW(b->arena, struct graph_approval);
    a->fallback = STR("");
    a->on_reject = GRAPH_NONE; /* steps.c sets it, when all steps are known */
    a->variant = word == 1;
    if (is->kind == JSON_OBJECT)
        read_approval_members(b, &at, is, a);
    s->approval = a;
}

static void read_evidence(struct builder *b, const struct members *m, struct graph_evidence *e)
{
    struct spot run = builder_spot(m, EVIDENCE_RUN), exit = builder_spot(m, EVIDENCE_EXIT),
                file = builder_spot(m, EVIDENCE_FILE), sha256 = builder_spot(m, EVIDENCE_SHA256),
                junit = builder_spot(m, EVIDENCE_JUNIT);

    if (m->is[EVIDENCE_RUN])
        read_command(b, &run, m->is[EVIDENCE_RUN], &e->argv, &e->argv_count);
    if (m->is[EVIDENCE_EXIT])
        builder_int(b, &exit, m->is[EVIDENCE_EXIT], 0, 255, &e->exit);
    if (m->is[EVIDENCE_FILE]) {
        e->kind = EVIDENCE_HASH;
        e->file = builder_value(b, &file, m->is[EVIDENCE_FILE]);
    }
    if (m->is[EVIDENCE_SHA256])
        e->sha256 = builder_value(b, &sha256, m->is[EVIDENCE_SHA256]);
    if (m->is[EVIDENCE_JUNIT]) {
        e->kind = EVIDENCE_TESTS;
        e->file = builder_value(b, &junit, m->is[EVIDENCE_JUNIT]);
    }
}

static void read_evidence_list(struct builder *b, const struct spot *at, const struct json *list,
                               struct graph_step *s)
{
    static const unsigned whose[EVIDENCE_SLOTS] = {
        [EVIDENCE_EXIT] = EVIDENCE_RUN, [EVIDENCE_SHA256] = EVIDENCE_FILE
    };
    struct graph_evidence *all = arena_zero(b->arena, list->len * sizeof *all);

    for (uint32_t i = 0; i < list->len; i++) {
        struct spot spot = spot_element(at, i);
        struct members m = members_at(b->arena, &spot, EVIDENCE_SLOTS);
        if (list->items[i].kind != JSON_OBJECT) {
            builder_wrong(b, &spot, "type",
                          "expected an object with \"run\", \"file\" or \"junit\", found " STR_FMT,
                          STR_ARG(builder_shown(b, &list->items[i])));
            continue;
        }
        size_t before = b->mistake_count;
        builder_members(b, &m, &list->items[i], evidence_members, EVIDENCE_MEMBERS);
        int kinds = !!m.is[EVIDENCE_RUN] + !!m.is[EVIDENCE_FILE] + !!m.is[EVIDENCE_JUNIT];
        if (kinds != 1 && b->mistake_count == before)
            builder_wrong(b, &spot, "required",
                          "expected one of \"run\", \"file\" and \"junit\", found %s",
                          kinds ? "several" : "none");
        for (unsigned slot = 0; kinds == 1 && slot < EVIDENCE_SLOTS; slot++)
            if ((slot == EVIDENCE_EXIT || slot == EVIDENCE_SHA256) && m.is[slot] &&
                !m.is[whose[slot]]) {
                struct spot lone = builder_spot(&m, slot);
                builder_wrong(b, &lone, "conflict", "this is of \"%s\", which is not there",
                              evidence_members[whose[slot]].name);
            }
        read_evidence(b, &m, &all[i]);
    }
    s->evidence = all;
    s->evidence_count = list->len;
}

/* ---- all of it ---- */

static void read_words(struct builder *b, struct part *p, struct graph_step *s,
                       struct graph_work *w)
{
    const struct members *m = &p->members;
    struct spot evidence = builder_spot(m, PART_EVIDENCE);

    s->id = p->id;
    s->title = m->is[PART_TITLE] ? json_text(m->is[PART_TITLE]) : STR("");
    s->title = s->title.len ? s->title : s->id;
    s->description = m->is[PART_DESCRIPTION] ? json_text(m->is[PART_DESCRIPTION]) : STR("");
    if (p->form == FORM_REPORT)
        read_agents(b, p, s, w);
    if (p->form != FORM_SET)
        read_approval(b, p, s);
    if (p->form != FORM_SET && m->is[PART_EVIDENCE])
        read_evidence_list(b, &evidence, m->is[PART_EVIDENCE], s);
}

void part_read(struct builder *b, struct part *p, struct graph_node *node, struct graph_step *step)
{
    const struct members *m = &p->members;
    struct spot when = builder_spot(m, PART_WHEN), set = builder_spot(m, PART_SET),
                as = builder_spot(m, PART_AS), parallel = builder_spot(m, PART_PARALLEL);

    struct graph_work *work = NULL;

    check_members(b, p);
    if (p->form == FORM_NONE)
        return;
    node->kind = p->form == FORM_SET ? NODE_FEEL : NODE_WORK;
    if (m->is[PART_WHEN])
        node->when = builder_condition(b, &when, m->is[PART_WHEN]);
    if (m->is[PART_FOR_EACH])
        node->loop = read_loop(b, p);
    else if (m->is[PART_AS])
        builder_wrong(b, &as, "conflict",
                      "this names the items of \"for_each\", and there is none");
    else if (p->form != FORM_REPORT && m->is[PART_PARALLEL])
        builder_wrong(b, &parallel, "conflict",
                      "this is of \"for_each\" and of agents, and there is neither");
    if (p->form == FORM_SET) {
        node->settings = read_settings(b, &set, m->is[PART_SET]);
        if (!node->settings.count)
            builder_wrong(b, &set, "required",
                          "expected at least one variable, like {\"count\": \"=count + 1\"}");
    } else {
        node->work = work = read_work(b, p);
    }
    read_words(b, p, step, work);
}
