/* private.h: a compiled expression and the values in it, shared by the files of flow/feel/.
 *
 *   number.c  decimal arithmetic
 *   time.c    dates, moments, durations: reading, printing, adding
 *   value.c   values: from JSON and to it, equality, order; why something is null
 *   call*.c   the built-in functions, by what they are about
 *   math.c    the operators between values: + - * / ** and their kinds
 *   eval.c    nodes → value
 *   node.c    nodes and names while they are made; constants are folded
 *   lex.c     the texts inside an expression, and where an error is
 *   parse.c   the grammar: text → nodes
 *
 * A compiled expression does not change and may be evaluated by several threads. */
#ifndef FLOW_FEEL_PRIVATE_H
#define FLOW_FEEL_PRIVATE_H

#include "flow/feel.h"
#include "json/regex/regex.h"

/* ---- values ---- */

enum feel_kind {
    FEEL_NULL,
    FEEL_BOOL,
    FEEL_NUMBER, /* at most 18 digits */
    FEEL_LONG,   /* a number of more: its text, which is JSON */
    FEEL_STRING,
    FEEL_LIST,
    FEEL_CONTEXT,
    FEEL_DATE,   /* days since 1970-01-01 */
    FEEL_MOMENT, /* a date and time: milliseconds since then, in UTC */
    FEEL_SPAN,   /* days and time: milliseconds */
    FEEL_MONTHS, /* years and months: months */
    FEEL_KINDS
};

struct feel_value {
    uint8_t kind;
    bool in_place;    /* a list or context that is a JSON value */
    int16_t exponent; /* a number is n · 10^exponent; of a moment, its offset in minutes */
    uint32_t len;     /* bytes, items, fields; the value of a bool */
    union {
        int64_t n;
        const char *text;
        const struct json *json;
        const struct feel_value *items;
        const struct feel_field *fields;
        const struct feel_reason *reason; /* of a null; NULL: nobody has given one */
    };
};

struct feel_field {
    str name;
    struct feel_value value;
};

/* A message that is only put together when somebody gets to see it: in it \1 and \2 stand for the
 * values, \3 for the name. */
struct feel_reason {
    const char *message;
    uint32_t at; /* in the text of the expression */
    str name;
    struct feel_value one, two;
};

static inline struct feel_value feel_bool(bool b)
{
    return (struct feel_value){ .kind = FEEL_BOOL, .len = b };
}

static inline struct feel_value feel_int(int64_t n)
{
    return (struct feel_value){ .kind = FEEL_NUMBER, .n = n };
}

static inline struct feel_value feel_string(str s)
{
    return (struct feel_value){ .kind = FEEL_STRING, .len = (uint32_t)s.len, .text = s.at };
}

static inline struct feel_value feel_list(const struct feel_value *items, size_t count)
{
    return (struct feel_value){ .kind = FEEL_LIST, .len = (uint32_t)count, .items = items };
}

static inline struct feel_value feel_context(const struct feel_field *fields, size_t count)
{
    return (struct feel_value){ .kind = FEEL_CONTEXT, .len = (uint32_t)count, .fields = fields };
}

static inline str feel_string_of(struct feel_value v)
{
    return (str){ v.text, v.len };
}

static inline bool feel_is_true(struct feel_value v)
{
    return v.kind == FEEL_BOOL && v.len;
}

static inline bool feel_is_number(struct feel_value v)
{
    return v.kind == FEEL_NUMBER || v.kind == FEEL_LONG;
}

/* ---- number.c ---- */

#define FEEL_DIGITS 18
#define FEEL_POWER (INT64_C(1000000000000000000)) /* 10^FEEL_DIGITS: every n is below it */
#define FEEL_NUMBER_ROOM 32

/* What the text of a JSON number means: rounded to 18 digits, or NUMBER and LONG, exactly. */
struct feel_value feel_number_read(str text);

/* The same for short integers, which nearly all are. */
static inline struct feel_value feel_number_of(const struct json *j)
{
    if (j->kind != JSON_INTEGER || j->len > FEEL_DIGITS)
        return feel_number_read(json_text(j));
    bool negative = j->text[0] == '-';
    int64_t n = 0;
    for (uint32_t i = negative; i < j->len; i++)
        n = n * 10 + (j->text[i] - '0');
    return feel_int(negative ? -n : n);
}

/* As JSON; a long one is its own text. */
str feel_number_print(char room[FEEL_NUMBER_ROOM], struct feel_value number);

int feel_number_compare(struct feel_value a, struct feel_value b);

/* Rounded to 18 digits, half to even; long operands are rounded first. False: beyond the range of a
 * double. The divisor is not 0 as feel_number_compare sees it. */
