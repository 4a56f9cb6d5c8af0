/* ddbfs import SOURCE… FILE.ddb: makes a snapshot of an export, or of items in files.
 * ddbfs import --onto FILE.ddb SOURCE…: adds increments, or another table.
 * ddbfs import --repair FILE.ddb: rolls back the change of a killed writer. */
#include "core/import/snapshot_import.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/base/quantity.h"
#include "core/import/s3_input.h"
#include "core/import/snapshot_repair.h"
#include "core/json/writer.h"
#include "core/sources.h"
#include "fs/cli/import_keys.h"
#include "fs/cli/output.h"
#include "fs/cli/progress.h"

enum { IMPORT_SOURCES = 1000, IMPORT_LINE_MS = 1000 /* between two lines of --json */ };

struct import_command {
    struct app app;
    struct import_keys keys;
    const char *file;
    struct import_source sources[IMPORT_SOURCES];
    size_t source_count;
    struct import_progress done;
    struct progress *bar; /* owned; NULL: not shown */
    int64_t start_ms, line_ms;
};

/* The signal that ends the import; 0: none. */
static volatile sig_atomic_t import_signal;

static const int import_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { IMPORT_SIGNALS = sizeof import_signals / sizeof import_signals[0] };

static void import_note_signal(int number)
{
    import_signal = number;
}

/* Without SA_RESTART, so that a read of standard input ends. */
static void import_watch_signals(void)
{
    struct sigaction action = {.sa_handler = import_note_signal}, old;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < IMPORT_SIGNALS; i++)
        if (sigaction(import_signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(import_signals[i], &action, NULL);
}

/* SQLite sorts keys in temporary files, which take about as much space as the indexes. They are
 * made where the snapshot has space, unless the user names another folder. */
static void import_choose_temporary_folder(const char *file)
{
    CLEAN_UP(buf_clean_up) struct buf folder = {0};
    const char *slash = strrchr(file, '/');
    buf_add_text(&folder, file);
    buf_truncate(&folder, slash ? (size_t)(slash - file) + 1 : 0);
    buf_add_char(&folder, '.');
    if (!folder.failed)
        setenv("SQLITE_TMPDIR", buf_text(&folder), false);
}

/* Progress. */

static void import_write_count(uint64_t count, struct buf *out)
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    for (int i = 0; i < size; i++) {
        buf_add_char(out, digits[i]);
        if (i + 1 < size && (size - i - 1) % 3 == 0)
            buf_add_char(out, ',');
    }
}

/* The part of the work that is done, 0 to 1; 0: not known. */
static double import_share(const struct import_progress *done)
{
    if (done->items_total > 0)
        return (double)done->items / (double)done->items_total;
    return done->bytes_total > 0 ? (double)done->bytes / (double)done->bytes_total : 0;
}

/* "ddbfs: 25,000 of 100,000 items, 12 MB, 61,000 items/s, 2 s left" */
static void import_write_progress(void *arg, double seconds, struct buf *out)
{
    const struct import_command *import = arg;
    const struct import_progress *done = &import->done;
    double share = import_share(done);
    buf_add_text(out, "ddbfs: ");
    import_write_count(done->items, out);
    if (done->items_total > 0) {
        buf_add_text(out, " of ");
        import_write_count(done->items_total, out);
    }
    buf_add_text(out, " items, ");
    size_write(done->bytes, out);
    if (done->is_indexing) {
        buf_add_text(out, ", making indexes");
        return;
    }
    buf_add_text(out, ", ");
    import_write_count((uint64_t)((double)done->items / seconds), out);
    buf_add_text(out, " items/s");
    if (share > 0)
        buf_printf(out, ", %.0f s left", seconds * (1 - share) / share + 0.5);
}

static void import_print_line(struct import_command *import, struct buf *line)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    if (import->app.options->json)
        json_add_printable(&safe, buf_span(line));
    else
        printable_add(&safe, buf_span(line), "");
    buf_add_char(&safe, '\n');
    fwrite(safe.data, 1, safe.size, stdout);
    fflush(stdout);
}

