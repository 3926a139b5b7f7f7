/* fixture.h: what the files of the fixtures know of each other.
 *
 * fixtures.c           the methods in fixture mode; tools/list, tools/call
 * fixture_tools.c      tools that answer at once
 * fixture_streams.c    tools that say something while they work
 * fixture_questions.c  what a client is asked, and whether an answer fits
 * fixture_asks.c       tools that ask an older client
 * fixture_rounds.c     tools that ask a newer one, which repeats its request
 * fixture_jobs.c       tools that are tasks
 * fixture_resources.c  resources, and listening
 * fixture_prompts.c    prompts, and completion
 *
 * The names, arguments and answers are those that the conformance suite asks for. Nothing here
 * knows of operations, tokens or stored data. */
#ifndef SUITES_FIXTURE_H
#define SUITES_FIXTURE_H

#include "json/schema/schema.h"
#include "mcp/mcp_private.h"
#include "suites/suites.h"

/* ---- content ---- */

enum fixture_kind { BLOCK_NONE, BLOCK_TEXT, BLOCK_IMAGE, BLOCK_AUDIO, BLOCK_RESOURCE };

/* One piece of content. A list of them ends with BLOCK_NONE. */
struct fixture_block {
    enum fixture_kind kind;
    const char *text; /* or base64 */
    const char *mime, *uri;
};

/* The smallest picture and the shortest sound that their formats have: base64. */
extern const char fixture_png[], fixture_wav[];

void fixture_write_block(struct json_writer *w, const struct fixture_block *block);

/* ---- questions ---- */

enum fixture_question_kind { ASK_FORM, ASK_MODEL, ASK_ROOTS };

/* What is asked of a client. A list of them ends with a key of NULL. */
struct fixture_question {
    const char *key;
    enum fixture_question_kind kind;
    const char *text;   /* the message of a form, the prompt of a model */
    const char *schema; /* of a form: what is answered */
    int tokens_max;     /* of a model */
};

const char *fixture_question_method(const struct fixture_question *q);

/* The params of the request; `text` is asked where it is not empty. */
void fixture_write_question(struct json_writer *w, const struct fixture_question *q, str text);

/* A member of inputRequests. */
void fixture_write_request(struct json_writer *w, const struct fixture_question *q);

/* Whether the client has said that it can be asked this; refuses and gives false when not. */
bool fixture_can_ask(const struct mcp_call *m, const struct fixture_question *q);
bool fixture_must_ask(struct mcp_call *m, const struct fixture_question *q);

/* Whether an answer is one to this question: for a form, also whether it fits the form. */
bool fixture_fits(struct mcp_call *m, const struct fixture_question *q, const struct json *answer);

/* An answer as text: what the model said, which roots there are, what became of a form. */
str fixture_answer_text(struct arena *a, const struct fixture_question *q,
                        const struct json *answer);

/* ---- rounds ---- */

/* Questions asked one list after the other; the client repeats its request with the answers. */
struct fixture_rounds {
    const struct fixture_question *rounds[3]; /* up to the first NULL */
    bool sealed;      /* what was answered before comes back in requestState, and must be ours */
    bool if_declared; /* only what the client can do is asked, instead of refusing it */
    void (*finish)(struct mcp_call *m, const struct json *answers); /* by their keys */
};

void fixture_run_rounds(struct mcp_call *m, const struct fixture_rounds *rounds);

/* ---- streams ---- */

/* Nothing for a while, and then this text is the tool's answer. */
void fixture_play_wait(struct mcp_call *m, int64_t ms, str text);

/* ---- tools ---- */

struct fixture_tool;
typedef void fixture_call(struct mcp_call *m, const struct fixture_tool *tool,
                          const struct json *arguments);

/* `call` says what is next; what it works with is in one of the fields below it. */
struct fixture_tool {
    const char *name, *description;
    const char *input; /* JSON Schema; NULL: it has no arguments */
    enum mcp_era in;
    bool extra; /* there only while test_trigger_tool_change has made it so */
    fixture_call *call;
    const struct fixture_block *blocks;
    const struct fixture_step *script;
    const struct fixture_question *question;
    const struct fixture_rounds *rounds;
    const struct fixture_job *job;
};

struct fixture_tools {
    const struct fixture_tool *tools;
    size_t count;
};

extern const struct fixture_tools fixture_plain_tools, fixture_stream_tools, fixture_ask_tools,
    fixture_round_tools, fixture_job_tools;

/* ---- what is remembered, by one server for all its clients ---- */

struct fixtures {
    bool extra_tool, extra_prompt; /* whether they are in the lists */
    int64_t asked;                 /* requests of ours so far */
    struct fixture_task *tasks;    /* fixture_jobs.c's */
    int64_t task_count;            /* so far */
};

struct fixtures *fixtures_of(struct mcp_call *m);

/* A document of ours: it parses. */
const struct json *fixture_json(struct arena *a, const char *text);

/* What does not fit a schema of ours, in a sentence; empty: it fits. */
str fixture_violations(struct mcp_call *m, const char *schema, const struct json *value);

/* A page of a list of `count`: it begins at *from, and *next is where another begins, empty for the
 * last. False: the cursor was refused. */
bool fixture_page(struct mcp_call *m, size_t count, size_t size, size_t *from, str *next);

/* ---- methods ---- */

mcp_method fixture_resources_list, fixture_resources_templates, fixture_resources_read,
    fixture_resources_subscribe, fixture_resources_unsubscribe;
mcp_method fixture_prompts_list, fixture_prompts_get;
mcp_method fixture_complete, fixture_set_level, fixture_listen;
mcp_method fixture_tasks_get, fixture_tasks_update, fixture_tasks_cancel;

#endif
