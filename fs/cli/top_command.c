/* ddbfs top [-n N] [MOUNTPOINT]: the RCU and requests of the programs in a mount, pending accesses
 * and budgets, from /.ddbfs/stats.json. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/printable.h"
#include "core/base/quantity.h"
#include "core/base/throttle.h"
#include "core/json/json.h"
#include "fs/cli/live_mount.h"
#include "fs/cli/screen.h"

enum {
    TOP_PERIOD_MS = 2000, /* the kernel caches stats.json for 100 ms */
    TOP_MINUTE_S = 60,    /* rates are of the last minute, or since the start */
};

/* 0 if the number is absent. */
static double top_number(struct json object, const char *name)
{
    char text[40] = "";
    struct span raw = json_raw(json_member(object, name));
    if (!json_is(json_member(object, name), JSON_NUMBER) || raw.size >= sizeof text)
        return 0;
    memcpy(text, raw.data, raw.size);
    return strtod(text, NULL);
}

static void top_add_text(struct buf *out, struct json object, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    json_read_string(json_member(object, name), &text);
    printable_add(out, buf_span(&text), "");
    out->failed = out->failed || text.failed;
}

static double top_seconds(struct json stats)
{
    double uptime = top_number(stats, "uptime_seconds");
    return uptime < 1 ? 1 : uptime < TOP_MINUTE_S ? uptime : TOP_MINUTE_S;
}

static void top_write_head(struct json stats, const char *root, struct buf *out)
{
    double rcu = 0, requests = 0, accesses = 0, cached = 0;
    double seconds = top_seconds(stats), most = top_number(stats, "max_rcu");
    unsigned long uptime = (unsigned long)top_number(stats, "uptime_seconds");
    double refused = top_number(stats, "refused_by_max_rcu") +
                     top_number(stats, "refused_by_max_rcu_per_process");
    struct json each = json_first(json_member(stats, "programs"));
    for (; json_present(each); each = json_next(each)) {
        struct json minute = json_member(each, "last_minute");
        rcu += top_number(minute, "units");
        requests += top_number(minute, "requests");
        accesses += top_number(minute, "questions");
        cached += top_number(minute, "cached");
    }
    buf_add_text(out, "ddbfs ");
    top_add_text(out, stats, "version");
    buf_add_text(out, " at ");
    printable_add(out, span_text(root), "");
    buf_printf(out, ", for %lu:%02lu:%02lu; ", uptime / 3600, uptime / 60 % 60, uptime % 60);
    decimal_write(top_number(stats, "consumed_capacity"), out);
    buf_printf(out, " RCU and %.0f failed requests in all\n",
               top_number(stats, "request_failures"));
    buf_printf(out, "the last minute: %.2f RCU/s", rcu / seconds);
    if (most > 0) {
        buf_add_text(out, " of ");
        decimal_write(most, out);
    }
    buf_printf(out, ", %.2f requests/s", requests / seconds);
    if (accesses > 0)
        buf_printf(out, "; %.0f %% of %.0f accesses from the cache", 100 * cached / accesses,
                   accesses);
    if (refused > 0)
        buf_printf(out, "; %.0f refused so far", refused);
    buf_add_char(out, '\n');
}

/* The greater number is first. */
static int top_order_numbers(double a, double b)
{
    return (a < b) - (a > b);
}

/* By the RCU of the last minute, then by its accesses, then by all RCU. */
static int top_order_programs(const void *a, const void *b)
{
    const struct json *x = a, *y = b;
    struct json one = json_member(*x, "last_minute"), other = json_member(*y, "last_minute");
    int order = top_order_numbers(top_number(one, "units"), top_number(other, "units"));
    if (!order)
        order = top_order_numbers(top_number(one, "questions"), top_number(other, "questions"));
    return order ? order : top_order_numbers(top_number(*x, "units"), top_number(*y, "units"));
}

static int top_order_waiting(const void *a, const void *b)
{
    const struct json *x = a, *y = b;
    return top_order_numbers(top_number(*x, "ms"), top_number(*y, "ms"));
}

static int top_order_budgets(const void *a, const void *b)
{
    const struct json *x = a, *y = b;
    return top_order_numbers(top_number(*x, "units"), top_number(*y, "units"));
}

