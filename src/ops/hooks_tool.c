/* hooks_tool.c: tools that an agent asks for before it uses them.
 *
 * A role lists them by name, "Bash", or with what they are called with, "Bash(git push:*)". A star
 * stands for anything; ":*" at the end for nothing or for more words. Each command of a line is
 * looked at by itself, since "cd x && git push" is a push, too; whoever wants to be sure lists the
 * tool without a pattern. */
#include "base/digest.h"
#include "base/utf8.h"
#include "core/agent.h"
#include "core/permission.h"
#include "core/stored.h"
#include "ops/hooks.h"

enum {
    INPUT_TEXT_MAX = 2000, /* of what the operator is shown of each text */
    WORD_BYTES_MAX = 200,  /* of what a tool and its calls are called */
};

/* ---- patterns ---- */

/* Where `*` stands for any bytes. The last star is tried again with one byte more; no earlier one
 * need be, so it takes no longer than the lengths multiplied. */
static bool glob_fits(str pattern, str text)
{
    size_t p = 0, t = 0, star = pattern.len, from = 0;

    while (t < text.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.len && pattern.at[p] == text.at[t]) {
            p++;
            t++;
        } else if (star < pattern.len) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.at[p] == '*')
        p++;
    return p == pattern.len;
}

static bool pattern_fits(str pattern, str text)
{
    if (!str_ends(pattern, STR(":*")))
        return glob_fits(pattern, text);
    pattern.len -= 2;
    return str_starts(text, pattern) && (text.len == pattern.len || text.at[pattern.len] == ' ');
}

/* What a call is about: the command, the file, the address; else all of its input. */
static str call_subject(struct arena *a, const struct json *input, bool *command)
{
    static const char *const members[] = { "command", "file_path", "notebook_path",
                                           "path",    "url",       "query" };

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        str text = json_str(input, members[i]);
        *command = i == 0 && text.len;
        if (text.len)
            return text;
    }
    return input ? json_printed(a, input) : STR("");
}

static bool any_command_fits(str pattern, str line)
{
    size_t from = 0;

    for (size_t i = 0; i <= line.len; i++) {
        if (i < line.len && !strchr(";&|\n", line.at[i]))
            continue;
        if (pattern_fits(pattern, str_trim(str_slice(line, from, i))))
            return true;
        from = i + 1;
    }
    return false;
}

static bool rule_fits(struct arena *a, str rule, str tool, const struct json *input)
{
    str name, pattern;
    bool command;

    if (!str_cut(rule, '(', &name, &pattern))
        return glob_fits(rule, tool);
    if (str_ends(pattern, STR(")")))
        pattern.len--;
    if (!glob_fits(name, tool))
        return false;
    str subject = call_subject(a, input, &command);
    return pattern_fits(pattern, subject) || (command && any_command_fits(pattern, subject));
}

/* Whether a role's list of tools to ask for has this call in it. */
static bool hook_asks(struct arena *a, const struct json *list, str tool, const struct json *input)
{
    for (uint32_t i = 0; json_is(list, JSON_ARRAY) && i < list->len; i++)
        if (json_is(&list->items[i], JSON_STRING) &&
            rule_fits(a, json_text(&list->items[i]), tool, input))
            return true;
    return false;
}

/* ---- asking ---- */

/* An agent that was deleted since asks for nothing. */
static err list_of(struct tx *tx, str agent, const struct json **out)
{
    const struct json *role;
    struct entry entry;

    *out = NULL;
    if (!agent.len)
        return NULL;
    err e = entry_get(tx, CATALOG_AGENTS, agent, &entry);
    if (e)
        return e->kind == ERR_NOT_FOUND ? NULL : e;
    TRY(stored_parse(tx, THING("agent", agent), entry.text, &role));
    *out = json_get(role, "ask");
    return NULL;
}

static str digest_of(struct tx *tx, const struct json *input)
{
    struct buf text = buf_in(tx->arena);
    unsigned char sum[SHA256_BYTES];

    if (input)
        json_print_canonical(&text, input);
    sha256(buf_str(&text), sum);
    return hex_encode(tx->arena, (str){ (const char *)sum, sizeof sum });
}

static str waiting_text(struct tx *tx, const struct permission *p)
{
    return arena_printf(tx->arena,
                        "This use of " STR_FMT " waits for the operator (permission " STR_FMT
                        "). Do not try it another way: do what does not need it and then stop, "
                        "saying what is left. You will be resumed when it was decided.",
                        STR_ARG(p->tool), STR_ARG(p->id));
}

static str denied_text(struct tx *tx, const struct permission *p)
{
    return arena_printf(tx->arena,
                        "The operator denied this use of " STR_FMT "%s" STR_FMT
                        ". Go on without it, or say why that is not possible.",
                        STR_ARG(p->tool), p->reason.len ? ": " : "", STR_ARG(p->reason));
}

/* Only Claude Code can end with a call that is still open; and not inside of one of its agents. */
static void reply_with(struct tx *tx, const struct hook *h, const struct permission *p,
                       struct hook_reply *r)
{
    bool defers = h->client == HOOK_CLAUDE && !h->inner;

    switch (p->status) {
    case PERMISSION_ALLOWED:
        r->decision = HOOK_ALLOW;
        r->reason = arena_printf(tx->arena, "allowed by " STR_FMT, STR_ARG(p->decided_by));
        break;
    case PERMISSION_DENIED:
        r->decision = HOOK_DENY;
        r->reason = denied_text(tx, p);
        break;
    default:
        r->decision = defers ? HOOK_DEFER : HOOK_DENY;
        r->reason = waiting_text(tx, p);
        break;
    }
}

err hook_before_tool(struct tx *tx, struct hook *h, struct hook_reply *r)
{
    const struct json *input = json_get(h->payload, "tool_input"), *list;
    str tool = json_str(h->payload, "tool_name");
    bool runs_here = !h->s.attended && h->s.run_id.len;
    struct permission p;

    if (!runs_here || !tool.len)
        return NULL;
    TRY(list_of(tx, h->s.agent, &list));
    if (!hook_asks(tx->arena, list, tool, input))
        return NULL;
    struct json shown = input ? hook_cut(tx->arena, input, INPUT_TEXT_MAX) : json_object();
    struct permission_call call = { .client = str_from(hook_client_names[h->client]),
                                    .tool = utf8_cut(tool, WORD_BYTES_MAX),
                                    .input = json_printed(tx->arena, &shown),
                                    .digest = digest_of(tx, input),
                                    .call_id = utf8_cut(json_str(h->payload, "tool_use_id"),
                                                        WORD_BYTES_MAX) };
    TRY(permission_ask(tx, &h->s, &call, &p));
    reply_with(tx, h, &p, r);
    return NULL;
}
