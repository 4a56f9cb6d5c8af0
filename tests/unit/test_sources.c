/* Which environments of a map share a source. */
#include "core/sources.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/map/map.h"
#include "tests/unit/check.h"

static const char map_text[] =
    "{\"environments\":{"
    "\"one\":{\"prefix\":\"one-\",\"region\":\"eu-west-1\"},"
    "\"two\":{\"prefix\":\"two-\",\"region\":\"eu-west-1\"},"
    "\"other-region\":{\"prefix\":\"p-\",\"region\":\"eu-west-2\"},"
    "\"other-profile\":{\"prefix\":\"p-\",\"region\":\"eu-west-1\",\"profile\":\"x\"},"
    "\"nobody\":{\"prefix\":\"p-\",\"region\":\"eu-west-1\",\"profile\":\"nobody\"},"
    "\"named\":{\"prefix\":\"p-\",\"region\":\"eu-west-1\",\"profile\":\"default\"}},"
    "\"tables\":{\"t\":{\"table\":\"T\",\"records\":{\"r\":{\"pk\":\"{a}\"}},\"paths\":{\"{a}\":{}}"
    "}}}";

struct scene {
    struct loop *loop;
    const struct map *map;
    struct sources *sources;
    struct error err;
};

static void open_scene(struct scene *scene, const char *credentials)
{
    *scene = (struct scene){.loop = loop_new(clock_system())};
    FILE *file = fopen(credentials, "w");
    CHECK(file);
    fputs("[default]\naws_access_key_id = K\naws_secret_access_key = S\n[x]\n", file);
    fclose(file);
    setenv("AWS_CONFIG_FILE", "/dev/null", 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", credentials, 1);
    unsetenv("AWS_ACCESS_KEY_ID");
    unsetenv("AWS_PROFILE");
    unsetenv("AWS_DEFAULT_PROFILE");
    unsetenv("AWS_ENDPOINT_URL");
    unsetenv("AWS_ENDPOINT_URL_DYNAMODB");
    scene->map = map_parse("map.json", span_text(map_text), NULL, &scene->err);
    if (!scene->map)
        CHECK_FAIL("%s", scene->err.text);
    struct sources_options options = {.loop = scene->loop, .deadline_ms = 1000, .most_items = 1000};
    scene->sources = sources_new(&options);
    CHECK(scene->loop && scene->sources);
}

static void scene_clean_up(struct scene *scene)
{
    sources_destroy(scene->sources);
    map_unref(scene->map);
    loop_destroy(scene->loop);
    unlink(getenv("AWS_SHARED_CREDENTIALS_FILE"));
}

/* The source of the environment that stands at AT in the map. */
static struct source *source_of(struct scene *scene, int at)
{
    const struct map_environment *environment = scene->map->environments;
    for (int i = 0; i < at; i++)
        environment = environment->next;
    struct place place = {.map = scene->map, .environment = environment};
    return sources_for(scene->sources, &place, &scene->err);
}

static void environments_that_come_to_the_same_share_a_source(void)
{
    char file[] = "/tmp/ddbfs-sources-XXXXXX";
    CLEAN_UP(scene_clean_up) struct scene scene;
    close(mkstemp(file));
    open_scene(&scene, file);
    struct source *one = source_of(&scene, 0);
    if (!one)
        CHECK_FAIL("%s", scene.err.text);
    CHECK(source_of(&scene, 0) == one);
    CHECK(source_of(&scene, 1) == one);
    CHECK(source_of(&scene, 2) && source_of(&scene, 2) != one);
    CHECK(source_of(&scene, 3) && source_of(&scene, 3) != one);
    /* The environment may have something for the one that nobody named. */
    CHECK(source_of(&scene, 5) && source_of(&scene, 5) != one);
}

/* A profile that is not there yet may come: the failure is not kept. */
static void what_fails_is_looked_at_again(void)
{
    char file[] = "/tmp/ddbfs-sources-XXXXXX";
    CLEAN_UP(scene_clean_up) struct scene scene;
    close(mkstemp(file));
    open_scene(&scene, file);
    CHECK(!source_of(&scene, 4));
    CHECK_HAS(scene.err.text, "profile nobody (named by the map's environment ");
    FILE *credentials = fopen(file, "a");
    fputs("[nobody]\n", credentials);
    fclose(credentials);
    CHECK(source_of(&scene, 4));
}

/* The config file is a link to itself at first, which nobody can read. */
static void what_was_settled_without_a_file_is_settled_again(void)
{
    char credentials[] = "/tmp/ddbfs-sources-XXXXXX", config[] = "/tmp/ddbfs-sources-XXXXXX";
    CLEAN_UP(scene_clean_up) struct scene scene;
    close(mkstemp(credentials));
    close(mkstemp(config));
    open_scene(&scene, credentials);
    unlink(config);
    bool linked = symlink(config, config) == 0;
    setenv("AWS_CONFIG_FILE", config, 1);
    struct source *before = source_of(&scene, 0), *still = source_of(&scene, 0);
    unlink(config);
    FILE *file = fopen(config, "w");
    bool wrote = file && fputs("[default]\nuse_dualstack_endpoint = true\n", file) >= 0;
    if (file)
        fclose(file);
    struct source *after = source_of(&scene, 0), *again = source_of(&scene, 0);
    unlink(config);
    CHECK(linked && wrote && before && after);
    CHECK(still == before && after != before && again == after);
}

/* Where no file names a region, it is the machine's, until a file does. */
static void a_region_that_comes_into_a_file_counts(void)
{
    char credentials[] = "/tmp/ddbfs-sources-XXXXXX", config[] = "/tmp/ddbfs-sources-XXXXXX";
    CLEAN_UP(scene_clean_up) struct scene scene;
    close(mkstemp(credentials));
    close(mkstemp(config));
    open_scene(&scene, credentials);
    setenv("AWS_CONFIG_FILE", config, 1);
    unsetenv("AWS_REGION");
    unsetenv("AWS_DEFAULT_REGION");
    struct aws_session *before = sources_session(scene.sources, NULL, &scene.err);
    struct aws_session *still = sources_session(scene.sources, NULL, &scene.err);
    FILE *file = fopen(config, "w");
    bool wrote = file && fputs("[default]\nregion = eu-west-3\n", file) >= 0;
    if (file)
        fclose(file);
    struct aws_session *after = sources_session(scene.sources, NULL, &scene.err);
    struct aws_session *again = sources_session(scene.sources, NULL, &scene.err);
    unlink(config);
    CHECK(wrote && before && still == before && after && after != before && again == after);
    CHECK_TEXT(aws_session_settings(after)->region, "eu-west-3");
}

static struct {
    struct source_ops own;
    const struct source_ops *real;
    int destroyed;
} watched;

static void note_destroy(struct source *source)
{
    watched.destroyed++;
    watched.real->destroy(source);
}

/* The environment "nobody" has a profile of its own, whose settings are edited. */
static void an_edited_source_is_closed_when_its_last_user_is_gone(void)
{
    char file[] = "/tmp/ddbfs-sources-XXXXXX";
    CLEAN_UP(scene_clean_up) struct scene scene;
    close(mkstemp(file));
    open_scene(&scene, file);
    FILE *credentials = fopen(file, "a");
    fputs("[nobody]\n", credentials);
    fclose(credentials);
    struct source *source = source_ref(source_of(&scene, 4)), *other = source_of(&scene, 0);
    CHECK(source && other && source != other);
    uint64_t number = source->number;
    watched.real = source->ops;
    watched.own = *source->ops;
    watched.own.destroy = note_destroy;
    watched.destroyed = 0;
    source->ops = &watched.own;
    credentials = fopen(file, "a");
    fputs("use_fips_endpoint = true\n", credentials);
    fclose(credentials);
    sources_reload(scene.sources);
    CHECK(loop_run(scene.loop));
    CHECK_INT(watched.destroyed, 0);
    struct source *after = source_of(&scene, 4);
    CHECK(after && after != source && after->number != number && source_of(&scene, 0) == other);
    source_unref(source);
    CHECK_INT(watched.destroyed, 0);
    CHECK(loop_run(scene.loop));
    CHECK_INT(watched.destroyed, 1);
    CHECK(source_of(&scene, 4) == after && source_of(&scene, 0) == other);
    CHECK(sources_stats(scene.sources).operation_count > 0);
}

static const struct check_test tests[] = {
    {"environments that come to the same share a source",
     environments_that_come_to_the_same_share_a_source},
    {"an edited source is closed when its last user is gone",
     an_edited_source_is_closed_when_its_last_user_is_gone},
    {"what fails is looked at again", what_fails_is_looked_at_again},
    {"what was settled without a file is settled again",
     what_was_settled_without_a_file_is_settled_again},
    {"a region that comes into a file counts", a_region_that_comes_into_a_file_counts},
};
CHECK_MAIN(tests)
