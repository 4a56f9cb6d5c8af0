/* Kinds of item of an imported table, each with its formats of the table's key and of the keys of
 * indexes, attribute by attribute. */
#ifndef DDBFS_CORE_DRAFT_IMPORTED_KINDS_H
#define DDBFS_CORE_DRAFT_IMPORTED_KINDS_H

#include "core/draft/import_reader.h"
#include "core/draft/key_template.h"

enum kind_key {
    KIND_KEY_ABSENT,   /* the kind's items lack the attribute */
    KIND_KEY_LEFT_OUT, /* its format can't be imported, which was noted */
    KIND_KEY_FOUND,
};

/* Finds the kind's FORMAT and TYPE of ATTRIBUTE. */
typedef enum kind_key kind_key_fn(void *context, const char *attribute, struct format *format,
                                  enum value_type *type);

struct imported_kind {
    const char *name;
    struct json at;      /* its place, for notes */
    const char *keys[2]; /* the table's key attributes: partition, and sort or NULL */
    kind_key_fn *key;
    void *context;
};

/* Adds KIND to TABLE, and to each of its indexes whose keys it has. All indexes, with their
 * attributes, must be added before. A kind without the table's whole key is left out with a note.
 */
void imported_kinds_add(struct import_reader *reader, struct declared_table *table,
                        const struct imported_kind *kind);

/* Completes TABLE after its last kind. If no kind could be read, it gets one, "item", whose KEYS
 * are whole. An index without kinds has whole keys, too (drafted_paths.h). The separator is the
 * character that is most often behind a part. */
void imported_kinds_finish(struct import_reader *reader, struct attribute_parts *names,
                           struct json at, struct declared_table *table, const char *const keys[2]);

#endif
