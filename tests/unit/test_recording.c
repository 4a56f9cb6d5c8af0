/* A recording shows what was read, and nothing else. */
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/import/snapshot_check.h"
#include "core/recording/recording.h"
#include "core/recording/replay.h"
#include "tests/unit/check.h"
#include "tests/unit/fake_source.h"

enum { FIRST_MS = 1792000000 };

static const char *const secrets[] = {"token"};

static const struct fake_item items[] = {
    {"T", NULL, "{\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"1\"},\"a\":{\"N\":\"1.50\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"2\"},\"token\":{\"S\":\"hush-hush\"}}"},
    {"T", NULL, "{\"sk\":{\"N\":\"3\"},\"pk\":{\"S\":\"x\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"y\"},\"sk\":{\"N\":\"1\"}}"},
    {0}};
static const struct fake_item later[] = {
    {"T", NULL, "{\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"1\"},\"a\":{\"N\":\"2\"}}"}, {0}};

struct scene {
    struct clock clock;
    int64_t wall_ms;
    struct loop *loop;
    struct fake_source fake;
    struct recorder *recorder;
    struct source *source;
    char file[40];
    struct error err;
    /* Of the last Read: */
    struct source_call *call;
    struct buf texts; /* of its items */
    struct buf description;
    uint64_t counted;
    size_t item_count, name_count;
    unsigned pages, most_pages;
    bool more;
    struct error why;
};

static struct scene *of_clock(struct clock *clock)
{
    return (struct scene *)clock;
}

static int64_t now_ms(struct clock *clock)
{
    (void)clock;
    return clock_system()->now_ms(clock_system());
}

static int64_t wall_ms(struct clock *clock)
{
    return of_clock(clock)->wall_ms;
}

static void record_into(struct scene *scene, bool show_secrets)
{
    const struct recording_about about = {.map = "{}", .map_name = "map.json", .suffix = ".json"};
    fake_source_init(&scene->fake, scene->loop, items);
    scene->recorder = recorder_open(scene->file, &about, scene->loop, NULL, &scene->err);
    if (!scene->recorder)
        CHECK_FAIL("%s", scene->err.text);
    scene->source = recording_new(&(struct recording_options){.source = &scene->fake.source,
                                                              .recorder = scene->recorder,
                                                              .clock = &scene->clock,
                                                              .number = 1,
                                                              .show_secrets = show_secrets});
    CHECK(scene->source);
    recording_add_environment(scene->recorder, &scene->clock, SPAN_LITERAL("prod"), 1,
                              SPAN_LITERAL(" --region eu-west-1"));
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.clock = {.now_ms = now_ms, .wall_ms = wall_ms},
                            .wall_ms = FIRST_MS * 1000LL + 250,
                            .file = "/tmp/ddbfs-recording-XXXXXX"};
    close(mkstemp(scene->file));
    scene->loop = loop_new(&scene->clock);
    CHECK(scene->loop);
    record_into(scene, false);
}

static bool stop_recording(struct scene *scene)
{
    bool ok = !scene->recorder || recorder_finish(scene->recorder);
    source_destroy(scene->source);
    recorder_destroy(scene->recorder);
    scene->source = NULL;
    scene->recorder = NULL;
    return ok;
}

static void scene_clean_up(struct scene *scene)
{
    stop_recording(scene);
    buf_clean_up(&scene->texts);
    buf_clean_up(&scene->description);
    loop_destroy(scene->loop);
    unlink(scene->file);
}

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    if (err) {
        scene->why = *err;
        loop_stop(scene->loop);
        return;
    }
    for (size_t i = 0; i < page->item_count; i++) {
        buf_add_span(&scene->texts, json_raw(page->items[i]));
        buf_add_char(&scene->texts, '\n');
    }
    buf_add_span(&scene->description, page->description);
    scene->item_count += page->item_count;
    scene->name_count += page->name_count;
    scene->counted += page->counted;
    scene->pages++;
    scene->more = page->more;
    if (page->more && scene->pages != scene->most_pages)
        source_more(scene->call);
    else
        loop_stop(scene->loop);
}

