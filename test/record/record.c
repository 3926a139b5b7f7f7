/* record.c: asks a server everything that it can be asked, and writes down what it answers.
 *
 *   record BATON STILL.SO REQUESTS DIR [--no-descriptions] >file
 *
 * Two recordings of the same behaviour are the same text: ids, tokens, times, the port and the
 * directory are replaced by names. It fails, naming them, when operations of the table were not
 * both done and refused at least once. The format of the requests is on top of their file. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "ops/op.h"

enum { NAMES_MAX = 4096, LINES_MAX = 64, OPS_MAX = 256, SILENCE_MS = 1500, ANSWER_MS = 30000 };

struct name {
    str name, value;
};

struct recorder {
    struct arena *arena;
    struct op_table *table;
    uint16_t port;
    const char *data; /* the server's directory */
    bool no_descriptions;
    struct name vars[NAMES_MAX]; /* what was taken from answers */
    size_t var_count;
    struct name seen[NAMES_MAX]; /* what differs from run to run, and what is written instead */
    size_t seen_count;
    bool done[OPS_MAX], refused[OPS_MAX];
    int count;
};

struct request {
    str who, method, target;
    str fields[LINES_MAX]; /* of the head */
    size_t field_count;
    str body;
    str frames[LINES_MAX]; /* to send over a WebSocket */
    size_t frame_count;
    struct name takes[LINES_MAX];
    size_t take_count;
};

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "record: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    exit(1);
}

/* ---- the server ---- */

static pid_t server_start(struct recorder *r, const char *program, const char *still)
{
    str start = STR("baton listening on http://127.0.0.1:");
    struct buf line = buf_in(r->arena);
    int ends[2];
    int64_t port;
    char c;

    if (pipe(ends))
        fail("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        setenv("LD_PRELOAD", still, 1);
        execl(program, "baton", "serve", "--data", r->data, "--listen", "127.0.0.1:0", "--runner",
              "off", "--log-level", "error", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (read(ends[0], &c, 1) == 1 && c != '\n')
        buf_byte(&line, c);
    str said = buf_str(&line);
    if (!str_starts(said, start) || !str_to_int(str_slice(said, start.len, said.len), &port))
        fail("%s did not start: \"" STR_FMT "\"", program, STR_ARG(said));
    r->port = (uint16_t)port;
    return pid;
}

static str file_read(struct arena *a, const char *path)
{
    FILE *f = fopen(path, "r");
    struct buf text = buf_in(a);
    char piece[4096];
    size_t n;

    if (!f)
        fail("%s: %s", path, strerror(errno));
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&text, (str){ piece, n });
    fclose(f);
    return buf_str(&text);
}

static int server_connect(const struct recorder *r)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(r->port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to))
        fail("connect: %s", strerror(errno));
    return fd;
}

static void send_all(int fd, str bytes)
{
    while (bytes.len) {
        ssize_t n = send(fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (n <= 0)
            return; /* it has refused before all was sent: its answer is there */
        bytes = str_slice(bytes, (size_t)n, bytes.len);
    }
}

/* Up to the end of the connection; of a stream, until nothing has come for a while. */
static str receive_all(struct recorder *r, int fd)
{
    struct buf heard = buf_in(r->arena);
    char piece[65536];

    for (;;) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, heard.len ? SILENCE_MS : ANSWER_MS) == 0) {
            buf_add(&heard, STR("\n(it stays open)\n"));
            break;
        }
        ssize_t n = recv(fd, piece, sizeof piece, 0);
        if (n <= 0)
            break;
        buf_add(&heard, (str){ piece, (size_t)n });
    }
    return buf_str(&heard);
}

/* ---- names ---- */

static str var_find(const struct recorder *r, str name)
{
    for (size_t i = r->var_count; i-- > 0;)
        if (str_eq(r->vars[i].name, name))
            return r->vars[i].value;
    return (str){ 0 };
}

static void var_set(struct recorder *r, str name, str value)
{
    if (r->var_count == NAMES_MAX)
        fail("more than %d names", NAMES_MAX);
    r->vars[r->var_count++] = (struct name){ name, value };
}