/* The line that --json prints each second. */
static void import_print_progress(struct import_command *import)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    const struct import_progress *done = &import->done;
    struct json_writer json = json_writer_to(&line);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_bool(&json, "done", false);
    json_writer_add_integer(&json, "items", (int64_t)done->items);
    if (done->items_total > 0)
        json_writer_add_integer(&json, "items_total", (int64_t)done->items_total);
    json_writer_add_integer(&json, "bytes", (int64_t)done->bytes);
    if (done->bytes_total > 0)
        json_writer_add_integer(&json, "bytes_total", (int64_t)done->bytes_total);
    json_writer_add_bool(&json, "making_indexes", done->is_indexing);
    json_writer_end(&json);
    import_print_line(import, &line);
}

static bool import_proceed(void *arg)
{
    struct import_command *import = arg;
    progress_update(import->bar);
    if (import->app.options->json) {
        int64_t now_ms = loop_now_ms(import->app.loop);
        if (now_ms - import->line_ms >= IMPORT_LINE_MS) {
            import->line_ms = now_ms;
            import_print_progress(import);
        }
    }
    return import_signal == 0;
}

/* Sources. */

/* A folder of this machine, or a file. */
static bool import_open_source(struct import_command *import, const char *name, struct error *err)
{
    struct import_source *source = &import->sources[import->source_count];
    struct stat status;
    if (import->source_count == IMPORT_SOURCES)
        return error_set(err, ERROR_INVALID, "more than %d sources; use --onto for the others",
                         IMPORT_SOURCES);
    if (strcmp(name, "-") != 0 && stat(name, &status) == 0 && S_ISDIR(status.st_mode))
        source->folder = input_folder_open(name, err);
    else
        source->stream = input_open(name, err);
    if (source->stream)
        import->done.bytes_total += source->stream->size;
    import->source_count++;
    return source->folder || source->stream;
}

static bool import_is_wanted(void *arg)
{
    struct import_command *import = arg;
    progress_update(import->bar);
    return import_signal == 0;
}

/* An export, or one object. No request lists a bucket, so the manifest is tried first. */
static bool import_open_bucket(struct import_command *import, const char *name, struct error *err)
{
    struct import_source *source = &import->sources[import->source_count];
    const struct input_watch watch = {import_is_wanted, import};
    struct error why = {0};
    if (import->source_count == IMPORT_SOURCES)
        return error_set(err, ERROR_INVALID, "more than %d sources; use --onto for the others",
                         IMPORT_SOURCES);
    import->source_count++;
    source->holder = sources_open_bucket(import->app.sources, NULL, name, &watch, err);
    if (!source->holder)
        return false;
    struct input *manifest = input_folder_open_file(source->holder, "manifest-summary.json", err);
    if (!manifest && (err->kind == ERROR_NOT_FOUND || err->kind == ERROR_DENIED))
        source->stream = input_folder_open_file(source->holder, "", &why);
    if (why.kind && why.kind != ERROR_NOT_FOUND && why.kind != ERROR_DENIED)
        *err = why;
    if (manifest)
        source->folder = source->holder;
    if (source->stream)
        import->done.bytes_total += source->stream->size;
    input_close(manifest);
    return source->folder || source->stream;
}

/* Buckets need the app, which other sources must precede: afterwards, /dev/fd can't be opened. */
static bool import_open_sources(struct import_command *import, int count, char **names,
                                bool of_buckets, struct error *err)
{
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        if (s3_input_is_url(names[i]) == of_buckets)
            ok = of_buckets ? import_open_bucket(import, names[i], err)
                            : import_open_source(import, names[i], err);
    return ok;
}

static bool import_check_target(const struct options *options, const char *file, struct error *err)
{
    struct stat status;
    if (options->onto || stat(file, &status) != 0)
        return true;
    if (!S_ISREG(status.st_mode))
        return error_set(err, ERROR_INVALID,
                         "%s is no regular file; name the snapshot to write last", file);
    if (status.st_size > 0 && !snapshot_import_check_target(file, err))
        return false;
    return options->yes ||
           error_set(err, ERROR_INVALID,
                     "%s exists already, and was not changed; to add increments or a table: "
                     "--onto; to replace it: --yes",
                     file);
}

