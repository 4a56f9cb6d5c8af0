/* A table of a statement, and the places of its lookups: the same code reads them as reads paths.
 * These places have a model of their own, in which each key is one open part: so every item of the
 * table counts, also one of a kind that the map does not declare. */
#ifndef DDBFS_CORE_SQL_SQL_TABLE_H
#define DDBFS_CORE_SQL_SQL_TABLE_H

#include "core/read/place.h"
#include "core/sql/sql_lookup.h"

struct sql_table {
    struct sql_table *next; /* of the same statement */
    struct arena arena;
    const char *schema, *name;     /* in SQLite: "prod" and "jobs"; "main" without a schema */
    const char *shown;             /* as in a statement: "prod.jobs" */
    struct place *place;           /* owned: the table's directory */
    const struct map_index *index; /* of its model: the statement names it; else NULL */
    struct sql_columns *columns;   /* owned */
    bool is_unordered;             /* its rows came in another order than that of its columns */
    const struct model *raw;       /* holds a reference; its arena has the routes of lookups, which
                                    * listings in the cache may outlive the statement with */
    struct sql_route *routes;      /* in there */
    struct sql_seen *seen;         /* owned; COLUMN_COUNT: what the items read so far had */
    size_t seen_count;
    uint64_t items;          /* read so far */
    uint64_t tested;         /* by filters of lookups that have ended */
    const char *is_void;     /* why no row can match; NULL unless that is so of some lookup */
    struct arena attributes; /* of the names below */
    struct span *names;      /* owned: some attributes that items had */
    size_t name_count;
};

/* A column in the items that were read. */
struct sql_seen {
    bool used;         /* the statement reads it */
    bool has;          /* some item has the attribute */
    uint64_t hidden;   /* items whose attribute differs from the column's value; */
    uint64_t unstated; /* and items without one, by the map */
};

/* PLACE, the directory of a table, is copied. NULL with ERR filled. */
struct sql_table *sql_table_new(const struct place *place, struct span schema, struct span name,
                                const struct map_index *index, bool show_secrets,
                                struct error *err);
void sql_table_destroy(struct sql_table *table); /* NULL is fine */

/* The place of LOOKUP, which is no Scan: an item, or a listing whose items have the lookup's filter
 * as their selection. MOST: its first items alone, as the limit of a listing; 0 for all. The caller
 * destroys it. NULL with ERR filled. */
struct place *sql_table_find(struct sql_table *table, const struct sql_lookup *lookup,
                             uint32_t most, struct error *err);

/* Notes that the statement reads COLUMN. False when memory ran out. */
bool sql_table_use(struct sql_table *table, size_t column);
/* Notes an item: which of the used columns it has, and which attributes parts of its key hide.
 * False when memory ran out. */
bool sql_table_note(struct sql_table *table, struct sql_row *row);

/* Notes that no row can match, for the reason WHY. False when memory ran out. */
bool sql_table_note_void(struct sql_table *table, struct span why);

/* Whether the statement TEXT has NAME in double quotes, so that it may be meant as a text. */
bool sql_table_is_quoted(struct span name, struct span text);

/* Calls FN for each used attribute that no item had, for each part that hid attributes, if no row
 * can match, and if filters dropped all items. TEXT is the statement: a name that it has in double
 * quotes may be meant as a text. */
void sql_table_warn(const struct sql_table *table, struct span text,
                    void (*fn)(void *arg, const char *text), void *arg);

#endif
