/* member.h: agents that a person has started in a project's folder.
 *
 * A member is the root of its own tree. Its state is the project's until it makes one of its own or
 * whoever runs it names another; it sees the other members and can write to them, and owes nothing when
 * it stops. One of which there was no sign for long is silent, and not counted as at work. */
#ifndef CORE_MEMBER_H
#define CORE_MEMBER_H

#include "core/due.h"
#include "core/message.h"
#include "core/project.h"

/* What a client says of where it is; the server never looks at its disk. */
struct member_place {
    str hostname;
    str common_dir; /* git's common directory of its folder, or without git the folder */
    str worktree;   /* the top of the working tree that it is in */
    str project;    /* a name, or "off": it stays alone; empty: by its folder */
    str state;      /* that it selects; empty: its project's */
};

/* Makes an attended root a member of the project that its place says, with the state that it says. What
 * cannot be followed is said in `notice`, in a sentence; empty: all could. */
err member_settle(struct tx *tx, struct session *s, const struct member_place *place, str *notice);

/* There was a sign of it: it is not silent, and is missed when there is no other for long. */
err member_seen(struct tx *tx, struct session *s);

due_run member_due_silent;

/* Two who write the same part of a project's state are told of each other. */
struct event;
err member_after_update(struct tx *tx, const struct event *e);

#endif
