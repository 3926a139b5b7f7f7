/* agent_offer.c: agents that a runner's machine has. */
#include "core/agent_offer.h"

#include <assert.h>
#include <stdlib.h>

#include "core/stored.h"

enum { RUNNERS_MAX = 1000 };

const char *const offer_source_names[OFFER_SOURCES] = { "project", "home", "data" };

/* One that is stored; what is damaged offers nothing. */
static bool offer_read(const struct runner *r, const struct json *text, struct agent_offer *out)
{
    str source = json_str(text, "source");
    int found = -1;

    for (int i = 0; i < OFFER_SOURCES; i++)
        if (str_eq(source, str_from(offer_source_names[i])))
            found = i;
    *out = (struct agent_offer){
        .name = json_str(text, "name"),
        .description = json_str(text, "description"),
        .model = json_str(text, "model"),
        .source = found < 0 ? OFFER_DATA : (enum offer_source)found,
        .project = json_str(text, "project"),
        .runner_id = r->id,
        .runner_name = r->name,
        .hostname = r->hostname,
    };
    return found >= 0 && out->name.len;
}

static bool good_in(const struct agent_offer *o, str dir)
{
    return o->source != OFFER_PROJECT || (dir.len && dir_is_within(dir, o->project));
}

/* The folder that is nearer comes first. */
static bool comes_before(const struct agent_offer *a, const struct agent_offer *b)
{
    return a->source != b->source ? a->source < b->source : a->project.len > b->project.len;
}

bool runner_offers(struct arena *a, const struct runner *r, str name, str dir,
                   struct agent_offer *out)
{
    const struct json *all;
    struct agent_offer o;
    bool found = false;

    if (!str_contains(r->agents, name) || json_parse_own(a, r->agents, &all))
        return false;
    for (uint32_t i = 0; json_is(all, JSON_ARRAY) && i < all->len; i++)
        if (offer_read(r, &all->items[i], &o) && str_eq(o.name, name) && good_in(&o, dir) &&
            (!found || comes_before(&o, out))) {
            *out = o;
            found = true;
        }
    return found;
}

static bool takes_from(const struct runner *r, str dir)
{
    return !r->project_dir.len || !dir.len || dir_is_within(dir, r->project_dir);
}

err agent_is_offered(struct tx *tx, str name, str dir, bool lost, bool *out)
{
    const struct runner *all;
    struct agent_offer o;
    size_t count;

    *out = false;
    TRY(runner_list(tx, STR(""), RUNNERS_MAX, &all, &count));
    for (size_t i = 0; i < count && !*out; i++)
        *out = (lost || !all[i].lost) && takes_from(&all[i], dir) &&
               runner_offers(tx->arena, &all[i], name, dir, &o);
    return NULL;
}

static int offer_order(const void *x, const void *y)
{
    const struct agent_offer *a = x, *b = y;
    int order = str_compare(a->name, b->name);

    if (order)
        return order;
    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    order = str_compare(a->project, b->project);
    return order ? order : str_compare(a->runner_id, b->runner_id);
}

err agent_offers(struct tx *tx, struct agent_offer **out, size_t *count)
{
    const struct runner *all;
    size_t runners, room = 0;

    TRY(runner_list(tx, STR(""), RUNNERS_MAX, &all, &runners));
    const struct json **texts = ARENA_ARRAY(tx->arena, const struct json *, runners);
    for (size_t i = 0; i < runners; i++) {
        texts[i] = NULL;
        if (all[i].lost)
            continue;
        TRY(stored_parse_as(tx, THING("runner", all[i].id), all[i].agents, JSON_ARRAY, &texts[i]));
        room += texts[i]->len;
    }
    *out = arena_zero(tx->arena, (room + 1) * sizeof **out);
    *count = 0;
    for (size_t i = 0; i < runners; i++)
        for (uint32_t k = 0; texts[i] && k < texts[i]->len; k++)
            *count += offer_read(&all[i], &texts[i]->items[k], &(*out)[*count]);
    if (*count)
        qsort(*out, *count, sizeof **out, offer_order);
    return NULL;
}

err agent_offers_check(struct tx *tx, const struct json *offers, str *printed)
{
    *printed = STR("[]");
    for (uint32_t i = 0; offers && i < offers->len; i++) {
        const struct json *one = &offers->items[i];
        str project = json_str(one, "project");
        bool needs = str_eq(json_str(one, "source"), STR("project"));
        if (needs != (project.len > 0) || (needs && project.at[0] != '/'))
            return err_new(tx->arena, ERR_INVALID,
                           "agents/%u: expected %s of agent \"" STR_FMT "\"", (unsigned)i,
                           needs ? "a \"project\" that begins with a slash, the folder,"
                                 : "no \"project\": that is of the source \"project\"",
                           STR_ARG(json_str(one, "name")));
    }
    if (offers)
        *printed = json_printed(tx->arena, offers);
    return NULL;
}
