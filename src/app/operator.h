/* operator.h: the operator's token, in a file that the operator's programs read. */
#ifndef APP_OPERATOR_H
#define APP_OPERATOR_H

#include "ops/perform.h"

/* Sees to it that operator.token in the folder holds a token that works: mints one when the file is
 * not there, or holds one that is not valid any more. It is shown to nobody else. */
err operator_token(struct arena *a, struct engine *e, str folder);

#endif
