/* fuzz: src/runner/profile.c src/core/agent_check.c */
/* profile.c: any agent, profile and values, as a command line and an environment.
 *
 * The input is a JSON object {profile, agent, resume, values}; a profile that is a number is one of
 * those that come with the program. How many arguments there are does not depend on what the values
 * are, only on which there are; of a profile that is taken nothing unexpanded remains; and what is
 * around the runner reaches no agent that is not to know it. */
#define _GNU_SOURCE /* memmem */
#include <assert.h>
#include <stddef.h>

#include "core/agent_private.h"
#include "core/profile_data.h"
#include "runner/profile.h"

enum { PROFILES_MAX = 16 };

static struct arena *arena; /* of what follows */
static const struct json *built_in[PROFILES_MAX];
static size_t built_in_count;

static void built_in_read(void)
{
    arena = arena_new();
    for (struct profile_built_in p; (p = profile_built_in(built_in_count)).name;) {
        err e = json_parse(arena, p.text, NULL, &built_in[built_in_count]);
        assert(!e);
        built_in_count++;
    }
}

/* ---- two runs that differ in their values alone ---- */

static const struct {
    const char *name;
    size_t at;
} values[] = {
    { "prompt", offsetof(struct launch, prompt) },
    { "prompt_file", offsetof(struct launch, prompt_file) },
    { "client_id", offsetof(struct launch, client_id) },
    { "session_name", offsetof(struct launch, session_name) },
    { "project_dir", offsetof(struct launch, project_dir) },
    { "mcp_file", offsetof(struct launch, mcp_file) },
    { "state_file", offsetof(struct launch, state_file) },
    { "baton", offsetof(struct launch, baton) },
    { "runner_dir", offsetof(struct launch, runner_dir) },
    { "url", offsetof(struct launch, url) },
};

static struct launch launch_read(const struct json *input, const struct json *profile)
{
    struct launch l = { .profile = profile,
                        .agent = json_get(input, "agent"),
                        .resume = json_bool_or(input, "resume", false) };

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        *(str *)((char *)&l + values[i].at) = json_str(json_get(input, "values"), values[i].name);
    return l;
}

/* A value of the same kind that is there if this one is, and says nothing. */
static struct json plain_of(struct arena *a, const struct json *value)
{
    struct json list = json_array();

    if (json_is(value, JSON_STRING))
        return json_string(json_text(value).len ? STR("v") : STR(""));
    for (uint32_t i = 0; json_is(value, JSON_ARRAY) && i < value->len; i++)
        json_push(a, &list, plain_of(a, &value->items[i]));
    return json_is(value, JSON_ARRAY) ? list : *value;
}

static struct launch launch_plain(struct arena *a, const struct launch *from)
{
    struct launch l = *from;
    struct json *agent = ARENA_NEW(a, struct json);

    *agent = json_object();
    for (uint32_t i = 0; json_is(from->agent, JSON_OBJECT) && i < from->agent->len; i++) {
        const struct json_member *m = &from->agent->members[i];
        json_put(a, agent, json_name(m), plain_of(a, &m->value));
    }
    l.agent = agent;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        str *value = (str *)((char *)&l + values[i].at);
        *value = value->len ? STR("v") : STR("");
    }
    return l;
}

/* ---- what must hold ---- */

static size_t count_of(char *const *list)
{
    size_t n = 0;

    while (list[n])
        n++;
    return n;
}

static bool is_word(const char *text)
{
    size_t len = strlen(text), letters = 0;

    while (letters + 1 < len &&
           ((text[letters + 1] >= 'a' && text[letters + 1] <= 'z') || text[letters + 1] == '_'))
        letters++;
    return len > 2 && text[0] == '{' && letters + 2 == len && text[len - 1] == '}';
}

static void argv_check(struct arena *a, const struct launch *l, bool taken)
{
    struct launch plain = launch_plain(a, l);
    char **argv, **same;
    err e = profile_argv(a, l, &argv), p = profile_argv(a, &plain, &same);

    assert(!e || (e->kind == ERR_INVALID && e->message.len));
    /* What nobody can follow with harmless values, nobody can with others. */
    assert(!p || e);
    if (e)
        return;
    assert(count_of(argv) == count_of(same));
    /* What looks like a word because a variable within it was expanded stands for itself. */
    str text = json_printed(a, l->profile);
    for (char **word = same; taken && *word; word++)
        assert(!is_word(*word) || !str_contains(text, str_from(*word)));
}

static void env_check(struct arena *a, const struct launch *l, const struct json *run_env)
{
    static char *const ours[] = {
        "PATH=/bin",          "BATON_TOKEN=rn_x.secret", "CLAUDECODE=secret",     "CODEX_A=secret",
        "TRACEPARENT=secret", "BATON_STORE=secret",      "NOTIFY_SOCKET=/secret", NULL
    };
    const struct env_pair more[] = { { "BATON_TOKEN", STR("ss_y") } };
    bool said = l->url.len && memmem(l->url.at, l->url.len, "secret", 6);
    int tokens = 0;
    char **env;

    err e = profile_env(a, l, ours, NULL, run_env, more, 1, &env);
    assert(!e);
    for (char **at = env; *at; at++) {
        str name, value;
        bool cut = str_cut(str_from(*at), '=', &name, &value);
        assert(cut && name.len && value.len);
        for (char **other = env; other < at; other++)
            assert(strncmp(*other, *at, name.len + 1) != 0);
        tokens += str_eq(str_from(*at), STR("BATON_TOKEN=ss_y"));
        assert(said || !str_eq(value, STR("secret")) || !str_eq(name, STR("BATON_STORE")) ||
               json_get(json_get(l->profile, "env"), "BATON_STORE") ||
               json_get(run_env, "BATON_STORE"));
    }
    assert(tokens == 1);
}

static void prompt_check(struct arena *a, const struct launch *l)
{
    assert(str_ends(profile_prompt(a, l), l->prompt));
    profile_mcp(a, l);
    profile_uses(l->profile, "{state_file}");
    profile_exit_is_good(l->profile, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *a = arena_new();
    const struct json *input;
    str text = size ? (str){ (const char *)data, size } : STR("");

    if (!built_in_count)
        built_in_read();
    if (!json_parse(a, text, NULL, &input) && json_is(input, JSON_OBJECT)) {
        const struct json *profile = json_get(input, "profile");
        int64_t number;
        if (json_is_number(profile) && json_to_int(profile, &number))
            profile = built_in[(uint64_t)number % built_in_count];
        struct launch l = launch_read(input, profile);
        bool taken = json_is(profile, JSON_OBJECT) && !entry_check(a, CATALOG_PROFILES, profile);
        argv_check(a, &l, taken);
        env_check(a, &l, json_get(input, "env"));
        prompt_check(a, &l);
    }
    arena_free(a);
    return 0;
}
