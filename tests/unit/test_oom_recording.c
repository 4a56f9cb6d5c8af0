/* Memory that runs out, at every point, while responses are recorded and replayed: readers get
 * them all the same, and the recording has them or says that it does not. */
#include <unistd.h>

#include "core/recording/recording.h"
#include "core/recording/replay.h"
#include "tests/unit/check.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/oom.h"

static const char *const secrets[] = {"token"};

static const struct fake_item items[] = {
    {"T", NULL, "{\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"1\"},\"token\":{\"S\":\"hush\"}}"},
    {"T", NULL, "{\"pk\":{\"S\":\"x\"},\"sk\":{\"N\":\"2\"}}"},
    {0}};

struct scene {
    struct loop *loop;
    char file[40];
    struct source_call *call;
    size_t item_count;
    unsigned ends;
    struct error why;
};

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct scene *scene = arg;
    if (err)
        scene->why = *err;
    else
        scene->item_count += page->item_count;
    if (!err && page->more) {
        source_more(scene->call);
        return;
    }
    scene->ends++;
    loop_stop(scene->loop);
}

static struct read *query_of_all(void)
{
    struct read *read = read_new(READ_QUERY, "T", NULL);
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .value = {VALUE_S, SPAN_LITERAL("x")}};
    read_add_where(read, &where);
    read_add_sort(read, SPAN_LITERAL("sk"));
    read->whole = true;
    read->secrets = secrets;
    read->secret_count = 1;
    return read;
}

static struct read *item_of(const char *sort)
{
    struct read *read = read_new(READ_ITEMS, "T", NULL);
    struct key key = {.count = 2};
    key.attributes[0].name = SPAN_LITERAL("pk");
    key.attributes[0].value = (struct value){VALUE_S, SPAN_LITERAL("x")};
    key.attributes[1].name = SPAN_LITERAL("sk");
    key.attributes[1].value = (struct value){VALUE_N, span_text(sort)};
    read_add_key(read, &key);
    read->secrets = secrets;
    read->secret_count = 1;
    return read;
}

/* Whether the call began. */
static bool run(struct scene *scene, struct source *source, const struct read *read)
{
    scene->item_count = scene->ends = 0;
    scene->why = (struct error){0};
    scene->call = source_start(source, read, NULL, take_page, scene);
    if (!scene->call)
        return false;
    loop_run(scene->loop);
    source_end(scene->call);
    CHECK_INT(scene->ends, 1);
    return true;
}

static void open_scene(struct scene *scene)
{
    *scene = (struct scene){.loop = loop_new(clock_system()), .file = "/dev/shm/ddbfs-XXXXXX"};
    int fd = mkstemp(scene->file);
    if (fd < 0)
        fd = mkstemp(strcpy(scene->file, "/tmp/ddbfs-XXXXXX"));
    close(fd);
}

static void close_scene(struct scene *scene)
{
    loop_destroy(scene->loop);
    unlink(scene->file);
}

/* Reads all of it; with N, the n-th allocation fails. */
static bool record(struct scene *scene, unsigned long n, bool for_good)
{
    const struct recording_about about = {.map = "{}", .map_name = "map.json"};
    struct read *reads[] = {query_of_all(), item_of("1"), item_of("9")};
    static const size_t counts[] = {2, 1, 0};
    struct fake_source fake;
    struct error why;
    fake_source_init(&fake, scene->loop, items);
    fake.busy = &fault.paused;
    fake.page_size = 1;
    if (n > 0)
        arm(n, for_good);
    struct recorder *recorder = recorder_open(scene->file, &about, scene->loop, NULL, &why);
    struct source *source = recorder
                                ? recording_new(&(struct recording_options){.source = &fake.source,
                                                                            .recorder = recorder,
                                                                            .clock = clock_system(),
                                                                            .number = 1})
                                : NULL;
    if (source)
        recording_add_environment(recorder, clock_system(), SPAN_LITERAL("prod"), 1,
                                  SPAN_LITERAL("here"));
    for (size_t i = 0; i < 3; i++) {
        bool begun = source && run(scene, source, reads[i]);
        if (begun && scene->why.kind == ERROR_NONE)
            CHECK_INT(scene->item_count, counts[i]);
        else if (begun)
            CHECK_INT(scene->why.kind, ERROR_NO_MEMORY);
    }
    if (recorder)
        recorder_finish(recorder);
    bool hit = n > 0 && disarm();
    source_destroy(source);
    recorder_destroy(recorder);
    for (size_t i = 0; i < 3; i++)
        read_destroy(reads[i]);
    return hit;
}

/* Replays all of it; what is not stored is an error, and never less. */
static bool replay(struct scene *scene, unsigned long n, bool for_good)
{
    struct read *reads[] = {query_of_all(), item_of("1"), item_of("9")};
    static const size_t counts[] = {2, 1, 0};
    struct error why = {0};
    if (n > 0)
        arm(n, for_good);
    struct replay *opened = replay_open(scene->file, scene->loop, &why);
    struct source *source = opened ? replay_new(opened, SPAN_LITERAL("prod"), INT64_MAX) : NULL;
    bool ok[3];
    struct scene results[3];
    for (size_t i = 0; i < 3; i++) {
        ok[i] = source && run(scene, source, reads[i]);
        results[i] = *scene;
    }
    bool hit = n > 0 && disarm();
    source_destroy(source);
    replay_unref(opened);
    for (size_t i = 0; i < 3; i++) {
        read_destroy(reads[i]);
        if (ok[i] && results[i].why.kind == ERROR_NONE)
            CHECK_INT(results[i].item_count, counts[i]);
        else if (ok[i] && results[i].why.kind != ERROR_NOT_STORED)
            CHECK_INT(results[i].why.kind, ERROR_NO_MEMORY);
    }
    return hit;
}

static bool record_with_fault(unsigned long n, bool for_good)
{
    struct scene scene;
    open_scene(&scene);
    bool hit = record(&scene, n, for_good);
    struct error why;
    bool is_recording = false;
    if (replay_find_kind(scene.file, &is_recording, &why) && is_recording)
        replay(&scene, 0, false);
    close_scene(&scene);
    return hit;
}

static bool replay_with_fault(unsigned long n, bool for_good)
{
    struct scene scene;
    open_scene(&scene);
    record(&scene, 0, false);
    bool hit = replay(&scene, n, for_good);
    close_scene(&scene);
    return hit;
}

static void readers_do_not_notice_a_recording_without_memory(void)
{
    try_all(record_with_fault);
}

static void a_replay_without_memory_says_so(void)
{
    try_all(replay_with_fault);
}

static const struct check_test tests[] = {
    {"readers_do_not_notice_a_recording_without_memory",
     readers_do_not_notice_a_recording_without_memory},
    {"a_replay_without_memory_says_so", a_replay_without_memory_says_so},
};

CHECK_MAIN(tests)
