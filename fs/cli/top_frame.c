/* Tables of programs, of questions that wait, and of budgets. */
#include "fs/cli/top_frame.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/printable.h"
#include "core/json/json.h"

/* Rates are over the last minute, or since the mount was made. */
enum { MINUTE_S = 60 };

/* Rows that each table may have on a screen; below them it says how many are left out. */
struct rooms {
    unsigned programs, waiting, budgets;
};

/* 0 where there is no such number. */
static double top_frame_number_of(struct json object, const char *name)
{
    char text[40] = "";
    struct span raw = json_raw(json_member(object, name));
    if (!json_is(json_member(object, name), JSON_NUMBER) || raw.size >= sizeof text)
        return 0;
    memcpy(text, raw.data, raw.size);
    return strtod(text, NULL);
}

static void top_frame_add_text(struct buf *out, struct json object, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    json_read_string(json_member(object, name), &text);
    printable_add(out, buf_span(&text), "");
    out->failed = out->failed || text.failed;
}

/* How many of all were answered from memory, in hundredths. */
static void top_frame_add_share(struct buf *out, double part, double all)
{
    if (all > 0)
        buf_printf(out, "%6.0f %%", 100 * part / all);
    else
        buf_printf(out, "%8s", "-");
}

static double top_frame_seconds_of(struct json stats)
{
    double uptime = top_frame_number_of(stats, "uptime_seconds");
    return uptime < 1 ? 1 : uptime < MINUTE_S ? uptime : MINUTE_S;
}

struct sums {
    double units, requests, questions, cached;
};

static struct sums top_frame_sums_of(struct json stats)
{
    struct sums sums = {0};
    struct json programs = json_member(stats, "programs");
    for (struct json each = json_first(programs); json_present(each); each = json_next(each)) {
        struct json minute = json_member(each, "last_minute");
        sums.units += top_frame_number_of(minute, "units");
        sums.requests += top_frame_number_of(minute, "requests");
        sums.questions += top_frame_number_of(minute, "questions");
        sums.cached += top_frame_number_of(minute, "cached");
    }
    return sums;
}

static void top_frame_write_head(struct json stats, const char *root, struct buf *out)
{
    struct sums sums = top_frame_sums_of(stats);
    double seconds = top_frame_seconds_of(stats), most = top_frame_number_of(stats, "max_rcu");
    unsigned long uptime = (unsigned long)top_frame_number_of(stats, "uptime_seconds");
    double refused = top_frame_number_of(stats, "refused_by_max_rcu") +
                     top_frame_number_of(stats, "refused_by_max_rcu_per_process");
    buf_add_text(out, "ddbfs ");
    top_frame_add_text(out, stats, "version");
    buf_add_text(out, " at ");
    printable_add(out, span_text(root), "");
    buf_printf(out, ", for %lu:%02lu:%02lu; ", uptime / 3600, uptime / 60 % 60, uptime % 60);
    decimal_write(top_frame_number_of(stats, "consumed_capacity"), out);
    buf_printf(out, " units and %.0f failed requests in all\n",
               top_frame_number_of(stats, "request_failures"));
    buf_printf(out, "the last minute: %.2f units/s", sums.units / seconds);
    if (most > 0) {
        buf_add_text(out, " of ");
        decimal_write(most, out);
    }
    buf_printf(out, ", %.2f requests/s", sums.requests / seconds);
    if (sums.questions > 0)
        buf_printf(out, "; %.0f %% of %.0f questions from memory",
                   100 * sums.cached / sums.questions, sums.questions);
    if (refused > 0)
        buf_printf(out, "; %.0f refused so far", refused);
    buf_add_char(out, '\n');
}

/* The array NAME of STATS, in an order of its own: owned by the caller; NULL when it is empty, or
 * memory ran out (OUT is failed then). */
static struct json *top_frame_sorted(struct json stats, const char *name,
                                     int (*order)(const void *, const void *), size_t *count,
                                     struct buf *out)
{
    struct json array = json_member(stats, name);
    *count = json_is(array, JSON_ARRAY) ? json_count(array) : 0;
    struct json *items = *count ? calloc(*count, sizeof *items) : NULL;
    size_t i = 0;
    out->failed = out->failed || (*count && !items);
    for (struct json each = json_first(array); items && json_present(each); each = json_next(each))
        items[i++] = each;
    if (items && order)
        qsort(items, *count, sizeof *items, order);
    return items;
}

/* The greater comes first. */
static int top_frame_order_numbers(double a, double b)
{
    return (a < b) - (a > b);
}

/* Who reads most now; then who has read most. */
static int top_frame_order_programs(const void *a, const void *b)
{
    const struct json *x = a, *y = b;
    struct json one = json_member(*x, "last_minute"), other = json_member(*y, "last_minute");
    int order = top_frame_order_numbers(top_frame_number_of(one, "units"),
                                        top_frame_number_of(other, "units"));
    if (!order)
        order = top_frame_order_numbers(top_frame_number_of(one, "questions"),
                                        top_frame_number_of(other, "questions"));
    return order ? order
                 : top_frame_order_numbers(top_frame_number_of(*x, "units"),
                                           top_frame_number_of(*y, "units"));
}

