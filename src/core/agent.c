/* agent.c: roles, and how kinds of clients are started: agents and profiles. */
#include "core/agent_private.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"
#include "core/agent_data.h"
#include "core/columns.h"
#include "core/event.h"
#include "core/profile_data.h"
#include "core/stored.h"

enum { NAMES_SHOWN = 20, LOAD_MAX = 1000 };

/* What messages and events say of each catalog. */
static const struct {
    const char *noun, *list;
    enum event_type event;
} catalogs[] = {
    [CATALOG_AGENTS] = { "agent", "agent.list", EVENT_AGENT_UPDATED },
    [CATALOG_PROFILES] = { "profile", "profile.list", EVENT_PROFILE_UPDATED },
};

/* ---- rows ---- */

static err entry_find(struct tx *tx, enum catalog c, str name, struct entry *out, bool *found)
{
    const struct row *row;

    TRY(sql_one(tx->sql, &row, "SELECT " ENTRY_NAMES " FROM entry WHERE catalog = $1 AND name = $2",
                ARGS(INT(c), TEXT(name))));
    *found = row != NULL;
    *out = (struct entry){ .offer_count = 0 };
    if (row)
        COLUMNS_READ(ENTRY_COLUMNS, tx, row, "entry", out);
    return NULL;
}

/* The n-th that came with the program, by name; false: there are fewer. */
static bool built_in(struct arena *a, enum catalog c, size_t i, str *name, str *text)
{
    struct profile_built_in p = profile_built_in(i);
    struct agent_built_in role = agent_built_in(i);

    if (c == CATALOG_AGENTS) {
        if (!role.name)
            return false;
        *name = str_from(role.name);
        *text = arena_printf(a, "{\"name\":\"%s\",\"description\":\"%s\"}", role.name,
                             role.description);
        return true;
    }
    if (!p.name)
        return false;
    *name = str_from(p.name);
    *text = p.text;
    return true;
}

/* JSON that is laid out for people, as programs print it. */
static str without_layout(struct arena *a, str json)
{
    char *out = arena_alloc(a, json.len);
    size_t len = 0;
    bool quoted = false;

    for (size_t i = 0; i < json.len; i++) {
        char c = json.at[i];
        if (!quoted && (c == ' ' || c == '\n'))
            continue;
        quoted ^= c == '"';
        out[len++] = c;
        if (c == '\\')
            out[len++] = json.at[++i];
    }
    return (str){ out, len };
}

static void built_in_read(struct tx *tx, enum catalog c, str name, str text, struct entry *out)
{
    bool laid_out = c == CATALOG_PROFILES;

    *out = (struct entry){ .catalog = c,
                           .name = name,
                           .text = laid_out ? without_layout(tx->arena, text) : text,
                           .source = STR("built in") };
}

static bool built_in_find(struct tx *tx, enum catalog c, str wanted, struct entry *out)
{
    bool found = false;
    str name, text;

    for (size_t i = 0; !found && built_in(tx->arena, c, i, &name, &text); i++)
        found = str_eq(name, wanted);
    if (found)
        built_in_read(tx, c, name, text, out);
    return found;
}

/* ---- many ---- */

/* Which of the program's own workflows anybody has used. */
struct used {
    bool all, generation, planning;
};

static err used_find(struct tx *tx, bool all, struct used *out)
{
    const struct row *rows;
    size_t count = 0;

    *out = (struct used){ .all = all };
    if (!all)
        TRY(sql_all(tx->sql, &rows, &count,
                    "SELECT DISTINCT name FROM workflow WHERE name IN ('generation', 'planning')"
                    " ORDER BY name",
                    NO_ARGS));
    for (size_t i = 0; i < count; i++)
        *(str_eq(row_str(&rows[i], 0), STR("planning")) ? &out->planning : &out->generation) = true;
    return NULL;
}

static bool is_used(const struct used *u, enum catalog c, size_t i)
{
    const char *workflow = agent_built_in(i).workflow;

    if (u->all || c != CATALOG_AGENTS || !workflow)
        return true;
    return strcmp(workflow, "planning") == 0 ? u->planning : u->generation;
}

