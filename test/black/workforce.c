/* workforce.c: those who work for executions, of whom none can be relied on. */
#include "black/workforce.h"

#include "client/socket.h"

enum {
    HELD_MAX = 4,
    PATIENCE_LATE_MS = WORKFORCE_LEASE_MS + 300,
    END_S = 90, /* that all may take to come to its end */
    PERSON_LOOKS = 8,
};

static const char *const workflows[] = { "chain", "fan", "asked" };
enum { WORKFLOWS = sizeof workflows / sizeof *workflows };

/* As JSON with single quotes. */
static const char *const definitions[WORKFLOWS] = {
    "{'workflow':'chain','defaults':{'retry':{'max_attempts':4,'backoff':'20ms'}},'steps':["
    "{'id':'a','job':'chain.a','outputs':['a']},"
    "{'id':'b','after':['a'],'job':'chain.b','outputs':['b'],'timeout':'150ms'},"
    "{'id':'c','after':['b'],'job':'chain.c','outputs':['c']}],"
    "'result':'=c'}",
    "{'workflow':'fan','defaults':{'retry':{'max_attempts':4,'backoff':'5ms'}},'steps':["
    "{'id':'work','for_each':'=parts','as':'part','parallel':2,'job':'fan.work','outputs':['work']},"
    "{'id':'side','job':'fan.side','outputs':['side'],'when':'=more'},"
    "{'id':'sum','after':['work','side'],'job':'fan.sum','outputs':['sum']}],"
    "'result':'=sum'}",
    "{'workflow':'asked','on_fail':'incident',"
    "'defaults':{'retry':{'max_attempts':4,'backoff':'10ms'}},'steps':["
    "{'id':'draft','job':'asked.draft','outputs':['draft']},"
    "{'id':'approve','after':['draft'],'outputs':['approve']},"
    "{'id':'ship','after':['approve'],'job':'asked.ship','outputs':['ship']}],"
    "'result':'=ship'}",
};

/* A worker, a starter or a person. */
struct labourer {
    struct workforce *force;
    struct roaming_client client;
    pthread_t thread;
    int number, lives, keys;
    int lease_s; /* that it asked for last */
    str name;
    struct given_list given;
};

static bool by_chance(struct labourer *l, uint32_t percent)
{
    return random_below(&l->client.random, 100) < percent;
}

/* What is kept until the end of the test is in the arena of this thread. */
static struct given *note(struct labourer *l, struct given g)
{
    struct given_list *all = &l->given;

    if ((all->count & (all->count - 1)) == 0)
        all->items = mem_grow(all->items, (all->count ? 2 * all->count : 1) * sizeof g);
    all->items[all->count] = g;
    return &all->items[all->count++];
}

static str kept(const struct json *j, const char *name)
{
    return arena_copy(check_arena(), json_str(j, name));
}

static str new_key(struct labourer *l)
{
    return arena_printf(l->client.arena, "l%d-%d", l->number, ++l->keys);
}

static str quoted(struct labourer *l, const char *text)
{
    return quotes_double(l->client.arena, text);
}

/* ---- workers: what they are given ---- */

/* The last two numbers of job_NO_SCOPE_N_FENCE. */
static void id_read(struct given *g)
{
    str rest = g->id, part;
    int64_t numbers[4] = { 0 };

    CHECK(str_starts(g->id, STR("job_")));
    rest = str_slice(rest, 4, rest.len);
    for (int i = 0; i < 4; i++) {
        str whole = rest;
        bool more = str_cut(whole, '_', &part, &rest);
        CHECK(str_to_int(more ? part : whole, &numbers[i]));
    }
    g->n = numbers[2];
    g->fence = numbers[3];
}