/* The text with what <name> stands for. */
static str expand(struct recorder *r, str text)
{
    struct buf out = buf_in(r->arena);

    while (text.len) {
        size_t open = str_find(text, '<');
        buf_add(&out, str_slice(text, 0, open));
        text = str_slice(text, open, text.len);
        size_t end = str_find(text, '>');
        str value = text.len ? var_find(r, str_slice(text, 1, end)) : (str){ 0 };
        if (value.len) {
            buf_add(&out, value);
            text = str_slice(text, end + 1, text.len);
        } else if (text.len) {
            buf_byte(&out, '<');
            text = str_slice(text, 1, text.len);
        }
    }
    return buf_str(&out);
}

/* ---- what differs from run to run ---- */

/* The name that is written instead; the same thing has the same name. */
static str seen_name(struct recorder *r, str value, str kind)
{
    int n = 1;

    for (size_t i = 0; i < r->seen_count; i++) {
        if (str_eq(r->seen[i].value, value))
            return r->seen[i].name;
        n += str_starts(r->seen[i].name, arena_printf(r->arena, "<" STR_FMT " ", STR_ARG(kind)));
    }
    if (r->seen_count == NAMES_MAX)
        fail("more than %d ids", NAMES_MAX);
    str name = arena_printf(r->arena, "<" STR_FMT " %d>", STR_ARG(kind), n);
    r->seen[r->seen_count++] = (struct name){ name, arena_copy(r->arena, value) };
    return name;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* "run_" and twelve characters of base 32. */
static bool is_id(str word)
{
    size_t end = word.len;

    if (word.len < 14 || word.at[word.len - 13] != '_')
        return false;
    for (size_t i = end - 12; i < end; i++)
        if (!islower((unsigned char)word.at[i]) && !isdigit((unsigned char)word.at[i]))
            return false;
    bool digit = false;
    for (size_t i = end - 12; i < end; i++)
        digit = digit || isdigit((unsigned char)word.at[i]);
    return digit;
}

/* A token, a UUID, a digest: long, and of letters and digits in turns. */
static bool is_secret(str word)
{
    size_t turns = 0;
    bool upper = false;

    for (size_t i = 1; i < word.len; i++) {
        turns += !isdigit((unsigned char)word.at[i]) != !isdigit((unsigned char)word.at[i - 1]);
        upper = upper || isupper((unsigned char)word.at[i]);
    }
    return (word.len >= 20 && turns >= 6) || (word.len >= 32 && turns && upper);
}

/* The length of a date and time in front of the text; 0: there is none. */
static size_t time_length(str s)
{
    static const char shape[] = "0000-00-00T00:00:00";
    size_t end = sizeof shape - 1;

    for (size_t i = 0; i < sizeof shape - 1; i++)
        if (i >= s.len ||
            (shape[i] == '0' ? !isdigit((unsigned char)s.at[i]) : s.at[i] != shape[i]))
            return 0;
    /* A whole second has no fraction. */
    while (end < s.len && (isdigit((unsigned char)s.at[end]) || s.at[end] == '.'))
        end++;
    return end < s.len && s.at[end] == 'Z' ? end + 1 : 0;
}

/* Members whose values are measured, and lines of the head. */
static const char *const measured[] = {
    "\"duration_ms\":", "\"queue_oldest_ms\":", "\"pid\":",
    "\"uptime_ms\":",   "\r\nDate: ",           "\r\nContent-Length: ",
};

/* How much of the text is a measured value, behind its name. */
static size_t measured_length(str s, size_t *name)
{
    if (str_starts(s, STR("\nbaton_"))) { /* a line of GET /metrics */
        *name = str_find(s, ' ') + 1;
        return 1 + str_find(str_slice(s, 1, s.len), '\n');
    }
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        *name = strlen(measured[i]);
        if (!str_starts(s, str_from(measured[i])))
            continue;
        size_t end = *name;
        char stop = measured[i][0] == '\r' ? '\r' : 0;
        while (end < s.len &&
               (stop ? s.at[end] != stop : isdigit((unsigned char)s.at[end]) || s.at[end] == '.'))
            end++;
        return end;
    }
    return 0;
}

/* The length of a member that only describes, with the comma behind it. */
static size_t description_length(str s)
{
    static const char *const names[] = { "\"description\":\"", "\"summary\":\"" };

    for (size_t i = 0; i < 2; i++) {
        size_t at = strlen(names[i]);
        if (!str_starts(s, str_from(names[i])))
            continue;
        while (at < s.len && s.at[at] != '"')
            at += s.at[at] == '\\' ? 2 : 1;
        at++;
        return at + (at < s.len && s.at[at] == ',');
    }
    return 0;
}

