/* inputs_team.c: what clients of the swarm ask of sessions, runs and runners. */
#include "sim/inputs_private.h"

/* A run; one that somebody has, where there is one and it matters. */
static const struct model_run *any_run(struct inputs *in, bool held)
{
    const struct map *runs = &in->model->runs;
    uint32_t from = runs->count ? random_below(in->random, runs->count) : 0;

    for (uint32_t i = 0; i < runs->count; i++) {
        const struct model_run *r = runs->entries[(from + i) % runs->count].value;
        if (r->held || !held)
            return r;
    }
    return runs->count ? runs->entries[from].value : NULL;
}

void inputs_team_draw(struct inputs *in)
{
    in->run = any_run(in, json_get(in->properties, "fence"));
    in->starts = op_is(in, "session.create") || op_is(in, "session.start");
}

/* ---- what properties mean ---- */

/* One that is there; one that has settled, where only that can be done away with. */
static str any_session(struct inputs *in)
{
    const struct map *sessions = &in->model->sessions;
    uint32_t from = sessions->count ? random_below(in->random, sessions->count) : 0;
    bool settled = op_is(in, "session.delete");

    for (uint32_t i = 0; i < sessions->count; i++) {
        const struct model_session *s = sessions->entries[(from + i) % sessions->count].value;
        if (!s->gone && (s->settled || !settled))
            return s->id;
    }
    return STR("ses_none");
}

static str any_runner(struct inputs *in)
{
    const struct map *runners = &in->model->runners;

    return runners->count ? runners->entries[random_below(in->random, runners->count)].key
                          : STR("rnr_none");
}

static bool refer_type(struct inputs *in, struct json *out)
{
    in->starts = !chance(in, 3);
    *out = text(in->starts ? "start_session" : "resume_session");
    return op_is(in, "run.create");
}

/* Of what is there, mostly. Those who act as sessions are the first two, known or not. */
static bool refer_session(struct inputs *in, struct json *out)
{
    *out = chance(in, 8) ? text(chance(in, 2) ? "ses_1" : "ses_2") : json_string(any_session(in));
    return true;
}

/* A new one has a name that nobody has, or one that somebody has. */
static bool refer_session_name(struct inputs *in, struct json *out)
{
    if (!in->starts || chance(in, 12))
        return refer_session(in, out);
    *out = json_string(arena_printf(in->arena, "s%u", random_below(in->random, 1u << 20)));
    return true;
}

static bool refer_session_id(struct inputs *in, struct json *out)
{
    if (!in->starts || chance(in, 12))
        return refer_session(in, out);
    *out = json_string(arena_printf(in->arena, "ses_x%u", random_below(in->random, 1u << 20)));
    return true;
}

/* What a client calls a session that is there, or one that is not. */
static str any_client_id(struct inputs *in)
{
    const struct map *sessions = &in->model->sessions;
    const str prefix = STR("claude-");
    uint32_t from = sessions->count ? random_below(in->random, sessions->count) : 0;

    for (uint32_t i = 0; i < sessions->count; i++) {
        str id = sessions->entries[(from + i) % sessions->count].key;
        if (str_starts(id, prefix))
            return str_slice(id, prefix.len, id.len);
    }
    return arena_printf(in->arena, "c%u", random_below(in->random, 8));
}

/* Of an agent inside of the client, which may do a phase; or of the list that its agent keeps. */
static void put_inner(struct inputs *in, struct json *out)
{
    static const char *const names[] = { "SubagentStart", "SubagentStart", "SubagentStop",
                                         "StopFailure",   "PostToolUse",   "UserPromptSubmit" };
    static const char *const todos[] = { "TodoWrite", "TaskList", "Agent" };
    const char *name = names[random_below(in->random, COUNT(names))];
    struct json answer = json_object();

    json_put(in->arena, out, STR("hook_event_name"), text(name));
    json_put(in->arena, out, STR("agent_type"), text("general-purpose"));
    json_put(in->arena, out, STR("last_assistant_message"), text("- a.c"));
    if (strcmp(name, "PostToolUse") && strcmp(name, "UserPromptSubmit"))
        json_put(in->arena, out, STR("agent_id"), text(random_below(in->random, 2) ? "a" : "b"));
    json_put(in->arena, &answer, STR("status"), text("completed"));
    json_put(in->arena, &answer, STR("agentId"), text("a"));
    json_put(in->arena, out, STR("tool_response"), answer);
    json_put(in->arena, out, STR("tool_name"), text(todos[random_below(in->random, COUNT(todos))]));
}

/* Mostly a tool that the role of one of them asks for: there is the most to get wrong. */
static bool refer_event(struct inputs *in, struct json *out)
{
    static const char *const names[] = { "SessionStart", "UserPromptSubmit", "Stop",
                                         "StopFailure",  "SessionEnd",       "Nonsense" };
    const char *name = chance(in, 3) ? names[random_below(in->random, COUNT(names))] : "PreToolUse";
    str id = chance(in, 4)   ? arena_printf(in->arena, "c%u", random_below(in->random, 8))
             : chance(in, 3) ? STR("reviewer") /* as a waker calls it */
                             : any_client_id(in);

    *out = json_object();
    json_put(in->arena, out, STR("session_id"), json_string(id));
    json_put(in->arena, out, STR("hook_event_name"), text(name));
    json_put(in->arena, out, STR("tool_input"), json_object());
    if (chance(in, 3))
        put_inner(in, out);
    else
        json_put(in->arena, out, STR("tool_name"), text("Bash"));
    return op_is(in, "hook.event");
}

