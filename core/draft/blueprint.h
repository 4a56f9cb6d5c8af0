/* A table as a model of NoSQL Workbench describes it: its keys and its indexes. It is put together
 * piece by piece, held to the service's own rules, and then declared as a table is that the service
 * has described (core/draft/from_description.h). Whatever does not fit is left out with a note. */
#ifndef DDBFS_CORE_DRAFT_BLUEPRINT_H
#define DDBFS_CORE_DRAFT_BLUEPRINT_H

#include "core/draft/import_reader.h"

/* More than a table has at the service. */
enum { BLUEPRINT_MAX_ATTRIBUTES = 250, BLUEPRINT_MAX_INDEXES = 100 };

struct blueprint_attribute {
    const char *name;
    enum value_type type;
};

struct blueprint {
    struct import_reader *reader;
    struct json at; /* where the table stands */
    struct blueprint_attribute attributes[BLUEPRINT_MAX_ATTRIBUTES];
    size_t attribute_count;
    struct key_schema keys;
    struct index_info indexes[BLUEPRINT_MAX_INDEXES];
    size_t index_count;
    bool broken; /* its own key is not known */
};

/* That an attribute is of TYPE, "S", "N" or "B"; either may be NULL when it could not be read. */
void blueprint_add_attribute(struct blueprint *blueprint, struct json at, const char *name,
                             const char *type);

/* Adds the key attribute NAME to KEYS, as the partition key or, with SORT, as the sort key. KEYS
 * has no key of that side yet. Returns false with a note when NAME can't be one; NAME is NULL when
 * that is noted already. */
bool blueprint_add_key(struct blueprint *blueprint, struct json at, struct key_schema *keys,
                       const char *name, bool sort);

/* PROJECTION_TYPE as the service writes it, "ALL", … False with a note when it is none. */
bool blueprint_projection(struct blueprint *blueprint, struct json at, const char *projection_type,
                          enum projection *out);

/* INDEX, of which all but what it includes is complete. */
void blueprint_add_index(struct blueprint *blueprint, struct json at,
                         const struct index_info *index);

/* Declares the table NAME. Returns NULL when it was left out. */
struct declared_table *blueprint_declare(struct blueprint *blueprint, const char *name);

#endif
