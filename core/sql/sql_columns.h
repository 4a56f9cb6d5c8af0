/* The columns of a table in SQL, and their values in an item.
 *
 * A part of a key is a column: its value comes from the item's key (of the table, else of the first
 * index whose format for the item's kind has it). Where the key has no such part, the value is the
 * attribute of that name. Every other column is the attribute of its name, and so is a part that
 * only indexes have, if a key attribute has its name. A format that is one part with the
 * attribute's own name is the attribute. */
#ifndef DDBFS_CORE_SQL_SQL_COLUMNS_H
#define DDBFS_CORE_SQL_SQL_COLUMNS_H

#include "core/map/model.h"
#include "core/output/sql_value.h"

enum sql_role { SQL_PART, SQL_ATTRIBUTE, SQL_ITEM };

struct sql_column {
    const char *name; /* of the part or the attribute; "item" */
    enum sql_role role;
    /* By the keys: a part and a key attribute of type S are TEXT, one of type N is NUMERIC, and so
     * is a padded part ({score:05}), whose order in the key is that of the numbers. All else has no
     * affinity, also a part that is a text in one key and a number in another. */
    bool is_text, is_number;
    bool is_binary;            /* of keys of type B alone */
    const struct map_key *key; /* whose attribute has the column's name; NULL for none. The column
                                * is NULL where the attribute has not the key's type. */
    bool is_hidden;            /* not in "select *": an attribute that a statement names */
    bool is_masked;            /* a secret, and secrets are not shown */
};

/* Columns are added until a statement runs; the numbers of columns never change. */
struct sql_columns {
    struct arena arena;
    const struct model *model; /* holds a reference */
    bool show_secrets;
    struct sql_column *items;
    size_t count;
    size_t item; /* the number of the column "item"; its name is "item_json" if a part or a key
                  * attribute is called "item" */
};

/* The parts of the map's formats, then the key attributes of the table and its indexes, each once,
 * then "item". Names that SQLite takes for equal (it ignores the case of ASCII letters) are one
 * column, the first. NULL when memory ran out. */
struct sql_columns *sql_columns_new(const struct model *model, bool show_secrets);
void sql_columns_destroy(struct sql_columns *columns); /* NULL is fine */

/* The number of the column that SQLite finds for NAME; COUNT for none. */
size_t sql_columns_find(const struct sql_columns *columns, struct span name);
/* The number of the column that is the part PARAM, or the attribute that the part is; COUNT for
 * none. */
size_t sql_columns_find_part(const struct sql_columns *columns, const char *param);
/* Adds the hidden column of an attribute, unless it is there. False when memory ran out. */
bool sql_columns_add(struct sql_columns *columns, struct span attribute);

/* Where the value of a column comes from in items of one kind. */
struct sql_origin {
    enum sql_origin_place {
        SQL_FROM_NOWHERE, /* it is NULL */
        SQL_FROM_KEY,     /* a part of the table's key */
        SQL_FROM_INDEX,   /* a part of KEY */
        SQL_FROM_ATTRIBUTE,
    } place;
    const struct map_key *key; /* of an index */
    bool or_attribute;         /* FROM_INDEX: the attribute, where the item has no such part */
};
/* KIND NULL: items of no declared kind, whose keys have no parts; a column of a part is NULL.
 * COLUMN is not "item". */
struct sql_origin sql_columns_origin(const struct sql_columns *columns, size_t number,
                                     const struct map_kind *kind);

/* Appends CREATE TABLE x(…) for sqlite3_declare_vtab. */
void sql_columns_write_declaration(const struct sql_columns *columns, struct buf *out);

/* An item whose columns are read. {0} before the first. Values that were read are valid until the
 * next item begins. */
struct sql_row {
    const struct sql_columns *columns;
    struct json item;
    struct arena arena;
    struct buf storage;          /* of one value, while it is read */
    const struct map_kind *kind; /* NULL: of no kind that the map declares */
    struct bindings parts;       /* of the table's key */
};

/* False with ERR filled when ITEM is no typed item or lacks its key, or memory ran out. */
bool sql_row_begin(struct sql_row *row, const struct sql_columns *columns, struct json item,
                   struct error *err);
/* A key attribute of an index is NULL if it has not the key's type: the item is not in the index.
 * False with ERR filled when the item is not understood, or memory ran out. */
bool sql_row_read(struct sql_row *row, size_t column, struct sql_value *out, struct error *err);
/* Whether the column NUMBER hides an attribute of its name, which has another value. */
enum sql_hiding {
    SQL_HIDES_NOTHING,
    SQL_HIDES_VALUE,    /* the column is a part of the key, or the attribute has another type */
    SQL_HIDES_UNSTATED, /* by the map, items of this kind have no such attribute */
};
enum sql_hiding sql_row_hides(struct sql_row *row, size_t number);
void sql_row_clean_up(struct sql_row *row);

#endif
