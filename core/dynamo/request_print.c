/* The equal command of a request. */
#include "core/dynamo/request_print.h"

#include "core/base/shell.h"
#include "core/dynamo/request.h"

static void request_print_add_word(struct buf *out, const char *option, const char *text)
{
    if (!text)
        return;
    buf_printf(out, " %s ", option);
    shell_word(out, span_text(text));
}

/* TEXT is an expression or JSON; an empty one is left out. */
static void request_print_add_text(struct buf *out, const char *option, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf ascii = {0};
    if (text.size == 0)
        return;
    json_escape_beyond_ascii(&ascii, text);
    buf_printf(out, " %s ", option);
    shell_quote(out, buf_span(&ascii));
    out->failed = out->failed || ascii.failed;
}

/* A batch has one option for all. */
static void request_print_add_batch(struct buf *out, const struct request *request)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!request_write(request, span_text(""), &body) ||
        !json_parse(&doc, buf_span(&body), JSON_STRICT, NULL))
        out->failed = true;
    else
        request_print_add_text(out, "--request-items",
                               json_raw(json_member(json_root(&doc), "RequestItems")));
}

/* Appends OPTION with the output of a jq program for the item of a search. */
static void request_print_add_part(struct buf *out, const char *option, const char *item,
                                   const struct buf *program)
{
    buf_printf(out, " %s \"$(printf %%s %s | jq -c ", option, item);
    shell_quote(out, buf_span(program));
    buf_add_text(out, ")\"");
    out->failed = out->failed || program->failed;
}

/* The vector and the values of a search. Where they are not known, they come from the item. */
static void request_print_add_search(struct buf *out, const struct request *request,
                                     const struct read *read, const char *item)
{
    CLEAN_UP(buf_clean_up) struct buf vector = {0}, values = {0};
    if (!request->is_partial) {
        request_print_add_text(out, "--search-vector", request->vector);
        request_print_add_text(out, "--expression-attribute-values", buf_span(&request->values));
        return;
    }
    buf_add_text(&vector, ".[");
    json_write_ascii(&vector, read->vector_of);
    buf_add_text(&vector, "].L");
    request_print_add_part(out, "--search-vector", item, &vector);
    if (read->where_count == 0)
        return;
    buf_add_text(&values, "{\":v0\": .[");
    json_write_ascii(&values, read->where[0].attribute);
    buf_add_text(&values, "]}");
    request_print_add_part(out, "--expression-attribute-values", item, &values);
}

/* A stream that is not known yet is the table's latest. */
static void request_print_add_stream(struct buf *out, const struct request *request,
                                     const char *table, const struct source_command *how)
{
    const struct read_stream *stream = request->stream;
    bool is_named = request->op != DYNAMO_GET_RECORDS;
    request_print_add_text(out, "--stream-arn", is_named ? stream->arn : span_text(""));
    if (is_named && stream->arn.size == 0) {
        buf_add_text(out, " --stream-arn \"$(aws dynamodb describe-table");
        request_print_add_word(out, "--table-name", table);
        buf_printf(out, " --query Table.LatestStreamArn --output text%s)\"", how->options);
    }
    request_print_add_text(out, "--shard-iterator", stream->iterator);
    if (request->op != DYNAMO_GET_SHARD_ITERATOR)
        return;
    request_print_add_text(out, "--shard-id", stream->shard);
    request_print_add_word(out, "--shard-iterator-type", request_stream_at(stream->at));
    if (stream->at == STREAM_AFTER)
        request_print_add_text(out, "--sequence-number", stream->sequence);
}

/* The items of a transaction are one word. A key that the Read lacks is the shell's, between the
 * quoted pieces. */
