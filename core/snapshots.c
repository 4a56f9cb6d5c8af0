#include "core/snapshots.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/instant.h"
#include "core/base/list.h"
#include "core/recording/replay.h"
#include "core/snapshot/snapshot.h"
#include "core/snapshot/store.h"

/* Sources that stay open without a user, so that the cache has their results. */
enum { MOMENTS_OPEN = 64 };

/* Numbers from here on are of snapshots, so that no other source has them. */
static const uint64_t SNAPSHOT_NUMBERS = (uint64_t)1 << 63;

/* The files of environments. */
struct open_files {
    char *name; /* owned: of the file or folder; NULL: those of the command line */
    struct snapshot_store *store; /* owned; NULL: REPLAY has the file */
    struct replay *replay;        /* a reference; of a recording, else NULL */
    struct stat seen;             /* of the recording, when it was opened */
    int64_t looked_ms;            /* when files were last looked for, on the loop's clock */
    struct list_node node;
};

/* The state of files at a moment. */
struct open_moment {
    struct open_files *files; /* NULL: these were opened again */
    int64_t moment_ms;        /* INT64_MAX: the newest state */
    char *environment;        /* owned: its name, if the files are a recording; else NULL */
    struct source *source;    /* owned */
    bool is_kept;             /* a reference to SOURCE */
    struct list_node node;
};

struct snapshots {
    struct moments moments;
    struct snapshots_options options;
    struct list files;   /* of struct open_files, owned */
    struct list sources; /* of struct open_moment, owned; the last used first */
    size_t kept;         /* sources that stay open */
    uint64_t opened;     /* so far */
    struct loop_timer *sweep;
};

static void snapshots_close_files(struct open_files *files)
{
    snapshot_store_unref(files->store);
    replay_unref(files->replay);
    free(files->name);
    free(files);
}

static void snapshots_free_moment(struct open_moment *moment)
{
    source_destroy(moment->source);
    free(moment->environment);
    free(moment);
}

void snapshots_destroy(struct snapshots *snapshots)
{
    if (!snapshots)
        return;
    loop_remove_timer(snapshots->sweep);
    LIST_EACH_SAFE (struct open_moment, each, &snapshots->sources, node)
        snapshots_free_moment(each);
    LIST_EACH_SAFE (struct open_files, each, &snapshots->files, node)
        snapshots_close_files(each);
    free(snapshots);
}

/* The file or folder of ENVIRONMENT's past or present; NULL with IS_GIVEN for those of the command
 * line, else for none. */
static const char *snapshots_name_of(const struct snapshots *snapshots,
                                     const struct map_environment *environment, bool is_past,
                                     bool *is_given)
{
    const struct snapshots_options *options = &snapshots->options;
    *is_given = options->file_count > 0 && (is_past || !options->are_past);
    if (*is_given || !environment)
        return NULL;
    return environment->snapshot ? environment->snapshot : environment->snapshots;
}

bool snapshots_are_present(const struct snapshots *snapshots,
                           const struct map_environment *environment)
{
    const struct snapshots_options *options = &snapshots->options;
    return (options->file_count > 0 && !options->are_past) ||
           (environment && environment->snapshot);
}

bool snapshots_have(const struct snapshots *snapshots, const struct place *place)
{
    return place->is_past || snapshots_are_present(snapshots, place->environment);
}

bool snapshots_write_names(const struct snapshots *snapshots,
                           const struct map_environment *environment, struct buf *names,
                           struct buf *origin)
{
    bool is_given;
    const char *name = snapshots_name_of(snapshots, environment, false, &is_given);
    const struct snapshots_options *options = &snapshots->options;
    for (size_t i = 0; is_given && i < options->file_count; i++)
        buf_printf(names, "%s%s", i ? ", " : "", options->files[i]);
    if (name)
        buf_add_text(names, name);
    if (origin && is_given)
        buf_add_text(origin, options->named_by);
    if (origin && name) {
        buf_add_text(origin, "the map's environment ");
        format_write(&environment->name, origin);
    }
    return name || is_given;
}

static bool snapshots_is_folder(const char *name)
{
    struct stat stat_buf;
    return stat(name, &stat_buf) == 0 && S_ISDIR(stat_buf.st_mode);
}

