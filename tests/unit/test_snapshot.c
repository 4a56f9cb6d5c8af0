/* Reads of a snapshot's items. */
#include <unistd.h>

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

static void scene_open(struct scene *scene, int64_t at_ms)
{
    struct error err = {0};
    const char *files[] = {scene->path};
    scene->loop = loop_new(clock_system());
    scene->store = snapshot_store_open(
        &(struct snapshot_store_options){.loop = scene->loop, .files = files, .file_count = 1},
        &err);
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

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {
        {"reads return items", reads_return_items},
    };
    if (!mkdtemp(folder))
        return EXIT_FAILURE;
    int status = check_main(tests, sizeof tests / sizeof tests[0], argc, argv);
    CLEAN_UP(buf_clean_up) struct buf command = {0};
    buf_printf(&command, "rm -r %s", folder);
    return system(buf_text(&command)) == 0 ? status : EXIT_FAILURE;
}
