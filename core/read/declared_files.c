#include "core/read/declared_files.h"

#include <stdlib.h>

#include "core/read/fetch.h"
#include "core/read/file.h"
#include "core/read/resolve.h"

void declared_files_clean_up(struct declared_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        struct declared_file *file = &files->items[i];
        tree_cancel(file->call);
        pick_clean_up(&file->pick);
        place_destroy(file->place);
    }
    free(files->items);
    arena_clean_up(&files->arena);
    *files = (struct declared_files){0};
}

/* False with ERR filled when memory ran out. A file that can't exist stays without a plan. */
static bool declared_files_init_file(struct declared_file *file, const struct place *directory,
                                     const struct place_options *names, const struct plan *list,
                                     struct error *err)
{
    file->place = place_child(directory, file->name, names, err);
    if (file->place && fetch_is_needed(file->place) && !place_is_directory(file->place))
        file->plan = place_plan(file->place, err);
    if (!file->plan) {
        place_destroy(file->place);
        file->place = NULL;
        return err->kind != ERROR_NO_MEMORY;
    }
    file->covered = list && plan_covers(list, file->plan);
    file->pick.plan = file->plan;
    file->pick.backwards = file->covered && file->plan->query &&
                           file->plan->query->descending != list->query->descending;
    return true;
}

bool declared_files_init(struct declared_files *files, const struct place *place,
                         const struct place_options *names, const struct plan *list,
                         struct error *err)
{
    CLEAN_UP(entries_clean_up) struct entries declared = {0};
    struct place directory = *place; /* borrows all that PLACE owns */
    *files = (struct declared_files){0};
    if (place->kind == PLACE_LIST_INFO)
        directory.kind = PLACE_DIRECTORY;
    entries_add_files(&declared, &directory, names);
    if (declared.why.kind != ERROR_NONE) {
        *err = declared.why;
        return false;
    }
    files->items = calloc(declared.count + 1, sizeof *files->items);
    if (declared.failed || !files->items)
        return error_no_memory(err);
    for (size_t i = 0; i < declared.count; i++) {
        struct error why = {0};
        struct declared_file *file = &files->items[files->count];
        file->name = arena_copy(&files->arena, declared.items[i].name);
        if (files->arena.failed || !declared_files_init_file(file, &directory, names, list, &why))
            return error_no_memory(err);
        files->count += file->plan != NULL;
    }
    return true;
}

void declared_files_consider(struct declared_files *files, const struct key *key, struct json item,
                             const struct record_origin *origin)
{
    for (size_t i = 0; i < files->count; i++) {
        struct declared_file *file = &files->items[i];
        bool failed = false;
        if (!file->covered || file->failed.kind != ERROR_NONE || pick_is_done(&file->pick))
            continue;
        bool admitted = plan_admits(file->plan, key, item, &failed);
        if (failed)
            error_no_memory(&file->failed);
        else if (admitted)
            pick_consider(&file->pick, item, origin, &file->failed);
    }
}

bool declared_files_is_item(const struct declared_file *file)
{
    const struct plan *plan = file->plan;
    return plan->kind == PLAN_KEY && !plan->pattern->attribute &&
           (plan->pattern->filter_count == 0 || file->covered);
}

struct declared_file *declared_files_find(const struct declared_files *files, const struct key *key,
                                          struct json item)
{
    for (size_t i = 0; i < files->count; i++) {
        struct error ignored;
        struct declared_file *file = &files->items[i];
        const struct plan *plan = file->plan;
        if (declared_files_is_item(file) && key_compare(&plan->key, key) == 0 &&
            (plan->pattern->filter_count == 0 || plan_holds(plan, key, item, &ignored)))
            return file;
    }
    return NULL;
}

void declared_files_add_cost(const struct declared_files *files, struct cost *cost)
{
    for (size_t i = 0; i < files->count; i++)
        if (!files->items[i].covered)
            cost_add(cost, &files->items[i].plan->cost);
}

static void declared_files_take_file(void *arg, const struct tree_file *content,
                                     const struct error *err)
{
    struct declared_file *file = arg;
    struct declared_files *files = file->all;
    file->call = NULL;
    files->fn(files->arg, file->name, content, err);
    if (--files->under_way == 0)
        files->done(files->arg);
}

/* Reports a covered file from the item that the listing brought. */
static void declared_files_report_covered(struct declared_files *files, const struct tree *tree,
                                          struct declared_file *file)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    struct tree_file content;
    struct error why = file->failed;
    const struct plan *plan = file->plan;
    struct record *best = file->pick.best;
    bool exists =
        why.kind == ERROR_NONE && best &&
        (plan->kind != PLAN_KEY || plan_holds(plan, &plan->key, record_item(best), &why)) &&
        file_make(tree, file->place, best, &(struct tree_found){0}, NULL, &bytes, &content, &why);
    if (exists) {
        int64_t age_ms = loop_now_ms(tree->loop) - record_origin(best)->fetched_ms;
        int64_t ttl_ms = tree_items_ttl_ms(tree, file->place, plan->pattern);
        content.ttl_left_ms = age_ms < ttl_ms ? ttl_ms - age_ms : 0;
    }
    if (exists || why.kind != ERROR_NONE)
        files->fn(files->arg, file->name, exists ? &content : NULL, &why);
}

bool declared_files_start(struct declared_files *files, const struct tree *tree,
                          declared_files_file_fn *fn, declared_files_done_fn *done, void *arg,
                          struct error *err)
{
    files->fn = fn;
    files->done = done;
    files->arg = arg;
    for (size_t i = 0; i < files->count; i++) {
        struct declared_file *file = &files->items[i];
        file->all = files;
        if (file->covered) {
            declared_files_report_covered(files, tree, file);
            continue;
        }
        file->call = tree_read(tree, file->place, declared_files_take_file, file);
        if (!file->call)
            return error_no_memory(err);
        files->under_way++;
    }
    if (files->under_way == 0)
        done(arg);
    return true;
}
