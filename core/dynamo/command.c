/* Printing a request as a command. */
#include "core/dynamo/command.h"

#include "core/base/shell.h"
#include "core/base/utf8.h"
#include "core/dynamo/request.h"

static uint32_t code_point(struct span character)
{
    static const uint8_t masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t code = (uint8_t)character.data[0] & masks[character.size];
    for (size_t i = 1; i < character.size; i++)
        code = code << 6 | ((uint8_t)character.data[i] & 0x3F);
    return code;
}

/* JSON that any terminal and any locale carries: beyond ASCII as \u escapes. */
static void add_ascii(struct buf *out, struct span json)
{
    while (json.size > 0) {
        size_t size = utf8_length(json);
        struct span character = span_of(json.data, size ? size : 1);
        uint32_t code = size > 1 ? code_point(character) : 0;
        if (size <= 1)
            buf_add_span(out, character);
        else if (code < 0x10000)
            buf_printf(out, "\\u%04x", (unsigned)code);
        else
            buf_printf(out, "\\u%04x\\u%04x", (unsigned)(0xD7C0 + (code >> 10)),
                       (unsigned)(0xDC00 + (code & 0x3FF)));
        json = span_from(json, character.size);
    }
}

static void add_word(struct buf *out, const char *option, const char *text)
{
    if (!text)
        return;
    buf_printf(out, " %s ", option);
    shell_word(out, span_text(text));
}

/* An expression, or JSON. Nothing is said that the request does not say. */
static void add_text(struct buf *out, const char *option, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf ascii = {0};
    if (text.size == 0)
        return;
    add_ascii(&ascii, text);
    buf_printf(out, " %s ", option);
    shell_quote(out, buf_span(&ascii));
    out->failed = out->failed || ascii.failed;
}

static void add_keys(struct buf *out, const struct request *request,
                     const struct source_command *how)
{
    if (how->key)
        buf_printf(out, " --key %s", how->key);
    else
        add_text(out, "--key", buf_span(&request->keys));
}

/* A batch says all of it in one option. */
static void add_batch(struct buf *out, const struct request *request)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!request_write(request, span_text(""), &body) ||
        !json_parse(&doc, buf_span(&body), JSON_STRICT, NULL))
        out->failed = true;
    else
        add_text(out, "--request-items", json_raw(json_member(json_root(&doc), "RequestItems")));
}

static void add_expressions(struct buf *out, const struct request *request)
{
    add_text(out, "--key-condition-expression", buf_span(&request->key_condition));
    add_text(out, "--filter-expression", buf_span(&request->filter));
    add_text(out, "--projection-expression", buf_span(&request->projection));
    add_text(out, "--expression-attribute-names", buf_span(&request->names));
    add_text(out, "--expression-attribute-values", buf_span(&request->values));
    buf_add_text(out, request->descending ? " --no-scan-index-forward" : "");
    buf_add_text(out, request->consistent ? " --consistent-read" : "");
}

static const char *command_of(enum dynamo_op op)
{
    switch (op) {
    case DYNAMO_GET_ITEM:
        return "get-item";
    case DYNAMO_BATCH_GET_ITEM:
        return "batch-get-item";
    case DYNAMO_QUERY:
        return "query";
    case DYNAMO_DESCRIBE_TABLE:
        return "describe-table";
    case DYNAMO_LIST_TABLES:
        break;
    }
    return "list-tables";
}

/* The tool goes from page to page by itself, and --max-items stops it: that many entries, filters
 * applied, as whoever asks with a limit stops when it has them. */
void dynamo_write_command(const struct read *read, const struct source_command *how,
                          struct buf *out)
{
    CLEAN_UP(request_clean_up) struct request request;
    if (!request_init(&request, read)) {
        out->failed = true;
        return;
    }
    buf_printf(out, "aws dynamodb %s", command_of(request.op));
    if (request.op == DYNAMO_BATCH_GET_ITEM) {
        add_batch(out, &request);
    } else {
        add_word(out, "--table-name", request.table);
        add_word(out, "--index-name", request.index);
        if (request.op == DYNAMO_GET_ITEM)
            add_keys(out, &request, how);
        add_expressions(out, &request);
        if (request.op == DYNAMO_QUERY && read->limit)
            buf_printf(out, " --max-items %lu", (unsigned long)read->limit);
    }
    buf_add_text(out, how->options);
    add_text(out, "--query", span_text(how->query));
    add_word(out, "--output", how->output);
}

void dynamo_write_options(struct buf *out, const char *profile, const char *region,
                          const char *endpoint_url)
{
    add_word(out, "--profile", profile);
    add_word(out, "--region", region);
    add_word(out, "--endpoint-url", endpoint_url);
}
