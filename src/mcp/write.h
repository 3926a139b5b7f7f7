/* write.h: members of what is answered that many answers have. Private to mcp/. */
#ifndef MCP_WRITE_H
#define MCP_WRITE_H

#include "json/write.h"

#define MCP_EXTENSION_TASKS "io.modelcontextprotocol/tasks"
#define MCP_META_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"

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
    write_printed(w, STR("text"), quoted);
    json_write_end(w, '}');
}

/* The member `messages` with one, the user's, that is a text. */
static inline void write_user_message(struct json_writer *w, str text)
{
    write_begin(w, STR("messages"), '[');
    json_write_begin(w, '{');
    write_text(w, STR("role"), STR("user"));
    json_write_name(w, STR("content"));
    write_text_block(w, text);
    json_write_end(w, '}');
    json_write_end(w, ']');
}

/* What tells a listener by which of its requests it hears something: its printed id. */
static inline void write_subscription(struct json_writer *w, str id)
{
    write_begin(w, STR("_meta"), '{');
    write_printed(w, STR(MCP_META_SUBSCRIPTION), id);
    json_write_end(w, '}');
}

#endif
