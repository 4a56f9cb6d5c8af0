/* The cost of a plan, known before any request is sent: upper bounds on its requests and on the RCU
 * that they consume, from the sizes that the service allows and the way it rounds. */
#ifndef DDBFS_CORE_PLAN_COST_H
#define DDBFS_CORE_PLAN_COST_H

#include "core/base/buf.h"
#include "core/map/model.h"

struct cost_rcu {
    double least;  /* if nothing is found */
    double most;   /* of REQUESTS */
    double page;   /* of each page of PAGES and PASSES_OVER */
    double record; /* of each item of BATCHES */
    double scan;   /* of all SCANS together */
};

struct cost {
    unsigned requests;    /* at most, beside those below */
    unsigned pages;       /* queries with one request for each page of up to 1 MB */
    unsigned passes_over; /* queries with further pages only if items between do not count, */
    bool fills_pages;     /* or, for some of them, if the items do not fit one page, */
    bool ties;            /* or if many items share the last one's sort key */
    bool batches;         /* one for every 100 items of a page, for their contents */
    bool tables;          /* one for every 100 tables of the account */
    unsigned searches;    /* by vectors; they consume bytes, and no RCU */
    unsigned scans;  /* segments of a table: one for each page, at least one for each segment */
    bool described;  /* one for the table's description, at most once a minute */
    bool consistent; /* RCU count double */
    bool parallel;   /* further requests, where it is read in ranges at the same time */
    bool filters;    /* items that a filter removes are read all the same */
    bool is_free;    /* a snapshot is read: there is no other cost */
    struct cost_rcu rcu;
};

/* Whether the pattern shows no more of each item than an index holds ("hydrate": false). An entry
 * of such a listing must be read from that index, or its content would differ from the listing's.
 */
bool cost_index_alone(const struct map_pattern *pattern);

/* The cost of reading a file of PATTERN; of ENTRY, an entry of its listing, by its name; or, for a
 * listing and without ENTRY, of listing it. LIMIT is the query's limit; 0 for none. */
void cost_of_pattern(const struct map_pattern *pattern, const struct map_entry *entry,
                     uint32_t limit, struct cost *out);
/* The same of a listing with a selection. TIES: the query goes on while items share the sort key of
 * the last one. FILTERED: the source applies the filter. */
void cost_of_selection(const struct map_pattern *pattern, uint32_t limit, bool ties, bool filtered,
                       struct cost *out);
/* Removes the cost of a listing's second step. */
void cost_of_index_alone(struct cost *cost);
/* The cost of an entry with a shortened name. */
void cost_of_search(const struct map_pattern *pattern, struct cost *out);

/* Adds to COST a search by a vector; and, if they are READ by their keys, its results, or one of
 * them. */
void cost_of_found(bool read, bool one, struct cost *cost);
/* The cost of reading COUNT items at one moment. SURE of them are read in
 * any case; the keys of the others may not be found. A transaction reads each item twice,
 * consistently, and all of them together have at most 4 MB. */
void cost_of_together(size_t count, size_t sure, struct cost *out);
/* Removes the cost of an item of the table that is read by its key. */
void cost_of_key_alone(const struct map_pattern *pattern, struct cost *cost);

void cost_add(struct cost *cost, const struct cost *more);

/* "2 requests", "1 request a page of up to 1 MB; contents: 1 more for every 100 items". */
void cost_write(const struct cost *cost, struct buf *out);
/* The exceptions: "1 more a page …, only if …". False without any. */
bool cost_write_exception(const struct cost *cost, struct buf *out);
/* "at least 1024 search bytes …". False without a search. */
bool cost_write_search(const struct cost *cost, struct buf *out);
/* The same as a JSON object of numbers and flags. */
void cost_write_json(const struct cost *cost, struct buf *out);

/* "at most 178 RCU a page, 50 more and 50 an item"; nothing where no RCU are consumed. */
void cost_write_most(const struct cost *cost, struct buf *out);
/* "0.5 RCU if nothing is found, at most 52: about $0.0000065 on demand", at PRICE dollars for a
 * million RCU; nothing likewise. */
void cost_write_rcu(const struct cost *cost, double price, struct buf *out);
/* JSON objects of the bounds in RCU and in dollars: {"least": 0.5, …}. */
void cost_write_rcu_json(const struct cost *cost, struct buf *out);
void cost_write_dollars_json(const struct cost *cost, double price, struct buf *out);
/* Appends the price of RCU at PRICE dollars a million, to two digits: "$0.0000065". */
void cost_write_dollars(double rcu, double price, struct buf *out);

/* The most RCU of an item of BYTES that is read by its key; 0 BYTES: it is not found. */
double cost_bound_item(uint64_t bytes, bool consistent);
/* The most bytes of an item: of the table, or of INDEX, which may hold keys alone. */
uint64_t cost_bound_item_bytes(const struct model *table, const struct map_index *index);
/* The most RCU of one page of a query with items of up to ITEM_BYTES; COUNT is the request's limit,
 * 0 for none. A filter or a projection saves nothing. */
double cost_bound_page(uint64_t count, uint64_t item_bytes, bool consistent);
/* The most RCU of a Scan in SEGMENTS that ends after LIMIT_BYTES. */
double cost_bound_scan(uint64_t limit_bytes, unsigned segments);

#endif
