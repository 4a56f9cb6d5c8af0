#include "fs/mount/control.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/instant.h"
#include "core/base/quantity.h"
#include "core/sources.h"
#include "fs/mount/account.h"
#include "fs/mount/journal.h"
#include "fs/mount/ledger.h"
#include "fs/mount/metrics.h"
#include "fs/mount/usage.h"

/* The most accounts, and the most groups, in stats.json. */
enum { MOST_WAITING = 100, MOST_BUDGETS = 100 };

static void control_add_number(struct json_writer *json, const char *name, double number)
{
    decimal_write(number, json_writer_add_value(json, name));
}

static void control_add_sum(struct json_writer *json, const struct usage_sum *sum)
{
    json_writer_add_integer(json, "requests", (int64_t)sum->requests);
    json_writer_add_integer(json, "failed_requests", (int64_t)sum->failures);
    spent_write_members(&sum->spent, "units", json);
}

static void control_add_programs(const struct mount *mount, struct json_writer *json)
{
    struct usage_program each;
    json_writer_begin_array(json, "programs", JSON_LINES);
    for (size_t i = 0; usage_program_at(mount->usage, i, &each); i++) {
        json_writer_begin_object(json, NULL, JSON_SPACED);
        json_writer_add_string(json, "program", each.name);
        json_writer_add_integer(json, "questions", (int64_t)each.questions);
        json_writer_add_integer(json, "cached", (int64_t)each.cached);
        json_writer_add_integer(json, "failed", (int64_t)each.failed);
        control_add_sum(json, &each.sum);
        json_writer_begin_object(json, "last_minute", JSON_SPACED);
        json_writer_add_integer(json, "questions", (int64_t)each.minute_questions);
        json_writer_add_integer(json, "cached", (int64_t)each.minute_cached);
        control_add_sum(json, &each.minute);
        json_writer_end(json);
        json_writer_end(json);
    }
    json_writer_end(json);
}

static void control_add_patterns(const struct mount *mount, struct json_writer *json)
{
    struct usage_pattern each;
    json_writer_begin_array(json, "uses", JSON_LINES);
    for (size_t i = 0; usage_pattern_at(mount->usage, i, &each); i++) {
        json_writer_begin_object(json, NULL, JSON_SPACED);
        json_writer_add_string(json, "table", each.table);
        json_writer_add_string(json, "index", each.index);
        json_writer_add_string(json, "pattern", each.pattern);
        json_writer_add_string(json, "program", each.program);
        control_add_sum(json, &each.sum);
        json_writer_end(json);
    }
    json_writer_end(json);
}

/* Requests that the service throttled, by reason, resource and program. */
static void control_add_throttles(const struct mount *mount, struct json_writer *json)
{
    struct usage_throttle each;
    json_writer_begin_array(json, "throttles", JSON_LINES);
    for (size_t i = 0; usage_throttle_at(mount->usage, i, &each); i++) {
        json_writer_begin_object(json, NULL, JSON_SPACED);
        json_writer_add_string(json, "table", each.table);
        json_writer_add_string(json, "index", each.index);
        json_writer_add_string(json, "reason", each.reason);
        json_writer_add_string(json, "resource", each.resource);
        json_writer_add_string(json, "program", each.program);
        json_writer_add_integer(json, "requests", (int64_t)each.requests);
        json_writer_add_integer(json, "last_minute", (int64_t)each.minute);
        json_writer_end(json);
    }
    json_writer_end(json);
}

/* Accounts that are not finished, the newest first. */
static void control_add_waiting(const struct mount *mount, struct json_writer *json)
{
    unsigned count = 0;
    json_writer_begin_array(json, "waiting", JSON_LINES);
    LIST_EACH (const struct account, each, &mount->accounts, node) {
        if (count++ == MOST_WAITING)
            break;
        json_writer_begin_object(json, NULL, JSON_SPACED);
        json_writer_add_integer(json, "pid", each->process.id.pid);
        json_writer_add_text(json, "program", each->process.program);
        account_write_path(each, json);
        json_writer_add_integer(json, "ms", account_took_ms(each));
        json_writer_add_integer(json, "requests", each->requests);
        spent_write_members(&each->spent, "units", json);
        json_writer_end(json);
    }
    json_writer_end(json);
}

