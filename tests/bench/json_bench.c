/* Times the parsing of one page of typed items, by core/json/json.h and by cJSON, parse and free,
 * and counts the heap that each holds in between. Usage: json_bench [ROUNDS] */
#include <cjson/cJSON.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/json/json.h"

enum { PAGE_SIZE = 1000000, MAX_ROUNDS = 10001 };

/* A parser under test: parses TEXT, tells the heap it took, and frees it. */
typedef bool parse_fn(struct span text, size_t *heap);

static size_t heap_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void add_item(struct buf *out, unsigned i)
{
    buf_printf(out, "{\"PK\":{\"S\":\"PLATFORM#shopify#SHOP#kl7a9h55-shopify-%06u\"},", i * 7919u);
    buf_printf(out, "\"SK\":{\"S\":\"JOB#2026-03-%02uT10:11:12.345678Z#%08x\"},", i % 28 + 1, i);
    buf_printf(out, "\"status\":{\"S\":\"%s\"},", i % 3 ? "COMPLETED" : "FAILED");
    buf_printf(out, "\"created_at\":{\"N\":\"%u.%06u\"},", 1700000000u + i, i);
    buf_add_text(out, "\"entity_type\":{\"S\":\"JOB\"},\"dry_run\":{\"BOOL\":false},");
    buf_printf(out, "\"progress\":{\"M\":{\"done\":{\"N\":\"%u\"},\"total\":{\"N\":\"5000\"},", i);
    buf_add_text(out,
                 "\"phases\":{\"L\":[{\"S\":\"fetch\"},{\"S\":\"index\"},{\"NULL\":true}]}}},");
    buf_add_text(out, "\"message\":{\"S\":\"caf\u00e9: \\\"done\\\"\\nsee the log\"},");
    buf_add_text(out, "\"tags\":{\"SS\":[\"a\",\"long-ish tag\",\"z\"]}}");
}

static void make_page(struct buf *out)
{
    buf_add_text(out, "{\"Items\":[");
    for (unsigned i = 0; out->size < PAGE_SIZE && !out->failed; i++) {
        if (i)
            buf_add_char(out, ',');
        add_item(out, i);
    }
    buf_add_text(out, "],\"Count\":1}");
}

static bool parse_tape(struct span text, size_t *heap)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    bool ok = json_parse(&doc, text, JSON_STRICT, NULL);
    *heap = heap_in_use();
    return ok;
}

static bool parse_cjson(struct span text, size_t *heap)
{
    cJSON *root = cJSON_ParseWithLength(text.data, text.size);
    *heap = heap_in_use();
    cJSON_Delete(root);
    return root != NULL;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median time of a round in milliseconds; negative when the text was refused. */
static double median_ms(parse_fn *parse, struct span text, int rounds, size_t *heap)
{
    static double times[MAX_ROUNDS];
    size_t before = heap_in_use();
    for (int i = 0; i < rounds; i++) {
        double start = now_ms();
        if (!parse(text, heap))
            return -1;
        times[i] = now_ms() - start;
    }
    *heap -= before;
    qsort(times, (size_t)rounds, sizeof times[0], by_value);
    return times[rounds / 2];
}

static int report(struct span text, int rounds)
{
    size_t tape_heap = 0, cjson_heap = 0;
    double tape = median_ms(parse_tape, text, rounds, &tape_heap);
    double peer = median_ms(parse_cjson, text, rounds, &cjson_heap);
    if (tape < 0 || peer < 0)
        return 1;
    printf("text       %9zu bytes, median of %d rounds, parse and free\n", text.size, rounds);
    printf("core/json  %9.2f ms %12zu bytes of heap\n", tape, tape_heap);
    printf("cJSON      %9.2f ms %12zu bytes of heap\n", peer, cjson_heap);
    printf("ratio      %9.1f    %12.1f\n", peer / tape, (double)cjson_heap / (double)tape_heap);
    return 0;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 101;
    if (rounds < 1 || rounds > MAX_ROUNDS)
        rounds = 101;
    CLEAN_UP(buf_clean_up) struct buf page = {0};
    make_page(&page);
    return page.failed ? 1 : report(buf_span(&page), rounds);
}
