/* libpq.c: PostgreSQL's client library, found when a store needs it. */
#include "store/libpq.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/arena.h"

static const struct {
    const char *symbol;
    size_t member;
    bool optional;
} calls[] = {
#define LIBPQ_CALL(name, symbol) { #symbol, offsetof(struct libpq, name), false },
    LIBPQ_CALLS(LIBPQ_CALL)
#undef LIBPQ_CALL
        { "PQenterPipelineMode", offsetof(struct libpq, enter_pipeline_mode), true },
    { "PQpipelineSync", offsetof(struct libpq, pipeline_sync), true },
};

err libpq_load_from(struct arena *a, const char *file, struct libpq *out)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return err_new(a, ERR_UNAVAILABLE,
                       "%s: PostgreSQL's client library cannot be loaded (%s): install it "
                       "(apt install libpq5; elsewhere the package is called libpq), or name a "
                       "file as the store",
                       file, dlerror());
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void *symbol = dlsym(library, calls[i].symbol);
        if (!symbol && !calls[i].optional)
            return err_new(a, ERR_UNAVAILABLE,
                           "%s: it has no %s: install PostgreSQL's client library 13 or later",
                           file, calls[i].symbol);
        memcpy((char *)out + calls[i].member, &symbol, sizeof symbol);
    }
    return NULL;
}

static struct libpq loaded;
static bool is_loaded;

static void load_quietly(void)
{
    struct arena *a = arena_new();
    is_loaded = !libpq_load_from(a, "libpq.so.5", &loaded);
    arena_free(a);
}

err libpq_load(struct arena *a, const struct libpq **out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load_quietly);
    *out = &loaded;
    /* Whoever asks again gets the whole reason again. */
    return is_loaded ? NULL : libpq_load_from(a, "libpq.so.5", &(struct libpq){ 0 });
}
