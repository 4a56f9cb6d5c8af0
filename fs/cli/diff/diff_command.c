/* ddbfs diff [--json] [--ignore ATTRIBUTE]... A B: in what two records differ, two directories with
 * all that can be listed in them, or two tables. */
#include <stdio.h>
#include <stdlib.h>

#include "core/read/fetch.h"
#include "core/read/resolve.h"
#include "fs/cli/diff/diff_directories.h"
#include "fs/cli/diff/diff_print.h"
#include "fs/cli/mounted_paths.h"

enum { STATUS_SAME, STATUS_DIFFERENT, STATUS_TROUBLE };

/* Two paths that are still to be compared. */
struct diff_task {
    struct diff_task *next;
    const char *before, *now; /* in the work's arena, or the user's */
    bool listed;              /* they were found in two directories */
};

struct work {
    struct app *app;
    struct diff_print contrast;
    struct arena arena;           /* owns tasks and their paths */
    const struct diff_task *task; /* in hand, of two directories */
    struct diff_task *first;      /* the next task */
    struct diff_task **last;      /* where the next one found in the directory in hand goes */
};

static void diff_report_memory(struct work *work)
{
    struct error why;
    error_no_memory(&why);
    app_report_error(work->app, NULL, &why);
}

/* Behind those that were found in the same directory, before all others. */
static void diff_add_task(struct work *work, const char *before, const char *now, bool listed)
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

static const char *diff_store_path(struct work *work, const char *folder, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    diff_print_add_path(&path, folder, name);
    return path.failed ? NULL : arena_text(&work->arena, buf_span(&path));
}

/* One of two files on its way. */
struct fetched {
    struct app *app;
    const char *path;
    struct place *place; /* owned */
    bool waiting;
    struct buf text; /* of a record: its typed JSON */
    bool secret;
    struct error why;
};

static void diff_fetched_clean_up(struct fetched *fetched)
{
    place_destroy(fetched->place);
    buf_clean_up_secret(&fetched->text);
}

static void diff_arrive(struct fetched *fetched, struct span text, const struct error *err)
{
    fetched->waiting = false;
    if (err)
        fetched->why = *err;
    else
        buf_add_span(&fetched->text, text);
    if (fetched->text.failed)
        error_no_memory(&fetched->why);
    loop_stop(fetched->app->loop);
}

static void diff_take_record(void *arg, struct record *record, double found_units,
                             int64_t ttl_left_ms, const struct error *err)
{
    (void)found_units, (void)ttl_left_ms;
    diff_arrive(arg, record ? record_typed(record) : span_text(""), err);
}

static void diff_take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct fetched *fetched = arg;
    fetched->secret = file && file->secret && !fetched->app->options->show_secrets;
    diff_arrive(arg, file ? file->bytes : span_text(""), err);
}

static bool diff_is_record(const struct place *place)
{
    return place->kind == PLACE_RECORD || place->kind == PLACE_TYPED;
}

static bool diff_is_schema(const struct place *place)
{
    return place->kind == PLACE_FACT && place->fact == FACT_SCHEMA;
}

static void diff_start(struct fetched *fetched, bool as_record)
{
    const struct tree *tree = &fetched->app->tree;
    fetched->waiting = as_record
                           ? fetch_start(tree, fetched->place, diff_take_record, fetched) != NULL
                           : tree_read(tree, fetched->place, diff_take_file, fetched) != NULL;
    if (!fetched->waiting)
        error_no_memory(&fetched->why);
}

/* Whether both came; else it has been said why not. */
static bool diff_fetch_both(struct work *work, struct fetched *before, struct fetched *now,
                            bool records)
{
    diff_start(before, records);
    diff_start(now, records);
    while (before->waiting || now->waiting)
        loop_run(work->app->loop);
    if (before->why.kind != ERROR_NONE)
        app_report_error(work->app, before->path, &before->why);
    if (now->why.kind != ERROR_NONE)
        app_report_error(work->app, now->path, &now->why);
    return before->why.kind == ERROR_NONE && now->why.kind == ERROR_NONE;
}

static void diff_compare_files(struct work *work, const struct diff_task *task,
                               struct fetched *before, struct fetched *now)
{
    bool records = before->place->kind == now->place->kind && diff_is_record(before->place);
    if (!diff_fetch_both(work, before, now, records))
        return;
    struct span a = buf_span(&before->text), b = buf_span(&now->text);
    struct diff_print_file one_file = {task->before, a, before->secret};
    struct diff_print_file other_file = {task->now, b, now->secret};
    if (records) {
        bool typed = before->place->kind == PLACE_TYPED;
        struct diff_print_record one = {task->before, before->place->table, a, typed};
        struct diff_print_record other = {task->now, now->place->table, b, typed};
        diff_print_records(&work->contrast, &one, &other, task->listed);
    } else if (before->place->kind == PLACE_ATTR && (before->secret || now->secret)) {
        diff_print_report_mask(&work->contrast, before->path);
    } else if (diff_is_schema(before->place) && diff_is_schema(now->place)) {
        diff_print_descriptions(&work->contrast, &one_file, &other_file, task->listed);
    } else {
        diff_print_files(&work->contrast, &one_file, &other_file, task->listed);
    }
}

