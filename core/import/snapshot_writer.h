/* Writes a snapshot file: a new one, which appears under its name when it is complete, or further
 * tables and moments of an existing one, in one transaction. */
#ifndef DDBFS_CORE_IMPORT_SNAPSHOT_WRITER_H
#define DDBFS_CORE_IMPORT_SNAPSHOT_WRITER_H

#include "core/import/item_row.h"
#include "core/snapshot/schema.h"

struct snapshot_writer;

/* Called often while a statement runs. False: the statement fails. */
typedef bool snapshot_writer_watch_fn(void *arg);

struct snapshot_writer_options {
    const char *file;
    bool onto;     /* FILE exists, and is extended */
    bool replaces; /* a new file may replace FILE */
    snapshot_writer_watch_fn *watch;
    void *watch_arg;
};

/* NULL with ERR filled. */
struct snapshot_writer *snapshot_writer_new(const struct snapshot_writer_options *options,
                                            struct error *err);
/* Undoes all work that was not committed. NULL is fine. */
void snapshot_writer_destroy(struct snapshot_writer *writer);

/* Makes the work permanent. Without REPLACES, a file that exists by now is an error. False with ERR
 * filled: the file is as it was before. If only its folder can't be written to the disk, the file
 * is complete, and may be lost when the machine stops. */
bool snapshot_writer_commit(struct snapshot_writer *writer, struct error *err);

/* Sets the row NAME of the table "about". */
bool snapshot_writer_set_fact(struct snapshot_writer *writer, const char *name, struct span value,
                              struct error *err);

/* A table that the file has. */
struct stored_table {
    int64_t number;
    struct buf name, description, expiry;
    struct buf origin; /* of its newest moment: the ARN of an export, or files */
    int64_t at_ms, item_count, byte_count; /* of its newest moment */
};

void stored_table_clean_up(struct stored_table *table);

/* Finds the table NAME; NULL: the only one. FOUND is false if the file does not have it, or,
 * without a NAME, if it has several. False with ERR filled. */
bool snapshot_writer_find_table(struct snapshot_writer *writer, const char *name, bool *found,
                                struct stored_table *out, struct error *err);

/* A state of one table that is being written. */
struct table_state {
    int64_t number;
    const struct table_info *info;        /* borrowed */
    const struct schema_columns *columns; /* borrowed; of INFO */
    int64_t at_ms;
    int64_t item_count, byte_count;
};

/* A full state. Adds TABLE, whose items are added next, in any order. */
bool snapshot_writer_begin_state(struct snapshot_writer *writer, const struct schema_table *table,
                                 struct table_state *state, struct error *err);
bool snapshot_writer_add_item(struct snapshot_writer *writer, struct table_state *state,
                              const struct item_row *row, struct error *err);
/* Creates the indexes. If two items have the same key, FIRST and SECOND are their numbers, from 1
 * on, ITEM gets the text of the second, and the result is false without ERR. */
bool snapshot_writer_end_state(struct snapshot_writer *writer, const struct table_state *state,
                               int64_t *first, int64_t *second, struct buf *item,
                               struct error *err);

/* The changes of a window: STATE is that of the moment before, with the new AT_MS. */
bool snapshot_writer_begin_changes(struct snapshot_writer *writer, const struct table_state *state,
                                   struct error *err);

/* The current version of an item, valid until the next call. */
struct stored_item {
    bool exists;
    bool is_new; /* it is of this window */
    int64_t row;
    struct span item;
};

bool snapshot_writer_find_item(struct snapshot_writer *writer, const struct table_state *state,
                               const struct item_row *keys, struct stored_item *out,
                               struct error *err);
/* Replaces STORED, which was found last, by ROW; NULL: the item was deleted. */
bool snapshot_writer_change_item(struct snapshot_writer *writer, struct table_state *state,
                                 const struct stored_item *stored, const struct item_row *row,
                                 struct error *err);

/* Stores the moment of STATE. FROM_MS: the beginning of its window, or NULL. */
bool snapshot_writer_add_moment(struct snapshot_writer *writer, const struct table_state *state,
                                const int64_t *from_ms, struct span origin, struct error *err);

#endif
