/* audit_private.h: what both halves of the audit advise. Private to audit*.c. */
#ifndef CORE_AUDIT_PRIVATE_H
#define CORE_AUDIT_PRIVATE_H

#define RESTORE_STATE                                                                       \
    "repair it from a backup with 'baton store check --repair --from BACKUP', or write it " \
    "anew: create a state with its document"

#endif
