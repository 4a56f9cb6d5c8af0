/* Printing a request as a command. */
#include "core/dynamo/cli_command.h"

#include "core/base/shell.h"
#include "core/dynamo/request.h"

static void cli_command_add_word(struct buf *out, const char *option, const char *text)
{
    if (!text)
        return;
    buf_printf(out, " %s ", option);
    shell_word(out, span_text(text));
}

/* An expression, or JSON. Nothing is said that the request does not say. */
static void cli_command_add_text(struct buf *out, const char *option, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf ascii = {0};
    if (text.size == 0)
        return;
    json_escape_beyond_ascii(&ascii, text);
    buf_printf(out, " %s ", option);
    shell_quote(out, buf_span(&ascii));
    out->failed = out->failed || ascii.failed;
}

static void cli_command_add_keys(struct buf *out, const struct request *request,
                                 const struct source_command *how)
{
    if (how->key)
        buf_printf(out, " --key %s", how->key);
    else
        cli_command_add_text(out, "--key", buf_span(&request->keys));
}

/* A batch says all of it in one option. */
static void cli_command_add_batch(struct buf *out, const struct request *request)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!request_write(request, span_text(""), &body) ||
        !json_parse(&doc, buf_span(&body), JSON_STRICT, NULL))
        out->failed = true;
    else
        cli_command_add_text(out, "--request-items",
                             json_raw(json_member(json_root(&doc), "RequestItems")));
}

static void cli_command_add_expressions(struct buf *out, const struct request *request)
{
    cli_command_add_text(out, "--key-condition-expression", buf_span(&request->key_condition));
    cli_command_add_text(out, "--filter-expression", buf_span(&request->filter));
    cli_command_add_text(out, "--projection-expression", buf_span(&request->projection));
    cli_command_add_text(out, "--expression-attribute-names", buf_span(&request->names));
    cli_command_add_text(out, "--expression-attribute-values", buf_span(&request->values));
    buf_add_text(out, request->descending ? " --no-scan-index-forward" : "");
    buf_add_text(out, request->consistent ? " --consistent-read" : "");
}

static const char *cli_command_of(enum dynamo_op op)
{
    switch (op) {
    case DYNAMO_GET_ITEM:
        return "get-item";
    case DYNAMO_BATCH_GET_ITEM:
        return "batch-get-item";
    case DYNAMO_QUERY:
        return "query";
    case DYNAMO_SCAN:
        return "scan";
    case DYNAMO_DESCRIBE_TABLE:
        return "describe-table";
    case DYNAMO_DESCRIBE_TIME_TO_LIVE:
        return "describe-time-to-live";
    case DYNAMO_LIST_BACKUPS:
        return "list-backups";
    case DYNAMO_DESCRIBE_CONTINUOUS_BACKUPS:
        return "describe-continuous-backups";
    case DYNAMO_LIST_TABLES:
        break;
    }
    return "list-tables";
}

/* The items of each answer, as an array; or how many there are. */
static const char *cli_command_items_of(const struct request *request)
{
    switch (request->op) {
    case DYNAMO_GET_ITEM:
        return "[.Item // empty]";
    case DYNAMO_BATCH_GET_ITEM:
        return ".Responses[]";
    default:
        return request->counts ? ".Count" : ".Items";
    }
}

/* What becomes of the answer. Where the tool was stopped by a limit, and what it gave did not all
 * count, the rest would be missing in silence. */
static void cli_command_add_program(struct buf *out, const struct request *request,
                                    const struct source_command *how, uint32_t limit)
{
    CLEAN_UP(buf_clean_up) struct buf program = {0};
    if (!how->sift && !how->choose && !request->counts)
        return;
    if (how->sift && limit)
        buf_printf(&program,
                   ".NextToken as $more | .Items | %s | if length < %lu and $more then "
                   "error(\"others stand in between; leave out --max-items\") else . end",
                   how->sift, (unsigned long)limit);
    else
        buf_printf(&program, "%s%s%s", cli_command_items_of(request), how->sift ? " | " : "",
                   how->sift ? how->sift : "");
    if (how->choose)
        buf_printf(&program, " | %s", how->choose);
    buf_printf(out, " | jq %s ", how->flags);
    shell_quote(out, buf_span(&program));
    out->failed = out->failed || program.failed;
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
    uint32_t limit = read->ties || (how->sift && !how->first_suffice) ? 0 : read->limit;
    buf_printf(out, "aws dynamodb %s", cli_command_of(request.op));
    if (request.op == DYNAMO_BATCH_GET_ITEM) {
        cli_command_add_batch(out, &request);
    } else {
        cli_command_add_word(out, "--table-name", request.table);
        cli_command_add_word(out, "--index-name", request.index);
        if (request.op == DYNAMO_GET_ITEM)
            cli_command_add_keys(out, &request, how);
        if (request.op == DYNAMO_LIST_BACKUPS)
            cli_command_add_word(out, "--backup-type", "ALL");
        cli_command_add_word(out, "--select", request.counts ? "COUNT" : NULL);
        cli_command_add_expressions(out, &request);
        if (limit)
            buf_printf(out, " --max-items %lu", (unsigned long)limit);
    }
    buf_add_text(out, how->options);
    cli_command_add_program(out, &request, how, limit);
}

void dynamo_write_options(struct buf *out, const char *profile, const char *region,
                          const char *endpoint_url)
{
    cli_command_add_word(out, "--profile", profile);
    cli_command_add_word(out, "--region", region);
    cli_command_add_word(out, "--endpoint-url", endpoint_url);
}
