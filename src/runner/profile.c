/* profile.c: how a profile says that its client is started. */
#define _GNU_SOURCE /* memmem */
#include "runner/profile.h"

#include <stdio.h>
#include <unistd.h>

#include "base/map.h"

/* ---- words ---- */

static bool is_word_byte(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static str joined(struct arena *a, const struct json *list)
{
    struct buf out = buf_in(a);

    for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->len; i++) {
        if (!json_is(&list->items[i], JSON_STRING))
            continue;
        if (out.len)
            buf_byte(&out, ',');
        buf_add(&out, json_text(&list->items[i]));
    }
    return buf_str(&out);
}

#define WORD(member)                                     \
    {                                                    \
        "{" #member "}", offsetof(struct launch, member) \
    }

static const struct {
    const char *word;
    size_t at;
} words[] = {
    WORD(prompt),   WORD(prompt_file), WORD(client_id), WORD(session_name), WORD(project_dir),
    WORD(mcp_file), WORD(state_file),  WORD(baton),     WORD(runner_dir),
};

/* A member of the agent's: a text, or a list with commas. */
static str agent_value(struct arena *a, const struct launch *l, str name)
{
    const struct json *value = json_find(l->agent, name);

    if (json_is(value, JSON_STRING))
        return json_text(value);
    return joined(a, value);
}

static str agent_model(struct arena *a, const struct launch *l)
{
    return agent_value(a, l, STR("model"));
}

static str agent_system_prompt(struct arena *a, const struct launch *l)
{
    return agent_value(a, l, STR("system_prompt"));
}

static str agent_tools(struct arena *a, const struct launch *l)
{
    return agent_value(a, l, STR("tools"));
}

/* Bash(git log:*) is a tool, and what it may be used for. */
static str agent_tool_names(struct arena *a, const struct launch *l)
{
    const struct json *tools = json_get(l->agent, "tools");
    struct json names = json_array();
    str name, rest;

    for (uint32_t i = 0; json_is(tools, JSON_ARRAY) && i < tools->len; i++) {
        if (!json_is(&tools->items[i], JSON_STRING))
            continue;
        str_cut(json_text(&tools->items[i]), '(', &name, &rest);
        json_push(a, &names, json_string(str_trim(name)));
    }
    return joined(a, &names);
}

/* All tools of our server and of the agent's own, as clients name them. */
static str agent_mcp_tools(struct arena *a, const struct launch *l)
{
    const struct json *servers = json_get(l->agent, "mcp_servers");
    struct buf out = buf_in(a);

    buf_add(&out, STR("mcp__baton__*"));
    for (uint32_t i = 0; json_is(servers, JSON_OBJECT) && i < servers->len; i++) {
        str name = json_name(&servers->members[i]);
        buf_add(&out, STR(",mcp__"));
        for (size_t k = 0; k < name.len; k++)
            buf_byte(&out, is_word_byte(name.at[k]) || name.at[k] == '-' ? name.at[k] : '_');
        buf_add(&out, STR("__*"));
    }
    return buf_str(&out);
}

/* The words whose values are the agent's. */
static const struct {
    const char *word;
    str (*value)(struct arena *a, const struct launch *l);
} agent_words[] = {
    { "{model}", agent_model },         { "{system_prompt}", agent_system_prompt },
    { "{tools}", agent_tools },         { "{tool_names}", agent_tool_names },
    { "{mcp_tools}", agent_mcp_tools },
};

/* False: it is no word, but stands for itself. */
static bool word_value(struct arena *a, const struct launch *l, str text, str *out)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq(text, str_from(words[i].word))) {
            memcpy(out, (const char *)l + words[i].at, sizeof *out);
            return true;
        }
    for (size_t i = 0; i < sizeof agent_words / sizeof *agent_words; i++)
        if (str_eq(text, str_from(agent_words[i].word))) {
            *out = agent_words[i].value(a, l);
            return true;
        }
    return false;
}

static bool looks_like_word(str text)
{
    bool word = text.len > 2 && text.at[0] == '{' && text.at[text.len - 1] == '}';

    for (size_t i = 1; word && i + 1 < text.len; i++)
        word = (text.at[i] >= 'a' && text.at[i] <= 'z') || text.at[i] == '_';
    return word;
}

static str name_of(const struct launch *l)
{
    return json_str(l->profile, "name");
}

/* What texts of the profile itself may name: the server's address and this program. */
static const struct {
    const char *name;
    size_t at;
} variables[] = {
    { "${BATON_URL}", offsetof(struct launch, url) },
    { "${BATON}", offsetof(struct launch, baton) },
};

