/* columns.h: one list of columns for each table, and what follows from it.
 *
 * A list stands beside the struct that its rows become, and has one line for each column:
 *
 *     #define THING_COLUMNS(X, t)              \
 *         X(thing_id, TEXT, INSERT, t->id)     \
 *         X(status,   WORD, INDEX,  t->status) \
 *         X(seen_at,  TIME, STORE,  t->seen_at_ms)
 *
 * its name; its kind; when it is written; and where the struct has it. Columns of the key
 * come first. The texts of SELECT, INSERT and UPDATE, their arguments and the reader of a row are made
 * of it by the compiler, so none of them counts positions, and each text is one literal as before.
 *
 * Kinds:
 *     TEXT      a str
 *     JSON      a str that holds JSON, or nothing: an audit parses it
 *     NULLABLE  the same; nothing is stored as NULL
 *     INT       an int64_t, or an enum that is stored as its number
 *     TIME      an int64_t, when something has happened, in milliseconds; 0: it has not
 *     DEADLINE  the same, when something is to happen: see clock_reset.h for how they differ
 *     FLAG      a bool, stored as 0 or 1
 *     WORD      an enum that is stored by its name: see WORDS_OF in team.h
 *     COMPUTED  a number that follows from the others: it is written, and not read
 * When:
 *     INSERT    with a new row; whoever changes it later has a statement of its own
 *     STORE     also whenever the struct is stored
 *     INDEX     the same; it is part of an index, so that storing it costs more */
#ifndef CORE_COLUMNS_H
#define CORE_COLUMNS_H

#include "core/stored.h"

/* "a, b, c" for all of them. A list that is selected has them under a name, THING_NAMES. */
#define COLUMNS(LIST) COLUMNS_JOIN_(COLUMNS_FROM_1_, COLUMNS_NAME_, LIST(COLUMNS_ALL_, ))

/* "INSERT INTO thing (a, b, c) VALUES ($1, $2, $3)". */
#define INSERT_INTO(table, LIST) \
    "INSERT INTO " #table " (" COLUMNS(LIST) ") VALUES (" COLUMNS_PARAMETERS_(LIST) ")"

/* Its arguments, taken from a struct: ARGS(VALUES(THING_COLUMNS, t)). */
#define VALUES(LIST, from) LIST(COLUMNS_VALUE_, from)

/* How many there are. */
#define COLUMNS_COUNT(LIST) (0 LIST(COLUMNS_ONE_, ))

/* All times that have happened after $1 become $1; NULL: the table has none. */
#define TIMES_UPDATE(table, LIST)                                                                \
    (0 LIST(COLUMNS_TIME_ONE_, )                                                                 \
         ? "UPDATE " #table                                                                      \
           " SET " COLUMNS_JOIN_(COLUMNS_FROM_1_, COLUMNS_TIME_SET_,                             \
                                 LIST(COLUMNS_TIMES_, )) " WHERE 1 = 0" LIST(COLUMNS_TIME_OR_, ) \
         : NULL)

/* All that are to come after $2 come $1 sooner, unless that would be never. */
#define DEADLINES_UPDATE(table, LIST)                                                  \
    (0 LIST(COLUMNS_DEADLINE_ONE_, )                                                   \
         ? "UPDATE " #table " SET " COLUMNS_JOIN_(                                     \
               COLUMNS_FROM_1_, COLUMNS_DEADLINE_SET_,                                 \
               LIST(COLUMNS_DEADLINES_, )) " WHERE 1 = 0" LIST(COLUMNS_DEADLINE_OR_, ) \
         : NULL)

/* "a = $2, b = $3" for those that are stored, or for them and then those of indexes; the key is $1. */
#define SET_STORED(LIST) COLUMNS_JOIN_(COLUMNS_FROM_2_, COLUMNS_SET_, LIST(COLUMNS_STORED_, ))
#define SET_ALL(LIST) \
    COLUMNS_JOIN_(COLUMNS_FROM_2_, COLUMNS_SET_, LIST(COLUMNS_STORED_, ) LIST(COLUMNS_INDEXED_, ))

/* Their arguments, which come after that of the key: ARGS(TEXT(t->id), ALL_VALUES(THING_COLUMNS, t)). */
#define STORED_VALUES(LIST, from) LIST(COLUMNS_STORED_VALUE_, from)
#define ALL_VALUES(LIST, from) LIST(COLUMNS_STORED_VALUE_, from) LIST(COLUMNS_INDEXED_VALUE_, from)
#define STORED_COUNT(LIST) (0 LIST(COLUMNS_STORED_ONE_, ))

