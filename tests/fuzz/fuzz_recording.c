/* Fuzzing of recordings and their replay. The first byte of an input selects a part of a recording,
 * the others are its content: a response that is recorded, or a column of the file, which anyone
 * may have changed. A replay is complete or has an error; a recorded response is replayed with
 * the same items. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/import/snapshot_check.h"
#include "core/item/item.h"
#include "core/recording/recording_file.h"
#include "core/recording/replayed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NOW_MS = 1000000, MOST_PAGES = 10, RECORDED = 0 };

/* Each sets one column to the content; the first part is recorded instead. */
static const char *const parts[] = {
    NULL,
    "UPDATE bodies SET content = ?1",
    "UPDATE items_1 SET item = ?1",
    "UPDATE items_1 SET k1 = ?1",
    "UPDATE responses SET error = ?1",
    "UPDATE responses SET more = ?1, found = ?1, counted = ?1, scanned = ?1, at_ms = ?1",
    "UPDATE responses SET call = ?1, run = ?1, page = ?1, body = ?1",
    "UPDATE recorded_tables SET keys = ?1, table_number = ?1",
    "UPDATE tables SET description = ?1",
    "UPDATE keys SET type = ?1",
    "UPDATE about SET value = ?1 WHERE name <> 'kind'",
};
enum { PARTS = sizeof parts / sizeof parts[0] };

static char file[64];

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void remove_file(void)
{
    unlink(file);
}

static struct read *read_of(enum read_kind kind)
{
    struct read *read = read_new(kind, kind == READ_TABLES ? NULL : "T", NULL);
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .value = {VALUE_S, SPAN_LITERAL("x")}};
    struct key key = {.count = 1};
    key.attributes[0].name = where.attribute;
    key.attributes[0].value = where.value;
    if (kind == READ_QUERY)
        read_add_where(read, &where);
    if (kind == READ_ITEMS)
        read_add_key(read, &key);
    require(!read_failed(read));
    return read;
}

static void add(struct list *list, enum read_kind kind, const char *word, struct span body)
{
    struct recorded *recorded = recorded_new();
    struct read *read = read_of(kind);
    require(recorded && request_digest_of(read, &recorded->digest));
    recorded->at_ms = NOW_MS;
    recorded->source = 1;
    recorded->kind = word;
    recorded->name = span_text(kind == READ_TABLES ? "" : "T");
    recorded->call = (uint64_t)kind + 1;
    recorded->page = 1;
    recorded->is_typed = recorded->is_whole = kind == READ_QUERY;
    recorded->key_names[0] = SPAN_LITERAL("pk");
    recorded->key_name_count = recorded->is_typed;
    recorded->body = body;
    recorded->units = -1;
    list_append(list, &recorded->node);
    read_destroy(read);
}

static void write_recording(struct span body)
{
    static const char table[] =
        "{\"TableName\":\"T\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}],"
        "\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}]}";
    const struct recording_about about = {.map = "{}", .map_name = "map.json", .suffix = ""};
    struct error err = {0};
    struct list list = {0};
    unlink(file);
    struct recording_file *recording = recording_file_open(file, &about, NOW_MS, &err);
    struct recorded *environment = recorded_new();
    require(recording && environment);
    environment->name = SPAN_LITERAL("prod");
    environment->settings = SPAN_LITERAL("--region x");
    environment->source = 1;
    list_append(&list, &environment->node);
    add(&list, READ_QUERY, "query", body);
    add(&list, READ_TABLE, "table", SPAN_LITERAL(table));
    add(&list, READ_TABLES, "tables", SPAN_LITERAL("[\"T\"]"));
    require(recording_file_add(recording, &list, &err));
    require(recording_file_end(recording, NOW_MS, &err));
    LIST_EACH_SAFE (struct recorded, each, &list, node)
        recorded_free(each);
    recording_file_close(recording);
}