/* Opens the files of STORE as a set of snapshots, or as a recording, which is alone. */
static bool snapshots_open_store(struct open_files *files,
                                 const struct snapshot_store_options *store, struct error *err)
{
    bool is_recording = false;
    for (size_t i = 0; i < store->file_count && !is_recording; i++)
        if (!replay_find_kind(store->files[i], &is_recording, err))
            return false;
    if (is_recording && store->file_count > 1)
        return error_set(err, ERROR_INVALID,
                         "a recording is read alone, and %zu files are named; name it once",
                         store->file_count);
    if (is_recording && stat(store->files[0], &files->seen) == 0)
        files->replay = replay_open(store->files[0], store->loop, err);
    else if (is_recording)
        error_set(err, ERROR_REPLACED, "the recording %s was removed while it was opened",
                  store->files[0]);
    else
        files->store = snapshot_store_open(store, err);
    return files->replay || files->store;
}

/* Opens the file or folder NAME, or (NULL) those of the command line. */
static struct open_files *snapshots_open_files(struct snapshots *snapshots, const char *name,
                                               struct error *err)
{
    const struct snapshots_options *options = &snapshots->options;
    struct snapshot_store_options store = {
        .loop = options->loop, .log = options->log, .files = &name, .file_count = 1};
    if (!name) {
        store.files = options->files;
        store.file_count = options->file_count;
    }
    if (store.file_count == 1 && snapshots_is_folder(store.files[0])) {
        store.folder = store.files[0];
        store.files = NULL;
        store.file_count = 0;
    }
    struct open_files *files = calloc(1, sizeof *files);
    if (files && name)
        files->name = strdup(name);
    if (!files || (name && !files->name)) {
        free(files);
        error_no_memory(err);
        return NULL;
    }
    if (!snapshots_open_store(files, &store, err)) {
        snapshots_close_files(files);
        return NULL;
    }
    files->looked_ms = loop_now_ms(options->loop);
    list_prepend(&snapshots->files, &files->node);
    return files;
}

static void snapshots_forget_sources(struct snapshots *snapshots, const struct open_files *files)
{
    LIST_EACH (struct open_moment, each, &snapshots->sources, node) {
        if (each->files != files)
            continue;
        each->files = NULL;
        snapshots->kept -= each->is_kept;
        if (each->is_kept)
            source_unref(each->source);
        each->is_kept = false;
    }
}

/* Opens a recording again that has been replaced, or has further responses. */
static bool snapshots_reopen_recording(struct snapshots *snapshots, struct open_files *files,
                                       struct error *err)
{
    const char *name = files->name ? files->name : snapshots->options.files[0];
    struct stat now;
    if (stat(name, &now) != 0)
        return error_set(err, ERROR_REPLACED, "the recording %s was removed", name);
    if (now.st_dev == files->seen.st_dev && now.st_ino == files->seen.st_ino &&
        now.st_size == files->seen.st_size && now.st_mtim.tv_sec == files->seen.st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == files->seen.st_mtim.tv_nsec)
        return true;
    struct replay *replay = replay_open(name, snapshots->options.loop, err);
    if (!replay)
        return false;
    snapshots_forget_sources(snapshots, files);
    replay_unref(files->replay);
    files->replay = replay;
    files->seen = now;
    return true;
}

/* Reads of a file that can't be read again fail, and others do not. */
static void snapshots_refresh(struct snapshots *snapshots, struct open_files *files)
{
    struct error why;
    files->looked_ms = loop_now_ms(snapshots->options.loop);
    bool ok = files->store ? snapshot_store_refresh(files->store, &why)
                           : snapshots_reopen_recording(snapshots, files, &why);
    if (!ok)
        log_line(snapshots->options.log, LOG_LEVEL_ERROR, "a snapshot can't be read again: %s",
                 why.text);
}

/* The files of ENVIRONMENT, as they were when last looked for, at most the ttl of structure ago.
 * NULL with ERR filled. */
static struct open_files *snapshots_find_files(struct snapshots *snapshots,
                                               const struct map_environment *environment,
                                               bool is_past, struct error *err)
{
    bool is_given;
    struct error ignored;
    const char *name = snapshots_name_of(snapshots, environment, is_past, &is_given);
    err = err ? err : &ignored;
    if (!name && !is_given) {
        error_set(err, ERROR_NOT_FOUND,
                  "no snapshots are known for this environment; name the folder that has them in "
                  "the map (\"snapshots\": \"FOLDER\"), or use --snapshot FILE");
        return NULL;
    }
    LIST_EACH (struct open_files, each, &snapshots->files, node) {
        if (name ? !each->name || strcmp(each->name, name) != 0 : each->name != NULL)
            continue;
        int64_t now_ms = loop_now_ms(snapshots->options.loop);
        if (now_ms - each->looked_ms < MAP_STRUCTURE_TTL_MS)
            return each;
        snapshots_refresh(snapshots, each);
        return each;
    }
    struct open_files *opened = snapshots_open_files(snapshots, name, err);
    struct stat status;
    if (!opened && name && stat(name, &status) != 0)
        error_add(err, "; \"%s\" of the map's environment names it; correct the map, or create it",
                  environment->snapshot ? "snapshot" : "snapshots");
    return opened;
}

