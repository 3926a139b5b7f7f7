/* config_private.h: settings as config.c and config_read.c see them. Private to these two. */
#ifndef APP_CONFIG_PRIVATE_H
#define APP_CONFIG_PRIVATE_H

#include "app/config.h"

enum { SETTING_COUNT_ALL = 77 };

enum setting_kind {
    SETTING_TEXT,
    SETTING_COUNT,
    SETTING_SIZE,
    SETTING_TIME,
    SETTING_LEVEL,
    SETTING_SWITCH
};

struct setting {
    const char *name;
    enum setting_kind kind;
    size_t at, size;     /* of its member */
    int64_t least, most; /* both 0: any */
    const char *help;
};

/* INVALID, naming the nearest, when there is none of that name. */
err setting_find(struct arena *a, str name, const struct setting **out);
size_t setting_index(const struct setting *s);

err setting_put(struct arena *a, struct config *c, const struct setting *s, str value);

#endif