static void top_write_program(struct json program, double seconds, struct buf *out)
{
    struct json minute = json_member(program, "last_minute");
    double accesses = top_number(minute, "questions");
    buf_printf(out, "%9.2f%9.2f", top_number(minute, "units") / seconds,
               top_number(minute, "requests") / seconds);
    if (accesses > 0)
        buf_printf(out, "%6.0f %%", 100 * top_number(minute, "cached") / accesses);
    else
        buf_printf(out, "%8s", "-");
    buf_printf(out, "%11.1f%10.0f%8.0f  ", top_number(program, "units"),
               top_number(program, "requests"), top_number(program, "failed"));
    top_add_text(out, program, "program");
}

static int top_order_throttles(const void *a, const void *b)
{
    const struct json *x = a, *y = b;
    int order = top_order_numbers(top_number(*x, "last_minute"), top_number(*y, "last_minute"));
    return order ? order
                 : top_order_numbers(top_number(*x, "requests"), top_number(*y, "requests"));
}

/* The reason in words has the names of the table and the index. A reason that is unknown, or was
 * not stated, is followed by them. */
static void top_write_throttle(struct json element, double seconds, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf reason = {0}, resource = {0};
    struct throttle throttle;
    (void)seconds;
    json_read_string(json_member(element, "reason"), &reason);
    json_read_string(json_member(element, "resource"), &resource);
    throttle_init(&throttle, buf_span(&reason), buf_span(&resource));
    buf_printf(out, "%9.0f%11.0f  ", top_number(element, "last_minute"),
               top_number(element, "requests"));
    top_add_text(out, element, "program");
    buf_add_text(out, "  ");
    throttle_write_words(&throttle, out);
    if (resource.size == 0) {
        buf_add_text(out, " of ");
        top_add_text(out, element, "table");
        buf_add_text(out, json_raw(json_member(element, "index")).size > 2 ? "/" : "");
        top_add_text(out, element, "index");
    }
    out->failed = out->failed || reason.failed || resource.failed;
}

static void top_write_waiting(struct json access, double seconds, struct buf *out)
{
    (void)seconds;
    buf_printf(out, "%9.1f%9.1f%8.0f  ", top_number(access, "ms") / 1000,
               top_number(access, "units"), top_number(access, "pid"));
    top_add_text(out, access, "program");
    buf_add_text(out, "  ");
    top_add_text(out, access, "path");
}

static void top_write_budget(struct json budget, double seconds, struct buf *out)
{
    (void)seconds;
    buf_printf(out, "%9.1f%9.1f%8.0f%8.0f  ", top_number(budget, "units"),
               top_number(budget, "left"), top_number(budget, "refused"),
               top_number(budget, "group"));
    top_add_text(out, budget, "program");
}

/* A head, and a line for each element of a member of stats.json. */
static const struct top_table {
    const char *member, *head;
    int (*order)(const void *, const void *);
    void (*write)(struct json element, double seconds, struct buf *out);
} top_programs = {"programs", "    RCU/S    REQ/S  CACHED        RCU  REQUESTS  FAILED  PROGRAM",
                  top_order_programs, top_write_program},
  top_throttles = {"throttles", "   MINUTE  THROTTLED  PROGRAM  WHY", top_order_throttles,
                   top_write_throttle},
  top_waiting = {"waiting", "  WAITS/S      RCU     PID  PROGRAM  PATH", top_order_waiting,
                 top_write_waiting},
  top_budgets = {"budgets", "      RCU     LEFT REFUSED   GROUP  PROGRAM", top_order_budgets,
                 top_write_budget};

static size_t top_count_rows(struct json stats, const struct top_table *table)
{
    struct json array = json_member(stats, table->member);
    return json_is(array, JSON_ARRAY) ? json_count(array) : 0;
}

/* Writes at most MOST rows; the last one has the number of omitted rows. Omits an empty table.
 */
