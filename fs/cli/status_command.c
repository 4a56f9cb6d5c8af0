/* ddbfs status [--json]: the mounts of this machine, each with its map, its start, and what it has
 * read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/instant.h"
#include "core/base/printable.h"
#include "core/json/json.h"
#include "fs/cli/app.h"
#include "fs/cli/control_file.h"
#include "fs/cli/control_path.h"
#include "fs/cli/mount_table.h"

enum { STATUS_CELLS = 5 };

static const char *const status_heads[STATUS_CELLS] = {"MOUNTPOINT", "MAP", "START", "REQUESTS",
                                                       "RCU"};

/* One mount. WHY, if there is one, stands in place of all that the mount tells of itself. */
struct status_row {
    char *cells[STATUS_CELLS]; /* in the arena of all */
    const char *why;
};

/* Parses the control file NAME of the mount at ROOT; DOC borrows TEXT. 0, or an errno. */
static int status_read(const char *root, const char *name, struct buf *text, struct json_doc *doc)
{
    CLEAN_UP(buf_clean_up) struct buf file = {0};
    buf_printf(&file, "%s/" CONTROL_NAME "/%s", root, name);
    if (!control_file_read(buf_text(&file), text))
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

/* In the time of this machine. */
static void status_write_start(struct json record, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    char date[32];
    struct tm local;
    json_read_string(json_member(record, "started"), &text);
    struct instant start = instant_parse(buf_span(&text));
    time_t seconds = instant_timespec(start.ms).tv_sec;
    localtime_r(&seconds, &local);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &local);
    buf_add_text(out, start.known ? date : "-");
}

static void status_fill_cells(struct status_row *row, struct arena *arena, struct json record,
                              struct json stats)
{
    CLEAN_UP(buf_clean_up)
    struct buf map = {0}, shown = {0}, start = {0}, requests = {0}, rcu = {0};
    json_read_string(json_member(record, "map"), &map);
    printable_add(&shown, map.size ? buf_span(&map) : SPAN_LITERAL("-"), "");
    status_write_start(record, &start);
    buf_printf(&requests, "%lld", status_requests(stats));
    buf_add_span(&rcu, json_raw(json_member(stats, "consumed_capacity")));
    const struct buf *const texts[STATUS_CELLS] = {NULL, &shown, &start, &requests, &rcu};
    for (int i = 1; i < STATUS_CELLS; i++)
        row->cells[i] = arena_text(arena, buf_span(texts[i]));
}

static void status_write_json(const char *root, const char *why, struct json record,
                              struct json stats, struct buf *out)
{
    buf_add_text(out, "{\"mountpoint\":");
    json_write_string(out, span_text(root));
    if (why) {
        buf_add_text(out, ",\"error\":");
        json_write_string(out, span_text(why));
    } else {
        buf_add_text(out, ",\"map\":");
        buf_add_span(out, json_raw(json_member(record, "map")));
        buf_add_text(out, ",\"started\":");
        buf_add_span(out, json_raw(json_member(record, "started")));
        buf_add_text(out, ",\"pid\":");
        buf_add_span(out, json_raw(json_member(record, "pid")));
        buf_printf(out, ",\"requests\":%lld,\"rcu\":", status_requests(stats));
        buf_add_span(out, json_raw(json_member(stats, "consumed_capacity")));
    }
    buf_add_text(out, "}\n");
}

static const char *status_why(int error, const char *root)
{
    if (error == 0)
        return NULL;
    if (control_file_mount_has_ended(error, root))
        return "its daemon has ended; take it away: ddbfs umount MOUNTPOINT";
    if (error == ETIMEDOUT)
        return "its daemon does not answer; wait, or take it away: ddbfs umount MOUNTPOINT";
    if (error == EACCES)
        return "only the user who has mounted it may read what it says of itself";
    return error == EBADMSG || error == ENOENT ? "another version of ddbfs has made it"
                                               : strerror(error);
}

/* Appends the mount to JSON, or fills its row. */
static void status_look(const char *root, struct status_row *row, struct arena *arena,
                        struct buf *json)
{
    CLEAN_UP(json_clean_up) struct json_doc record = {0}, stats = {0};
    CLEAN_UP(buf_clean_up) struct buf shown = {0}, record_text = {0}, stats_text = {0};
    int error = status_read(root, CONTROL_MOUNT, &record_text, &record);
    if (!error)
        error = status_read(root, "stats.json", &stats_text, &stats);
    row->why = status_why(error, root);
    printable_add(&shown, span_text(root), "");
    row->cells[0] = arena_text(arena, buf_span(&shown));
    if (json)
        status_write_json(root, row->why, json_root(&record), json_root(&stats), json);
    else if (!row->why)
        status_fill_cells(row, arena, json_root(&record), json_root(&stats));
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

int status_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf mounts = {0}, json = {0}, safe = {0};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    size_t count = 0;
    int status = EXIT_SUCCESS;
    (void)argv;
    if (argc > 0)
        return app_usage("status takes no words: it shows all mounts", "status");
    size_t most = mount_table_list(&mounts);
    struct status_row *rows = arena_array(&arena, most, sizeof *rows);
    for (size_t at = 0; rows && at < mounts.size;) {
        const char *root = mounts.data + at;
        status_look(root, &rows[count], &arena, options->json ? &json : NULL);
        status = rows[count].why ? EXIT_FAILURE : status;
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
        fputs("ddbfs: there is no mount of ddbfs here; make one: ddbfs mount MOUNTPOINT\n", stderr);
    else if (!options->json)
        status_print(rows, count);
    return status;
}
