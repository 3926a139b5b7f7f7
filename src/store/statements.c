/* statements.c: the statements that a connection has prepared. */
#include "store/statements.h"

#include "base/arena.h"

enum { SLOTS_MIN = 64 };

/* At least half of the slots stay free, so that one is found after few others. */
void statements_widen(struct statements *s, size_t bytes)
{
    uint32_t slot_count = s->slot_count ? s->slot_count * 2 : SLOTS_MIN;
    struct statements wider = { mem_alloc(slot_count * bytes), 0, slot_count };

    memset(wider.slots, 0, slot_count * bytes);
    for (uint32_t i = 0; i < s->slot_count; i++) {
        const char **slot = (void *)((char *)s->slots + i * bytes);
        if (*slot)
            memcpy(statements_find(&wider, *slot, bytes), slot, bytes);
    }
    mem_free(s->slots);
    *s = wider;
}

void statements_release(struct statements *s)
{
    mem_free(s->slots);
    *s = (struct statements){ 0 };
}
