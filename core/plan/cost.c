#include "core/plan/cost.h"

#include "core/base/quantity.h"
#include "core/json/writer.h"
#include "core/source/payer.h"

/* In https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/: "Constraints in DynamoDB",
 * and "DynamoDB read and write operations" for the rounding. */
enum {
    STEP_BYTES = 4096,
    ITEM_BYTES = 400 * 1024,
    PAGE_BYTES = 1 << 20,
    TOGETHER_BYTES = 4 << 20, /* of all items of a transaction */
    PARTITION_BYTES = 2048,
    SORT_BYTES = 1024,
    OVERHEAD_BYTES = 100, /* of an item of an index */
};

double cost_bound_item(uint64_t bytes, bool consistent)
{
    uint64_t steps = bytes ? (bytes + STEP_BYTES - 1) / STEP_BYTES : 1;
    return (double)steps * (consistent ? 1 : 0.5);
}

uint64_t cost_bound_item_bytes(const struct model *table, const struct map_index *index)
{
    if (!index || index->projects != PROJECTS_KEYS)
        return ITEM_BYTES;
    uint64_t bytes = OVERHEAD_BYTES;
    for (size_t i = 0; i < table->key_count; i++)
        bytes += strlen(table->keys[i].attribute) + (i ? SORT_BYTES : PARTITION_BYTES);
    for (size_t i = 0; i < index->partition_count; i++)
        bytes += strlen(index->partition[i].attribute) + PARTITION_BYTES;
    for (size_t i = 0; i < index->sort_count; i++)
        bytes += strlen(index->sort[i].attribute) + SORT_BYTES;
    return bytes;
}

/* Without a limit a page ends with the item that takes it beyond 1 MB, or before that item. The
 * former is not documented, but observed: 128.5 RCU where items are small. */
double cost_bound_page(uint64_t count, uint64_t item_bytes, bool consistent)
{
    uint64_t most = PAGE_BYTES + item_bytes;
    bool few = count && count <= most / item_bytes;
    return cost_bound_item(few ? count * item_bytes : most, consistent);
}

/* Each page is rounded up, and each segment has one request under way when the limit is reached. */
double cost_bound_scan(uint64_t limit_bytes, unsigned segments)
{
    double whole = cost_bound_item(limit_bytes, false);
    uint64_t pages = limit_bytes / PAGE_BYTES;
    return whole + (double)pages / 2 + segments * (cost_bound_page(0, ITEM_BYTES, false) + 0.5);
}

void cost_write_dollars(double rcu, double price, struct buf *out)
{
    double dollars = rcu * price / 1e6, rest = dollars;
    int decimals = 2;
    while (rest > 0 && rest < 0.1 && decimals < 15) {
        rest *= 10;
        decimals++;
    }
    buf_printf(out, "$%.*f", decimals, dollars);
}

bool cost_index_alone(const struct map_pattern *pattern)
{
    return pattern->index && !pattern->hydrates && pattern->index->projects != PROJECTS_ALL;
}

/* LIMIT and TIES are the query's; FIRST_PAGE_DOES if its first page can have all items. */
static void cost_of_query(const struct map_pattern *pattern, uint32_t limit, bool ties,
                          bool first_page_does, struct cost *out)
{
    uint64_t item = cost_bound_item_bytes(pattern->table, pattern->index);
    *out = (struct cost){.consistent = pattern->consistent};
    out->requests = first_page_does;
    out->passes_over = first_page_does;
    out->fills_pages = first_page_does && pattern->list;
    out->ties = first_page_does && ties;
    out->pages = !first_page_does;
    out->rcu = (struct cost_rcu){
        .least = cost_bound_item(0, pattern->consistent),
        .most = first_page_does ? cost_bound_page((uint64_t)limit + ties, item, pattern->consistent)
                                : 0,
        .page = cost_bound_page(0, item, pattern->consistent),
    };
    if (!pattern->hydrates)
        return;
    double again =
        cost_bound_item(cost_bound_item_bytes(pattern->table, NULL), pattern->consistent);
    out->batches = pattern->list;
    if (pattern->list) {
        out->rcu.record = again;
    } else {
        out->requests++;
        out->rcu.most += again;
    }
}

void cost_of_pattern(const struct map_pattern *pattern, const struct map_entry *entry,
                     uint32_t limit, struct cost *out)
{
    *out = (struct cost){.consistent = pattern->consistent};
    if (pattern->by_key || (entry && !cost_index_alone(pattern))) {
        uint64_t bytes = cost_bound_item_bytes(pattern->table, NULL);
        out->requests = 1;
        out->rcu = (struct cost_rcu){.least = cost_bound_item(0, pattern->consistent),
                                     .most = cost_bound_item(bytes, pattern->consistent)};
        return;
    }
    /* A query with a limit reads one page of that many items. It reads further, whole pages only if
     * some of these do not count or do not fit the page. */
    bool first_page_does = !entry && pattern->filter_count == 0 && !pattern->pick &&
                           (!pattern->list || pattern->limit);
    cost_of_query(pattern, limit, pattern->ties, first_page_does, out);
    out->filters = entry || pattern->filter_count;
}

