/* A place: the meaning of a path, found without a request. The map defines the possible directories
 * and files; the tree reads the items. */
#ifndef DDBFS_CORE_READ_PLACE_H
#define DDBFS_CORE_READ_PLACE_H

#include "core/base/error.h"
#include "core/map/map.h"
#include "core/map/route.h"
#include "core/name/names.h"
#include "core/plan/plan.h"
#include "core/read/fact.h"

enum place_kind {
    PLACE_ROOT,
    PLACE_ENVIRONMENT,
    PLACE_TABLES,      /* tables by their names: those with table_prefix are listed, any opens */
    PLACE_TABLE,       /* one of them, whose description has not been read */
    PLACE_TIMES,       /* ENV@at: a directory of the moments of an environment's snapshots */
    PLACE_DIRECTORY,   /* within a table; a listing if its route has one */
    PLACE_PLACEHOLDER, /* a directory in place of names which nothing lists: those of the step
                        * ROUTE, or the columns of COMPANION. It can't be listed. */
    PLACE_COLUMNS,     /* companion of a listing: a directory, whose files are tables of the columns
                        * in their names */
    PLACE_README,      /* of a directory, to which the route belongs; none above the tables */
    PLACE_FACT,        /* a file with the service's own JSON about a table */
    PLACE_CHANGES,     /* a file that grows by a line for each change of the table's items; only a
                        * mount can serve it */
    PLACE_LIST_INFO,   /* companion of a listing, to which the route belongs: its costs */
    PLACE_LIST_FILE,   /* and its items as one file, in the form of COMPANION */
    PLACE_RECORD,      /* an item */
    PLACE_VALUE,       /* the bare value of the attribute that the pattern names */
    PLACE_TYPED,       /* companions of an item */
    PLACE_INFO,
    PLACE_ATTRS,        /* a directory: one file an attribute */
    PLACE_ATTR,         /* such a file */
    PLACE_LINKS,        /* a directory: one link for each of the map's */
    PLACE_LINK,         /* such a link */
    PLACE_HISTORY,      /* a directory: one file for each known version of an item */
    PLACE_VERSION,      /* such a file, or (COMPANION) a companion of it */
    PLACE_SIMILAR,      /* a directory: the items whose vectors are nearest to an item's own */
    PLACE_SIMILAR_FILE, /* and those items as one file, in the form of COMPANION */
    PLACE_SIMILAR_ITEM, /* one of them, by its name in that directory, or (COMPANION) a companion of
                         * it */
};

/* The name of PLACE_CHANGES. */
#define PLACE_CHANGES_NAME "changes.jsonl"

/* The ending of a directory of moments: /prod@at. */
#define PLACE_TIMES_ENDING "@at"

/* Holds references to its map and to the model of its table, so that all it points to lives as long
 * as the place. Made and changed by these functions alone. */
