/* ddbfs diff [--json] [--ignore ATTRIBUTE]... A B: in what two records differ, two directories with
 * all that can be listed in them, or two tables. */
#include <stdio.h>
#include <stdlib.h>

#include "core/tree/fetch.h"
#include "core/tree/resolve.h"
#include "fs/cli/contrast.h"
#include "fs/cli/folders.h"
#include "fs/cli/mounted.h"

enum { STATUS_SAME, STATUS_DIFFERENT, STATUS_TROUBLE };

/* Two paths that are still to be compared. */
struct task {
    struct task *next;
    const char *before, *now; /* in the work's arena, or the user's */
    bool listed;              /* they were found in two directories */
};

struct work {
    struct app *app;
    struct contrast contrast;
    struct arena arena;      /* owns tasks and their paths */
    const struct task *task; /* in hand, of two directories */
    struct task *first;      /* the next task */
    struct task **last;      /* where the next one found in the directory in hand goes */
};

static void complain_of_memory(struct work *work)
{
    struct error why;
    error_no_memory(&why);
    app_complain(work->app, NULL, &why);
}

/* Behind those that were found in the same directory, before all others. */
static void add_task(struct work *work, const char *before, const char *now, bool listed)
{
    struct task *task = arena_alloc(&work->arena, sizeof *task);
    if (!task || !before || !now) {
        complain_of_memory(work);
        return;
    }
    *task = (struct task){*work->last, before, now, listed};
    *work->last = task;
    work->last = &task->next;
}

