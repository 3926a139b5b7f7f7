/* truncate.c: answers that hold no more of a document than somebody can read. */
#include "ops/truncate.h"

#include "json/outline.h"
#include "ops/write.h"

enum {
    AROUND_MEMBER = 4, /* characters: what stands around the text of a value */
    AROUND_MATCH = 25,
    LOOKED_AT = 4, /* times what an answer holds: so much is looked at to choose from */
};

/* Of the characters, a part is for the list of what was cut. */
static size_t list_room(size_t chars_max)
{
    return chars_max / 4;
}

/* ---- what was cut ---- */

static void write_part(struct json_writer *w, const struct outline_part *p, const char *kind)
{
    json_write_begin(w, '{');
    write_text(w, STR("pointer"), p->pointer);
    write_text(w, STR("kind"), str_from(kind));
    if (p->value->kind >= JSON_STRING)
        write_int(w, STR("length"), (int64_t)outline_length(p->value));
    write_int(w, STR("chars"), (int64_t)p->chars);
    json_write_end(w, '}');
}

static void write_list(struct json_writer *w, const struct outline_part *parts, size_t count,
                       size_t room)
{
    size_t begin = w->out->len;

    write_begin(w, STR("cut"), '[');
    for (size_t i = 0; i < count; i++) {
        bool fits = w->out->len - begin + parts[i].pointer.len < room;
        if (!parts[i].shown && fits)
            write_part(w, &parts[i], json_kind_name(parts[i].value->kind));
    }
    json_write_end(w, ']');
}

/* How to get the rest: by the fields that the operation has. */
static void write_hint(struct arena *a, struct json_writer *w, size_t chars_all)
{
    write_text(w, STR("hint"),
               arena_printf(a,
                            "Not all of it is here. Ask for what is listed in cut by its pointer; "
                            "for some elements of an array, or some members of each, by a query "
                            "like $.list[-5:] or $.list[*].status; for all of it, with max_chars "
                            "%zu.",
                            chars_all));
}

/* Says that something was cut, and what; `chars_all` would have been enough. */
static void write_cut(struct arena *a, struct json_writer *w, const struct outline_part *parts,
                      size_t count, size_t chars_max, size_t chars_all)
{
    int64_t cut = 0;

    for (size_t i = 0; i < count; i++)
        cut += !parts[i].shown;
    write_bool(w, STR("truncated"), true);
    write_int(w, STR("cut_count"), cut);
    write_list(w, parts, count, list_room(chars_max));
    write_hint(a, w, chars_all);
}

/* ---- what is shown ---- */

static void write_members(struct json_writer *w, const struct json *object,
                          const struct outline_part *parts)
{
    json_write_begin(w, '{');
    for (uint32_t i = 0; i < object->len; i++) {
        if (!parts[i].shown)
            continue;
        write_value(w, json_name(&object->members[i]), &object->members[i].value);
    }
    json_write_end(w, '}');
}

void write_truncated_value(struct arena *a, struct json_writer *w, str name, str pointer,
                           const struct json *value, size_t chars_max)
{
    size_t chars = chars_max == TRUNCATE_NONE ? 0 : outline_chars(value);
    struct outline_part *parts;

    if (chars <= chars_max) {
        write_value(w, name, value);
        return;
    }
    size_t count = outline_parts(a, pointer, value, &parts);
    outline_choose(a, parts, count, AROUND_MEMBER, chars_max - list_room(chars_max));
    if (value->kind == JSON_OBJECT) {
        json_write_name(w, name);
        write_members(w, value, parts);
    }
    write_cut(a, w, parts, count, chars_max, chars);
}

void write_truncated_patch(struct arena *a, struct json_writer *w, const struct json *patch,
                           size_t chars_max)
{
    size_t chars = chars_max == TRUNCATE_NONE ? 0 : outline_chars(patch);
    struct outline_part whole = { STR(""), patch, chars, false };

    if (chars <= chars_max) {
        write_value(w, STR("patch"), patch);
        return;
    }
    write_bool(w, STR("truncated"), true);
    write_int(w, STR("cut_count"), 1);
    write_begin(w, STR("cut"), '[');
    write_part(w, &whole, "patch");
    json_write_end(w, ']');
    write_text(w, STR("hint"),
               arena_printf(a,
                            "The patch is too large to be here: read what you need of the "
                            "document by its pointer, or ask for the patch with max_chars %zu.",
                            chars));
}

static void write_match(struct json_writer *w, const struct outline_part *p)
{
    json_write_begin(w, '{');
    write_text(w, STR("pointer"), p->pointer);
    write_value(w, STR("value"), p->value);
    json_write_end(w, '}');
}

/* Whether all of it can be written, or at least looked at: the same value may have been found
 * hundreds of times, and the pointers may be long. What cannot is counted and never printed. */
static bool matches_fit(const struct json_writer *w, const struct json_matches *found,
                        size_t chars_max)
{
    size_t most = w->out->most ? w->out->most : SIZE_MAX, bytes = w->out->len;

    if (chars_max != TRUNCATE_NONE && most < SIZE_MAX / LOOKED_AT)
        most *= LOOKED_AT;
    for (size_t i = 0; i < found->count && bytes <= most; i++)
        bytes += json_print_size(found->items[i].value) +
                 json_path_pointer_size(found->items[i].location) + AROUND_MATCH;
    return bytes <= most;
}

void write_truncated_matches(struct arena *a, struct json_writer *w,
                             const struct json_matches *found, size_t chars_max)
{
    if (!matches_fit(w, found, chars_max)) {
        w->out->full = true;
        return;
    }
    struct outline_part *parts = ARENA_ARRAY(a, struct outline_part, found->count);
    size_t count = found->count, all = 0;

    for (size_t i = 0; i < count; i++) {
        struct buf pointer = buf_in(a);
        const struct json *value = found->items[i].value;
        size_t chars = chars_max == TRUNCATE_NONE ? 0 : outline_chars(value);
        json_path_print_pointer(&pointer, found->items[i].location);
        parts[i] = (struct outline_part){ buf_str(&pointer), value, chars, false };
        all += parts[i].chars + parts[i].pointer.len + AROUND_MATCH;
    }
    size_t room = all <= chars_max ? chars_max : chars_max - list_room(chars_max);
    outline_choose(a, parts, count, AROUND_MATCH, room);
    write_begin(w, STR("matches"), '[');
    for (size_t i = 0; i < count; i++)
        if (parts[i].shown)
            write_match(w, &parts[i]);
    json_write_end(w, ']');
    if (all > chars_max)
        write_cut(a, w, parts, count, chars_max, all);
}
