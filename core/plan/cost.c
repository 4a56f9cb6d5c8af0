#include "core/plan/cost.h"

#include "core/base/decimal.h"
#include "core/plan/capacity_bounds.h"

bool cost_index_alone(const struct map_pattern *pattern)
{
    return pattern->index && !pattern->hydrates && pattern->index->projects != PROJECTS_ALL;
}

/* One item by its key, then. */
static void cost_of_key(const struct map_pattern *pattern, struct cost *out)
{
    double least = capacity_bounds_of_item(0, pattern->consistent);
    double most = capacity_bounds_of_item(capacity_bounds_item_bytes(pattern->table, NULL),
                                          pattern->consistent);
    out->requests = 1;
    out->rcu = (struct cost_rcu){.least = least, .most = most};
}

/* What follows a query of an index whose records are read again, by their keys. */
static void cost_add_hydration(const struct map_pattern *pattern, struct cost *out)
{
    double item = capacity_bounds_of_item(capacity_bounds_item_bytes(pattern->table, NULL),
                                          pattern->consistent);
    out->batches = pattern->list;
    if (pattern->list) {
        out->rcu.record = item;
        return;
    }
    out->requests++;
    out->rcu.most += item;
}

/* LIMIT is the query's, TIES likewise; FIRST_PAGE_DOES if that many may be on its first page. */
static void cost_of_query(const struct map_pattern *pattern, uint32_t limit, bool ties,
                          bool first_page_does, struct cost *out)
{
    uint64_t item = capacity_bounds_item_bytes(pattern->table, pattern->index);
    *out = (struct cost){.consistent = pattern->consistent};
    out->requests = first_page_does;
    out->passes_over = first_page_does;
    out->fills_pages = first_page_does && pattern->list;
    out->ties = first_page_does && ties;
    out->pages = !first_page_does;
    out->rcu = (struct cost_rcu){
        .least = capacity_bounds_of_item(0, pattern->consistent),
        .most = first_page_does
                    ? capacity_bounds_of_page((uint64_t)limit + ties, item, pattern->consistent)
                    : 0,
        .page = capacity_bounds_of_page(0, item, pattern->consistent),
    };
    if (pattern->hydrates)
        cost_add_hydration(pattern, out);
}

void cost_of_pattern(const struct map_pattern *pattern, const struct map_entry *entry,
                     uint32_t limit, struct cost *out)
{
    *out = (struct cost){.consistent = pattern->consistent};
    if (pattern->by_key || (entry && !cost_index_alone(pattern))) {
        cost_of_key(pattern, out);
        return;
    }
    /* A query that is told how many records are wanted sends one page of so many; only when some of
     * these don't count, or don't fit a page, does it go on, in whole pages. */
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
    uint64_t item = capacity_bounds_item_bytes(pattern->table, pattern->index);
    *out = (struct cost){.pages = 1, .consistent = pattern->consistent};
    out->filters = pattern->filter_count > 0;
    out->rcu = (struct cost_rcu){
        .least = capacity_bounds_of_item(0, pattern->consistent),
        .page = capacity_bounds_of_page(0, item, pattern->consistent),
    };
    if (cost_index_alone(pattern))
        return;
    out->requests = 1;
    item = capacity_bounds_item_bytes(pattern->table, NULL);
    out->rcu.most = capacity_bounds_of_item(item, pattern->consistent);
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
    cost->scans += more->scans;
    cost->described |= more->described;
    cost->consistent |= more->consistent;
    cost->filters |= more->filters;
    cost->both_ends |= more->both_ends;
    cost->rcu.least += more->rcu.least;
    cost->rcu.most += more->rcu.most;
    cost->rcu.scan += more->rcu.scan;
    cost->rcu.page = cost_larger(cost->rcu.page, more->rcu.page);
    cost->rcu.record = cost_larger(cost->rcu.record, more->rcu.record);
}

void cost_write(const struct cost *cost, struct buf *out)
{
    const char *end = "";
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
        buf_printf(out, "no request: %s tells", cost->described ? "its description" : "the map");
    if (cost->batches)
        buf_add_text(out, "; contents: 1 more for every 100 records");
    if (cost->described)
        buf_add_text(out, "; the table's description: 1 more, at most once a minute");
}

bool cost_write_exception(const struct cost *cost, struct buf *out)
{
    if (cost->passes_over) {
        buf_add_text(out, "1 more a page of up to 1 MB (at most ");
        decimal_write(cost->rcu.page, out);
        buf_add_text(out, " units), only where records that don't count stand in between");
    }
    if (cost->passes_over && cost->fills_pages)
        buf_add_text(out, ", or those that are wanted don't fit one page");
    if (cost->passes_over && cost->ties)
        buf_add_text(out, ", or many share the last one's sort key");
    if (cost->both_ends)
        buf_printf(out,
                   "%sat most 2 more pages, only where pages take long and all of them are read: "
                   "from both ends then",
                   cost->passes_over ? "; " : "");
    return cost->passes_over || cost->both_ends;
}