/* Both lists are in the order of names; where both have one, the stored one stands. */
static err entries_known(struct tx *tx, enum catalog c, str after, int64_t limit, bool roles,
                         struct entry **out, size_t *count)
{
    const struct row *rows;
    size_t row_count, row = 0, given = 0;
    struct used used;
    str name, text;

    TRY(used_find(tx, roles || c != CATALOG_AGENTS, &used));

    TRY(sql_all(tx->sql, &rows, &row_count,
                "SELECT " ENTRY_NAMES " FROM entry WHERE catalog = $1 AND name > $2"
                " ORDER BY name LIMIT $3",
                ARGS(INT(c), TEXT(after), INT(limit))));
    struct entry *stored = ARENA_ARRAY(tx->arena, struct entry, row_count);
    for (size_t i = 0; i < row_count; i++) {
        stored[i] = (struct entry){ .offer_count = 0 };
        COLUMNS_READ(ENTRY_COLUMNS, tx, &rows[i], "entry", (&stored[i]));
    }
    struct entry *all = ARENA_ARRAY(tx->arena, struct entry, (size_t)limit);
    *count = 0;
    while (*count < (size_t)limit) {
        while (!is_used(&used, c, given))
            given++;
        bool more = built_in(tx->arena, c, given, &name, &text);
        int order = !more ? -1 : row == row_count ? 1 : str_compare(stored[row].name, name);
        if (!more && row == row_count)
            break;
        given += order >= 0;
        if (order > 0 && str_compare(name, after) > 0)
            built_in_read(tx, c, name, text, &all[(*count)++]);
        if (order <= 0)
            all[(*count)++] = stored[row++];
    }
    *out = all;
    return NULL;
}

/* An agent that is offered, as the first of those who do has it. */
static void offered_read(struct tx *tx, const struct agent_offer *o, size_t count,
                         struct entry *out)
{
    struct json text = json_object();

    json_put(tx->arena, &text, STR("name"), json_string(o->name));
    json_put(tx->arena, &text, STR("description"), json_string(o->description));
    if (o->model.len)
        json_put(tx->arena, &text, STR("model"), json_string(o->model));
    *out = (struct entry){ .catalog = CATALOG_AGENTS,
                           .name = o->name,
                           .text = json_printed(tx->arena, &text),
                           .source = str_from(offer_source_names[o->source]),
                           .offers = o,
                           .offer_count = count };
}

static size_t of_one_name(const struct agent_offer *offers, size_t count)
{
    size_t n = 1;

    while (n < count && str_eq(offers[n].name, offers[0].name))
        n++;
    return n;
}

/* Puts agents that are offered between the others; of one name they stand before what is built in. */
static void offers_merge(struct tx *tx, const struct agent_offer *offers, size_t offer_count,
                         const struct entry *known, size_t known_count, str after, size_t limit,
                         struct entry *all, size_t *count)
{
    size_t at = 0;

    for (*count = 0; *count < limit;) {
        while (offer_count && str_compare(offers->name, after) <= 0)
            offers++, offer_count--;
        bool more = at < known_count;
        if (!offer_count && !more)
            return;
        int order = !offer_count ? -1 : !more ? 1 : str_compare(known[at].name, offers->name);
        struct entry *one = &all[(*count)++];
        if (order <= 0)
            *one = known[at++];
        if (order > 0 || (order == 0 && str_eq(one->source, STR("built in"))))
            offered_read(tx, offers, of_one_name(offers, offer_count), one);
        after = one->name;
    }
}

err entry_list(struct tx *tx, enum catalog c, str after, int64_t limit, bool roles,
               const struct entry **out, size_t *count)
{
    struct agent_offer *offers;
    struct entry *known, *all;
    size_t known_count, offer_count;

    TRY(entries_known(tx, c, after, limit, roles, &known, &known_count));
    *out = known;
    *count = known_count;
    if (c != CATALOG_AGENTS)
        return NULL;
    TRY(agent_offers(tx, &offers, &offer_count));
    all = ARENA_ARRAY(tx->arena, struct entry, (size_t)limit);
    offers_merge(tx, offers, offer_count, known, known_count, after, (size_t)limit, all, count);
    *out = all;
    return NULL;
}

/* ---- one ---- */