void cost_of_selection(const struct map_pattern *pattern, uint32_t limit, bool ties, bool filtered,
                       struct cost *out)
{
    cost_of_query(pattern, limit, ties, limit > 0 && !filtered, out);
    out->filters = filtered;
}

void cost_of_index_alone(struct cost *cost)
{
    cost->batches = false;
    cost->rcu.record = 0;
}

void cost_of_search(const struct map_pattern *pattern, struct cost *out)
{
    uint64_t item = cost_bound_item_bytes(pattern->table, pattern->index);
    *out = (struct cost){.pages = 1, .consistent = pattern->consistent};
    out->filters = pattern->filter_count > 0;
    out->rcu = (struct cost_rcu){
        .least = cost_bound_item(0, pattern->consistent),
        .page = cost_bound_page(0, item, pattern->consistent),
    };
    if (cost_index_alone(pattern))
        return;
    out->requests = 1;
    item = cost_bound_item_bytes(pattern->table, NULL);
    out->rcu.most = cost_bound_item(item, pattern->consistent);
}

void cost_of_found(bool read, bool one, struct cost *cost)
{
    double most = cost_bound_item(ITEM_BYTES, false);
    cost->searches++;
    cost->requests += read && one;
    cost->rcu.most += read && one ? most : 0;
    cost->batches |= read && !one;
    cost->rcu.record = read && !one ? most : cost->rcu.record;
}

void cost_of_together(size_t count, size_t sure, struct cost *out)
{
    double each = 2 * cost_bound_item(ITEM_BYTES, true) * (double)count;
    double whole = 2 * (cost_bound_item(TOGETHER_BYTES, true) + (double)count);
    *out = (struct cost){.requests = 1, .consistent = true};
    out->rcu.least = 2 * cost_bound_item(0, true) * (double)sure;
    out->rcu.most = each < whole ? each : whole;
}

void cost_of_key_alone(const struct map_pattern *pattern, struct cost *cost)
{
    cost->requests--;
    cost->rcu.most -=
        cost_bound_item(cost_bound_item_bytes(pattern->table, NULL), pattern->consistent);
}

static double cost_larger(double a, double b)
{
    return a > b ? a : b;
}

void cost_add(struct cost *cost, const struct cost *more)
{
    cost->requests += more->requests;
    cost->pages += more->pages;
    cost->passes_over += more->passes_over;
    cost->fills_pages |= more->fills_pages;
    cost->ties |= more->ties;
    cost->batches |= more->batches;
    cost->tables |= more->tables;
    cost->searches += more->searches;
    cost->scans += more->scans;
    cost->described |= more->described;
    cost->consistent |= more->consistent;
    cost->filters |= more->filters;
    cost->parallel |= more->parallel;
    cost->rcu.least += more->rcu.least;
    cost->rcu.most += more->rcu.most;
    cost->rcu.scan += more->rcu.scan;
    cost->rcu.page = cost_larger(cost->rcu.page, more->rcu.page);
    cost->rcu.record = cost_larger(cost->rcu.record, more->rcu.record);
}

void cost_write(const struct cost *cost, struct buf *out)
{
    const char *end = "";
    if (cost->is_free) {
        buf_add_text(out, "no request, 0 RCU: a snapshot is read");
        return;
    }
    if (cost->tables) {
        buf_add_text(out, "1 request for every 100 tables");
        end = ", and ";
    }
    if (cost->scans) {
        buf_printf(out, "%s1 request a page of up to 1 MB of the whole table, %u at the least", end,
                   cost->scans);
        end = ", and ";
    }
    if (cost->pages) {
        buf_printf(out, "%s1 request a page of up to 1 MB", end);
        if (cost->pages > 1)
            buf_printf(out, " of each of %u queries", cost->pages);
        end = ", and ";
    }
    if (cost->requests)
        buf_printf(out, "%s%u%s", end, cost->requests,
                   end[0]                ? " more"
                   : cost->requests == 1 ? " request"
                                         : " requests");
    else if (!end[0])
        buf_printf(out, "no request: known from %s",
                   cost->described ? "its description" : "the map");
    if (cost->searches)
        buf_printf(out, ", and %u search%s by a vector", cost->searches,
                   cost->searches == 1 ? "" : "es");
    if (cost->batches)
        buf_add_text(out, "; contents: 1 more for every 100 items");
    if (cost->described)
        buf_add_text(out, "; the table's description: 1 more, at most once a minute");
}

bool cost_write_exception(const struct cost *cost, struct buf *out)
{
    if (cost->passes_over) {
        buf_add_text(out, "1 more a page of up to 1 MB (at most ");
        decimal_write(cost->rcu.page, out);
        buf_add_text(out, " RCU), only if items that do not count are in between");
    }
    if (cost->passes_over && cost->fills_pages)
        buf_add_text(out, ", or the items do not fit one page");
    if (cost->passes_over && cost->ties)
        buf_add_text(out, ", or many items share the last one's sort key");
    if (cost->parallel)
        buf_printf(
            out,
            "%sat most twice as many requests and 12 more, for 1 RCU and one item each, only "
            "if pages are slow and all are read: several parts are then read at the same time",
            cost->passes_over ? "; " : "");
    return cost->passes_over || cost->parallel;
}