void cost_write_json(const struct cost *cost, struct buf *out)
{
    buf_printf(out,
               "{\"requests\": %u, \"paged_queries\": %u, \"queries_that_may_pass_over\": %u, "
               "\"per_100_records\": %d, \"per_100_tables\": %d, \"descriptions\": %d, "
               "\"scans\": %u, \"pages_of_both_ends\": %d}",
               cost->requests, cost->pages, cost->passes_over, cost->batches, cost->tables,
               cost->described, cost->scans, cost->both_ends ? 2 : 0);
}

/* The numbers that there are, in the order in which people are told them. A further page is told
 * beside: where it is read, and why (cost_write_exception). */
struct amounts {
    struct {
        const char *behind, *member;
        double rcu;
    } items[4];
    size_t count;
};

static void cost_add_amount(struct amounts *amounts, double rcu, const char *behind,
                            const char *member)
{
    if (rcu <= 0)
        return;
    amounts->items[amounts->count].rcu = rcu;
    amounts->items[amounts->count].behind = behind;
    amounts->items[amounts->count++].member = member;
}

static struct amounts cost_amounts_of(const struct cost *cost)
{
    struct amounts amounts = {0};
    const struct cost_rcu *rcu = &cost->rcu;
    cost_add_amount(&amounts, rcu->scan, "", "most_of_scan");
    cost_add_amount(&amounts, cost->pages ? rcu->page : 0, " a page", "most_a_page");
    cost_add_amount(&amounts, rcu->most, amounts.count ? " more" : "", "most");
    cost_add_amount(&amounts, rcu->record, " a record", "most_a_record");
    return amounts;
}

static void cost_write_most_it(const struct amounts *amounts, const char *unit, struct buf *out)
{
    for (size_t i = 0; i < amounts->count; i++) {
        buf_add_text(out, i == 0 ? "at most " : i + 1 < amounts->count ? ", " : " and ");
        decimal_write(amounts->items[i].rcu, out);
        buf_printf(out, "%s%s", i == 0 ? unit : "", amounts->items[i].behind);
    }
}

void cost_write_most(const struct cost *cost, struct buf *out)
{
    struct amounts amounts = cost_amounts_of(cost);
    cost_write_most_it(&amounts, " units", out);
}

void cost_write_rcu(const struct cost *cost, double price, struct buf *out)
{
    struct amounts amounts = cost_amounts_of(cost);
    if (amounts.count == 0)
        return;
    decimal_write(cost->rcu.least, out);
    buf_add_text(out, " units if nothing is there, ");
    cost_write_most_it(&amounts, "", out);
    buf_add_text(out, ": about ");
    capacity_bounds_write_dollars(amounts.items[0].rcu, price, out);
    buf_printf(out, "%s on demand", amounts.items[0].behind);
}

/* Dollars are rounded to a millionth of a millionth, which no price of a unit goes below. */
static void cost_write_amount(const char *member, double rcu, double price, struct buf *out)
{
    buf_printf(out, "\"%s\": ", member);
    decimal_write(price > 0 ? (double)(uint64_t)(rcu * price * 1e6 + 0.5) / 1e12 : rcu, out);
}

/* In dollars at PRICE a million; in units where PRICE is 0. */
static void cost_write_amounts(const struct cost *cost, double price, struct buf *out)
{
    struct amounts amounts = cost_amounts_of(cost);
    cost_write_amount("least", cost->rcu.least, price, out);
    for (size_t i = 0; i < amounts.count; i++) {
        buf_add_text(out, ", ");
        cost_write_amount(amounts.items[i].member, amounts.items[i].rcu, price, out);
    }
    if (!cost->pages && cost->rcu.page > 0) {
        buf_add_text(out, ", ");
        cost_write_amount("most_a_page", cost->rcu.page, price, out);
    }
    buf_add_char(out, '}');
}

void cost_write_rcu_json(const struct cost *cost, struct buf *out)
{
    buf_add_char(out, '{');
    cost_write_amounts(cost, 0, out);
}

void cost_write_dollars_json(const struct cost *cost, double price, struct buf *out)
{
    buf_add_text(out, "{\"a_million_units\": ");
    decimal_write(price, out);
    buf_add_text(out, ", ");
    cost_write_amounts(cost, price, out);
}
