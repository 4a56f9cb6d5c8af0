/* Reads of a snapshot's items. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/snapshot/snapshot_query.h"
#include "tests/unit/check.h"
#include "tests/unit/snapshot_scene.h"

static char folder[] = "/tmp/ddbfs-snapshot-XXXXXX";

static const char description[] =
    "{\"TableName\":\"T\",\"TableStatus\":\"ACTIVE\",\"ItemCount\":99,"
    "\"AttributeDefinitions\":[{\"AttributeName\":\"p\",\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"s\",\"AttributeType\":\"N\"},"
    "{\"AttributeName\":\"g\",\"AttributeType\":\"S\"},"
    "{\"AttributeName\":\"b\",\"AttributeType\":\"B\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"s\",\"KeyType\":\"RANGE\"}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"G\",\"IndexStatus\":\"ACTIVE\","
    "\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],"
    "\"LocalSecondaryIndexes\":[{\"IndexName\":\"L\","
    "\"KeySchema\":[{\"AttributeName\":\"p\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"x\"]}}]}";

/* A file and a source of it. */
struct scene {
    char path[100];
    struct loop *loop;
    struct snapshot_store *store;
    struct source *source;
    struct snapshot_result result;
};

static struct snapshot_store *open_files(struct loop *loop, const char *first, const char *second,
                                         struct error *err)
{
    const char *files[] = {first, second};
    return snapshot_store_open(&(struct snapshot_store_options){.loop = loop,
                                                                .files = files,
                                                                .file_count = second ? 2 : 1},
                               err);
}

static void scene_open(struct scene *scene, int64_t at_ms)
{
    struct error err = {0};
    scene->loop = loop_new(clock_system());
    scene->store = open_files(scene->loop, scene->path, NULL, &err);
    if (!scene->store)
        CHECK_FAIL("%s", err.text);
    scene->source = snapshot_new(scene->store, at_ms);
    CHECK(scene->source != NULL);
}

static void scene_close(struct scene *scene)
{
    snapshot_result_clean_up(&scene->result);
    source_destroy(scene->source);
    snapshot_store_unref(scene->store);
    loop_destroy(scene->loop);
    *scene = (struct scene){0};
}

static const char *scene_read(struct scene *scene, struct read *read)
{
    snapshot_result_clean_up(&scene->result);
    snapshot_result_read(&scene->result, scene->loop, scene->source, read);
    return buf_text(&scene->result.text);
}

static void scene_write(struct scene *scene)
{
    struct snapshot_draft draft;
    *scene = (struct scene){0};
    snprintf(scene->path, sizeof scene->path, "%s/t.ddb", folder);
    snapshot_draft_begin(&draft, scene->path, description);
    snapshot_draft_add(&draft, "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"10\"},\"x\":{\"S\":\"ten\"}}",
                       5, 0);
    snapshot_draft_add(&draft, "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"x\":{\"S\":\"old\"}}", 5,
                       8);
    snapshot_draft_add(&draft,
                       "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"x\":{\"S\":\"nine\"},"
                       "\"g\":{\"S\":\"g\"},\"b\":{\"B\":\"/w==\"},\"y\":{\"BOOL\":true}}",
                       8, 0);
    snapshot_draft_add(&draft,
                       "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"-1.5\"},\"x\":{\"S\":\"minus\"},"
                       "\"g\":{\"S\":\"g\"},\"b\":{\"B\":\"AA==\"}}",
                       5, 0);
    snapshot_draft_add(&draft, "{\"p\":{\"S\":\"b\"},\"s\":{\"N\":\"1\"}}", 8, 0);
    snapshot_draft_add_moment(&draft, 5);
    snapshot_draft_add_moment(&draft, 8);
    snapshot_draft_end(&draft);
}

static struct read *read_of_partition(const char *index, const char *attribute, const char *value)
{
    struct read *read = read_new(READ_QUERY, "T", index);
    read_add_where(read, &(struct cond){.attribute = span_text(attribute),
                                        .op = COND_EQ,
                                        .value = {VALUE_S, span_text(value)}});
    return read;
}