static bool import_describe(void *arg, const char *table, struct buf *description,
                            struct buf *expiry, struct error *err)
{
    struct import_command *import = arg;
    return import_keys_describe(&import->keys, table, description, expiry, err);
}

/* The result. */

/* orders.ddb: prod-Orders as of 2026-11-01T00:00:00Z, 1,204,331 items, 412 MB, indexes ByStatus,
 * GSI1
 */
static void import_write_result(const struct import_command *import,
                                const struct import_result *result, struct buf *out)
{
    buf_add_text(out, import->file);
    buf_add_text(out, ": ");
    buf_add_span(out, buf_span(&result->table));
    buf_add_text(out, " as of ");
    instant_write_exact(out, result->at_ms);
    buf_add_text(out, ", ");
    import_write_count((uint64_t)result->item_count, out);
    buf_printf(out, " item%s, ", result->item_count == 1 ? "" : "s");
    size_write((uint64_t)result->byte_count, out);
    for (size_t at = 0; at < result->indexes.size;) {
        const char *name = result->indexes.data + at;
        bool alone = at == 0 && strlen(name) + 1 == result->indexes.size;
        buf_add_text(out, at > 0 ? ", " : alone ? ", index " : ", indexes ");
        buf_add_text(out, name);
        at += strlen(name) + 1;
    }
    if (result->window_count > 0)
        buf_printf(out, ", %u increment%s", result->window_count,
                   result->window_count == 1 ? "" : "s");
}

static void import_write_json(const struct import_command *import,
                              const struct import_result *result, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf at_text = {0};
    struct json_writer json = json_writer_to(out);
    instant_write_exact(&at_text, result->at_ms);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_bool(&json, "done", true);
    json_writer_add_text(&json, "file", import->file);
    json_writer_add_text(&json, "table", buf_text(&result->table));
    json_writer_add_text(&json, "at", buf_text(&at_text));
    json_writer_add_integer(&json, "items", result->item_count);
    json_writer_add_integer(&json, "bytes", result->byte_count);
    json_writer_begin_array(&json, "indexes", JSON_TIGHT);
    for (size_t at = 0; at < result->indexes.size; at += strlen(result->indexes.data + at) + 1)
        json_writer_add_text(&json, NULL, result->indexes.data + at);
    json_writer_end(&json);
    json_writer_add_integer(&json, "increments", result->window_count);
    json_writer_end(&json);
}

/* Items have no state in the future; but this machine's clock may be wrong. */
static void import_warn_of_moment(const struct import_command *import, int64_t now_ms)
{
    const struct options *options = import->app.options;
    CLEAN_UP(buf_clean_up) struct buf now = {0};
    instant_write(&now, now_ms);
    if (options->moment.known && options->moment.ms > now_ms)
        log_line(&import->app.log, LOG_LEVEL_WARNING,
                 "--at %s is in the future: this machine's clock has %s; check both",
                 options->moment_text, buf_text(&now));
}

static bool import_run_command(struct import_command *import, struct error *err)
{
    const struct options *options = import->app.options;
    CLEAN_UP(import_result_clean_up) struct import_result result = {0};
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct clock *clock = loop_clock(import->app.loop);
    struct import_options how = {
        .file = import->file,
        .onto = options->onto != NULL,
        .replaces = options->yes,
        .sources = import->sources,
        .source_count = import->source_count,
        .table = options->table,
        .has_moment = options->moment.known,
        .at_ms = options->moment.ms,
        .now_ms = clock->wall_ms(clock),
        .map = options->map ? import->app.map->text : NULL,
        .describe = import_describe,
        .proceed = import_proceed,
        .arg = import,
        .progress = &import->done,
    };
    import_warn_of_moment(import, how.now_ms);
    import->line_ms = loop_now_ms(import->app.loop);
    import->bar = progress_start_with(import->app.loop, import_write_progress, import);
    bool ok = snapshot_import(&how, &result, err);
    progress_end(import->bar);
    import->bar = NULL;
    if (!ok)
        return false;
    if (options->json)
        import_write_json(import, &result, &line);
    else
        import_write_result(import, &result, &line);
    import_print_line(import, &line);
    return true;
}