static str replaced(struct arena *a, str text, str name, str value)
{
    struct buf out = buf_in(a);
    const char *found;

    while (text.len && (found = memmem(text.at, text.len, name.at, name.len))) {
        size_t before = (size_t)(found - text.at);
        buf_add(&out, str_slice(text, 0, before));
        buf_add(&out, value);
        text = str_slice(text, before + name.len, text.len);
    }
    buf_add(&out, text);
    return buf_str(&out);
}

static str expanded(struct arena *a, const struct launch *l, str text)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        str value;
        memcpy(&value, (const char *)l + variables[i].at, sizeof value);
        text = replaced(a, text, str_from(variables[i].name), value);
    }
    return text;
}

/* ---- the command line ---- */

struct argv {
    struct arena *arena;
    char **at;
    size_t count, room;
};

static void argv_add(struct argv *v, str text)
{
    if (v->count + 1 >= v->room) {
        size_t room = v->room ? 2 * v->room : 16;
        v->at = arena_grow(v->arena, v->at, v->room * sizeof *v->at, room * sizeof *v->at);
        v->room = room;
    }
    v->at[v->count++] = (char *)arena_copy(v->arena, text).at;
    v->at[v->count] = NULL;
}

/* A client would take a value that begins with a dash for an option. To a text for people, which may
 * begin with a list, a space does no harm. */
static err value_check(struct arena *a, const struct launch *l, str word, str *value)
{
    if (!value->len)
        return err_new(a, ERR_INVALID,
                       "profile '" STR_FMT "' uses " STR_FMT
                       ", which has no value in this run: put it into an option with a condition",
                       STR_ARG(name_of(l)), STR_ARG(word));
    if (memchr(value->at, '\0', value->len))
        return err_new(a, ERR_INVALID, STR_FMT " holds a NUL, which no argument can",
                       STR_ARG(word));
    if (value->at[0] != '-')
        return NULL;
    if (!str_eq(word, STR("{prompt}")) && !str_eq(word, STR("{system_prompt}")))
        return err_new(a, ERR_INVALID,
                       STR_FMT " begins with a dash: the client would take it for an option",
                       STR_ARG(word));
    *value = arena_printf(a, " " STR_FMT, STR_ARG(*value));
    return NULL;
}

static err add_one(struct argv *v, const struct launch *l, str text)
{
    str value;

    if (word_value(v->arena, l, text, &value)) {
        TRY(value_check(v->arena, l, text, &value));
        argv_add(v, value);
        return NULL;
    }
    if (looks_like_word(text))
        return err_new(v->arena, ERR_INVALID,
                       "profile '" STR_FMT "' uses " STR_FMT ", which stands for nothing",
                       STR_ARG(name_of(l)), STR_ARG(text));
    argv_add(v, expanded(v->arena, l, text));
    return NULL;
}

/* How much it may do; core/agent_check.c knows the words. */
static str permissions_of(const struct launch *l)
{
    str own = json_str(l->agent, "permissions");

    return own.len ? own : STR("work");
}

static bool condition_holds(struct arena *a, const struct launch *l, str condition)
{
    if (str_eq(condition, STR("mcp")))
        return l->mcp_file.len || (l->url.len && !json_get(l->profile, "mcp"));
    if (str_eq(condition, STR("state")))
        return l->state_file.len > 0;
    return str_eq(condition, permissions_of(l)) || agent_value(a, l, condition).len > 0;
}

static bool option_holds(struct arena *a, const struct launch *l, const struct json *option)
{
    str unless = json_str(option, "unless");

    return condition_holds(a, l, json_str(option, "if")) &&
           !(unless.len && condition_holds(a, l, unless));
}

/* Whoever asked for less than all must not get all from a client that cannot be told. */
static err permissions_check(struct arena *a, const struct launch *l)
{
    const struct json *options = json_get(l->profile, "options");
    str wanted = permissions_of(l);
    bool known = str_eq(wanted, STR("work"));

    for (uint32_t i = 0; json_is(options, JSON_ARRAY) && !known && i < options->len; i++)
        known = str_eq(json_str(&options->items[i], "if"), wanted);
    return known ? NULL
                 : err_new(a, ERR_INVALID,
                           "the agent has the permissions \"" STR_FMT "\", and profile '" STR_FMT
                           "' has no option for them: add one with \"if\": \"" STR_FMT
                           "\", or use another profile",
                           STR_ARG(wanted), STR_ARG(name_of(l)), STR_ARG(wanted));
}

