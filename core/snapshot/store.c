#include "core/snapshot/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/instant.h"
#include "core/snapshot/store_files.h"

struct snapshot_store {
    unsigned references;
    struct loop *loop;
    const struct log *log;
    struct arena arena; /* of the names */
    const char **names;
    size_t name_count;
    const char *folder;           /* NULL: none */
    struct snapshot_file **files; /* owned; references */
    size_t file_count;
    int64_t *moments; /* owned; the newest first */
    size_t moment_count;
    struct worker *worker;          /* owned; NULL before the first job */
    struct snapshot_reader *reader; /* owned; of the worker's thread */
};

/* The files. */

/* The paths of the set, in an arena. */
struct store_paths {
    struct arena arena;
    const char **list;
    size_t count, capacity;
};

static void store_paths_clean_up(struct store_paths *paths)
{
    arena_clean_up(&paths->arena);
    free(paths->list);
}

static bool store_paths_add(struct store_paths *paths, const char *path, struct error *err)
{
    if (paths->count == paths->capacity) {
        size_t capacity = paths->capacity ? 2 * paths->capacity : 16;
        const char **list = reallocarray(paths->list, capacity, sizeof *list);
        if (!list)
            return error_no_memory(err);
        paths->list = list;
        paths->capacity = capacity;
    }
    const char *copy = arena_text(&paths->arena, span_text(path));
    if (!copy)
        return error_no_memory(err);
    paths->list[paths->count++] = copy;
    return true;
}

static int store_paths_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool store_paths_add_entry(struct store_paths *paths, const char *folder, const char *name,
                                  struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (name[0] == '.' || !span_ends(span_text(name), SPAN_LITERAL(".ddb")))
        return true;
    buf_printf(&path, "%s/%s", folder, name);
    return path.failed ? error_no_memory(err) : store_paths_add(paths, buf_text(&path), err);
}

static bool store_paths_add_folder(struct store_paths *paths, const char *folder, struct error *err)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry = NULL;
    bool ok = true;
    if (!dir)
        return error_set(err, errno == EACCES ? ERROR_DENIED : ERROR_INVALID,
                         "the folder of snapshots %s can't be read: %s", folder, strerror(errno));
    errno = 0;
    while (ok && (entry = readdir(dir)) != NULL)
        ok = store_paths_add_entry(paths, folder, entry->d_name, err);
    if (ok && errno != 0)
        ok = error_set(err, ERROR_INVALID, "the folder of snapshots %s can't be read: %s", folder,
                       strerror(errno));
    closedir(dir);
    if (ok && paths->count > 1)
        qsort(paths->list, paths->count, sizeof *paths->list, store_paths_compare);
    return ok;
}

static bool store_paths_find(struct store_paths *paths, const struct snapshot_store *store,
                             struct error *err)
{
    for (size_t i = 0; i < store->name_count; i++)
        if (!store_paths_add(paths, store->names[i], err))
            return false;
    return !store->folder || store_paths_add_folder(paths, store->folder, err);
}

static struct snapshot_file *store_known(const struct snapshot_store *store, const char *path)
{
    for (size_t i = 0; i < store->file_count; i++)
        if (strcmp(store->files[i]->path, path) == 0)
            return store->files[i];
    return NULL;
}

/* The file at PATH: the known one if it has not changed, or while a writer has locked it. NULL with
 * ERR filled. */
static struct snapshot_file *store_load(const struct snapshot_store *store, const char *path,
                                        enum database_mode mode, struct error *err)
{
    struct snapshot_file *known = store_known(store, path);
    struct snapshot_stamp now;
    struct error why = {0};
    bool is_there = snapshot_stamp_read(path, &now);
    if (known && is_there && snapshot_stamp_equal(&now, &known->stamp))
        return snapshot_file_ref(known);
    struct snapshot_file *file = snapshot_file_read(path, mode, &why);
    bool is_same =
        known && is_there && now.device == known->stamp.device && now.inode == known->stamp.inode;
    if (!file && is_same && why.kind == ERROR_TIMED_OUT)
        return snapshot_file_ref(known);
    if (!file && err)
        *err = why;
    return file;
}