/* Groups with a limit, and their consumption; the latest request first. */
static void control_add_budgets(const struct mount *mount, struct json_writer *json)
{
    struct limits_group_sum group;
    double most = limits_stats(mount->limits).per_process;
    json_writer_begin_array(json, "budgets", JSON_LINES);
    for (size_t i = 0; i < MOST_BUDGETS && limits_group_at(mount->limits, i, &group); i++) {
        json_writer_begin_object(json, NULL, JSON_SPACED);
        json_writer_add_integer(json, "group", group.group);
        json_writer_add_text(json, "program", group.program);
        control_add_number(json, "units", group.units);
        control_add_number(json, "left", most > group.units ? most - group.units : 0);
        json_writer_add_integer(json, "refused", (int64_t)group.refused);
        json_writer_end(json);
    }
    json_writer_end(json);
}

/* null without a recording. */
static void control_add_recording(const struct mount *mount, struct json_writer *json)
{
    struct sources_recorded recorded = sources_recorded(mount->app->sources);
    if (!recorded.file) {
        json_writer_add_null(json, "recording");
        return;
    }
    json_writer_begin_object(json, "recording", JSON_SPACED);
    json_writer_add_text(json, "file", recorded.file);
    json_writer_add_integer(json, "responses", (int64_t)recorded.responses);
    if (recorded.stopped.kind == ERROR_NONE)
        json_writer_add_null(json, "stopped");
    else
        json_writer_add_text(json, "stopped", recorded.stopped.text);
    json_writer_end(json);
}

static void control_write_stats(const struct mount *mount, struct buf *out)
{
    struct counter counters[COUNTERS];
    struct source_stats source = sources_stats(mount->app->sources);
    struct json_writer json = json_writer_to(out);
    metrics_read_counters(mount, counters);
    json_writer_begin_object(&json, NULL, JSON_LINES);
    json_writer_add_text(&json, "version", DDBFS_VERSION);
    json_writer_begin_object(&json, "requests", JSON_SPACED);
    for (size_t i = 0; i < source.operation_count; i++)
        json_writer_add_integer(&json, source.operations[i].name,
                                (int64_t)source.operations[i].count);
    json_writer_end(&json);
    for (size_t i = 0; i < COUNTERS; i++)
        control_add_number(&json, counters[i].name, counters[i].value);
    control_add_recording(mount, &json);
    control_add_programs(mount, &json);
    control_add_patterns(mount, &json);
    control_add_throttles(mount, &json);
    control_add_waiting(mount, &json);
    control_add_budgets(mount, &json);
    json_writer_end(&json);
    buf_add_char(out, '\n');
}

static void control_add_option(void *arg, const char *name, const char *value)
{
    if (value)
        json_writer_add_text(arg, name, value);
    else
        json_writer_add_bool(arg, name, true);
}

/* For `ddbfs status`, and for commands with a path below the mount. */
static void control_write_mount(const struct mount *mount, struct buf *out)
{
    const struct app *app = mount->app;
    struct json_writer json = json_writer_to(out);
    CLEAN_UP(buf_clean_up) struct buf started = {0};
    instant_write(&started, mount->dated_ms);
    out->failed = out->failed || started.failed;
    json_writer_begin_object(&json, NULL, JSON_LINES);
    if (map_is_none(app->map))
        json_writer_add_null(&json, "map");
    else
        json_writer_add_text(&json, "map", app->map->file);
    if (app->map->is_stored)
        json_writer_add_bool(&json, "map_is_stored", true);
    json_writer_add_string(&json, "started", buf_span(&started));
    json_writer_add_integer(&json, "pid", getpid());
    json_writer_begin_object(&json, "options", JSON_SPACED);
    options_each_inherited(app->options, control_add_option, &json);
    json_writer_end(&json);
    if (app->options->snapshot_count > 0) {
        json_writer_begin_array(&json, "snapshots", JSON_SPACED);
        for (unsigned i = 0; i < app->options->snapshot_count; i++)
            json_writer_add_text(&json, NULL, app->options->snapshots[i]);
        json_writer_end(&json);
    }
    json_writer_end(&json);
    buf_add_char(out, '\n');
}

