/* A Read: one question to a source, declared and not yet asked. It names no protocol. */
#ifndef DDBFS_CORE_SOURCE_READ_H
#define DDBFS_CORE_SOURCE_READ_H

#include <stdint.h>

#include "core/base/arena.h"
#include "core/condition/condition.h"
#include "core/item/value.h"

enum read_kind {
    READ_ITEMS,    /* items by their full keys, in any order */
    READ_QUERY,    /* items of one partition of a table or index, in sort-key order */
    READ_TABLES,   /* the names of all tables */
    READ_TABLE,    /* one table's keys and indexes, and what else is told of it */
    READ_EXPIRY,   /* by which attribute a table's items expire */
    READ_BACKUPS,  /* a table's backups that were made on demand */
    READ_RECOVERY, /* whether and from when on a table can be put back to a point in time */
    READ_SCAN, /* all items of a table, or of one of its segments, in no order: of each no more than
                * ATTRIBUTES, if there are any, which are of its key. No page has more than LIMIT
                * items. A source answers it only where it was told that it may. */
};

struct key_attribute {
    struct span name;
    struct value value;
};

/* Of the key of a table or of an index, on either side; and of a base table's whole key. */
enum { KEY_MAX_ATTRIBUTES = 4, KEY_MAX_BASE_ATTRIBUTES = 2 };

/* A base table's key: the partition key, then the sort key if there is one. */
struct key {
    struct key_attribute attributes[KEY_MAX_BASE_ATTRIBUTES];
    size_t count;
};

/* An order of keys of one table; 0 when they are the same. */
int key_compare(const struct key *a, const struct key *b);

/* Appends the key in words for people: pk = "a" and sk = "b". */
void key_write_words(const struct key *key, struct buf *out);

/* A map says of a key, or as a filter, so many conditions; beside those of a filter stand some of
 * an entry's own key, and what somebody asks beside the path. */
enum { READ_MAX_KEYS = 100, READ_MAX_CONDS = 8, READ_MAX_FILTERS = READ_MAX_CONDS + 3 };

/* Everything in it belongs to its arena, or outlives it. Built by whoever asks, then constant. */
struct read {
    struct arena arena;
    enum read_kind kind;
    const char *table;
    const char *index;   /* NULL: the table itself */
    const char *pattern; /* of the map, that it is read for: "jobs/by-id/{job_id}", "" for none; no
                          * part of what is asked */

    struct key *keys; /* READ_ITEMS: 1 to READ_MAX_KEYS, no two alike */
    size_t key_count;

    struct cond *where; /* READ_QUERY: equality for each partition attribute, at most one
                         * condition that is no equality, on the sort key */
    size_t where_count;
    struct cond *filter; /* holds for every item that comes back; tested after the read */
    size_t filter_count;
    struct span sort[KEY_MAX_ATTRIBUTES]; /* READ_QUERY: the attributes by whose order items come,
                                           * so that the answer can be held to it; none: unsaid */
    size_t sort_count;
    struct span own_key[KEY_MAX_BASE_ATTRIBUTES]; /* READ_QUERY of an index: the attributes of the
                                                   * table's own key, which tell items apart that
                                                   * share the index's; none: unsaid */
    size_t own_key_count;
    bool descending;
    uint32_t limit; /* who asks wants the first N that count, and ends the call when it has them: no
                     * more are asked for at first; 0 for all */
    bool ties;      /* and goes on behind them while SORT is as in the last */
    bool counts;    /* READ_QUERY: no item is wanted, only how many there are */

    struct span *attributes; /* only these top-level attributes; none: all */
    size_t attribute_count;
    bool consistent;
    bool once; /* whoever asks can do without an answer: what fails is not tried again */
    uint32_t segment, segments; /* READ_SCAN: which part of how many; 0 of 0: all */
};

/* An empty Read of that kind, table and index (copied); NULL when memory ran out. */
struct read *read_new(enum read_kind kind, const char *table, const char *index);
void read_destroy(struct read *read); /* NULL is fine */

/* Whether building ran out of memory: a Read is asked only when this is false. */
bool read_failed(const struct read *read);

/* Whether a query for all of its items can be read from its end as well, and what comes is the
 * same: no two items share a place, and none changes its own. That is so where they are in order by
 * nothing but the table's own key, and what of that is not in the order is the same for all. */
bool read_has_two_ends(const struct read *read);
/* Such a query in the opposite order, to be asked once; NULL when memory ran out. */
struct read *read_reversed(const struct read *read);

/* Each copies what it is given into the Read. */
void read_set_pattern(struct read *read, const char *table, const char *path);
void read_add_key(struct read *read, const struct key *key);
void read_add_where(struct read *read, const struct cond *cond);
void read_add_filter(struct read *read, const struct cond *cond);
void read_add_sort(struct read *read, struct span name);
void read_add_own_key(struct read *read, struct span name);
void read_add_attribute(struct read *read, struct span name);

/* Appends a text that two Reads share if and only if they ask the same: a cache key. */
void read_identity(const struct read *read, struct buf *out);

#endif
