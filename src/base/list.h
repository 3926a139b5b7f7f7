/* list.h: a doubly linked list whose links live inside the things it links. */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next, *prev;
};

/* The thing around a link. */
#define LIST_ENTRY(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

/* Over all entries; the current one may be removed on the way. */
#define LIST_EACH(it, head)                                                   \
    for (struct list *it = (head)->next, *it##_next = it->next; it != (head); \
         it = it##_next, it##_next = it->next)

static inline void list_init(struct list *l)
{
    l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
    return l->next == l;
}

static inline void list_append(struct list *l, struct list *link)
{
    link->prev = l->prev;
    link->next = l;
    l->prev->next = link;
    l->prev = link;
}

/* Removing an entry that is in no list, but was initialised, does nothing. */
static inline void list_remove(struct list *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    list_init(link);
}

#endif