static void reads_return_items(void)
{
    struct scene scene;
    scene_write(&scene);
    scene_open(&scene, INT64_MAX);
    struct read *read = read_of_partition(NULL, "p", "a");
    read->descending = true;
    read->limit = 2;
    CHECK_TEXT(scene_read(&scene, read),
               "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"10\"},\"x\":{\"S\":\"ten\"}}\n"
               "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"x\":{\"S\":\"nine\"},"
               "\"g\":{\"S\":\"g\"},\"b\":{\"B\":\"/w==\"},\"y\":{\"BOOL\":true}}\n"
               "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"-1.5\"},\"x\":{\"S\":\"minus\"},"
               "\"g\":{\"S\":\"g\"},\"b\":{\"B\":\"AA==\"}}\n");
    CHECK_TEXT(buf_text(&scene.result.pages), "2+1.");
    CHECK_TEXT(buf_text(&scene.result.position), "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"}}");
    CHECK_TEXT(
        scene_read(&scene, read_of_partition("G", "g", "g")),
        "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"-1.5\"},\"g\":{\"S\":\"g\"},\"b\":{\"B\":\"AA==\"}}\n"
        "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"g\":{\"S\":\"g\"},\"b\":{\"B\":\"/w==\"}}\n");
    CHECK_TEXT(scene_read(&scene, read_new(READ_TABLES, "", NULL)), "T\n");
    CHECK_HAS(scene_read(&scene, read_new(READ_TABLE, "T", NULL)), "\"ItemCount\":4,");
    CHECK_INT(scene.result.info.item_count, 4);
    scene_close(&scene);
}

static void draft_open(struct snapshot_draft *draft, struct scene *scene, const char *name)
{
    *scene = (struct scene){0};
    snprintf(scene->path, sizeof scene->path, "%s/%s", folder, name);
    snapshot_draft_begin(draft, scene->path, description);
}

/* A file with the item of KEY, from the moment 9 on. */
static void write_other(struct scene *scene, const char *name, const char *item)
{
    struct snapshot_draft draft;
    draft_open(&draft, scene, name);
    snapshot_draft_add(&draft, item, 9, 0);
    snapshot_draft_add_moment(&draft, 9);
    snapshot_draft_end(&draft);
}

static struct read *read_one(const char *partition, const char *sort)
{
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    struct key key = {.attributes = {{SPAN_LITERAL("p"), {VALUE_S, span_text(partition)}},
                                     {SPAN_LITERAL("s"), {VALUE_N, span_text(sort)}}},
                      .count = 2};
    read_add_key(read, &key);
    return read;
}

static void a_moment_has_its_own_state(void)
{
    static const struct {
        int64_t at_ms;
        const char *text;
    } rows[] = {{5, "old"}, {7, "old"}, {8, "nine"}, {INT64_MAX, "nine"}};
    struct scene scene;
    const int64_t *moments;
    scene_write(&scene);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scene_open(&scene, rows[i].at_ms);
        CHECK_HAS(scene_read(&scene, read_one("a", "9.0")), rows[i].text);
        scene_read(&scene, read_one("b", "1"));
        CHECK_INT(scene.result.text.size > 0, rows[i].at_ms >= 8);
        char path[100];
        memcpy(path, scene.path, sizeof path);
        scene_close(&scene);
        memcpy(scene.path, path, sizeof path);
    }
    scene_open(&scene, 4);
    scene_read(&scene, read_one("a", "9"));
    CHECK_INT(scene.result.err.kind, ERROR_NO_TABLE);
    CHECK_HAS(scene.result.err.text, "no state of the table T at this time");
    CHECK_HAS(scene.result.err.text, "there are no tables");
    CHECK_TEXT(scene.result.err.table, "T");
    CHECK_TEXT(scene_read(&scene, read_new(READ_TABLES, "", NULL)), "");
    CHECK_INT(snapshot_store_moments(scene.store, &moments), 2);
    CHECK(moments[0] == 8 && moments[1] == 5);
    CLEAN_UP(buf_clean_up) struct buf origin = {0};
    snapshot_store_write_origin(scene.store, "T", 7, &origin);
    CHECK_HAS(buf_text(&origin), "1970-01-01T00:00:00Z in ");
    CHECK_HAS(buf_text(&origin), "/t.ddb, from arn:of-an-export");
    scene_close(&scene);
}

static void the_newest_file_has_the_state(void)
{
    struct scene scene, other;
    struct error err = {0};
    const int64_t *moments;
    scene_write(&scene);
    write_other(&other, "other.ddb",
                "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"x\":{\"S\":\"new\"}}");
    scene.loop = loop_new(clock_system());
    scene.store = open_files(scene.loop, scene.path, other.path, &err);
    CHECK(scene.store != NULL);
    CHECK_INT(snapshot_store_moments(scene.store, &moments), 3);
    scene.source = snapshot_new(scene.store, INT64_MAX);
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "new");
    CHECK_TEXT(scene_read(&scene, read_one("a", "10")), "");
    source_destroy(scene.source);
    scene.source = snapshot_new(scene.store, 8);
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "nine");
    CHECK_TEXT(scene_read(&scene, read_new(READ_TABLES, "", NULL)), "T\n");
    scene_close(&scene);
}

