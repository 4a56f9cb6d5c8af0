/* The model of one table: the formats of its keys, its indexes, and every path below it. It is
 * compiled once (compile.h) and constant; each user holds a reference, so that a newer model can
 * replace it while the old one is in use. */
#ifndef DDBFS_CORE_MAP_MODEL_H
#define DDBFS_CORE_MAP_MODEL_H

#include <regex.h>
#include <stdint.h>

#include "core/map/format.h"
#include "core/source/read.h"
#include "core/source/source.h"

/* How long a result is reused by default; that nothing was found; and names that follow from the
 * map alone. */
enum { MAP_TTL_MS = 10000, MAP_MISSING_TTL_MS = 2000, MAP_STRUCTURE_TTL_MS = 60000 };

/* The rank at the beginning of an entry's name, "007_…": its position in the listing, so that names
 * sort in the listing's order. The rest of the name identifies the item, which opens by it whatever
 * its rank is now. */
enum {
    RANK_DIGITS = 7, /* of a listing without a limit; those of the greatest limit */
    RANK_MAX_BEHIND = 32,
};

/* Its parameter in the map. */
#define RANK_PARAM "rank"

struct map_rank {
    unsigned digits;    /* with leading zeros; 0: names have no rank */
    struct span behind; /* the text between the rank and the rest, which begins with no digit */
};

/* The format of an attribute for one kind. */
struct map_kind_format {
    const struct map_kind *kind;
    struct format format;
};

/* A key attribute of a table or an index. */
struct map_key {
    const char *attribute;
    enum value_type type;
    struct format
        format; /* of an index; empty if it is also a key of the table: see struct map_kind */
    struct map_kind_format *by_kind; /* of an index with formats by kind: FORMAT is empty, and other
                                        kinds are not in the index */
    size_t by_kind_count;
};

/* A kind of item: the formats of its keys. */
struct map_kind {
    const char *name;
    struct format keys[2]; /* in the order of the table's keys */
    unsigned line, column;
    struct map_kind *next;
};

struct map_index {
    const char *name;
    struct map_key partition[KEY_MAX_ATTRIBUTES], sort[KEY_MAX_ATTRIBUTES];
    size_t partition_count;
    size_t sort_count;
    enum projection projects;
    const char **includes; /* of PROJECTS_SOME, beside keys; empty if the map does not list them */
    size_t include_count;
    bool local;
    bool has_holds;                /* the map states which kinds the index holds: */
    const struct map_kind **holds; /* all of their items are in it */
    size_t hold_count;
    unsigned line, column;
    struct map_index *next;
};

/* A vector index of a table that the service describes; a map declares none. */
struct map_vector {
    const char *name;
    const char *step;      /* its directory in by/ */
    const char *attribute; /* of the vectors */
    uint32_t dimensions;
    const char *distance;  /* the service's name of the function (core/source/source.h) */
    const char *partition; /* the attribute whose value each search must have, or NULL */
    enum value_type partition_type;
    const char *status; /* "ACTIVE", "CREATING", … */
    bool is_backfilling;
    struct map_vector *next;
};

/* A parameter's values. */
struct map_param {
    const char *name;
    const struct span *values; /* known values, which directories list */
    size_t value_count;
    bool only;         /* it has no others */
    const char *owner; /* the kind that has an item for each value, or NULL */
    const char *match; /* an extended regular expression, or NULL */
    regex_t regex;     /* compiled when MATCH is set; owned */
    const char *hint;  /* the message if MATCH fails, or NULL */
    bool typed;        /* the map has their TYPE */
    enum value_type type;
    unsigned line, column;
    struct map_param *next;
};

/* A value of a comparison, in terms of the path's parameters. */
struct map_operand {
    enum value_type type;
    struct format text;
};

