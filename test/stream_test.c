/* stream_test.c: facts in what agents write, in the shapes of the clients that there are. */
#include "runner/stream.h"

#include "check.h"
#include "core/profile_data.h"
#include "json_help.h"

/* ---- a stream, and what came of it ---- */

static void line_keep(void *to, str line)
{
    struct buf *lines = to;
    buf_add(lines, line);
    buf_byte(lines, '\n');
}

static const struct json *profile_named(const char *name)
{
    struct profile_built_in p;
    const struct json *parsed = NULL;

    for (size_t i = 0; (p = profile_built_in(i)).name; i++)
        if (strcmp(p.name, name) == 0)
            parsed = json_parsed(check_arena(), p.text);
    CHECK(parsed);
    return parsed;
}

/* All facts in one line, to be compared. */
static str facts_shown(struct arena *a, struct stream *s)
{
    struct stream_facts f = stream_facts(s);
    struct buf out = buf_in(a);

    buf_printf(&out, "id=" STR_FMT " result=" STR_FMT " heard=" STR_FMT, STR_ARG(f.client_id),
               STR_ARG(f.result), STR_ARG(f.heard));
    if (f.failed)
        buf_printf(&out, " failed=" STR_FMT, STR_ARG(f.error));
    if (f.usage.known)
        buf_printf(&out, " in=%lld out=%lld cached=%lld cost=%lld", (long long)f.usage.tokens_in,
                   (long long)f.usage.tokens_out, (long long)f.usage.tokens_cached,
                   (long long)f.usage.cost);
    if (f.usage.models.len)
        buf_printf(&out, " models=" STR_FMT, STR_ARG(f.usage.models));
    return buf_str(&out);
}

/* What comes of the text when it comes in two pieces. */
static str played(struct arena *a, const struct json *output, str text, size_t cut,
                  struct buf *lines)
{
    struct stream *s = stream_new(output, STR("ss_secret"), line_keep, lines);

    stream_feed(s, str_slice(text, 0, cut));
    stream_feed(s, str_slice(text, cut, text.len));
    stream_end(s);
    str shown = facts_shown(a, s);
    stream_free(s);
    return shown;
}

