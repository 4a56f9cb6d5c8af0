/* A place: what a path means, found without asking anybody. The map alone says which
 * directories and files there can be; whether a record is there is the tree's business. */
#ifndef DDBFS_CORE_TREE_PLACE_H
#define DDBFS_CORE_TREE_PLACE_H

#include "core/base/error.h"
#include "core/map/map.h"
#include "core/map/name.h"
#include "core/map/route.h"
#include "core/plan/plan.h"

enum place_kind {
    PLACE_ROOT,
    PLACE_ENVIRONMENT,
    PLACE_DIRECTORY, /* within a table; a listing if its route has one */
    PLACE_README,    /* of a directory, to which the route belongs */
    PLACE_LIST_INFO, /* companion of a listing, to which the route belongs */
    PLACE_RECORD,
    PLACE_VALUE, /* the bare value of the attribute that the pattern names */
    PLACE_TYPED, /* companions of a record */
    PLACE_INFO,
    PLACE_ATTRS, /* a directory: one file an attribute */
    PLACE_ATTR,  /* such a file */
};

/* Whatever it points to lives as long as it does: it holds a reference to its map and to the model
 * of its table, be they still in use elsewhere or not. Made and changed by these functions alone.
 */
struct place {
    struct arena arena; /* owns the texts below */
    enum place_kind kind;
    const struct map *map;                     /* holds a reference; the environment is of it */
    const struct map_environment *environment; /* NULL above the environments */
    struct span environment_name;              /* "dev-search-v2" */
    const char *table_prefix;                  /* "dev-search-v2-" */
    const struct model *table;                 /* holds a reference; NULL above the tables */
    const struct route *route;                 /* of TABLE: of a directory, or of the record */
    struct bindings bindings;                  /* what the path's parameters stand for */
    struct span attribute;                     /* of PLACE_ATTR */
    struct span
        shortened; /* the name, where it ends in a digest and only a listing knows the key */
};

struct place_options {
    const char *suffix; /* of every record's name; "" for none */
    bool hide_secrets;  /* others may look on: files made for reading a secret are denied */
};

struct place *place_root(const struct map *map);
/* The same place once more, for who outlives its owner. NULL when memory ran out. */
struct place *place_copy(const struct place *place);
void place_destroy(struct place *place); /* NULL is fine */
bool place_is_directory(const struct place *place);

/* What NAME means in PLACE, a directory. NULL with ERR filled: ERROR_NOT_FOUND when the map has
 * no such name, with a text that says what could stand there. */
struct place *place_child(const struct place *place, struct span name,
                          const struct place_options *options, struct error *err);

/* The directory of the table that MODEL is of, in ENVIRONMENT. NULL when memory ran out. */
struct place *place_table(const struct place *environment, const struct model *model);

/* Takes the next segment off a path, and the slashes before it; false at its end. */
bool place_next_segment(struct span *path, struct span *segment);

/* Whether the file is a secret that this mount must not give. */
bool place_is_hidden(const struct route *route, const struct place_options *options);

/* place_child for a whole path from the root; a trailing slash asks for a directory. */
struct place *place_resolve(const struct map *map, struct span path,
                            const struct place_options *options, struct error *err);

/* The name of the table as the service knows it; NULL when memory ran out. The caller frees. */
char *place_table_name(const struct place *place);

/* Whether something is read for the place: its record, or the listing that it is. */
bool place_is_read(const struct place *place);
/* How that is read; only for a place of which place_is_read. NULL with ERR filled: ERROR_INVALID
 * when nothing can have the values that the path gives. */
struct plan *place_plan(const struct place *place, struct error *err);

/* How long a name may be before it is shortened. */
size_t place_name_limit(const struct place_options *options);

/* Appends the name of CHILD, a step below PLACE that the map declares, given the values of its
 * parameters. False when one is missing, or memory ran out. */
bool place_segment_name(const struct place *place, const struct route *child,
                        const struct bindings *parts, const struct place_options *options,
                        struct buf *out);

/* Appends the name of an entry of the listing PLACE, given its parts, as that directory and no
 * sibling of its would take it. */
bool place_entry_name(const struct place *place, const struct route *entry,
                      const struct bindings *parts, const struct place_options *options,
                      struct buf *out);

#endif