static void change(const char *sql, struct span content)
{
    struct error err = {0};
    struct database *database = database_open(file, DATABASE_WRITE, &err);
    struct statement *statement = database ? database_prepare(database, sql, &err) : NULL;
    require(statement != NULL);
    statement_bind_text(statement, 1, content);
    statement_run(statement, &err); /* a type or a key may refuse the content */
    statement_end(statement);
    database_close(database);
}

/* Appends ITEM as a recording stores it. */
static void write_item(struct json item, struct buf *out)
{
    static const struct record_view all = {0};
    if (item_write_typed(item, &all, out))
        buf_truncate(out, out->size - 1);
    else
        buf_add_span(out, json_raw(item));
}

/* Appends the items of a replay. False: it ended in an error. */
static bool replay(struct replay_file *opened, enum read_kind kind, struct buf *items)
{
    struct replay_request request = {0};
    struct read *read = read_of(kind);
    bool more = true;
    struct error err = {0};
    require(replay_request_init(&request, read, SPAN_LITERAL("prod")));
    request.at_ms = INT64_MAX;
    for (request.page = 1; more && request.page <= MOST_PAGES; request.page++) {
        struct replayed page = {0};
        replay_file_read(opened, &request, &page, &err);
        require(err.kind == ERROR_NONE || err.text[0] != '\0');
        for (size_t i = 0; err.kind == ERROR_NONE && i < page.item_count; i++)
            buf_add_span(items, json_raw(page.items[i]));
        request.call = page.call;
        more = err.kind == ERROR_NONE && page.more;
        replayed_clean_up(&page);
    }
    replay_request_clean_up(&request);
    read_destroy(read);
    return err.kind == ERROR_NONE;
}

static void report(void *arg, bool is_proven, const char *table, const char *text)
{
    (void)arg, (void)is_proven, (void)table;
    require(text[0] != '\0');
}

static void read_all(struct buf *items, bool *is_whole)
{
    static const enum read_kind kinds[] = {READ_QUERY, READ_ITEMS, READ_TABLE, READ_TABLES};
    const struct snapshot_check_options options = {.file = file, .report = report};
    struct error err = {0};
    char *suffix = NULL;
    int64_t *moments = NULL;
    size_t moment_count = 0;
    if (!snapshot_check(&options, &err))
        require(err.text[0] != '\0');
    struct replay_file *opened = replay_file_open(file, &err);
    if (!opened) {
        require(err.text[0] != '\0');
        return;
    }
    replay_file_read_moments(opened, &moments, &moment_count, &err);
    replay_file_read_fact(opened, "suffix", &suffix, &err);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        CLEAN_UP(buf_clean_up) struct buf own = {0};
        bool ok = replay(opened, kinds[i], &own);
        if (i == 0) {
            *is_whole = ok;
            buf_add_span(items, buf_span(&own));
        }
    }
    free(suffix);
    free(moments);
    replay_file_close(opened);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf wanted = {0}, found = {0};
    struct span body = SPAN_LITERAL("[{\"pk\":{\"S\":\"x\"},\"n\":{\"N\":\"1\"}}]");
    if (size < 1)
        return 0;
    if (!file[0]) {
        snprintf(file, sizeof file, "%s/fuzz-recording-%ld.ddb",
                 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (long)getpid());
        require(atexit(remove_file) == 0);
    }
    struct span content = span_of((const char *)data + 1, size - 1);
    size_t part = data[0] % PARTS;
    bool is_whole = false;
    if (part == RECORDED) {
        if (!json_parse(&doc, content, JSON_STRICT, NULL) || !json_is(json_root(&doc), JSON_ARRAY))
            return 0; /* the source has parsed each response */
        body = content;
    }
    write_recording(body);
    if (part != RECORDED)
        change(parts[part], content);
    read_all(&found, &is_whole);
    if (part != RECORDED || !is_whole)
        return 0;
    for (struct json each = json_first(json_root(&doc)); json_present(each); each = json_next(each))
        write_item(each, &wanted);
    require(span_equal(buf_span(&found), buf_span(&wanted)));
    return 0;
}
