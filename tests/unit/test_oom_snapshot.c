/* Memory that runs out, at every point, while a snapshot is opened and read: each call ends with
 * one error, or the result is right. */
#include <unistd.h>

#include "tests/unit/check.h"
#include "tests/unit/oom.h"
#include "tests/unit/snapshot_scene.h"

static char folder[] = "/tmp/ddbfs-snapshot-XXXXXX";
static char path[60];

static const char description[] = "{\"TableName\":\"T\",\"AttributeDefinitions\":["
                                  "{\"AttributeName\":\"p\",\"AttributeType\":\"S\"},{"
                                  "\"AttributeName\":\"s\",\"AttributeType\":\"N\"}],"
                                  "\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"},"
                                  "{\"AttributeName\":\"s\",\"KeyType\":\"RANGE\"}],"
                                  "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"G\",\"KeySchema\":["
                                  "{\"AttributeName\":\"s\",\"KeyType\":\"HASH\"},{"
                                  "\"AttributeName\":\"p\",\"KeyType\":\"RANGE\"}],"
                                  "\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}]}";

static void write_snapshot(void)
{
    struct snapshot_draft draft;
    snprintf(path, sizeof path, "%s/t.ddb", folder);
    snapshot_draft_begin(&draft, path, description);
    for (char p = 'a'; p < 'd'; p++) {
        char item[80];
        snprintf(item, sizeof item,
                 "{\"p\":{\"S\":\"%c\"},\"s\":{\"N\":\"1\"},\"x\":{\"BOOL\":true}}", p);
        snapshot_draft_add(&draft, item, 5, 0);
    }
    snapshot_draft_add_moment(&draft, 5);
    snapshot_draft_end(&draft);
}

static struct read *read_index(void)
{
    struct read *read = read_new(READ_QUERY, "T", "G");
    read_add_where(read, &(struct cond){.attribute = SPAN_LITERAL("s"),
                                        .op = COND_EQ,
                                        .value = {VALUE_N, SPAN_LITERAL("1")}});
    read->limit = 1;
    return read;
}

static struct read *read_items(void)
{
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    for (char p = 'b'; p < 'f'; p++) {
        char text[] = {p, '\0'};
        read_add_key(
            read, &(struct key){.attributes = {{SPAN_LITERAL("p"), {VALUE_S, span_text(text)}},
                                               {SPAN_LITERAL("s"), {VALUE_N, SPAN_LITERAL("1")}}},
                                .count = 2});
    }
    return read;
}

static struct read *read_filtered(void)
{
    struct read *read = read_new(READ_SCAN, "T", NULL);
    read_add_filter(read, &(struct cond){.attribute = SPAN_LITERAL("x"),
                                         .op = COND_EQ,
                                         .value = value_of_bool(true)});
    read_add_attribute(read, SPAN_LITERAL("x"));
    return read;
}

static struct read *read_table(void)
{
    return read_new(READ_TABLE, "T", NULL);
}

static struct read *read_tables(void)
{
    return read_new(READ_TABLES, "", NULL);
}

static struct read *(*make)(void);
static struct buf right; /* the result without a fault */

struct reader {
    struct source_call *call;
    struct buf text;
    struct error err;
    unsigned ends;
};

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct reader *reader = arg;
    if (err)
        reader->err = *err;
    for (size_t i = 0; page && i < page->item_count; i++)
        buf_add_span(&reader->text, json_raw(page->items[i]));
    for (size_t i = 0; page && i < page->name_count; i++)
        buf_add_span(&reader->text, page->names[i]);
    if (page)
        buf_add_span(&reader->text, page->description);
    if (page && page->more)
        source_more(reader->call);
    else
        reader->ends++;
}

/* Whether all was started; the result is in READER. */
static bool run(struct loop *loop, struct read *read, struct reader *reader)
{
    const char *files[] = {path};
    struct snapshot_store_options options = {.loop = loop, .files = files, .file_count = 1};
    struct snapshot_store *store = snapshot_store_open(&options, &reader->err);
    struct source *source = store ? snapshot_new(store, INT64_MAX) : NULL;
    reader->call = source ? source_start(source, read, NULL, take_page, reader) : NULL;
    bool started = reader->call;
    if (started)
        loop_run(loop);
    source_end(reader->call);
    source_destroy(source);
    snapshot_store_unref(store);
    return started;
}

static bool attempt(unsigned long n, bool for_good)
{
    struct loop *loop = loop_new(clock_system());
    struct read *read = make();
    struct reader reader = {0};
    CHECK(loop && read && buf_reserve(&reader.text, 8192));
    arm(n, for_good);
    bool started = run(loop, read, &reader);
    bool hit = disarm();
    CHECK_INT(reader.ends, started ? 1 : 0);
    if (!hit) {
        buf_truncate(&right, 0);
        buf_add_span(&right, buf_span(&reader.text));
    } else if (started && reader.err.kind == ERROR_NONE) {
        CHECK_SPAN(buf_span(&reader.text), buf_span(&right));
    }
    if (reader.err.kind != ERROR_NONE && reader.err.kind != ERROR_NO_MEMORY)
        CHECK_FAIL("allocation %lu: %s", n, reader.err.text);
    buf_clean_up(&reader.text);
    read_destroy(read);
    loop_destroy(loop);
    return hit;
}

static void try_read(struct read *(*of)(void))
{
    make = of;
    CHECK(!attempt(1000000, false)); /* it fills RIGHT */
    CHECK(right.size > 0);
    try_all(attempt);
    buf_clean_up(&right);
    right = (struct buf){0};
}

static void an_index(void)
{
    try_read(read_index);
}

static void items(void)
{
    try_read(read_items);
}

static void a_scan(void)
{
    try_read(read_filtered);
}

static void descriptions(void)
{
    try_read(read_table);
    try_read(read_tables);
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {
        {"an index", an_index},
        {"items", items},
        {"a scan", a_scan},
        {"descriptions", descriptions},
    };
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    write_snapshot();
    int status = check_main(tests, sizeof tests / sizeof tests[0], argc, argv);
    return unlink(path) == 0 && rmdir(folder) == 0 ? status : EXIT_FAILURE;
}
