/* Kinds of record on their way into a table: each says how it writes the table's key and the keys
 * of its indexes, attribute by attribute. */
#ifndef DDBFS_CORE_DRAFT_IMPORTED_KINDS_H
#define DDBFS_CORE_DRAFT_IMPORTED_KINDS_H

#include "core/draft/import_reader.h"
#include "core/draft/key_template.h"

enum kind_key {
    KIND_KEY_ABSENT,   /* its records do not have the attribute */
    KIND_KEY_LEFT_OUT, /* they do, in a way that can't be imported: which was noted */
    KIND_KEY_FOUND,
};

/* How a kind's records write ATTRIBUTE: FORMAT and TYPE are set when it is found. */
typedef enum kind_key kind_key_fn(void *context, const char *attribute, struct format *format,
                                  enum value_type *type);

/* A kind of record. */
struct kind {
    const char *name;
    struct json at;      /* where it stands, for notes */
    const char *keys[2]; /* the table's key attributes: partition, and sort or NULL */
    kind_key_fn *key;
    void *context;
};

/* Adds KIND to TABLE, and to those of its indexes (all known by now, with their attributes) whose
 * keys it has. A kind without the table's whole key is left out with a note. */
void imported_kinds_add(struct import_reader *reading, struct declared_table *table,
                        const struct kind *kind);

/* When all kinds are there: a table of which none could be read gets one, "item", of its KEYS as
 * they are; an index that no kind is in is left to the view by whole keys
 * (core/draft/whole_kind.h); and the separator is what stands between the parts of keys. */
void imported_kinds_finish(struct import_reader *reading, struct attribute_parts *names,
                           struct json at, struct declared_table *table, const char *const keys[2]);

#endif