/* A condition in terms of the path's parameters; condition_expand makes a struct cond of it. */
struct map_cond {
    const char *attribute; /* NULL of COND_AND, COND_OR and COND_NOT */
    const char *written;   /* with the steps below it, as in the map; NULL: the attribute alone */
    enum value_type type;  /* of VALUE and UPPER */
    enum cond_op op;
    struct format value;
    struct format upper; /* of COND_BETWEEN */
    bool on_key;         /* of the key condition */
    const struct cond_step *steps;
    size_t step_count;
    const struct map_operand *list; /* of COND_IN */
    size_t list_count;
    const struct map_cond *children; /* of COND_AND, COND_OR and COND_NOT */
    size_t child_count;
};

/* A part of a key and its value, in terms of the path's parameters. */
struct map_part {
    const char *param;
    struct format value;
};

/* A value that a part of a key is compared with, where END follows the part in the key. Keys are
 * ordered by their bytes, so the comparison is right only for values without bytes up to END. */
struct map_bound {
    const char *param; /* the part */
    struct format value;
    char end;
    bool begins; /* only END itself must not occur */
};

enum map_pick { PICK_NONE, PICK_GREATEST, PICK_LEAST };

/* One kind of entry of a listing, with its name. */
struct map_entry {
    const struct map_kind *kind;
    struct map_rank rank; /* before NAME */
    struct format name;
    struct format indexed; /* the parts in NAME that only the index's key has: their values come
                              from the item, and they lead to no key */
    /* The sort key is SORT_PREFIX, in terms of the path's parameters, followed by the name. */
    bool has_sort_prefix;
    struct format sort_prefix;
};

/* One path: its read, and the names of its entries. */
struct map_pattern {
    const char *path;
    unsigned line, column;
    bool list;   /* the path ends in a slash */
    bool hidden; /* no listing shows it */
    bool whole;  /* a listing of the table itself with all items of its kinds that match the path */
    const struct model *table; /* its table; not a reference, since the table holds the pattern */
    const struct map_kind **kinds;
    size_t kind_count;
    const struct map_index *index; /* NULL: the table itself */
    bool by_key;                   /* the path has the full key of one item: no query */
    struct map_cond *where;        /* the key condition, partition attributes first */
    size_t where_count;
    struct map_cond *filter; /* tested after the read */
    size_t filter_count;
    struct map_part *stated; /* parts with a value in "where" instead of the path */
    size_t stated_count;
    struct map_part *excluded; /* Items with such a part are removed from the result: a range
                                  includes both its ends. */
    size_t excluded_count;
    struct map_bound bounds[2];
    size_t bound_count;
    bool descending;
    uint32_t limit;          /* 0: all; with LIMIT_PARAM the greatest that it may have */
    const char *limit_param; /* the path's parameter with the number; or NULL */
    bool ties;               /* and items that share the last one's sort key */
    bool groups;             /* the listing shows only directories that follow from its entries */
    bool narrowed;           /* the path has "where", which may exclude items of the path */
    enum map_pick pick;
    const char *pick_attribute;
    const char *attribute; /* the file is this attribute's bare value */
    bool hydrates;         /* items of the index are read again from the table */
    bool consistent;
    int64_t ttl_ms;
    const char *mtime;         /* the attribute with an item's date, or NULL */
    struct map_entry *entries; /* of a listing, one for each kind */
    size_t entry_count;
    struct map_pattern *next;
};

/* Parts of a link in an attribute or a part of the key. */
struct map_link_source {
    const char *from;
    struct format format;
};

/* A link of items. The value of a part of its path comes from SOURCES; else from the item's key, if
 * that has the part; else from the attribute of that name. */
struct map_link {
    const char *name;
    const char *to;                /* as in the map */
    const struct map_kind **kinds; /* of the items that have it; none: of all */
    size_t kind_count;
    struct map_link_source *sources;
    size_t source_count;
    const char *environment; /* NULL: the item's own */
    const char *table;       /* its name in paths */
    struct format *steps;    /* below the table */
    size_t step_count;
    bool directory; /* it ends in a slash */
    unsigned line, column;
    struct map_link *next;
};