/* Reads them, from the first column of a row on, into a struct. `what` names the thing, should a word
 * be damaged; its id is the first column. Gives how many columns these were: others may follow. */
#define COLUMNS_READ(LIST, tx_, row_, what, to)                        \
    ({                                                                 \
        struct columns_reader_ reader_ = { (tx_), (row_), 0, (what) }; \
        LIST(COLUMNS_READ_, to)                                        \
        reader_.at;                                                    \
    })

/* The list as data. */
struct column {
    const char *name;
    enum sql_kind kind;
    bool json;
};
#define COLUMNS_TABLE(LIST) ((const struct column[]){ LIST(COLUMNS_ENTRY_, ) })

/* ---- how it is done ---- */

struct columns_reader_ {
    struct tx *tx;
    const struct row *row;
    size_t at;
    const char *what;
};

/* What damage names: the id, where that is a text. */
static inline int columns_word_(struct columns_reader_ *r, const struct team_words *words)
{
    str id = r->row->values[0].kind == SQL_TEXT ? row_str(r->row, 0) : STR("");

    return stored_word(r->tx, THING(r->what, id), words, row_str(r->row, r->at++));
}

// clang-format off
#define COLUMNS_READ_(column, kind, when, value) COLUMNS_READ_##kind##_(value)
#define COLUMNS_READ_TEXT_(value) value = row_str(reader_.row, reader_.at++);
#define COLUMNS_READ_JSON_(value) value = row_str(reader_.row, reader_.at++);
#define COLUMNS_READ_NULLABLE_(value) COLUMNS_READ_JSON_(value)
#define COLUMNS_READ_INT_(value) value = row_int(reader_.row, reader_.at++);
#define COLUMNS_READ_TIME_(value) COLUMNS_READ_INT_(value)
#define COLUMNS_READ_DEADLINE_(value) COLUMNS_READ_INT_(value)
#define COLUMNS_READ_FLAG_(value) value = row_int(reader_.row, reader_.at++) != 0;
#define COLUMNS_READ_WORD_(value) value = columns_word_(&reader_, WORDS_OF(value));
#define COLUMNS_READ_COMPUTED_(value) reader_.at++;

#define COLUMNS_VALUE_(column, kind, when, value) COLUMNS_ARG_##kind##_(value),
#define COLUMNS_ARG_TEXT_(value) TEXT(value)
#define COLUMNS_ARG_JSON_(value) TEXT(value)
#define COLUMNS_ARG_NULLABLE_(value) (value).len ? TEXT(value) : NOTHING
#define COLUMNS_ARG_INT_(value) INT(value)
#define COLUMNS_ARG_TIME_(value) INT(value)
#define COLUMNS_ARG_DEADLINE_(value) INT(value)
#define COLUMNS_ARG_FLAG_(value) INT(value)
#define COLUMNS_ARG_WORD_(value) TEXT(team_name(WORDS_OF(value), (int)(value)))
#define COLUMNS_ARG_COMPUTED_(value) INT(value)

#define COLUMNS_STORED_VALUE_(column, kind, when, value) \
    COLUMNS_IF_STORED_##when##_(COLUMNS_VALUE_(column, kind, when, value))
#define COLUMNS_INDEXED_VALUE_(column, kind, when, value) \
    COLUMNS_IF_INDEXED_##when##_(COLUMNS_VALUE_(column, kind, when, value))
#define COLUMNS_ALL_(column, kind, when, value) , #column
#define COLUMNS_STORED_(column, kind, when, value) COLUMNS_IF_STORED_##when##_(, #column)
#define COLUMNS_INDEXED_(column, kind, when, value) COLUMNS_IF_INDEXED_##when##_(, #column)
#define COLUMNS_ONE_(column, kind, when, value) +1
#define COLUMNS_STORED_ONE_(column, kind, when, value) COLUMNS_IF_STORED_##when##_(+1)
#define COLUMNS_IF_STORED_INSERT_(...)
#define COLUMNS_IF_STORED_STORE_(...) __VA_ARGS__
#define COLUMNS_IF_STORED_INDEX_(...)
#define COLUMNS_IF_INDEXED_INSERT_(...)
#define COLUMNS_IF_INDEXED_STORE_(...)
#define COLUMNS_IF_INDEXED_INDEX_(...) __VA_ARGS__

