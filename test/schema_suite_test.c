/* schema_suite_test.c: the public JSON Schema test suite, every case of every file of a draft.
 *
 * Its remote documents are preloaded by address: nothing is fetched. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "check.h"
#include "json/schema/schema.h"

enum { DOCUMENTS_MAX = 256, FAILURES_SHOWN = 20 };

static struct schema_document documents[DOCUMENTS_MAX];
static size_t document_count;
static unsigned passed, failed;

static const struct json *parsed(const char *path)
{
    const struct json *json;
    struct json_limits limits = { .bytes_max = 64 << 20, .depth_max = 256, .nul_allowed = true };

    CHECK_OK(json_parse(check_arena(), check_read(path), &limits, &json));
    return json;
}

static void visit(const char *folder, void (*file)(const char *path, const char *name),
                  bool into_folders, const char *prefix)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);

    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        char path[1024], name[1024];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        snprintf(name, sizeof name, "%s%s", prefix, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(path, &st) == 0) {
            if (S_ISREG(st.st_mode) && str_ends(str_from(name), STR(".json")))
                file(path, name);
            else if (S_ISDIR(st.st_mode) && into_folders) {
                strcat(name, "/");
                visit(path, file, true, name);
            }
        }
        free(entries[i]);
    }
    free(entries);
}

static void remote_add(const char *path, const char *name)
{
    CHECK(document_count < DOCUMENTS_MAX);
    documents[document_count++] =
        (struct schema_document){ arena_printf(check_arena(), "http://localhost:1234/%s", name),
                                  parsed(path) };
}

static void complain(str file, str group, str test, const char *what, str more)
{
    if (failed++ < FAILURES_SHOWN)
        printf(STR_FMT ": " STR_FMT ": " STR_FMT ": %s " STR_FMT "\n", STR_ARG(file),
               STR_ARG(group), STR_ARG(test), what, STR_ARG(more));
}

static struct schema_options options;

static void group_run(str file, const struct json *group)
{
    const struct json *tests = json_get(group, "tests");
    struct schema *schema;
    err e = schema_compile(check_arena(), json_get(group, "schema"), &options, &schema);

    for (uint32_t i = 0; i < tests->len; i++) {
        const struct json *test = &tests->items[i];
        str name = json_str(test, "description");
        bool valid = json_bool_or(test, "valid", false);
        if (e) {
            complain(file, json_str(group, "description"), name, "does not compile:", e->message);
            continue;
        }
        const struct violation *why;
        const struct json *data = json_get(test, "data");
        bool fits = schema_check(schema, data) == SCHEMA_FITS;
        size_t reasons = schema_explain(check_arena(), schema, data, 10, &why);
        if (fits != valid)
            complain(file, json_str(group, "description"), name,
                     valid ? "should fit, but" : "should not fit",
                     reasons ? why->message : STR(""));
        else if (fits == (reasons > 0))
            complain(file, json_str(group, "description"), name, "explained otherwise",
                     reasons ? why->message : STR(""));
        else
            passed++;
    }
    if (!e)
        schema_free(schema);
}

static void file_run(const char *path, const char *name)
{
    const struct json *groups = parsed(path);

    for (uint32_t i = 0; i < groups->len; i++)
        group_run(str_from(name), &groups->items[i]);
}

static void suite_run(const char *draft, const char *dialect, unsigned expected)
{
    str root = arena_printf(check_arena(), "%s", check_suite("json-schema-test-suite"));
    const char *tests = arena_printf(check_arena(), STR_FMT "/tests/%s", STR_ARG(root), draft).at;
    const char *remotes = arena_printf(check_arena(), STR_FMT "/remotes", STR_ARG(root)).at;

    visit(remotes, remote_add, true, "");
    options = (struct schema_options){ .dialect = str_from(dialect),
                                       .documents = documents,
                                       .document_count = document_count };
    visit(tests, file_run, false, "");
    check_note("%s: %u of %u", draft, passed, passed + failed);
    CHECK_INT(failed, 0);
    CHECK_INT(passed, expected);
}

TEST(every_required_case_of_draft7_is_decided_as_the_suite_says)
{
    suite_run("draft7", "http://json-schema.org/draft-07/schema#", 927);
}

TEST(every_required_case_of_2020_12_is_decided_as_the_suite_says)
{
    suite_run("draft2020-12", "https://json-schema.org/draft/2020-12/schema", 1299);
}