static void a_replaced_file_is_read_after_a_refresh(void)
{
    struct scene scene, other;
    struct error err = {0};
    scene_write(&scene);
    scene_open(&scene, INT64_MAX);
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "nine");
    write_other(&other, "other.ddb",
                "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"x\":{\"S\":\"new\"}}");
    CHECK_INT(rename(other.path, scene.path), 0);
    enum read_kind kinds[] = {READ_ITEMS, READ_TABLES, READ_TABLE};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        scene_read(&scene,
                   kinds[i] == READ_ITEMS ? read_one("a", "9") : read_new(kinds[i], "T", NULL));
        CHECK_INT(scene.result.err.kind, ERROR_REPLACED);
        CHECK_HAS(scene.result.err.text, "was replaced by another file");
    }
    CHECK(snapshot_store_refresh(scene.store, &err));
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "new");
    CHECK_INT(unlink(scene.path), 0);
    scene_read(&scene, read_one("a", "9"));
    CHECK_INT(scene.result.err.kind, ERROR_REPLACED);
    CHECK_HAS(scene.result.err.text, "was removed");
    CHECK(!snapshot_store_refresh(scene.store, &err));
    CHECK_HAS(err.text, "No such file");
    scene_close(&scene);
}

/* Copies the bytes of FROM over the file TO, which stays the same file. */
static void copy_over(const char *from, const char *to)
{
    char bytes[1 << 16];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in && out);
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, in)) > 0;)
        CHECK_INT(fwrite(bytes, 1, size, out), size);
    CHECK_INT(fclose(in), 0);
    CHECK_INT(fclose(out), 0);
    static int copies; /* another date, whatever the steps of the clock are */
    copies++;
    struct timespec times[2] = {{.tv_sec = copies}, {.tv_sec = copies}};
    CHECK_INT(utimensat(AT_FDCWD, to, times, 0), 0);
}

/* SQLite takes a file with equal counters for the one whose pages are in memory. */
static void a_file_that_is_copied_over_is_not_mixed_with_the_old_one(void)
{
    struct scene scene, other;
    struct error err = {0};
    write_other(&scene, "used.ddb",
                "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"x\":{\"S\":\"old\"}}");
    write_other(&other, "other.ddb",
                "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"},\"x\":{\"S\":\"new\"}}");
    scene_open(&scene, INT64_MAX);
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "old");
    copy_over(other.path, scene.path);
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "new");
    scene_write(&other); /* it has no state of that moment */
    copy_over(other.path, scene.path);
    scene_read(&scene, read_one("a", "9"));
    CHECK_INT(scene.result.err.kind, ERROR_REPLACED);
    CHECK_HAS(scene.result.err.text, "was replaced by another file");
    CHECK(snapshot_store_refresh(scene.store, &err));
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "nine");
    scene_close(&scene);
}

/* Runs SQL on the file of SCENE, as another program does. */
static void change_file(const struct scene *scene, const char *sql)
{
    struct error err;
    struct database *database = database_open(scene->path, DATABASE_WRITE, &err);
    if (!database || !database_run(database, "PRAGMA synchronous = OFF", &err) ||
        !database_run(database, sql, &err))
        CHECK_FAIL("%s: %s", sql, err.text);
    database_close(database);
}

static void a_new_moment_is_seen_after_a_refresh(void)
{
    struct scene scene;
    struct error err = {0};
    const int64_t *moments;
    scene_write(&scene);
    scene_open(&scene, INT64_MAX);
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "nine");
    change_file(&scene, "BEGIN; UPDATE items_1 SET until_ms = 9 WHERE until_ms IS NULL; "
                        "INSERT INTO moments VALUES(1, 9, 8, 'x', 0, 0); COMMIT");
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "nine");
    CHECK(snapshot_store_refresh(scene.store, &err));
    CHECK_INT(snapshot_store_moments(scene.store, &moments), 3);
    CHECK_TEXT(scene_read(&scene, read_one("a", "9")), "");
    CHECK_INT(scene.result.err.kind, ERROR_NONE);
    scene_close(&scene);
}