bool snapshots_open_given(struct snapshots *snapshots, struct error *err)
{
    return snapshots->options.file_count == 0 || snapshots_find_files(snapshots, NULL, true, err);
}

void snapshots_reload(struct snapshots *snapshots)
{
    LIST_EACH (struct open_files, each, &snapshots->files, node)
        snapshots_refresh(snapshots, each);
}

/* Sources. */

static void snapshots_close_unused(void *arg)
{
    struct snapshots *snapshots = arg;
    snapshots->sweep = NULL;
    LIST_EACH_SAFE (struct open_moment, each, &snapshots->sources, node) {
        if (each->source->users > 0)
            continue;
        list_remove(&each->node);
        source_add_stats(each->source, snapshots->options.gone);
        snapshots_free_moment(each);
    }
}

/* In a later round, because the last user may be returning from a call. */
static void snapshots_sweep_later(void *arg)
{
    struct snapshots *snapshots = arg;
    if (!snapshots->sweep)
        snapshots->sweep =
            loop_add_timer(snapshots->options.loop, 0, snapshots_close_unused, snapshots);
}

/* Makes MOMENT the last used one. The one that was not used for the longest time is released. */
static void snapshots_keep(struct snapshots *snapshots, struct open_moment *moment)
{
    list_remove(&moment->node);
    list_prepend(&snapshots->sources, &moment->node);
    if (moment->is_kept)
        return;
    moment->is_kept = true;
    source_ref(moment->source);
    snapshots->kept++;
    struct open_moment *before;
    for (struct open_moment *each = LIST_LAST(&snapshots->sources, struct open_moment, node);
         each && snapshots->kept > MOMENTS_OPEN; each = before) {
        before = LIST_PREVIOUS(each, struct open_moment, node);
        if (!each->is_kept)
            continue;
        each->is_kept = false;
        snapshots->kept--;
        source_unref(each->source);
    }
}

/* ENVIRONMENT is the name of one, if the files are a recording. */
static struct open_moment *snapshots_open_moment(struct snapshots *snapshots,
                                                 struct open_files *files, int64_t moment_ms,
                                                 struct span environment)
{
    struct open_moment *moment = calloc(1, sizeof *moment);
    if (!moment)
        return NULL;
    *moment = (struct open_moment){.files = files, .moment_ms = moment_ms};
    if (files->replay)
        moment->environment = strndup(environment.data, environment.size);
    if (files->store)
        moment->source = snapshot_new(files->store, moment_ms);
    else if (moment->environment)
        moment->source = replay_new(files->replay, environment, moment_ms);
    if (!moment->source) {
        snapshots_free_moment(moment);
        return NULL;
    }
    moment->source->number = SNAPSHOT_NUMBERS + ++snapshots->opened;
    moment->source->unused = snapshots_sweep_later;
    moment->source->unused_arg = snapshots;
    list_prepend(&snapshots->sources, &moment->node);
    return moment;
}

static size_t snapshots_moments_of(const struct open_files *files, const int64_t **times)
{
    return files->replay ? replay_moments(files->replay, times)
                         : snapshot_store_moments(files->store, times);
}

static bool snapshots_find(const struct open_files *files, int64_t at_ms, int64_t *moment_ms)
{
    const int64_t *times;
    size_t count = snapshots_moments_of(files, &times), i = 0;
    while (i < count && times[i] > at_ms)
        i++;
    if (i < count)
        *moment_ms = times[i];
    return i < count;
}

/* The moment that PLACE shows. */
static bool snapshots_find_moment(const struct open_files *files, const struct place *place,
                                  int64_t *moment_ms, struct error *err)
{
    *moment_ms = INT64_MAX;
    if (!place->is_past || place->at_ms == INT64_MAX)
        return true;
    if (snapshots_find(files, place->at_ms, moment_ms))
        return true;
    CLEAN_UP(buf_clean_up) struct buf at = {0};
    instant_write_exact(&at, place->at_ms);
    return error_set(err, ERROR_NOT_FOUND, "no snapshot is as old as %s", buf_text(&at));
}

