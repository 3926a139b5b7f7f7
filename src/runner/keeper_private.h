/* keeper_private.h: what a keeper knows of its run. Private to keeper.c and keeper_prepare.c. */
#ifndef RUNNER_KEEPER_PRIVATE_H
#define RUNNER_KEEPER_PRIVATE_H

#include "os/exec.h"
#include "runner/folder.h"
#include "runner/profile.h"
#include "runner/heartbeat.h"
#include "runner/report.h"
#include "runner/stream.h"

/* Why an agent ends. */
enum reason {
    BY_ITSELF,
    STOPPED,   /* somebody asked for it */
    TIMED_OUT, /* it took longer than it may */
    SHUT_DOWN, /* this machine asks all of us to end */
    LOST,      /* its run is not ours any more */
};

struct keeper {
    struct arena *arena;
    str folder;

    /* What it was told. */
    const struct json *spec, *run, *profile, *agent;
    bool is_command;  /* it has neither profile nor agent, session nor token */
    const char *data; /* of the server; NULL: BATON_URL says where it is */
    str home, token;
    const struct exec_user *user;
    str project_dir;
    int64_t lease_ms;

    /* How it tells. */
    struct report report;
    struct heartbeat *heartbeat;
    struct stream *out, *err;
    str client_id; /* what the client is told to call the conversation, or called it before */
    char **env;    /* of the agent; NULL as long as it is not made */

    /* The agent. */
    err failure; /* why there is none */
    pid_t pid;
    int out_fd, err_fd, signal_fd, wake_fd;
    bool ended;
    int status;
    enum reason why;
    int64_t deadline_ms;
    int64_t kill_ms; /* when what is still there is killed; 0: it may go on */
};

/* ---- keeper_prepare.c ---- */

/* Reads spec.json and the secrets. */
err keeper_read(struct keeper *k);

/* Makes the files, the command line and the environment of the agent. */
err keeper_prepare(struct keeper *k, struct exec_plan *plan);

/* What version control sees where it works. */
struct json keeper_git(struct keeper *k);

#endif