bool feel_number_add(struct feel_value a, struct feel_value b, struct feel_value *out);
bool feel_number_subtract(struct feel_value a, struct feel_value b, struct feel_value *out);
bool feel_number_multiply(struct feel_value a, struct feel_value b, struct feel_value *out);
bool feel_number_divide(struct feel_value a, struct feel_value b, struct feel_value *out);
bool feel_number_power(struct feel_value a, int64_t power, struct feel_value *out);

enum feel_rounding {
    ROUND_FLOOR,
    ROUND_CEILING,
    ROUND_UP,
    ROUND_DOWN,
    ROUND_HALF_UP,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN
};

/* To so many digits after the point, or, negative, zeros in front of it. */
bool feel_number_round(struct feel_value a, int64_t scale, enum feel_rounding how,
                       struct feel_value *out);

static inline struct feel_value feel_number_negate(struct feel_value a)
{
    if (a.kind == FEEL_LONG)
        feel_number_add(a, feel_int(0), &a);
    a.n = -a.n;
    return a;
}

/* Whether it is a whole number of 64 bits. */
bool feel_number_to_int(struct feel_value a, int64_t *out);

/* ---- time.c ---- */

bool feel_date_read(str text, struct feel_value *out);
bool feel_moment_read(str text, struct feel_value *out);
bool feel_duration_read(str text, struct feel_value *out);

/* Any of these: what stands behind an '@'. */
bool feel_time_read(str text, struct feel_value *out);

#define FEEL_TIME_ROOM 48
str feel_time_print(char room[FEEL_TIME_ROOM], struct feel_value v);

static inline bool feel_is_time(struct feel_value v)
{
    return v.kind >= FEEL_DATE && v.kind <= FEEL_MONTHS;
}

/* False when the kinds do not go together, or the result is in no year from 0000 to 9999; `fits` says
 * which of them. */
bool feel_time_add(struct feel_value a, struct feel_value b, bool subtract, bool *fits,
                   struct feel_value *out);

/* A duration times a number, or divided by it. False: beyond what can be said. */
bool feel_time_scale(struct feel_value duration, struct feel_value number, bool divide,
                     struct feel_value *out);

/* A part by its name: year, hours … False when there is none of that name. */
bool feel_time_part(struct feel_value v, str name, struct feel_value *out);

struct feel_value feel_date_of(struct feel_value moment);
struct feel_value feel_months_between(struct feel_value from, struct feel_value to);

/* Days since the first of its year and of its month, from 1; and how long the month is. */
void feel_day_numbers(struct feel_value date, int64_t *of_year, int64_t *of_month,
                      int64_t *month_days);

/* From 1, Monday. */
int64_t feel_weekday(struct feel_value date);

/* The week of ISO 8601. */
int64_t feel_week(struct feel_value date);

/* ---- a compiled expression ---- */

enum feel_node_kind {
    NODE_CONSTANT,
    NODE_NAME,
    NODE_PATH,     /* a value, then members and filters, one after the other */
    NODE_MEMBER,   /* of a path */
    NODE_FILTER,   /* of a path; of the condition or index */
    NODE_NEGATE,   /* of one */
    NODE_SUM,      /* of many; `link` of an operand says how it joins what stands before it */
    NODE_PRODUCT,  /* the same */
    NODE_POWER,    /* of many */
    NODE_COMPARE,  /* of two; `op` */
    NODE_BETWEEN,  /* of three */
    NODE_IN,       /* of a value and tests: ranges, half comparisons, values */
    NODE_TEST,     /* of one; `op` */
    NODE_RANGE,    /* of two; `op` says which ends belong to it */
    NODE_INSTANCE, /* of one; `op` is a type */
    NODE_AND,      /* of many */
    NODE_OR,       /* of many */
    NODE_IF,       /* of three */
    NODE_FOR,      /* of iterators and what is returned for each */
    NODE_SOME,     /* of iterators and a condition */
    NODE_EVERY,    /* of iterators and a condition */
    NODE_ITERATOR, /* of a list, or of two ends */
    NODE_LIST,     /* of many */
    NODE_CONTEXT,  /* of entries */
    NODE_ENTRY,    /* of one */
    NODE_CALL,     /* of the arguments */
    NODE_KINDS
};

enum feel_op { OP_EQUAL, OP_UNEQUAL, OP_LESS, OP_AT_MOST, OP_MORE, OP_AT_LEAST, OPS };
enum { RANGE_FROM_OPEN = 1, RANGE_TO_OPEN = 2 };