static void write_plain(struct recorder *r, str text)
{
    str port = arena_printf(r->arena, ":%u", (unsigned)r->port), data = str_from(r->data);

    for (size_t i = 0; i < text.len;) {
        str rest = str_slice(text, i, text.len);
        size_t name, length = time_length(rest);
        if (length) {
            printf("<time>");
        } else if ((length = measured_length(rest, &name))) {
            printf(STR_FMT "<measured>", STR_ARG(str_slice(rest, 0, name)));
        } else if (r->no_descriptions && (length = description_length(rest))) {
            /* left out */
        } else if (str_starts(rest, port)) {
            printf(":<port>");
            length = port.len;
        } else if (str_starts(rest, data)) {
            printf("<data>");
            length = data.len;
        } else if (is_word(rest.at[0])) {
            while (length < rest.len && is_word(rest.at[length]))
                length++;
            str word = str_slice(rest, 0, length);
            if (is_id(word))
                word = seen_name(r, word, str_slice(word, 0, word.len - 13));
            else if (is_secret(word))
                word = seen_name(r, word, STR("secret"));
            printf(STR_FMT, STR_ARG(word));
        } else {
            if (rest.at[0] != '\r')
                putchar(rest.at[0]);
            length = 1;
        }
        i += length;
    }
}

/* ---- one request ---- */

static str answer_body(str answer)
{
    for (size_t i = 0; i + 4 <= answer.len; i++)
        if (memcmp(answer.at + i, "\r\n\r\n", 4) == 0)
            return str_slice(answer, i + 4, answer.len);
    return (str){ 0 };
}

static int answer_status(str answer)
{
    return answer.len > 12 ? atoi(answer.at + 9) : 0;
}

static str answer_field(str answer, str name)
{
    str line;

    while (str_cut(answer, '\n', &line, &answer) && line.len > 1) {
        str key, value;
        if (str_cut(line, ':', &key, &value) && key.len == name.len &&
            strncasecmp(key.at, name.at, name.len) == 0)
            return str_trim(value);
    }
    return (str){ 0 };
}

/* A value of the body by its pointer, without escapes; of the head by @ and its name. */
static str answer_take(struct recorder *r, str answer, str from)
{
    const struct json *at;
    str step;

    if (str_starts(from, STR("@")))
        return answer_field(answer, str_slice(from, 1, from.len));
    if (json_parse(r->arena, arena_copy(r->arena, answer_body(answer)), NULL, &at))
        return (str){ 0 };
    from = str_slice(from, 1, from.len);
    while (at && from.len) {
        str_cut(from, '/', &step, &from);
        int64_t n;
        at = json_is(at, JSON_ARRAY) && str_to_int(step, &n) ? json_at(at, (size_t)n)
                                                             : json_find(at, step);
    }
    return !at ? (str){ 0 } : json_is(at, JSON_STRING) ? json_text(at) : json_printed(r->arena, at);
}

/* A masked frame with a text of less than 64 KiB. */
static void frame_send(int fd, struct recorder *r, str text)
{
    struct buf out = buf_in(r->arena);

    buf_byte(&out, (char)0x81);
    buf_byte(&out, (char)(0x80 | (text.len < 126 ? text.len : 126)));
    if (text.len >= 126) {
        buf_byte(&out, (char)(text.len >> 8));
        buf_byte(&out, (char)text.len);
    }
    buf_add(&out, (str){ "\0\0\0\0", 4 });
    buf_add(&out, text);
    send_all(fd, buf_str(&out));
}

/* What came over a WebSocket, a line for each frame. */
static void write_frames(struct recorder *r, str bytes)
{
    while (bytes.len >= 2 && (bytes.at[0] & 0x80)) {
        size_t head = 2, length = bytes.at[1] & 0x7f;
        if (length == 126 && bytes.len >= 4) {
            length = (size_t)(unsigned char)bytes.at[2] << 8 | (unsigned char)bytes.at[3];
            head = 4;
        }
        printf("frame %d: ", bytes.at[0] & 0xf);
        if ((bytes.at[0] & 0xf) == 1)
            write_plain(r, str_slice(bytes, head, head + length));
        printf("\n");
        bytes = str_slice(bytes, head + length, bytes.len);
    }
}