void snapshots_write_environment(const struct place *place, struct buf *out)
{
    if (place->environment_name.size > 0)
        buf_add_span(out, place->environment_name);
    else if (place->environment)
        format_write(&place->environment->name, out);
}

struct source *snapshots_source(struct snapshots *snapshots, const struct place *place,
                                struct error *err)
{
    int64_t moment_ms;
    struct open_files *files =
        snapshots_find_files(snapshots, place->environment, place->is_past, err);
    if (!files || !snapshots_find_moment(files, place, &moment_ms, err))
        return NULL;
    struct open_moment *found = NULL;
    CLEAN_UP(buf_clean_up) struct buf environment = {0};
    snapshots_write_environment(place, &environment);
    if (environment.failed) {
        error_no_memory(err);
        return NULL;
    }
    struct span name = buf_span(&environment);
    LIST_EACH (struct open_moment, each, &snapshots->sources, node)
        if (each->files == files && each->moment_ms == moment_ms &&
            (!each->environment || span_is(name, each->environment))) {
            found = each;
            break;
        }
    if (!found)
        found = snapshots_open_moment(snapshots, files, moment_ms, name);
    if (!found) {
        error_no_memory(err);
        return NULL;
    }
    snapshots_keep(snapshots, found);
    return found->source;
}

const struct source_ops *snapshots_describe(struct snapshots *snapshots, const struct place *place,
                                            struct buf *options)
{
    snapshots_write_names(snapshots, place->environment, options, NULL);
    return &snapshot_ops;
}

void snapshots_add_stats(const struct snapshots *snapshots, struct source_stats *sum)
{
    LIST_EACH (struct open_moment, each, &snapshots->sources, node)
        source_add_stats(each->source, sum);
}

/* Moments. */

static bool snapshots_is_snapshot(void *arg, const struct map_environment *environment)
{
    return snapshots_are_present(arg, environment);
}

static bool snapshots_is_recording(void *arg, const struct map_environment *environment)
{
    bool is_given;
    if (!snapshots_name_of(arg, environment, false, &is_given) && !is_given)
        return false;
    const struct open_files *files = snapshots_find_files(arg, environment, false, NULL);
    return files && files->replay;
}

static bool snapshots_list(void *arg, const struct map_environment *environment,
                           const int64_t **times, size_t *count, struct error *err)
{
    const struct open_files *files = snapshots_find_files(arg, environment, true, err);
    if (files)
        *count = snapshots_moments_of(files, times);
    return files;
}

static void snapshots_write_origin(void *arg, const struct place *place, struct buf *out)
{
    if (!snapshots_have(arg, place))
        return;
    const struct open_files *files =
        snapshots_find_files(arg, place->environment, place->is_past, NULL);
    char *table = files && place->table ? place_table_name(place) : NULL;
    const char *name = place->table_name ? place->table_name : table;
    if (files && files->replay)
        replay_write_origin(files->replay, place->is_past ? place->at_ms : INT64_MAX, out);
    else if (files && name)
        snapshot_store_write_origin(files->store, name, place->is_past ? place->at_ms : INT64_MAX,
                                    out);
    free(table);
}

static bool snapshots_find_state(void *arg, const struct place *place, int64_t *at_ms)
{
    const struct open_files *files =
        snapshots_have(arg, place)
            ? snapshots_find_files(arg, place->environment, place->is_past, NULL)
            : NULL;
    char *table = files && !files->replay ? place_table_name(place) : NULL;
    bool found =
        table && snapshot_store_find_state(files->store, table,
                                           place->is_past ? place->at_ms : INT64_MAX, at_ms);
    free(table);
    return found;
}

struct snapshots *snapshots_new(const struct snapshots_options *options)
{
    struct snapshots *snapshots = calloc(1, sizeof *snapshots);
    if (!snapshots)
        return NULL;
    snapshots->options = *options;
    snapshots->moments = (struct moments){.arg = snapshots,
                                          .is_snapshot = snapshots_is_snapshot,
                                          .is_recording = snapshots_is_recording,
                                          .list = snapshots_list,
                                          .write_origin = snapshots_write_origin,
                                          .find_state = snapshots_find_state};
    return snapshots;
}

const struct moments *snapshots_moments(struct snapshots *snapshots)
{
    return &snapshots->moments;
}

char *snapshots_read_suffix(const char *file)
{
    bool is_recording = false;
    if (snapshots_is_folder(file) || !replay_find_kind(file, &is_recording, NULL) || !is_recording)
        return NULL;
    return replay_read_suffix(file);
}