#define COLUMNS_ENTRY_(column, kind, when, value) { #column, COLUMNS_KIND_##kind##_ },
#define COLUMNS_KIND_TEXT_ SQL_TEXT, false
#define COLUMNS_KIND_JSON_ SQL_TEXT, true
#define COLUMNS_KIND_NULLABLE_ SQL_TEXT, true
#define COLUMNS_KIND_INT_ SQL_INT, false
#define COLUMNS_KIND_TIME_ SQL_INT, false
#define COLUMNS_KIND_DEADLINE_ SQL_INT, false
#define COLUMNS_KIND_FLAG_ SQL_INT, false
#define COLUMNS_KIND_WORD_ SQL_TEXT, false
#define COLUMNS_KIND_COMPUTED_ SQL_INT, false

#define COLUMNS_PARAMETERS_(LIST) \
    COLUMNS_JOIN_(COLUMNS_FROM_1_, COLUMNS_PARAMETER_, LIST(COLUMNS_ALL_, ))
#define COLUMNS_NAME_(name, parameter) name
#define COLUMNS_PARAMETER_(name, parameter) parameter
#define COLUMNS_SET_(name, parameter) name " = " parameter

/* Of a list, the lines of one kind: a comma and the name, a condition, or one more. */
#define COLUMNS_TIMES_(column, kind, when, value) COLUMNS_IF_TIME_##kind##_(, #column)
#define COLUMNS_TIME_ONE_(column, kind, when, value) COLUMNS_IF_TIME_##kind##_(+1)
#define COLUMNS_TIME_OR_(column, kind, when, value) COLUMNS_IF_TIME_##kind##_(" OR " #column " > $1")
#define COLUMNS_TIME_SET_(name, parameter) \
    name " = CASE WHEN " name " > $1 THEN $1 ELSE " name " END"
#define COLUMNS_DEADLINES_(column, kind, when, value) COLUMNS_IF_DEADLINE_##kind##_(, #column)
#define COLUMNS_DEADLINE_ONE_(column, kind, when, value) COLUMNS_IF_DEADLINE_##kind##_(+1)
#define COLUMNS_DEADLINE_OR_(column, kind, when, value) \
    COLUMNS_IF_DEADLINE_##kind##_(" OR " #column " > $2")
#define COLUMNS_DEADLINE_SET_(name, parameter) \
    name " = CASE WHEN " name " > $2 AND " name " > $1 THEN " name " - $1 ELSE " name " END"
#define COLUMNS_IF_TIME_TEXT_(...)
#define COLUMNS_IF_TIME_JSON_(...)
#define COLUMNS_IF_TIME_NULLABLE_(...)
#define COLUMNS_IF_TIME_INT_(...)
#define COLUMNS_IF_TIME_TIME_(...) __VA_ARGS__
#define COLUMNS_IF_TIME_DEADLINE_(...)
#define COLUMNS_IF_TIME_FLAG_(...)
#define COLUMNS_IF_TIME_WORD_(...)
#define COLUMNS_IF_TIME_COMPUTED_(...)
#define COLUMNS_IF_DEADLINE_TEXT_(...)
#define COLUMNS_IF_DEADLINE_JSON_(...)
#define COLUMNS_IF_DEADLINE_NULLABLE_(...)
#define COLUMNS_IF_DEADLINE_INT_(...)
#define COLUMNS_IF_DEADLINE_TIME_(...)
#define COLUMNS_IF_DEADLINE_DEADLINE_(...) __VA_ARGS__
#define COLUMNS_IF_DEADLINE_FLAG_(...)
#define COLUMNS_IF_DEADLINE_WORD_(...)
#define COLUMNS_IF_DEADLINE_COMPUTED_(...)

/* The preprocessor counts by going from one macro to the next. Names come with a comma before each,
 * so the first argument is empty; there are at most as many as a statement has arguments. */
