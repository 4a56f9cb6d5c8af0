/* An item as a row of a snapshot: the values of its key columns, and its typed JSON text. */
#ifndef DDBFS_CORE_IMPORT_ITEM_ROW_H
#define DDBFS_CORE_IMPORT_ITEM_ROW_H

#include "core/base/arena.h"
#include "core/base/database.h"
#include "core/json/json.h"
#include "core/snapshot/schema.h"

struct item_row {
    const struct schema_columns *columns; /* borrowed */
    struct item_row_value {
        bool is_present, is_in_texts;
        struct span bytes; /* into the item's text, or the offset and size in TEXTS */
        size_t offset;
    } * values;         /* one per column */
    struct buf texts;   /* owned: values that differ from their JSON text */
    struct buf scratch; /* owned */
    struct buf tight;   /* owned: the item's text if the one that was read has blanks */
    struct span item;   /* valid until the next item */
};

/* False when memory ran out. COLUMNS must outlive ROW. */
bool item_row_init(struct item_row *row, const struct schema_columns *columns, struct arena *arena);
void item_row_clean_up(struct item_row *row);

/* Takes ITEM, a JSON value of any form, whose text must stay. False if it is no typed item of a
 * table with these columns; then WHY has the reason, behind "the item ". WHY stays empty if memory
 * ran out. */
bool item_row_take(struct item_row *row, struct json item, struct buf *why);

/* The same for KEYS, an object with exactly the key attributes of the table. */
bool item_row_take_keys(struct item_row *row, struct json keys, struct buf *why);

/* The value of a column, as the row stores it; false if it is NULL. */
bool item_row_value(const struct item_row *row, size_t column, struct span *out);

/* Binds the COUNT first columns to the parameters from number FROM on. */
void item_row_bind(const struct item_row *row, struct statement *statement, int from, size_t count);

/* Whether the table's keys of both are equal. */
bool item_row_has_keys(const struct item_row *row, const struct item_row *keys);

#endif
