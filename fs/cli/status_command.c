/* ddbfs status [--json]: the mounts of this machine: map, start, requests and RCU of each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/json/json.h"
#include "core/json/writer.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/mount_table.h"

enum { STATUS_CELLS = 5 };

static const char *const status_heads[STATUS_CELLS] = {"MOUNTPOINT", "MAP", "START", "REQUESTS",
                                                       "RCU"};

struct status_row {
    char *cells[STATUS_CELLS]; /* in the arena */
    const char *why;           /* the mount is not read: replaces all cells but the first */
    char *stopped;             /* in the arena; why its recording has stopped; "": it has not */
};

/* Parses a control file; DOC borrows TEXT. Returns 0 or an errno. */
static int status_read(const char *root, const char *name, struct buf *text, struct json_doc *doc)
{
    if (!live_mount_read(root, name, text))
        return errno;
    bool ok = json_parse(doc, buf_span(text), JSON_STRICT, NULL);
    return ok && json_is(json_root(doc), JSON_OBJECT) ? 0 : EBADMSG;
}

static long long status_requests(struct json stats)
{
    int64_t sum = 0, number;
    struct json value, name = json_first(json_member(stats, "requests"));
    for (; json_present(name); name = json_next(value)) {
        value = json_next(name);
        sum += json_read_int(value, &number) ? number : 0;
    }
    return sum;
}

static void status_fill_cells(struct status_row *row, struct arena *arena, struct json mount,
                              struct json stats)
{
    CLEAN_UP(buf_clean_up)
    struct buf map = {0}, shown = {0}, started = {0}, start = {0}, requests = {0}, rcu = {0};
    char date[32];
    struct tm local;
    json_read_string(json_member(mount, "map"), &map);
    struct json snapshot = json_first(json_member(mount, "snapshots"));
    for (; json_present(snapshot); snapshot = json_next(snapshot)) {
        if (json_string_is(snapshot, buf_span(&map)))
            continue; /* it has the map, too */
        buf_add_text(&map, map.size ? ", " : "");
        json_read_string(snapshot, &map);
    }
    printable_add(&shown, map.size ? buf_span(&map) : SPAN_LITERAL("-"), "");
    json_read_string(json_member(mount, "started"), &started);
    struct instant instant = instant_parse(buf_span(&started));
    time_t seconds = instant_timespec(instant.ms).tv_sec;
    localtime_r(&seconds, &local);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    buf_add_text(&start, instant.known ? date : "-");
    buf_printf(&requests, "%lld", status_requests(stats));
    buf_add_span(&rcu, json_raw(json_member(stats, "consumed_capacity")));
    const struct buf *const texts[STATUS_CELLS] = {NULL, &shown, &start, &requests, &rcu};
    for (int i = 1; i < STATUS_CELLS; i++)
        row->cells[i] = arena_text(arena, buf_span(texts[i]));
}

static void status_write_json(const char *root, const char *why, struct json mount,
                              struct json stats, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_text(&json, "mountpoint", root);
    if (why) {
        json_writer_add_text(&json, "error", why);
    } else {
        json_writer_add_raw(&json, "map", json_raw(json_member(mount, "map")));
        if (json_present(json_member(mount, "snapshots")))
            json_writer_add_raw(&json, "snapshots", json_raw(json_member(mount, "snapshots")));
        json_writer_add_raw(&json, "started", json_raw(json_member(mount, "started")));
        json_writer_add_raw(&json, "pid", json_raw(json_member(mount, "pid")));
        json_writer_add_integer(&json, "requests", status_requests(stats));
        json_writer_add_raw(&json, "rcu", json_raw(json_member(stats, "consumed_capacity")));
        if (json_is(json_member(stats, "recording"), JSON_OBJECT))
            json_writer_add_raw(&json, "recording", json_raw(json_member(stats, "recording")));
    }
    json_writer_end(&json);
    buf_add_char(out, '\n');
}

static const char *status_foreign(const char *root, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "a mount of user %u, whose control files are not read",
               (unsigned)mount_table_owner(root));
    return arena_text(arena, buf_span(&text));
}