/* The operation that a tool's call means; NULL: it is none. */
static const struct op *tool_op(struct recorder *r, str body)
{
    const struct json *message;

    if (json_parse(r->arena, arena_copy(r->arena, body), NULL, &message) ||
        !str_eq(json_str(message, "method"), STR("tools/call")))
        return NULL;
    str tool = json_str(json_get(message, "params"), "name");
    for (size_t i = 0; i < op_count(r->table); i++) {
        const struct op *op = op_at(r->table, i);
        char plain[100];
        snprintf(plain, sizeof plain, "%s", op->tool ? op->tool : op->name);
        for (char *c = plain; *c; c++)
            *c = *c == '.' ? '_' : *c;
        if ((op->on & ON_MCP) && str_eq(tool, str_from(plain)))
            return op;
    }
    return NULL;
}

static void note(struct recorder *r, const struct request *q, str path, str answer)
{
    struct op_match match = { 0 };
    int status = answer_status(answer);
    bool well = status >= 200 && status < 400;
    const struct op *op = tool_op(r, q->body);

    if (op) {
        well = well && !str_contains(answer, STR("\"isError\":true")) &&
               str_contains(answer, STR("\"result\""));
    } else {
        op_route(r->table, q->method, path, &match);
        op = match.op;
    }
    for (size_t i = 0; op && i < op_count(r->table); i++)
        if (op_at(r->table, i) == op)
            *(well ? &r->done[i] : &r->refused[i]) = true;
}

static void ask(struct recorder *r, struct request *q)
{
    struct buf out = buf_in(r->arena);
    str token = var_find(r, q->who), target = expand(r, q->target), path, query;
    bool upgrades = q->frame_count > 0;

    q->body = expand(r, q->body);
    buf_printf(&out, STR_FMT " " STR_FMT " HTTP/1.1\r\n", STR_ARG(q->method), STR_ARG(target));
    bool host = false, type = false;
    for (size_t i = 0; i < q->field_count; i++) {
        host = host || str_starts(q->fields[i], STR("Host:"));
        type = type || str_starts(q->fields[i], STR("Content-Type:"));
        buf_add(&out, expand(r, q->fields[i]));
        buf_add(&out, STR("\r\n"));
    }
    if (!host)
        buf_printf(&out, "Host: 127.0.0.1:%u\r\n", (unsigned)r->port);
    if (token.len)
        buf_printf(&out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(token));
    if (q->body.len && !type)
        buf_add(&out, STR("Content-Type: application/json\r\n"));
    if (q->body.len)
        buf_printf(&out, "Content-Length: %zu\r\n", q->body.len);
    buf_add(&out, upgrades ? STR("\r\n") : STR("Connection: close\r\n\r\n"));
    buf_add(&out, q->body);

    int fd = server_connect(r);
    send_all(fd, buf_str(&out));
    for (size_t i = 0; i < q->frame_count; i++)
        frame_send(fd, r, expand(r, q->frames[i]));
    str answer = receive_all(r, fd);
    close(fd);

    printf("== %d " STR_FMT " " STR_FMT " ", ++r->count, STR_ARG(q->who), STR_ARG(q->method));
    write_plain(r, target);
    printf("\n");
    str body = answer_body(answer);
    if (upgrades && answer_status(answer) == 101) {
        write_plain(r, str_slice(answer, 0, answer.len - body.len));
        write_frames(r, body);
    } else {
        write_plain(r, answer);
    }
    printf("\n");

    if (!str_cut(target, '?', &path, &query))
        path = target;
    note(r, q, path, answer);
    for (size_t i = 0; i < q->take_count; i++) {
        str value = answer_take(r, answer, q->takes[i].value);
        if (!value.len)
            fail("request %d, " STR_FMT " " STR_FMT ": no " STR_FMT " in\n" STR_FMT, r->count,
                 STR_ARG(q->method), STR_ARG(target), STR_ARG(q->takes[i].value), STR_ARG(answer));
        var_set(r, q->takes[i].name, arena_copy(r->arena, value));
    }
}

/* Every operation that has a route, of something that is not there; the query and the body are
 * what stands behind the word. */
