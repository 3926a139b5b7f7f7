/* fixture_rounds.c: the suite's tools that need something of a client of 2026-07-28, and ask for it
 * in their result.
 *
 * The client repeats its request with the answers. What was answered in rounds before that is kept
 * by nobody but the client: it comes back in requestState, which rounds.c has sealed. */
#include "suites/fixture.h"
#include "mcp/write.h"

#define STATE_LIVES_MS (10 * 60 * 1000)

/* ---- the rounds ---- */

/* Where the client is: the round, and what it has answered so far. False: it was refused. */
static bool take_state(struct mcp_call *m, const struct fixture_rounds *r, size_t *at,
                       struct json *answers, bool *fresh)
{
    const struct json *state;
    size_t rounds = 0;

    *at = 0;
    *answers = json_object();
    if (!round_open(m, &state))
        return false;
    *fresh = r->sealed && !state;
    if (!r->sealed || !state)
        return true;
    while (r->rounds[rounds])
        rounds++;
    int64_t round = json_int_or(state, "round", -1);
    const struct json *before = json_get(state, "answers");
    if (round < 0 || (size_t)round >= rounds || !json_is(before, JSON_OBJECT)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "requestState is of another request");
        return false;
    }
    *at = (size_t)round;
    *answers = json_copy(m->arena, before);
    return true;
}

/* Adds the answers of this request that fit. */
static void take_answers(struct mcp_call *m, const struct fixture_question *questions,
                         struct json *answers)
{
    for (const struct fixture_question *q = questions; q->key; q++) {
        const struct json *answer = round_response(m, q->key);
        if (!json_get(answers, q->key) && fixture_fits(m, q, answer))
            json_put(m->arena, answers, str_from(q->key), *answer);
    }
}

static bool is_open(const struct mcp_call *m, const struct fixture_rounds *r,
                    const struct fixture_question *q, const struct json *answers)
{
    return !json_get(answers, q->key) && (!r->if_declared || fixture_can_ask(m, q));
}

static bool any_open(const struct mcp_call *m, const struct fixture_rounds *r, size_t at,
                     const struct json *answers)
{
    for (const struct fixture_question *q = r->rounds[at]; q->key; q++)
        if (is_open(m, r, q, answers))
            return true;
    return false;
}

static str seal(struct mcp_call *m, size_t at, const struct json *answers)
{
    str state = arena_printf(m->arena, "{\"round\":%zu,\"answers\":" STR_FMT "}", at,
                             STR_ARG(json_printed(m->arena, answers)));

    return round_seal(m, state, STATE_LIVES_MS);
}

static void ask(struct mcp_call *m, const struct fixture_rounds *r, size_t at,
                const struct json *answers)
{
    str state = r->sealed ? seal(m, at, answers) : STR("");

    if (!r->if_declared)
        for (const struct fixture_question *q = r->rounds[at]; q->key; q++)
            if (!fixture_must_ask(m, q))
                return;
    struct json_writer *w = round_begin(m);
    write_begin(w, STR("inputRequests"), '{');
    for (const struct fixture_question *q = r->rounds[at]; q->key; q++)
        if (is_open(m, r, q, answers))
            fixture_write_request(w, q);
    json_write_end(w, '}');
    round_end(m, state);
}

void fixture_run_rounds(struct mcp_call *m, const struct fixture_rounds *r)
{
    const struct json *given = json_get(m->message.params, "inputResponses");
    struct json answers;
    size_t at;
    bool fresh;

    if (given && !json_is(given, JSON_OBJECT)) {
        mcp_refuse(m, RPC_PARAMS, STR(""), "inputResponses must be an object, not of type %s",
                   json_kind_name(given->kind));
        return;
    }
    if (!take_state(m, r, &at, &answers, &fresh))
        return;
    /* Answers without the state that they belong to are answers to nothing. */
    if (!fresh)
        take_answers(m, r->rounds[at], &answers);
    for (; r->rounds[at]; at++)
        if (any_open(m, r, at, &answers)) {
            ask(m, r, at, &answers);
            return;
        }
    r->finish(m, &answers);
}

static void call(struct mcp_call *m, const struct fixture_tool *tool, const struct json *arguments)
{
    (void)arguments;
    fixture_run_rounds(m, tool->rounds);
}

/* ---- what is asked ---- */

// clang-format off
#define FORM_OF(field, type_) \
    "{\"type\":\"object\",\"properties\":{\"" field "\":{\"type\":\"" type_ "\"}},\"required\":[\"" field "\"]}"