/* The kinds whose items may have an attribute with the name of a part that their keys lack. */
struct map_attribute {
    const char *name; /* of the part */
    const struct map_kind **kinds;
    size_t kind_count;
    struct map_attribute *next;
};

/* The statement of the map about an attribute with the name of a part, in items whose keys lack
 * that part.
 */
enum map_presence {
    MAP_ABSENT,   /* no item of the kind has it */
    MAP_UNSTATED, /* items of the kind may have it */
    MAP_PRESENT,  /* some have it, perhaps items that the part's index lacks */
};

struct model {
    struct arena arena; /* owns everything below but the compiled expressions */
    size_t references;
    struct model *self;    /* itself, to count references: every holder sees it const */
    const char *path_name; /* "jobs" */
    const char *base_name; /* "EcomIndexerJobsTable" */
    const char *arn;       /* of a table without a map, as the service states it; or NULL */
    char separator;        /* no part contains it unless it is open */
    struct map_key keys[2];
    size_t key_count;
    struct map_kind *kinds;
    struct map_kind *any; /* the kind of list "*" */
    struct map_index *indexes;
    struct map_vector *vectors;
    const struct format_piece *spelled; /* parts with a spelling; each has one */
    size_t spelled_count;
    struct map_param *params;
    struct map_attribute *attributes;
    const char **secrets;
    size_t secret_count;
    const char *mtime;
    int64_t ttl_ms;
    struct map_link *links;
    struct map_pattern *patterns;
    const struct route *root; /* all its paths as a tree of segments */
    unsigned line, column;
};

/* An empty model with one reference, for compile.c. NULL if memory ran out. */
struct model *model_new(void);

/* Another reference to MODEL, which is returned; NULL for NULL. */
const struct model *model_ref(const struct model *model);
/* Drops a reference; the last one frees the model. NULL is fine. */
void model_unref(const struct model *model);

/* The number of models in this process. */
size_t model_count(void);

const struct map_kind *model_find_kind(const struct model *model, const char *name);
const struct map_index *model_find_index(const struct model *model, const char *name);
const struct map_vector *model_find_vector(const struct model *model, struct span name);
/* Whether the index answers searches, as far as its description says. */
bool model_vector_is_ready(const struct map_vector *vector);
const struct map_param *model_find_param(const struct model *model, const char *name);
const struct map_link *model_find_link(const struct model *model, struct span name);

/* KIND NULL: items of no kind; to them an attribute of a part's name is never that part. */
enum map_presence model_presence(const struct model *model, const struct map_kind *kind,
                                 const char *name);

/* The spelling of the part PARAM in keys, or NULL. */
const struct format_piece *model_spelling(const struct model *model, const char *param);

/* Appends the value of the part PARAM for TEXT, a typed text: see format_read_part. */
bool model_read_part(const struct model *model, const char *param, struct span text,
                     struct buf *out);

/* Whether PARAM can have VALUE: false only if PARAM has "only" known values. */
bool model_param_has(const struct map_param *param, struct span value);

/* Whether the attribute is masked. */
bool model_is_secret(const struct model *model, struct span attribute);

/* Whether ATTRIBUTE is in the table's key, and so in every index. */
bool model_is_key(const struct model *model, const char *attribute);

/* Whether ATTRIBUTE is in the index's key. */
bool model_is_index_key(const struct map_index *index, const char *attribute);

/* The key attribute number I of INDEX, partition first; NULL behind the last. */
const struct map_key *model_index_key(const struct map_index *index, size_t i);

/* The format of KEY, of MODEL's table or one of its indexes, for KIND. NULL if the index has no
 * items of KIND. */
const struct format *model_key_format(const struct model *model, const struct map_key *key,
                                      const struct map_kind *kind);

/* Whether INDEX is known to include ATTRIBUTE. */
bool model_index_holds(const struct model *model, const struct map_index *index,
                       const char *attribute);

#endif