static const char *keep_path(struct work *work, const char *folder, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    contrast_add_path(&path, folder, name);
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

static void fetched_clean_up(struct fetched *fetched)
{
    place_destroy(fetched->place);
    buf_clean_up_secret(&fetched->text);
}

static void arrive(struct fetched *fetched, struct span text, const struct error *err)
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

static void take_record(void *arg, struct record *record, double found_units, int64_t ttl_left_ms,
                        const struct error *err)
{
    (void)found_units, (void)ttl_left_ms;
    arrive(arg, record ? record_typed(record) : span_text(""), err);
}

static void take_file(void *arg, const struct tree_file *file, const struct error *err)
{
    struct fetched *fetched = arg;
    fetched->secret = file && file->secret && !fetched->app->options->show_secrets;
    arrive(arg, file ? file->bytes : span_text(""), err);
}

static bool is_record(const struct place *place)
{
    return place->kind == PLACE_RECORD || place->kind == PLACE_TYPED;
}

static bool is_schema(const struct place *place)
{
    return place->kind == PLACE_FACT && place->fact == FACT_SCHEMA;
}

static void start(struct fetched *fetched, bool as_record)
{
    const struct tree *tree = &fetched->app->tree;
    fetched->waiting = as_record ? fetch_start(tree, fetched->place, take_record, fetched) != NULL
                                 : tree_read(tree, fetched->place, take_file, fetched) != NULL;
    if (!fetched->waiting)
        error_no_memory(&fetched->why);
}

/* Whether both came; else it has been said why not. */
static bool fetch_both(struct work *work, struct fetched *before, struct fetched *now, bool records)
{
    start(before, records);
    start(now, records);
    while (before->waiting || now->waiting)
        loop_run(work->app->loop);
    if (before->why.kind != ERROR_NONE)
        app_complain(work->app, before->path, &before->why);
    if (now->why.kind != ERROR_NONE)
        app_complain(work->app, now->path, &now->why);
    return before->why.kind == ERROR_NONE && now->why.kind == ERROR_NONE;
}

static void compare_files(struct work *work, const struct task *task, struct fetched *before,
                          struct fetched *now)
{
    bool records = before->place->kind == now->place->kind && is_record(before->place);
    if (!fetch_both(work, before, now, records))
        return;
    struct span a = buf_span(&before->text), b = buf_span(&now->text);
    struct contrast_file one_file = {task->before, a, before->secret};
    struct contrast_file other_file = {task->now, b, now->secret};
    if (records) {
        bool typed = before->place->kind == PLACE_TYPED;
        struct contrast_record one = {task->before, before->place->table, a, typed};
        struct contrast_record other = {task->now, now->place->table, b, typed};
        contrast_records(&work->contrast, &one, &other, task->listed);
    } else if (before->place->kind == PLACE_ATTR && (before->secret || now->secret)) {
        contrast_complain_of_mask(&work->contrast, before->path);
    } else if (is_schema(before->place) && is_schema(now->place)) {
        contrast_descriptions(&work->contrast, &one_file, &other_file, task->listed);
    } else {
        contrast_files(&work->contrast, &one_file, &other_file, task->listed);
    }
}

/* What PATH means; NULL after a message. */
static struct place *find(struct work *work, const char *path)
{
    struct error why;
    struct place *place = app_resolve_through(work->app, path, &why);
    if (!place)
        app_complain(work->app, path, &why);
    return place;
}

/* The directory of one whole table. */
static bool is_table(const struct place *place)
{
    return place->kind == PLACE_DIRECTORY && !place->route->parent;
}

/* The file that tells how the table at PLACE is described, be it one of the map. Borrows both. */
static struct place schema_of(const struct place *place, const char *table_name)
{
    struct place schema = *place;
    schema.kind = PLACE_FACT;
    schema.fact = FACT_SCHEMA;
    schema.table_name = table_name;
    return schema;
}

static void free_text(char **text)
{
    free(*text);
}

static void compare_descriptions(struct work *work, const struct task *task,
                                 const struct place *before, const struct place *now)
{
    CLEAN_UP(free_text) char *one_name = place_table_name(before);
    CLEAN_UP(free_text) char *other_name = place_table_name(now);
    struct place one_schema = schema_of(before, one_name),
                 other_schema = schema_of(now, other_name);
    struct fetched one = {.app = work->app, .path = task->before, .place = &one_schema};
    struct fetched other = {.app = work->app, .path = task->now, .place = &other_schema};
    if (!one_name || !other_name) {
        complain_of_memory(work);
    } else if (fetch_both(work, &one, &other, false)) {
        struct contrast_file first = {task->before, buf_span(&one.text), false};
        struct contrast_file second = {task->now, buf_span(&other.text), false};
        contrast_descriptions(&work->contrast, &first, &second, true);
    }
    buf_clean_up(&one.text);
    buf_clean_up(&other.text);
}

static void refuse_kinds(struct work *work, const struct task *task, bool first)
{
    struct error why;
    error_set(&why, ERROR_INVALID, "is a directory, and %s is none; name two of a kind",
              first ? task->now : task->before);
    app_complain(work->app, first ? task->before : task->now, &why);
}

/* What two directories have in common is compared next. */
static void take_pair(void *arg, struct span name)
{
    struct work *work = arg;
    const struct task *task = work->task;
    add_task(work, keep_path(work, task->before, name), keep_path(work, task->now, name), true);
}

static void compare_folders(struct work *work, const struct task *task, const struct place *before,
                            const struct place *now)
{
    struct folder one = {task->before, before}, other = {task->now, now};
    work->task = task;
    bool any = folders_compare(&work->contrast, &one, &other, take_pair, work);
    if (!any && !task->listed)
        log_line(&work->app->log, LOG_LEVEL_WARNING,
                 "nothing was compared: neither %s nor %s lists anything", task->before, task->now);
}

static void compare_task(struct work *work, const struct task *task)
{
    CLEAN_UP(fetched_clean_up)
    struct fetched before = {.app = work->app, .path = task->before}, now = before;
    now.path = task->now;
    before.place = find(work, task->before);
    now.place = find(work, task->now);
    if (!before.place || !now.place)
        return;
    bool first = place_is_directory(before.place), second = place_is_directory(now.place);
    if (first != second) {
        refuse_kinds(work, task, first);
        return;
    }
    if (first && is_table(before.place) && is_table(now.place))
        compare_descriptions(work, task, before.place, now.place);
    if (first)
        compare_folders(work, task, before.place, now.place);
    else
        compare_files(work, task, &before, &now);
}

static int compare_all(struct app *app, const char *before, const char *now)
{
    struct work work = {.app = app, .contrast = {.app = app}};
    app_show_progress(app);
    work.last = &work.first;
    add_task(&work, before, now, false);
    while (work.first && !ferror(stdout)) {
        const struct task *task = work.first;
        work.first = task->next;
        work.last = &work.first;
        compare_task(&work, task);
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
    struct mounted mounted;
    mounted_init(&mounted, options);
    if (mounted_take(&mounted, argv, argc)) {
        if (app_init_any(&app, &mounted.options, COMMAND_CACHE_BYTES))
            status = compare_all(&app, argv[0], argv[1]);
        app_clean_up(&app);
    }
    mounted_clean_up(&mounted);
    return fflush(stdout) == 0 && !ferror(stdout) ? status : STATUS_TROUBLE;
}