static const struct fixture_question
    user_name[] = {
        { "user_name", ASK_FORM, "What is your name?", FORM_OF("name", "string"), 0 }, { 0 } },
    capital[] = {
        { "capital_question", ASK_MODEL, "What is the capital of France?", NULL, 100 }, { 0 } },
    client_roots[] = {
        { "client_roots", ASK_ROOTS, "", NULL, 0 }, { 0 } },
    confirm[] = {
        { "confirm", ASK_FORM, "Please confirm", FORM_OF("ok", "boolean"), 0 }, { 0 } },
    three[] = {
        { "user_name", ASK_FORM, "What is your name?", FORM_OF("name", "string"), 0 },
        { "greeting", ASK_MODEL, "Generate a greeting", NULL, 50 },
        { "client_roots", ASK_ROOTS, "", NULL, 0 }, { 0 } },
    step1[] = {
        { "step1", ASK_FORM, "Step 1: What is your name?", FORM_OF("name", "string"), 0 }, { 0 } },
    step2[] = {
        { "step2", ASK_FORM, "Step 2: What is your favorite color?", FORM_OF("color", "string"), 0 }, { 0 } };
// clang-format on

/* ---- what is made of the answers ---- */

static str field(const struct json *answers, const char *key, const char *name)
{
    return json_str(json_get(json_get(answers, key), "content"), name);
}

static void say_hello(struct mcp_call *m, const struct json *answers)
{
    str name = field(answers, "user_name", "name");

    tool_answer_text(m,
                     name.len ? arena_printf(m->arena, "Hello, " STR_FMT "!", STR_ARG(name))
                              : STR("Hello, whoever you are!"),
                     false);
}

static void say_confirmed(struct mcp_call *m, const struct json *answers)
{
    tool_answer_text(
        m,
        arena_printf(m->arena, "state-ok: " STR_FMT,
                     STR_ARG(fixture_answer_text(m->arena, confirm, json_get(answers, "confirm")))),
        false);
}

static void say_color(struct mcp_call *m, const struct json *answers)
{
    tool_answer_text(m,
                     arena_printf(m->arena, "The favorite color of " STR_FMT " is " STR_FMT ".",
                                  STR_ARG(field(answers, "step1", "name")),
                                  STR_ARG(field(answers, "step2", "color"))),
                     false);
}

/* Every answer in a line of its own. */
static void say_answers(struct mcp_call *m, const struct json *answers)
{
    struct buf text = buf_in(m->arena);

    for (const struct fixture_question *q = three; q->key; q++) {
        const struct json *answer = json_get(answers, q->key);
        if (answer)
            buf_printf(&text, "%s: " STR_FMT "\n", q->key,
                       STR_ARG(fixture_answer_text(m->arena, q, answer)));
    }
    tool_answer_text(m, text.len ? str_trim(buf_str(&text)) : STR("There was nothing to ask."),
                     false);
}

static void say_capital(struct mcp_call *m, const struct json *answers)
{
    tool_answer_text(m,
                     fixture_answer_text(m->arena, capital, json_get(answers, "capital_question")),
                     false);
}

/* ---- the table ---- */

// clang-format off
static const struct fixture_rounds
    elicitation = { .rounds = { user_name },    .finish = say_hello },
    sampling    = { .rounds = { capital },      .finish = say_capital },
    list_roots  = { .rounds = { client_roots }, .finish = say_answers },
    state       = { .rounds = { confirm },      .finish = say_confirmed, .sealed = true },
    multiple    = { .rounds = { three },        .finish = say_answers,   .sealed = true },
    multi_round = { .rounds = { step1, step2 }, .finish = say_color,     .sealed = true },
    declared    = { .rounds = { three },        .finish = say_answers,   .if_declared = true };

static const struct fixture_tool tools[] = {
    { "test_input_required_result_elicitation", "Asks for a name, and greets.", NULL, ERA_MODERN, .call = call, .rounds = &elicitation },
    { "test_input_required_result_sampling", "Asks the client's model a question.", NULL, ERA_MODERN, .call = call, .rounds = &sampling },
    { "test_input_required_result_list_roots", "Asks for the client's roots.", NULL, ERA_MODERN, .call = call, .rounds = &list_roots },
    { "test_input_required_result_request_state", "Asks for a confirmation, with a state that must come back.", NULL, ERA_MODERN, .call = call, .rounds = &state },
    { "test_input_required_result_tampered_state", "Asks for a confirmation, with a state that must come back as it was.", NULL, ERA_MODERN, .call = call, .rounds = &state },
    { "test_input_required_result_multiple_inputs", "Asks for a name, a greeting and the roots at once.", NULL, ERA_MODERN, .call = call, .rounds = &multiple },
    { "test_input_required_result_multi_round", "Asks for a name, then for a color.", NULL, ERA_MODERN, .call = call, .rounds = &multi_round },
    { "test_input_required_result_capabilities", "Asks whatever the client can answer.", NULL, ERA_MODERN, .call = call, .rounds = &declared },
    { "test_missing_capability", "Needs a client with a model.", NULL, ERA_MODERN, .call = call, .rounds = &sampling },
};
// clang-format on

const struct fixture_tools fixture_round_tools = { tools, sizeof tools / sizeof tools[0] };
