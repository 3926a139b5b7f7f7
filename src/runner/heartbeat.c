/* heartbeat.c: the signs of life of a run, told by a thread of their own. */
#include "runner/heartbeat.h"

#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"
#include "client/socket.h"

enum {
    SOON = 32 << 10,          /* bytes that are told soon */
    LINE_MAX_TOLD = 32 << 10, /* of a longer one, the beginning */
    PIECES_MAX = 500,         /* of one report */
    WAITING_MAX = 256 << 10,  /* bytes that wait to be told; more are left out */
    SOON_MS = 200,            /* between two reports of much: what one agent may cost the server */
    EVERY_MS = 1000,          /* between two reports of little */
    SILENT_MS = 5000,         /* between two reports of nothing: how soon a stop is heard */
    PAUSE_MOST_MS = 5000,     /* between two tries */
};

struct line {
    struct line *next;
    enum heartbeat_stream from;
    size_t len;
    char text[];
};

struct heartbeat {
    struct report *report;
    int wake_fd;
    int64_t lease_ms, silent_ms;
    pthread_t thread;

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    struct line *first, **end;
    size_t waiting, left_out; /* bytes */
    char client_id[STREAM_ID_MAX + 1], heard[STREAM_HEARD_MAX + 1];
    bool news;
    enum heartbeat_word word;
    int64_t over_ms; /* 0: it goes on; else until when to tell what there is */
};

/* ---- what is to be told ---- */

static void lines_free(struct line *l)
{
    while (l) {
        struct line *next = l->next;
        mem_free(l);
        l = next;
    }
}

static struct line *lines_take(struct heartbeat *p)
{
    struct line *all = p->first;

    p->first = NULL;
    p->end = &p->first;
    p->waiting = 0;
    return all;
}

static struct line *line_new(enum heartbeat_stream from, str text)
{
    static const char cut[] = " [the rest of this line is left out]";
    str shown = utf8_cut(text, LINE_MAX_TOLD);
    size_t more = shown.len < text.len ? strlen(cut) : 0;
    struct line *l = mem_alloc(sizeof *l + shown.len + more + 1);

    *l = (struct line){ .from = from, .len = shown.len + more + 1 };
    memcpy(l->text, shown.at, shown.len);
    memcpy(l->text + shown.len, cut, more);
    l->text[l->len - 1] = '\n';
    return l;
}

void heartbeat_output(struct heartbeat *p, enum heartbeat_stream from, str text)
{
    struct line *l = line_new(from, text);

    pthread_mutex_lock(&p->mutex);
    if (p->waiting + l->len > WAITING_MAX) {
        p->left_out += p->waiting;
        lines_free(lines_take(p));
    }
    *p->end = l;
    p->end = &l->next;
    p->waiting += l->len;
    if (p->waiting >= SOON || p->waiting == l->len)
        pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
}

static bool take_over(char *to, size_t room, str text)
{
    bool differs = text.len && text.len < room && !str_eq(str_from(to), text);

    if (differs) {
        memcpy(to, text.at, text.len);
        to[text.len] = '\0';
    }
    return differs;
}

void heartbeat_facts(struct heartbeat *p, str client_id, str heard)
{
    pthread_mutex_lock(&p->mutex);
    bool id = take_over(p->client_id, sizeof p->client_id, client_id);
    bool words = take_over(p->heard, sizeof p->heard, heard);
    if ((id || words) && !p->news) {
        p->news = true;
        pthread_cond_signal(&p->changed);
    }
    pthread_mutex_unlock(&p->mutex);
}

enum heartbeat_word heartbeat_word(struct heartbeat *p)
{
    pthread_mutex_lock(&p->mutex);
    enum heartbeat_word word = p->word;
    pthread_mutex_unlock(&p->mutex);
    return word;
}

/* ---- a report ---- */

static void push_piece(struct arena *a, struct json *output, enum heartbeat_stream from, str text)
{
    struct json piece = json_object();

    json_put(a, &piece, STR("stream"),
             json_string(from == HEARTBEAT_STDOUT ? STR("stdout") : STR("stderr")));
    json_put(a, &piece, STR("text"), json_string(text));
    json_push(a, output, piece);
}

/* Lines of one stream that follow each other are one piece. Gives what is left for the next
 * report. */
static struct line *output_take(struct arena *a, struct line *l, struct json *output)
{
    while (l && output->len < PIECES_MAX) {
        enum heartbeat_stream from = l->from;
        struct buf text = buf_in(a);
        for (struct line *next; l && l->from == from && text.len < SOON; l = next) {
            next = l->next;
            buf_add(&text, (str){ l->text, l->len });
            mem_free(l);
        }
        push_piece(a, output, from, buf_str(&text));
    }
    return l;
}

/* Takes what there is to tell; the mutex is held. */
static struct json facts_take(struct heartbeat *p, struct arena *a)
{
    struct json facts = json_object(), output = json_array();

