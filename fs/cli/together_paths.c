#include "fs/cli/together_paths.h"

#include <stdlib.h>

#include "core/read/resolve.h"
#include "fs/cli/live_mount.h"

/* A path on its way to its place. */
struct together_resolution {
    struct together_paths *found;
    struct error why; /* with a kind: there is no place */
};

static void together_paths_arrive(struct together_paths *found)
{
    if (--found->pending == 0)
        loop_stop(found->app->loop);
}

static void together_paths_take_place(void *arg, struct place *place, const struct error *err)
{
    struct together_resolution *resolution = arg;
    struct together_paths *found = resolution->found;
    size_t i = (size_t)(resolution - found->resolutions);
    found->places[i] = place;
    found->items[i].place = place;
    if (err)
        resolution->why = *err;
    together_paths_arrive(found);
}

static bool together_paths_allocate(struct together_paths *found, size_t count)
{
    found->items = calloc(count, sizeof *found->items);
    found->places = calloc(count, sizeof *found->places);
    found->resolutions = calloc(count, sizeof *found->resolutions);
    return found->items && found->places && found->resolutions;
}

/* False when memory ran out. */
static bool together_paths_resolve(struct together_paths *found, bool follows)
{
    const struct tree *tree = &found->app->tree;
    bool ok = true;
    for (size_t i = 0; ok && i < found->count; i++) {
        struct together_resolution *resolution = &found->resolutions[i];
        resolution->found = found;
        ok = (follows ? tree_resolve_through : tree_resolve)(
            tree, NULL, span_text(found->items[i].path), together_paths_take_place, resolution);
        found->pending += ok;
    }
    while (found->pending > 0 && loop_run(found->app->loop)) { /* until all have arrived */
    }
    return ok && found->pending == 0;
}

void together_paths_report(const struct together_paths *found, const struct error *err)
{
    bool has_path = err->part > 0 && err->part <= found->count;
    app_report_error(found->app, has_path ? found->items[err->part - 1].path : NULL, err);
}

bool together_paths_find(struct together_paths *found, struct app *app, char **paths, size_t count,
                         bool follows)
{
    struct error why;
    bool all = true;
    *found = (struct together_paths){.app = app, .count = count};
    bool ok = together_paths_allocate(found, count);
    for (size_t i = 0; ok && i < count; i++)
        found->items[i].path = paths[i];
    if (!ok || !together_paths_resolve(found, follows)) {
        error_no_memory(&why);
        together_paths_report(found, &why);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (found->places[i])
            continue;
        app_hint(app, paths[i], &found->resolutions[i].why);
        app_report_error(app, paths[i], &found->resolutions[i].why);
        all = false;
    }
    if (!all || together_check(&app->tree, found->items, count, &why))
        return all;
    together_paths_report(found, &why);
    return false;
}

static void together_paths_take_items(void *arg, const struct error *err)
{
    struct together_paths *found = arg;
    if (err)
        found->why = *err;
    together_paths_arrive(found);
}

bool together_paths_read(struct together_paths *found)
{
    struct app *app = found->app;
    for (size_t i = 0; i < found->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf note = {0};
        if (together_note(found->items[i].place, &note))
            app_note(app, LOG_LEVEL_INFO, found->items[i].path, buf_text(&note));
    }
    found->pending = 1;
    if (!together_start(&app->tree, found->items, found->count, together_paths_take_items, found))
        error_no_memory(&found->why);
    else
        while (found->pending > 0 && loop_run(app->loop)) { /* until the items have arrived */
        }
    if (found->why.kind == ERROR_NONE)
        return true;
    together_paths_report(found, &found->why);
    return false;
}

void together_paths_clean_up(struct together_paths *found)
{
    for (size_t i = 0; found->items && i < found->count; i++)
        record_unref(found->items[i].record);
    for (size_t i = 0; found->places && i < found->count; i++)
        place_destroy(found->places[i]);
    free(found->items);
    free(found->places);
    free(found->resolutions);
    *found = (struct together_paths){0};
}

int together_paths_check(const struct options *options, int count, const char *command)
{
    char text[200];
    if (options->where || options->limit > 0)
        return app_usage("--together reads items, and --where and --limit are for listings; leave "
                         "one out",
                         command);
    if (count <= TOGETHER_MOST)
        return EXIT_SUCCESS;
    snprintf(text, sizeof text,
             "--together reads at most %d items, and %d paths are named; read fewer: another "
             "request has another moment",
             TOGETHER_MOST, count);
    return app_usage(text, command);
}

int together_paths_command(const struct options *options, char **paths, int count, bool follows,
                           together_paths_fn *fn)
{
    struct app app;
    struct together_paths found = {0};
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    if (!mounted_paths_take(&mounted, paths, count)) {
        mounted_paths_clean_up(&mounted);
        return EXIT_FAILURE;
    }
    bool ready =
        app_init_any(&app, &mounted.options, COMMAND_CACHE_BYTES) && app_open_snapshots(&app);
    if (!ready) {
        app.status = EXIT_FAILURE;
    } else {
        app_show_progress(&app);
        if (together_paths_find(&found, &app, paths, (size_t)count, follows))
            fn(&found);
        together_paths_clean_up(&found);
    }
    app_clean_up(&app);
    mounted_paths_clean_up(&mounted);
    return app.status;
}
