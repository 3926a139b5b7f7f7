/* write.h: members of what is answered that many answers have. Private to mcp/. */
#ifndef MCP_WRITE_H
#define MCP_WRITE_H

#include "json/json.h"

#define MCP_EXTENSION_TASKS "io.modelcontextprotocol/tasks"
#define MCP_META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

static inline void write_text(struct json_writer *w, str name, str text)
{
    json_write_name(w, name);
    json_write_str(w, text);
}

static inline void write_bool(struct json_writer *w, str name, bool value)
{
    json_write_name(w, name);
    json_write_bool(w, value);
}

static inline void write_int(struct json_writer *w, str name, int64_t n)
{
    json_write_name(w, name);
    json_write_int(w, n);
}

/* A block of content that is a text. */
static inline void write_text_block(struct json_writer *w, str text)
{
    json_write_begin(w, '{');
    write_text(w, STR("type"), STR("text"));
    write_text(w, STR("text"), text);
    json_write_end(w, '}');
}

/* The same of one that is a JSON string already. */
static inline void write_quoted_block(struct json_writer *w, str quoted)
{
    json_write_begin(w, '{');
    write_text(w, STR("type"), STR("text"));
    json_write_name(w, STR("text"));
    json_write_printed(w, quoted);
    json_write_end(w, '}');
}

/* What tells a listener by which of its requests it hears something: its printed id. */
static inline void write_subscription(struct json_writer *w, str id)
{
    json_write_name(w, STR("_meta"));
    json_write_begin(w, '{');
    json_write_name(w, STR(MCP_META_SUBSCRIPTION));
    json_write_printed(w, id);
    json_write_end(w, '}');
}

#endif
