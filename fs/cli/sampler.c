#include "fs/cli/sampler.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/plan/sieve.h"
#include "core/sources.h"
#include "core/tree/entries.h"

/* A map with many known values has many paths; each is at most two requests. */
enum { MOST_PATHS = 100 };

struct sampler {
    struct app *app;
    uint32_t most; /* records of each path */
    check_finding_fn *fn;
    void *arg;
    char *paths[MOST_PATHS]; /* owned */
    bool named;              /* by the user: what is not there is told */
    size_t path_count;
    bool left_out;           /* there were more */
    struct sample **samples; /* owned: one a model of the map; NULL where nothing was read of it */
    unsigned requests, records;
    double capacity;

    /* Of the path that is being read. */
    const char *path;
    struct plan *plan;
    struct sample *sample;
    bool takes_keys; /* its records are read again by their keys */
    bool is_empty;   /* proven: no record came, and none would */
    struct arena arena;
    struct key keys[READ_MAX_KEYS];
    size_t key_count;
};

struct sampler *sampler_new(struct app *app, uint32_t most, check_finding_fn *fn, void *arg)
{
    struct sampler *sampler = calloc(1, sizeof *sampler);
    if (!sampler)
        return NULL;
    *sampler = (struct sampler){.app = app, .most = most, .fn = fn, .arg = arg};
    sampler->samples = calloc(app->map->model_count + 1, sizeof(struct sample *));
    if (sampler->samples)
        return sampler;
    free(sampler);
    return NULL;
}

void sampler_destroy(struct sampler *sampler)
{
    if (!sampler)
        return;
    for (size_t i = 0; i < sampler->app->map->model_count; i++)
        sample_destroy(sampler->samples[i]);
    for (size_t i = 0; i < sampler->path_count; i++)
        free(sampler->paths[i]);
    free(sampler->samples);
    free(sampler);
}

static void complain_of_memory(struct sampler *sampler)
{
    struct error why;
    error_no_memory(&why);
    app_complain(sampler->app, NULL, &why);
}

static void add_path(struct sampler *sampler, const char *path)
{
    if (sampler->path_count == MOST_PATHS) {
        sampler->left_out = true;
        return;
    }
    char *copy = strdup(path);
    if (copy)
        sampler->paths[sampler->path_count++] = copy;
    else
        complain_of_memory(sampler);
}

void sampler_add_path(struct sampler *sampler, const char *path)
{
    sampler->named = true;
    add_path(sampler, path);
}

void sampler_add_declared(struct sampler *sampler, const char *path)
{
    struct error why;
    struct entries entries = {0};
    struct place *place = app_resolve(sampler->app, path, &why);
    if (!place) {
        app_complain(sampler->app, path, &why);
        return;
    }
    if (place->kind == PLACE_DIRECTORY && place_is_read(place))
        add_path(sampler, path);
    entries_add_declared(&entries, place, &sampler->app->tree.names);
    entries_add_files(&entries, place, &sampler->app->tree.names);
    for (size_t i = 0; i < entries.count; i++) {
        CLEAN_UP(buf_clean_up) struct buf below = {0};
        const struct tree_entry *entry = &entries.items[i];
        buf_printf(&below, "%s/%.*s", path, (int)entry->name.size, entry->name.data);
        if (entry->directory)
            sampler_add_declared(sampler, buf_text(&below));
        else if (!span_is(entry->name, "README"))
            add_path(sampler, buf_text(&below));
    }
    if (entries.failed)
        complain_of_memory(sampler);
    entries_clean_up(&entries);
    place_destroy(place);
}

static void take_page(void *arg, const struct page *page, const struct error *err)
{
    struct sampler *sampler = arg;
    loop_stop(sampler->app->loop);
    sampler->is_empty = page && page->item_count == 0 && !page->more;
    if (err) {
        app_complain(sampler->app, sampler->path, err);
        return;
    }
    sampler->requests += page->requests;
    sampler->capacity += page->capacity > 0 ? page->capacity : 0;
    for (size_t i = 0; i < page->item_count && i < sampler->most; i++) {
        bool keyed = sampler->takes_keys && sampler->key_count < READ_MAX_KEYS &&
                     sieve_key(sampler->plan->table, page->items[i], &sampler->arena,
                               &sampler->keys[sampler->key_count]);
        if (keyed)
            sampler->key_count++;
        else if (!sample_add(sampler->sample, sampler->plan, page->items[i]))
            complain_of_memory(sampler);
        sampler->records += !keyed;
    }
}