static const char *status_why(int error, const char *root, struct arena *arena)
{
    if (error == 0)
        return NULL;
    if (live_mount_has_ended(error, root))
        return "its daemon has ended; unmount it: ddbfs umount MOUNTPOINT";
    if (error == ETIMEDOUT)
        return "its daemon does not respond; wait, or unmount it: ddbfs umount MOUNTPOINT";
    if (error == EPERM)
        return status_foreign(root, arena);
    if (error == EACCES)
        return "only the user who mounted it may read its control files";
    return error == EBADMSG || error == ENOENT ? "another version of ddbfs made the mount"
                                               : strerror(error);
}

static char *status_copy_stopped(struct json stats, struct arena *arena)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    json_read_string(json_member(json_member(stats, "recording"), "stopped"), &text);
    return arena_text(arena, buf_span(&text));
}

/* Fills ROW, or, unless it is NULL, appends the mount to JSON. */
static void status_read_mount(const char *root, struct status_row *row, struct arena *arena,
                              struct buf *json)
{
    CLEAN_UP(json_clean_up) struct json_doc mount = {0}, stats = {0};
    CLEAN_UP(buf_clean_up) struct buf shown = {0}, mount_text = {0}, stats_text = {0};
    int error = status_read(root, CONTROL_MOUNT, &mount_text, &mount);
    if (!error)
        error = status_read(root, "stats.json", &stats_text, &stats);
    row->why = status_why(error, root, arena);
    printable_add(&shown, span_text(root), "");
    row->cells[0] = arena_text(arena, buf_span(&shown));
    row->stopped = status_copy_stopped(json_root(&stats), arena);
    if (json)
        status_write_json(root, row->why, json_root(&mount), json_root(&stats), json);
    else if (!row->why)
        status_fill_cells(row, arena, json_root(&mount), json_root(&stats));
}

static void status_print_row(const char *const cells[], const char *why, const int widths[])
{
    if (why)
        printf("%-*s  %s\n", widths[0], cells[0], why);
    else
        printf("%-*s  %-*s  %-*s  %*s  %*s\n", widths[0], cells[0], widths[1], cells[1], widths[2],
               cells[2], widths[3], cells[3], widths[4], cells[4]);
}

static void status_print(const struct status_row *rows, size_t count)
{
    int widths[STATUS_CELLS];
    for (int k = 0; k < STATUS_CELLS; k++) {
        widths[k] = (int)strlen(status_heads[k]);
        for (size_t i = 0; i < count; i++) {
            int width = rows[i].cells[k] ? (int)strlen(rows[i].cells[k]) : 0;
            widths[k] = width > widths[k] ? width : widths[k];
        }
    }
    status_print_row(status_heads, NULL, widths);
    for (size_t i = 0; i < count; i++)
        status_print_row((const char *const *)rows[i].cells, rows[i].why, widths);
}

static void status_report_stopped(const struct status_row *row)
{
    if (!row->stopped[0])
        return;
    fputs("ddbfs: ", stderr);
    app_print_safely(row->cells[0]);
    fputs(": ", stderr);
    app_print_safely(row->stopped);
    fputc('\n', stderr);
}

int status_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf mounts = {0}, json = {0}, safe = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    size_t count = 0;
    int status = EXIT_SUCCESS;
    (void)argv;
    if (argc > 0)
        return app_usage("status takes no path; it lists all mounts", "status");
    size_t most = mount_table_list(false, &mounts);
    struct status_row *rows = arena_array(&arena, most, sizeof *rows);
    for (size_t at = 0; rows && at < mounts.size;) {
        const char *root = mounts.data + at;
        status_read_mount(root, &rows[count], &arena, options->json ? &json : NULL);
        bool is_well = !rows[count].why && rows[count].stopped && !rows[count].stopped[0];
        status = is_well ? status : EXIT_FAILURE;
        count++;
        at += strlen(root) + 1;
    }
    if (arena.failed || mounts.failed || json.failed) {
        fputs("ddbfs: out of memory\n", stderr);
        return EXIT_FAILURE;
    }
    json_add_printable(&safe, buf_span(&json));
    fputs(buf_text(&safe), stdout);
    if (count == 0)
        fputs("ddbfs: there is no mount of ddbfs; make one: ddbfs mount MOUNTPOINT\n", stderr);
    else if (!options->json)
        status_print(rows, count);
    for (size_t i = 0; i < count; i++)
        status_report_stopped(&rows[i]);
    return status;
}
