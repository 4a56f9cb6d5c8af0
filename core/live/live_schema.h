/* The keys and indexes of a table that is followed: which index has an item, in which partition,
 * and with which attributes. */
#ifndef DDBFS_CORE_LIVE_LIVE_SCHEMA_H
#define DDBFS_CORE_LIVE_LIVE_SCHEMA_H

#include "core/base/dict.h"
#include "core/source/source.h"

struct live_index {
    struct span name; /* empty: the table itself */
    struct key_schema keys;
    enum projection projection;
    const struct span *included;
    size_t included_count;
};

/* Counted: a call may still use the schema of a table that is not followed any more. */
struct live_schema {
    size_t references;
    struct arena arena;         /* owns all below */
    struct live_index *indexes; /* the first one is the table itself */
    size_t index_count;
    struct dict_seed seed; /* of the hashes of keys */
};

/* Copies the parts of INFO that it needs. It has one reference. NULL when memory ran out. */
struct live_schema *live_schema_new(const struct table_info *info);
struct live_schema *live_schema_ref(struct live_schema *schema); /* NULL for NULL */
/* The last one frees it. NULL is fine. */
void live_schema_unref(struct live_schema *schema);

/* Whether INFO describes the same keys, indexes and projections. */
bool live_schema_is_of(const struct live_schema *schema, const struct table_info *info);

/* The index NAME, or with NULL the table itself; NULL if the table has no such index. */
const struct live_index *live_schema_find(const struct live_schema *schema, const char *name);

/* Appends a text that two items share only if they have the same key in the table. False if ITEM
 * (or the key of one) lacks a part of it. */
bool live_schema_write_key(const struct live_schema *schema, struct json item, struct buf *out);
/* The same text for a key of a Read. */
void live_schema_write_read_key(const struct key *key, struct buf *out);
uint64_t live_schema_hash(const struct live_schema *schema, struct span key);

/* Appends a text that two items share only if INDEX has both in the same partition. False if INDEX
 * does not have ITEM: an attribute of its key is absent, or of another type. */
bool live_schema_write_partition(const struct live_schema *schema, const struct live_index *index,
                                 struct json item, struct buf *out);
/* The same text for the items of READ, a query. False if READ does not name one partition. */
bool live_schema_write_read_partition(const struct live_schema *schema,
                                      const struct live_index *index, const struct read *read,
                                      struct buf *out);

/* Appends the part of ITEM that INDEX has. */
void live_schema_project_index(const struct live_schema *schema, const struct live_index *index,
                               struct json item, struct buf *out);
/* Appends the part of ITEM that READ, a query of INDEX, returns of it. */
void live_schema_project(const struct live_schema *schema, const struct live_index *index,
                         const struct read *read, struct json item, struct buf *out);
/* Appends the attributes of ITEM that READ, a read by keys, wants. */
void live_schema_project_item(const struct read *read, struct json item, struct buf *out);

#endif