static bool refer_permission_id(struct inputs *in, struct json *out)
{
    const struct map *all = &in->model->permissions;

    *out = all->count ? json_string(all->entries[random_below(in->random, all->count)].key)
                      : text("prm_none");
    return true;
}

static bool refer_run_id(struct inputs *in, struct json *out)
{
    *out = in->run ? json_string(in->run->id) : text("run_none");
    return true;
}

/* Who reports has the run that it reports of, or had it. */
static bool refer_runner_id(struct inputs *in, struct json *out)
{
    bool reports = in->run && in->run->fence && json_get(in->properties, "fence");

    *out = json_string(reports ? in->run->runner_id : any_runner(in));
    return true;
}

static bool refer_fence(struct inputs *in, struct json *out)
{
    int64_t fence = in->run && in->run->fence ? in->run->fence : 1;

    *out = json_int(in->arena, chance(in, 10) ? fence + 1 : fence);
    return true;
}

static bool refer_run_ids(struct inputs *in, struct json *out)
{
    *out = json_array();
    if (in->run && chance(in, 2))
        json_push(in->arena, out, json_string(in->run->id));
    return true;
}

static bool refer_hostname(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 3) ? "two" : "one");
    return true;
}

static bool refer_tags(struct inputs *in, struct json *out)
{
    *out = json_array();
    if (op_is_of(in, "runner.") || chance(in, 2))
        json_push(in->arena, out, text("t"));
    return true;
}

static bool refer_profiles(struct inputs *in, struct json *out)
{
    *out = json_array();
    if (chance(in, 4))
        json_push(in->arena, out, text("claude"));
    return true;
}

static bool refer_profile(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 10) ? "none" : "claude");
    return true;
}

static bool refer_project_dir(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 4) ? "/work/a" : "/work");
    return true;
}

/* An empty name is that of no agent. */
static bool refer_agent_name(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 4) || op_is(in, "session.create") ? "reviewer" : "");
    return true;
}

/* There are few projects and folders, so that most calls mean one that is there. */
static bool refer_project_name(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 3) ? "tester" : "reviewer");
    return op_is_of(in, "project.");
}

static bool refer_project(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 8) ? "off" : "reviewer");
    return true;
}

static bool refer_host(struct inputs *in, struct json *out)
{
    (void)in;
    *out = text("here");
    return true;
}

static bool refer_common_dir(struct inputs *in, struct json *out)
{
    *out = text(chance(in, 8) ? "/work/b/.git" : "/work/.git");
    return true;
}

static bool refer_project_state(struct inputs *in, struct json *out)
{
    struct model_state *s = inputs_state(in);

    *out = s ? json_string(s->id) : text("wfstate_none");
    return op_is(in, "project.update") || op_is(in, "hook.event");
}

static bool refer_receiver(struct inputs *in, struct json *out)
{
    str name = any_session(in);

    *out = json_string(chance(in, 6)   ? arena_printf(in->arena, "tree:" STR_FMT, STR_ARG(name))
                       : chance(in, 8) ? STR("role:reviewer")
                                       : name);
    return op_is(in, "message.send");
}

static bool refer_client(struct inputs *in, struct json *out)
{
    *out = text("claude");
    return op_is(in, "hook.event") && !chance(in, 4);
}

static const struct {
    const char *name;
    bool (*refer)(struct inputs *in, struct json *out);
} words[] = {
    { "name", refer_project_name },
    { "project", refer_project },
    { "host", refer_host },
    { "common_dir", refer_common_dir },
    { "state", refer_project_state },
    { "to", refer_receiver },
    { "client", refer_client },
    { "session_id", refer_session_id },
    { "session_name", refer_session_name },
    { "root_session", refer_session },
    { "parent_session_name", refer_session },
    { "session", refer_session },
    { "root", refer_session },
    { "parent", refer_session },
    { "type", refer_type },
    { "run_id", refer_run_id },
    { "runner_id", refer_runner_id },
    { "fence", refer_fence },
    { "known", refer_run_ids },
    { "runs", refer_run_ids },
    { "hostname", refer_hostname },
    { "tags", refer_tags },
    { "profiles", refer_profiles },
    { "profile", refer_profile },
    { "project_dir", refer_project_dir },
    { "agent_name", refer_agent_name },
    { "event", refer_event },
    { "permission_id", refer_permission_id },
};

bool inputs_team_refer(struct inputs *in, str name, struct json *out)
{
    for (size_t i = 0; i < COUNT(words); i++)
        if (str_eq(name, str_from(words[i].name)))
            return words[i].refer(in, out);
    return false;
}
