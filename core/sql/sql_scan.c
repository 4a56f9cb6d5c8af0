#include "core/sql/sql_scan.h"

#include <stdlib.h>

/* One RCU of a Scan is 8 KB of items; each page is rounded up to 4 KB. */
enum { SQL_SCAN_UNIT_BYTES = 8192, SQL_SCAN_ROUNDED_BYTES = 4096 };

struct sql_scan {
    const struct tree *tree;
    const struct place *place;
    sql_scan_fn *fn;
    void *arg;
    struct source *source;     /* holds a reference */
    struct read *read, *table; /* owned; TABLE: of the table's size */
    struct source_call *call;
    struct loop_timer *timer; /* until the beginning */
    uint64_t items;           /* so far */
    unsigned pages;
    struct spent spent;
};

void sql_scan_end(struct sql_scan *scan)
{
    if (!scan)
        return;
    loop_remove_timer(scan->timer);
    source_end(scan->call);
    read_destroy(scan->read);
    read_destroy(scan->table);
    source_unref(scan->source);
    free(scan);
}

void sql_scan_more(struct sql_scan *scan)
{
    source_more(scan->call);
}

static void sql_scan_fail(struct sql_scan *scan, const struct error *err)
{
    struct error copy = *err;
    scan->fn(scan->arg, NULL, 0, false, &copy);
}

/* The limits of a live table; NULL: a snapshot is read. */
static const struct scan_limits *sql_scan_limits(const struct sql_scan *scan)
{
    return scan->place->is_snapshot ? NULL : scan->tree->names.scan;
}

/* The bytes that were read, as far as the RCU prove them. */
static uint64_t sql_scan_bytes_read(const struct sql_scan *scan)
{
    uint64_t rounded = (uint64_t)scan->pages * SQL_SCAN_ROUNDED_BYTES;
    uint64_t bytes = (uint64_t)(scan->spent.units * SQL_SCAN_UNIT_BYTES);
    return bytes > rounded ? bytes - rounded : 0;
}

static void sql_scan_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct sql_scan *scan = arg;
    const struct scan_limits *limits = sql_scan_limits(scan);
    if (err) {
        sql_scan_fail(scan, err);
        return;
    }
    scan->pages++;
    scan->items += page->scanned > page->item_count ? page->scanned : page->item_count;
    source_add_page(&scan->spent, page);
    if (limits && scan_limits_passed(limits, scan->items, sql_scan_bytes_read(scan))) {
        struct error why;
        scan_limits_stop(limits, scan->read->table, scan->items, sql_scan_bytes_read(scan), &why);
        sql_scan_fail(scan, &why);
        return;
    }
    scan->fn(scan->arg, page->items, page->item_count, page->more, NULL);
}

static bool sql_scan_start_pages(struct sql_scan *scan, struct error *err)
{
    source_end(scan->call);
    scan->call =
        source_start(scan->source, scan->read, scan->tree->payer, sql_scan_take_page, scan);
    return scan->call || error_no_memory(err);
}

/* A stated size is hours old, so the limits are checked again during the Scan. */
static void sql_scan_take_size(void *arg, const struct page *page, const struct error *err)
{
    struct sql_scan *scan = arg;
    struct error why;
    if (err) {
        sql_scan_fail(scan, err);
        return;
    }
    const struct table_info *info = page->table;
    uint64_t items = info->item_count > 0 ? (uint64_t)info->item_count : 0;
    uint64_t bytes = info->size_bytes > 0 ? (uint64_t)info->size_bytes : 0;
    const struct scan_limits *limits = sql_scan_limits(scan);
    if (scan_limits_passed(limits, items, bytes))
        scan_limits_refuse(limits, scan->read->table, items, bytes, &why);
    else if (sql_scan_start_pages(scan, &why))
        return;
    sql_scan_fail(scan, &why);
}

static bool sql_scan_open(struct sql_scan *scan, struct error *err)
{
    const struct tree *tree = scan->tree;
    scan->source = source_ref(tree->source(tree->source_arg, scan->place, err));
    if (!scan->source)
        return false;
    if (!sql_scan_limits(scan))
        return sql_scan_start_pages(scan, err);
    scan->call = source_start(scan->source, scan->table, tree->payer, sql_scan_take_size, scan);
    return scan->call || error_no_memory(err);
}

static void sql_scan_begin(void *arg)
{
    struct sql_scan *scan = arg;
    struct error why;
    scan->timer = NULL;
    if (!sql_scan_open(scan, &why))
        sql_scan_fail(scan, &why);
}

struct sql_scan *sql_scan_start(const struct tree *tree, const struct place *place,
                                const struct cond *filter, sql_scan_fn *fn, void *arg)
{
    struct sql_scan *scan = calloc(1, sizeof *scan);
    char *name = place_table_name(place);
    if (scan && name) {
        *scan = (struct sql_scan){.tree = tree,
                                  .place = place,
                                  .fn = fn,
                                  .arg = arg,
                                  .read = read_new(READ_SCAN, name, NULL),
                                  .table = read_new(READ_TABLE, name, NULL)};
        if (scan->read && filter)
            read_add_filter(scan->read, filter);
        if (scan->read) {
            scan->read->secrets = (const char *const *)place->table->secrets;
            scan->read->secret_count = place->table->secret_count;
        }
        if (scan->read && scan->table && !read_failed(scan->read))
            scan->timer = loop_add_timer(tree->loop, 0, sql_scan_begin, scan);
    }
    free(name);
    if (scan && scan->timer)
        return scan;
    sql_scan_end(scan);
    return NULL;
}
