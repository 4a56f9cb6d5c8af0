/* Inside an inference (infer.h): what is known of a table while it is inferred. Each step finds in
 * it what the ones before have left there: kinds (inferred_kinds.h), of these the records
 * (inferred_records.h), then indexes and parameters. */
#ifndef DDBFS_CORE_DRAFT_INFERENCE_H
#define DDBFS_CORE_DRAFT_INFERENCE_H

#include "core/draft/part_names.h"

/* A part of the keys of a kind, and what it is in each of its records. */
struct inferred_part {
    const char *name;          /* in the result's arena */
    const struct span *values; /* beside the kind's rows; empty data: not there */
    struct inferred_part *next;
};

/* A kind of record. It and all that it owns are in the inference's arena "work". */
struct inferred_kind {
    struct key_shape shapes[2];
    struct part_name names[2][KEY_SHAPE_MAX_TOKENS];
    size_t *rows; /* owned: its records, as places in "specimens" */
    size_t count;
    struct inferred_part *parts;    /* owned */
    struct declared_record *record; /* in the result's arena; NULL before it is made */
    struct inferred_kind *next;
};

/* The whole of what is inferred. */
struct inferring {
    const struct declared_table *described; /* borrowed */
    struct declared_table *table;           /* the result; in ARENA */
    struct arena *arena;                    /* borrowed: of the result */
    struct arena work; /* owned: what goes afterwards; holds values of records */
    const struct sampled_item *const *specimens; /* borrowed, as are the texts that shapes hold */
    size_t count;
    size_t all;                   /* records, with those that were not looked at */
    struct column columns[2];     /* the table's own keys; their shapes are in "work" */
    struct vocabulary vocabulary; /* of "columns"; in "work" */
    size_t key_count;             /* of "columns", and of the shapes and names of each kind */
    struct inferred_kind *kinds;
    size_t kind_count;
    char separator;
};

/* What BUF says, in the result's arena. NULL when memory ran out. */
const char *inference_text(struct inferring *inferring, const struct buf *buf);

/* Appends "3 sampled records": on how many the inference rests. */
void inference_add_sample(const struct inferring *inferring, struct buf *out);

/* Takes one of the kinds away: its records are of another, or of none. */
void inference_drop_kind(struct inferring *inferring, const struct inferred_kind *kind);

#endif