static void request_print_add_parts(struct buf *out, const struct read *read,
                                    const struct source_command *how)
{
    static const char hole[] = "\x01"; /* JSON escapes such a character */
    const char *keys[READ_MAX_KEYS] = {NULL};
    CLEAN_UP(request_clean_up) struct request request;
    CLEAN_UP(buf_clean_up) struct buf ascii = {0};
    for (size_t i = 0; how->keys && i < read->part_count; i++)
        keys[i] = how->keys[i] ? hole : NULL;
    out->failed |= !request_init_together(&request, read, keys);
    json_escape_beyond_ascii(&ascii, buf_span(&request.keys));
    out->failed |= ascii.failed;
    buf_add_text(out, " --transact-items ");
    struct span left = buf_span(&ascii);
    for (size_t i = 0; i < read->part_count; i++) {
        const char *end = keys[i] ? memchr(left.data, hole[0], left.size) : NULL;
        if (!end)
            continue;
        shell_quote(out, span_of(left.data, (size_t)(end - left.data)));
        buf_add_text(out, how->keys[i]);
        left = span_from(left, (size_t)(end - left.data) + 1);
    }
    shell_quote(out, left);
}

/* Whether a first page that is not enough is expected: then the whole query follows. */
static bool request_print_goes_on(const struct read *read, const struct source_command *how)
{
    return read->ties || (how->sift && !how->first_suffice);
}

/* Appends the condition that the first page is not enough: items that do not count may be in
 * between, or items behind it may share the last one's sort key. */
static void request_print_add_shortage(struct buf *out, const struct read *read, uint32_t limit)
{
    buf_printf(out, "length < %lu", (unsigned long)limit);
    for (uint32_t i = 0; read->ties && i < 2; i++) {
        buf_add_text(out, i ? " == [" : " or [");
        for (size_t k = 0; k < read->sort_count; k++) {
            buf_printf(out, "%s.[%u][", k ? ", " : "", limit - 2 + i);
            json_write_ascii(out, read->sort[k]);
            buf_add_char(out, ']');
        }
        buf_add_char(out, ']');
    }
}

/* The program for the response. If a LIMIT stopped the tool and too few items count, the program
 * fails: the rest must not be missing in silence. */
static void request_print_add_program(struct buf *out, const struct request *request,
                                      const struct read *read, const struct source_command *how,
                                      uint32_t limit)
{
    CLEAN_UP(buf_clean_up) struct buf program = {0};
    const char *items = request->op == DYNAMO_GET_ITEM             ? "[.Item // empty]"
                        : request->op == DYNAMO_BATCH_GET_ITEM     ? ".Responses[]"
                        : request->op == DYNAMO_TRANSACT_GET_ITEMS ? ".Responses"
                        : request->op == DYNAMO_SEARCH_VECTORS     ? ".SearchResults"
                        : request->counts                          ? ".Count"
                                                                   : ".Items";
    if (!how->sift && !how->choose && !request->counts)
        return;
    bool may_lack = limit && (how->sift || read->ties);
    buf_printf(&program, "%s%s%s%s", may_lack ? ".NextToken as $more | " : "", items,
               how->sift ? " | " : "", how->sift ? how->sift : "");
    if (may_lack) {
        buf_add_text(&program, " | if $more and (");
        request_print_add_shortage(&program, read, limit);
        buf_printf(&program, ") then error(\"%s\") else . end",
                   request_print_goes_on(read, how)
                       ? "the first page is not enough"
                       : "other items are in between; leave out --page-size and --max-items");
    }
    if (how->choose)
        buf_printf(&program, " | %s", how->choose);
    buf_printf(out, " | jq %s ", how->flags);
    shell_quote(out, buf_span(&program));
    out->failed = out->failed || program.failed;
}

/* The tool's word for OP. */
static const char *request_print_command(enum dynamo_op op)
{
    static const char *const commands[] = {
        [DYNAMO_GET_ITEM] = "get-item",
        [DYNAMO_BATCH_GET_ITEM] = "batch-get-item",
        [DYNAMO_QUERY] = "query",
        [DYNAMO_SCAN] = "scan",
        [DYNAMO_SEARCH_VECTORS] = "search-vectors",
        [DYNAMO_DESCRIBE_TABLE] = "describe-table",
        [DYNAMO_LIST_TABLES] = "list-tables",
        [DYNAMO_DESCRIBE_TIME_TO_LIVE] = "describe-time-to-live",
        [DYNAMO_LIST_BACKUPS] = "list-backups",
        [DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS] = "describe-continuous-backups",
        [DYNAMO_DESCRIBE_STREAM] = "describe-stream",
        [DYNAMO_GET_SHARD_ITERATOR] = "get-shard-iterator",
        [DYNAMO_GET_RECORDS] = "get-records",
        [DYNAMO_TRANSACT_GET_ITEMS] = "transact-get-items",
        [DYNAMO_LIST_EXPORTS] = "list-exports",
    };
    return commands[op];
}