static void top_write_table(struct json stats, const struct top_table *table, size_t most,
                            struct buf *out)
{
    size_t count = top_count_rows(stats, table), i = 0;
    size_t shown = count <= most ? count : most > 0 ? most - 1 : 0;
    struct json *rows = count > 0 ? calloc(count, sizeof *rows) : NULL;
    out->failed = out->failed || (count > 0 && !rows);
    if (!rows)
        return;
    for (struct json each = json_first(json_member(stats, table->member)); json_present(each);
         each = json_next(each))
        rows[i++] = each;
    qsort(rows, count, sizeof *rows, table->order);
    buf_printf(out, "\n%s\n", table->head);
    for (i = 0; i < shown; i++) {
        table->write(rows[i], top_seconds(stats), out);
        buf_add_char(out, '\n');
    }
    if (shown < count)
        buf_printf(out, "  and %zu more\n", count - shown);
    free(rows);
}

/* Appends a frame of at most ROWS lines (0: unlimited): the head has 2, and each table has 2 above
 * its rows. The lower tables have at most a fifth of the lines each. Returns 0 or an errno.
 */
static int top_write_frame(const char *root, unsigned rows, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!live_mount_read(root, "stats.json", &text))
        return errno;
    if (!json_parse(&doc, buf_span(&text), JSON_STRICT, NULL) ||
        !json_is(json_root(&doc), JSON_OBJECT))
        return EBADMSG;
    struct json stats = json_root(&doc);
    size_t fifth = rows > 0 ? rows / 5 : SIZE_MAX;
    size_t waiting = top_count_rows(stats, &top_waiting), used = 2 + 2;
    size_t budgets = top_count_rows(stats, &top_budgets);
    size_t throttles = top_count_rows(stats, &top_throttles);
    waiting = waiting < fifth ? waiting : fifth;
    budgets = budgets < fifth ? budgets : fifth;
    throttles = throttles < fifth ? throttles : fifth;
    used += (waiting > 0 ? waiting + 2 : 0) + (budgets > 0 ? budgets + 2 : 0) +
            (throttles > 0 ? throttles + 2 : 0);
    top_write_head(stats, root, out);
    top_write_table(stats, &top_programs,
                    rows == 0     ? SIZE_MAX
                    : rows > used ? rows - used
                                  : 1,
                    out);
    top_write_table(stats, &top_throttles, throttles, out);
    top_write_table(stats, &top_waiting, waiting, out);
    top_write_table(stats, &top_budgets, budgets, out);
    return out->failed ? ENOMEM : 0;
}

/* Returns 0 or an errno. main() reports an error of standard output. */
static int top_print(const char *root, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        CLEAN_UP(buf_clean_up) struct buf frame = {0};
        if (i > 0)
            usleep(TOP_PERIOD_MS * 1000);
        int error = top_write_frame(root, 0, &frame);
        if (error)
            return error;
        printf("%s%s", i > 0 ? "\n" : "", buf_text(&frame));
        if (fflush(stdout) != 0)
            break;
    }
    return 0;
}

/* Draws TIMES frames (0: until the user ends it). Returns 0 or an errno, which is reported when the
 * terminal is restored. */
static int top_draw(const char *root, uint32_t times)
{
    struct screen screen;
    CLEAN_UP(buf_clean_up) struct buf first = {0};
    enum screen_event event = SCREEN_TIME;
    int error = top_write_frame(root, 0, &first); /* before the screen is cleared */
    if (error)
        return error;
    if (!screen_open(&screen))
        return errno;
    for (uint32_t i = 0; event != SCREEN_END && (times == 0 || i < times); i++) {
        CLEAN_UP(buf_clean_up) struct buf frame = {0};
        error = top_write_frame(root, screen_rows(), &frame);
        if (error || !screen_show(buf_span(&frame)))
            break;
        event = screen_wait(&screen, TOP_PERIOD_MS);
    }
    screen_close(&screen);
    return error;
}

int top_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf root = {0};
    if (argc > 1)
        return app_usage("top takes one mount", "top");
    if (!live_mount_find(argc == 1 ? argv[0] : NULL, "top", &root))
        return EXIT_FAILURE;
    int error = isatty(STDOUT_FILENO)
                    ? top_draw(buf_text(&root), options->times)
                    : top_print(buf_text(&root), options->times ? options->times : 1);
    return error ? live_mount_fail(buf_text(&root), "stats.json", error) : EXIT_SUCCESS;
}
