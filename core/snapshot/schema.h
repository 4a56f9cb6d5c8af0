/* The tables of a snapshot file. docs/snapshot.md describes them. */
#ifndef DDBFS_CORE_SNAPSHOT_SCHEMA_H
#define DDBFS_CORE_SNAPSHOT_SCHEMA_H

#include "core/base/arena.h"
#include "core/base/database.h"
#include "core/json/json.h"
#include "core/source/source.h"

enum { SCHEMA_APPLICATION = 0x64646266, SCHEMA_VERSION = 1 };

/* Creates the tables in an empty DATABASE. KIND is "snapshot" or "recording". */
bool schema_create(struct database *database, const char *kind, struct error *err);

/* Which of the two kinds it is. */
bool schema_find_kind(struct database *database, bool *is_recording, struct error *err);

/* Facts: the rows of the table "about". FOUND is whether it has NAME, whose value is appended. */
bool schema_read_fact(struct database *database, const char *name, bool *found, struct buf *out,
                      struct error *err);
bool schema_set_fact(struct database *database, const char *name, struct span value,
                     struct error *err);

/* Whether DATABASE is a snapshot that this program can read. False with ERR filled: it belongs to
 * another application, or to a newer program, or it is damaged. */
bool schema_check(struct database *database, struct error *err);

/* Whether FILE begins as a snapshot or a recording does, also if the rest is damaged. It must not
 * be open as a database in this process, which would lose its locks. */
bool schema_is_in_header(const char *file);

/* The key columns of a table: attribute I is in the column k(I + 1). Each attribute has one. */
struct schema_columns {
    struct schema_column {
        struct span attribute; /* of the table_info */
        enum value_type type;
    } * list; /* in an arena */
    size_t count;
    size_t own_count; /* of the table's own key: the first ones */
};

/* False when memory ran out. */
bool schema_find_columns(const struct table_info *info, struct arena *arena,
                         struct schema_columns *out);

/* The number of the column of ATTRIBUTE, from 0 on; COUNT if no column is its. */
size_t schema_find_column(const struct schema_columns *columns, struct span attribute);

/* A table that is to be added. */
struct schema_table {
    struct span name;
    struct span description; /* the JSON object "Table" of DescribeTable, and INFO read from it */
    struct span expiry;      /* the JSON object TimeToLiveDescription; empty: not known */
    const struct table_info *info;
};

/* Adds TABLE without items. Rows of items_N may be inserted next. */
bool schema_add_table(struct database *database, const struct schema_table *table, int64_t *number,
                      struct error *err);

/* Creates the index on the key of table NUMBER, and one for each of its indexes. Fails with
 * ERROR_INVALID if two rows have the same key and from_ms. */
bool schema_add_indexes(struct database *database, int64_t number, const struct table_info *info,
                        struct error *err);

#endif