static void take(struct labourer *l, const struct json *jobs, int64_t asked_at)
{
    int64_t now = socket_clock_ms();

    for (uint32_t i = 0; jobs && i < jobs->len; i++) {
        const struct json *job = &jobs->items[i];
        struct given g = { .id = kept(job, "job_id"),
                           .execution = kept(job, "execution_id"),
                           .step = kept(job, "step"),
                           .worker = l->name,
                           .item = json_int_or(job, "item", -1),
                           .attempt = json_int_or(job, "attempt", 0),
                           .got_at = now,
                           .until = asked_at + l->lease_s * 1000 };
        CHECK_INT(json_int_or(job, "max_attempts", 0), WORKFORCE_ATTEMPTS);
        CHECK(str_eq(json_str(job, "worker"), l->name));
        if (json_str(job, "timeout_at").len)
            g.until = 0;
        id_read(&g);
        note(l, g);
    }
}

static str claim_members(struct labourer *l)
{
    l->lease_s = 1 + (int)random_below(&l->client.random, 4) / 3;
    return arena_printf(l->client.arena,
                        "'types':['chain.*','fan.*','asked.*'],'max':%d,'lease_seconds':%d,"
                        "'worker':'" STR_FMT "'",
                        1 + (int)random_below(&l->client.random, HELD_MAX), l->lease_s,
                        STR_ARG(l->name));
}

/* An answer to a claim is not kept: it is sent once, and what it gave without an answer is lost. */
static void claim(struct labourer *l)
{
    struct roaming_client *v = &l->client;
    str members = claim_members(l);
    str body = arena_printf(v->arena, "{" STR_FMT ",'timeout':1}", STR_ARG(members));
    struct http_call call = { .method = "POST",
                              .target = STR("/jobs/claim"),
                              .body = quoted(l, body.at),
                              .timeout_ms = v->patience_ms + 1000 };
    int64_t asked_at = socket_clock_ms();
    struct response r;

    if (http_client_call(v->client, v->arena, &call, &r) || r.status == 503) {
        chaos_wait_ms(5);
        roaming_client_move(v);
        return;
    }
    if (r.status != 200)
        check_fail(__FILE__, __LINE__, "claim: status %d: " STR_FMT, r.status, STR_ARG(r.body));
    take(l, json_get(json_parsed(v->arena, r.body), "jobs"), asked_at);
}

/* ---- workers: what they say ---- */

static enum heard heard_of(const struct response *r)
{
    if (r->status != 200 && r->status != 409)
        check_fail(__FILE__, __LINE__, "report: status %d: " STR_FMT, r->status, STR_ARG(r->body));
    return r->status == 200 ? HEARD_YES : HEARD_NO;
}

struct report {
    enum told told;
    const char *verb;
    str body;
};

static struct report report_of(struct labourer *l, const struct given *g, bool goes_on)
{
    struct arena *a = l->client.arena;

    if (by_chance(l, 1))
        return (struct report){ TOLD_FAILED, "fail", quoted(l, "{'error':'x','for_good':true}") };
    if (by_chance(l, 9))
        return (struct report){ TOLD_FAILED, "fail", quoted(l, "{'error':'not this time'}") };
    if (by_chance(l, 3))
        return (struct report){ TOLD_ERROR, "error", quoted(l, "{'code':'odd','message':'why'}") };
    str more = STR("");
    if (goes_on) {
        str members = claim_members(l);
        more = arena_printf(a, ",'claim':{" STR_FMT "}", STR_ARG(members));
    }
    str body = arena_printf(a, "{'outputs':{'" STR_FMT "':'" STR_FMT "'}" STR_FMT "}",
                            STR_ARG(g->step), STR_ARG(g->id), STR_ARG(more));
    return (struct report){ TOLD_DONE, "complete", quoted(l, body.at) };
}

static str job_target(struct labourer *l, const struct given *g, const char *verb)
{
    return arena_printf(l->client.arena, "/jobs/" STR_FMT "/%s", STR_ARG(g->id), verb);
}

