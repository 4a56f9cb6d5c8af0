/* Reads pages of items from snapshot files: the connections to the files, and a Read's progress. A
 * reader belongs to one thread. */
#ifndef DDBFS_CORE_SNAPSHOT_SNAPSHOT_READER_H
#define DDBFS_CORE_SNAPSHOT_SNAPSHOT_READER_H

#include <stdatomic.h>

#include "core/snapshot/snapshot_page.h"

struct snapshot_reader;

struct snapshot_reader *snapshot_reader_new(void);
void snapshot_reader_destroy(struct snapshot_reader *reader); /* NULL is fine */

/* A Read of the items of one table, page by page. */
struct snapshot_reading {
    const struct read *read;
    const struct snapshot_file *file;
    const struct snapshot_table *table;
    int64_t at_ms;        /* a moment of the table */
    atomic_bool is_ended; /* set by another thread: the page is not wanted any more */
    size_t next_key;      /* of a READ_ITEMS */
    unsigned pages;       /* so far */
    struct arena arena;   /* of PLACE */
    struct query_place place;
    struct arena next_arena; /* of NEXT_PLACE */
    struct query_place next_place;
};

void snapshot_reading_clean_up(struct snapshot_reading *reading);

/* The next page. NULL with ERR filled; after READING has ended with any error. */
struct snapshot_page *snapshot_reader_read(struct snapshot_reader *reader,
                                           struct snapshot_reading *reading, struct error *err);

/* Closes the connection to FILE, if there is one. */
void snapshot_reader_close(struct snapshot_reader *reader, const struct snapshot_file *file);

#endif
