/* entries.c: handlers of the operations on agents and on profiles. */
#include "ops/entries.h"

#include "core/agent.h"
#include "json/patch.h"
#include "ops/page.h"
#include "ops/write.h"

static enum catalog catalog_of(const struct input *in)
{
    return str_starts(str_from(in->op->name), STR("agent.")) ? CATALOG_AGENTS : CATALOG_PROFILES;
}

/* ---- answers ---- */

/* What a list shows of each: enough to choose by, and nothing that is long or may be a secret. */
static bool is_listed(str member)
{
    static const char *const members[] = { "name", "description", "profile", "model", "tags" };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (str_eq(member, str_from(members[i])))
            return true;
    return false;
}

static void write_offers(struct json_writer *w, const struct entry *e)
{
    write_begin(w, STR("offered_by"), '[');
    for (size_t i = 0; i < e->offer_count; i++) {
        const struct agent_offer *o = &e->offers[i];
        json_write_begin(w, '{');
        write_text(w, STR("runner_id"), o->runner_id);
        write_text(w, STR("runner"), o->runner_name);
        write_text(w, STR("hostname"), o->hostname);
        write_text(w, STR("source"), str_from(offer_source_names[o->source]));
        write_or_null(w, STR("project"), o->project);
        json_write_end(w, '}');
    }
    json_write_end(w, ']');
}

static err write_entry(struct tx *tx, struct json_writer *w, const struct entry *e, bool whole)
{
    const struct json *text;

    TRY(stored_parse_as(tx, THING("entry", e->name), e->text, JSON_OBJECT, &text));
    json_write_begin(w, '{');
    for (uint32_t i = 0; i < text->len; i++) {
        const struct json_member *m = &text->members[i];
        if (!whole && !is_listed(json_name(m)))
            continue;
        write_value(w, json_name(m), &m->value);
    }
    write_text(w, STR("source"), e->source);
    write_time_or_null(w, STR("created_at"), e->created_at_ms);
    write_time_or_null(w, STR("updated_at"), e->updated_at_ms);
    if (e->offer_count)
        write_offers(w, e);
    json_write_end(w, '}');
    return NULL;
}

/* ---- handlers ---- */

err entry_get_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct entry e;

    TRY(entry_get(tx, catalog_of(in), input_str(in, "name"), &e));
    return write_entry(tx, &out->json, &e, true);
}

err entry_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct entry e;

    TRY(entry_put(tx, catalog_of(in), input_str(in, "name"), in->json, STR("api"), true, &e));
    out->created = true;
    return write_entry(tx, &out->json, &e, true);
}

/* A profile that is built in can be changed too: what is stored then stands before it. */
err entry_update_op(struct tx *tx, const struct input *in, struct answer *out)
{
    static const struct json_patch_limits limits = { .result_bytes_max = 1 << 20 };
    enum catalog c = catalog_of(in);
    const struct json *text;
    struct entry e;

    TRY(entry_get(tx, c, input_str(in, "name"), &e));
    TRY(stored_parse_as(tx, THING("entry", e.name), e.text, JSON_OBJECT, &text));
    struct json changed = json_copy(tx->arena, text);
    TRY(json_merge(tx->arena, &changed, input_json(in, "merge"), &limits));
    TRY(entry_put(tx, c, e.name, &changed, STR("api"), false, &e));
    return write_entry(tx, &out->json, &e, true);
}

err entry_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    out->empty = true;
    return entry_delete(tx, catalog_of(in), input_str(in, "name"));
}

err entry_list_op(struct tx *tx, const struct input *in, struct answer *out)
{
    enum catalog c = catalog_of(in);
    str name = c == CATALOG_AGENTS ? STR("agents") : STR("profiles");
    const struct entry *all;
    size_t count;

    TRY(entry_list(tx, c, input_str(in, "after"), page_rows(in),
                   c == CATALOG_AGENTS && input_bool(in, "roles", false), &all, &count));
    size_t shown = page_begin(in, out, name, count);
    for (size_t i = 0; page_row(out, i, &shown); i++)
        TRY(write_entry(tx, &out->json, &all[i], false));
    page_end(out, shown < count ? all[shown - 1].name : STR(""));
    return NULL;
}

err entry_load_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct entry_loaded loaded;

    TRY(entry_load(tx, catalog_of(in), input_json(in, "entries"), input_bool(in, "drop", true),
                   &loaded));
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("kept"), loaded.kept);
    write_int(&out->json, STR("dropped"), loaded.dropped);
    write_begin(&out->json, STR("refused"), '[');
    for (size_t i = 0; i < loaded.refused_count; i++) {
        json_write_begin(&out->json, '{');
        write_text(&out->json, STR("name"), loaded.refused[i].name);
        write_text(&out->json, STR("error"), loaded.refused[i].why->message);
        json_write_end(&out->json, '}');
    }
    json_write_end(&out->json, ']');
    json_write_end(&out->json, '}');
    return NULL;
}