/* By the same key until there is an answer; then by another one, which must be refused. */
static void tell(struct labourer *l, size_t at)
{
    struct given *g = &l->given.items[at];
    struct report report = report_of(l, g, by_chance(l, 25));
    str target = job_target(l, g, report.verb);

    g->told = report.told;
    g->told_at = socket_clock_ms();
    struct response r = roaming_client_send(&l->client, "POST", target, new_key(l), report.body);
    g->heard = heard_of(&r);
    l->force->late += g->heard == HEARD_NO;
    if (g->heard == HEARD_YES)
        take(l, json_get(json_parsed(l->client.arena, r.body), "jobs"), g->told_at);
    if (!by_chance(l, 8))
        return;
    r = roaming_client_send(&l->client, "POST", target, new_key(l), report.body);
    CHECK_INT(r.status, 409);
    l->force->doubled++;
}

/* All from here on in one request. */
static void tell_all(struct labourer *l, size_t from)
{
    struct given *all = l->given.items;
    size_t to = l->given.count;
    struct buf body = buf_in(l->client.arena);
    int64_t now = socket_clock_ms();

    for (size_t i = from; i < to; i++) {
        buf_printf(&body, "%s{'job_id':'" STR_FMT "','outputs':{'" STR_FMT "':'" STR_FMT "'}}",
                   i > from ? "," : "{'jobs':[", STR_ARG(all[i].id), STR_ARG(all[i].step),
                   STR_ARG(all[i].id));
        all[i].told = TOLD_DONE;
        all[i].told_at = now;
    }
    buf_printf(&body, "]}");
    struct response r = roaming_client_send(
        &l->client, "POST", STR("/jobs/complete"), new_key(l),
        quoted(l, arena_printf(l->client.arena, STR_FMT, STR_ARG(buf_str(&body))).at));
    CHECK_INT(r.status, 200);
    const struct json *jobs = json_get(json_parsed(l->client.arena, r.body), "jobs");
    CHECK_INT(jobs->len, to - from);
    for (size_t i = from; i < to; i++) {
        const struct json *error = json_get(&jobs->items[i - from], "error");
        CHECK(!error || json_int_or(error, "status", 0) == 409);
        all[i].heard = error ? HEARD_NO : HEARD_YES;
    }
}

static void renew(struct labourer *l, size_t at)
{
    struct given *g = &l->given.items[at];
    int64_t asked_at = socket_clock_ms();
    struct response r = roaming_client_send(&l->client, "POST", job_target(l, g, "renew"), STR(""),
                                            quoted(l, "{'lease_seconds':1}"));

    if (heard_of(&r) == HEARD_YES && g->until)
        g->until = asked_at + WORKFORCE_LEASE_MS;
}

/* Without waiting for the answer to what it says last, if it says anything. */
static void die(struct labourer *l, size_t at)
{
    struct roaming_client *v = &l->client;
    struct given *g = &l->given.items[at];

    if (by_chance(l, 50)) {
        struct report report = report_of(l, g, false);
        struct http_call call = { .method = "POST",
                                  .target = job_target(l, g, report.verb),
                                  .body = report.body,
                                  .timeout_ms = 1 + random_below(&v->random, 3) };
        struct response r;
        g->told = report.told;
        g->told_at = socket_clock_ms();
        if (!http_client_call(v->client, v->arena, &call, &r) && r.status != 503)
            g->heard = heard_of(&r);
    }
    http_client_free(v->client);
    v->client = http_client_new(&v->chaos->nodes[v->node].endpoint);
    l->force->deaths++;
}

static void do_job(struct labourer *l, size_t at)
{
    bool calm = l->force->calm;

    if (by_chance(l, 8))
        renew(l, at);
    if (!calm && by_chance(l, 1))
        chaos_wait_ms(PATIENCE_LATE_MS);
    else if (by_chance(l, 20))
        chaos_wait_ms((long)random_below(&l->client.random, 200));
    tell(l, at);
}

/* Does what it has, and what it is given meanwhile. False: it is no more. */
static bool do_all(struct labourer *l, size_t at)
{
    for (; at < l->given.count; at++) {
        if (!l->force->calm && by_chance(l, 6)) {
            die(l, at);
            return false;
        }
        if (by_chance(l, 10)) {
            tell_all(l, at);
            return true;
        }
        do_job(l, at);
    }
    return true;
}

