#include "fs/cli/check_sample.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/read/entries.h"
#include "core/read/fetch.h"
#include "fs/cli/sample_reader.h"

/* A map with many known values has many paths; each is at most two requests. */
enum { MOST_PATHS = 100 };

struct check_sample {
    struct app *app;
    struct peek peek;
    struct check_sample_printer printer;
    char *paths[MOST_PATHS]; /* owned */
    bool named;              /* by the user: what is not there is told */
    size_t path_count;
    bool left_out; /* there were more */
    struct sample_check *
        *samples; /* owned: one a model of the map; NULL where nothing was read of it */
};

static void check_sample_report_memory(struct check_sample *sampler)
{
    struct error why;
    error_no_memory(&why);
    app_report_error(sampler->app, NULL, &why);
}

/* NULL where the map does not describe TABLE, or when memory ran out. */
static struct sample_check *check_sample_of(struct check_sample *sampler, const struct model *table,
                                            bool *known)
{
    const struct map *map = sampler->app->map;
    size_t i = 0;
    while (i < map->model_count && map->models[i] != table)
        i++;
    *known = i < map->model_count;
    if (*known && !sampler->samples[i])
        sampler->samples[i] = sample_check_new(table);
    return *known ? sampler->samples[i] : NULL;
}

static bool check_sample_look_at_plan(void *arg, const char *path, const struct plan *plan)
{
    struct check_sample *sampler = arg;
    bool known;
    struct sample_check *sample = check_sample_of(sampler, plan->table, &known);
    struct error why;
    if (sample && sampler->named)
        sample_check_expect(sample, plan);
    if (sample)
        return true;
    if (known)
        error_no_memory(&why);
    else
        error_set(&why, ERROR_INVALID,
                  "the map does not describe this table, so there is nothing to compare; name a "
                  "path of a table of the map");
    app_report_error(sampler->app, path, &why);
    return false;
}

static bool check_sample_take_item(void *arg, const struct plan *plan, struct json item)
{
    bool known;
    struct sample_check *sample = check_sample_of(arg, plan->table, &known);
    return sample && sample_check_add_item(sample, plan, item);
}

struct check_sample *check_sample_new(struct app *app, uint32_t most,
                                      const struct check_sample_printer *printer)
{
    struct check_sample *sampler = calloc(1, sizeof *sampler);
    if (!sampler)
        return NULL;
    *sampler = (struct check_sample){.app = app, .printer = *printer};
    sampler->peek = (struct peek){.app = app,
                                  .most = most,
                                  .look = check_sample_look_at_plan,
                                  .take = check_sample_take_item,
                                  .arg = sampler};
    sampler->samples = calloc(app->map->model_count + 1, sizeof(struct sample_check *));
    if (sampler->samples)
        return sampler;
    free(sampler);
    return NULL;
}

void check_sample_destroy(struct check_sample *sampler)
{
    if (!sampler)
        return;
    for (size_t i = 0; i < sampler->app->map->model_count; i++)
        sample_check_destroy(sampler->samples[i]);
    for (size_t i = 0; i < sampler->path_count; i++)
        free(sampler->paths[i]);
    free(sampler->samples);
    free(sampler);
}

static void check_sample_add_path_it(struct check_sample *sampler, const char *path)
{
    if (sampler->path_count == MOST_PATHS) {
        sampler->left_out = true;
        return;
    }
    char *copy = strdup(path);
    if (copy)
        sampler->paths[sampler->path_count++] = copy;
    else
        check_sample_report_memory(sampler);
}

void check_sample_add_path(struct check_sample *sampler, const char *path)
{
    sampler->named = true;
    check_sample_add_path_it(sampler, path);
}

