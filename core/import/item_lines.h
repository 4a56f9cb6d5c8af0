/* The values of an input, one after the other: the lines of a file, or the elements of "Items" in
 * the output of `aws dynamodb scan`. Memory is needed for one value and one chunk of the input. */
#ifndef DDBFS_CORE_IMPORT_ITEM_LINES_H
#define DDBFS_CORE_IMPORT_ITEM_LINES_H

#include "core/import/input.h"

/* The largest value: two images of an item of 400 KB, whose JSON may be six times as long. */
enum { ITEM_LINES_MOST = 16 << 20 };

struct item_lines {
    struct input *input; /* borrowed */
    uint64_t line;       /* of the value returned last, from 1 on */
    uint64_t count;      /* of values returned so far */

    struct buf bytes; /* read, but not used before AT */
    size_t at;
    uint64_t next_line; /* of the byte AT */
    bool has_ended;     /* INPUT has no further bytes */
    enum item_lines_form {
        ITEM_LINES_UNKNOWN,
        ITEM_LINES_ROWS,     /* one value per line */
        ITEM_LINES_ARRAY,    /* one array */
        ITEM_LINES_DOCUMENT, /* one object with the array "Items" */
        ITEM_LINES_OVER,     /* behind the last value of an array or a document */
    } form;
    bool in_items;        /* of an array or a document: within the array */
    bool has_items;       /* of a document */
    bool has_member;      /* of a document or an array: a member or an element came before */
    int64_t stated_count; /* of a document; -1: not stated */
};

/* FORM is ITEM_LINES_ROWS, or ITEM_LINES_UNKNOWN: then the beginning of the file shows it. */
void item_lines_init(struct item_lines *lines, struct input *input, enum item_lines_form form);
void item_lines_clean_up(struct item_lines *lines);

/* The next value, valid until the next call; empty at the end. A line is not parsed yet. False with
 * ERR filled, which names the file and the line: the form of the file is not one of the known ones,
 * it is cut off, or it does not contain all items. */
bool item_lines_next(struct item_lines *lines, struct span *out, struct error *err);

/* Parses TEXT, which is of the line returned last. DOC is to be cleaned up in either case. */
bool item_lines_parse(const struct item_lines *lines, struct span text, struct json_doc *doc,
                      struct error *err);

/* Fills ERR with "FILE: line N: TEXT". Returns false. */
bool item_lines_fail(const struct item_lines *lines, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