static void *worker_run(void *self)
{
    struct labourer *l = self;

    arena_take(l->client.arena);
    while (!l->client.chaos->over) {
        size_t before = l->given.count;
        if (!l->name.len)
            l->name = arena_printf(check_arena(), "worker-%d-%d", l->number, ++l->lives);
        claim(l);
        if (!do_all(l, before))
            l->name = STR("");
        arena_reset(l->client.arena);
    }
    roaming_client_close(&l->client);
    return NULL;
}

/* ---- people ---- */

static str start_body(struct labourer *l, int i)
{
    str body = arena_printf(l->client.arena,
                            "{'workflow':'%s','business_key':'order-%d',"
                            "'input':{'parts':[1,2,3,4],'more':%s}}",
                            workflows[i % WORKFLOWS], i, i % 2 ? "true" : "false");

    return quoted(l, body.at);
}

/* Every starter sends every start: whoever comes later is answered as the first one was. */
static void *starter_run(void *self)
{
    struct labourer *l = self;
    struct workforce *f = l->force;

    arena_take(l->client.arena);
    for (int i = 0; i < f->count; i++) {
        struct response r = roaming_client_send(&l->client, "POST", STR("/executions"),
                                                arena_printf(l->client.arena, "start-%d", i),
                                                start_body(l, i));
        if (r.status != 201)
            check_fail(__FILE__, __LINE__, "start %d: status %d: " STR_FMT, i, r.status,
                       STR_ARG(r.body));
        note(l, (struct given){ .execution =
                                    kept(json_parsed(l->client.arena, r.body), "execution_id") });
        arena_reset(l->client.arena);
        if (!f->calm)
            chaos_wait_ms((long)random_below(&l->client.random, (uint32_t)(2 * f->pace_ms + 1)));
    }
    roaming_client_close(&l->client);
    f->starting--;
    return NULL;
}

bool workforce_leaves(str incident_id)
{
    char last = incident_id.at[incident_id.len - 1];
    return last == 'a' || last == 'k' || last == '2';
}

static const struct json *get(struct labourer *l, str target)
{
    struct response r = roaming_client_send(&l->client, "GET", target, STR(""), STR(""));

    CHECK_INT(r.status, 200);
    return json_parsed(l->client.arena, r.body);
}

static void resolve_incidents(struct labourer *l)
{
    const struct json *all = json_get(get(l, STR("/incidents?status=open&limit=100")), "incidents");

    for (uint32_t i = 0; i < all->len; i++) {
        str id = json_str(&all->items[i], "incident_id");
        str target = arena_printf(l->client.arena, "/incidents/" STR_FMT "/resolve", STR_ARG(id));
        if (workforce_leaves(id))
            continue;
        struct response r =
            roaming_client_send(&l->client, "POST", target, new_key(l), quoted(l, "{}"));
        CHECK_INT(r.status, 200);
    }
}

/* What another attempt has overtaken is refused. */
static void report_step(struct labourer *l, str execution, int64_t attempt)
{
    bool fails = by_chance(l, 20);
    struct given *g = note(l, (struct given){ .execution = arena_copy(check_arena(), execution),
                                              .step = STR("approve"),
                                              .item = -1,
                                              .attempt = attempt,
                                              .told = fails ? TOLD_FAILED : TOLD_DONE });
    g->id = arena_printf(check_arena(), "by-%d-%d", l->number, ++l->keys);
    str body = arena_printf(l->client.arena,
                            fails ? "{'attempt':%lld,'failed':true,'error':'no'}"
                                  : "{'attempt':%lld,'outputs':{'approve':'" STR_FMT "'}}",
                            (long long)attempt, STR_ARG(g->id));
    str target = arena_printf(l->client.arena, "/executions/" STR_FMT "/steps/approve/report",
                              STR_ARG(execution));
    struct response r =
        roaming_client_send(&l->client, "POST", target, new_key(l), quoted(l, body.at));
    g->heard = heard_of(&r);
    if (by_chance(l, 20)) {
        r = roaming_client_send(&l->client, "POST", target, new_key(l), quoted(l, body.at));
        CHECK_INT(r.status, 409);
    }
}