static void the_files_of_a_folder_are_found(void)
{
    struct scene scene, other;
    struct error err = {0};
    char path[60];
    const int64_t *moments;
    struct snapshot_store_options options = {.folder = path};
    snprintf(path, sizeof path, "%s/inner", folder);
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    buf_printf(&command, "mkdir -p %s", path);
    CHECK(system(buf_text(&command)) == 0);
    scene.loop = options.loop = loop_new(clock_system());
    CHECK(!snapshot_store_open(&options, &err));
    CHECK_INT(err.kind, ERROR_INVALID);
    CHECK_HAS(err.text, "no file there ends in .ddb");
    write_other(&other, "inner/one.ddb", "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"}}");
    write_other(&other, "inner/.hidden.ddb", "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"}}");
    write_other(&other, "inner/two.db", "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"9\"}}");
    struct snapshot_store *store = snapshot_store_open(&options, &err);
    CHECK(store && snapshot_store_moments(store, &moments) == 1);
    scene.loop = NULL;
    scene_write(&scene);
    CHECK_INT(
        rename(scene.path, (snprintf(other.path, sizeof other.path, "%s/b.ddb", path), other.path)),
        0);
    CHECK(snapshot_store_refresh(store, &err));
    CHECK_INT(snapshot_store_moments(store, &moments), 3);
    CHECK_INT(unlink(other.path), 0);
    CHECK(snapshot_store_refresh(store, &err));
    CHECK_INT(snapshot_store_moments(store, &moments), 1);
    snapshot_store_unref(store);
    loop_destroy(options.loop);
}

/* The first Read of a file in which VALUES(…) was inserted as a row of the partition x. */
static void check_row_is_refused(const char *values, const char *why)
{
    struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf sql = {0};
    scene_write(&scene);
    buf_printf(&sql, "INSERT INTO items_1 VALUES%s", values);
    change_file(&scene, buf_text(&sql));
    scene_open(&scene, INT64_MAX);
    scene_read(&scene, read_of_partition(NULL, "p", "x"));
    CHECK_INT(scene.result.err.kind, ERROR_BAD_ANSWER);
    CHECK_HAS(scene.result.err.text, why);
    CHECK_TEXT(buf_text(&scene.result.text), "");
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "nine");
    scene_close(&scene);
}

static void a_row_that_is_no_item_is_refused(void)
{
    static const char *const rows[][2] = {
        {"('x', '6501.1', NULL, NULL, 5, NULL, 'x')", "is no JSON"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '')", "is no typed JSON"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '[]')", "is no typed JSON"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '{},{}')", "is no typed JSON"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, "
         "'{\"p\":{\"S\":\"x\"},\"s\":{\"N\":\"1\"},\"x\":1}')",
         "is no typed JSON"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, "
         "'{\"p\":{\"S\":\"x\"},\"s\":{\"N\":\"1\"},\"x\":{\"L\":[{\"M\":{\"y\":{\"N\":\"z\"}}}]}}'"
         ")",
         "is no typed JSON"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '{\"p\":{\"S\":\"x\"},\"s\":{\"N\":\"2\"}}')",
         "another key than its columns"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '{\"p\":{\"S\":\"y\"},\"s\":{\"N\":\"1\"}}')",
         "another key than its columns"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '{\"p\":{\"S\":\"x\"}}')",
         "another key than its columns"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '{\"p\":{\"S\":\"x\"},\"s\":{\"S\":\"1\"}}')",
         "another key than its columns"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '{\"p\":{\"S\":\"x\"},\"s\":{\"N\":\"1\"}}'), "
         "('x', '6501.1', NULL, NULL, 6, NULL, '{\"p\":{\"S\":\"x\"},\"s\":{\"N\":\"1.0\"}}')",
         "two versions at one moment"},
        {"('x', '6501.1', NULL, NULL, 5, NULL, '{\"p\":{\"S\":\"x\"},\"s\":{\"N\":\"1\"}'), "
         "('x', '6501.2', NULL, NULL, 5, NULL, '\"x\":{\"S\":\"y\"}}')",
         "is no"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_row_is_refused(rows[i][0], rows[i][1]);
}

static void cut_file(const struct scene *scene, long from, const char *bytes, bool ends)
{
    FILE *file = fopen(scene->path, "r+b");
    CHECK(file && fseek(file, from, SEEK_SET) == 0);
    fputs(bytes, file);
    fflush(file);
    if (ends)
        CHECK_INT(ftruncate(fileno(file), from), 0);
    fclose(file);
}