struct place {
    struct arena arena; /* owns the texts below */
    enum place_kind kind;
    const struct map *map;                     /* holds a reference; the environment is of it */
    const struct map_environment *environment; /* NULL above the environments, and without a map */
    struct span environment_name;              /* "dev-search-v2" */
    bool is_snapshot;  /* its items come from a snapshot: reading costs nothing */
    bool is_recording; /* and the snapshot is a recording: else names are scanned */
    bool is_past;      /* PLACE_TIMES, below it, and PLACE_VERSION: the state is that of AT_MS */
    int64_t at_ms;     /* the last moment that AT includes; of PLACE_TIMES the greatest number */
    struct span at;    /* the name of the moment, as it was typed; empty without one */
    const char *table_prefix;  /* "dev-search-v2-" */
    const struct model *table; /* holds a reference; NULL above the tables */
    const char *table_name;    /* below PLACE_TABLES: the service's name of it; else NULL */
    struct span below;         /* with TABLE_NAME: the path from its directory to here */
    const struct route *route; /* of TABLE: of a directory, or of the item */
    struct bindings bindings;  /* the values of the path's parameters */
    enum fact fact;            /* of PLACE_FACT */
    enum companion companion;  /* of PLACE_LIST_FILE, PLACE_COLUMNS, PLACE_HISTORY, their READMEs,
                                * and PLACE_VERSION */
    struct span columns;       /* of PLACE_LIST_FILE, as they are written, or the only ones that are
                                * wanted of a listing; empty for none */
    struct span attribute;     /* of PLACE_ATTR */
    const struct map_link *link; /* of PLACE_LINK, of TABLE's */
    struct span link_ending;     /* the companion's ending behind the link's name; or empty */
    struct cost way;             /* of following links on the way here */
    bool attribute_shortened;    /* ATTRIBUTE is a shortened name, which only the item resolves */
    struct span shortened; /* the name, if it ends in a digest and only a listing has the key */
    const struct selection *selection; /* in the arena: some of a listing's items; NULL: all */
    const struct model *described;   /* of PLACE_SIMILAR and below: the service's view of the table,
                                      * which holds a reference; NULL before it is known */
    const struct map_vector *vector; /* of DESCRIBED: the index that is searched */
    struct span vector_name;         /* the index in the path; empty for none */
    struct span similar_name;        /* of PLACE_SIMILAR_ITEM */
    uint32_t top;                    /* the number of results */
    bool is_top_typed;               /* in the path */
    const struct plan *plan;         /* holds a reference; NULL until place_plan makes it */
    struct place *self; /* itself, for place_plan; of a plain copy: the place it borrows from */
};

struct place *place_root(const struct map *map);
/* A copy that may outlive PLACE. NULL when memory ran out. */
struct place *place_copy(const struct place *place);
void place_destroy(struct place *place); /* NULL is fine */
/* The bytes that it takes alone, without its plan. */
size_t place_memory(const struct place *place); /* NULL takes none */
bool place_is_directory(const struct place *place);
/* Whether it is a directory with a PLACE_FACT of each kind. */
bool place_has_facts(const struct place *place);

/* Whether ROOT has no tables/, because each environment of its map is a snapshot of its own. */
bool place_hides_tables(const struct place *root, const struct place_options *options);

/* The step below PLACE, a directory of a table that was found by its name, whose names are the
 * table's partition keys; or NULL. */
const struct route *place_key_step(const struct place *place);

/* Whether partition keys are listed by scanning a snapshot. */
static inline bool place_scans_snapshot(const struct place *place)
{
    return place->is_snapshot && !place->is_recording;
}

/* The first step of PLACE, a directory or a companion of one, behind AFTER (NULL: of all) that
 * has a placeholder; NULL for none. */
const struct route *place_next_unlisted(const struct place *place,
                                        const struct place_options *options,
                                        const struct route *after);

/* The place NAME in PLACE, a directory. NULL with ERR filled: ERROR_NOT_FOUND when the map has
 * no such name, with a text that names similar ones; ERROR_INVALID when it refuses the
 * name's values. */
struct place *place_child(const struct place *place, struct span name,
                          const struct place_options *options, struct error *err);

/* The directory of MODEL's table: in PLACE, an environment; or in place of PLACE, a PLACE_TABLE.
 * NULL when memory ran out. */
struct place *place_table(const struct place *place, const struct model *model);
/* The PLACE_TABLE that PLACE, which has a TABLE_NAME, is or is below. NULL when memory ran out. */
struct place *place_undescribed(const struct place *place);

/* The place at STEP, which is DIRECTORY's own or below it, with an example value for each unknown
 * parameter. NULL when memory ran out. */
struct place *place_example(const struct place *directory, const struct route *step);

/* The place of ROUTE, a single step of MODEL, with VALUES for its parameters, in TABLE, the
 * directory of a table: MODEL describes the same table in another way. No path leads there. ROUTE
 * is MODEL's. NULL when memory ran out. */
struct place *place_of_route(const struct place *table, const struct model *model,
                             const struct route *route, const struct bindings *values);