    if (p->left_out)
        push_piece(a, &output, HEARTBEAT_STDERR,
                   arena_printf(a, "[%zu bytes of output are left out here]\n", p->left_out));
    p->left_out = 0;
    for (struct line *l = output_take(a, lines_take(p), &output); l; l = *p->end) {
        *p->end = l; /* those that are left are as they were */
        p->end = &l->next;
        p->waiting += l->len;
    }
    if (output.len)
        json_put(a, &facts, STR("output"), output);
    if (p->client_id[0])
        json_put(a, &facts, STR("client_id"), json_string(arena_copy(a, str_from(p->client_id))));
    if (p->news && p->heard[0])
        json_put(a, &facts, STR("heard"), json_string(arena_copy(a, str_from(p->heard))));
    p->news = false;
    return facts;
}

/* ---- the thread ---- */

static void wait_until(struct heartbeat *p, int64_t ms)
{
    struct timespec at = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    pthread_cond_timedwait(&p->changed, &p->mutex, &at);
}

/* Waits until there is something to tell, or it is time to tell nothing. */
static void wait_for_news(struct heartbeat *p, int64_t told_ms)
{
    while (!p->over_ms) {
        int64_t pause = p->waiting >= SOON      ? SOON_MS
                        : p->waiting || p->news ? EVERY_MS
                                                : p->silent_ms;
        if (socket_clock_ms() >= told_ms + pause)
            return;
        wait_until(p, told_ms + pause);
    }
}

static void say(struct heartbeat *p, enum heartbeat_word word)
{
    uint64_t one = 1;

    if (p->word >= word)
        return;
    p->word = word;
    ssize_t n = write(p->wake_fd, &one, sizeof one);
    (void)n;
}

/* Tells one report until it was heard, it is clear that it never will be, or time is up; the mutex
 * is not held meanwhile. The lease is ours for as long again after it should have been renewed: the
 * server gives all leases a new term when it comes back. */
static bool progress_report(struct heartbeat *p, const struct json *facts, int64_t number,
                            int64_t taken_ms)
{
    struct arena *a = arena_new();
    enum report_answer r = REPORT_LATER;

    for (int n = 0; r == REPORT_LATER && p->word != HEARTBEAT_LOST; n++) {
        const struct json *answer;
        arena_reset(a);
        pthread_mutex_unlock(&p->mutex);
        r = report_once(p->report, a, "progress", number, facts, &answer);
        pthread_mutex_lock(&p->mutex);
        int64_t now = socket_clock_ms(), until = now + retry_delay_ms(n, PAUSE_MOST_MS);
        if (r == REPORT_TAKEN && json_bool_or(answer, "stop", false))
            say(p, HEARTBEAT_STOP);
        if (r == REPORT_REFUSED || (r == REPORT_LATER && now - taken_ms > 2 * p->lease_ms))
            say(p, HEARTBEAT_LOST);
        if (p->over_ms && now >= p->over_ms)
            break;
        while (r == REPORT_LATER && socket_clock_ms() < until)
            wait_until(p, until);
    }
    arena_free(a);
    return r == REPORT_TAKEN;
}

static void *heartbeat_run(void *self)
{
    struct heartbeat *p = self;
    struct arena *a = arena_new();
    int64_t taken_ms = socket_clock_ms(), told_ms = taken_ms;

    caller_take(p->report->caller);
    pthread_mutex_lock(&p->mutex);
    for (int64_t number = 1; p->word != HEARTBEAT_LOST; number++) {
        wait_for_news(p, told_ms);
        if (p->over_ms && !p->waiting && !p->news)
            break;
        arena_reset(a);
        struct json facts = facts_take(p, a);
        if (progress_report(p, &facts, number, taken_ms))
            taken_ms = socket_clock_ms();
        told_ms = socket_clock_ms();
        if (p->over_ms && told_ms >= p->over_ms)
            break;
    }
    pthread_mutex_unlock(&p->mutex);
    caller_give(p->report->caller);
    arena_free(a);
    return NULL;
}

/* ---- coming and going ---- */

struct heartbeat *heartbeat_new(struct report *r, int64_t lease_ms, int wake_fd)
{
    struct heartbeat *p = mem_alloc(sizeof *p);
    pthread_condattr_t clock;

    *p = (struct heartbeat){ .report = r, .wake_fd = wake_fd, .lease_ms = lease_ms };
    p->silent_ms = lease_ms / 3 < SILENT_MS ? lease_ms / 3 : SILENT_MS;
    p->end = &p->first;
    pthread_mutex_init(&p->mutex, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&p->changed, &clock);
    pthread_condattr_destroy(&clock);
    caller_give(r->caller);
    int failed = pthread_create(&p->thread, NULL, heartbeat_run, p);
    assert(!failed);
    return p;
}

void heartbeat_free(struct heartbeat *p, int64_t patience_ms)
{
    pthread_mutex_lock(&p->mutex);
    p->over_ms = socket_clock_ms() + patience_ms;
    pthread_cond_signal(&p->changed);
    pthread_mutex_unlock(&p->mutex);
    pthread_join(p->thread, NULL);
    caller_take(p->report->caller);
    lines_free(p->first);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    mem_free(p);
}
