/* run_command.c: run.command, an operation that only tests have: it makes a run of purpose command. */
#include "sim/run_command.h"

#include "core/run.h"
#include "ops/shapes.h"
#include "ops/write.h"

static const str *texts_in(struct tx *tx, const struct input *in, const char *field, size_t *count)
{
    const struct json *list = input_json(in, field);
    str *texts = ARENA_ARRAY(tx->arena, str, list ? list->len : 0);

    *count = list ? list->len : 0;
    for (size_t i = 0; i < *count; i++)
        texts[i] = json_text(&list->items[i]);
    return texts;
}

static err run_command_run(struct tx *tx, const struct input *in, struct answer *out)
{
    const struct json *metadata = input_json(in, "metadata");
    int64_t after_s = input_int(in, "after_seconds", 0);
    struct run_command c = {
        .stdin_text = input_str(in, "stdin"),
        .owner = input_str(in, "owner"),
        .demand = { .project_dir = input_str(in, "project_dir"),
                    .hostname = input_str(in, "hostname") },
        .max_ms = input_int(in, "max_seconds", 0) * 1000,
        .priority = input_int(in, "priority", 0),
        .not_before_ms = after_s ? tx->now_ms + after_s * 1000 : 0,
        .metadata = metadata ? json_printed(tx->arena, metadata) : STR(""),
    };
    struct run r;

    c.argv = texts_in(tx, in, "argv", &c.argv_count);
    c.demand.tags = texts_in(tx, in, "tags", &c.demand.tag_count);
    TRY(run_command_create(tx, &c, &r));
    json_write_begin(&out->json, '{');
    write_text(&out->json, STR("run_id"), r.id);
    json_write_end(&out->json, '}');
    return NULL;
}

// clang-format off
const struct op run_command_op = {
    .name = "run.command", .effect = OP_WRITES, .by = BY_OPERATOR,
    .summary = "Have a runner execute something.",
    .input = FIELDS(JSON("argv"), JSON(
        "argv": { "type": "array", "items": { "type": "string" }, "description": "The program and its arguments." },
        "stdin": { "type": "string", "description": "What it gets on its standard input." },
        "owner": { "type": "string", "maxLength": 100, "description": "By which its maker knows it again." },
        "project_dir": { "type": "string", "description": "Where it is executed." },
        "hostname": { "type": "string", "maxLength": 255, "description": "On which machine." },
        "tags": { "type": "array", "maxItems": 5, "items": { "type": "string", "minLength": 1, "maxLength": 50 }, "description": "What its runner has." },
        "max_seconds": { "type": "integer", "minimum": 1, "maximum": 2592000, "description": "How long it may take." },
        "priority": { "type": "integer", "minimum": -1000, "maximum": 1000, "description": "More is sooner." },
        "after_seconds": { "type": "integer", "minimum": 1, "maximum": 1000, "description": "No runner gets it before so long." },
        "metadata": { "type": "object", "description": "Kept with it." })),
    .output = SHAPE(JSON("run_id"), JSON("run_id": { "type": "string", "description": "The run." })),
    .run = run_command_run,
};