/* Who has waited longest. */
static int top_frame_order_waiting(const void *a, const void *b)
{
    return top_frame_order_numbers(top_frame_number_of(*(const struct json *)a, "ms"),
                                   top_frame_number_of(*(const struct json *)b, "ms"));
}

/* Who has read most of what he may. */
static int top_frame_order_budgets(const void *a, const void *b)
{
    return top_frame_order_numbers(top_frame_number_of(*(const struct json *)a, "units"),
                                   top_frame_number_of(*(const struct json *)b, "units"));
}

static void top_frame_write_program(struct json program, double seconds, struct buf *out)
{
    struct json minute = json_member(program, "last_minute");
    buf_printf(out, "%9.2f%9.2f", top_frame_number_of(minute, "units") / seconds,
               top_frame_number_of(minute, "requests") / seconds);
    top_frame_add_share(out, top_frame_number_of(minute, "cached"),
                        top_frame_number_of(minute, "questions"));
    buf_printf(out, "%11.1f%10.0f%8.0f  ", top_frame_number_of(program, "units"),
               top_frame_number_of(program, "requests"), top_frame_number_of(program, "failed"));
    top_frame_add_text(out, program, "program");
}

static void top_frame_write_waiting(struct json question, double seconds, struct buf *out)
{
    (void)seconds;
    buf_printf(out, "%9.1f%9.1f%8.0f  ", top_frame_number_of(question, "ms") / 1000,
               top_frame_number_of(question, "units"), top_frame_number_of(question, "pid"));
    top_frame_add_text(out, question, "program");
    buf_add_text(out, "  ");
    top_frame_add_text(out, question, "path");
}

static void top_frame_write_budget(struct json budget, double seconds, struct buf *out)
{
    (void)seconds;
    buf_printf(out, "%9.1f%9.1f%8.0f%8.0f  ", top_frame_number_of(budget, "units"),
               top_frame_number_of(budget, "left"), top_frame_number_of(budget, "refused"),
               top_frame_number_of(budget, "group"));
    top_frame_add_text(out, budget, "program");
}

/* What is shown as a table: a head, and a line for each element of a member of stats.json. */
struct top_table {
    const char *member, *head;
    int (*order)(const void *, const void *);
    void (*write)(struct json element, double seconds, struct buf *out);
};

static const struct top_table programs = {
    "programs", "  UNITS/S    REQ/S  CACHED      UNITS  REQUESTS  FAILED  PROGRAM",
    top_frame_order_programs, top_frame_write_program};
static const struct top_table waiting = {"waiting", "  WAITS/S    UNITS     PID  PROGRAM  PATH",
                                         top_frame_order_waiting, top_frame_write_waiting};
static const struct top_table budgets = {"budgets", "    UNITS     LEFT REFUSED   GROUP  PROGRAM",
                                         top_frame_order_budgets, top_frame_write_budget};

/* An empty one is left out. */
static void top_frame_write_table(struct json stats, const struct top_table *table, unsigned room,
                                  struct buf *out)
{
    size_t count;
    struct json *items = top_frame_sorted(stats, table->member, table->order, &count, out);
    size_t shown = count <= room ? count : room > 0 ? room - 1 : 0;
    if (items)
        buf_printf(out, "\n%s\n", table->head);
    for (size_t i = 0; items && i < shown; i++) {
        table->write(items[i], top_frame_seconds_of(stats), out);
        buf_add_char(out, '\n');
    }
    if (items && shown < count)
        buf_printf(out, "  and %zu more\n", count - shown);
    free(items);
}

static unsigned top_frame_least(size_t a, unsigned b)
{
    return a < b ? (unsigned)a : b;
}

/* Each table has two rows above its own. */
static struct rooms top_frame_share_out(struct json stats, unsigned rows)
{
    struct rooms rooms = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (rows == 0)
        return rooms;
    unsigned quarter = rows / 4, used = 2 + 2;
    rooms.waiting = top_frame_least(json_count(json_member(stats, waiting.member)), quarter);
    rooms.budgets = top_frame_least(json_count(json_member(stats, budgets.member)), quarter);
    used += rooms.waiting ? rooms.waiting + 2 : 0;
    used += rooms.budgets ? rooms.budgets + 2 : 0;
    rooms.programs = rows > used ? rows - used : 1;
    return rooms;
}

bool top_frame_write(struct span stats, const char *root, unsigned rows, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!json_parse(&doc, stats, JSON_STRICT, NULL) || !json_is(json_root(&doc), JSON_OBJECT))
        return false;
    struct json root_of_stats = json_root(&doc);
    struct rooms rooms = top_frame_share_out(root_of_stats, rows);
    top_frame_write_head(root_of_stats, root, out);
    top_frame_write_table(root_of_stats, &programs, rooms.programs, out);
    top_frame_write_table(root_of_stats, &waiting, rooms.waiting, out);
    top_frame_write_table(root_of_stats, &budgets, rooms.budgets, out);
    return !out->failed;
}
