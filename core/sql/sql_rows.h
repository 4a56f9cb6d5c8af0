/* The rows of one lookup: stored page by page, as far as the statement uses their columns. For
 * sql_reads.c, which requests them, and sql_reader.c, which returns them. */
#ifndef DDBFS_CORE_SQL_SQL_ROWS_H
#define DDBFS_CORE_SQL_SQL_ROWS_H

#include "core/sql/sql_pass.h"
#include "core/sql/sql_scan.h"

/* The rows of one page. */
struct sql_block {
    struct sql_block *next;
    struct buf rows; /* of each: its id, if these are needed; then the used columns */
};

/* The rows of one lookup. Those that are WANTED, READING or GATHERING are in a list of READS. */
enum sql_rows_state {
    SQL_ROWS_NEW,
    SQL_ROWS_WANTED,
    SQL_ROWS_READING,
    SQL_ROWS_GATHERING, /* an index returned keys, and the items are read by these */
    SQL_ROWS_PAUSED,    /* some pages have been read */
    SQL_ROWS_COMPLETE,
};

/* Two rows that follow each other, to compare them. */
struct sql_rows_order {
    struct sql_row rows[2];
    size_t count;           /* rows so far; the last one is ROWS[(COUNT + 1) % 2] */
    size_t proven;          /* of these, those that come before all others */
    bool is_open;           /* no further row is, until all came */
    struct buf text;        /* of the last item of the page before */
    struct json_doc parsed; /* of TEXT */
};

/* The items of an index that a query without hydration returned. */
struct sql_rows_keys {
    struct arena arena; /* of the keys */
    struct sql_rows_item {
        struct key key;
        struct buf line; /* its row */
        bool exists;
    } * items; /* owned */
    size_t count, capacity;
    size_t left; /* items that have not come */
    bool is_started;
    enum sql_rows_state after; /* the state of the rows when all came */
};

struct sql_rows {
    struct dict_node by_lookup;
    struct list_node node;
    struct sql_reads *reads;
    struct sql_choice *choice;
    struct arena arena;
    enum sql_rows_state state;
    enum sql_access_kind kind;
    struct key key;             /* of SQL_ACCESS_KEYS; in the arena */
    struct place *place;        /* owned; the table's own of a Scan; of KEYS in dry passes only */
    struct place *bare;         /* owned: PLACE without hydration; NULL: not used */
    struct sql_rows_keys *keys; /* owned; of the index, if BARE is read */
    const struct cond *filter;  /* of a Scan; in the arena */
    const struct map_index *index; /* of a Scan: only its items are rows; NULL: all */
    struct tree_listing *listing;
    struct sql_scan *scan;
    uint32_t limit;       /* of the listing's items; 0: none */
    bool is_over;         /* the read has ended, and is freed after the loop */
    unsigned pages, goal; /* GOAL: to be read before the rows are paused again */
    struct sql_block *first, *last;
    size_t count;                 /* rows, dropped ones included */
    uint64_t digest;              /* of the rows, if LIMIT was set */
    size_t skipped;               /* rows that a listing without LIMIT has to repeat; */
    uint64_t again;               /* and their digest */
    struct sql_rows_order *order; /* owned; NULL: no order is needed */
};

/* Rows of LOOKUP, before the first read; IDENTITY is its key in READS. NULL with ERR
 * filled. */
struct sql_rows *sql_rows_new(struct sql_reads *reads, struct sql_choice *choice,
                              const struct sql_lookup *lookup, struct span identity,
                              struct error *err);
void sql_rows_destroy(struct sql_rows *rows);

/* Each ends a part of ROWS that is not needed any more. */
void sql_rows_end_read(struct sql_rows *rows);
void sql_rows_end_order(struct sql_rows *rows);
void sql_rows_end_keys(struct sql_rows *rows);
void sql_rows_end_places(struct sql_rows *rows);
void sql_rows_drop_block(struct sql_rows *rows); /* the first one */

/* Reports ERR, with the name of the table, unless another failure came before, and stops the loop.
 */
void sql_rows_fail(struct sql_rows *rows, const struct error *err);
/* Fills ERR: the items changed between two reads. Returns false. */
bool sql_rows_refuse_change(struct error *err);

/* Around the items of a page. False: the reads have failed. */
bool sql_rows_begin_page(struct sql_rows *rows);
bool sql_rows_end_page(struct sql_rows *rows);
/* Adds ITEM. False: the reads have failed, or have to begin anew. */
bool sql_rows_add(struct sql_rows *rows, struct json item);
/* The same in two steps: writes ROW to the line of the reads, and adds that line. */
bool sql_rows_write(struct sql_rows *rows, struct sql_row *row, struct error *err);
bool sql_rows_store(struct sql_rows *rows, struct error *err);

/* Reads a stored value at FROM. Returns its size there. */
size_t sql_rows_read_value(const char *from, struct sql_value *out);

/* Whether all rows of READS fit the memory of the statement. False with ERR filled. */
bool sql_rows_fit(const struct sql_reads *reads, struct error *err);

#endif
