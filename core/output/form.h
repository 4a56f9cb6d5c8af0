/* A form: the items of a listing as one file. Items are added one by one, in the listing's order.
 * Text is appended as soon as it is known, so that some forms hold no more than one item. */
#ifndef DDBFS_CORE_OUTPUT_FORM_H
#define DDBFS_CORE_OUTPUT_FORM_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"
#include "core/item/item.h"
#include "core/json/json.h"
#include "core/output/sql_value.h"

enum form_kind {
    FORM_JSONL,   /* an item a line, as compact JSON */
    FORM_CSV,     /* a header, and an item a row */
    FORM_TABLE,   /* the same in aligned columns, for people */
    FORM_COUNT,   /* the number of items, and a newline */
    FORM_SUMMARY, /* JSON: the number, the first and the last item, and a tally of each attribute */
    FORM_DATABASE, /* an SQLite database with the table "records", a row an item */
};

/* A part of the items' keys. */
struct form_part {
    struct span name;
    bool is_text; /* else a number or bytes, where the part is the whole key attribute */
};

struct form_setting {
    enum form_kind kind;
    const struct record_view *view; /* keys first, secrets masked; a line is compact in any case */
    /* Of CSV, tables and, behind the keys, databases; a repeated one counts once. None: all
     * attributes that any item has, which are known only at the end. */
    const struct span *columns;
    size_t column_count;
    const char *dated_by; /* the attribute with an item's date, or NULL: for the summary */
    /* Of a database: columns, in which an attribute with one of these names has no place. */
    const struct form_part *parts;
    size_t part_count;
    size_t width; /* cells of a line of a table without COLUMNS; 0: any number */
    /* Bytes that the held rows may take, and that form_end may append, else ERROR_TOO_LARGE; 0: any
     * number. */
    size_t most;
};

struct form;

/* Copies the setting. NULL when memory ran out. */
struct form *form_new(const struct form_setting *setting);
void form_destroy(struct form *form); /* NULL is fine */

/* Adds the typed ITEM, and appends to OUT the text that is final by now. False with ERR filled when
 * ITEM is no typed item, as far as the form looks at it, or memory ran out: then OUT is as long as
 * before (unless it failed itself), and FORM can only be destroyed. */
bool form_add(struct form *form, struct json item, struct buf *out, struct error *err);

/* Of a FORM_DATABASE alone, before each form_add: the item's name in its listing, and the values of
 * its parts, one for each of the setting. Borrowed until form_add returns. */
void form_name_next(struct form *form, struct span name, const struct sql_value *parts);

/* Adds COUNT items that the source only counted. Of a FORM_COUNT alone. */
void form_add_unseen(struct form *form, uint64_t count);

/* Appends the rest, after the last item. With MORE, about a megabyte of it, so that the loop is not
 * blocked, and MORE is set if form_end is to be called again; without (NULL) all at once. False as
 * above, or because the rest is larger than the setting allows. */
bool form_end(struct form *form, struct buf *out, bool *more, struct error *err);

/* Whether it failed because it would be larger than the setting allows. */
bool form_is_over(const struct form *form);

/* Appends a warning that no item had the attribute NAME, a column. */
void form_write_unfilled(struct span name, struct buf *out);

/* The number of columns of a table that did not fit; known after form_end. */
size_t form_left_out(const struct form *form);

/* The bytes of heap that it holds. */
size_t form_memory(const struct form *form);

#endif
