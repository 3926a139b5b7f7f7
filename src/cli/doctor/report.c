/* report.c: what a check has found, as it is shown and kept. */
#include "cli/doctor/doctor.h"

// clang-format off
static const struct {
    const char *name;
    enum paint paint;
} looks[DOCTOR_RESULTS] = {
    [DOCTOR_OK]   = { "ok",   PAINT_GOOD  },
    [DOCTOR_WARN] = { "warn", PAINT_KEY   },
    [DOCTOR_FAIL] = { "fail", PAINT_ERROR },
    [DOCTOR_SKIP] = { "skip", PAINT_DIM   },
};
// clang-format on

/* A line as soon as it is known: some checks take a while. */
static void show(struct doctor *d, enum doctor_result r, const char *check, str fix, str text)
{
    struct buf out = buf_in(d->arena);

    term_put(&out, d->cli->coloured ? looks[r].paint : PAINT_PLAIN, str_from(looks[r].name));
    buf_printf(&out, "%*s %-20s ", 4 - (int)strlen(looks[r].name), "", check);
    term_put(&out, PAINT_PLAIN, text);
    buf_byte(&out, '\n');
    if (fix.len) {
        buf_printf(&out, "%26s", "");
        term_put(&out, d->cli->coloured ? PAINT_KEY : PAINT_PLAIN,
                 arena_printf(d->arena, "→ " STR_FMT, STR_ARG(fix)));
        buf_byte(&out, '\n');
    }
    cli_write(d->cli, buf_str(&out));
    cli_flush(d->cli);
}

void doctor_report(struct doctor *d, enum doctor_result r, const char *check, str fix,
                   const char *format, ...)
{
    struct json found = json_object();
    struct buf text = buf_in(d->arena);
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    d->counts[r]++;
    if (!d->cli->json)
        show(d, r, check, fix, buf_str(&text));
    json_put(d->arena, &found, STR("check"), json_string(str_from(check)));
    json_put(d->arena, &found, STR("result"), json_string(str_from(looks[r].name)));
    json_put(d->arena, &found, STR("text"), json_string(term_utf8(d->arena, buf_str(&text))));
    json_put(d->arena, &found, STR("fix"),
             fix.len ? json_string(term_utf8(d->arena, fix)) : json_null());
    json_push(d->arena, &d->found, found);
}
