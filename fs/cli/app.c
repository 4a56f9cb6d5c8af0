#include "fs/cli/app.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/base/crypto.h"
#include "core/base/printable.h"
#include "core/condition/where.h"
#include "core/describe/explain.h"
#include "core/json/writer.h"
#include "core/map/map.h"
#include "core/read/place.h"
#include "core/read/resolve.h"
#include "core/sources.h"
#include "core/stored_map.h"
#include "fs/cli/mount_table.h"
#include "fs/cli/progress.h"
#include "fs/cli/prompt.h"

static void app_write_log(void *app, enum log_level level, const char *line)
{
    app_note(app, level, NULL, line);
}

/* Sets OUT to FOLDER and REST. True if that file exists. A file that must not be read is not passed
 * over: it may name secrets. */
static bool app_try_map(struct buf *out, const char *folder, const char *rest)
{
    buf_truncate(out, 0);
    if (!folder || folder[0] == '\0')
        return false;
    buf_add_text(out, folder);
    buf_add_text(out, rest);
    return !out->failed && access(buf_text(out), F_OK) == 0;
}

/* The first snapshot of the options that contains a map; NULL for none. */
static const char *app_mapped_snapshot(const struct options *options)
{
    const char *variable = options_snapshot_variable(options);
    for (unsigned i = 0; i < options->snapshot_count; i++)
        if (stored_map_is_in(options->snapshots[i]))
            return options->snapshots[i];
    return variable && stored_map_is_in(variable) ? variable : NULL;
}

bool app_map_is_of_snapshot(const struct options *options, const char *file)
{
    const char *variable = options_snapshot_variable(options);
    bool is_one = variable && strcmp(file, variable) == 0;
    for (unsigned i = 0; i < options->snapshot_count; i++)
        is_one = is_one || strcmp(file, options->snapshots[i]) == 0;
    return is_one && !options->map;
}

bool app_look_for_map(const struct options *options, struct buf *out)
{
    if (options->no_map)
        return false;
    const char *given = options->map ? options->map : app_mapped_snapshot(options);
    if (!given)
        given = getenv("DDBFS_MAP");
    if (given && given[0]) {
        buf_add_text(out, given);
        return true;
    }
    const char *config = getenv("XDG_CONFIG_HOME");
    bool home = !config || config[0] == '\0';
    bool found = app_try_map(out, config, "/ddbfs/map.json") ||
                 (home && app_try_map(out, getenv("HOME"), "/.config/ddbfs/map.json")) ||
                 app_try_map(out, "/etc/ddbfs", "/map.json");
    if (!found)
        buf_truncate(out, 0);
    return found;
}

bool app_find_map(const struct options *options, struct buf *out)
{
    if (app_look_for_map(options, out))
        return true;
    fprintf(stderr,
            "ddbfs: no map was found; use --map FILE, set DDBFS_MAP, or write "
            "~/.config/ddbfs/map.json (see docs/map.md); " MAP_TABLES_NAME "/ needs no map\n");
    return false;
}

static bool app_open_parts(struct app *app, size_t cache_bytes, struct error *err)
{
    const struct options *options = app->options;
    app->loop = loop_new(clock_system());
    if (!app->loop)
        return error_set(err, ERROR_NO_MEMORY, "can't start the event loop: %s", strerror(errno));
    app->cache = cache_new(app->loop, cache_bytes);
    app->walks = walks_new(app->cache, app->loop, cache_bytes / TRANSCRIPT_SHARES);
    struct sources_options sources = {
        .loop = app->loop,
        .log = &app->log,
        .deadline_ms = options->timeout_ms,
        .most_items = options->max_entries,
        .over = {.profile = options->profile,
                 .region = options->region,
                 .endpoint_url = options->endpoint_url},
        .snapshots = options->snapshots,
        .snapshot_count = options->snapshot_count,
        .snapshots_named_by = "--snapshot",
        .snapshots_are_past = options->snapshots_are_past,
        .user_agent = "ddbfs/" DDBFS_VERSION,
        .ask_code = options->unattended ? NULL : prompt_for_code,
        .may_scan = options->allow_scan,
        .slow_page_ms = options->parallel_ms,
    };
    app->snapshot = options_snapshot_variable(options);
    if (app->snapshot) {
        sources.snapshots = &app->snapshot;
        sources.snapshot_count = 1;
        sources.snapshots_named_by = "DDBFS_SNAPSHOT";
    }
    app->sources = sources_new(&sources);
    struct catalog_options catalog = {
        .loop = app->loop,
        .source = sources_for,
        .source_arg = app->sources,
        .stale_ms = options->stale_ms,
    };
    app->catalog = app->sources ? catalog_new(&catalog) : NULL;
    return (app->cache && app->walks && app->catalog) || error_no_memory(err);
}

