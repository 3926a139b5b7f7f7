/* run_demand.c: what runs ask of their runners, and where in the queue that puts them.
 *
 * A demand has a canonical text, its key: a JSON array of the directory, the hostname, the profile, the
 * tags, the user if there is one, for a command
 * the word for that, and an agent that only some runners have. A run's position in the queue is its key and then its rank,
 * so the first of a key is the one that is next. There are two such orders, with the directory and
 * without: there, it comes last where an agent is asked for, which may be one of that directory alone. */
#include <assert.h>
#include <stdlib.h>

#include "core/agent_offer.h"
#include "core/run_private.h"

static int str_order(const void *a, const void *b)
{
    return str_compare(*(const str *)a, *(const str *)b);
}

str demand_key(struct arena *a, const struct demand *d)
{
    struct json key = json_array(), tags = json_array();
    str *sorted = ARENA_ARRAY(a, str, d->tag_count);

    for (size_t i = 0; i < d->tag_count; i++)
        sorted[i] = d->tags[i];
    if (d->tag_count)
        qsort(sorted, d->tag_count, sizeof *sorted, str_order);
    for (size_t i = 0; i < d->tag_count; i++)
        if (i == 0 || !str_eq(sorted[i], sorted[i - 1]))
            json_push(a, &tags, json_string(sorted[i]));
    json_push(a, &key, json_string(d->project_dir));
    json_push(a, &key, json_string(d->hostname));
    json_push(a, &key, json_string(d->profile));
    json_push(a, &key, tags);
    if (d->user.len || d->command || d->agent.len) /* which those of older versions do not have */
        json_push(a, &key, json_string(d->user));
    if (d->command || d->agent.len)
        json_push(a, &key, json_string(d->command ? STR("command") : STR("")));
    if (d->agent.len)
        json_push(a, &key, json_string(d->agent));
    if (d->agent.len && d->agent_dir.len)
        json_push(a, &key, json_string(d->agent_dir));
    return json_printed(a, &key);
}

enum { NAME_BYTES_MAX = 62, KEY_BYTES_MAX = 2600, PUNCTUATION = 32 }; /* of a profile, an agent */

_Static_assert(DEMAND_DIR_MAX + DEMAND_HOST_MAX + DEMAND_USER_MAX + 2 * NAME_BYTES_MAX +
                       DEMAND_TAGS_MAX + PUNCTUATION <=
                   KEY_BYTES_MAX,
               "a position in the queue fits into an index of any database");

err demand_check(struct arena *a, const struct demand *d)
{
    struct json tags = json_array();

    for (size_t i = 0; i < d->tag_count; i++)
        json_push(a, &tags, json_string(d->tags[i]));
    TRY(team_text_check(a, "a project_dir", d->project_dir, DEMAND_DIR_MAX));
    TRY(team_text_check(a, "a hostname", d->hostname, DEMAND_HOST_MAX));
    if (json_print_size(&tags) > DEMAND_TAGS_MAX)
        return err_new(a, ERR_INVALID,
                       "expected tags of at most %d bytes in all as JSON, found %zu",
                       DEMAND_TAGS_MAX, json_print_size(&tags));
    return NULL;
}

void demand_read(struct arena *a, str key, struct demand *out)
{
    const struct json *json;
    err e = json_parse_own(a, key, &json);

    *out = (struct demand){ .unreadable = true };
    if (e || !json_is(json, JSON_ARRAY) || json->len < 4 || json->len > 8)
        return;
    const struct json *tags = &json->items[3];
    bool whole = tags->kind == JSON_ARRAY;
    for (uint32_t i = 0; i < json->len; i++)
        whole = whole && (i == 3 || json->items[i].kind == JSON_STRING);
    for (uint32_t i = 0; whole && i < tags->len; i++)
        whole = tags->items[i].kind == JSON_STRING;
    if (!whole)
        return;
    str *copies = ARENA_ARRAY(a, str, tags->len);
    for (uint32_t i = 0; i < tags->len; i++)
        copies[i] = json_text(&tags->items[i]);
    *out = (struct demand){ .project_dir = json_text(&json->items[0]),
                            .hostname = json_text(&json->items[1]),
                            .profile = json_text(&json->items[2]),
                            .user = json->len > 4 ? json_text(&json->items[4]) : STR(""),
                            .command = json->len > 5 && json_text(&json->items[5]).len,
                            .agent = json->len > 6 ? json_text(&json->items[6]) : STR(""),
                            .agent_dir = json->len > 7 ? json_text(&json->items[7]) : STR(""),
                            .tags = copies,
                            .tag_count = tags->len };
}

static bool names_hold(const str *names, size_t count, str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(names[i], name))
            return true;
    return false;
}

bool demand_fits(struct arena *a, const struct demand *d, const struct runner *r)
{
    struct agent_offer ignored;

    if (d->unreadable || (d->hostname.len && !str_eq(d->hostname, r->hostname)))
        return false;
    if (d->user.len && !str_eq(d->user, r->user))
        return false;
    if (d->command && !r->commands)
        return false;
    if (!d->command && r->profile_count && !names_hold(r->profiles, r->profile_count, d->profile))
        return false;
    if (d->project_dir.len && r->project_dir.len && !dir_is_within(d->project_dir, r->project_dir))
        return false;
    for (size_t i = 0; i < d->tag_count; i++)
        if (!names_hold(r->tags, r->tag_count, d->tags[i]))
            return false;
    str dir = d->agent_dir.len ? d->agent_dir : d->project_dir;
    return !d->agent.len || runner_offers(a, r, d->agent, dir, &ignored);
}

/* ---- positions ---- */

enum { PRIORITY_MOST = 1000 };

static str position_of(struct arena *a, const struct demand *d, const struct run *r)
{
    assert(r->priority >= -PRIORITY_MOST && r->priority <= PRIORITY_MOST);
    return arena_printf(a, STR_FMT "%04d%016lld", STR_ARG(demand_key(a, d)),
                        PRIORITY_MOST - (int)r->priority, (long long)r->seq);
}

void run_find_position(struct arena *a, struct run *r)
{
    struct demand demand;

    demand_read(a, r->demand, &demand);
    if (demand.unreadable)
        return; /* it stays where it was */
    r->queue_position_in_dir = position_of(a, &demand, r);
    demand.agent_dir = demand.agent.len ? demand.project_dir : STR("");
    demand.project_dir = STR("");
    r->queue_position = position_of(a, &demand, r);
}