static void ask(struct sampler *sampler, struct source *source, const struct read *read)
{
    struct source_call *call = source_start(source, read, take_page, sampler);
    if (!call) {
        complain_of_memory(sampler);
        return;
    }
    loop_run(sampler->app->loop);
    source->ops->end(call);
}

/* The records with the keys that are known now, with all their attributes. */
static void ask_for_keys(struct sampler *sampler, struct source *source, const struct key *keys,
                         size_t count)
{
    struct error why;
    struct read *read = plan_items(sampler->plan, keys, count, &why);
    sampler->takes_keys = false;
    if (!read) {
        app_complain(sampler->app, sampler->path, &why);
        return;
    }
    read->attribute_count = 0;
    ask(sampler, source, read);
    read_destroy(read);
}

/* The plan is the sampler's own, so its query may be changed: what a filter leaves out is to be
 * seen too, and all attributes of a few records. */
static void read_records(struct sampler *sampler, struct source *source)
{
    struct plan *plan = sampler->plan;
    sampler->key_count = 0;
    sampler->takes_keys = plan->reads_again;
    if (plan->kind == PLAN_KEY) {
        ask_for_keys(sampler, source, &plan->key, 1);
        return;
    }
    plan->query->filter_count = 0;
    plan->query->attribute_count = 0;
    plan->query->limit = sampler->most;
    ask(sampler, source, plan->query);
    if (sampler->key_count > 0)
        ask_for_keys(sampler, source, sampler->keys, sampler->key_count);
    arena_clean_up(&sampler->arena);
}

static struct sample *sample_of(struct sampler *sampler, const struct model *table)
{
    const struct map *map = sampler->app->map;
    for (size_t i = 0; i < map->model_count; i++) {
        if (map->models[i] != table)
            continue;
        if (!sampler->samples[i])
            sampler->samples[i] = sample_new(table, sampler->fn, sampler->arg);
        return sampler->samples[i];
    }
    return NULL;
}

static void sample_path(struct sampler *sampler, const char *path)
{
    struct error why = {0};
    struct place *place = app_resolve(sampler->app, path, &why);
    struct source *source = NULL;
    sampler->path = path;
    sampler->is_empty = false;
    if (place && !place_is_read(place))
        error_set(&why, ERROR_NOT_LISTABLE, "no record is read for this; name one, or a listing");
    else if (place)
        source = sources_for(sampler->app->sources, place, &why);
    sampler->plan = source ? place_plan(place, &why) : NULL;
    sampler->sample = sampler->plan ? sample_of(sampler, place->table) : NULL;
    if (sampler->plan && sampler->plan->kind == PLAN_SEARCH)
        error_set(&why, ERROR_INVALID, "a name that is cut can't be sampled; name its directory");
    else if (sampler->plan && !sampler->sample)
        error_no_memory(&why);
    else if (sampler->plan)
        read_records(sampler, source);
    if (sampler->is_empty && sampler->named && !place_is_directory(place))
        error_set(&why, ERROR_NOT_FOUND, "there is no such record to look at");
    if (why.kind != ERROR_NONE)
        app_complain(sampler->app, path, &why);
    plan_unref(sampler->plan);
    place_destroy(place);
}

void sampler_run(struct sampler *sampler)
{
    bool json = sampler->app->options->json;
    size_t paths = sampler->path_count;
    if (json)
        printf("{\"paths\":%zu,\"records_a_path\":%u,\"requests_at_most\":%zu}\n", paths,
               sampler->most, 2 * paths);
    else
        printf("reading of %zu path%s up to %u record%s each: at most %zu requests\n", paths,
               paths == 1 ? "" : "s", sampler->most, sampler->most == 1 ? "" : "s", 2 * paths);
    if (sampler->left_out && !json)
        printf("the map tells more paths than these; name them to read them\n");
    if (paths == 0 && !json)
        printf("no path of the map can be listed without a value; name paths behind the map\n");
    fflush(stdout);
    for (size_t i = 0; i < paths; i++)
        sample_path(sampler, sampler->paths[i]);
    for (size_t i = 0; i < sampler->app->map->model_count; i++)
        if (sampler->samples[i])
            sample_end(sampler->samples[i]);
    if (json)
        printf("{\"records\":%u,\"requests\":%u,\"capacity\":%.15g}\n", sampler->records,
               sampler->requests, sampler->capacity);
    else
        printf("%u record%s read: %u request%s, %.15g capacity unit%s\n", sampler->records,
               sampler->records == 1 ? " was" : "s were", sampler->requests,
               sampler->requests == 1 ? "" : "s", sampler->capacity,
               sampler->capacity == 1 ? "" : "s");
}
