/* One page of a snapshot's items: rows are added, then parsed and checked all at once. */
#ifndef DDBFS_CORE_SNAPSHOT_SNAPSHOT_PAGE_H
#define DDBFS_CORE_SNAPSHOT_SNAPSHOT_PAGE_H

#include "core/snapshot/snapshot_query.h"
#include "core/source/source.h"

struct page_row {
    size_t offset, size;         /* of the item in the text of the page */
    struct column_value *values; /* of the query's columns */
};

struct snapshot_page {
    struct page_owner owner; /* first: a pointer to it is a pointer to this */
    struct buf text;         /* a JSON array of the items, once they are read */
    struct buf *room;        /* borrowed: their text until then; its memory serves the next page */
    struct json_doc doc;     /* of TEXT */
    struct arena arena;      /* of all below */
    struct page_row *rows;   /* in the arena */
    size_t row_count, row_capacity;
    struct json *items;
    size_t item_count;
    struct span *names;
    size_t name_count;
    uint64_t counted;
    size_t scanned;
    struct buf key_text;     /* JSON: the key of the last row, with MORE */
    struct json_doc key_doc; /* of KEY_TEXT */
    bool more;
    struct snapshot_file *file; /* a reference, taken by the loop; NULL: none */
    struct table_info info;     /* of READ_TABLE; points into FILE */
    struct span description;
};

/* NULL when memory ran out. */
struct snapshot_page *snapshot_page_new(void);
void snapshot_page_destroy(struct snapshot_page *page); /* NULL is fine */

/* Adds the current row of QUERY, which does not only count. False when memory ran out. */
bool snapshot_page_add_row(struct snapshot_page *page, const struct snapshot_query *query,
                           const struct statement *statement);

/* The attributes of a page's items: those that the index has, and that the Read wants. */
struct page_attributes {
    struct span *list; /* in an arena; not used if ALL */
    size_t count;
    bool all;
};

/* False with ERR filled: a global index lacks an attribute that READ wants, or memory ran out. */
bool page_attributes_find(struct page_attributes *attributes, const struct snapshot_table *table,
                          const struct index_info *index, const struct read *read,
                          struct arena *arena, struct error *err);

/* Parses the rows, checks each item against its columns, drops other attributes than ATTRIBUTES and
 * then the items that READ's filter excludes. With MORE the position is that of the last row. False
 * with ERR filled: an item is not valid, or memory ran out. */
bool snapshot_page_finish(struct snapshot_page *page, const struct snapshot_file *file,
                          const struct snapshot_table *table, const struct snapshot_query *query,
                          const struct page_attributes *attributes, const struct read *read,
                          struct error *err);

#endif