/* The file has many pages; its first ones are whole. */
static void write_large(struct scene *scene)
{
    struct snapshot_draft draft;
    char item[3000];
    draft_open(&draft, scene, "large.ddb");
    for (int i = 0; i < 200; i++) {
        snprintf(item, sizeof item,
                 "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"%d\"},\"x\":{\"S\":\"%02000d\"}}", i, i);
        snapshot_draft_add(&draft, item, 5, 0);
    }
    snapshot_draft_add_moment(&draft, 5);
    snapshot_draft_end(&draft);
}

static void a_damaged_file_is_an_error(void)
{
    for (int cut = 0; cut < 2; cut++) {
        struct scene scene;
        write_large(&scene);
        scene_open(&scene, INT64_MAX);
        cut_file(&scene, 100000, cut ? "" : "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                 cut);
        if (!cut)
            for (long from = 40960; from < 400000; from += 4096)
                cut_file(&scene, from, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", false);
        scene_read(&scene, read_of_partition(NULL, "p", "a"));
        CHECK_INT(scene.result.err.kind, ERROR_BAD_ANSWER);
        CHECK_HAS(scene.result.err.text, "/large.ddb ");
        CHECK_HAS(scene.result.err.text, "import it again");
        scene_close(&scene);
    }
}

/* The error of opening a file in which SQL has run. */
static void check_open_is_refused(const char *sql, enum error_kind kind, const char *why)
{
    struct scene scene;
    struct error err = {0};
    scene_write(&scene);
    change_file(&scene, sql);
    scene.loop = loop_new(clock_system());
    CHECK(!open_files(scene.loop, scene.path, NULL, &err));
    CHECK_INT(err.kind, kind);
    CHECK_HAS(err.text, why);
    loop_destroy(scene.loop);
}

static void files_that_are_no_valid_snapshot_are_refused(void)
{
    static const struct {
        const char *sql;
        enum error_kind kind;
        const char *why;
    } rows[] = {
        {"PRAGMA application_id = 7", ERROR_INVALID, "another application"},
        {"PRAGMA user_version = 99", ERROR_INVALID, "newer ddbfs"},
        {"DROP TABLE moments", ERROR_BAD_ANSWER, "tables of it are missing"},
        {"UPDATE tables SET description = '{'", ERROR_BAD_ANSWER, "a description that is no JSON"},
        {"UPDATE tables SET description = '{}'", ERROR_BAD_ANSWER,
         "a description that is not valid"},
        {"UPDATE tables SET name = 'U'", ERROR_BAD_ANSWER, "a description that is not valid"},
        {"UPDATE keys SET column = 'k9' WHERE attribute = 'g'", ERROR_BAD_ANSWER,
         "other key columns"},
        {"DELETE FROM keys WHERE attribute = 'g'", ERROR_BAD_ANSWER, "other key columns"},
        {"UPDATE keys SET type = 'S' WHERE attribute = 's'", ERROR_BAD_ANSWER, "other key columns"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_open_is_refused(rows[i].sql, rows[i].kind, rows[i].why);
}

static void what_a_snapshot_does_not_have_is_an_error_of_its_own(void)
{
    static const enum read_kind kinds[] = {READ_EXPIRY, READ_BACKUPS, READ_RECOVERY, READ_EXPORTS};
    struct scene scene;
    struct error err = {0};
    scene_write(&scene);
    scene_open(&scene, INT64_MAX);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        scene_read(&scene, read_new(kinds[i], "T", NULL));
        CHECK_INT(scene.result.err.kind, ERROR_NOT_STORED);
    }
    change_file(&scene, "UPDATE tables SET expiry = '{\"TimeToLiveStatus\":\"DISABLED\"}'");
    CHECK(snapshot_store_refresh(scene.store, &err));
    CHECK_TEXT(scene_read(&scene, read_new(READ_EXPIRY, "T", NULL)),
               "{\"TimeToLiveStatus\":\"DISABLED\"}");
    scene_read(&scene, read_of_partition("H", "g", "x"));
    CHECK_INT(scene.result.err.kind, ERROR_NO_TABLE);
    CHECK_HAS(scene.result.err.text, "there are: G, L");
    CHECK_TEXT(scene.result.err.index, "H");
    scene_close(&scene);
}

static void count_page(void *arg, const struct page *page, const struct error *err)
{
    (void)page, (void)err;
    (*(unsigned *)arg)++;
}

/* Whatever the thread does with the Read at that moment, nothing is delivered. */
static void a_call_that_ends_early_gets_nothing(void)
{
    struct scene scene;
    unsigned count = 0;
    write_large(&scene);
    scene_open(&scene, INT64_MAX);
    for (int i = 0; i < 50; i++) {
        struct read *read = read_of_partition(NULL, "p", "a");
        struct source_call *call = source_start(scene.source, read, NULL, count_page, &count);
        CHECK(call != NULL);
        if (i % 3)
            usleep((useconds_t)(i * 20));
        source_end(call);
        read_destroy(read);
    }
    CHECK(loop_run(scene.loop));
    CHECK_INT(count, 0);
    scene_close(&scene);
}

static void a_call_waits_for_no_lock_once_it_has_ended(void)
{
    struct scene scene;
    struct error err = {0};
    unsigned count = 0;
    const int64_t *moments;
    scene_write(&scene);
    scene_open(&scene, INT64_MAX);
    struct database *writer = database_open(scene.path, DATABASE_WRITE, &err);
    CHECK(writer && database_run(writer, "BEGIN EXCLUSIVE; UPDATE moments SET items = 7", &err));
    struct read *read = read_of_partition(NULL, "p", "a");
    struct source_call *call = source_start(scene.source, read, NULL, count_page, &count);
    usleep(20000);
    source_end(call);
    read_destroy(read);
    CHECK(loop_run(scene.loop)); /* it waits for the thread */
    CHECK_INT(count, 0);
    CHECK(snapshot_store_refresh(scene.store, &err));
    CHECK_INT(snapshot_store_moments(scene.store, &moments), 2);
    CHECK(database_run(writer, "COMMIT", &err));
    database_close(writer);
    CHECK_HAS(scene_read(&scene, read_one("a", "9")), "nine");
    scene_close(&scene);
}

struct ending {
    struct scene *scene;
    struct source_call *call;
};

static void end_all(void *arg, const struct page *page, const struct error *err)
{
    struct ending *ending = arg;
    CHECK(page && !err && page->item_count > 0);
    source_end(ending->call);
    source_destroy(ending->scene->source);
    snapshot_store_unref(ending->scene->store);
    ending->scene->store = NULL;
    CHECK(json_is(page->items[page->item_count - 1], JSON_OBJECT));
}

static void a_page_may_end_all(void)
{
    struct scene scene;
    write_large(&scene);
    scene_open(&scene, INT64_MAX);
    struct read *read = read_of_partition(NULL, "p", "a");
    struct ending ending = {.scene = &scene};
    ending.call = source_start(scene.source, read, NULL, end_all, &ending);
    CHECK(ending.call && loop_run(scene.loop));
    CHECK(!scene.store);
    read_destroy(read);
    loop_destroy(scene.loop);
}

/* Indexes of several attributes, and such as share attributes with the table's key. */
static const char several[] =
    "{\"TableName\":\"T\",\"AttributeDefinitions\":["
    "{\"AttributeName\":\"a\",\"AttributeType\":\"S\"},{\"AttributeName\":\"b\",\"AttributeType\":"
    "\"N\"},"
    "{\"AttributeName\":\"c\",\"AttributeType\":\"S\"},{\"AttributeName\":\"d\",\"AttributeType\":"
    "\"N\"}],"
    "\"KeySchema\":[{\"AttributeName\":\"a\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"}],"
    "\"GlobalSecondaryIndexes\":[{\"IndexName\":\"cd-ba\","
    "\"KeySchema\":[{\"AttributeName\":\"c\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"d\","
    "\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"b\",\"KeyType\":\"RANGE\"},{\"AttributeName\":\"a\",\"KeyType\":"
    "\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"ALL\"}},"
    "{\"IndexName\":\"b-a\",\"KeySchema\":[{\"AttributeName\":\"b\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"a\",\"KeyType\":\"RANGE\"}],\"Projection\":{\"ProjectionType\":\"ALL\"}},"
    "{\"IndexName\":\"c-da\",\"KeySchema\":[{\"AttributeName\":\"c\",\"KeyType\":\"HASH\"},"
    "{\"AttributeName\":\"d\",\"KeyType\":\"RANGE\"},{\"AttributeName\":\"a\",\"KeyType\":"
    "\"RANGE\"}],"
    "\"Projection\":{\"ProjectionType\":\"ALL\"}},"
    "{\"IndexName\":\"c\",\"KeySchema\":[{\"AttributeName\":\"c\",\"KeyType\":\"HASH\"}],"
    "\"Projection\":{\"ProjectionType\":\"ALL\"}}]}";

static void add_equal(struct read *read, const char *attribute, enum value_type type,
                      const char *value)
{
    read_add_where(read, &(struct cond){.attribute = span_text(attribute),
                                        .op = COND_EQ,
                                        .value = {type, span_text(value)}});
}

static void keys_of_several_attributes_have_their_order(void)
{
    struct scene scene;
    struct snapshot_draft draft;
    scene = (struct scene){0};
    snprintf(scene.path, sizeof scene.path, "%s/several.ddb", folder);
    snapshot_draft_begin(&draft, scene.path, several);
    for (int i = 0; i < 12; i++) {
        char item[200];
        snprintf(
            item, sizeof item,
            "{\"a\":{\"S\":\"%c\"},\"b\":{\"N\":\"%d\"},\"c\":{\"S\":\"c\"},\"d\":{\"N\":\"%d\"}}",
            'z' - i / 4, i * 5 % 11, i % 2);
        snapshot_draft_add(&draft, item, 5, 0);
    }
    snapshot_draft_add_moment(&draft, 5);
    snapshot_draft_end(&draft);
    scene_open(&scene, INT64_MAX);
    for (int descending = 0; descending < 2; descending++) {
        CLEAN_UP(buf_clean_up) struct buf all = {0};
        struct read *read = read_new(READ_QUERY, "T", "cd-ba");
        add_equal(read, "c", VALUE_S, "c");
        add_equal(read, "d", VALUE_N, "1");
        read->descending = descending;
        struct read *part = read_copy(read, NULL);
        buf_add_text(&all, scene_read(&scene, read));
        CHECK(span_starts(buf_span(&all),
                          descending ? SPAN_LITERAL("{\"a\":{\"S\":\"z\"},\"b\":{\"N\":\"5\"}")
                                     : SPAN_LITERAL("{\"a\":{\"S\":\"x\"},\"b\":{\"N\":\"0\"}")));
        part->limit = 2;
        CHECK_TEXT(scene_read(&scene, part), buf_text(&all));
        CHECK_TEXT(buf_text(&scene.result.pages), "2+4.");
    }
    scene_close(&scene);
}

/* SQLite's plan of QUERY, which must not sort. */
static void check_plan(struct database *database, const struct snapshot_query *query,
                       const char *index)
{
    CLEAN_UP(buf_clean_up) struct buf sql = {0}, plan = {0};
    struct error err = {0};
    buf_printf(&sql, "EXPLAIN QUERY PLAN %s", buf_text(&query->sql));
    struct statement *statement = database_prepare(database, buf_text(&sql), &err);
    if (!statement)
        CHECK_FAIL("%s: %s", buf_text(&sql), err.text);
    while (statement_step(statement, &err) == STATEMENT_ROW) {
        buf_add_span(&plan, statement_text(statement, 3));
        buf_add_char(&plan, '\n');
    }
    statement_end(statement);
    CHECK_HAS(buf_text(&plan), index);
    if (strstr(buf_text(&plan), "TEMP") || strstr(buf_text(&plan), "SCAN"))
        CHECK_FAIL("%s: %s", buf_text(&sql), buf_text(&plan));
}

static void each_query_is_a_search_in_its_index(void)
{
    static const struct {
        const char *index, *attributes, *in_plan;
    } rows[] = {{NULL, "a", "items_1_key (k1=?"},
                {"cd-ba", "cd", "items_1_by_1 (k3=? AND k4=?"},
                {"cd-ba", "cdb", "items_1_by_1 (k3=? AND k4=? AND k2=?"},
                {"b-a", "b", "items_1_by_2 (k2=?"},
                {"c-da", "c", "items_1_by_3 (k3=?"},
                {"c-da", "cd", "items_1_by_3 (k3=? AND k4=?"},
                {"c", "c", "items_1_by_4 (k3=?"}};
    struct snapshot_draft draft;
    struct error err = {0};
    char path[100];
    snprintf(path, sizeof path, "%s/plans.ddb", folder);
    snapshot_draft_begin(&draft, path, several);
    snapshot_draft_add_moment(&draft, 5);
    snapshot_draft_end(&draft);
    struct snapshot_file *file = snapshot_file_read(path, DATABASE_READ, &err);
    struct database *database = database_open(path, DATABASE_READ, &err);
    CHECK(file && database);
    for (size_t i = 0; i < 4 * sizeof rows / sizeof rows[0]; i++) {
        CLEAN_UP(snapshot_query_clean_up) struct snapshot_query query, next;
        struct query_place place = {0};
        struct read *read = read_new(READ_QUERY, "T", rows[i / 4].index);
        for (const char *each = rows[i / 4].attributes; *each; each++) {
            char name[] = {*each, '\0'};
            add_equal(read, name, *each == 'b' || *each == 'd' ? VALUE_N : VALUE_S, "1");
        }
        read->descending = i % 2;
        CHECK(snapshot_query_init(&query, &file->tables[0], read, 5, &place, i % 4 < 2, &err));
        check_plan(database, &query, rows[i / 4].in_plan);
        place.count = query.order_count;
        CHECK(snapshot_query_init(&next, &file->tables[0], read, 5, &place, i % 4 < 2, &err));
        check_plan(database, &next, rows[i / 4].in_plan);
        read_destroy(read);
    }
    database_close(database);
    snapshot_file_unref(file);
}

static void many_rows_are_counted_in_parts(void)
{
    struct scene scene;
    scene_write(&scene);
    change_file(&scene,
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150000) "
                "INSERT INTO items_1 SELECT 'many', printf('6501.%06d1', i), NULL, NULL, 5, NULL, "
                "'{}' FROM n");
    scene_open(&scene, INT64_MAX);
    struct read *read = read_of_partition(NULL, "p", "many");
    read->counts = true;
    CHECK_TEXT(scene_read(&scene, read), "100000\n50000\n");
    CHECK_TEXT(buf_text(&scene.result.pages), "0+0.");
    scene_close(&scene);
}

