/* top_decide.c: decisions in baton top: which one is meant, the seconds in which it is taken back, and
 * that it is sent then. All but the sending is pure; before that the server hears nothing. */
#include "cli/inbox.h"
#include "cli/top.h"

#include <stdio.h>

enum { ASK_MS = 5000, TITLE_WIDTH = 40 };

static const struct json *row(const struct top_view *v, size_t i)
{
    return &v->inbox->items[i];
}

static str id_of(const struct json *entry)
{
    return json_str(entry, "id");
}

size_t top_decide_rows(const struct top_view *v, const char *decision, size_t *first)
{
    size_t count = 0;

    for (size_t i = top_inbox_shown(v); i-- > 0;)
        if (inbox_takes(row(v, i), decision)) {
            *first = i;
            count++;
        }
    return count;
}

/* ---- those on their way ---- */

static bool is_of(const struct top_pending *p, str id)
{
    return str_eq(str_from(p->id), id);
}

static void drop(struct top_decisions *d, size_t at)
{
    memmove(&d->all[at], &d->all[at + 1], (d->count - at - 1) * sizeof d->all[0]);
    d->count--;
}

static void keep(char *to, size_t room, str text)
{
    snprintf(to, room, STR_FMT, STR_ARG(text));
}

/* Of one thing there is one decision: the last. */
static str decide(struct arena *a, struct top_decisions *d, const struct top_view *v,
                  const struct json *entry)
{
    const struct json *content = json_get(entry, "content"),
                      *options = json_get(content, "options");
    bool approves = strcmp(d->asked, "approve") == 0;

    if (approves && json_is(options, JSON_ARRAY) && options->len)
        return arena_printf(a,
                            "choose a variant: baton inbox approve " STR_FMT
                            " --variant NAME, of " STR_FMT,
                            STR_ARG(id_of(entry)), STR_ARG(inbox_variants(a, entry)));
    for (size_t i = 0; i < d->count; i++)
        if (is_of(&d->all[i], id_of(entry))) {
            drop(d, i);
            break;
        }
    if (d->count == TOP_PENDING_MAX)
        return STR("that is too much at once: wait until the first ones are sent");
    struct top_pending *p = &d->all[d->count++];
    *p = (struct top_pending){ .decision = d->asked, .due_ms = v->clock_ms + TOP_UNDO_MS };
    keep(p->id, sizeof p->id, id_of(entry));
    keep(p->title, sizeof p->title, render_cut(a, json_str(entry, "title"), TITLE_WIDTH));
    if (str_eq(json_str(entry, "kind"), STR("approval")))
        keep(p->digest, sizeof p->digest, json_str(content, "digest"));
    return STR("");
}

/* ---- keys ---- */

str top_decide_ask(struct arena *a, struct top_decisions *d, struct top_view *v,
                   const char *decision)
{
    size_t shown = top_inbox_shown(v), first = 0, count = top_decide_rows(v, decision, &first);

    if (v->mode != TOP_LIST)
        return STR("");
    d->asked = decision;
    if (!shown)
        return v->inbox ? STR("no room here for what waits for you: `baton inbox` shows it")
                        : STR("nothing waits for you");
    if (!count)
        return arena_printf(a, "nothing that waits takes %s: type what stands beside it", decision);
    if (count == 1)
        return decide(a, d, v, row(v, first));
    for (size_t i = 0; i < shown; i++)
        keep(d->rows[i], sizeof d->rows[i], id_of(row(v, i)));
    d->row_count = shown;
    v->mode = TOP_WHICH;
    return STR("");
}

str top_decide_which(struct arena *a, struct top_decisions *d, struct top_view *v, char key)
{
    size_t at = 0;

    v->mode = TOP_LIST;
    if (!top_decide_rows(v, d->asked, &at))
        return STR("");
    if (key >= '1' && key <= '9')
        at = (size_t)(key - '1');
    else if (key != '\r' && key != '\n')
        return STR("");
    if (at >= top_inbox_shown(v) || !inbox_takes(row(v, at), d->asked))
        return arena_printf(a, "%c does not take %s", key, d->asked);
    return decide(a, d, v, row(v, at));
}

bool top_decide_changed(const struct top_decisions *d, const struct top_view *v)
{
    size_t shown = top_inbox_shown(v);
    bool same = shown == d->row_count;

    for (size_t i = 0; same && i < shown; i++)
        same = str_eq(str_from(d->rows[i]), id_of(row(v, i)));
    return !same;
}

str top_decide_take_back(struct arena *a, struct top_decisions *d)
{
    if (!d->count)
        return STR("nothing is on its way that could be taken back");
    d->count--;
    return arena_printf(a, "taken back: %s %s", d->all[d->count].decision, d->all[d->count].title);
}

/* ---- sending ---- */

int64_t top_decide_due(const struct top_decisions *d)
{
    int64_t due = INT64_MAX;

    for (size_t i = 0; i < d->count; i++)
        due = d->all[i].due_ms < due ? d->all[i].due_ms : due;
    return due;
}

err top_decide_send(struct caller *k, struct arena *a, struct top_decisions *d, str *says)
{
    struct top_pending p = d->all[0];
    struct json body = json_object();
    const struct json *answer;

    drop(d, 0);
    json_put(a, &body, STR("decision"), json_string(str_from(p.decision)));
    if (p.digest[0])
        json_put(a, &body, STR("digest"), json_string(str_from(p.digest)));
    json_put(a, &body, STR("channel"), json_string(STR("cli")));
    err e = caller_call(k, a,
                        &(struct call){ .method = "POST",
                                        .pattern = "/inbox/{id}",
                                        .body = json_printed(a, &body),
                                        .key = idempotency_key(a),
                                        .timeout_ms = ASK_MS,
                                        PARAMS({ "id", str_from(p.id) }) },
                        &answer);
    if (e)
        return err_within(a, e, "%s %s", p.decision, p.title);
    *says = arena_printf(a, "%s: " STR_FMT, p.title, STR_ARG(json_str(answer, "status")));
    return NULL;
}
