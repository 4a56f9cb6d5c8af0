/* A whole tree for tests. */
#include "tests/unit/scene.h"

#include "core/describe/explain.h"

#define JOBS "prod-EcomIndexerJobsTable"
#define SETTINGS "prod-EcomIndexSettingsTable"
#define SHOPS "prod-ShopifyEntitiesTable"

#define JOB_KEY(date, id)                                                                          \
    "\"pk\":{\"S\":\"PLATFORM#shopify#SHOP#a-b\"},\"sk\":{\"S\":\"JOB#" date "#" id "\"},"         \
    "\"job_id\":{\"S\":\"" id "\"},\"created_at\":{\"S\":\"" date "\"}"
#define STATUS(status, date)                                                                       \
    "\"shop_id\":{\"S\":\"a-b\"},\"status_created_at\":{\"S\":\"" status "#" date "\"}"
#define JOB(date, id, status)                                                                      \
    {JOBS, NULL, "{" JOB_KEY(date, id) "," STATUS(status, date) ",\"n\":{\"N\":\"1.50\"}}"},       \
        {JOBS, "GSI_JobLookup_v2", "{" JOB_KEY(date, id) "}"},                                     \
    {                                                                                              \
        JOBS, "GSI_JobsByStatus_v2", "{" JOB_KEY(date, id) "," STATUS(status, date) "}"            \
    }
#define SESSION(user, updated, token)                                                              \
    {                                                                                              \
        SHOPS, NULL,                                                                               \
            "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"USER#" user "\"},"                 \
            "\"entity_type\":{\"S\":\"SESSION\"},\"last_updated\":{\"S\":\"" updated "\"},"        \
            "\"access_token\":{\"S\":\"" token "\"}}"                                              \
    }

const struct fake_item scene_items[] = {
    JOB("2026-04-16T10:00:00Z", "j1", "COMPLETED"),
    JOB("2026-04-16T11:00:00Z", "j2", "PENDING"),
    JOB("2026-04-17T09:00:00Z", "j3", "PENDING"),
    {SETTINGS, NULL, "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#DEFAULT_CONFIGS\"}}"},
    {SETTINGS, NULL,
     "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#products\"},\"index_name\":{\"S\":\"products\"}"
     ",\"add_docs_config\":{\"M\":{\"batch\":{\"N\":\"10\"}}}}"},
    {SETTINGS, NULL,
     "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#products#PROFILE#SEARCH#default\"}}"},
    {SETTINGS, "GSI_IndexRootsByName",
     "{\"pk\":{\"S\":\"kl7\"},\"sk\":{\"S\":\"INDEX#products\"},\"index_name\":{\"S\":\"products\"}"
     ",\"add_docs_config\":{\"M\":{\"batch\":{\"N\":\"10\"}}}}"},
    SESSION("1", "2026-04-01T00:00:00Z", "old"),
    SESSION("2", "2026-04-09T00:00:00Z", "new"),
    SESSION("3", "2026-04-05T00:00:00Z", "middle"),
    {SHOPS, NULL,
     "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"USER#4\"},\"entity_type\":{\"S\":"
     "\"OTHER\"}"
     ",\"last_updated\":{\"S\":\"2026-05-01T00:00:00Z\"},\"access_token\":{\"S\":\"wrong\"}}"},
    {SHOPS, NULL,
     "{\"pk\":{\"S\":\"SHOP#s.example\"},\"sk\":{\"S\":\"SETTINGS\"},"
     "\"active_index\":{\"S\":\"products\"},\"api_key\":{\"S\":\"hush\"},"
     "\"last_updated\":{\"S\":\"2026-04-16T12:00:00Z\"}}"},
    {0},
};

static struct source *source_for(void *arg, const struct place *place, struct error *err)
{
    struct scene *scene = arg;
    (void)place;
    if (scene->refusal.kind == ERROR_NONE)
        return &scene->fake.source;
    *err = scene->refusal;
    return NULL;
}

