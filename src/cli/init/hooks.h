/* hooks.h: hooks of ours in a client's settings.
 *
 * The three clients that have hooks agree on their shape: events, groups with a matcher, commands. */
#ifndef CLI_INIT_HOOKS_H
#define CLI_INIT_HOOKS_H

#include "cli/init/init.h"
#include "cli/init/json.h"

struct hook_style;

extern const struct hook_style claude_hooks, claude_waits, codex_hooks, gemini_hooks;

/* One hook for each event that we want to hear of, whatever else is there; or none of ours any more.
 * Of one that is there, the command is put right, and its time and its matcher left. */
err hooks_put(const struct wiring *w, struct json_text *t, const struct hook_style *s);

#endif