// clang-format off
static const struct {
    const char *profile, *text, *facts;
} recorded[] = {
    { "claude",
      "{\"type\":\"system\",\"subtype\":\"hook_started\"}\n"
      "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"0b8a-1\",\"tools\":[\"Task\"],\"model\":\"m\"}\n"
      "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"I look at it.\"}]}}\n"
      "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":\"Bash\",\"input\":{}}]}}\n"
      "{\"type\":\"user\",\"message\":{\"content\":[]}}\n"
      "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"All done.\\nReally.\",\"session_id\":\"0b8a-1\","
      "\"total_cost_usd\":0.0125,\"usage\":{\"input_tokens\":10,\"output_tokens\":20,\"cache_read_input_tokens\":5},"
      "\"modelUsage\":{\"m\":{\"inputTokens\":10}}}\n",
      "id=0b8a-1 result=All done.\nReally. heard=Bash in=10 out=20 cached=5 cost=12500 models={\"m\":{\"inputTokens\":10}}" },
    { "claude",
      "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":true,\"errors\":[\"too many turns\"],\"session_id\":\"s\"}\n",
      "id= result= heard= failed=too many turns in=0 out=0 cached=0 cost=0" },
    { "claude",
      "{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true}",
      "id= result= heard= failed=error_during_execution in=0 out=0 cached=0 cost=0" },
    { "claude",
      "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"It ran.\",\"total_cost_usd\":0.02,"
      "\"usage\":{\"input_tokens\":10,\"output_tokens\":20,\"cache_read_input_tokens\":5},\"modelUsage\":{\"m\":{\"inputTokens\":14}}}\n"
      "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"Done.\",\"total_cost_usd\":0.03,"
      "\"usage\":{\"input_tokens\":1,\"output_tokens\":2,\"cache_read_input_tokens\":3},\"modelUsage\":{\"m\":{\"inputTokens\":15}}}\n",
      "id= result=Done. heard= in=11 out=22 cached=8 cost=30000 models={\"m\":{\"inputTokens\":15}}" },
    { "codex",
      "{\"type\":\"thread.started\",\"thread_id\":\"0199-a\"}\n"
      "{\"type\":\"item.completed\",\"item\":{\"id\":\"0\",\"type\":\"error\",\"message\":\"a warning\"}}\n"
      "{\"type\":\"turn.started\"}\n"
      "{\"type\":\"item.started\",\"item\":{\"id\":\"1\",\"type\":\"command_execution\",\"command\":\"ls\",\"status\":\"in_progress\"}}\n"
      "{\"type\":\"item.completed\",\"item\":{\"id\":\"2\",\"type\":\"agent_message\",\"text\":\"first\"}}\n"
      "{\"type\":\"item.completed\",\"item\":{\"id\":\"3\",\"type\":\"agent_message\",\"text\":\"second\"}}\n"
      "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":7,\"cached_input_tokens\":2,\"output_tokens\":3}}\n"
      "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":8,\"cached_input_tokens\":3,\"output_tokens\":4}}\n",
      "id=0199-a result=second heard=second in=8 out=4 cached=3 cost=0" },
    { "codex",
      "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"no credit\"}}\n",
      "id=t result= heard= failed=no credit" },
    { "gemini",
      "Loaded cached credentials.\n"
      "{\"type\":\"init\",\"timestamp\":\"t\",\"session_id\":\"g-1\",\"model\":\"m\"}\n"
      "{\"type\":\"message\",\"role\":\"user\",\"content\":\"do it\"}\n"
      "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"It \",\"delta\":true}\n"
      "{\"type\":\"tool_use\",\"tool_name\":\"read_file\",\"tool_id\":\"1\",\"parameters\":{}}\n"
      "{\"type\":\"message\",\"role\":\"assistant\",\"content\":\"is done.\",\"delta\":true}\n"
      "{\"type\":\"result\",\"status\":\"success\",\"stats\":{\"input_tokens\":4,\"output_tokens\":5,\"cached\":1}}\n",
      "id=g-1 result=It is done. heard=is done. in=4 out=5 cached=1 cost=0" },
    { "gemini",
      "{\"type\":\"result\",\"status\":\"error\",\"error\":{\"type\":\"T\",\"message\":\"quota\"},\"stats\":{}}\n",
      "id= result= heard= failed=quota in=0 out=0 cached=0 cost=0" },
    { "opencode",
      "{\"type\":\"step_start\",\"sessionID\":\"ses_9\",\"part\":{\"type\":\"step-start\"}}\n"
      "{\"type\":\"text\",\"sessionID\":\"ses_9\",\"part\":{\"type\":\"text\",\"text\":\"Hello\"}}\n"
      "{\"type\":\"step_finish\",\"sessionID\":\"ses_9\",\"part\":{\"cost\":0.5,\"tokens\":{\"input\":1,\"output\":2,\"cache\":{\"read\":3}}}}\n"
      "{\"type\":\"step_finish\",\"sessionID\":\"ses_9\",\"part\":{\"cost\":0.25,\"tokens\":{\"input\":1,\"output\":2,\"cache\":{\"read\":3}}}}\n",
      "id=ses_9 result=Hello heard=Hello in=2 out=4 cached=6 cost=750000" },
    { "aider", "Aider v1\r\n\r\nI changed it.\n", "id= result=Aider v1\n\nI changed it. heard=I changed it." },
    { "shell", "no line end", "id= result=no line end heard=no line end" },
};
// clang-format on

TEST(recorded_streams_give_their_facts_however_they_are_cut)
{
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
        const struct json *output = json_get(profile_named(recorded[i].profile), "output");
        str text = str_from(recorded[i].text);
        struct arena *a = arena_new();
        for (size_t cut = 0; cut <= text.len; cut++) {
            arena_reset(a);
            struct buf lines = buf_in(a);
            CHECK_STR(played(a, output, text, cut, &lines), recorded[i].facts);
        }
        arena_free(a);
    }
}

/* ---- what must never be trusted ---- */

