/* project.c: the project that a folder is, on the server. */
#include "cli/init/project.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/place.h"
#include "cli/worktree.h"

enum { CALL_MS = 5000, NAME_BYTES_MAX = 60 };

const char *init_project_action_name(enum init_project_action action)
{
    static const char *const names[] = {
        [PROJECT_NONE] = "none",     [PROJECT_KEPT] = "unchanged",  [PROJECT_CREATED] = "created",
        [PROJECT_JOINED] = "joined", [PROJECT_CHANGED] = "changed", [PROJECT_LEFT] = "left",
    };

    return names[action];
}

/* ---- names ---- */

static str base_name(str path)
{
    size_t from = path.len;

    while (from > 0 && path.at[from - 1] != '/')
        from--;
    return str_slice(path, from, path.len);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Of the repository, whichever of its worktrees this is: shop for /home/ada/shop/.git and for
 * /srv/shop.git. In letters that names have, with a plain one at each end. */
static str default_name(struct arena *a, str common_dir)
{
    if (str_ends(common_dir, STR("/.git")))
        common_dir = str_slice(common_dir, 0, common_dir.len - strlen("/.git"));
    str base = base_name(common_dir);
    if (str_ends(base, STR(".git")))
        base = str_slice(base, 0, base.len - strlen(".git"));
    while (base.len && !is_plain(base.at[0]))
        base = str_slice(base, 1, base.len);
    base = str_slice(base, 0, NAME_BYTES_MAX);
    while (base.len && !is_plain(base.at[base.len - 1]))
        base = str_slice(base, 0, base.len - 1);
    str out = arena_copy(a, base);
    for (char *at = (char *)out.at; at < out.at + out.len; at++)
        if (!is_plain(*at) && *at != '_' && *at != '.')
            *at = '-';
    return out.len ? out : STR("project");
}

/* ---- what the server says ---- */

static err get(struct caller *k, struct arena *a, const char *pattern, const char *name, str value,
               const struct json **out)
{
    struct url_param param = { name, value };
    struct call call = { .method = "GET", .pattern = pattern, .params = &param, .param_count = 1 };

    return caller_call(k, a, &call, out);
}

static void take(struct init_project *p, const struct json *told)
{
    if (!json_str(told, "name").len)
        return;
    p->name = json_str(told, "name");
    p->state_id = json_str(told, "state_id");
    p->schema_name = json_str(told, "schema_name");
}

static void place_set(struct init_project *p, struct arena *a, str folder)
{
    struct worktree w = worktree_find(a, folder);

    p->name = p->state_id = p->schema_name = p->what = p->started = STR("");
    p->host = place_host(a);
    p->common_dir = w.common_dir;
    p->top = w.top;
}

static err look_up(struct init_project *p, struct caller *k, struct arena *a)
{
    struct call list = { .method = "GET",
                         .pattern = "/projects",
                         PARAMS({ "host", p->host }, { "common_dir", p->common_dir }) };
    const struct json *answer;

    TRY(caller_call(k, a, &list, &answer));
    take(p, json_at(json_get(answer, "projects"), 0));
    return NULL;
}

err init_project_find(struct caller *k, struct arena *a, str folder, struct init_project *out)
{
    *out = (struct init_project){ 0 };
    place_set(out, a, folder);
    return look_up(out, k, a);
}

/* ---- what is to be done ---- */

static err server_start(struct cli *c, struct init_project *p, mcp_start *start)
{
    const char *url = getenv("BATON_URL");
    str dir;

    if (url && *url)
        return NULL; /* it is somebody else's */
    TRY(data_dir_find(c->arena, NULL, &dir));
    TRY(start(c->arena, dir));
    p->started = dir;
    return NULL;
}

/* The folder is one already: that is kept, unless another state is asked for. */
static err plan_known(struct cli *c, struct init_project *p)
{
    const char *name = cli_value(c, "--name"), *state = cli_value(c, "--state");
    const char *join = cli_value(c, "--project"), *schema = cli_value(c, "--schema");
    const char *other = join ? join : name;
    const struct json *found;

    if (other && !str_eq(str_from(other), p->name))
        return err_new(c->arena, ERR_CONFLICT,
                       "this folder is the project " STR_FMT " already, and not %s: `baton init "
                       "--remove` takes it out of that",
                       STR_ARG(p->name), other);
    if (schema && !str_eq(str_from(schema), p->schema_name) && access(schema, F_OK) < 0)
        return err_new(c->arena, ERR_CONFLICT,
                       "the state of project " STR_FMT " has the schema " STR_FMT
                       ", and not %s: `--state ID` gives it another state",
                       STR_ARG(p->name), STR_ARG(p->schema_name), schema);
    p->action = PROJECT_KEPT;
    p->what = arena_printf(c->arena, STR_FMT "; its state is " STR_FMT, STR_ARG(p->name),
                           STR_ARG(p->state_id));
    if (!state)
        return NULL;
    TRY(get(&p->caller, c->arena, "/workflow-states/{state_id}", "state_id", str_from(state),
            &found));
    if (str_eq(json_str(found, "state_id"), p->state_id))
        return NULL;
    p->action = PROJECT_CHANGED;
    p->what =
        arena_printf(c->arena, STR_FMT ", from now on with the state %s", STR_ARG(p->name), state);
    return NULL;
}

static err plan_join(struct cli *c, struct init_project *p, const char *name)
{
    const struct json *found;
    err e = get(&p->caller, c->arena, "/projects/{name}", "name", str_from(name), &found);

    if (e && e->kind == ERR_NOT_FOUND)
        return err_new(c->arena, ERR_NOT_FOUND,
                       "there is no project %s: `baton project list` shows those there are", name);
    TRY(e);
    take(p, found);
    p->action = PROJECT_JOINED;
    p->what = arena_printf(c->arena, STR_FMT ", which this folder joins", STR_ARG(p->name));
    return NULL;
}

/* A state, or a schema, that is asked for is there. */
static err plan_state(struct cli *c, struct init_project *p)
{
    const char *state = cli_value(c, "--state"), *schema = cli_value(c, "--schema");
    struct arena *a = c->arena;
    const struct json *found;

    if (state) {
        TRY(get(&p->caller, a, "/workflow-states/{state_id}", "state_id", str_from(state), &found));
        p->what = arena_printf(a, STR_FMT ", with the state %s", STR_ARG(p->name), state);
    } else if (schema && (access(schema, F_OK) == 0 || strchr(schema, '/'))) {
        TRY(json_load(c, a, schema, &p->schema));
        p->what = arena_printf(a, STR_FMT ", a new shared state of the schema in %s",
                               STR_ARG(p->name), schema);
    } else if (schema) {
        TRY(get(&p->caller, a, "/workflow-schemas/{name}", "name", str_from(schema), &found));
        p->what = arena_printf(a, STR_FMT ", a new shared state of the schema %s", STR_ARG(p->name),
                               schema);
    } else {
        p->what = arena_printf(a, STR_FMT ", a new shared state of the built-in schema project",
                               STR_ARG(p->name));
    }
    return NULL;
}

/* Whether a project of the name is this folder's, which was taken out of it. */
static bool was_ours(struct cli *c, const struct init_project *p, const struct json *found)
{
    const struct json *folders = json_get(found, "folders");

    return str_eq(json_str(found, "project_dir"), p->top) && json_is(folders, JSON_ARRAY) &&
           !folders->len && !cli_value(c, "--schema") && !cli_value(c, "--state");
}

static err plan_create(struct cli *c, struct init_project *p)
{
    const char *name = cli_value(c, "--name");
    const struct json *found;

    p->name = name ? str_from(name) : default_name(c->arena, p->common_dir);
    err e = get(&p->caller, c->arena, "/projects/{name}", "name", p->name, &found);
    if (!e && was_ours(c, p, found))
        return plan_join(c, p, p->name.at);
    if (!e)
        return err_new(c->arena, ERR_CONFLICT,
                       "there is a project " STR_FMT
                       " already, of another folder: `--project " STR_FMT
                       "` has this one join it, `--name NAME` makes another",
                       STR_ARG(p->name), STR_ARG(p->name));
    if (e->kind != ERR_NOT_FOUND)
        return e;
    p->action = PROJECT_CREATED;
    return plan_state(c, p);
}

static err options_check(struct cli *c)
{
    static const char *const makes[] = { "--name", "--schema", "--state" };

    for (size_t i = 0; i < sizeof makes / sizeof *makes; i++)
        if (cli_value(c, "--project") && cli_value(c, makes[i]))
            return usage_error(c, arena_printf(c->arena,
                                               "--project joins one that is there: %s is for one "
                                               "that is made.",
                                               makes[i]));
    if (cli_value(c, "--schema") && cli_value(c, "--state"))
        return usage_error(c, STR("a state has its schema: give --schema or --state."));
    return NULL;
}

static bool is_asked_for(struct cli *c)
{
    return cli_value(c, "--name") || cli_value(c, "--schema") || cli_value(c, "--state") ||
           cli_value(c, "--project");
}

err init_project_plan(struct cli *c, str folder, bool remove, mcp_start *start,
                      struct init_project *out)
{
    struct init_project *p = out;

    *p = (struct init_project){ 0 };
    place_set(p, c->arena, folder);
    caller_init(&p->caller, NULL);
    p->caller.timeout_ms = CALL_MS;
    TRY(options_check(c));
    p->unknown = look_up(p, &p->caller, c->arena);
    if (p->unknown && p->unknown->kind == ERR_UNAVAILABLE && cli_flag(c, "--start") &&
        !cli_flag(c, "--dry-run")) {
        TRY(server_start(c, p, start));
        p->unknown = look_up(p, &p->caller, c->arena);
    }
    if (p->unknown)
        return is_asked_for(c) ? p->unknown : NULL;
    if (remove) {
        p->action = p->name.len ? PROJECT_LEFT : PROJECT_NONE;
        return NULL;
    }
    if (p->name.len)
        return plan_known(c, p);
    if (cli_value(c, "--project"))
        return plan_join(c, p, cli_value(c, "--project"));
    return plan_create(c, p);
}

void init_project_release(struct init_project *p)
{
    caller_release(&p->caller);
}

/* ---- doing it ---- */

static err schema_register(struct cli *c, struct init_project *p)
{
    struct json body = json_object();
    const struct json *answer;

    json_put(c->arena, &body, STR("name"), json_string(p->name));
    json_put(c->arena, &body, STR("json_schema"), *p->schema);
    return caller_call(&p->caller, c->arena,
                       &(struct call){ .method = "POST",
                                       .pattern = "/workflow-schemas",
                                       .body = json_printed(c->arena, &body),
                                       .key = idempotency_key(c->arena) },
                       &answer);
}

static str body_of(struct cli *c, const struct init_project *p)
{
    const char *state = cli_value(c, "--state"), *schema = cli_value(c, "--schema");
    struct json body = json_object();
    struct arena *a = c->arena;

    if (p->action == PROJECT_CREATED) {
        json_put(a, &body, STR("name"), json_string(p->name));
        json_put(a, &body, STR("project_dir"), json_string(p->top));
    }
    if (p->action != PROJECT_CHANGED) {
        json_put(a, &body, STR("host"), json_string(p->host));
        json_put(a, &body, STR("common_dir"), json_string(p->common_dir));
    }
    if (state)
        json_put(a, &body, STR("state"), json_string(str_from(state)));
    if (p->action == PROJECT_CREATED && schema)
        json_put(a, &body, STR("schema"), json_string(p->schema ? p->name : str_from(schema)));
    return json_printed(a, &body);
}

err init_project_do(struct cli *c, struct init_project *p)
{
    // clang-format off
    static const struct {
        const char *method, *pattern;
        size_t params; /* of those below */
        bool body;
    } calls[] = {
        [PROJECT_CREATED] = { "POST",   "/projects",                0, true  },
        [PROJECT_JOINED]  = { "POST",   "/projects/{name}/folders", 1, true  },
        [PROJECT_CHANGED] = { "PATCH",  "/projects/{name}",         1, true  },
        [PROJECT_LEFT]    = { "DELETE", "/projects/{name}/folders", 3, false },
    };
    // clang-format on
    struct url_param params[] = { { "name", p->name },
                                  { "host", p->host },
                                  { "common_dir", p->common_dir } };
    const struct json *answer = NULL;

    if (!init_project_changes(p))
        return NULL;
    if (p->schema)
        TRY(schema_register(c, p));
    struct call call = { .method = calls[p->action].method,
                         .pattern = calls[p->action].pattern,
                         .params = params,
                         .param_count = calls[p->action].params,
                         .body = calls[p->action].body ? body_of(c, p) : STR(""),
                         .key = idempotency_key(c->arena) };
    TRY(caller_call(&p->caller, c->arena, &call, &answer));
    if (p->action != PROJECT_LEFT)
        take(p, answer);
    return NULL;
}
