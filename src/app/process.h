/* process.h: what the server asks of the system for the whole process. */
#ifndef APP_PROCESS_H
#define APP_PROCESS_H

#include "base/log.h"

/* Log lines go to standard error, with the time and the level before them. */
void process_log(enum log_level least);

/* Raises the number of files that may be open as far as it goes, and gives it. */
uint64_t process_files(void);

/* What is made is for its owner alone; a peer that is gone is an error of a call, and no signal; what
 * is large and freed goes back to the system. */
void process_prepare(void);

/* Takes passwords and tokens out of the environment, when all that needs them has them: whoever may look
 * at the process could read them there, and a child would get them. */
void process_forget(void);

/* Tells the service manager, when there is one: "READY=1", "STOPPING=1". */
void process_notify(const char *message);

#endif
