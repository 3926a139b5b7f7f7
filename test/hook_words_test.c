/* hook_words_test.c: what the last words of agents say of their work. */
#include "base/utf8.h"
#include "calls.h"
#include "ops/hooks.h"

TEST(last_words_say_what_was_made_and_what_the_next_one_must_know)
{
    str text = check_read(check_source("test/cases/last_words.json"));
    const struct json *cases;

    CHECK_OK(json_parse(check_arena(), text, NULL, &cases));
    for (uint32_t i = 0; i < cases->len; i++) {
        const struct json *c = &cases->items[i];
        struct json found = json_array();
        struct hook_words words;

        check_note("case: " STR_FMT, STR_ARG(json_str(c, "name")));
        hook_words_read(check_arena(), json_str(c, "text"), &words);
        for (size_t k = 0; k < words.count; k++)
            json_push(check_arena(), &found, json_string(words.deliverables[k]));
        CHECK_STR(json_printed(check_arena(), &found),
                  json_printed(check_arena(), json_get(c, "deliverables")).at);
        CHECK_STR(words.context, arena_copy(check_arena(), json_str(c, "context")).at);
    }
    CHECK(cases->len > 20);
}

/* Whatever an agent says, what is kept of it is bounded, and text. */
TEST(random_last_words_are_read_within_bounds)
{
    static const char *const parts[] = {
        "- ",      "`",  "**",  "#",     "Deliverables:", "Context",
        ":",       "\n", "é",   "a/b.c", "```",           "{\"deliverables\":[",
        "\"x\"]}", " ",  "1. ", "\t",    "word",          "…"
    };
    struct random r = random_start();

    for (int i = 0; i < 2000; i++) {
        struct buf text = buf_in(check_arena());
        struct hook_words words;
        for (uint32_t n = random_below(&r, 60); n > 0; n--)
            buf_add(&text, str_from(parts[random_below(&r, sizeof parts / sizeof *parts)]));
        hook_words_read(check_arena(), buf_str(&text), &words);
        CHECK(words.count <= HOOK_DELIVERABLES_MAX);
        CHECK(words.context.len <= HOOK_CONTEXT_MAX + strlen("…") && utf8_valid(words.context));
        for (size_t k = 0; k < words.count; k++)
            CHECK(words.deliverables[k].len && words.deliverables[k].len <= HOOK_DELIVERABLE_MAX &&
                  utf8_valid(words.deliverables[k]));
    }
}
