/* A form: what the records of a listing look like as one file. Records come in one by one, in the
 * listing's order, and text goes out as soon as it can be told, so that whoever can show it at once
 * holds no more than one record. */
#ifndef DDBFS_CORE_OUTPUT_FORM_H
#define DDBFS_CORE_OUTPUT_FORM_H

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"
#include "core/item/item.h"
#include "core/json/json.h"

enum form_kind {
    FORM_JSONL,   /* a record a line, as compact JSON */
    FORM_CSV,     /* a header, and a record a row */
    FORM_TABLE,   /* the same in aligned columns, for eyes */
    FORM_COUNT,   /* how many, and a newline */
    FORM_SUMMARY, /* JSON: how many, the first and the last, and what each attribute holds */
};

struct form_setting {
    enum form_kind kind;
    const struct record_view *view; /* keys first, secrets masked; a line is compact in any case */
    /* Of CSV and tables, as asked; one that is named twice stands once. None: all attributes that
     * any record has, which CSV too tells at the end alone. */
    const struct span *columns;
    size_t column_count;
    const char *dated_by; /* the attribute that dates a record, or NULL: for the summary */
    size_t width;         /* cells of a line of a table for which none were asked; 0: any number */
    /* Bytes that rows may take while they are kept, and that form_end may append, else
     * ERROR_TOO_LARGE; 0: any number. */
    size_t most;
};

struct form;

/* Copies the setting. NULL when memory ran out. */
struct form *form_new(const struct form_setting *setting);
void form_destroy(struct form *form); /* NULL is fine */

/* Takes the typed ITEM, and appends to OUT what can be told now. False with ERR filled
 * when ITEM is no typed item, as far as the form looks at it, or memory ran out: OUT is as long as
 * before then (unless it failed itself), and FORM is only to be destroyed. */
bool form_add(struct form *form, struct json item, struct buf *out, struct error *err);

/* Takes COUNT records that nobody has seen. Of a FORM_COUNT alone. */
void form_add_unseen(struct form *form, uint64_t count);

/* Appends the rest, after the last record: with MORE about a megabyte of it, so that nobody else
 * waits for long, and MORE tells whether it is to be called again; without (NULL) all at once.
 * False as above, or because the rest is larger than the setting allows. */
bool form_end(struct form *form, struct buf *out, bool *more, struct error *err);

/* Appends, in words, that no record had the attribute NAME, which was asked for as a column. */
void form_write_unfilled(struct span name, struct buf *out);

/* How many columns of a table did not fit; known after form_end. */
size_t form_left_out(const struct form *form);

/* The bytes of heap that it holds: all rows of a form that is told at the end alone. */
size_t form_memory(const struct form *form);

#endif
