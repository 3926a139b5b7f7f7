/* file_touch.c: which member of a project is at which file, and what the others hear of it. */
#include "core/file_touch.h"

#include <assert.h>

#include "base/utf8.h"
#include "core/columns.h"
#include "core/prompt_private.h"

enum {
    RAW_PATH_MAX = 4 * FILE_PATH_MAX, /* bytes of a path with dots in it */
    FILES_SHOWN = 8,
    MEMBERS_SHOWN = 3, /* of a file */
    PATH_SHOWN = 200,
    MINUTE_MS = 60 * 1000,
};

/* ---- which file it is ---- */

/* Takes the next part of a path off its front; false: there is none. */
static bool part_next(str *path, str *part)
{
    while (path->len && path->at[0] == '/')
        *path = str_slice(*path, 1, path->len);
    size_t end = str_find(*path, '/');
    *part = str_slice(*path, 0, end);
    *path = str_slice(*path, end, path->len);
    return part->len > 0;
}

bool file_path_clean(struct arena *a, str dir, str path, str *out)
{
    str ways[] = { str_starts(path, STR("/")) ? STR("/") : dir, path };
    str part;

    if (!str_starts(ways[0], STR("/")) || dir.len > RAW_PATH_MAX || path.len > RAW_PATH_MAX)
        return false;
    char *room = arena_alloc(a, ways[0].len + path.len + 2);
    size_t len = 0;
    for (size_t i = 0; i < 2; i++) {
        while (part_next(&ways[i], &part)) {
            if (str_eq(part, STR(".")))
                continue;
            if (str_eq(part, STR(".."))) {
                while (len && room[--len] != '/')
                    ;
                continue;
            }
            room[len++] = '/';
            memcpy(room + len, part.at, part.len);
            len += part.len;
        }
    }
    *out = (str){ room, len };
    bool plain = utf8_valid(*out);
    for (str rest = *out; plain && rest.len;)
        plain = !utf8_is_control(utf8_next(&rest));
    return plain && len <= FILE_PATH_MAX;
}

/* False: it is outside of the session's working tree. */
static bool touch_at(struct tx *tx, const struct session *s, str cwd, str path,
                     struct file_touch *out)
{
    str top, whole;

    if (!path.len || !file_path_clean(tx->arena, STR(""), s->worktree, &top) ||
        !file_path_clean(tx->arena, cwd, path, &whole))
        return false;
    if (!str_starts(whole, top) || whole.len <= top.len + 1 || whole.at[top.len] != '/')
        return false;
    *out = (struct file_touch){
        .session_id = s->id,
        .project = s->project,
        .path = str_slice(whole, top.len + 1, whole.len),
        .file = arena_printf(tx->arena, STR_FMT ":" STR_FMT, STR_ARG(s->hostname), STR_ARG(whole)),
    };
    return true;
}

/* ---- rows ---- */

/* What was kept of it, into `t`; nothing was: it stays. */
static err touch_load(struct tx *tx, struct file_touch *t, bool *found)
{
    const struct row *row;
    struct file_touch was;

    TRY(sql_one(tx->sql, &row,
                "SELECT " FILE_TOUCH_NAMES " FROM file_touch WHERE session_id = $1 AND file = $2",
                ARGS(TEXT(t->session_id), TEXT(t->file))));
    *found = row;
    if (!row)
        return NULL;
    COLUMNS_READ(FILE_TOUCH_COLUMNS, tx, row, "session", (&was));
    t->seen_at_ms = was.seen_at_ms;
    t->wrote_at_ms = was.wrote_at_ms;
    t->added = was.added;
    t->removed = was.removed;
    return NULL;
}

static err touch_store(struct tx *tx, const struct file_touch *t)
{
    return sql_exec(
        tx->sql,
        INSERT_INTO(file_touch,
                    FILE_TOUCH_COLUMNS) " ON CONFLICT (session_id, file) DO UPDATE SET"
                                        " project = excluded.project, path = excluded.path,"
                                        " seen_at = excluded.seen_at, wrote_at = excluded.wrote_at,"
                                        " added = excluded.added, removed = excluded.removed",
        ARGS(VALUES(FILE_TOUCH_COLUMNS, t)));
}

static err oldest_drop(struct tx *tx, str session_id)
{
    return sql_exec(tx->sql,
                    "DELETE FROM file_touch WHERE session_id = $1 AND file IN"
                    " (SELECT file FROM file_touch WHERE session_id = $1"
                    "  ORDER BY seen_at DESC, file DESC LIMIT $2 OFFSET $3)",
                    ARGS(TEXT(session_id), INT(FILE_TOUCHES_AT_ONCE_MAX), INT(FILE_TOUCHES_MAX)));
}

/* ---- what others did ---- */

static err others_find(struct tx *tx, const struct file_touch *t, const struct row **rows,
                       size_t *count)
{
    return sql_all(tx->sql, rows, count,
                   "SELECT s.name, f.wrote_at, f.added, f.removed"
                   " FROM file_touch f JOIN session s ON s.session_id = f.session_id"
                   " WHERE f.project = $1 AND f.file = $2 AND f.wrote_at > $3"
                   " AND f.session_id <> $4 AND s.project = $1 AND s.attended = 1 AND s.live = 1"
                   " AND s.silent = 0 ORDER BY f.wrote_at DESC, f.session_id LIMIT $5",
                   ARGS(TEXT(t->project), TEXT(t->file), INT(t->seen_at_ms), TEXT(t->session_id),
                        INT(MEMBERS_SHOWN + 1)));
}

