#include "core/plan/cost.h"

bool cost_index_alone(const struct map_pattern *pattern)
{
    return pattern->index && !pattern->hydrates && pattern->index->projects != PROJECTS_ALL;
}

void cost_of_pattern(const struct map_pattern *pattern, const struct map_entry *entry,
                     struct cost *out)
{
    *out = (struct cost){.consistent = pattern->consistent};
    if (entry && !cost_index_alone(pattern)) {
        out->requests = 1;
        return;
    }
    if (pattern->by_key) {
        out->requests = 1;
        return;
    }
    /* A query that is told how many records are wanted sends one page of so many; only when some of
     * these don't count, or don't fit a page, does it go on, in whole pages. */
    bool first_page_does = !entry && pattern->filter_count == 0 && !pattern->pick &&
                           (!pattern->list || pattern->limit);
    out->requests = first_page_does;
    out->passes_over = first_page_does;
    out->fills_pages = first_page_does && pattern->list;
    out->ties = first_page_does && pattern->ties;
    out->pages = !first_page_does;
    if (pattern->hydrates) {
        out->requests += !pattern->list;
        out->batches = pattern->list;
    }
}

void cost_of_search(const struct map_pattern *pattern, struct cost *out)
{
    *out = (struct cost){
        .requests = !cost_index_alone(pattern), .pages = 1, .consistent = pattern->consistent};
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
    if (cost->passes_over)
        buf_add_text(out,
                     "1 more a page of up to 1 MB, only where records that don't count stand in "
                     "between");
    if (cost->passes_over && cost->fills_pages)
        buf_add_text(out, ", or those that are wanted don't fit one page");
    if (cost->passes_over && cost->ties)
        buf_add_text(out, ", or many share the last one's sort key");
    return cost->passes_over;
}

void cost_write_json(const struct cost *cost, struct buf *out)
{
    buf_printf(out,
               "{\"requests\": %u, \"paged_queries\": %u, \"queries_that_may_pass_over\": %u, "
               "\"per_100_records\": %d, \"per_100_tables\": %d, \"descriptions\": %d, "
               "\"scans\": %u}",
               cost->requests, cost->pages, cost->passes_over, cost->batches, cost->tables,
               cost->described, cost->scans);
}