void app_report_map(struct app *app, const char *file, const struct findings *findings,
                    const struct error *why, size_t most)
{
    struct error each;
    size_t shown = findings->count < most ? findings->count : most;
    if (shown == 0 || findings->no_memory)
        app_report_error(app, NULL, why);
    for (size_t i = 0; i < shown && !findings->no_memory; i++) {
        CLEAN_UP(buf_clean_up) struct buf place = {0};
        finding_at_write(findings->items[i].at, file, &place);
        error_set(&each, why->kind, "%s: %s", buf_text(&place), findings->items[i].text);
        app_report_error(app, NULL, &each);
    }
    size_t others = findings->count - shown + findings->left_out;
    if (others == 0 || findings->no_memory)
        return;
    error_set(&each, why->kind, "%s: and %zu more%s", file, others,
              findings->count > shown ? "; ddbfs check lists all" : "");
    app_report_error(app, NULL, &each);
}

bool app_init(struct app *app, const struct options *options, const char *map_file,
              size_t cache_bytes)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct error why;
    bool is_read = options->map_text && options->map && strcmp(map_file, options->map) == 0;
    const struct map_origin origin = {options->map_folder,
                                      is_read ? options->map_is_stored
                                              : app_map_is_of_snapshot(options, map_file)};
    const struct map *map =
        is_read ? map_parse_of(map_file, &origin, span_text(options->map_text), &findings, &why)
                : stored_map_load(map_file, &origin, &findings, &why);
    bool ok = app_start(app, options, map, cache_bytes);
    if (!map)
        app_report_map(app, map_file, &findings, &why, FINDINGS_SHOWN);
    return ok;
}

bool app_init_any(struct app *app, const struct options *options, size_t cache_bytes)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0};
    struct error why;
    if (app_look_for_map(options, &file))
        return app_init(app, options, buf_text(&file), cache_bytes);
    const struct map *none = map_none();
    bool ok = app_start(app, options, none, cache_bytes);
    error_no_memory(&why);
    if (!none)
        app_report_error(app, NULL, &why);
    return ok;
}

bool app_open(struct app *app, const struct options *options, size_t cache_bytes)
{
    struct error why;
    digest_skip_clean_up();
    /* Prevents core collectors and debuggers from reading credentials. Only after the map has been
     * read: the process could no longer open its own /dev/fd, as in --map <(…). */
    prctl(PR_SET_DUMPABLE, 0);
    *app = (struct app){
        .options = options,
        .log = {options->verbose ? LOG_LEVEL_INFO : LOG_LEVEL_WARNING, app_write_log, app},
    };
    if (app_open_parts(app, cache_bytes, &why))
        return true;
    app_report_error(app, NULL, &why);
    return false;
}

/* False if the recording that the options name can't begin. */
static bool app_record(struct app *app, struct error *err)
{
    const struct options *options = app->options;
    bool has_map = !map_is_none(app->map);
    const struct sources_recording records = {
        .file = options->record,
        .map = has_map ? app->map->text : NULL,
        .map_name = has_map ? app->map->file : NULL,
        .suffix = options->suffix,
        .show_secrets = options->show_secrets,
    };
    if (options->record && app->snapshot)
        return error_set(
            err, ERROR_INVALID,
            "--record does not go with DDBFS_SNAPSHOT: that is a file already; unset it");
    return !options->record || sources_record(app->sources, &records, err);
}

/* Files of a recording have the names that they had, unless the options name another suffix. */
static const char *app_find_suffix(struct app *app)
{
    const struct options *options = app->options;
    const char *file = options->snapshot_count == 1 ? options->snapshots[0] : app->snapshot;
    if (!options->suffix[0] && file)
        app->suffix = snapshots_read_suffix(file);
    return app->suffix ? app->suffix : options->suffix;
}

bool app_start(struct app *app, const struct options *options, const struct map *map,
               size_t cache_bytes)
{
    struct error why;
    bool opened = app_open(app, options, cache_bytes);
    app->map = map;
    if (!opened || !map)
        return false;
    const char *suffix = app_find_suffix(app);
    const struct place_options names = {.suffix = suffix};
    bool ok = names_suit(map, &names, &why);
    if (ok && options->scan_limited && !options->allow_scan)
        ok = error_set(&why, ERROR_INVALID,
                       "--scan-limit has no effect without --allow-scan; add it");
    ok = ok && app_record(app, &why);
    if (!ok) {
        app_report_error(app, NULL, &why);
        return false;
    }
    app->tree = (struct tree){
        .map = app->map,
        .loop = app->loop,
        .cache = app->cache,
        .source = sources_for,
        .source_arg = app->sources,
        .texts = &describe_texts,
        .describe = sources_describe,
        .log = &app->log,
        .models = catalog_models(app->catalog),
        .walks = app->walks,
        .names = {.suffix = suffix,
                  .opens_probed = true,
                  .scan = options->allow_scan ? &options->scan_limits : NULL,
                  .moments = snapshots_moments(sources_snapshots(app->sources))},
        .snapshot_bytes = (size_t)options->cache_bytes / SNAPSHOT_SHARES,
        .show_secrets = options->show_secrets,
        .compact = options->compact,
        .stale_ms = options->stale_ms,
    };
    return true;
}

