/* json_load.c: JSON that people name by its file, and how much of it they want at most. */
#include "cli/cli.h"

enum { BYTES_DEFAULT = 256 << 20 };

err json_limit_given(struct cli *c, const char *option, int64_t most, int64_t otherwise,
                     int64_t *out)
{
    const char *text = cli_value(c, option);

    *out = otherwise;
    if (text && (!str_to_int(str_from(text), out) || *out < 1 || *out > most))
        return err_new(c->arena, ERR_INVALID, "%s expects a number from 1 to %lld, but found '%s'",
                       option, (long long)most, text);
    return NULL;
}

err json_limits_given(struct cli *c, struct json_limits *out)
{
    int64_t bytes, depth;

    TRY(json_limit_given(c, "--max-bytes", JSON_BYTES_CEILING, BYTES_DEFAULT, &bytes));
    TRY(json_limit_given(c, "--max-depth", json_limits_own.depth_max, JSON_DEPTH_MAX, &depth));
    *out = (struct json_limits){ .bytes_max = (size_t)bytes,
                                 .depth_max = (uint32_t)depth,
                                 .nul_allowed = true };
    return NULL;
}

static err load(struct cli *c, struct arena *a, const char *path, const struct json_limits *limits,
                const struct json **out)
{
    str text;

    TRY(cli_read_json(c, a, path, limits, &text));
    err e = json_parse(a, text, limits, out);
    return e ? err_within(a, e, "%s", cli_path_name(path)) : NULL;
}

err json_load(struct cli *c, struct arena *a, const char *path, const struct json **out)
{
    static const struct json_limits limits = { .bytes_max = BYTES_DEFAULT,
                                               .depth_max = JSON_DEPTH_MAX,
                                               .nul_allowed = true };

    return load(c, a, path, &limits, out);
}

err json_load_limited(struct cli *c, struct arena *a, const char *path, const struct json **out)
{
    struct json_limits limits;

    TRY(json_limits_given(c, &limits));
    return load(c, a, path, &limits, out);
}