TEST(bytes_that_are_not_text_are_replaced)
{
    static const struct {
        str in;
        const char *line;
    } cases[] = {
        { STR("a\xff"
              "b\n"),
          "a\xef\xbf\xbd"
          "b\n" },
        { STR("a\0b\n"), "a\xef\xbf\xbd"
                         "b\n" },
        { STR("\xc3\n"), "\xef\xbf\xbd\n" },
        { STR("gr\xc3\xbc\xc3\x9f"
              "e\r\n"),
          "gr\xc3\xbc\xc3\x9f"
          "e\n" },
        { STR("ss_secret and ss_secret\n"), "[token] and [token]\n" },
        { STR("BATON_TOKEN=ss_secret"), "BATON_TOKEN=[token]\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t cut = 0; cut <= cases[i].in.len; cut++) {
            struct buf lines = buf_in(check_arena());
            played(check_arena(), NULL, cases[i].in, cut, &lines);
            CHECK_STR(buf_str(&lines), cases[i].line);
        }
}

TEST(line_that_is_too_long_is_cut_and_the_next_is_whole)
{
    struct arena *a = check_arena();
    size_t len = STREAM_LINE_MAX + 10;
    char *text = arena_alloc(a, len);
    const struct json *output = json_get(profile_named("claude"), "output");
    struct buf lines = buf_in(a);

    memset(text, 'x', len);
    struct stream *s = stream_new(output, STR(""), line_keep, &lines);
    stream_feed(s, (str){ text, len });
    stream_feed(s, STR("more\n{\"type\":\"result\",\"result\":\"fine\"}\n"));
    stream_end(s);
    CHECK_STR(stream_facts(s).result, "fine");
    CHECK(lines.len < STREAM_LINE_KEPT + 200);
    stream_free(s);
}

TEST(facts_of_the_wrong_kind_are_none)
{
    static const struct {
        const char *line, *facts;
    } cases[] = {
        { "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"--resume\"}",
          "id= result= heard=" },
        { "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"a b\"}",
          "id= result= heard=" },
        { "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":7}", "id= result= heard=" },
        { "{\"type\":\"result\",\"result\":{\"a\":1},\"usage\":{\"input_tokens\":-4,"
          "\"output_tokens\":\"many\"},\"total_cost_usd\":-1,\"modelUsage\":[1]}",
          "id= result= heard= in=0 out=0 cached=0 cost=0" },
        { "{\"type\":\"result\",\"usage\":{\"input_tokens\":1e300},\"total_cost_usd\":1e300}",
          "id= result= heard= in=0 out=0 cached=0 cost=1000000000000" },
        { "[1,2]", "id= result=[1,2] heard=" },
        { "{\"type\":\"result\",\"type\":\"result\"}",
          "id= result={\"type\":\"result\",\"type\":\"result\"} heard=" },
    };
    const struct json *output = json_get(profile_named("claude"), "output");

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf lines = buf_in(check_arena());
        CHECK_STR(played(check_arena(), output, str_from(cases[i].line), 0, &lines),
                  cases[i].facts);
    }
}

TEST(result_is_bounded_and_keeps_its_end)
{
    struct buf lines = buf_in(check_arena());
    struct stream *s = stream_new(NULL, STR(""), line_keep, &lines);

    for (int i = 0; i < 100000; i++)
        stream_feed(s, STR("0123456789\n"));
    stream_feed(s, STR("the end\n"));
    stream_end(s);
    str result = stream_facts(s).result;
    CHECK(stream_facts(s).result_cut);
    CHECK(result.len <= STREAM_RESULT_MAX && str_ends(result, STR("0123456789\nthe end")));
    stream_free(s);
}

/* As much as there may be is all of it. */
TEST(result_says_whether_it_is_whole)
{
    static const size_t lengths[] = { 0, 1, STREAM_RESULT_MAX, STREAM_RESULT_MAX + 1,
                                      3 * STREAM_RESULT_MAX };

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct buf lines = buf_in(check_arena());
        struct stream *s = stream_new(NULL, STR(""), line_keep, &lines);
        for (size_t n = 0; n < lengths[i]; n++)
            stream_feed(s, STR("x"));
        stream_end(s);
        CHECK_INT(stream_facts(s).result_cut, lengths[i] > STREAM_RESULT_MAX);
        stream_free(s);
    }
}
