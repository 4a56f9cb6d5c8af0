/* The model of one table: how its keys are written, its indexes, and every path below it, ready to
 * be asked. It is made once (compile.h) and constant from then on; whoever points into it holds a
 * reference, so that it can be replaced while others still use the old one. */
#ifndef DDBFS_CORE_MAP_MODEL_H
#define DDBFS_CORE_MAP_MODEL_H

#include <regex.h>
#include <stdint.h>

#include "core/map/format.h"
#include "core/source/read.h"
#include "core/source/source.h"

/* How long an answer is believed where the map says nothing, that nothing is there, and what the
 * map alone tells. */
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

/* How one kind of record writes an attribute. */
struct map_kind_format {
    const struct map_kind *kind;
    struct format format;
};

/* A key attribute of a table or an index. */
struct map_key {
    const char *attribute;
    enum value_type type;
    struct format format; /* of an index; empty where the record kinds say it (base keys) */
    struct map_kind_format *by_kind; /* of an index that several kinds write each in their way;
                                      * FORMAT is then empty, and other kinds are not in it */
    size_t by_kind_count;
};

/* A kind of record: how its keys are written. */
struct map_kind {
    const char *name;
    struct format keys[2]; /* beside the table's keys */
    unsigned line, column;
    struct map_kind *next;
};

struct map_index {
    const char *name;
    struct map_key partition[KEY_MAX_ATTRIBUTES], sort[KEY_MAX_ATTRIBUTES];
    size_t partition_count;
    size_t sort_count;
    enum projection projects;
    const char **includes; /* of PROJECTS_SOME, beside keys; none where the map does not say */
    size_t include_count;
    bool local;
    unsigned line, column;
    struct map_index *next;
};

/* What is known of a parameter's values. */
struct map_param {
    const char *name;
    const struct span *values; /* the known ones, listed by directories */
    size_t value_count;
    bool only;         /* there are no others */
    const char *owner; /* the kind of which each value has a record, or NULL */
    const char *match; /* an extended regular expression, or NULL */
    regex_t regex;     /* compiled when MATCH is set; owned */
    const char *hint;  /* what to say when MATCH fails, or NULL */
    bool typed;        /* the map says of which TYPE its values are */
    enum value_type type;
    unsigned line, column;
    struct map_param *next;
};

/* A value that is compared with, in terms of the path's parameters. */
struct map_operand {
    enum value_type type;
    struct format text;
};