static void report_some(struct labourer *l)
{
    const struct json *all =
        json_get(get(l, STR("/executions?workflow=asked&status=open&limit=100")), "executions");

    for (int i = 0; i < PERSON_LOOKS && all->len; i++) {
        str id = json_str(&all->items[random_below(&l->client.random, all->len)], "execution_id");
        const struct json *steps =
            json_get(get(l, arena_printf(l->client.arena, "/executions/" STR_FMT, STR_ARG(id))),
                     "steps");
        for (uint32_t k = 0; k < steps->len; k++)
            if (str_eq(json_str(&steps->items[k], "step"), STR("approve")) &&
                str_eq(json_str(&steps->items[k], "status"), STR("in_progress")))
                report_step(l, id, json_int_or(&steps->items[k], "attempt", 0));
    }
}

/* Pauses one for a moment, and then has it go on, or ends it. What has ended meanwhile stays so. */
static void disturb_one(struct labourer *l)
{
    struct random *random = &l->client.random;
    const char *const verbs[] = { "pause", by_chance(l, 15) ? "cancel" : "resume" };
    const struct json *all =
        json_get(get(l, STR("/executions?status=open&limit=100")), "executions");

    if (!all->len)
        return;
    str id = json_str(&all->items[random_below(random, all->len)], "execution_id");
    for (int i = 0; i < 2; i++) {
        str target =
            arena_printf(l->client.arena, "/executions/" STR_FMT "/%s", STR_ARG(id), verbs[i]);
        struct response r =
            roaming_client_send(&l->client, "POST", target, new_key(l), quoted(l, "{}"));
        if (heard_of(&r) == HEARD_NO)
            return;
        l->force->pauses += i == 0;
        chaos_wait_ms((long)random_below(random, 60));
    }
}

static void *person_run(void *self)
{
    struct labourer *l = self;

    arena_take(l->client.arena);
    while (!l->client.chaos->over) {
        resolve_incidents(l);
        report_some(l);
        if (by_chance(l, 40))
            disturb_one(l);
        arena_reset(l->client.arena);
        chaos_wait_ms(10);
    }
    roaming_client_close(&l->client);
    return NULL;
}

/* ---- from the beginning to the end ---- */

enum { PEOPLE = WORKFORCE_WORKERS + WORKFORCE_STARTERS + 1 };

static void *(*run_of(int number))(void *)
{
    if (number < WORKFORCE_WORKERS)
        return worker_run;
    return number < PEOPLE - 1 ? starter_run : person_run;
}

void workforce_begin(struct workforce *f, struct random *random)
{
    f->labourers = ARENA_ARRAY(check_arena(), struct labourer, PEOPLE);
    f->started = ARENA_ARRAY(check_arena(), str, (size_t)f->count);
    f->starting = WORKFORCE_STARTERS;
    for (int i = 0; i < WORKFLOWS; i++)
        black_expect(&f->chaos.nodes[0], 201, "POST /workflows",
                     arena_printf(check_arena(), "{'definition':%s}", definitions[i]).at);
    for (int i = 0; i < PEOPLE; i++) {
        struct labourer *l = &f->labourers[i];
        *l = (struct labourer){ .force = f, .number = i };
        roaming_client_open(&l->client, &f->chaos, random_next(random));
        CHECK(pthread_create(&l->thread, NULL, run_of(i), l) == 0);
    }
}

/* What keeps an execution that is open from going on must have a name: an incident that is left alone. */
static bool rests(const struct json *shown)
{
    const struct json *tokens = json_get(shown, "tokens"),
                      *incidents = json_get(shown, "open_incidents");

    for (uint32_t i = 0; i < incidents->len; i++)
        if (!workforce_leaves(json_str(&incidents->items[i], "incident_id")))
            return false;
    for (uint32_t i = 0; i < tokens->len; i++) {
        str status = json_str(&tokens->items[i], "status");
        if (!str_eq(status, STR("incident")) && !str_eq(status, STR("join")) &&
            !str_eq(status, STR("loop")))
            return false;
    }
    return incidents->len > 0;
}

