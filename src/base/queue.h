/* queue.h: a bounded queue between threads.
 *
 * Values of one size are copied in and out, in order; any thread may put, any
 * may take. It is bounded so that a slow taker shows as a queue without room and
 * not as memory that grows. Does not know what travels in it. */
#ifndef BASE_QUEUE_H
#define BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue;

/* Of values of `size` bytes, at most `room` of them. */
struct queue *queue_new(size_t size, size_t room);
void queue_free(struct queue *q);

/* All of them or none: false when there is no room for all, or it is closed. */
bool queue_put(struct queue *q, const void *values, size_t count);

/* Takes what is waiting, at most `most`, and waits for the first as long as `wait_ms` says; −1:
 * until there is one. 0: the time has passed, or the queue is closed and empty. */
size_t queue_take(struct queue *q, void *values, size_t most, int64_t wait_ms);

/* Nothing goes in any more; takers get what is left, and then 0 without waiting. */
void queue_close(struct queue *q);

/* Closed, and everything was taken. */
bool queue_ended(struct queue *q);

#endif
