/* page.c: lists that are answered a page at a time. */
#include "ops/page.h"

#include "core/tx.h"
#include "json/write.h"

enum { PAGE_END = 512 }; /* bytes that must be left behind the rows, for what ends a page */
enum { PAGE_ROWS = 50 }; /* unless the input says otherwise: the default of PAGE_LIMIT */

static int64_t page_limit(const struct input *in)
{
    return input_int(in, "limit", PAGE_ROWS);
}

int64_t page_rows(const struct input *in)
{
    return page_limit(in) + 1;
}

size_t page_begin(const struct input *in, struct answer *out, str name, size_t found)
{
    size_t most = (size_t)page_limit(in);

    json_write_begin(&out->json, '{');
    write_begin(&out->json, name, '[');
    return found < most ? found : most;
}

bool page_row(struct answer *out, size_t i, size_t *shown)
{
    struct buf *b = out->json.out;
    bool tight = b->most && b->len + PAGE_END > b->most;

    if (i > 0 && (b->full || tight)) {
        *shown = i > 1 ? i - 1 : 1;
        if (i > 1) {
            b->full = false;
            b->len = b->mark;
        }
    }
    b->mark = i < *shown ? b->len : 0;
    return i < *shown;
}

void page_end(struct answer *out, str next)
{
    json_write_end(&out->json, ']');
    if (next.len) {
        out->next = next;
        write_text(&out->json, STR("next"), next);
    }
    json_write_end(&out->json, '}');
}

void page_end_number(struct tx *tx, struct answer *out, int64_t next)
{
    json_write_end(&out->json, ']');
    if (next) {
        out->next = arena_printf(tx->arena, "%lld", (long long)next);
        write_int(&out->json, STR("next"), next);
    }
    json_write_end(&out->json, '}');
}