bool app_open_snapshots(struct app *app)
{
    struct error why;
    bool ok = snapshots_open_given(sources_snapshots(app->sources), &why);
    if (!ok)
        app_report_error(app, NULL, &why);
    return ok;
}

void app_show_progress(struct app *app)
{
    app->progress = progress_start(app->loop, app->sources);
}

void app_clean_up(struct app *app)
{
    progress_end(app->progress);
    if (app->sources && !sources_end_recording(app->sources))
        app->status = EXIT_FAILURE;
    catalog_destroy(app->catalog);
    sources_destroy(app->sources);
    walks_destroy(app->walks);
    cache_destroy(app->cache);
    loop_destroy(app->loop);
    map_unref(app->map);
    free(app->suffix);
}

void app_print_safely(const char *text)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, span_text(text), "");
    fputs(buf_text(&safe), stderr);
}

static void app_add_throttles(struct json_writer *json, const struct error *err)
{
    if (!error_states_throttles(err))
        return;
    json_writer_begin_array(json, "throttled", JSON_TIGHT);
    for (size_t i = 0; i < err->throttle_count; i++) {
        json_writer_begin_object(json, NULL, JSON_TIGHT);
        json_writer_add_text(json, "reason", err->throttles[i].reason);
        if (err->throttles[i].resource[0])
            json_writer_add_text(json, "resource", err->throttles[i].resource);
        json_writer_end(json);
    }
    json_writer_end(json);
}

void app_write_error(struct buf *out, const char *path, const struct error *err)
{
    struct json_writer json = json_writer_to(out);
    const char *name = strerrorname_np(error_errno(err->kind));
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    if (path)
        json_writer_add_text(&json, "path", path);
    json_writer_add_text(&json, "kind", error_word(err->kind));
    json_writer_add_text(&json, "errno", name ? name : "");
    json_writer_add_text(&json, "text", err->text);
    json_writer_add_text(&json, "fixable_by", error_fixable_by(err->kind));
    json_writer_add_text(&json, "hint", error_hint(err));
    if (err->operation)
        json_writer_add_text(&json, "operation", err->operation);
    if (err->table[0])
        json_writer_add_text(&json, "table", err->table);
    if (err->index[0])
        json_writer_add_text(&json, "index", err->index);
    if (err->code[0])
        json_writer_add_text(&json, "code", err->code);
    if (err->request_id[0])
        json_writer_add_text(&json, "request_id", err->request_id);
    app_add_throttles(&json, err);
    json_writer_end(&json);
}

static void app_print_object(struct buf *object)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    buf_add_char(object, '\n');
    json_add_printable(&safe, buf_span(object));
    fputs(buf_text(&safe), stderr);
}

static void app_note_in_json(enum log_level level, const char *path, const char *text)
{
    static const char *const kinds[] = {[LOG_LEVEL_ERROR] = "error",
                                        [LOG_LEVEL_WARNING] = "warning",
                                        [LOG_LEVEL_INFO] = "info",
                                        [LOG_LEVEL_DEBUG] = "info"};
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    struct json_writer json = json_writer_to(&line);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    if (path)
        json_writer_add_text(&json, "path", path);
    json_writer_add_text(&json, "kind", kinds[level]);
    json_writer_add_text(&json, "message", text);
    json_writer_end(&json);
    app_print_object(&line);
}

void app_note(const struct app *app, enum log_level level, const char *path, const char *text)
{
    fflush(stdout);
    if (app->options->json) {
        app_note_in_json(level, path, text);
        return;
    }
    fputs(level == LOG_LEVEL_WARNING ? "ddbfs: warning: " : "ddbfs: ", stderr);
    if (path) {
        app_print_safely(path);
        fputs(": ", stderr);
    }
    app_print_safely(text);
    fputc('\n', stderr);
}

static void app_report_error_in_words(const char *path, const struct error *err)
{
    bool shown = strstr(err->text, err->code) != NULL;
    fputs("ddbfs: ", stderr);
    if (path) {
        app_print_safely(path[0] ? path : "/");
        fputs(": ", stderr);
    }
    app_print_safely(err->text);
    if (err->request_id[0])
        fprintf(stderr, " (%s%srequest %s)", shown ? "" : err->code,
                shown || !err->code[0] ? "" : ", ", err->request_id);
    fputc('\n', stderr);
}