/* "there is no agent "revewer"; did you mean "reviewer"? There are: coder, reviewer". */
static err unknown(struct tx *tx, enum catalog c, str name)
{
    const struct entry *all;
    size_t count;
    str near = STR("");
    unsigned best = name.len < 4 ? 2 : 3;

    TRY(entry_list(tx, c, STR(""), NAMES_SHOWN + 1, false, &all, &count));
    struct buf names = buf_in(tx->arena);
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        unsigned distance = str_distance(name, all[i].name, best - 1);
        buf_printf(&names, "%s" STR_FMT, i ? ", " : "", STR_ARG(all[i].name));
        if (distance < best) {
            best = distance;
            near = all[i].name;
        }
    }
    if (count > NAMES_SHOWN)
        buf_printf(&names, " and more, which %s shows", catalogs[c].list);
    struct buf text = buf_in(tx->arena);
    if (near.len)
        buf_printf(&text, "; did you mean \"" STR_FMT "\"?", STR_ARG(near));
    if (count)
        buf_printf(&text, "%shere are: " STR_FMT, near.len ? " T" : "; t",
                   STR_ARG(buf_str(&names)));
    str hint = count ? buf_str(&text) : STR(": none is registered yet");
    return err_new(tx->arena, ERR_NOT_FOUND, "there is no %s \"" STR_FMT "\"" STR_FMT,
                   catalogs[c].noun, STR_ARG(utf8_cut(name, 60)), STR_ARG(hint));
}

err entry_get(struct tx *tx, enum catalog c, str name, struct entry *out)
{
    bool found;

    TRY(entry_find(tx, c, name, out, &found));
    return found || built_in_find(tx, c, name, out) ? NULL : unknown(tx, c, name);
}

static err changed_emit(struct tx *tx, enum catalog c, str name, str source, bool deleted)
{
    struct event_writer data;
    struct json_writer *w = event_begin(tx, &data);

    write_text(w, STR("name"), name);
    write_text(w, STR("source"), source);
    write_bool(w, STR("deleted"), deleted);
    return event_end(tx, &data, (struct event){ .type = catalogs[c].event, .subject = name }, NULL);
}

/* The text with its name in front, which can be no other than the one that it is put under. */
static err named(struct tx *tx, enum catalog c, str name, const struct json *text, struct json *out)
{
    const struct json *own = json_get(text, "name");

    if (!json_is(text, JSON_OBJECT))
        return err_new(tx->arena, ERR_UNFIT, "expected an object for %s \"" STR_FMT "\", found %s",
                       catalogs[c].noun, STR_ARG(utf8_cut(name, 60)), json_kind_name(text->kind));
    if (own && !(json_is(own, JSON_STRING) && str_eq(json_text(own), name)))
        return entry_unfit(tx->arena, STR("/name"), "const",
                           arena_printf(tx->arena,
                                        "expected \"" STR_FMT "\", the name that it is kept under, "
                                        "found " STR_FMT ": a new name is a new %s",
                                        STR_ARG(name), STR_ARG(json_printed(tx->arena, own)),
                                        catalogs[c].noun));
    *out = json_object();
    json_put(tx->arena, out, STR("name"), json_string(name));
    for (uint32_t i = 0; i < text->len; i++)
        if (!str_eq(json_name(&text->members[i]), STR("name")))
            json_put(tx->arena, out, json_name(&text->members[i]), text->members[i].value);
    return NULL;
}

/* Whether a profile has an option for such permissions. */
static bool has_option(const struct json *profile, str condition)
{
    const struct json *options = json_get(profile, "options");

    for (uint32_t i = 0; json_is(options, JSON_ARRAY) && i < options->len; i++)
        if (str_eq(json_str(&options->items[i], "if"), condition))
            return true;
    return false;
}

/* A profile that is not there, or whose client cannot be held to what the agent may do, would be
 * noticed only when a session is to start. That of a file may be in another file, which is read
 * later. */
