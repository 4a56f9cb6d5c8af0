/* ddbfs diff [--json] [--ignore ATTRIBUTE]... A B: compares two items, two directories with all
 * that they list, or two tables. */
#include <stdio.h>
#include <stdlib.h>

#include "core/read/fetch.h"
#include "core/read/file.h"
#include "core/read/resolve.h"
#include "fs/cli/diff/diff_directories.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/together_paths.h"

enum { DIFF_EQUAL, DIFF_DIFFERENT, DIFF_TROUBLE }; /* exit statuses of diff(1) */

/* Two paths to compare. */
struct diff_task {
    struct diff_task *next;
    const char *before, *now; /* in the arena, or of the command line */
    bool listed;              /* found in two directories */
};

struct diff_work {
    struct app *app;
    struct diff_print print;
    struct arena arena;              /* owns tasks and their paths */
    const struct diff_task *current; /* compares two directories */
    struct diff_task *first;         /* the next task */
    struct diff_task **last;         /* where the next pair of the current directories goes */
};

static void diff_report_memory(struct diff_work *work)
{
    struct error why;
    error_no_memory(&why);
    app_report_error(work->app, NULL, &why);
}

/* Adds a task behind those of the same directories, before all others. */
static void diff_add_task(struct diff_work *work, const char *before, const char *now, bool listed)
{
    struct diff_task *task = arena_alloc(&work->arena, sizeof *task);
    if (!task || !before || !now) {
        diff_report_memory(work);
        return;
    }
    *task = (struct diff_task){*work->last, before, now, listed};
    *work->last = task;
    work->last = &task->next;
}

static const char *diff_store_path(struct diff_work *work, const char *folder, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    diff_print_add_path(&path, folder, name);
    return path.failed ? NULL : arena_text(&work->arena, buf_span(&path));
}

/* One of the two files. */
struct diff_fetch {
    struct app *app;
    const char *path;
    struct place *place; /* owned */
    bool waiting;
    struct buf text; /* of an item: its typed JSON */
    bool secret;
    struct error why;
};

static void diff_fetch_clean_up(struct diff_fetch *fetch)
{
    place_destroy(fetch->place);
    buf_clean_up_secret(&fetch->text);
}

static void diff_take_text(struct diff_fetch *fetch, struct span text, const struct error *err)
{
    fetch->waiting = false;
    if (err)
        fetch->why = *err;
    else
        buf_add_span(&fetch->text, text);
    if (fetch->text.failed)
        error_no_memory(&fetch->why);
    loop_stop(fetch->app->loop);
}

static void diff_take_item(void *arg, struct record *record, const struct tree_found *found,
                           int64_t ttl_left_ms, const struct error *err)
{
    (void)found, (void)ttl_left_ms;
    diff_take_text(arg, record ? record_typed(record) : span_text(""), err);
}

static void diff_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct diff_fetch *fetch = arg;
    fetch->secret = file && file->secret;
    diff_take_text(arg, file ? file->bytes : span_text(""), err);
}

static void diff_start(struct diff_fetch *fetch, bool as_item)
{
    const struct tree *tree = &fetch->app->tree;
    fetch->waiting = as_item ? fetch_start(tree, fetch->place, diff_take_item, fetch) != NULL
                             : tree_read(tree, fetch->place, diff_take_file, fetch) != NULL;
    if (!fetch->waiting)
        error_no_memory(&fetch->why);
}

/* False after a message. */
static bool diff_fetch_both(struct diff_work *work, struct diff_fetch *before,
                            struct diff_fetch *now, bool as_items)
{
    diff_start(before, as_items);
    diff_start(now, as_items);
    while (before->waiting || now->waiting)
        loop_run(work->app->loop);
    if (before->why.kind != ERROR_NONE)
        app_report_error(work->app, before->path, &before->why);
    if (now->why.kind != ERROR_NONE)
        app_report_error(work->app, now->path, &now->why);
    return before->why.kind == ERROR_NONE && now->why.kind == ERROR_NONE;
}

/* A version is compared as the item at its moment, so that a change of a secret is noticed. A
 * deletion stays an empty file. False after a message. */
static bool diff_take_version(struct diff_work *work, struct diff_fetch *fetch)
{
    struct place *version = fetch->place;
    if (version->kind != PLACE_VERSION || version->companion == COMPANION_INFO)
        return true;
    diff_start(fetch, false);
    while (fetch->waiting)
        loop_run(work->app->loop);
    if (fetch->why.kind != ERROR_NONE) {
        app_report_error(work->app, fetch->path, &fetch->why);
        return false;
    }
    if (fetch->text.size == 0)
        return true;
    buf_truncate(&fetch->text, 0);
    fetch->place = place_copy_at(version, version->at_ms, version->companion);
    place_destroy(version);
    if (!fetch->place)
        diff_report_memory(work);
    return fetch->place;
}

