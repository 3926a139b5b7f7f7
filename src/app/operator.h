/* operator.h: tokens in files, which the operator's programs and the server's own runner read. */
#ifndef APP_OPERATOR_H
#define APP_OPERATOR_H

#include "ops/perform.h"

/* Sees to it that operator.token in the folder holds a token that works: mints one when the file is
 * not there, or holds one that is not valid any more. It is shown to nobody else. */
err operator_token(struct arena *a, struct engine *e, str folder);

/* The same for runner.token, which the runner shows that this server starts. */
err runner_token(struct arena *a, struct engine *e, str folder);

#endif