static err profile_check(struct tx *tx, const struct json *agent, str source)
{
    str profile = json_str(agent, "profile"), permissions = json_str(agent, "permissions");
    const struct json *parsed;
    struct entry entry;

    if (!profile.len || str_eq(source, STR("file")))
        return NULL;
    err e = entry_get(tx, CATALOG_PROFILES, profile, &entry);
    if (e && e->kind == ERR_NOT_FOUND)
        return entry_unfit(tx->arena, STR("/profile"), "profile", e->message);
    if (e || !permissions.len || str_eq(permissions, STR("work")))
        return e;
    TRY(stored_parse(tx, THING("profile", profile), entry.text, &parsed));
    if (has_option(parsed, permissions))
        return NULL;
    return entry_unfit(tx->arena, STR("/permissions"), "permissions",
                       arena_printf(tx->arena,
                                    "profile \"" STR_FMT "\" has no option for \"" STR_FMT
                                    "\", so its client would not be held to it: add one with "
                                    "\"if\": \"" STR_FMT "\", or use another profile",
                                    STR_ARG(profile), STR_ARG(permissions), STR_ARG(permissions)));
}

err entry_put(struct tx *tx, enum catalog c, str name, const struct json *text, str source,
              bool fresh, struct entry *out)
{
    struct json whole;
    const struct json *again;
    bool found;

    TRY(named(tx, c, name, text, &whole));
    TRY(entry_check(tx->arena, c, &whole));
    str printed = json_printed(tx->arena, &whole);
    TRY(json_parse(tx->arena, printed, NULL, &again)); /* requests may be a little deeper */
    if (c == CATALOG_AGENTS)
        TRY(profile_check(tx, &whole, source));
    TRY(entry_find(tx, c, name, out, &found));
    if (found && fresh)
        return err_new(tx->arena, ERR_CONFLICT,
                       "%s \"" STR_FMT "\" is registered already: change it with %s.update, or "
                       "choose another name",
                       catalogs[c].noun, STR_ARG(name), catalogs[c].noun);
    if (found && str_eq(out->text, printed) && str_eq(out->source, source))
        return NULL;
    *out = (struct entry){ .catalog = c,
                           .name = name,
                           .text = printed,
                           .source = source,
                           .created_at_ms = found ? out->created_at_ms : tx->now_ms,
                           .updated_at_ms = tx->now_ms };
    TRY(sql_exec(
        tx->sql,
        INSERT_INTO(
            entry, ENTRY_COLUMNS) " ON CONFLICT (catalog, name) DO UPDATE SET text = excluded.text,"
                                  " source = excluded.source, updated_at = excluded.updated_at",
        ARGS(VALUES(ENTRY_COLUMNS, out))));
    return changed_emit(tx, c, name, source, false);
}

static err entry_drop(struct tx *tx, enum catalog c, str name, str source)
{
    TRY(sql_exec(tx->sql, "DELETE FROM entry WHERE catalog = $1 AND name = $2",
                 ARGS(INT(c), TEXT(name))));
    return changed_emit(tx, c, name, source, true);
}

err entry_delete(struct tx *tx, enum catalog c, str name)
{
    struct entry entry;
    bool found;

    TRY(entry_find(tx, c, name, &entry, &found));
    if (found)
        return entry_drop(tx, c, name, entry.source);
    TRY(entry_get(tx, c, name, &entry));
    return err_new(tx->arena, ERR_NOT_FOUND,
                   "%s \"" STR_FMT "\" comes with the program, and nothing is stored in its place",
                   catalogs[c].noun, STR_ARG(name));
}

/* ---- files ---- */

static err load_one(struct tx *tx, enum catalog c, const struct json *text)
{
    str name = json_str(text, "name");
    struct entry entry;
    bool found;

    TRY(entry_find(tx, c, name, &entry, &found));
    if (found && !str_eq(entry.source, STR("file")))
        return err_new(tx->arena, ERR_CONFLICT,
                       "%s \"" STR_FMT
                       "\" was registered over the API, and that one stands: delete "
                       "it to use the file",
                       catalogs[c].noun, STR_ARG(name));
    return entry_put(tx, c, name, text, STR("file"), false, &entry);
}

/* Whether an error is the file's own fault: then only that file is left out. */
static bool is_refusal(err e)
{
    return e->kind == ERR_UNFIT || e->kind == ERR_INVALID || e->kind == ERR_CONFLICT ||
           e->kind == ERR_TOO_LARGE;
}

