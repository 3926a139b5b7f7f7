/* inbox.h: what waits for a person, on the command line: looking at it, and deciding.
 *
 * The pictures of inbox_text.c are pure: they know no server and no time but what they are given. */
#ifndef CLI_INBOX_H
#define CLI_INBOX_H

#include "cli/call.h"
#include "cli/execution_text.h"

/* ---- inbox_text.c ---- */

/* Entries as inbox.list gives them, the most urgent first: those that are decided for you the soonest,
 * and then those that have waited the longest. */
struct json inbox_sorted(struct arena *a, const struct json *entries);

/* They as rows of the table "inbox" of render.c. */
struct json inbox_rows(struct arena *a, const struct json *entries, int64_t now_ms);

/* One of them with what there is to judge, cut at `lines` (0: all of it), what happens when nobody
 * decides, and the commands that do. */
void inbox_entry_put(struct buf *out, const struct execution_text *t, const struct json *entry,
                     size_t lines);

/* "generation step 3", "pusher": who waits for it. */
str inbox_who(struct arena *a, const struct json *entry);

/* What to type about it: to look first where there is much to judge, else to decide. */
str inbox_command(struct arena *a, const struct json *entry);

/* "rejected in 23h", "waits on": what happens when nobody decides. */
str inbox_otherwise(struct arena *a, const struct json *entry, int64_t now_ms);

/* The variants that there are to choose from, by what they are called. */
str inbox_variants(struct arena *a, const struct json *entry);

/* Whether it can be decided so; NULL: whatever it can. */
bool inbox_takes(const struct json *entry, const char *decision);

/* ---- inbox_verbs.c ---- */

/* What `baton inbox` has instead of the operations on it. */
extern const struct verb inbox_verbs[];

/* `baton inbox` itself, and the short forms of the program. */
extern const struct option inbox_list_options[], inbox_plain_options[], inbox_approve_options[],
    inbox_reject_options[], inbox_answer_options[];
extern const char inbox_details[], inbox_approve_details[], inbox_reject_details[],
    inbox_answer_details[];
err inbox_list_run(struct cli *c);
err inbox_approvals_run(struct cli *c);
err inbox_approve_run(struct cli *c);
err inbox_reject_run(struct cli *c);
err inbox_answer_run(struct cli *c);

#endif