static int store_compare_moments(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

/* The moments of FILES, each once. NULL when memory ran out. */
static int64_t *store_list_moments(struct snapshot_file *const *files, size_t file_count,
                                   size_t *count)
{
    size_t most = 0, all = 0;
    *count = 0;
    for (size_t i = 0; i < file_count; i++)
        for (size_t k = 0; k < files[i]->table_count; k++)
            most += files[i]->tables[k].moment_count;
    int64_t *moments = calloc(most + 1, sizeof *moments);
    if (!moments)
        return NULL;
    for (size_t i = 0; i < file_count; i++)
        for (size_t k = 0; k < files[i]->table_count; k++)
            for (size_t m = 0; m < files[i]->tables[k].moment_count; m++)
                moments[all++] = files[i]->tables[k].moments[m].at_ms;
    qsort(moments, all, sizeof *moments, store_compare_moments);
    for (size_t i = 0; i < all; i++)
        if (*count == 0 || moments[i] != moments[*count - 1])
            moments[(*count)++] = moments[i];
    return moments;
}

static void store_unref_files(struct snapshot_file **files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        snapshot_file_unref(files[i]);
    free(files);
}

/* A connection to a file that left the set is closed by the thread. */
struct store_closing {
    struct worker_job job; /* first: a pointer to it is a pointer to this */
    struct snapshot_reader *reader;
    struct snapshot_file *file; /* a reference */
};

static void store_run_closing(struct worker_job *job)
{
    struct store_closing *closing = (struct store_closing *)job;
    snapshot_reader_close(closing->reader, closing->file);
}

static void store_finish_closing(struct worker_job *job)
{
    struct store_closing *closing = (struct store_closing *)job;
    snapshot_file_unref(closing->file);
    free(closing);
}

/* Without memory the connection stays until others replace it. */
static void store_close_file(struct snapshot_store *store, struct snapshot_file *file)
{
    struct store_closing *closing = store->worker ? calloc(1, sizeof *closing) : NULL;
    if (!closing)
        return;
    *closing =
        (struct store_closing){.job = {.run = store_run_closing, .done = store_finish_closing},
                               .reader = store->reader,
                               .file = snapshot_file_ref(file)};
    worker_send(store->worker, &closing->job);
}

static bool store_has_inode(struct snapshot_file *const *files, size_t count,
                            const struct snapshot_file *file)
{
    for (size_t i = 0; i < count; i++)
        if (files[i]->stamp.device == file->stamp.device &&
            files[i]->stamp.inode == file->stamp.inode)
            return true;
    return false;
}

/* Takes FILES over. False when memory ran out: nothing has changed then. */
static bool store_replace_files(struct snapshot_store *store, struct snapshot_file **files,
                                size_t count)
{
    size_t moment_count;
    int64_t *moments = store_list_moments(files, count, &moment_count);
    if (!moments)
        return false;
    for (size_t i = 0; i < store->file_count; i++)
        if (!store_has_inode(files, count, store->files[i]))
            store_close_file(store, store->files[i]);
    store_unref_files(store->files, store->file_count);
    free(store->moments);
    store->files = files;
    store->file_count = count;
    store->moments = moments;
    store->moment_count = moment_count;
    return true;
}

static bool store_refresh(struct snapshot_store *store, enum database_mode mode, struct error *err)
{
    CLEAN_UP(store_paths_clean_up) struct store_paths paths = {0};
    bool ok = true;
    size_t count = 0;
    if (!store_paths_find(&paths, store, err))
        return false;
    struct snapshot_file **files = calloc(paths.count + 1, sizeof *files);
    if (!files)
        return error_no_memory(err);
    for (size_t i = 0; i < paths.count; i++) {
        struct snapshot_file *file = store_load(store, paths.list[i], mode, ok ? err : NULL);
        struct snapshot_file *known = file ? NULL : store_known(store, paths.list[i]);
        ok = ok && file;
        if (file || known)
            files[count++] = file ? file : snapshot_file_ref(known);
    }
    if (store_replace_files(store, files, count))
        return ok;
    store_unref_files(files, count);
    return error_no_memory(err);
}

bool snapshot_store_refresh(struct snapshot_store *store, struct error *err)
{
    return store_refresh(store, DATABASE_READ_NOW, err);
}

static bool store_fill(struct snapshot_store *store, const struct snapshot_store_options *options,
                       struct error *err)
{
    store->loop = options->loop;
    store->log = options->log;
    store->folder = options->folder ? arena_text(&store->arena, span_text(options->folder)) : NULL;
    store->names = arena_array(&store->arena, options->file_count, sizeof *store->names);
    for (size_t i = 0; store->names && i < options->file_count; i++)
        store->names[store->name_count++] = arena_text(&store->arena, span_text(options->files[i]));
    return !store->arena.failed || error_no_memory(err);
}

struct snapshot_store *snapshot_store_open(const struct snapshot_store_options *options,
                                           struct error *err)
{
    struct snapshot_store *store = calloc(1, sizeof *store);
    if (!store) {
        error_no_memory(err);
        return NULL;
    }
    store->references = 1;
    bool ok = store_fill(store, options, err) && store_refresh(store, DATABASE_READ, err);
    if (ok && store->file_count > 0)
        return store;
    if (ok)
        error_set(
            err, ERROR_INVALID,
            "there is no snapshot in %s: no file there ends in .ddb; make one with ddbfs import",
            store->folder ? store->folder : "an empty list of files");
    snapshot_store_unref(store);
    return NULL;
}

struct snapshot_store *snapshot_store_ref(struct snapshot_store *store)
{
    store->references++;
    return store;
}

void snapshot_store_unref(struct snapshot_store *store)
{
    if (!store || --store->references > 0)
        return;
    worker_destroy(store->worker);
    snapshot_reader_destroy(store->reader);
    store_unref_files(store->files, store->file_count);
    free(store->moments);
    arena_clean_up(&store->arena);
    free(store);
}

bool store_start(struct snapshot_store *store)
{
    if (!store->reader)
        store->reader = snapshot_reader_new();
    if (store->reader && !store->worker)
        store->worker = worker_new(store->loop);
    return store->worker;
}

struct worker *store_worker(const struct snapshot_store *store)
{
    return store->worker;
}

struct snapshot_reader *store_reader(const struct snapshot_store *store)
{
    return store->reader;
}

struct loop *store_loop(const struct snapshot_store *store)
{
    return store->loop;
}

/* Look-ups. */

size_t snapshot_store_moments(const struct snapshot_store *store, const int64_t **newest_first)
{
    *newest_first = store->moments;
    return store->moment_count;
}

bool store_find_table(const struct snapshot_store *store, const char *name, int64_t at_ms,
                      struct store_place *out)
{
    *out = (struct store_place){0};
    for (size_t i = 0; i < store->file_count; i++)
        for (size_t k = 0; k < store->files[i]->table_count; k++) {
            const struct snapshot_table *table = &store->files[i]->tables[k];
            if (strcmp(table->name, name) != 0)
                continue;
            const struct snapshot_moment *moment = snapshot_table_moment(table, at_ms);
            if (moment && (!out->moment || moment->at_ms > out->moment->at_ms))
                *out = (struct store_place){store->files[i], table, moment};
        }
    return out->moment;
}

static int store_compare_names(const void *a, const void *b)
{
    return span_compare(*(const struct span *)a, *(const struct span *)b);
}

bool store_list_tables(const struct snapshot_store *store, int64_t at_ms, struct arena *arena,
                       struct span **names, size_t *count)
{
    size_t most = 0, all = 0;
    for (size_t i = 0; i < store->file_count; i++)
        most += store->files[i]->table_count;
    struct span *list = arena_array(arena, most, sizeof *list);
    if (!list)
        return false;
    for (size_t i = 0; i < store->file_count; i++)
        for (size_t k = 0; k < store->files[i]->table_count; k++)
            if (snapshot_table_moment(&store->files[i]->tables[k], at_ms))
                list[all++] = arena_copy(arena, span_text(store->files[i]->tables[k].name));
    if (all > 1)
        qsort(list, all, sizeof *list, store_compare_names);
    *names = list;
    *count = 0;
    for (size_t i = 0; i < all; i++)
        if (*count == 0 || !span_equal(list[i], list[*count - 1]))
            list[(*count)++] = list[i];
    return !arena->failed;
}

bool store_check_files(const struct snapshot_store *store, struct error *err)
{
    for (size_t i = 0; i < store->file_count; i++)
        if (!snapshot_file_check(store->files[i], err))
            return false;
    return true;
}

void snapshot_store_write_origin(const struct snapshot_store *store, const char *table,
                                 int64_t at_ms, struct buf *out)
{
    struct store_place place;
    if (!store_find_table(store, table, at_ms, &place))
        return;
    instant_write(out, place.moment->at_ms);
    buf_printf(out, " in %s, from ", place.file->path);
    buf_add_span(out, place.moment->origin);
}

bool snapshot_store_find_state(const struct snapshot_store *store, const char *table, int64_t at_ms,
                               int64_t *state_ms)
{
    struct store_place place;
    bool found = store_find_table(store, table, at_ms, &place);
    if (found)
        *state_ms = place.moment->at_ms;
    return found;
}