/* Operands are a list: the first one, and from each the next; 0 is none. */
struct feel_node {
    uint8_t kind;
    uint8_t op : 4, link : 4;
    uint16_t at; /* in the text */
    uint16_t first, next;
    union {
        const struct feel_value *constant;
        const struct feel_name *name;
        const struct feel_call *call;
    };
};

struct feel_name {
    str text;
    uint64_t key;           /* hash_key */
    bool is_free;           /* a variable, somewhere */
    struct feel_name *next; /* with the same place in the table of the compiler */
};

struct feel_call {
    const struct feel_function *function;
    uint32_t count;      /* of arguments */
    struct regex *regex; /* of a pattern that is a constant; NULL: of none */
};

struct feel {
    str text;
    const struct feel_node *nodes;
    uint32_t root;
    const str *names;
    size_t name_count;
};

/* ---- evaluating ---- */

struct feel_run {
    struct arena *arena;
    const struct feel_node *nodes;
    const struct feel_scope *scope;
    const struct feel_binding *bindings; /* innermost first */
    int64_t now_ms;
    uint32_t steps_left;
    uint32_t at;                  /* the node whose work is done, for reasons */
    const char *over;             /* why it has ended; NULL: it has not. No steps are left then */
    const struct feel_call *call; /* that is performed */
    struct {
        str text;
        struct regex *regex;
    } pattern; /* the last one that was no constant */
};

/* Ends the evaluation. */
void feel_stop(struct feel_run *run, const char *why);

/* False when the budget does not hold so many steps, which ends the evaluation. */
static inline bool feel_spend(struct feel_run *run, uint64_t steps)
{
    if (run->steps_left <= steps) {
        feel_stop(run, "it takes too many steps");
        return false;
    }
    run->steps_left -= (uint32_t)steps;
    return true;
}

/* Comparing, searching and copying take time by the byte. */
static inline uint64_t feel_text_steps(size_t bytes)
{
    return 1 + bytes / 64;
}

/* Room for so many values, paid for; NULL: there are no steps for it. */
struct feel_value *feel_values(struct feel_run *run, size_t count);

/* What a node stands for. Used where constants are folded, too. */
struct feel_value feel_node_eval(struct feel_run *run, uint32_t node);

/* ---- value.c ---- */

struct feel_value feel_of_json(const struct json *j);

/* The element of a list, which has it. */
static inline struct feel_value feel_item(struct feel_value list, uint32_t i)
{
    return list.in_place ? feel_of_json(&list.json->items[i]) : list.items[i];
}

struct feel_field feel_field_at(struct feel_value context, uint32_t i);

/* False when there is none of that name. `key` is hash_key of it. */
bool feel_field(struct feel_run *run, struct feel_value context, str name, uint64_t key,
                struct feel_value *out);

/* In the arena, sharing what it can; false, and the run is over, when it is longer than `bytes` as
 * JSON, which are taken off. */
bool feel_to_json(struct feel_run *run, struct feel_value v, size_t *bytes, struct json *out);

/* The text that string() gives: of a string itself, else as JSON, or as a time is written. */
bool feel_to_text(struct feel_run *run, struct feel_value v, str *out);

/* Whether both are the same, deeply; different kinds are not. */
bool feel_equal(struct feel_run *run, struct feel_value a, struct feel_value b);

/* What '=' and '<' say: null, with a reason, of kinds that cannot be compared. */
struct feel_value feel_compare(struct feel_run *run, enum feel_op op, struct feel_value a,
                               struct feel_value b);

/* Below, equal or above as < 0, 0, > 0; false when these have no order. */
bool feel_order(struct feel_run *run, struct feel_value a, struct feel_value b, int *out);

/* Null, and why. */
struct feel_value feel_null(struct feel_run *run, const char *message);
struct feel_value feel_null_of(struct feel_run *run, const char *message, struct feel_value one,
                               struct feel_value two);
struct feel_value feel_null_name(struct feel_run *run, const char *message, str name,
                                 struct feel_value one);

/* The null that an operand is, with its own reason where it has one. */
struct feel_value feel_null_from(struct feel_run *run, struct feel_value null);

/* The reason as a text, with its column. */
str feel_reason_text(struct feel_run *run, str text, struct feel_value null);

/* ---- math.c ---- */

/* Of two values that are not null; null, with a reason, where their kinds do not go together. `other`
 * says which of the two operators of a chain it is: minus, divided by. */
struct feel_value feel_sum(struct feel_run *run, bool other, struct feel_value a,
                           struct feel_value b);
struct feel_value feel_product(struct feel_run *run, bool other, struct feel_value a,
                               struct feel_value b);