/* Reads up to MOST_PAGES (0: all) of SOURCE. Takes READ over. */
static void read_from(struct scene *scene, struct source *source, struct read *read,
                      unsigned most_pages)
{
    buf_truncate(&scene->texts, 0);
    buf_truncate(&scene->description, 0);
    scene->item_count = scene->name_count = scene->pages = 0;
    scene->counted = 0;
    scene->why = (struct error){0};
    scene->most_pages = most_pages;
    CHECK(read && !read_failed(read));
    scene->call = source_start(source, read, NULL, take_page, scene);
    CHECK(scene->call);
    CHECK(loop_run(scene->loop));
    source_end(scene->call);
    read_destroy(read);
}

static void live(struct scene *scene, struct read *read, unsigned most_pages)
{
    read_from(scene, scene->source, read, most_pages);
}

/* From the recording, as it is at the second AT_S (0: the newest). */
static void replay(struct scene *scene, struct read *read, int64_t at_s)
{
    struct replay *opened = replay_open(scene->file, scene->loop, &scene->err);
    if (!opened)
        CHECK_FAIL("%s", scene->err.text);
    struct source *source =
        replay_new(opened, SPAN_LITERAL("prod"), at_s ? at_s * 1000 : INT64_MAX);
    CHECK(source);
    replay_unref(opened);
    read_from(scene, source, read, 0);
    source_destroy(source);
}

static struct read *query_of(const char *partition)
{
    struct read *read = read_new(READ_QUERY, "T", NULL);
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .value = {VALUE_S, span_text(partition)}};
    read_add_where(read, &where);
    read_add_sort(read, SPAN_LITERAL("sk"));
    read->whole = true;
    read->secrets = secrets;
    read->secret_count = 1;
    return read;
}

static void add_key(struct read *read, const char *partition, const char *sort)
{
    struct key key = {.count = 2};
    key.attributes[0].name = SPAN_LITERAL("pk");
    key.attributes[0].value = (struct value){VALUE_S, span_text(partition)};
    key.attributes[1].name = SPAN_LITERAL("sk");
    key.attributes[1].value = (struct value){VALUE_N, span_text(sort)};
    read_add_key(read, &key);
}

static struct read *item_of(const char *partition, const char *sort)
{
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    add_key(read, partition, sort);
    read->secrets = secrets;
    read->secret_count = 1;
    return read;
}

static void a_listing_is_shown_again_page_by_page(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.fake.page_size = 1;
    live(&scene, query_of("x"), 0);
    CHECK_INT(scene.item_count, 3);
    unsigned pages = scene.pages;
    CHECK(stop_recording(&scene));
    replay(&scene, query_of("x"), 0);
    CHECK_INT(scene.why.kind, ERROR_NONE);
    CHECK_INT(scene.pages, pages);
    CHECK_TEXT(buf_text(&scene.texts),
               "{\"a\":{\"N\":\"1.50\"},\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"1\"}}\n"
               "{\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"2\"},\"token\":{\"S\":\"********\"}}\n"
               "{\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"3\"}}\n");
}