/* A condition in terms of the path's parameters: what a struct cond is made of (condition.h). */
struct map_cond {
    const char *attribute; /* NULL of COND_AND, COND_OR and COND_NOT */
    const char *written;  /* with the path below it, as the map has it; NULL: the attribute alone */
    enum value_type type; /* of VALUE and UPPER */
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

/* A part of a key, and what is said of it in terms of the path's parameters. */
struct map_part {
    const char *param;
    struct format value;
};

/* What a part of a key is compared with, where text follows the part in the key: as keys are in the
 * order of their bytes, it works with values that hold no byte up to END, with which that text
 * begins. */
struct map_bound {
    const char *param; /* the part */
    struct format value;
    char end;
    bool begins; /* only END itself does harm */
};

enum map_pick { PICK_NONE, PICK_GREATEST, PICK_LEAST };

/* One kind of entry of a listing, and how it is named. */
struct map_entry {
    const struct map_kind *kind;
    struct map_rank rank; /* what stands before NAME */
    struct format name;
    struct format indexed; /* the parts in NAME that are of the index's key alone: an item tells
                            * them, and they lead to no key */
    /* The sort key is what SORT_PREFIX says (in terms of the path's parameters), followed by what
     * the name says. */
    bool has_sort_prefix;
    struct format sort_prefix;
};

/* One path: what is read for it, and how the entries of a listing are named. */
struct map_pattern {
    const char *path;
    unsigned line, column;
    bool list;   /* the path ends in a slash */
    bool hidden; /* no listing shows it */
    bool whole;  /* a listing of the table itself that leaves out no record of its kinds but
                  * what the path says */
    const struct model *table; /* whose pattern it is; holds this one, so not counted */
    const struct map_kind **kinds;
    size_t kind_count;
    const struct map_index *index; /* NULL: the table itself */
    bool by_key;                   /* the full key of one record is known: no query */
    struct map_cond *where;        /* the key condition, partition attributes first */
    size_t where_count;
    struct map_cond *filter; /* tested after the read */
    size_t filter_count;
    struct map_part *said; /* parts that the pattern itself says, rather than the path */
    size_t said_count;
    struct map_part *excluded; /* A range takes both its ends in: records whose part is just this
                                * are left out of what comes back. */
    size_t excluded_count;
    struct map_bound bounds[2];
    size_t bound_count;
    bool descending;
    uint32_t limit;          /* 0: all; with LIMIT_PARAM the most that it can say */
    const char *limit_param; /* the path's parameter that says how many; or NULL */
    bool ties;               /* and those that share their sort key with the last of them */
    bool groups;             /* entries are not shown: the directories are that they bring along */
    bool narrowed; /* "where" was said, which may leave out what the path alone leads to */
    enum map_pick pick;
    const char *pick_attribute;
    const char *attribute; /* the file is this attribute's bare value */
    bool hydrates;         /* what an index gives is read again from the table */
    bool consistent;
    int64_t ttl_ms;
    const char *mtime;         /* the attribute that dates a record, or NULL */
    struct map_entry *entries; /* of a listing, one a kind */
    size_t entry_count;
    struct map_pattern *next;
};

/* A part of a link that what is called FROM tells, a part of the key or an attribute, when it is
 * taken apart. */
struct map_link_source {
    const char *from;
    struct format format;
};

/* Where records lead. Values of its parts are told by SOURCES; by the record's key, where that has
 * a part of the name; or else by the attribute of the name. */
struct map_link {
    const char *name;
    const char *to;                /* as the map has it */
    const struct map_kind **kinds; /* of which records; none: of all */
    size_t kind_count;
    struct map_link_source *sources;
    size_t source_count;
    const char *environment; /* NULL: the record's own */
    const char *table;       /* as paths name it */
    struct format *steps;    /* below the table */
    size_t step_count;
    bool directory; /* it ends in a slash */
    unsigned line, column;
    struct map_link *next;
};

struct model {
    struct arena arena; /* owns everything below but the compiled expressions */
    size_t references;
    struct model *self;    /* itself, to count references: all who hold one see it const */
    const char *path_name; /* "jobs" */
    const char *base_name; /* "EcomIndexerJobsTable" */
    char separator;        /* what no part holds unless it is open */
    struct map_key keys[2];
    size_t key_count;
    struct map_kind *kinds;
    struct map_kind *any; /* the kind of list "*" */
    struct map_index *indexes;
    const struct format_piece *spelled; /* the parts that keys spell in a way of their own; one
                                         * part is spelled in one way everywhere */
    size_t spelled_count;
    struct map_param *params;
    const char **secrets;
    size_t secret_count;
    const char *mtime;
    int64_t ttl_ms;
    struct map_link *links;
    struct map_pattern *patterns;
    const struct route *root; /* all its paths as a tree of segments */
    unsigned line, column;
};

/* An empty one, with one reference: for compile.c, which fills it. NULL when memory ran out. */
struct model *model_new(void);

/* Another reference to MODEL, which is returned. Neither counts as a change: MODEL stays const for
 * all who use it. */
const struct model *model_ref(const struct model *model); /* NULL gives NULL */
/* Lets go of one; the last one frees it. NULL is fine. */
void model_unref(const struct model *model);

/* How many models there are in this process. */
size_t model_count(void);

const struct map_kind *model_find_kind(const struct model *model, const char *name);
const struct map_index *model_find_index(const struct model *model, const char *name);
const struct map_param *model_find_param(const struct model *model, const char *name);
const struct map_link *model_find_link(const struct model *model, struct span name);

/* How keys spell the part PARAM; NULL when they hold it as it is. */
const struct format_piece *model_spelling(const struct model *model, const char *param);

/* Appends the value of the part PARAM that TEXT stands for, however it was typed: see
 * format_read_part. */
bool model_read_part(const struct model *model, const char *param, struct span text,
                     struct buf *out);

/* Whether VALUE is one that PARAM can have: of a parameter that has only known values, one of them.
 */
bool model_param_has(const struct map_param *param, struct span value);

/* Whether the attribute is masked in records. */
bool model_is_secret(const struct model *model, struct span attribute);

/* Whether ATTRIBUTE is of the table's own key, and so in every index too. */
bool model_is_key(const struct model *model, const char *attribute);

/* Whether ATTRIBUTE is of the index's key. */
bool model_is_index_key(const struct map_index *index, const char *attribute);

/* The key attributes of INDEX one after another, partition first; NULL when there are no more. */
const struct map_key *model_index_key(const struct map_index *index, size_t i);

/* How records of KIND write KEY, of MODEL's table or one of its indexes. NULL when the index holds
 * no records of KIND. */
const struct format *model_key_format(const struct model *model, const struct map_key *key,
                                      const struct map_kind *kind);

/* Whether INDEX, of MODEL's table, is known to hold ATTRIBUTE of its records. */
bool model_index_holds(const struct model *model, const struct map_index *index,
                       const char *attribute);

#endif