struct telling {
    struct buf text;
    size_t files; /* that others have changed */
};

static void others_tell(struct tx *tx, struct telling *out, str path, const struct row *rows,
                        size_t count)
{
    struct buf *b = &out->text;
    struct json shown = json_string(utf8_cut(path, PATH_SHOWN));

    if (out->files++ >= FILES_SHOWN)
        return;
    buf_add(b, out->files == 1 ? STR("Changed by others since you last looked: ") : STR("; "));
    json_print(b, &shown);
    buf_add(b, path.len > PATH_SHOWN ? STR("… by ") : STR(" by "));
    for (size_t i = 0; i < count && i < MEMBERS_SHOWN; i++) {
        int64_t ago = tx->now_ms > row_int(&rows[i], 1) ? tx->now_ms - row_int(&rows[i], 1) : 0;
        bool minutes = ago >= MINUTE_MS;
        buf_add(b, i ? STR(", ") : STR(""));
        prompt_name(b, row_str(&rows[i], 0));
        buf_printf(b, " %lld %s ago (+%lld -%lld lines so far)",
                   (long long)(ago / (minutes ? MINUTE_MS : 1000)), minutes ? "min" : "s",
                   (long long)row_int(&rows[i], 2), (long long)row_int(&rows[i], 3));
    }
    buf_add(b, count > MEMBERS_SHOWN ? STR(" and more") : STR(""));
}

static str told_end(struct telling *out, enum file_act act)
{
    static const char *const advice[] = {
        [FILE_BEFORE_WRITE] =
            "You came to write there: read it again, and make sure that nothing of "
            "theirs is lost.",
        [FILE_READ] = "They may still be at it.",
        [FILE_WROTE] = "You have written there now: make sure that nothing of theirs is lost.",
    };

    if (!out->files)
        return STR("");
    if (out->files > FILES_SHOWN)
        buf_printf(&out->text, " and %zu files more", out->files - FILES_SHOWN);
    buf_printf(&out->text, ". %s `send_message` reaches them.\n", advice[act]);
    return buf_str(&out->text);
}

/* ---- noting ---- */

static err touch_note(struct tx *tx, enum file_act act, const struct file_change *change,
                      struct file_touch *t, struct telling *out, bool *fresh)
{
    const struct row *others;
    size_t count;
    bool known;

    TRY(touch_load(tx, t, &known));
    TRY(others_find(tx, t, &others, &count));
    if (count)
        others_tell(tx, out, t->path, others, count);
    else if (act == FILE_BEFORE_WRITE)
        return NULL; /* whether it will be written is not known yet */
    *fresh = *fresh || !known;
    t->seen_at_ms = tx->now_ms;
    if (act == FILE_WROTE) {
        assert(change->added >= 0 && change->removed >= 0);
        t->wrote_at_ms = tx->now_ms;
        t->added += change->added;
        t->removed += change->removed;
    }
    return touch_store(tx, t);
}

err file_touch_note(struct tx *tx, const struct session *s, enum file_act act, str cwd,
                    const struct file_change *files, size_t count, str *told)
{
    struct telling out = { .text = buf_in(tx->arena) };
    struct file_touch touch;
    bool fresh = false;

    *told = STR("");
    if (!session_is_member(s))
        return NULL;
    for (size_t i = 0; i < count && i < FILE_TOUCHES_AT_ONCE_MAX; i++)
        if (touch_at(tx, s, cwd, files[i].path, &touch))
            TRY(touch_note(tx, act, &files[i], &touch, &out, &fresh));
    *told = told_end(&out, act);
    return fresh ? oldest_drop(tx, s->id) : NULL;
}

/* ---- many ---- */

err file_touch_list(struct tx *tx, str project, str after, bool shared, int64_t limit,
                    const struct file_member **out, size_t *count)
{
    const struct row *rows;

    TRY(sql_all(tx->sql, &rows, count,
                "WITH there (id) AS ("
                " SELECT session_id FROM session WHERE project = $1 AND project <> ''"
                "  AND attended = 1 AND parent_id = '' AND live = 1 AND silent = 0),"
                " page (file) AS ("
                " SELECT f.file FROM there JOIN file_touch f ON f.session_id = there.id"
                "  WHERE f.project = $1 AND f.file > $2 GROUP BY f.file"
                "  HAVING count(*) >= $3 AND max(f.wrote_at) >= $4 ORDER BY f.file LIMIT $5)"
                " SELECT " FILE_TOUCH_NAMES ","
                "  (SELECT name FROM session s WHERE s.session_id = file_touch.session_id)"
                " FROM file_touch WHERE project = $1 AND file IN (SELECT file FROM page)"
                "  AND session_id IN (SELECT id FROM there)"
                " ORDER BY file, wrote_at DESC, seen_at DESC, session_id",
                ARGS(TEXT(project), TEXT(after), INT(shared ? 2 : 1), INT(shared ? 1 : 0),
                     INT(limit))));
    struct file_member *all = ARENA_ARRAY(tx->arena, struct file_member, *count);
    for (size_t i = 0; i < *count; i++) {
        size_t at = COLUMNS_READ(FILE_TOUCH_COLUMNS, tx, &rows[i], "session", (&all[i].touch));
        all[i].session_name = row_str(&rows[i], at);
    }
    *out = all;
    return NULL;
}