struct feel_value feel_power(struct feel_run *run, bool other, struct feel_value a,
                             struct feel_value b);
struct feel_value feel_negated(struct feel_run *run, struct feel_value v);

/* ---- call.c ---- */

#define FEEL_MANY 255 /* arguments */

/* `kinds` has a letter for each argument, the last one for all that follow; see call.c. */
struct feel_function {
    const char *name;
    uint8_t least, most;
    const char *kinds;
    struct feel_value (*run)(struct feel_run *run, const struct feel_value *args, uint32_t count);
    const char *usage;
    bool impure; /* not the same every time: now() */
};

/* The tables, each up to an entry without a name. */
#define FEEL_CALLS 6
extern const struct feel_function *const feel_calls[FEEL_CALLS];
extern const struct feel_function feel_calls_basic[], feel_calls_text[], feel_calls_list[],
    feel_calls_number[], feel_calls_context[], feel_calls_time[];

/* NULL when there is no such function. */
const struct feel_function *feel_function_find(str name);

/* The function whose name of several words the text begins with, up to its '('; `len` is how long
 * that is, without the '('. NULL when there is none. */
const struct feel_function *feel_function_spaced(str text, size_t *len);

/* The function whose name is nearest to one that is none; NULL when none is near. */
const char *feel_function_near(str name);

/* With its arguments, whose number fits; checks their kinds. */
struct feel_value feel_function_run(struct feel_run *run, const struct feel_call *call,
                                    const struct feel_value *args);

/* ---- node.c, lex.c, parse.c ---- */

/* What constants may take in all, at compile time. */
#define FEEL_FOLD_STEPS 10000

#define FEEL_NAME_SLOTS 32

struct feel_text {
    struct arena *arena;
    str all; /* valid UTF-8 */
    size_t at;
    unsigned depth;
    bool range_allowed; /* the next value may be a range: it stands behind `in` */
    bool camunda;       /* it is ${…}, in which there are other signs, and less */
    uint32_t fold_steps;
    struct feel_node *nodes;
    uint32_t count, room;
    struct feel_name *names[FEEL_NAME_SLOTS];
    str *free_names; /* in the order of their first mention */
    size_t free_count, free_room;
    const struct feel_bound *bound; /* names that are no variables; innermost first */
};

/* A new node, at a place in the text; others may move in memory. */
uint16_t feel_node_new(struct feel_text *t, enum feel_node_kind kind, size_t at);
uint16_t feel_node_constant(struct feel_text *t, size_t at, struct feel_value v);
uint16_t feel_node_of_one(struct feel_text *t, enum feel_node_kind kind, size_t at,
                          uint16_t operand);

/* Operands of a node, as they come. */
struct feel_operands {
    uint16_t of, last;
};

void feel_operand_add(struct feel_text *t, struct feel_operands *o, uint16_t node);

/* The node, which is complete; it has become a constant where all that is in it are. */
err feel_folded(struct feel_text *t, uint16_t node, uint16_t *out);

/* The name, of which there is one for each text. */
struct feel_name *feel_name_of(struct feel_text *t, str text);

/* From now on the name is no variable, until t->bound is what it was. */
void feel_bind(struct feel_text *t, const struct feel_name *name);

/* It is mentioned: a variable, unless it is bound. */
void feel_name_used(struct feel_text *t, struct feel_name *name);

/* INVALID with the column of a byte and a message. */
err feel_fail(const struct feel_text *t, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* INVALID: expected this, found what is here. */
err feel_expected(const struct feel_text *t, const char *what);

static inline bool feel_ended(const struct feel_text *t)
{
    return t->at == t->all.len;
}

/* The byte here, 0 at the end; no rule of the grammar accepts a NUL. */
static inline char feel_peek(const struct feel_text *t)
{
    return feel_ended(t) ? 0 : t->all.at[t->at];
}

void feel_skip_blanks(struct feel_text *t);

/* Behind blanks: the byte is taken when it is this one. */
bool feel_take(struct feel_text *t, char c);

/* The same for a text of signs, and for a word, which ends there. */
bool feel_take_text(struct feel_text *t, str text);
bool feel_take_word(struct feel_text *t, str word);

/* Letters, digits and '_', the first no digit; may be empty. */
str feel_read_word(struct feel_text *t);

/* A word that is no keyword, or anything in backquotes. */
err feel_read_name(struct feel_text *t, const char *what, str *out);

bool feel_is_keyword(str word);

bool feel_at_number(const struct feel_text *t);
err feel_read_number(struct feel_text *t, struct feel_value *out);

/* From its quote on. */
err feel_read_string(struct feel_text *t, str *out);

#endif