#define COLUMNS_JOIN_(FROM, f, ...) FROM(f, __VA_ARGS__)
#define COLUMNS_FROM_1_(f, none, ...) COLUMNS_1_(f, __VA_ARGS__)
#define COLUMNS_FROM_2_(f, none, ...) COLUMNS_2_(f, __VA_ARGS__)
#define COLUMNS_1_(f, name, ...) f(name, "$1") __VA_OPT__(", " COLUMNS_2_(f, __VA_ARGS__))
#define COLUMNS_2_(f, name, ...) f(name, "$2") __VA_OPT__(", " COLUMNS_3_(f, __VA_ARGS__))
#define COLUMNS_3_(f, name, ...) f(name, "$3") __VA_OPT__(", " COLUMNS_4_(f, __VA_ARGS__))
#define COLUMNS_4_(f, name, ...) f(name, "$4") __VA_OPT__(", " COLUMNS_5_(f, __VA_ARGS__))
#define COLUMNS_5_(f, name, ...) f(name, "$5") __VA_OPT__(", " COLUMNS_6_(f, __VA_ARGS__))
#define COLUMNS_6_(f, name, ...) f(name, "$6") __VA_OPT__(", " COLUMNS_7_(f, __VA_ARGS__))
#define COLUMNS_7_(f, name, ...) f(name, "$7") __VA_OPT__(", " COLUMNS_8_(f, __VA_ARGS__))
#define COLUMNS_8_(f, name, ...) f(name, "$8") __VA_OPT__(", " COLUMNS_9_(f, __VA_ARGS__))
#define COLUMNS_9_(f, name, ...) f(name, "$9") __VA_OPT__(", " COLUMNS_10_(f, __VA_ARGS__))
#define COLUMNS_10_(f, name, ...) f(name, "$10") __VA_OPT__(", " COLUMNS_11_(f, __VA_ARGS__))
#define COLUMNS_11_(f, name, ...) f(name, "$11") __VA_OPT__(", " COLUMNS_12_(f, __VA_ARGS__))
#define COLUMNS_12_(f, name, ...) f(name, "$12") __VA_OPT__(", " COLUMNS_13_(f, __VA_ARGS__))
#define COLUMNS_13_(f, name, ...) f(name, "$13") __VA_OPT__(", " COLUMNS_14_(f, __VA_ARGS__))
#define COLUMNS_14_(f, name, ...) f(name, "$14") __VA_OPT__(", " COLUMNS_15_(f, __VA_ARGS__))
#define COLUMNS_15_(f, name, ...) f(name, "$15") __VA_OPT__(", " COLUMNS_16_(f, __VA_ARGS__))
#define COLUMNS_16_(f, name, ...) f(name, "$16") __VA_OPT__(", " COLUMNS_17_(f, __VA_ARGS__))
#define COLUMNS_17_(f, name, ...) f(name, "$17") __VA_OPT__(", " COLUMNS_18_(f, __VA_ARGS__))
#define COLUMNS_18_(f, name, ...) f(name, "$18") __VA_OPT__(", " COLUMNS_19_(f, __VA_ARGS__))
#define COLUMNS_19_(f, name, ...) f(name, "$19") __VA_OPT__(", " COLUMNS_20_(f, __VA_ARGS__))
#define COLUMNS_20_(f, name, ...) f(name, "$20") __VA_OPT__(", " COLUMNS_21_(f, __VA_ARGS__))
#define COLUMNS_21_(f, name, ...) f(name, "$21") __VA_OPT__(", " COLUMNS_22_(f, __VA_ARGS__))
#define COLUMNS_22_(f, name, ...) f(name, "$22") __VA_OPT__(", " COLUMNS_23_(f, __VA_ARGS__))
#define COLUMNS_23_(f, name, ...) f(name, "$23") __VA_OPT__(", " COLUMNS_24_(f, __VA_ARGS__))
#define COLUMNS_24_(f, name, ...) f(name, "$24") __VA_OPT__(", " COLUMNS_25_(f, __VA_ARGS__))
#define COLUMNS_25_(f, name, ...) f(name, "$25") __VA_OPT__(", " COLUMNS_26_(f, __VA_ARGS__))
#define COLUMNS_26_(f, name, ...) f(name, "$26") __VA_OPT__(", " COLUMNS_27_(f, __VA_ARGS__))
#define COLUMNS_27_(f, name, ...) f(name, "$27") __VA_OPT__(", " COLUMNS_28_(f, __VA_ARGS__))
#define COLUMNS_28_(f, name, ...) f(name, "$28") __VA_OPT__(", " COLUMNS_29_(f, __VA_ARGS__))
#define COLUMNS_29_(f, name, ...) f(name, "$29") __VA_OPT__(", " COLUMNS_30_(f, __VA_ARGS__))
#define COLUMNS_30_(f, name, ...) f(name, "$30") __VA_OPT__(", " COLUMNS_31_(f, __VA_ARGS__))
#define COLUMNS_31_(f, name, ...) f(name, "$31") __VA_OPT__(", " COLUMNS_32_(f, __VA_ARGS__))
#define COLUMNS_32_(f, name, ...) f(name, "$32") __VA_OPT__(", " COLUMNS_33_(f, __VA_ARGS__))
#define COLUMNS_33_(f, name, ...) f(name, "$33") __VA_OPT__(", " COLUMNS_34_(f, __VA_ARGS__))
#define COLUMNS_34_(f, name, ...) f(name, "$34") __VA_OPT__(", " COLUMNS_35_(f, __VA_ARGS__))
#define COLUMNS_35_(f, name, ...) f(name, "$35") __VA_OPT__(", " COLUMNS_36_(f, __VA_ARGS__))
#define COLUMNS_36_(f, name, ...) f(name, "$36") __VA_OPT__(", " COLUMNS_37_(f, __VA_ARGS__))
#define COLUMNS_37_(f, name, ...) f(name, "$37") __VA_OPT__(", " COLUMNS_38_(f, __VA_ARGS__))
#define COLUMNS_38_(f, name, ...) f(name, "$38") __VA_OPT__(", " COLUMNS_39_(f, __VA_ARGS__))
#define COLUMNS_39_(f, name, ...) f(name, "$39") __VA_OPT__(", " COLUMNS_40_(f, __VA_ARGS__))
#define COLUMNS_40_(f, name, ...) f(name, "$40") __VA_OPT__(", " COLUMNS_41_(f, __VA_ARGS__))
#define COLUMNS_41_(f, name, ...) f(name, "$41") __VA_OPT__(", " COLUMNS_42_(f, __VA_ARGS__))
#define COLUMNS_42_(f, name, ...) f(name, "$42") __VA_OPT__(", " COLUMNS_43_(f, __VA_ARGS__))
#define COLUMNS_43_(f, name, ...) f(name, "$43") __VA_OPT__(", " COLUMNS_44_(f, __VA_ARGS__))
#define COLUMNS_44_(f, name, ...) f(name, "$44") __VA_OPT__(", " COLUMNS_45_(f, __VA_ARGS__))
#define COLUMNS_45_(f, name, ...) f(name, "$45") __VA_OPT__(", " COLUMNS_46_(f, __VA_ARGS__))
#define COLUMNS_46_(f, name, ...) f(name, "$46") __VA_OPT__(", " COLUMNS_47_(f, __VA_ARGS__))
#define COLUMNS_47_(f, name, ...) f(name, "$47") __VA_OPT__(", " COLUMNS_48_(f, __VA_ARGS__))
#define COLUMNS_48_(f, name, ...) f(name, "$48") __VA_OPT__(", " COLUMNS_49_(f, __VA_ARGS__))
#define COLUMNS_49_(f, name, ...) f(name, "$49") __VA_OPT__(", " COLUMNS_50_(f, __VA_ARGS__))
#define COLUMNS_50_(f, name, ...) f(name, "$50") __VA_OPT__(", " COLUMNS_51_(f, __VA_ARGS__))
#define COLUMNS_51_(f, name, ...) f(name, "$51") __VA_OPT__(", " COLUMNS_52_(f, __VA_ARGS__))
#define COLUMNS_52_(f, name, ...) f(name, "$52") __VA_OPT__(", " COLUMNS_53_(f, __VA_ARGS__))
#define COLUMNS_53_(f, name, ...) f(name, "$53") __VA_OPT__(", " COLUMNS_54_(f, __VA_ARGS__))
#define COLUMNS_54_(f, name, ...) f(name, "$54") __VA_OPT__(", " COLUMNS_55_(f, __VA_ARGS__))
#define COLUMNS_55_(f, name, ...) f(name, "$55") __VA_OPT__(", " COLUMNS_56_(f, __VA_ARGS__))
#define COLUMNS_56_(f, name, ...) f(name, "$56") __VA_OPT__(", " COLUMNS_57_(f, __VA_ARGS__))
#define COLUMNS_57_(f, name, ...) f(name, "$57") __VA_OPT__(", " COLUMNS_58_(f, __VA_ARGS__))
#define COLUMNS_58_(f, name, ...) f(name, "$58") __VA_OPT__(", " COLUMNS_59_(f, __VA_ARGS__))
#define COLUMNS_59_(f, name, ...) f(name, "$59") __VA_OPT__(", " COLUMNS_60_(f, __VA_ARGS__))
#define COLUMNS_60_(f, name, ...) f(name, "$60") __VA_OPT__(", " COLUMNS_61_(f, __VA_ARGS__))
#define COLUMNS_61_(f, name, ...) f(name, "$61") __VA_OPT__(", " COLUMNS_62_(f, __VA_ARGS__))
#define COLUMNS_62_(f, name, ...) f(name, "$62") __VA_OPT__(", " COLUMNS_63_(f, __VA_ARGS__))
#define COLUMNS_63_(f, name, ...) f(name, "$63") __VA_OPT__(", " COLUMNS_64_(f, __VA_ARGS__))
#define COLUMNS_64_(f, name) f(name, "$64")
// clang-format on

#endif