/* Whether two places are compared as items, and not as texts. */
static bool diff_are_items(const struct place *before, const struct place *now)
{
    return before->kind == now->kind &&
           (before->kind == PLACE_RECORD || before->kind == PLACE_TYPED);
}

static void diff_print_both(struct diff_work *work, struct diff_fetch *before,
                            struct diff_fetch *now, bool listed)
{
    const struct place *a_place = before->place, *b_place = now->place;
    bool schemas = a_place->kind == PLACE_FACT && a_place->fact == FACT_SCHEMA &&
                   b_place->kind == PLACE_FACT && b_place->fact == FACT_SCHEMA;
    struct span a = buf_span(&before->text), b = buf_span(&now->text);
    struct diff_print_file one_file = {before->path, a, before->secret};
    struct diff_print_file other_file = {now->path, b, now->secret};
    if (diff_are_items(a_place, b_place)) {
        bool typed = a_place->kind == PLACE_TYPED;
        struct diff_print_item one = {before->path, a_place->table, a, typed};
        struct diff_print_item other = {now->path, b_place->table, b, typed};
        diff_print_items(&work->print, &one, &other, listed);
    } else if (a_place->kind == PLACE_ATTR && (before->secret || now->secret) &&
               !work->app->options->show_secrets) {
        diff_print_report_mask(&work->print, before->path);
    } else if (schemas) {
        diff_print_descriptions(&work->print, &one_file, &other_file, listed);
    } else {
        diff_print_files(&work->print, &one_file, &other_file, listed);
    }
}

static void diff_compare_files(struct diff_work *work, const struct diff_task *task,
                               struct diff_fetch *before, struct diff_fetch *now)
{
    if (!diff_take_version(work, before) || !diff_take_version(work, now))
        return;
    if (diff_fetch_both(work, before, now, diff_are_items(before->place, now->place)))
        diff_print_both(work, before, now, task->listed);
}

/* NULL after a message. */
static struct place *diff_find(struct diff_work *work, const char *path)
{
    struct error why;
    struct place *place = app_resolve_through(work->app, path, &why);
    if (!place)
        app_report_error(work->app, path, &why);
    return place;
}

/* Whether PLACE is the directory of a whole table. */
static bool diff_is_table(const struct place *place)
{
    return place->kind == PLACE_DIRECTORY && !place->route->parent;
}

/* The place of schema.json for the table at PLACE, which may be one of the map. Borrows both. */
static struct place diff_schema_of(const struct place *place, const char *table_name)
{
    struct place schema = *place;
    schema.kind = PLACE_FACT;
    schema.fact = FACT_SCHEMA;
    schema.table_name = table_name;
    return schema;
}

static void diff_free_text(char **text)
{
    free(*text);
}

static void diff_compare_descriptions(struct diff_work *work, const struct diff_task *task,
                                      const struct place *before, const struct place *now)
{
    CLEAN_UP(diff_free_text) char *one_name = place_table_name(before);
    CLEAN_UP(diff_free_text) char *other_name = place_table_name(now);
    struct place one_schema = diff_schema_of(before, one_name),
                 other_schema = diff_schema_of(now, other_name);
    struct diff_fetch one = {.app = work->app, .path = task->before, .place = &one_schema};
    struct diff_fetch other = {.app = work->app, .path = task->now, .place = &other_schema};
    if (!one_name || !other_name) {
        diff_report_memory(work);
    } else if (diff_fetch_both(work, &one, &other, false)) {
        struct diff_print_file first = {task->before, buf_span(&one.text), false};
        struct diff_print_file second = {task->now, buf_span(&other.text), false};
        diff_print_descriptions(&work->print, &first, &second, true);
    }
    buf_clean_up(&one.text);
    buf_clean_up(&other.text);
}

/* Entries of both directories are compared next. */
static void diff_take_pair(void *arg, struct span name)
{
    struct diff_work *work = arg;
    const struct diff_task *task = work->current;
    diff_add_task(work, diff_store_path(work, task->before, name),
                  diff_store_path(work, task->now, name), true);
}

/* Its bytes are no lines. */
static bool diff_check_form(const struct diff_fetch *fetch, struct error *err)
{
    return fetch->place->companion != COMPANION_SQLITE ||
           error_set(
               err, ERROR_INVALID,
               "is an SQLite database, which has no lines to compare; compare …@jsonl, or the "
               "directories");
}