static void control_write_ledger(const struct mount *mount, struct buf *out)
{
    ledger_write(mount->ledger, out);
}

/* The text that was loaded, with its comments. */
static void control_write_map(const struct mount *mount, struct buf *out)
{
    buf_add_text(out, mount->app->map->text);
}

static void control_write_errors(const struct mount *mount, struct buf *out)
{
    journal_write_errors(mount->journal, out);
}

static void control_write_log(const struct mount *mount, struct buf *out)
{
    journal_write_lines(mount->journal, out);
}

static void control_write_recent(const struct mount *mount, struct buf *out)
{
    recent_paths_write(mount->recent, out);
}

const char *const control_names[] = {"errors",   "ledger.jsonl", "log",
                                     "map.json", "metrics",      CONTROL_MOUNT,
                                     "recent",   "stats.json",   NULL};

bool control_write(const struct mount *mount, struct span name, struct buf *out)
{
    static void (*const writers[])(const struct mount *, struct buf *) = {
        control_write_errors, control_write_ledger, control_write_log,    control_write_map,
        metrics_write,        control_write_mount,  control_write_recent, control_write_stats};
    for (size_t i = 0; control_names[i]; i++) {
        if (!span_is(name, control_names[i]))
            continue;
        writers[i](mount, out);
        return true;
    }
    return false;
}

struct recent_path {
    char *bytes; /* owned */
    size_t size;
};

struct recent_paths {
    size_t count;
    struct recent_path paths[RECENT_PATHS_MOST]; /* the newest last */
};

struct recent_paths *recent_paths_new(void)
{
    return calloc(1, sizeof(struct recent_paths));
}

void recent_paths_destroy(struct recent_paths *recent)
{
    if (!recent)
        return;
    for (size_t i = 0; i < recent->count; i++)
        free(recent->paths[i].bytes);
    free(recent);
}

static struct recent_path recent_paths_take(struct recent_paths *recent, size_t at)
{
    struct recent_path taken = recent->paths[at];
    recent->count--;
    memmove(&recent->paths[at], &recent->paths[at + 1], (recent->count - at) * sizeof taken);
    return taken;
}

void recent_paths_add(struct recent_paths *recent, struct span path)
{
    struct recent_path added = {NULL, path.size};
    for (size_t i = recent->count; i-- > 0 && !added.bytes;)
        if (span_equal(span_of(recent->paths[i].bytes, recent->paths[i].size), path))
            added = recent_paths_take(recent, i);
    if (!added.bytes) {
        added.bytes = malloc(path.size + 1);
        if (!added.bytes)
            return;
        memcpy(added.bytes, path.data, path.size);
        if (recent->count == RECENT_PATHS_MOST)
            free(recent_paths_take(recent, 0).bytes);
    }
    recent->paths[recent->count++] = added;
}

void recent_paths_note(const struct mount *mount, const struct node *directory, struct span name)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (!directory || !node_place(directory) ||
        !place_next_unlisted(node_place(directory), &mount->app->tree.names, NULL))
        return;
    nodes_path(directory, name, &path);
    if (!path.failed)
        recent_paths_add(mount->recent, buf_span(&path));
}

void recent_paths_write(const struct recent_paths *recent, struct buf *out)
{
    for (size_t i = recent->count; i-- > 0;) {
        buf_add(out, recent->paths[i].bytes, recent->paths[i].size);
        buf_add_char(out, '\n');
    }
}
