/* A page of items that are stored, for readers of a source. */
#ifndef DDBFS_CORE_LIVE_LIVE_PAGE_H
#define DDBFS_CORE_LIVE_LIVE_PAGE_H

#include "core/live/live_row.h"
#include "core/source/source.h"

struct live_page {
    struct page_owner owner; /* first: a pointer to it is a pointer to this */
    struct buf text;         /* one array of JSON */
    struct json_doc doc;
    struct json *items; /* owned; in DOC */
    size_t count;
};

/* The first ROWS, of COUNT, that are not too many for one page; TAKEN gets their number. Of each
 * item READ's attributes, if it is a read by keys; those of a query have no others. NULL when
 * memory ran out. */
struct live_page *live_page_new(const struct read *read, struct live_row *const *rows, size_t count,
                                size_t *taken);

/* The attributes of ITEMS that READ wants. NULL when memory ran out. */
struct live_page *live_page_of_items(const struct read *read, const struct json *items,
                                     size_t count);

#endif
