/* A Read: the declaration of one read from a source. It names no protocol. */
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
    READ_TABLE,    /* one table's keys, indexes and description */
    READ_EXPIRY,   /* the attribute by which a table's items expire */
    READ_BACKUPS,  /* a table's backups on demand */
    READ_RECOVERY, /* whether and since when a table can be restored to a point in time */
    READ_SCAN,     /* all items of a table, or of one of its segments, in no order: of each the
                    * ATTRIBUTES, which are of its key, if there are any. No page has more than
                    * LIMIT items. Refused by sources that do not allow it. */
    READ_SIMILAR,  /* the LIMIT items whose vectors in a vector index are nearest to VECTOR, the
                    * nearest first */
    READ_STREAM,   /* the state and the shards of a stream; it is in STREAM, as for the next two */
    READ_ITERATOR, /* a place in a shard, as a text for READ_CHANGES */
    READ_CHANGES,  /* the changes behind such a place, and the text of the place behind them */
    READ_TOGETHER, /* items by their full keys, of one or several tables, all as they are at one
                    * moment: PARTS. Not all sources can. */
    READ_EXPORTS,  /* a table's exports to S3 of the last 90 days, by TABLE_ARN */
};

/* A place in a shard of a stream. */
enum stream_at { STREAM_OLDEST, STREAM_LATEST, STREAM_AFTER /* the change SEQUENCE */ };

struct read_stream {
    struct span arn;
    struct span shard;    /* of READ_ITERATOR */
    enum stream_at at;    /* likewise */
    struct span sequence; /* of STREAM_AFTER */
    struct span iterator; /* of READ_CHANGES */
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

/* A map has at most READ_MAX_CONDS conditions of a key or a filter. A filter also has some of an
 * entry's own key, and those that a user adds to a path. */
enum { READ_MAX_KEYS = 100, READ_MAX_CONDS = 8, READ_MAX_FILTERS = READ_MAX_CONDS + 3 };

/* All of it belongs to its arena, or outlives it. Built by the caller, then constant. */
struct read {
    struct arena arena;
    enum read_kind kind;
    const char *table;
    const char *index;     /* NULL: the table itself */
    const char *table_arn; /* READ_EXPORTS: of TABLE; NULL: not known. No part of its identity */
    const char *pattern; /* the map's path that it serves: "jobs/by-id/{job_id}", or ""; no part of
                          * its identity */

    struct key *keys; /* READ_ITEMS: 1 to READ_MAX_KEYS, no two alike */
    size_t key_count;

    struct read **parts; /* READ_TOGETHER: 1 to READ_MAX_KEYS, owned: each READ_ITEMS of one key, no
                          * two of one item. TABLE is that of the first */
    size_t part_count;
    const char *path; /* of a part: the user's path, for messages; NULL: not known. No part of its
                       * identity */

    struct cond *where; /* READ_QUERY: equality for each partition attribute, at most one
                         * condition that is no equality, on the sort key. READ_SIMILAR: equality
                         * for the index's partition attribute, if it has one */
    size_t where_count;
    struct cond *filter; /* holds for every returned item; tested after the read */
    size_t filter_count;
    struct span sort[KEY_MAX_ATTRIBUTES]; /* READ_QUERY: the attributes of the order of the items,
                                           * for the checks of the response; may be empty */
    size_t sort_count;
    struct span own_key[KEY_MAX_BASE_ATTRIBUTES]; /* READ_QUERY of an index: the attributes of the
                                                   * table's own key, which no two items share; may
                                                   * be empty */
    size_t own_key_count;
    bool descending;    /* READ_SIMILAR: the greatest score is the nearest */
    struct span vector; /* READ_SIMILAR: JSON, an array of typed numbers; empty if it is not known,
                         * as is the value of WHERE then */
    struct span vector_of; /* READ_SIMILAR: the attribute of items that has it; no part of its
                            * identity */
    uint32_t limit;        /* the caller ends the call after the first N that count; the first page
                            * requests no more; 0 for all */
    bool ties;             /* it also reads further items while SORT is equal to the last one's */
    bool counts;           /* READ_QUERY: the number of items is read, and no item */

    struct span *attributes; /* only these top-level attributes; none: all */
    size_t attribute_count;

    /* For recordings; no part of its identity: */
    bool whole;                 /* READ_QUERY: each item comes with all of its attributes */
    const char *const *secrets; /* top-level attributes whose values must not reach a disk */
    size_t secret_count;

    bool consistent;
    bool unstored; /* its result must not be used again: the path's ttl is 0; no part of its
                    * identity */
    bool once;     /* the read is optional: a failed request is not repeated */
    struct read_stream stream; /* of READ_STREAM, READ_ITERATOR, READ_CHANGES */
    uint32_t segment,
        segments; /* READ_SCAN: the number of the part, and of all parts; 0 of 0: all */
};

/* An empty Read of that kind, table and index (copied); NULL when memory ran out. */
struct read *read_new(enum read_kind kind, const char *table, const char *index);
void read_destroy(struct read *read); /* NULL is fine */

/* Whether building it ran out of memory, or of room; then it must not be started. */
bool read_failed(const struct read *read);

/* Whether a query for all of its items gives the same items when parts of it are read in any order:
 * no two items share a place, and no item changes its place. That is so if the order is that of the
 * table's own key alone, by one attribute, and the rest of that key is the same for all items. */
bool read_is_divisible(const struct read *read);
/* A copy of READ. With SORT, that replaces a query's condition on the sort key. NULL when memory
 * ran out. */
struct read *read_copy(const struct read *read, const struct cond *sort);
/* The condition of a query on its only sort attribute; NULL: none. */
const struct cond *read_sort_cond(const struct read *read);

/* Each copies its arguments into the Read. */
void read_set_table_arn(struct read *read, const char *arn);
void read_set_pattern(struct read *read, const char *table, const char *path);
void read_add_key(struct read *read, const struct key *key);
void read_add_where(struct read *read, const struct cond *cond);
void read_add_filter(struct read *read, const struct cond *cond);
void read_add_sort(struct read *read, struct span name);
void read_add_own_key(struct read *read, struct span name);
void read_add_attribute(struct read *read, struct span name);
/* READ_SIMILAR: VECTOR is the value of ATTRIBUTE. */
void read_set_vector(struct read *read, struct span attribute, struct span vector);
void read_set_stream(struct read *read, const struct read_stream *stream);
/* Takes PART over, also on failure. */
void read_add_part(struct read *read, struct read *part);
void read_set_path(struct read *read, const char *path);

/* Appends the names of the tables of READ, each once, with BETWEEN between them. */
void read_write_tables(const struct read *read, const char *between, struct buf *out);

/* Appends a text that is equal for equal Reads only: a cache key. */
void read_identity(const struct read *read, struct buf *out);

#endif