void app_report_error(struct app *app, const char *path, const struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf line = {0};
    fflush(stdout);
    if (app->options->json) {
        app_write_error(&line, path, err);
        app_print_object(&line);
    } else {
        app_report_error_in_words(path, err);
    }
    bool not_found = err->kind == ERROR_NOT_FOUND && app->status != EXIT_FAILURE;
    app->status = not_found ? EXIT_NOT_FOUND : EXIT_FAILURE;
}

int app_fail(const char *path, const char *text)
{
    fflush(stdout);
    fputs("ddbfs: ", stderr);
    app_print_safely(path);
    fprintf(stderr, ": %s\n", text);
    return EXIT_FAILURE;
}

int app_usage(const char *text, const char *command)
{
    fputs("ddbfs: ", stderr);
    app_print_safely(text);
    fprintf(stderr, "; see ddbfs %s%s--help\n", command ? command : "", command ? " " : "");
    return EXIT_USAGE;
}

/* Whether a path whose first step is FIRST leads to tables without a map: now or at a time. */
static bool app_step_is_tables(struct span first)
{
    struct span ending = SPAN_LITERAL(PLACE_TIMES_ENDING);
    if (span_ends(first, ending))
        first.size -= ending.size;
    return span_is(first, MAP_TABLES_NAME);
}

/* Whether PATH begins with a folder of this machine, and with no environment of the map. */
static bool app_path_is_local(const struct app *app, const char *path, struct span first)
{
    CLEAN_UP(buf_clean_up) struct buf folder = {0}, name = {0};
    if (path[0] != '/' || first.size == 0 || app_step_is_tables(first))
        return false;
    buf_add_span(&name, first);
    buf_printf(&folder, "/%s", buf_text(&name));
    for (const struct map_environment *each = app->map->environments; each; each = each->next)
        if (map_environment_is_named(app->map, each, buf_text(&name), NULL))
            return false;
    return access(buf_text(&folder), F_OK) == 0;
}

void app_hint(const struct app *app, const char *path, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf whole = {0}, root = {0};
    struct span left = span_text(path), first = {0};
    bool any = place_next_segment(&left, &first);
    if (!app->map || err->kind != ERROR_NOT_FOUND)
        return;
    if (any && app_path_is_local(app, path, first)) {
        err->kind = ERROR_INVALID;
        error_add(err, "; if a mount is expected there, it has ended: see ddbfs status");
    } else if (any && path[0] != '/' && mount_table_resolve(".", &whole, &root)) {
        error_add(err, "; in a mount, a path below the current directory begins with ./");
    }
    bool needs_map = map_is_none(app->map) && !(any && app_step_is_tables(first));
    if (needs_map && err->kind == ERROR_NOT_FOUND && app->is_drafting)
        error_set(err, ERROR_INVALID,
                  "needs a map, which ddbfs map reads only with --map FILE; without it, "
                  "use " MAP_TABLES_NAME "/");
    else if (needs_map && err->kind == ERROR_NOT_FOUND)
        err->kind = ERROR_INVALID;
}

bool app_parse_filter(struct app *app, struct arena *arena, struct cond *out)
{
    struct error err, why;
    if (where_parse(span_text(app->options->where), arena, out, &err))
        return true;
    error_set(&why, err.kind, "--where: %s", err.text);
    app_report_error(app, NULL, &why);
    app->status = err.kind == ERROR_INVALID ? EXIT_USAGE : EXIT_FAILURE;
    return false;
}

struct resolved {
    struct loop *loop;
    struct place *place;
    struct error *err;
    bool done;
};

static void app_take_place(void *arg, struct place *place, const struct error *err)
{
    struct resolved *resolved = arg;
    resolved->place = place;
    if (err)
        *resolved->err = *err;
    resolved->done = true;
    loop_stop(resolved->loop);
}

static struct place *app_resolve_with(struct app *app, const char *path, bool through,
                                      struct error *err)
{
    struct resolved resolved = {.loop = app->loop, .err = err};
    if ((through ? tree_resolve_through : tree_resolve)(&app->tree, NULL, span_text(path),
                                                        app_take_place, &resolved))
        while (!resolved.done && loop_run(app->loop)) { /* earlier work may stop the loop, too */
        }
    if (!resolved.done)
        error_no_memory(err);
    if (!resolved.place)
        app_hint(app, path, err);
    return resolved.place;
}

struct place *app_resolve(struct app *app, const char *path, struct error *err)
{
    return app_resolve_with(app, path, false, err);
}

struct place *app_resolve_through(struct app *app, const char *path, struct error *err)
{
    return app_resolve_with(app, path, true, err);
}