static const struct source_ops *describe(void *arg, const struct place *place, struct buf *options)
{
    struct scene *scene = arg;
    (void)place;
    buf_add_text(options, " --profile p");
    return scene->fake.source.ops;
}

bool scene_open(struct scene *scene, const struct map *map, const struct fake_item *items)
{
    *scene = (struct scene){.map = map};
    virtual_clock_init(&scene->clock, 1776340800000);
    scene->loop = loop_new(&scene->clock.clock);
    scene->cache = scene->loop ? cache_new(scene->loop, 1 << 20) : NULL;
    fake_source_init(&scene->fake, scene->loop, items);
    scene->tree = (struct tree){
        .map = map,
        .loop = scene->loop,
        .cache = scene->cache,
        .source = source_for,
        .source_arg = scene,
        .texts = &describe_texts,
        .describe = describe,
        .names = {.suffix = ""},
    };
    return map && scene->loop && scene->cache;
}

void scene_close(struct scene *scene)
{
    cache_destroy(scene->cache);
    loop_destroy(scene->loop);
    map_unref(scene->map);
}

void told_clean_up(struct told *told)
{
    buf_clean_up(&told->bytes);
}

void scene_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct told *told = arg;
    told->calls++;
    if (err) {
        told->err = *err;
        return;
    }
    buf_add_span(&told->bytes, file->bytes);
    told->secret = file->secret;
    told->mtime = file->mtime;
    told->ttl_left_ms = file->ttl_left_ms;
    told->stale = file->stale ? *file->stale : (struct error){0};
}

static void write_entry(struct told *told, const struct tree_entry *entry)
{
    buf_add_span(&told->bytes, entry->name);
    if (told->full)
        buf_printf(&told->bytes, " %lld %lld", (long long)entry->size, (long long)entry->mtime.ms);
    buf_add_text(&told->bytes, entry->directory ? "/\n" : "\n");
}

void scene_take_page(void *arg, const struct tree_entry *entries, size_t count, bool more,
                     const struct error *err)
{
    struct told *told = arg;
    told->calls++;
    told->pages += !err;
    told->more = more;
    for (size_t i = 0; i < count; i++)
        write_entry(told, &entries[i]);
    if (err)
        told->err = *err;
}

static void take_every_page(void *arg, const struct tree_entry *entries, size_t count, bool more,
                            const struct error *err)
{
    struct told *told = arg;
    scene_take_page(arg, entries, count, more, err);
    if (more)
        tree_list_more(told->listing);
}

bool scene_read_place(struct scene *scene, const struct place *place, struct told *told)
{
    bool ok = tree_read(&scene->tree, place, scene_take_file, told);
    if (ok)
        loop_run(scene->loop);
    else
        error_no_memory(&told->err);
    return ok;
}

bool scene_list_place(struct scene *scene, const struct place *place, struct told *told)
{
    told->listing = tree_list(&scene->tree, place, told->full, take_every_page, told);
    bool ok = told->listing;
    if (ok)
        loop_run(scene->loop);
    else
        error_no_memory(&told->err);
    tree_list_end(told->listing);
    return ok;
}

bool scene_read(struct scene *scene, const char *path, struct told *told)
{
    struct place *place =
        place_resolve(scene->map, span_text(path), &scene->tree.names, &told->err);
    bool ok = place && scene_read_place(scene, place, told);
    place_destroy(place);
    return ok;
}

bool scene_list(struct scene *scene, const char *path, struct told *told)
{
    struct place *place =
        place_resolve(scene->map, span_text(path), &scene->tree.names, &told->err);
    bool ok = place && scene_list_place(scene, place, told);
    place_destroy(place);
    return ok;
}

static void scene_stop(void *arg)
{
    loop_stop(arg);
}

void scene_run_rounds(struct scene *scene, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        if (!loop_add_timer(scene->loop, 0, scene_stop, scene->loop))
            return;
        loop_run(scene->loop);
    }
}