static void many_large_items_come_in_rounds(void)
{
    struct scene scene;
    struct snapshot_draft draft;
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    char *item = malloc(400000);
    draft_open(&draft, &scene, "large.ddb");
    for (int i = 0; i < 60; i++) {
        char sort[20];
        snprintf(sort, sizeof sort, "%d", i);
        struct read *one = read_one("a", sort);
        read_add_key(read, &one->keys[0]);
        read_destroy(one);
        snprintf(item, 400000,
                 "{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"%d\"},\"x\":{\"S\":\"%0350000d\"}}", i, i);
        snapshot_draft_add(&draft, item, 5, 0);
    }
    snapshot_draft_add_moment(&draft, 5);
    snapshot_draft_end(&draft);
    free(item);
    scene_open(&scene, INT64_MAX);
    scene_read(&scene, read);
    CHECK_TEXT(buf_text(&scene.result.pages), "48+12.");
    CHECK_HAS(buf_text(&scene.result.position), "[{\"p\":{\"S\":\"a\"},\"s\":{\"N\":\"48\"}},");
    scene_close(&scene);
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {
        {"reads return items", reads_return_items},
        {"a moment has its own state", a_moment_has_its_own_state},
        {"the newest file has the state", the_newest_file_has_the_state},
        {"a replaced file is read after a refresh", a_replaced_file_is_read_after_a_refresh},
        {"a file that is copied over is not mixed with the old one",
         a_file_that_is_copied_over_is_not_mixed_with_the_old_one},
        {"a new moment is seen after a refresh", a_new_moment_is_seen_after_a_refresh},
        {"the files of a folder are found", the_files_of_a_folder_are_found},
        {"a row that is no item is refused", a_row_that_is_no_item_is_refused},
        {"a damaged file is an error", a_damaged_file_is_an_error},
        {"files that are no valid snapshot are refused",
         files_that_are_no_valid_snapshot_are_refused},
        {"what a snapshot does not have is an error of its own",
         what_a_snapshot_does_not_have_is_an_error_of_its_own},
        {"a call that ends early gets nothing", a_call_that_ends_early_gets_nothing},
        {"a call waits for no lock once it has ended", a_call_waits_for_no_lock_once_it_has_ended},
        {"a page may end all", a_page_may_end_all},
        {"keys of several attributes have their order",
         keys_of_several_attributes_have_their_order},
        {"each query is a search in its index", each_query_is_a_search_in_its_index},
        {"many rows are counted in parts", many_rows_are_counted_in_parts},
        {"many large items come in rounds", many_large_items_come_in_rounds},
    };
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int status = check_main(tests, sizeof tests / sizeof tests[0], argc, argv);
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    buf_printf(&command, "rm -r %s", folder);
    return system(buf_text(&command)) == 0 ? status : EXIT_FAILURE;
}