static void what_was_not_read_is_not_stored_and_never_missing(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, query_of("x"), 0);
    CHECK(stop_recording(&scene));
    replay(&scene, query_of("y"), 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    CHECK_INT(scene.pages, 0);
    CHECK_HAS(scene.why.text, "is not in the recording");
    replay(&scene, item_of("x", "4"), 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    replay(&scene, read_new(READ_TABLE, "T", NULL), 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    struct read *several = item_of("x", "1");
    add_key(several, "x", "4");
    replay(&scene, several, 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    CHECK_INT(scene.pages, 0);
}

static void items_of_a_listing_are_found_by_their_keys(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, query_of("x"), 0);
    CHECK(stop_recording(&scene));
    replay(&scene, item_of("x", "1.0"), 0); /* the same number */
    CHECK_INT(scene.why.kind, ERROR_NONE);
    CHECK_INT(scene.item_count, 1);
    CHECK_HAS(buf_text(&scene.texts), "1.50");
    struct read *partial = query_of("x");
    read_add_attribute(partial, SPAN_LITERAL("pk"));
    replay(&scene, partial, 0); /* the wider listing has them */
    CHECK_INT(scene.item_count, 3);
}

static void items_without_all_attributes_are_not_whole(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct read *partial = query_of("x");
    read_add_attribute(partial, SPAN_LITERAL("pk"));
    read_add_attribute(partial, SPAN_LITERAL("sk"));
    live(&scene, partial, 0);
    struct read *one = item_of("x", "1");
    read_add_attribute(one, SPAN_LITERAL("a"));
    live(&scene, one, 0);
    CHECK(stop_recording(&scene));
    replay(&scene, item_of("x", "1"), 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    one = item_of("x", "1");
    read_add_attribute(one, SPAN_LITERAL("a"));
    replay(&scene, one, 0);
    CHECK_TEXT(buf_text(&scene.texts), "{\"a\":{\"N\":\"1.50\"}}\n");
}

static void a_proven_miss_is_shown_as_a_miss(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct read *several = item_of("x", "1");
    add_key(several, "x", "7");
    live(&scene, several, 0);
    CHECK_INT(scene.item_count, 1);
    CHECK(stop_recording(&scene));
    replay(&scene, item_of("x", "7"), 0);
    CHECK_INT(scene.why.kind, ERROR_NONE);
    CHECK_INT(scene.pages, 1);
    CHECK_INT(scene.item_count, 0);
    replay(&scene, item_of("x", "1"), 0);
    CHECK_INT(scene.item_count, 1);
}

static void a_listing_read_in_part_ends_in_an_error(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.fake.page_size = 1;
    live(&scene, query_of("x"), 0);
    scene.wall_ms += 60000;
    live(&scene, query_of("x"), 2);
    CHECK(scene.more);
    CHECK(stop_recording(&scene));
    replay(&scene, query_of("x"), 0);
    CHECK_INT(scene.pages, 2);
    CHECK_INT(scene.item_count, 2);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    CHECK_HAS(scene.why.text, "read only in part");
    CHECK_HAS(scene.why.text, "to its end at 2026-10-14T");
    struct read *count = query_of("x");
    count->counts = true;
    replay(&scene, count, 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    replay(&scene, query_of("x"), FIRST_MS + 59);
    CHECK_INT(scene.item_count, 3);
    CHECK_INT(scene.why.kind, ERROR_NONE);
}

static void a_complete_listing_is_also_counted_and_limited(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.fake.page_size = 1;
    live(&scene, query_of("x"), 0);
    CHECK(stop_recording(&scene));
    struct read *count = query_of("x"), *limited = query_of("x");
    count->counts = true;
    limited->limit = 2;
    replay(&scene, count, 0);
    CHECK_INT(scene.counted, 3);
    CHECK_INT(scene.item_count, 0);
    replay(&scene, limited, 0);
    CHECK_INT(scene.why.kind, ERROR_NONE);
    CHECK(scene.item_count >= 2);
}

static void each_moment_has_its_own_state(void)
{
    static const bool gone[] = {true, false};
    const int64_t *moments;
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, item_of("x", "1"), 0);
    scene.wall_ms += 10000;
    scene.fake.items = later;
    live(&scene, item_of("x", "1"), 0);
    scene.wall_ms += 10000;
    scene.fake.gone = gone;
    live(&scene, item_of("x", "1"), 0);
    CHECK_INT(scene.item_count, 0);
    CHECK(stop_recording(&scene));
    struct replay *opened = replay_open(scene.file, scene.loop, &scene.err);
    CHECK(opened);
    CHECK_INT(replay_moments(opened, &moments), 3);
    CHECK_INT(moments[0], (FIRST_MS + 20) * 1000LL);
    replay_unref(opened);
    replay(&scene, item_of("x", "1"), FIRST_MS);
    CHECK_HAS(buf_text(&scene.texts), "1.50");
    replay(&scene, item_of("x", "1"), FIRST_MS + 19);
    CHECK_HAS(buf_text(&scene.texts), "\"a\":{\"N\":\"2\"}");
    replay(&scene, item_of("x", "1"), FIRST_MS + 20);
    CHECK_INT(scene.why.kind, ERROR_NONE);
    CHECK_INT(scene.item_count, 0);
    replay(&scene, item_of("x", "1"), FIRST_MS - 1);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
}

static void note_fault(void *arg, bool is_proven, const char *table, const char *text)
{
    (void)table, (void)text;
    *(int *)arg += !is_proven;
}

static void versions_do_not_overlap_if_the_clock_is_set_back(void)
{
    static const bool gone[sizeof items / sizeof items[0]] = {true};
    int faults = 0;
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    const struct snapshot_check_options options = {scene.file, note_fault, &faults};
    live(&scene, item_of("x", "1"), 0);
    scene.fake.gone = gone; /* within the same millisecond */
    live(&scene, item_of("x", "1"), 0);
    scene.wall_ms -= 5000;
    scene.fake.gone = NULL;
    live(&scene, item_of("x", "1"), 0);
    scene.fake.items = later;
    live(&scene, item_of("x", "1"), 0);
    CHECK(stop_recording(&scene));
    CHECK(snapshot_check(&options, &scene.err));
    CHECK_INT(faults, 0);
    replay(&scene, item_of("x", "1"), 0);
    CHECK_HAS(buf_text(&scene.texts), "\"a\":{\"N\":\"2\"}");
}

static void the_newest_response_is_also_an_error(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, item_of("x", "1"), 0);
    live(&scene, query_of("x"), 0);
    scene.wall_ms += 5000;
    error_set(&scene.fake.error, ERROR_THROTTLED, "the table is throttled");
    strcpy(scene.fake.error.code, "ThrottlingException");
    scene.fake.down = true;
    live(&scene, item_of("x", "1"), 0);
    live(&scene, query_of("x"), 0);
    CHECK_INT(scene.why.kind, ERROR_THROTTLED);
    CHECK(stop_recording(&scene));
    for (int i = 0; i < 2; i++) {
        replay(&scene, i ? item_of("x", "1") : query_of("x"), 0);
        CHECK_INT(scene.why.kind, ERROR_THROTTLED);
        CHECK_HAS(scene.why.text, "the table is throttled (recorded at 2026-10-14T");
        CHECK_TEXT(scene.why.code, "ThrottlingException");
        replay(&scene, i ? item_of("x", "1") : query_of("x"), FIRST_MS + 1);
        CHECK_INT(scene.why.kind, ERROR_NONE);
    }
}

static void the_descriptions_and_names_of_tables_are_stored(void)
{
    static const char *const names[] = {"A", "B", NULL};
    static const char description[] =
        "{\"TableName\":\"T\",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\","
        "\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]"
        "}";
    struct table_info info = {.item_count = -1};
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    scene.fake.tables = names;
    scene.fake.info = &info;
    scene.fake.description = description;
    live(&scene, read_new(READ_TABLES, "", NULL), 0);
    live(&scene, read_new(READ_TABLE, "T", NULL), 0);
    live(&scene, read_new(READ_RECOVERY, "T", NULL), 0);
    scene.fake.info = NULL;
    live(&scene, read_new(READ_TABLE, "U", NULL), 0);
    CHECK(stop_recording(&scene));
    replay(&scene, read_new(READ_TABLES, "", NULL), 0);
    CHECK_INT(scene.name_count, 2);
    replay(&scene, read_new(READ_TABLE, "T", NULL), 0);
    CHECK_TEXT(buf_text(&scene.description), description);
    replay(&scene, read_new(READ_RECOVERY, "T", NULL), 0);
    CHECK_TEXT(buf_text(&scene.description), description);
    replay(&scene, read_new(READ_TABLE, "U", NULL), 0);
    CHECK_INT(scene.why.kind, ERROR_NO_TABLE);
}

/* Whether the bytes of the file, and of a journal beside it, have TEXT. */
static bool file_has(const struct scene *scene, const char *text)
{
    static char bytes[1 << 20];
    FILE *file = fopen(scene->file, "rb");
    CHECK(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return memmem(bytes, size, text, strlen(text)) != NULL;
}

static void secrets_are_masked_unless_they_are_wanted(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    struct read *value = item_of("x", "2"), *filtered = query_of("x");
    struct cond filter = {.attribute = SPAN_LITERAL("token"),
                          .value = {VALUE_S, SPAN_LITERAL("hush-hush")}};
    read_add_attribute(value, SPAN_LITERAL("token"));
    read_add_filter(filtered, &filter);
    live(&scene, query_of("x"), 0);
    CHECK_HAS(buf_text(&scene.texts), "hush-hush");
    live(&scene, item_of("x", "2"), 0);
    live(&scene, value, 0);
    live(&scene, filtered, 0);
    CHECK_INT(scene.item_count, 1);
    CHECK(stop_recording(&scene));
    CHECK(!file_has(&scene, "hush"));
    CHECK(file_has(&scene, "********"));
    value = item_of("x", "2");
    read_add_attribute(value, SPAN_LITERAL("token"));
    replay(&scene, value, 0);
    CHECK_TEXT(buf_text(&scene.texts), "{\"token\":{\"S\":\"********\"}}\n");
    scene.wall_ms += 1000;
    record_into(&scene, true);
    live(&scene, item_of("x", "2"), 0);
    CHECK(stop_recording(&scene));
    CHECK(file_has(&scene, "hush-hush"));
}

/* Such items would all have the same key in the file. */
static void items_with_a_secret_key_stay_apart(void)
{
    static const char *const key[] = {"pk"};
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    for (int i = 0; i < 2; i++) {
        struct read *read = item_of(i ? "x" : "y", "1");
        read->secrets = key;
        live(&scene, read, 0);
    }
    CHECK(stop_recording(&scene));
    for (int i = 0; i < 2; i++) {
        struct read *read = item_of(i ? "x" : "y", "1");
        read->secrets = key;
        replay(&scene, read, 0);
        CHECK_INT(scene.item_count, 1);
        CHECK_INT(strstr(buf_text(&scene.texts), "1.50") != NULL, i);
        CHECK_HAS(buf_text(&scene.texts), "\"pk\":{\"S\":\"********\"}");
    }
}

static void a_recording_is_continued_by_the_next(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, item_of("x", "1"), 0);
    CHECK(stop_recording(&scene));
    scene.wall_ms += 1000;
    record_into(&scene, false);
    live(&scene, item_of("y", "1"), 0);
    CHECK(stop_recording(&scene));
    replay(&scene, item_of("x", "1"), 0);
    CHECK_INT(scene.item_count, 1);
    replay(&scene, item_of("y", "1"), 0);
    CHECK_INT(scene.item_count, 1);
}

/* Both write while the other one has the file open. */
static void two_recorders_share_a_file(void)
{
    CLEAN_UP(scene_clean_up) struct scene one;
    CLEAN_UP(scene_clean_up) struct scene other = {0};
    open_scene(&one);
    other = one;
    other.loop = loop_new(&other.clock);
    other.texts = other.description = (struct buf){0};
    record_into(&other, false);
    for (int i = 0; i < 20; i++) {
        live(&one, item_of("x", i % 2 ? "1" : "2"), 0);
        live(&other, item_of("y", "1"), 0);
    }
    CHECK(stop_recording(&other));
    CHECK(stop_recording(&one));
    replay(&one, item_of("x", "2"), 0);
    CHECK_INT(one.item_count, 1);
    replay(&one, item_of("y", "1"), 0);
    CHECK_INT(one.item_count, 1);
    strcpy(other.file, "/nonexistent");
}

static void run_sql(const char *file, const char *sql)
{
    struct error why;
    struct database *database = database_open(file, DATABASE_CREATE, &why);
    bool ok = database && database_run(database, sql, &why);
    database_close(database);
    if (!ok)
        CHECK_FAIL("%s", why.text);
}

static void other_files_are_refused(void)
{
    static const struct {
        const char *sql, *text;
    } cases[] = {
        {"CREATE TABLE t(a)", "another application"},
        {"PRAGMA application_id = 1684300390; PRAGMA user_version = 9; CREATE TABLE t(a)", "newer"},
        {"PRAGMA application_id = 1684300390; PRAGMA user_version = 1; CREATE TABLE about(name,"
         " value); CREATE TABLE tables(a); CREATE TABLE keys(a); CREATE TABLE moments(a);"
         " INSERT INTO about VALUES('kind', 'snapshot')",
         "is a snapshot, and --record would add to it"},
        {"PRAGMA application_id = 1684300390; PRAGMA user_version = 1; CREATE TABLE about(name,"
         " value); CREATE TABLE tables(a); CREATE TABLE keys(a); CREATE TABLE moments(a);"
         " INSERT INTO about VALUES('kind', 'recording')",
         "no complete recording"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char file[] = "/tmp/ddbfs-recording-XXXXXX";
        struct error why;
        const struct recording_about about = {0};
        struct loop *loop = loop_new(clock_system());
        close(mkstemp(file));
        run_sql(file, cases[i].sql);
        struct recorder *recorder = recorder_open(file, &about, loop, NULL, &why);
        CHECK(!recorder);
        CHECK_HAS(why.text, cases[i].text);
        CHECK_HAS(why.text, file);
        loop_destroy(loop);
        unlink(file);
    }
}

static void a_full_disk_stops_the_recording_alone(void)
{
    struct rlimit before, small;
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, item_of("x", "1"), 0);
    CHECK(stop_recording(&scene));
    record_into(&scene, false);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 4096;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    live(&scene, query_of("x"), 0);
    size_t count = scene.item_count;
    bool ok = stop_recording(&scene);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_INT(count, 3);
    CHECK(!ok);
    replay(&scene, item_of("x", "1"), 0);
    CHECK_INT(scene.item_count, 1);
    replay(&scene, query_of("x"), 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
}

static void damaged_responses_are_errors(void)
{
    static const char *const cases[] = {
        "UPDATE bodies SET content = '{'", "UPDATE bodies SET content = '{}'",
        "UPDATE bodies SET content = ''", "UPDATE responses SET body = 77",
        "UPDATE bodies SET content = '[{\"pk\":1}]'"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        open_scene(&scene);
        live(&scene, query_of("x"), 0);
        CHECK(stop_recording(&scene));
        run_sql(scene.file, cases[i]);
        replay(&scene, query_of("x"), 0);
        CHECK_INT(scene.why.kind, ERROR_BAD_ANSWER);
        CHECK_HAS(scene.why.text, "is damaged");
    }
}

static void a_damaged_item_is_not_that_of_its_key(void)
{
    static const char *const cases[] = {"", "1", "{}", "{},{}", "{\"pk\":{\"S\":\"other\"}}"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEAN_UP(scene_clean_up) struct scene scene;
        CLEAN_UP(buf_clean_up) struct buf sql = {0};
        open_scene(&scene);
        live(&scene, item_of("x", "1"), 0);
        CHECK(stop_recording(&scene));
        replay(&scene, item_of("x", "1"), 0);
        CHECK_INT(scene.why.kind, ERROR_NONE);
        buf_printf(&sql, "UPDATE items_1 SET item = '%s'", cases[i]);
        run_sql(scene.file, buf_text(&sql));
        replay(&scene, item_of("x", "1"), 0);
        CHECK_INT(scene.why.kind, ERROR_BAD_ANSWER);
        CHECK_HAS(scene.why.text, "is damaged");
    }
}

/* Any outcome but a crash: SQLite has no checksum of its pages. */
static void damaged_files_crash_nothing(void)
{
    static char bytes[1 << 20];
    unsigned seed = 1;
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, query_of("x"), 0);
    live(&scene, item_of("y", "1"), 0);
    CHECK(stop_recording(&scene));
    FILE *file = fopen(scene.file, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (int round = 0; round < 60; round++) {
        char damaged[] = "/tmp/ddbfs-recording-XXXXXX";
        int fd = mkstemp(damaged);
        size_t kept = round % 4 == 0 ? size * (size_t)(round + 1) / 64 : size;
        CHECK_INT(write(fd, bytes, kept), kept);
        for (int i = 0; i < 20; i++) {
            seed = seed * 1103515245u + 12345u;
            char byte = (char)(seed >> 8);
            CHECK_INT(pwrite(fd, &byte, 1, (off_t)((seed >> 4) % (kept + 1))), 1);
        }
        close(fd);
        struct replay *opened = replay_open(damaged, scene.loop, &scene.err);
        struct source *source = opened ? replay_new(opened, SPAN_LITERAL("prod"), INT64_MAX) : NULL;
        replay_unref(opened);
        for (int i = 0; source && i < 2; i++)
            read_from(&scene, source, i ? item_of("x", "2") : query_of("x"), 0);
        source_destroy(source);
        unlink(damaged);
    }
}

static void a_file_that_is_replaced_is_read_no_more(void)
{
    char other[] = "/tmp/ddbfs-recording-XXXXXX";
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, query_of("x"), 0);
    CHECK(stop_recording(&scene));
    struct replay *opened = replay_open(scene.file, scene.loop, &scene.err);
    struct source *source = replay_new(opened, SPAN_LITERAL("prod"), INT64_MAX);
    replay_unref(opened);
    close(mkstemp(other));
    CHECK_INT(rename(other, scene.file), 0);
    read_from(&scene, source, query_of("x"), 0);
    source_destroy(source);
    CHECK_INT(scene.why.kind, ERROR_REPLACED);
}

/* An environment that was not recorded has nothing; neither has another table. */
static void environments_do_not_mix(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene);
    live(&scene, query_of("x"), 0);
    CHECK(stop_recording(&scene));
    struct replay *opened = replay_open(scene.file, scene.loop, &scene.err);
    struct source *source = replay_new(opened, SPAN_LITERAL("staging"), INT64_MAX);
    replay_unref(opened);
    read_from(&scene, source, query_of("x"), 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    read_from(&scene, source, item_of("x", "1"), 0);
    CHECK_INT(scene.why.kind, ERROR_NOT_STORED);
    source_destroy(source);
}

static const struct check_test tests[] = {
    {"a_listing_is_shown_again_page_by_page", a_listing_is_shown_again_page_by_page},
    {"what_was_not_read_is_not_stored_and_never_missing",
     what_was_not_read_is_not_stored_and_never_missing},
    {"items_of_a_listing_are_found_by_their_keys", items_of_a_listing_are_found_by_their_keys},
    {"items_without_all_attributes_are_not_whole", items_without_all_attributes_are_not_whole},
    {"a_proven_miss_is_shown_as_a_miss", a_proven_miss_is_shown_as_a_miss},
    {"a_listing_read_in_part_ends_in_an_error", a_listing_read_in_part_ends_in_an_error},
    {"a_complete_listing_is_also_counted_and_limited",
     a_complete_listing_is_also_counted_and_limited},
    {"each_moment_has_its_own_state", each_moment_has_its_own_state},
    {"versions_do_not_overlap_if_the_clock_is_set_back",
     versions_do_not_overlap_if_the_clock_is_set_back},
    {"the_newest_response_is_also_an_error", the_newest_response_is_also_an_error},
    {"the_descriptions_and_names_of_tables_are_stored",
     the_descriptions_and_names_of_tables_are_stored},
    {"secrets_are_masked_unless_they_are_wanted", secrets_are_masked_unless_they_are_wanted},
    {"items_with_a_secret_key_stay_apart", items_with_a_secret_key_stay_apart},
    {"a_recording_is_continued_by_the_next", a_recording_is_continued_by_the_next},
    {"two_recorders_share_a_file", two_recorders_share_a_file},
    {"other_files_are_refused", other_files_are_refused},
    {"a_full_disk_stops_the_recording_alone", a_full_disk_stops_the_recording_alone},
    {"damaged_responses_are_errors", damaged_responses_are_errors},
    {"a_damaged_item_is_not_that_of_its_key", a_damaged_item_is_not_that_of_its_key},
    {"damaged_files_crash_nothing", damaged_files_crash_nothing},
    {"a_file_that_is_replaced_is_read_no_more", a_file_that_is_replaced_is_read_no_more},
    {"environments_do_not_mix", environments_do_not_mix},
};

CHECK_MAIN(tests)