/* The first that still goes on, as it is shown; NULL: there is none. */
static const struct json *still_going(const struct workforce *f)
{
    const struct black *node = &f->chaos.nodes[0];
    str after = STR("");

    for (;;) {
        str route = arena_printf(check_arena(), "GET /executions?status=open&limit=100" STR_FMT,
                                 STR_ARG(after));
        const struct json *page = black_expect(node, 200, route.at, "");
        const struct json *all = json_get(page, "executions");
        for (uint32_t i = 0; i < all->len; i++) {
            str one = arena_printf(check_arena(), "GET /executions/" STR_FMT,
                                   STR_ARG(json_str(&all->items[i], "execution_id")));
            const struct json *shown = black_expect(node, 200, one.at, "");
            if (!rests(shown))
                return shown;
        }
        int64_t next = json_int_or(page, "next", 0);
        if (!next)
            return NULL;
        after = arena_printf(check_arena(), "&after=%lld", (long long)next);
    }
}

static void wait_for_end(struct workforce *f)
{
    int64_t end = socket_clock_ms() + END_S * 1000;
    const struct json *going = NULL;

    f->calm = true;
    while (f->starting || (going = still_going(f))) {
        if (socket_clock_ms() > end && !f->starting)
            check_fail(__FILE__, __LINE__,
                       "it neither ends nor waits for something with a name: " STR_FMT,
                       STR_ARG(json_shown(check_arena(), going)));
        chaos_wait_ms(100);
    }
    f->chaos.over = true;
}

static void gather(struct given_list *all, const struct given_list *more)
{
    all->items = mem_grow(all->items, (all->count + more->count + 1) * sizeof *all->items);
    for (size_t i = 0; i < more->count; i++)
        all->items[all->count++] = more->items[i];
}

/* The same start is the same execution, whoever has sent it, and wherever to. */
static void starts_compare(struct workforce *f)
{
    const struct labourer *first = &f->labourers[WORKFORCE_WORKERS];

    for (int s = 0; s < WORKFORCE_STARTERS; s++)
        CHECK_INT(first[s].given.count, f->count);
    for (int i = 0; i < f->count; i++) {
        f->started[i] = first->given.items[i].execution;
        for (int s = 1; s < WORKFORCE_STARTERS; s++)
            CHECK(str_eq(first[s].given.items[i].execution, f->started[i]));
    }
}

void workforce_end(struct workforce *f, const char *before)
{
    struct given_list jobs = { 0 }, reports = { 0 };
    int64_t again = 0;

    wait_for_end(f);
    for (int i = 0; i < PEOPLE; i++) {
        pthread_join(f->labourers[i].thread, NULL);
        again += f->labourers[i].client.sent_again;
    }
    for (int i = 0; i < WORKFORCE_WORKERS; i++)
        gather(&jobs, &f->labourers[i].given);
    gather(&reports, &f->labourers[PEOPLE - 1].given);
    starts_compare(f);
    check_note("%s, %d executions, %zu jobs given, %lld deaths with jobs held, %lld late reports, "
               "%lld doubled ones, %lld pauses, %lld requests sent again",
               before, f->count, jobs.count, (long long)f->deaths, (long long)f->late,
               (long long)f->doubled, (long long)f->pauses, (long long)again);
    CHECK(f->deaths > 0 && f->doubled > 0 && (again > 0 || f->chaos.node_count > 1));
    for (int i = 0; i < f->chaos.node_count; i++)
        workforce_check(f, &f->chaos.nodes[i], &jobs, &reports);
    for (int i = 0; i < PEOPLE; i++)
        mem_free(f->labourers[i].given.items);
    mem_free(jobs.items);
    mem_free(reports.items);
}
