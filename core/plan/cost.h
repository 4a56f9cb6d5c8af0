/* What a plan costs: a bound on the requests that are sent for it, and on the read units that they
 * consume, known without asking anybody. */
#ifndef DDBFS_CORE_PLAN_COST_H
#define DDBFS_CORE_PLAN_COST_H

#include "core/base/buf.h"
#include "core/map/model.h"

/* Read units: what the requests below consume at the least and at the most. */
struct cost_rcu {
    double least;  /* when nothing is there */
    double most;   /* of REQUESTS */
    double page;   /* of each page of PAGES and PASSES_OVER */
    double record; /* of each record that BATCHES are of */
    double scan;   /* of all SCANS together */
};

struct cost {
    unsigned requests; /* at most so many, beside what stands below */
    unsigned pages;    /* queries that cost one for each page of up to 1 MB */
    unsigned
        passes_over;  /* queries that do so only where records that don't count stand in between */
    bool fills_pages; /* or, of some of these, where the records that are wanted don't fit a page */
    bool ties;        /* or where those behind them share the last one's sort key */
    bool batches;     /* one for each started hundred of a page's records, for their contents */
    bool tables;      /* one for each started hundred of the account's tables */
    unsigned scans;   /* segments of a whole table: one for each page of up to 1 MB, and at least
                       * one for each segment */
    bool described;   /* one for what the service says of the table, at most once a minute */
    bool consistent;  /* read units count double */
    bool both_ends;   /* two pages more at most, where it is read from both ends */
    bool filters;     /* what a filter leaves out is read all the same */
    struct cost_rcu rcu;
};

/* Whether the pattern shows of each record no more than an index holds ("hydrate": false). An entry
 * of such a listing must come from that index too, or it would show another content than the
 * listing. */
bool cost_index_alone(const struct map_pattern *pattern);

/* The cost of reading a file of PATTERN, or an entry of its listing by its own name (ENTRY), or,
 * when the pattern is a listing and ENTRY is NULL, of listing it. LIMIT is how many records its
 * query is asked for at first; 0 for all. */
void cost_of_pattern(const struct map_pattern *pattern, const struct map_entry *entry,
                     uint32_t limit, struct cost *out);
/* The same of a listing of which something is asked beside its path: LIMIT as there, TIES if it
 * goes on behind the last of these, FILTERED if the source is told which records. */
void cost_of_selection(const struct map_pattern *pattern, uint32_t limit, bool ties, bool filtered,
                       struct cost *out);
/* Takes off what the second step of a listing costs, which is not taken. */
void cost_of_index_alone(struct cost *cost);
/* Of an entry whose name is shortened. */
void cost_of_search(const struct map_pattern *pattern, struct cost *out);

/* Adds what is read beside. */
void cost_add(struct cost *cost, const struct cost *more);

/* "2 requests", "1 request a page of up to 1 MB; contents: 1 more for every 100 records". */
void cost_write(const struct cost *cost, struct buf *out);
/* When that is not all; false when it is: "1 more a page … only where …". */
bool cost_write_exception(const struct cost *cost, struct buf *out);
/* The same as a JSON object of numbers and flags. */
void cost_write_json(const struct cost *cost, struct buf *out);

/* "at most 178 units a page, 50 more and 50 a record"; nothing where no units are paid. */
void cost_write_most(const struct cost *cost, struct buf *out);
/* "0.5 units if nothing is there, at most 52: about $0.0000065 on demand", at PRICE dollars for a
 * million units; nothing likewise. */
void cost_write_rcu(const struct cost *cost, double price, struct buf *out);
/* Two JSON objects, the bound in units and in dollars: {"least": 0.5, …}. */
void cost_write_rcu_json(const struct cost *cost, struct buf *out);
void cost_write_dollars_json(const struct cost *cost, double price, struct buf *out);

#endif