/* What PATH means; NULL after a message. */
static struct place *diff_find(struct work *work, const char *path)
{
    struct error why;
    struct place *place = app_resolve_through(work->app, path, &why);
    if (!place)
        app_report_error(work->app, path, &why);
    return place;
}

/* The directory of one whole table. */
static bool diff_is_table(const struct place *place)
{
    return place->kind == PLACE_DIRECTORY && !place->route->parent;
}

/* The file that tells how the table at PLACE is described, be it one of the map. Borrows both. */
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

static void diff_compare_descriptions(struct work *work, const struct diff_task *task,
                                      const struct place *before, const struct place *now)
{
    CLEAN_UP(diff_free_text) char *one_name = place_table_name(before);
    CLEAN_UP(diff_free_text) char *other_name = place_table_name(now);
    struct place one_schema = diff_schema_of(before, one_name),
                 other_schema = diff_schema_of(now, other_name);
    struct fetched one = {.app = work->app, .path = task->before, .place = &one_schema};
    struct fetched other = {.app = work->app, .path = task->now, .place = &other_schema};
    if (!one_name || !other_name) {
        diff_report_memory(work);
    } else if (diff_fetch_both(work, &one, &other, false)) {
        struct diff_print_file first = {task->before, buf_span(&one.text), false};
        struct diff_print_file second = {task->now, buf_span(&other.text), false};
        diff_print_descriptions(&work->contrast, &first, &second, true);
    }
    buf_clean_up(&one.text);
    buf_clean_up(&other.text);
}

static void diff_refuse_kinds(struct work *work, const struct diff_task *task, bool first)
{
    struct error why;
    error_set(&why, ERROR_INVALID, "is a directory, and %s is none; name two of a kind",
              first ? task->now : task->before);
    app_report_error(work->app, first ? task->before : task->now, &why);
}

/* What two directories have in common is compared next. */
static void diff_take_pair(void *arg, struct span name)
{
    struct work *work = arg;
    const struct diff_task *task = work->task;
    diff_add_task(work, diff_store_path(work, task->before, name),
                  diff_store_path(work, task->now, name), true);
}

static void diff_compare_folders(struct work *work, const struct diff_task *task,
                                 const struct place *before, const struct place *now)
{
    struct folder one = {task->before, before}, other = {task->now, now};
    work->task = task;
    bool any = diff_directories_compare(&work->contrast, &one, &other, diff_take_pair, work);
    if (!any && !task->listed)
        log_line(&work->app->log, LOG_LEVEL_WARNING,
                 "nothing was compared: neither %s nor %s lists anything", task->before, task->now);
}

static void diff_compare_task(struct work *work, const struct diff_task *task)
{
    CLEAN_UP(diff_fetched_clean_up)
    struct fetched before = {.app = work->app, .path = task->before}, now = before;
    now.path = task->now;
    before.place = diff_find(work, task->before);
    now.place = diff_find(work, task->now);
    if (!before.place || !now.place)
        return;
    bool first = place_is_directory(before.place), second = place_is_directory(now.place);
    if (first != second) {
        diff_refuse_kinds(work, task, first);
        return;
    }
    if (first && diff_is_table(before.place) && diff_is_table(now.place))
        diff_compare_descriptions(work, task, before.place, now.place);
    if (first)
        diff_compare_folders(work, task, before.place, now.place);
    else
        diff_compare_files(work, task, &before, &now);
}

static int diff_compare_all(struct app *app, const char *before, const char *now)
{
    struct work work = {.app = app, .contrast = {.app = app}};
    app_show_progress(app);
    work.last = &work.first;
    diff_add_task(&work, before, now, false);
    while (work.first && !ferror(stdout)) {
        const struct diff_task *task = work.first;
        work.first = task->next;
        work.last = &work.first;
        diff_compare_task(&work, task);
    }
    arena_clean_up(&work.arena);
    return app->status != EXIT_SUCCESS ? STATUS_TROUBLE
           : work.contrast.said > 0    ? STATUS_DIFFERENT
                                       : STATUS_SAME;
}

int diff_command(const struct options *options, int argc, char **argv)
{
    struct app app;
    if (argc != 2)
        return app_usage("diff needs two paths", "diff");
    int status = STATUS_TROUBLE;
    struct mounted_paths mounted;
    mounted_paths_init(&mounted, options);
    if (mounted_paths_take(&mounted, argv, argc)) {
        if (app_init_any(&app, &mounted.options, COMMAND_CACHE_BYTES))
            status = diff_compare_all(&app, argv[0], argv[1]);
        app_clean_up(&app);
    }
    mounted_paths_clean_up(&mounted);
    return fflush(stdout) == 0 && !ferror(stdout) ? status : STATUS_TROUBLE;
}