/* Takes the next segment off a path, and the slashes before it; false at its end. */
bool place_next_segment(struct span *path, struct span *segment);

/* Whether a path to PLACE may end in a slash. */
bool place_suits_slash(const struct place *place, struct error *err);

/* place_child for a whole path from the root; a trailing slash requires a directory. */
struct place *place_resolve(const struct map *map, struct span path,
                            const struct place_options *options, struct error *err);

/* The name of the table as the service knows it; NULL when memory ran out. The caller frees. */
char *place_table_name(const struct place *place);

/* Whether it is a listing of items, or a companion of one. */
bool place_is_listing(const struct place *place);

/* The plan of PLACE, for which fetch_is_needed holds. The first call makes it. PLACE and its later
 * copies hold it, and each caller that executes, prints, prices or bills PLACE uses this one.
 * Borrowed: plan_ref it for use beyond PLACE. NULL with ERR filled: ERROR_INVALID if no item can
 * have the values that the path gives. */
const struct plan *place_plan(const struct place *place, struct error *err);
/* Releases the plan of PLACE, which stays without a reader. The next place_plan makes it anew. */
void place_release_plan(const struct place *place);
/* Another plan of PLACE, which the caller may change and must plan_unref. */
struct plan *place_new_plan(const struct place *place, struct error *err);

/* The item of PLACE, a PLACE_HISTORY or PLACE_VERSION, at the moment AT_MS: as the item itself, or
 * as its companion (COMPANION_INFO, COMPANION_TYPED). NULL when memory ran out. */
struct place *place_copy_at(const struct place *place, int64_t at_ms, enum companion companion);

/* The name of the table whose description PLACE, a PLACE_SIMILAR or below, lacks; NULL if it lacks
 * none, or memory ran out. The caller frees. */
char *place_undescribed_table(const struct place *place);
/* PLACE, with the index of MODEL, its table's description, that it searches. NULL with ERR filled:
 * there is no such index, it is not ready, several could be meant, or memory ran out. */
struct place *place_describe(const struct place *place, const struct model *model,
                             struct error *err);
/* The item of PLACE, a PLACE_SIMILAR or below, whose vector is searched for. NULL when memory ran
 * out. */
struct place *place_copy_subject(const struct place *place);

/* The item KEY, which the search of PLACE, a PLACE_SIMILAR_ITEM, has found: as the item itself or
 * as its companion. NULL when memory ran out. */
struct place *place_of_similar(const struct place *place, const struct key *key);

/* Adds to PLACE's way the cost of reading the item of the link FROM, which led to it. */
void place_add_way(struct place *place, const struct place *from);

/* Whether PLACE is a listing of items, or a companion of one; false with ERR filled:
 * ERROR_INVALID.
 */
bool place_has_records(const struct place *place, struct error *err);
/* A copy of PLACE, which is a listing of items, as its companion of that form; COMPANION_NONE: as
 * its directory. NULL when memory ran out. */
struct place *place_copy_as(const struct place *place, enum companion companion);
/* Makes PLACE, a listing of items, the file that counts them. */
void place_count(struct place *place);
/* Narrows the items of PLACE, a listing, to COLUMNS, which are written as in the name of a file. */
void place_set_columns(struct place *place, struct span columns);

/* Narrows PLACE, a listing of items, to some of them, without the other entries of its directory.
 * SHOW_SECRETS if a filter may test secret attributes. False with ERR filled and PLACE unchanged:
 * it lists no items, no plan can select them, or memory ran out. */
bool place_select(struct place *place, const struct selection *selection, bool show_secrets,
                  struct error *err);

/* Appends the name of CHILD, a step below PLACE or an entry of its listing, given the values of its
 * parameters: names_write. */
bool place_write_name(const struct place *place, const struct route *child,
                      const struct bindings *parts, uint64_t rank,
                      const struct place_options *options, struct buf *out, struct error *err);

#endif