static bool is_among(const struct json *all, str name)
{
    for (uint32_t i = 0; i < all->len; i++)
        if (str_eq(json_str(&all->items[i], "name"), name))
            return true;
    return false;
}

/* A file that is there and was refused keeps what it said before: a slip of the pen in a running
 * team's file must not take the role away. */
static err drop_gone(struct tx *tx, enum catalog c, const struct json *all, int64_t *dropped)
{
    const struct row *rows;
    size_t count;

    TRY(sql_all(tx->sql, &rows, &count,
                "SELECT name FROM entry WHERE catalog = $1 AND source = 'file'"
                " ORDER BY name LIMIT $2",
                ARGS(INT(c), INT(LOAD_MAX))));
    for (size_t i = 0; i < count; i++) {
        if (is_among(all, row_str(&rows[i], 0)))
            continue;
        TRY(entry_drop(tx, c, row_str(&rows[i], 0), STR("file")));
        ++*dropped;
    }
    return NULL;
}

err entry_load(struct tx *tx, enum catalog c, const struct json *all, bool drop,
               struct entry_loaded *out)
{
    struct entry_refusal *refused = ARENA_ARRAY(tx->arena, struct entry_refusal, all->len);

    assert(json_is(all, JSON_ARRAY) && all->len <= LOAD_MAX);
    *out = (struct entry_loaded){ .refused = refused };
    for (uint32_t i = 0; i < all->len; i++) {
        err e = load_one(tx, c, &all->items[i]);
        if (e && !is_refusal(e))
            return e;
        if (e)
            refused[out->refused_count++] =
                (struct entry_refusal){ json_str(&all->items[i], "name"), e };
        else
            out->kept++;
    }
    return drop ? drop_gone(tx, c, all, &out->dropped) : NULL;
}

/* ---- who gives a role ---- */

static bool is_meant(const struct agent_starter *by, str word)
{
    if (str_eq(word, STR("root")) || str_eq(word, STR("operator")))
        return str_eq(word, STR("root")) && by->is_root;
    return (by->session_id.len && str_eq(word, by->session_id)) ||
           (by->role.len && str_eq(word, by->role));
}

err agent_startable(struct tx *tx, str agent, const struct agent_starter *by, bool *out)
{
    const struct json *text;
    struct entry entry;

    *out = false;
    TRY(entry_find(tx, CATALOG_AGENTS, agent, &entry, out));
    if (!*out)
        return NULL;
    TRY(stored_parse(tx, THING("agent", agent), entry.text, &text));
    const struct json *words = json_get(text, "started_by");
    *out = false;
    for (uint32_t i = 0; json_is(words, JSON_ARRAY) && i < words->len; i++)
        *out = *out || is_meant(by, json_text(&words->items[i]));
    return NULL;
}

/* ---- whose profile ---- */

err agent_source_of(struct tx *tx, str name, str dir, enum agent_source *out)
{
    struct entry entry;
    bool found, offered = false;

    TRY(entry_find(tx, CATALOG_AGENTS, name, &entry, &found));
    if (!found)
        TRY(agent_is_offered(tx, name, dir, false, &offered));
    *out = found                                             ? AGENT_REGISTERED
           : offered                                         ? AGENT_OFFERED
           : built_in_find(tx, CATALOG_AGENTS, name, &entry) ? AGENT_BUILT_IN
                                                             : AGENT_UNKNOWN;
    return NULL;
}

err entry_resolve(struct tx *tx, str agent, str dir, str wish, str *profile)
{
    enum agent_source source = AGENT_UNKNOWN;
    struct entry entry;
    const struct json *text;
    str own = STR("");

    if (agent.len)
        TRY(agent_source_of(tx, agent, dir, &source));
    if (agent.len && source != AGENT_OFFERED) {
        TRY(entry_get(tx, CATALOG_AGENTS, agent, &entry));
        TRY(stored_parse(tx, THING("agent", agent), entry.text, &text));
        own = json_str(text, "profile");
    }
    *profile = own.len ? own : wish.len ? wish : STR("claude");
    return entry_get(tx, CATALOG_PROFILES, *profile, &entry);
}
