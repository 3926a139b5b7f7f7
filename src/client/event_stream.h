/* event_stream.h: bytes → server-sent events.
 *
 * Bytes may come in any pieces; the events are the same for all of them. Comments,
 * and events without data, are passed over. Knows no HTTP and not what is in the
 * data. */
#ifndef CLIENT_EVENT_STREAM_H
#define CLIENT_EVENT_STREAM_H

#include "base/arena.h"

#define EVENT_ID_MAX 256           /* bytes of an id; a longer one is none */
#define EVENT_DATA_MAX (64u << 20) /* bytes of the data of one event, and of a line */

struct event_reader {
    struct buf line; /* what came of one that has not ended */
    struct buf data; /* of the event that has not ended; or of the last one, until the next call */
    char id[EVENT_ID_MAX];
    size_t id_len;
    int64_t retry_ms; /* how long to wait before coming back; −1: it was not said */
    bool after_cr;    /* a line feed now would be the other half of the line's end */
    bool has_data, given;
    bool broken; /* more data than an event may have: there will be no more events */
};

/* A reader has nothing to release but its arena, where it stays as large as its largest event. */
void event_reader_init(struct event_reader *r, struct arena *a);

/* Takes bytes off the front until an event is whole: true, and its data, whose lines are separated
 * by line feeds; they are good until the next call. */
bool event_read(struct event_reader *r, str *bytes, str *data);

/* The id of the last event that had one; empty: none. */
str event_last_id(const struct event_reader *r);

#endif
