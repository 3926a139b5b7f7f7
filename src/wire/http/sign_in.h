/* sign_in.h: how a page gets a token of its own. */
#ifndef WIRE_HTTP_SIGN_IN_H
#define WIRE_HTTP_SIGN_IN_H

#include "wire/http/glue.h"

/* POST /sign-in with {"code":"…"}, from whoever has one: `token.exchange` for one who has no token. */
void sign_in(struct http_exchange *x);

#endif