static err add_options(struct argv *v, const struct launch *l)
{
    const struct json *options = json_get(l->profile, "options");

    TRY(permissions_check(v->arena, l));
    for (uint32_t i = 0; json_is(options, JSON_ARRAY) && i < options->len; i++) {
        const struct json *args = json_get(&options->items[i], "args");
        if (!option_holds(v->arena, l, &options->items[i]))
            continue;
        for (uint32_t k = 0; json_is(args, JSON_ARRAY) && k < args->len; k++)
            if (json_is(&args->items[k], JSON_STRING))
                TRY(add_one(v, l, json_text(&args->items[k])));
    }
    return NULL;
}

static err add_args(struct argv *v, const struct launch *l)
{
    const struct json *args = json_get(l->agent, "args");

    if (!json_is(args, JSON_ARRAY) || !args->len)
        return err_new(v->arena, ERR_INVALID,
                       "profile '" STR_FMT "' runs the args of an agent, and this session's agent "
                       "has none: register one with \"args\": [\"program\", …]",
                       STR_ARG(name_of(l)));
    for (uint32_t i = 0; i < args->len; i++)
        if (json_is(&args->items[i], JSON_STRING))
            argv_add(v, json_text(&args->items[i]));
    return NULL;
}

err profile_argv(struct arena *a, const struct launch *l, char ***out)
{
    const struct json *list = json_get(l->profile, l->resume ? "resume" : "start");
    struct argv v = { .arena = a };
    bool placed = false;

    if (!json_is(list, JSON_ARRAY) || !list->len)
        return err_new(a, ERR_INVALID, "profile '" STR_FMT "' has no command line to %s a session",
                       STR_ARG(name_of(l)), l->resume ? "resume" : "start");
    for (uint32_t i = 0; i < list->len; i++) {
        str text = json_is(&list->items[i], JSON_STRING) ? json_text(&list->items[i]) : STR("");
        bool options = str_eq(text, STR("{options}"));
        placed = placed || options;
        TRY(options                       ? add_options(&v, l)
            : str_eq(text, STR("{args}")) ? add_args(&v, l)
                                          : add_one(&v, l, text));
    }
    if (!placed)
        TRY(add_options(&v, l));
    *out = v.at;
    return NULL;
}

/* ---- the environment ---- */

/* Of whoever runs us, and not for agents; `*` at the end: all that begin so. */
static const char *const hidden[] = { "BATON_*",       "CLAUDE*",
                                      "CODEX*",        "WORKFLOW_STATE_ID",
                                      "TRACEPARENT",   "AGENT_SESSION_NAME",
                                      "NOTIFY_SOCKET", "LISTEN_*",
                                      "PWD",           "OLDPWD" };

static bool name_fits(str name, str pattern)
{
    if (pattern.len && pattern.at[pattern.len - 1] == '*')
        return str_starts(name, str_slice(pattern, 0, pattern.len - 1));
    return str_eq(name, pattern);
}

static bool is_hidden(const struct launch *l, str name)
{
    const struct json *unset = json_get(l->profile, "unset");

    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (name_fits(name, str_from(hidden[i])))
            return true;
    for (uint32_t i = 0; json_is(unset, JSON_ARRAY) && i < unset->len; i++)
        if (json_is(&unset->items[i], JSON_STRING) && name_fits(name, json_text(&unset->items[i])))
            return true;
    return false;
}

static bool is_name(str name)
{
    bool good = name.len > 0 && !(name.at[0] >= '0' && name.at[0] <= '9');

    for (size_t i = 0; good && i < name.len; i++)
        good = is_word_byte(name.at[i]);
    return good;
}

/* Later ones replace earlier ones; an empty value is as good as none. */
static void env_set(struct map *env, str name, str value)
{
    bool good = is_name(name) && !(value.len && memchr(value.at, '\0', value.len));
    str text = arena_printf(env->arena, STR_FMT "=" STR_FMT, STR_ARG(name), STR_ARG(value));

    if (good)
        map_put(env, arena_copy(env->arena, name), value.len ? (void *)text.at : NULL);
}

static void env_object(struct map *env, const struct launch *l, const struct json *object)
{
    for (uint32_t i = 0; json_is(object, JSON_OBJECT) && i < object->len; i++) {
        const struct json_member *m = &object->members[i];
        str value;
        if (!json_is(&m->value, JSON_STRING))
            continue;
        if (!l || !word_value(env->arena, l, json_text(&m->value), &value))
            value = l ? expanded(env->arena, l, json_text(&m->value)) : json_text(&m->value);
        env_set(env, json_name(m), value);
    }
}

/* Whether one of the folders of PATH is that one, or has a program of that name. */
static bool path_has(struct arena *a, str path, str folder, str name)
{
    str next;

    for (bool more = path.len > 0; more;) {
        more = str_cut(path, ':', &next, &path);
        str program = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(next), STR_ARG(name));
        if (str_eq(next, folder) || (next.len && access(program.at, X_OK) == 0))
            return true;
    }
    return false;
}

