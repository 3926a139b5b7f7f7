/* sessions_write.c: operations that make, end and hear sessions. */
#include "core/callback.h"
#include "ops/sessions.h"
#include "ops/write.h"

enum { EVENT_BYTES_MAX = 64 * 1024 }; /* of one event that is kept whole */

/* ---- coming and going ---- */

err session_create_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct session_new n = {
        .id = input_str(in, "session_id"),
        .name = input_str(in, "session_name"),
        .parent = input_str(in, "parent_session_name"),
        .state_id = input_str(in, "workflow_state_id"),
        .agent = input_str(in, "agent_name"),
        .project_dir = input_str(in, "project_dir"),
        .pointers = input_json(in, "pointers"),
        .attended = true,
        .calls_back = input_bool(in, "callback", true),
    };
    struct session s;

    TRY(session_create(tx, &n, &s));
    out->created = true;
    write_session(tx, &out->json, &s);
    return NULL;
}

err session_delete_op(struct tx *tx, const struct input *in, struct answer *out)
{
    bool with_state = input_bool(in, "with_state", false);
    struct session s;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (with_state && tx->actor->kind != ACTOR_OPERATOR)
        return err_new(tx->arena, ERR_FORBIDDEN, "only the operator deletes a state");
    out->empty = true;
    return session_delete(tx, &s, with_state);
}

/* What is below a session: each that has ended with all below it goes. */
err session_clear_op(struct tx *tx, const struct input *in, struct answer *out)
{
    enum { CHILDREN_MAX = 1000 };
    str above = input_str(in, "session_id");
    int64_t deleted = 0, kept = 0;
    const struct session *children;
    struct session s;
    size_t count;

    if (!above.len && tx->actor->kind == ACTOR_SESSION)
        above = tx->actor->session_id;
    if (!above.len)
        return err_new(tx->arena, ERR_INVALID,
                       "expected a session_id: all that has ended below it is deleted");
    TRY(session_get(tx, above, &s));
    TRY(session_list(tx, &(struct session_filter){ .parent_id = s.id, .limit = CHILDREN_MAX },
                     &children, &count));
    for (size_t i = 0; i < count; i++) {
        struct session child = children[i];
        err e = session_delete(tx, &child, false);
        if (e && e->kind != ERR_CONFLICT)
            return e;
        deleted += !e;
        kept += e != NULL;
    }
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("deleted"), deleted);
    write_int(&out->json, STR("kept"), kept);
    json_write_end(&out->json, '}');
    return NULL;
}

err session_stop_op(struct tx *tx, const struct input *in, struct answer *out)
{
    str why = input_str(in, "reason");
    struct session s;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    if (!why.len)
        why = arena_printf(tx->arena, "stopped by " STR_FMT, STR_ARG(tx->actor->name));
    TRY(callback_stop_tree(tx, &s, why));
    TRY(session_load(tx, s.id, &s));
    write_session(tx, &out->json, &s);
    return NULL;
}

/* ---- what sessions tell ---- */

/* A token of a session speaks for it, and for those below it that nobody here runs: clients that
 * have agents inside of them report for all of them. */
static err speaker_check(struct tx *tx, const struct session *s)
{
    if (tx->actor->kind != ACTOR_SESSION || s->attended || str_eq(tx->actor->session_id, s->id))
        return NULL;
    return err_new(tx->arena, ERR_FORBIDDEN,
                   "session " STR_FMT " is run here and speaks for itself", STR_ARG(s->name));
}

/* What is kept of an event: all but what says whose and which it is. */
static str event_data(struct tx *tx, const struct input *in)
{
    struct json data = json_object();
    const struct json *all = in->json;

    for (uint32_t i = 0; i < all->len; i++) {
        str name = json_name(&all->members[i]);
        if (!str_eq(name, STR("session_id")) && !str_eq(name, STR("event_type")))
            json_put(tx->arena, &data, name, all->members[i].value);
    }
    str printed = json_printed(tx->arena, &data);
    if (printed.len <= EVENT_BYTES_MAX)
        return printed;
    return arena_printf(tx->arena, "{\"truncated\":true,\"bytes\":%zu}", printed.len);
}

err session_event_op(struct tx *tx, const struct input *in, struct answer *out)
{
    struct stop_advice advice = { .block = false };
    struct session s;
    int64_t number;

    TRY(session_get(tx, input_str(in, "session_id"), &s));
    TRY(speaker_check(tx, &s));
    str type = input_str(in, "event_type"), data = event_data(tx, in);
    if (str_eq(type, STR("session_end"))) { /* nobody is there to be told anything */
        TRY(session_event_note(tx, &s, type, data, &number));
        TRY(callback_on_bridge_end(tx, &s));
    } else {
        TRY(session_event_add(tx, &s, type, data, &number));
        TRY(str_eq(type, STR("session_stop"))
                ? callback_on_stop(tx, &s, input_str(in, "error"), &advice)
                : callback_take(tx, &s, &advice.prompt, &advice.callbacks));
    }
    out->created = true;
    out->notify = s.id;
    json_write_begin(&out->json, '{');
    write_int(&out->json, STR("number"), number);
    if (advice.block) {
        write_text(&out->json, STR("decision"), STR("block"));
        write_text(&out->json, STR("reason"), advice.prompt);
    }
    if (advice.callbacks)
        write_text(&out->json, STR("additional_context"), advice.prompt);
    write_int(&out->json, STR("callbacks"), (int64_t)advice.callbacks);
    json_write_end(&out->json, '}');
    return NULL;
}