static bool import_repair(struct import_command *import, const struct options *options,
                          struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    bool repaired;
    if (!app_start(&import->app, options, map_none(), COMMAND_CACHE_BYTES)) {
        import->app.status = EXIT_FAILURE;
        return false;
    }
    if (!snapshot_repair(options->repair, &repaired, err))
        return false;
    if (options->json) {
        struct json_writer json = json_writer_to(&line);
        json_writer_begin_object(&json, NULL, JSON_TIGHT);
        json_writer_add_bool(&json, "done", true);
        json_writer_add_text(&json, "file", options->repair);
        json_writer_add_bool(&json, "repaired", repaired);
        json_writer_end(&json);
    } else {
        buf_printf(&line, "%s: %s", options->repair,
                   repaired ? "the change of a killed writer was rolled back"
                            : "no killed writer left a change; nothing was repaired");
    }
    import_print_line(import, &line);
    return true;
}

static bool import_start(struct import_command *import, const struct options *options, int count,
                         char **names, struct error *err)
{
    bool is_mapped = import_keys_need_map(options) && !options->onto;
    import_choose_temporary_folder(import->file);
    import_watch_signals();
    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files is an error of the write */
    bool ok = import_check_target(options, import->file, err) &&
              import_keys_init(&import->keys, options, err) &&
              import_open_sources(import, count, names, false, err);
    bool started = options->map ? app_init(&import->app, options, options->map, COMMAND_CACHE_BYTES)
                   : is_mapped  ? app_init_any(&import->app, options, COMMAND_CACHE_BYTES)
                                : app_start(&import->app, options, map_none(), COMMAND_CACHE_BYTES);
    import->keys.app = &import->app;
    if (!started)
        import->app.status = EXIT_FAILURE;
    return started && ok && import_open_sources(import, count, names, true, err);
}

static void import_clean_up(struct import_command *import)
{
    for (size_t i = 0; i < import->source_count; i++) {
        struct import_source *source = &import->sources[i];
        input_close(source->stream);
        if (source->folder != source->holder)
            input_folder_close(source->folder);
        input_folder_close(source->holder);
    }
    import_keys_clean_up(&import->keys);
    app_clean_up(&import->app);
}

/* Whether an option was passed that a repair would ignore. */
static bool import_has_target_options(const struct options *options)
{
    return options->onto || options->yes || options->describe || options->keys || options->table ||
           options->moment_text;
}

int import_command(const struct options *given, int argc, char **argv)
{
    static struct import_command import;
    static struct options own;
    const struct options *options = &own;
    own = *given;
    own.ignores_snapshot_variable = true;
    struct error err = {0};
    int names = options->onto ? argc : argc - 1;
    if (options->repair && (argc > 0 || import_has_target_options(options)))
        return app_usage("--repair takes a snapshot, and no sources or other options of an import",
                         "import");
    if (names < 1 && !options->repair)
        return app_usage(options->onto ? "name the sources to add to the snapshot"
                                       : "name the sources, and the snapshot to write last",
                         "import");
    if (options->describe && options->keys)
        return app_usage("--describe and --keys both state the keys; pass one", "import");
    import = (struct import_command){.file = options->onto ? options->onto : argv[names]};
    bool ok = options->repair ? import_repair(&import, options, &err)
                              : import_start(&import, options, names, argv, &err) &&
                                    import_run_command(&import, &err);
    if (err.kind == ERROR_NOT_FOUND)
        err.kind = ERROR_INVALID; /* a file of this machine, and no item */
    if (!ok && err.kind)
        app_report_error(&import.app, NULL, &err);
    int status = import.app.status;
    import_clean_up(&import);
    if (import_signal == 0)
        return status;
    output_end_by(import_signal);
    return EXIT_FAILURE;
}