static void ask_every(struct recorder *r, str who, str body)
{
    for (size_t i = 0; i < op_count(r->table); i++) {
        const struct op *op = op_at(r->table, i);
        struct buf target = buf_in(r->arena);
        str method, path, name;
        if (!op->http)
            continue;
        str_cut(str_from(op->http), ' ', &method, &path);
        while (path.len) {
            size_t open = str_find(path, '{');
            buf_add(&target, str_slice(path, 0, open));
            path = str_slice(path, open, path.len);
            if (path.len && str_cut(path, '}', &name, &path))
                buf_add(&target, STR("none_such"));
        }
        struct request q = { .who = who, .method = method };
        if (str_starts(method, STR("P")))
            q.body = body;
        else if (str_starts(body, STR("?")))
            buf_add(&target, body);
        q.target = buf_str(&target);
        ask(r, &q);
    }
}

/* ---- the file ---- */

/* A line of a request that is not its first. */
static void request_line(struct request *q, str line)
{
    str name, value;

    if (q->field_count == LINES_MAX || q->frame_count == LINES_MAX || q->take_count == LINES_MAX)
        fail("more than %d lines", LINES_MAX);
    if (str_starts(line, STR("frame ")))
        q->frames[q->frame_count++] = str_slice(line, 6, line.len);
    else if (str_starts(line, STR("body ")))
        q->body = str_slice(line, 5, line.len);
    else if (str_starts(line, STR("take ")) && str_cut(line, '=', &name, &value))
        q->takes[q->take_count++] =
            (struct name){ str_trim(str_slice(name, 5, name.len)), str_trim(value) };
    else if (str_starts(line, STR("{")) || str_starts(line, STR("[")))
        q->body = line;
    else
        q->fields[q->field_count++] = line;
}

static void ask_all(struct recorder *r, str text)
{
    struct request q = { 0 };
    str line;

    while (text.len) {
        str_cut(text, '\n', &line, &text);
        bool more = str_starts(line, STR(" "));
        line = str_trim(line);
        if (!line.len || line.at[0] == '#')
            continue;
        if (more) {
            request_line(&q, line);
            continue;
        }
        if (q.method.len)
            ask(r, &q);
        q = (struct request){ 0 };
        str rest;
        if (!str_cut(line, ' ', &q.who, &rest))
            fail("\"" STR_FMT "\": expected WHO METHOD TARGET", STR_ARG(line));
        if (str_eq(q.who, STR("every"))) {
            str body = { 0 };
            if (!str_cut(rest, ' ', &q.who, &body))
                q.who = rest;
            ask_every(r, q.who, body);
            q = (struct request){ 0 };
        } else if (!str_cut(rest, ' ', &q.method, &q.target)) {
            fail("\"" STR_FMT "\": expected WHO METHOD TARGET", STR_ARG(line));
        }
    }
    if (q.method.len)
        ask(r, &q);
}

/* Whether every operation that somebody can ask for was done and was refused. */
static bool is_complete(const struct recorder *r)
{
    bool complete = true;

    for (size_t i = 0; i < op_count(r->table); i++) {
        const struct op *op = op_at(r->table, i);
        if (!op->on || (r->done[i] && r->refused[i]))
            continue;
        fprintf(stderr, "record: %s was never %s\n", op->name, r->done[i] ? "refused" : "done");
        complete = false;
    }
    return complete;
}

int main(int argc, char **argv)
{
    static struct recorder r;
    int status;

    if (argc < 5)
        fail("usage: record BATON STILL.SO REQUESTS DIR [--no-descriptions]");
    r.arena = arena_new();
    r.no_descriptions = argc > 5 && strcmp(argv[5], "--no-descriptions") == 0;
    r.data = argv[4];
    if (op_table_all(r.arena, &r.table) || op_count(r.table) > OPS_MAX)
        fail("no table");
    pid_t pid = server_start(&r, argv[1], argv[2]);
    var_set(&r, STR("operator"),
            str_trim(file_read(r.arena, arena_printf(r.arena, "%s/operator.token", r.data).at)));
    ask_all(&r, file_read(r.arena, argv[3]));
    kill(pid, SIGTERM);
    waitpid(pid, &status, 0);
    return is_complete(&r) && status == 0 ? 0 : 1;
}
