/* describe_test.c: what is written from the table of operations agrees with it, and with docs/. */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "json/json.h"
#include "json_help.h"
#include "ops/describe.h"

static struct op_table *table(void)
{
    struct op_table *t;

    CHECK_OK(op_table_all(check_arena(), &t));
    return t;
}

static str file_read(const char *path)
{
    struct buf out = buf_in(check_arena());
    FILE *f = fopen(path, "rb");
    size_t got;

    if (!f)
        return STR("");
    do {
        char *at = buf_reserve(&out, 4096);
        got = fread(at, 1, 4096, f);
        out.len += got;
    } while (got);
    fclose(f);
    return buf_str(&out);
}

/* A page in docs/ is what the program writes; with BATON_WRITE_DOCS set, it is written. */
static void check_page(const char *name, str text)
{
    str path = arena_printf(check_arena(), "%s/docs/%s", SOURCE_DIR, name);

    if (getenv("BATON_WRITE_DOCS"))
        check_write(path.at, text);
    if (!str_eq(file_read(path.at), text))
        check_fail(__FILE__, __LINE__, "docs/%s is not what the table says: run `make docs`", name);
}

TEST(the_page_of_operations_is_what_the_table_says)
{
    struct op_table *t = table();

    check_page("operations.md", op_markdown(check_arena(), t));
    op_table_free(t);
}

static str openapi_pretty(struct op_table *t)
{
    struct buf out = buf_in(check_arena());

    const struct json *json = json_parsed(check_arena(), op_openapi(check_arena(), t, "0.1.0"));
    json_print_pretty(&out, json);
    buf_byte(&out, '\n');
    return buf_str(&out);
}

/* Where a body may be one field, the others may stand in the query. */
TEST(openapi_says_that_a_definition_is_a_body_or_a_member_of_one)
{
    struct op_table *t = table();
    const struct json *post = json_get(
        json_get(json_get(json_parsed(check_arena(), op_openapi(check_arena(), t, "1")), "paths"),
                 "/workflows"),
        "post");
    const struct json *ways = json_get(
        json_get(json_get(json_get(json_get(post, "requestBody"), "content"), "application/json"),
                 "schema"),
        "anyOf");
    CHECK_INT(ways->len, 2);
    CHECK(json_get(json_get(&ways->items[0], "properties"), "definition"));
    CHECK(!json_get(&ways->items[1], "properties"));
    const struct json *parameters = json_get(post, "parameters");
    CHECK_STR(json_str(&parameters->items[0], "name"), "name");
    CHECK_STR(json_str(&parameters->items[0], "in"), "query");
    op_table_free(t);
}

TEST(the_openapi_document_is_what_the_table_says)
{
    struct op_table *t = table();

    check_page("openapi.json", openapi_pretty(t));
    op_table_free(t);
}

/* Each operation that HTTP reaches is there once, with its parameters. */
TEST(openapi_has_every_operation_of_http)
{
    struct op_table *t = table();
    size_t wanted = 0, found = 0;

    const struct json *json = json_parsed(check_arena(), op_openapi(check_arena(), t, "0.1.0"));
    for (size_t i = 0; i < op_count(t); i++)
        wanted += (op_at(t, i)->on & ON_HTTP) != 0;
    const struct json *paths = json_get(json, "paths");
    for (uint32_t p = 0; p < paths->len; p++) {
        const struct json *methods = &paths->members[p].value;
        for (uint32_t m = 0; m < methods->len; m++) {
            str id = json_str(&methods->members[m].value, "operationId");
            CHECK(op_find(t, id));
            found++;
        }
    }
    CHECK_INT(found, wanted);
    op_table_free(t);
}

/* People and agents read descriptions: none is missing. */
TEST(every_field_of_every_operation_is_described)
{
    struct op_table *t = table();

    for (size_t i = 0; i < op_count(t); i++) {
        struct described d = op_described(check_arena(), op_at(t, i));
        const struct json *fields = json_get(d.input, "properties");
        for (uint32_t f = 0; fields && f < fields->len; f++)
            if (!json_str(&fields->members[f].value, "description").len)
                check_fail(__FILE__, __LINE__, "%s: the field %.*s has no description", d.op->name,
                           STR_ARG(json_name(&fields->members[f])));
    }
    op_table_free(t);
}
