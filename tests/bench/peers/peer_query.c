/* peer_query URL TABLE PK [lines]: all pages of a partition, one after the other on one warm
 * connection, each asked for with the LastEvaluatedKey of the one before. Prints "NANOSECONDS
 * PAGES"; or the records, one a line, as ddbfs has them in a listing's @jsonl. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/item/item.h"
#include "tests/bench/peers/peer.h"

#define LAST_KEY "\"LastEvaluatedKey\":"

static void write_body(struct buf *out, char **argv, struct span start)
{
    buf_truncate(out, 0);
    buf_printf(out,
               "{\"TableName\":\"%s\",\"KeyConditionExpression\":\"pk = :p\","
               "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"%s\"}}",
               argv[2], argv[3]);
    if (start.size) {
        buf_add_text(out, ",\"ExclusiveStartKey\":");
        buf_add_span(out, start);
    }
    buf_add_char(out, '}');
}

/* The object behind the last "LastEvaluatedKey", whose values hold no braces; empty on the last
 * page. A loop that parsed the page would be slower. */
static struct span last_key(const struct buf *page)
{
    const char *at = memmem(page->data, page->size, LAST_KEY, sizeof LAST_KEY - 1);
    if (!at)
        return span_of("", 0);
    const char *from = at + sizeof LAST_KEY - 1;
    const char *to = from;
    unsigned depth = 0;
    do {
        depth += *to == '{';
        depth -= *to == '}';
        to++;
    } while (depth > 0);
    return span_of(from, (size_t)(to - from));
}

static void print_lines(struct span page)
{
    static const char *const keys[] = {"pk", "sk"};
    static const struct record_view view = {.first = keys, .first_count = 2, .compact = true};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf lines = {0};
    bool ok = json_parse(&doc, page, JSON_STRICT, NULL);
    struct json items = json_member(json_root(&doc), "Items");
    for (struct json item = json_first(items); ok && json_present(item); item = json_next(item))
        ok = item_write(item, &view, &lines);
    fwrite(lines.data, 1, lines.size, stdout);
    peer_need(ok && !ferror(stdout) ? &lines : NULL, "lines");
}

static unsigned query_all(struct peer *peer, char **argv, bool lines)
{
    unsigned pages = 0;
    CLEAN_UP(buf_clean_up) struct buf body = {0}, start = {0};
    do {
        write_body(&body, argv, buf_span(&start));
        peer_prepare(peer, argv[1], "Query", &body);
        peer_perform(peer);
        buf_truncate(&start, 0);
        buf_add_span(&start, last_key(&peer->body));
        if (lines)
            print_lines(buf_span(&peer->body));
        pages++;
    } while (start.size);
    return pages;
}

/* The connection is there before the clock starts, as the mount's is. */
static void warm_up(struct peer *peer, const char *url)
{
    CLEAN_UP(buf_clean_up) struct buf body = {0};
    buf_add_text(&body, "{}");
    peer_prepare(peer, url, "ListTables", &body);
    peer_perform(peer);
}

int main(int argc, char **argv)
{
    struct peer peer;
    bool lines = argc == 5 && strcmp(argv[4], "lines") == 0;
    peer_need(argc == 4 || lines ? argv : NULL, "URL TABLE PK [lines]");
    peer_init(&peer, argv[1]);
    warm_up(&peer, argv[1]);
    int64_t began = peer_now_ns();
    unsigned pages = query_all(&peer, argv, lines);
    if (!lines)
        printf("%lld %u\n", (long long)(peer_now_ns() - began), pages);
    peer_clean_up(&peer);
    return EXIT_SUCCESS;
}