/* Agents find the program that has started them, also where nobody has installed it: its folder is
 * the last of all. */
static void env_path(struct map *env, const struct launch *l)
{
    const char *text = map_get(env, STR("PATH"));
    str path = str_from(text ? text + strlen("PATH=") : NULL), folder = l->baton,
        name = STR("baton");

    if (!str_ends(folder, STR("/baton")))
        return;
    folder.len -= strlen("/baton");
    if (!folder.len || path_has(env->arena, path, folder, name))
        return;
    env_set(env, STR("PATH"),
            arena_printf(env->arena, STR_FMT "%s" STR_FMT, STR_ARG(path), path.len ? ":" : "",
                         STR_ARG(folder)));
}

err profile_env(struct arena *a, const struct launch *l, char *const *ours,
                const struct exec_user *user, const struct json *run_env,
                const struct env_pair *more, size_t count, char ***out)
{
    const struct json *options = json_get(l->profile, "options");
    struct map env = map_in(a);
    size_t n = 0;
    str name, value;

    for (; *ours; ours++)
        if (str_cut(str_from(*ours), '=', &name, &value) && !is_hidden(l, name))
            env_set(&env, name, value);
    if (user) {
        env_set(&env, STR("HOME"), user->home);
        env_set(&env, STR("USER"), user->name);
        env_set(&env, STR("LOGNAME"), user->name);
        env_set(&env, STR("SHELL"), user->shell);
    }
    env_object(&env, l, json_get(l->profile, "env"));
    for (uint32_t i = 0; json_is(options, JSON_ARRAY) && i < options->len; i++)
        if (option_holds(a, l, &options->items[i]))
            env_object(&env, l, json_get(&options->items[i], "env"));
    env_object(&env, NULL, run_env);
    for (size_t i = 0; i < count; i++)
        env_set(&env, str_from(more[i].name), more[i].value);
    env_path(&env, l);

    *out = ARENA_ARRAY(a, char *, env.count + 1);
    for (uint32_t i = 0; i < env.count; i++)
        if (env.entries[i].value)
            (*out)[n++] = env.entries[i].value;
    (*out)[n] = NULL;
    return NULL;
}

/* ---- files and prompts ---- */

str profile_mcp(struct arena *a, const struct launch *l)
{
    const struct json *template = json_get(l->profile, "mcp");
    const struct json *more = json_get(l->agent, "mcp_servers");

    if (!json_is(template, JSON_OBJECT))
        return STR("");
    struct json whole = json_copy(a, template);
    struct json *servers = (struct json *)json_get(&whole, "mcpServers");
    for (uint32_t i = 0;
         json_is(servers, JSON_OBJECT) && json_is(more, JSON_OBJECT) && i < more->len; i++)
        if (!json_find(servers, json_name(&more->members[i])))
            json_put(a, servers, json_name(&more->members[i]), more->members[i].value);
    return json_printed(a, &whole);
}

bool profile_uses(const struct json *profile, const char *word)
{
    if (json_is(profile, JSON_STRING))
        return str_eq(json_text(profile), str_from(word));
    bool used = false;
    for (uint32_t i = 0; json_is(profile, JSON_ARRAY) && !used && i < profile->len; i++)
        used = profile_uses(&profile->items[i], word);
    for (uint32_t i = 0; json_is(profile, JSON_OBJECT) && !used && i < profile->len; i++)
        used = profile_uses(&profile->members[i].value, word);
    return used;
}

str profile_prompt(struct arena *a, const struct launch *l)
{
    bool role = str_eq(json_str(l->profile, "role"), STR("prompt"));
    const str parts[] = { role ? json_str(l->agent, "system_prompt") : STR(""),
                          json_str(l->agent, "initial_prompt"), l->prompt };
    struct buf out = buf_in(a);

    if (l->resume)
        return l->prompt;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (out.len && parts[i].len)
            buf_add(&out, STR("\n\n"));
        buf_add(&out, parts[i]);
    }
    return buf_str(&out);
}

str profile_prompt_way(const struct json *profile)
{
    str way = json_str(profile, "prompt");
    return way.len ? way : STR("argument");
}

bool profile_exit_is_good(const struct json *profile, int code)
{
    const struct json *good = json_get(json_get(profile, "exit"), "ok");
    int64_t n;

    if (!json_is(good, JSON_ARRAY))
        return code == 0;
    for (uint32_t i = 0; i < good->len; i++)
        if (json_is_number(&good->items[i]) && json_to_int(&good->items[i], &n) && n == code)
            return true;
    return false;
}
