/* explain_object.c: what is wrong with the members of an object. */
#include <stdlib.h>

#include "json/schema/explain.h"
#include "json/schema/message.h"

enum {
    NAMES_GATHERED_MAX = 256, /* declared names to show and to compare with */
    NAMES_DEPTH_MAX = 4,      /* how far they are looked for in other schemas */
    MISSPELT_MAX = 256,       /* members that may be a missing one */
};

static bool has_member(struct explain *x, const struct json *v, const struct name *name)
{
    explain_charge(x, 1 + v->len / 8);
    return json_find(v, (str){ name->at, name->len }) != NULL;
}

struct names {
    str items[NAMES_GATHERED_MAX];
    size_t count;
};

/* The names that a schema declares, also through the schemas that apply to the same value. */
static void gather_names(struct names *names, const struct node *n, unsigned depth)
{
    const struct object_rules *o = n->object;

    for (uint32_t i = 0; o && o->name_count && i <= o->slot_mask; i++) {
        const struct property *p = &o->slots[i];
        if (p->name.at && p->node && !p->node->never && names->count < NAMES_GATHERED_MAX)
            names->items[names->count++] = (str){ p->name.at, p->name.len };
    }
    for (uint32_t i = 0; depth > 0 && i < n->rule_count; i++) {
        const struct rule *r = &n->rules[i];
        for (uint32_t j = 0; j < r->count && r->kind != RULE_NOT; j++)
            if (r->nodes[j] && names->count < NAMES_GATHERED_MAX)
                gather_names(names, r->nodes[j], depth - 1);
    }
}

static int name_order(const void *a, const void *b)
{
    return str_compare(*(const str *)a, *(const str *)b);
}

/* Slots lie in the order of hashes; readers want another one, and each name once. */
static void sort_names(struct names *names)
{
    size_t kept = 0;

    qsort(names->items, names->count, sizeof(str), name_order);
    for (size_t i = 0; i < names->count; i++)
        if (i == 0 || !str_eq(names->items[i], names->items[i - 1]))
            names->items[kept++] = names->items[i];
    names->count = kept;
}

void explain_unknown_member(struct explain *x, const struct node *n, const char *keyword,
                            const struct json_member *member, const struct location *at)
{
    const struct location here = location_member(at, member);
    struct nearest near = nearest_to(json_name(member), &x->cells_left);
    struct names names = { .count = 0 };
    struct buf m = message_start(x->arena, "");

    gather_names(&names, n, strcmp(keyword, "additionalProperties") ? NAMES_DEPTH_MAX : 0);
    sort_names(&names);
    explain_charge(x, names.count);
    message_name(&m, json_name(member));
    buf_add(&m, STR(" is not allowed here"));
    buf_add(&m, names.count ? STR("; allowed: ") : STR(""));
    message_names(&m, names.items, names.count);
    for (size_t i = 0; i < names.count; i++)
        nearest_try(&near, names.items[i], &names.items[i]);
    if (near.found) {
        buf_add(&m, STR("; did you mean "));
        message_name(&m, *(const str *)near.found);
        buf_byte(&m, '?');
    }
    explain_report(x, &here, keyword, &m);
}

static void explain_missing(struct explain *x, const struct object_rules *o,
                            const struct name *name, const struct json *v,
                            const struct location *at)
{
    str missing = { name->at, name->len };
    struct nearest near = nearest_to(missing, &x->cells_left);
    struct buf m = message_start(x->arena, "the required member ");

    for (uint32_t i = 0; i < v->len && i < MISSPELT_MAX; i++)
        if (!object_property(o, &v->members[i]))
            nearest_try(&near, json_name(&v->members[i]), &v->members[i]);
    message_name(&m, missing);
    buf_add(&m, STR(" is missing"));
    if (near.found) {
        buf_add(&m, STR("; found "));
        message_name(&m, json_name(near.found));
        buf_add(&m, STR(": did you mean "));
        message_name(&m, missing);
        buf_byte(&m, '?');
    }
    explain_report(x, at, "required", &m);
}

static void explain_dependency(struct explain *x, const struct dependency *d, const struct json *v,
                               const struct location *at)
{
    str name = { d->name.at, d->name.len };

    if (!has_member(x, v, &d->name))
        return;
    for (uint32_t i = 0; i < d->required_count && !explain_stopped(x); i++) {
        if (has_member(x, v, &d->required[i]))
            continue;
        struct buf m = message_start(x->arena, "");
        message_name(&m, name);
        buf_add(&m, STR(" is there, so "));
        message_name(&m, (str){ d->required[i].at, d->required[i].len });
        buf_add(&m, STR(" must be too"));
        explain_report(x, at, d->keyword, &m);
    }
    if (!d->node || check_node(&x->check, d->node, v, NULL))
        return;
    struct buf reason = message_start(x->arena, " (because ");
    str outer = x->reason;
    message_name(&reason, name);
    buf_add(&reason, STR(" is there)"));
    x->reason = buf_str(&reason);
    explain_node(x, d->node, v, at);
    x->reason = outer;
}

/* The name is a string of its own, whose violations are told as one of the member. */
static void explain_name(struct explain *x, const struct node *n, const struct json_member *member,
                         const struct location *at)
{
    struct findings own = findings_in(x->arena, 1), *outer = x->into;
    const struct json name = json_string(json_name(member));

    x->into = &own;
    explain_node(x, n, &name, at);
    x->into = outer;
    if (own.count == 0)
        return;
    struct buf m = message_start(x->arena, "the name ");
    message_name(&m, json_name(member));
    buf_add(&m, STR(" is not allowed: "));
    buf_add(&m, own.items[0].violation.message);
    explain_report(x, at, "propertyNames", &m);
}

static void explain_member(struct explain *x, const struct node *n, const struct json_member *m,
                           const struct location *at)
{
    const struct object_rules *o = n->object;
    const struct property *p = object_property(o, m);
    const struct location here = location_member(at, m);
    bool evaluated = p && p->node;

    if (evaluated)
        explain_node(x, p->node, &m->value, &here);
    for (uint32_t i = 0; i < o->pattern_count && !explain_stopped(x); i++) {
        const struct pattern_rule *r = &o->patterns[i];
        if (explain_match(x, r->regex, r->text, json_name(m), &here) != REGEX_YES)
            continue;
        evaluated = true;
        explain_node(x, r->node, &m->value, &here);
    }
    if (!evaluated && o->additional && o->additional->never)
        explain_unknown_member(x, n, "additionalProperties", m, at);
    else if (!evaluated && o->additional)
        explain_node(x, o->additional, &m->value, &here);
    if (o->names)
        explain_name(x, o->names, m, &here);
}

void explain_object(struct explain *x, const struct node *n, const struct json *v,
                    const struct location *at)
{
    const struct object_rules *o = n->object;

    for (uint32_t i = 0; i < o->required_count && !explain_stopped(x); i++)
        if (!has_member(x, v, &o->required_names[i]))
            explain_missing(x, o, &o->required_names[i], v, at);
    for (uint32_t i = 0; i < o->dependency_count && !explain_stopped(x); i++)
        explain_dependency(x, &o->dependencies[i], v, at);
    explain_count(x, at, "member", v->len, "minProperties", o->count_min, "maxProperties",
                  o->count_max);
    for (uint32_t i = 0; i < v->len && !explain_stopped(x); i++)
        explain_member(x, n, &v->members[i], at);
}