bool cost_write_search(const struct cost *cost, struct buf *out)
{
    if (cost->searches == 0)
        return false;
    buf_printf(out,
               "at least %u search bytes, which no RCU pay for: they grow with the dimensions of "
               "the index and with the results; no upper bound is documented",
               cost->searches * SEARCH_LEAST_BYTES);
    return true;
}

void cost_write_json(const struct cost *cost, struct buf *out)
{
    buf_printf(out,
               "{\"requests\": %u, \"paged_queries\": %u, \"queries_that_may_pass_over\": %u, "
               "\"per_100_records\": %d, \"per_100_tables\": %d, \"descriptions\": %d, "
               "\"scans\": %u, \"reads_in_parallel\": %s",
               cost->requests, cost->pages, cost->passes_over, cost->batches, cost->tables,
               cost->described, cost->scans, cost->parallel ? "true" : "false");
    if (cost->searches)
        buf_printf(out, ", \"searches\": %u, \"least_search_bytes\": %u", cost->searches,
                   cost->searches * SEARCH_LEAST_BYTES);
    buf_add_char(out, '}');
}

/* The bounds that are not 0, in the order in which they are printed. A further page is printed by
 * cost_write_exception. */
struct cost_amounts {
    struct {
        const char *behind, *member;
        double rcu;
    } items[4];
    size_t count;
};

static void cost_add_amount(struct cost_amounts *amounts, double rcu, const char *behind,
                            const char *member)
{
    if (rcu <= 0)
        return;
    amounts->items[amounts->count].rcu = rcu;
    amounts->items[amounts->count].behind = behind;
    amounts->items[amounts->count++].member = member;
}

static struct cost_amounts cost_amounts_of(const struct cost *cost)
{
    struct cost_amounts amounts = {0};
    const struct cost_rcu *rcu = &cost->rcu;
    cost_add_amount(&amounts, rcu->scan, "", "most_of_scan");
    cost_add_amount(&amounts, cost->pages ? rcu->page : 0, " a page", "most_a_page");
    cost_add_amount(&amounts, rcu->most, amounts.count ? " more" : "", "most");
    cost_add_amount(&amounts, rcu->record, " an item", "most_a_record");
    return amounts;
}

static void cost_write_amounts(const struct cost_amounts *amounts, const char *unit,
                               struct buf *out)
{
    for (size_t i = 0; i < amounts->count; i++) {
        buf_add_text(out, i == 0 ? "at most " : i + 1 < amounts->count ? ", " : " and ");
        decimal_write(amounts->items[i].rcu, out);
        buf_printf(out, "%s%s", i == 0 ? unit : "", amounts->items[i].behind);
    }
}

void cost_write_most(const struct cost *cost, struct buf *out)
{
    struct cost_amounts amounts = cost_amounts_of(cost);
    cost_write_amounts(&amounts, " RCU", out);
}

void cost_write_rcu(const struct cost *cost, double price, struct buf *out)
{
    struct cost_amounts amounts = cost_amounts_of(cost);
    if (amounts.count == 0)
        return;
    decimal_write(cost->rcu.least, out);
    buf_add_text(out, " RCU if nothing is found, ");
    cost_write_amounts(&amounts, "", out);
    buf_add_text(out, ": about ");
    cost_write_dollars(amounts.items[0].rcu, price, out);
    buf_printf(out, "%s on demand", amounts.items[0].behind);
}

/* Dollars are rounded to 1e-12: no RCU is cheaper. */
static void cost_add_amount_json(struct json_writer *json, const char *member, double rcu,
                                 double price)
{
    decimal_write(price > 0 ? (double)(uint64_t)(rcu * price * 1e6 + 0.5) / 1e12 : rcu,
                  json_writer_add_value(json, member));
}

/* In dollars at PRICE a million; in RCU if PRICE is 0. */
static void cost_add_amounts_json(struct json_writer *json, const struct cost *cost, double price)
{
    struct cost_amounts amounts = cost_amounts_of(cost);
    cost_add_amount_json(json, "least", cost->rcu.least, price);
    for (size_t i = 0; i < amounts.count; i++)
        cost_add_amount_json(json, amounts.items[i].member, amounts.items[i].rcu, price);
    if (!cost->pages && cost->rcu.page > 0)
        cost_add_amount_json(json, "most_a_page", cost->rcu.page, price);
}

void cost_write_rcu_json(const struct cost *cost, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_SPACED);
    cost_add_amounts_json(&json, cost, 0);
    json_writer_end(&json);
}

void cost_write_dollars_json(const struct cost *cost, double price, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_SPACED);
    decimal_write(price, json_writer_add_value(&json, "a_million_units"));
    cost_add_amounts_json(&json, cost, price);
    json_writer_end(&json);
}