void check_sample_add_declared(struct check_sample *sampler, const char *path)
{
    struct error why;
    struct entries entries = {0};
    struct place *place = app_resolve(sampler->app, path, &why);
    if (!place) {
        app_report_error(sampler->app, path, &why);
        return;
    }
    if (place->kind == PLACE_DIRECTORY && fetch_is_needed(place))
        check_sample_add_path_it(sampler, path);
    entries_add_declared(&entries, place, &sampler->app->tree.names);
    entries_add_files(&entries, place, &sampler->app->tree.names);
    for (size_t i = 0; i < entries.count; i++) {
        CLEAN_UP(buf_clean_up) struct buf below = {0};
        const struct tree_entry *entry = &entries.items[i];
        buf_printf(&below, "%s/%.*s", path, (int)entry->name.size, entry->name.data);
        if (entry->placeholder)
            continue;
        if (entry->directory)
            check_sample_add_declared(sampler, buf_text(&below));
        else if (!span_is(entry->name, "README"))
            check_sample_add_path_it(sampler, buf_text(&below));
    }
    if (entries.failed)
        check_sample_report_memory(sampler);
    entries_clean_up(&entries);
    place_destroy(place);
}

static void check_sample_read_all(struct check_sample *sampler)
{
    const struct map *map = sampler->app->map;
    for (size_t i = 0; i < map->model_count; i++) {
        bool known;
        struct sample_check *sample = check_sample_of(sampler, map->models[i], &known);
        if (sample)
            sample_check_expect(sample, NULL);
        else
            check_sample_report_memory(sampler);
    }
}

/* The table of which kinds are printed. */
struct kind_printer {
    const struct check_sample_printer *printer;
    const struct model *table;
};

static void check_sample_print_kind(void *arg, const struct map_kind *kind, size_t items)
{
    const struct kind_printer *kinds = arg;
    kinds->printer->kind(kinds->printer->arg, kinds->table, kind, items);
}

static void check_sample_report(struct check_sample *sampler)
{
    const struct map *map = sampler->app->map;
    const struct check_sample_printer *printer = &sampler->printer;
    for (size_t i = 0; i < map->model_count; i++)
        if (sampler->samples[i])
            sample_check_each_kind(sampler->samples[i], check_sample_print_kind,
                                   &(struct kind_printer){printer, map->models[i]});
    for (size_t i = 0; i < map->model_count; i++)
        if (sampler->samples[i] &&
            !sample_check_report(sampler->samples[i], printer->report, printer->arg))
            check_sample_report_memory(sampler);
}

void check_sample_run(struct check_sample *sampler)
{
    bool json = sampler->app->options->json;
    size_t paths = sampler->path_count;
    if (json)
        printf("{\"paths\":%zu,\"records_a_path\":%u,\"requests_at_most\":%zu}\n", paths,
               sampler->peek.most, 2 * paths);
    else
        printf("reading of %zu path%s up to %u record%s each: at most %zu requests\n", paths,
               paths == 1 ? "" : "s", sampler->peek.most, sampler->peek.most == 1 ? "" : "s",
               2 * paths);
    if (sampler->left_out && !json)
        printf("the map tells more paths than these; name them to read them\n");
    if (paths == 0 && !json)
        printf("no path of the map can be listed without a value; name paths behind the map, as in "
               "ddbfs check --sample MAP /ENVIRONMENT/TABLE/…\n");
    fflush(stdout);
    if (!sampler->named)
        check_sample_read_all(sampler);
    for (size_t i = 0; i < paths; i++)
        sample_reader_path(&sampler->peek, sampler->paths[i], sampler->named);
    CLEAN_UP(buf_clean_up) struct buf spent = {0};
    if (json)
        spent_write_json(&sampler->peek.spent, "capacity", &spent);
    else
        spent_write(&sampler->peek.spent, &spent);
    if (json)
        printf("{\"records\":%u,\"requests\":%u,%s}\n", sampler->peek.records,
               sampler->peek.requests, buf_text(&spent));
    else
        printf("%u record%s read: %u request%s, %s\n", sampler->peek.records,
               sampler->peek.records == 1 ? " was" : "s were", sampler->peek.requests,
               sampler->peek.requests == 1 ? "" : "s", buf_text(&spent));
    check_sample_report(sampler);
}
