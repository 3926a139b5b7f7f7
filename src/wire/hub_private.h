/* hub_private.h: what the files of the hub know of each other. Private to them.
 *
 * hub.c         topics, publishing, watches
 * hub_matcher.c  waiters with a predicate
 * hub_subscriber.c  subscribers, and how they catch up with the log */
#ifndef WIRE_HUB_PRIVATE_H
#define WIRE_HUB_PRIVATE_H

#include "wire/hub.h"

struct topic {
    struct topic *next; /* in its slot */
    str subject;
    uint32_t hash;
    uint32_t users; /* subscribers, watches, and whoever walks over them */
    struct list subscribers, watches;
};

struct subscriber {
    struct hub *hub;
    struct topic *topic;
    struct list link;    /* in the topic */
    struct list stalled; /* in the hub, while it waits to ask for its page again */
    struct grant *grant;
    struct quota *quota; /* that it is one wait of */
    enum hub_encoding encoding;
    const struct hub_events *events;
    void *owner;
    unsigned refs;
    bool started; /* its owner was told so */
    bool live;    /* gets what is published */
    bool reading; /* a page is on its way */
    bool giving;  /* a page is being given, further up the stack */
    bool paused, left;
    int64_t given; /* all up to this number was given, or not wished for */
    int page;      /* events of the next page */

    struct backlog *backlog; /* published while a page was on its way */
    uint32_t backlog_count;
    bool backlog_lost;    /* not all of it: there was no room */
    int64_t backlog_from; /* what was published before this number is the page's business */

    size_t type_count;
    str types[];
};

enum { RECENT = 1 << 12 }; /* marks of what was published; several subjects share one */

/* A call at a time of the program's clock. */
struct due {
    struct list link; /* in the hub, the earliest first */
    int64_t at_ms;
    void (*ring)(struct due *d);
};

struct hub {
    struct server *server;
    const struct op *list;
    struct topic **slots;
    uint32_t slot_count, topic_count;
    struct topic all;
    struct list *next; /* the subscriber that a walk over a topic comes to next */
    int64_t newest;    /* the last event that everybody live was given */
    int64_t recent[RECENT];
    int64_t notified[RECENT],
        notifications; /* how many there were, and how many at a subject's last */

    struct list matchers_waiting,
        matchers_running; /* those that wait, the longest first; the others */
    struct list stalled;  /* subscribers that are to ask for a page, the first first */
    uint32_t pages;       /* that are on their way */
    struct timer *retry;
    struct list due;
    struct timer *alarm;
    struct arena *scratch; /* for printing */
};

/* ---- hub_topic.c ---- */

void topic_init(struct topic *t);
void topics_widen(struct hub *h); /* makes room for twice as many, or for the first ones */

/* Where the topic of a subject is linked, or would be. */
struct topic **topic_slot(const struct hub *h, str subject, uint32_t hash);

/* The topic of a subject (empty: of all), with one more user; and without it. */
struct topic *topic_use(struct hub *h, str subject);
void topic_done(struct hub *h, struct topic *t);

/* Rings once, unless it is cleared before, which may be done twice. */
void due_set(struct hub *h, struct due *d, int64_t at_ms, void (*ring)(struct due *d));
void due_clear(struct due *d);
void alarm_ring(void *hub); /* of the timer: the time of some has come */

/* ---- hub_subscriber.c ---- */

/* An event on its way to its subscribers; framed when the first subscriber of an encoding asks. */
struct publication {
    const struct event *event;
    int64_t seq;
    str type;
    struct shared *framed[HUB_ENCODINGS];
};

void subscriber_send(struct subscriber *f, struct publication *t);
void subscribers_retry(void *hub);

/* ---- hub_matcher.c ---- */

/* Wakes one of those that the event matches. */
void matchers_wake(struct hub *h, const struct publication *t);

#endif