/* Appends one call of the tool, which reads page after page by itself. --max-items stops it after
 * LIMIT items, behind the filter, as a caller of the Read stops at its limit. Without --page-size
 * it would read a page of a megabyte for them. */
static void request_print_add_call(struct buf *out, const struct read *read,
                                   const struct request *request, const struct source_command *how,
                                   uint32_t limit)
{
    buf_printf(out, "aws %s %s",
               dynamo_op_is_of_streams(request->op) ? "dynamodbstreams" : "dynamodb",
               request_print_command(request->op));
    if (request->stream) {
        request_print_add_stream(out, request, read->table, how);
    } else if (request->op == DYNAMO_BATCH_GET_ITEM) {
        request_print_add_batch(out, request);
    } else if (request->op == DYNAMO_TRANSACT_GET_ITEMS) {
        request_print_add_parts(out, read, how);
    } else {
        request_print_add_word(out,
                               request->op == DYNAMO_LIST_EXPORTS ? "--table-arn" : "--table-name",
                               request->table);
        request_print_add_word(out, "--index-name", request->index);
        if (request->op == DYNAMO_GET_ITEM && how->key)
            buf_printf(out, " --key %s", how->key);
        else if (request->op == DYNAMO_GET_ITEM)
            request_print_add_text(out, "--key", buf_span(&request->keys));
        if (request->op == DYNAMO_LIST_BACKUPS)
            request_print_add_word(out, "--backup-type", "ALL");
        request_print_add_word(out, "--select", request->counts ? "COUNT" : NULL);
        bool searches = request->op == DYNAMO_SEARCH_VECTORS;
        request_print_add_text(
            out, searches ? "--search-condition-expression" : "--key-condition-expression",
            buf_span(&request->key_condition));
        request_print_add_text(out, "--filter-expression", buf_span(&request->filter));
        request_print_add_text(out, "--projection-expression", buf_span(&request->projection));
        request_print_add_text(out, "--expression-attribute-names", buf_span(&request->names));
        if (searches)
            request_print_add_search(out, request, read, how->item ? how->item : "\"$item\"");
        else
            request_print_add_text(out, "--expression-attribute-values",
                                   buf_span(&request->values));
        if (searches)
            buf_printf(out, " --top-k %lu", (unsigned long)request->limit);
        buf_add_text(out, request->descending ? " --no-scan-index-forward" : "");
        buf_add_text(out, request->consistent ? " --consistent-read" : "");
        if (limit && request->limit && request->op == DYNAMO_QUERY)
            buf_printf(out, " --page-size %lu", (unsigned long)limit);
        if (limit && !searches)
            buf_printf(out, " --max-items %lu", (unsigned long)limit);
    }
    buf_add_text(out, how->options);
    request_print_add_program(out, request, read, how, limit);
}

void dynamo_write_command(const struct read *read, const struct source_command *how,
                          struct buf *out)
{
    CLEAN_UP(request_clean_up) struct request request;
    if (!request_init(&request, read)) {
        out->failed = true;
        return;
    }
    bool has_page = request.op == DYNAMO_QUERY && request.limit > 0 && !request.counts;
    bool goes_on = request_print_goes_on(read, how);
    buf_add_text(out, has_page && goes_on ? "{ " : "");
    if (has_page || !goes_on)
        request_print_add_call(out, read, &request, how, has_page ? request.limit : read->limit);
    buf_add_text(out, has_page && goes_on ? " || " : "");
    if (goes_on)
        request_print_add_call(out, read, &request, how, 0);
    buf_add_text(out, has_page && goes_on ? "; }" : "");
}

void dynamo_write_options(struct buf *out, const char *profile, const char *region,
                          const char *endpoint_url)
{
    request_print_add_word(out, "--profile", profile);
    request_print_add_word(out, "--region", region);
    request_print_add_word(out, "--endpoint-url", endpoint_url);
}
