/* ask.h: what commands that are written by hand ask of the server.
 *
 * One question after the other. A command that goes on for long can go on asking when
 * the server is away for a while: it is looked for again, since it may have come back at
 * another place. Knows no operation. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "cli/cli.h"
#include "client/http_client.h"

struct asker {
    struct cli *cli;
    struct arena *arena; /* of the place where the server was last found */
    struct endpoint endpoint;
    struct http_client *client; /* NULL: not looked for, or lost */
    bool reached;               /* it has answered at least once */
    int64_t timeout_ms;         /* of questions that say none; 0: as http_client.h says */
};

struct question {
    const char *method, *pattern; /* "/sessions/{session_id}/result" */
    const struct url_param *params;
    size_t param_count;
    const struct json *body; /* NULL: none */
    int64_t timeout_ms;      /* 0: the asker's */
};

#define PARAMS(...)                                \
    .params = (struct url_param[]){ __VA_ARGS__ }, \
    .param_count = sizeof((struct url_param[]){ __VA_ARGS__ }) / sizeof(struct url_param)

void asker_init(struct asker *k, struct cli *c);
void asker_release(struct asker *k);

/* Where the server is, unless that is known; errors are those of endpoint_find, in the arena. */
err asker_find(struct asker *k, struct arena *a);

/* The same error in memory that lives as long as the command. */
err asker_keep(struct asker *k, err e);

/* Asks once; *out, in the arena, is NULL when the answer has nothing to show. A refusal is the
 * error that it stands for. A write carries a key of its own, so that it happens once. */
err asker_ask(struct asker *k, struct arena *a, const struct question *q, const struct json **out);

/* Asks until there is an answer: once a server has been reached, one that is away is waited for,
 * and people are told. The arena is reset for each try: nothing of the question may be in it. */
err asker_insist(struct asker *k, struct arena *a, const struct question *q,
                 const struct json **out);

/* All pages of a list; `list` is the member that holds it. At most `most` of them, and *cut says
 * that there are more. */
err asker_list(struct asker *k, struct arena *a, const char *pattern,
               const struct url_param *filter, const char *list, size_t most, struct json *out,
               bool *cut);

#endif