static void diff_compare_task(struct diff_work *work, const struct diff_task *task)
{
    struct error why;
    CLEAN_UP(diff_fetch_clean_up)
    struct diff_fetch before = {.app = work->app, .path = task->before}, now = before;
    now.path = task->now;
    before.place = diff_find(work, task->before);
    now.place = diff_find(work, task->now);
    if (!before.place || !now.place)
        return;
    const char *wrong = !diff_check_form(&before, &why) ? task->before
                        : !diff_check_form(&now, &why)  ? task->now
                                                        : NULL;
    if (wrong) {
        app_report_error(work->app, wrong, &why);
        return;
    }
    bool first = place_is_directory(before.place), second = place_is_directory(now.place);
    if (first != second) {
        error_set(&why, ERROR_INVALID,
                  "is a directory, and %s is a file; name two directories, or two files",
                  first ? task->now : task->before);
        app_report_error(work->app, first ? task->before : task->now, &why);
        return;
    }
    if (first && diff_is_table(before.place) && diff_is_table(now.place))
        diff_compare_descriptions(work, task, before.place, now.place);
    if (!first) {
        diff_compare_files(work, task, &before, &now);
        return;
    }
    struct diff_directory one = {task->before, before.place}, other = {task->now, now.place};
    work->current = task;
    bool any = diff_directories_compare(&work->print, &one, &other, diff_take_pair, work);
    if (!any && !task->listed)
        log_line(&work->app->log, LOG_LEVEL_WARNING,
                 "nothing was compared: neither %s nor %s has an entry", task->before, task->now);
}

/* The item, or the file that it makes. False after a message. */
static bool diff_take_together(struct diff_fetch *fetch, struct together_item *item, bool as_item)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    static const struct tree_found unknown = {.units = -1};
    struct tree_file file;
    const struct tree *tree = &fetch->app->tree;
    if (item->record && as_item)
        diff_take_item(fetch, item->record, &unknown, 0, NULL);
    else if (item->record &&
             file_make(tree, item->place, item->record, &unknown, NULL, &bytes, &file, &fetch->why))
        diff_take_file(fetch, &file, NULL);
    else if (!item->record)
        fetch->why = item->why;
    if (fetch->why.kind != ERROR_NONE)
        app_report_error(fetch->app, fetch->path, &fetch->why);
    return fetch->why.kind == ERROR_NONE;
}

/* Compares two items as they are at one moment. */
static void diff_compare_together(struct diff_work *work, char **paths)
{
    struct together_paths found;
    struct diff_fetch before = {.app = work->app, .path = paths[0]}, now = before;
    now.path = paths[1];
    if (together_paths_find(&found, work->app, paths, 2, true) && together_paths_read(&found)) {
        before.place = found.places[0];
        now.place = found.places[1];
        bool items = diff_are_items(before.place, now.place);
        bool has_first = diff_take_together(&before, &found.items[0], items);
        if (diff_take_together(&now, &found.items[1], items) && has_first)
            diff_print_both(work, &before, &now, false);
    }
    together_paths_clean_up(&found);
    buf_clean_up_secret(&before.text);
    buf_clean_up_secret(&now.text);
}

static int diff_compare_all(struct app *app, char **paths)
{
    struct diff_work work = {.app = app, .print = {.app = app}};
    app_show_progress(app);
    work.last = &work.first;
    if (app->options->together)
        diff_compare_together(&work, paths);
    else
        diff_add_task(&work, paths[0], paths[1], false);
    while (work.first && !ferror(stdout)) {
        const struct diff_task *task = work.first;
        work.first = task->next;
        work.last = &work.first;
        diff_compare_task(&work, task);
    }
    diff_print_end(&work.print);
    arena_clean_up(&work.arena);
    return app->status != EXIT_SUCCESS ? DIFF_TROUBLE
           : work.print.count > 0      ? DIFF_DIFFERENT
                                       : DIFF_EQUAL;
}

int diff_command(const struct options *options, int argc, char **argv)
{
    struct app app;
    if (argc != 2)
        return app_usage("diff needs two paths", "diff");
    int status = DIFF_TROUBLE;
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    if (mounted_paths_take(&mounted, argv, argc)) {
        if (app_init_any(&app, &mounted.options, COMMAND_CACHE_BYTES) && app_open_snapshots(&app))
            status = diff_compare_all(&app, argv);
        app_clean_up(&app);
        if (app.status != EXIT_SUCCESS)
            status = DIFF_TROUBLE;
    }
    mounted_paths_clean_up(&mounted);
    return fflush(stdout) == 0 && !ferror(stdout) ? status : DIFF_TROUBLE;
}
