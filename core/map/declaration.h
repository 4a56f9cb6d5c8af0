/* What somebody says of a table, before anything is made of it: the map's file (tables.h), or
 * whatever else describes a table. Compiling (compile.h) copies all it needs, so a declaration and
 * what it points to may go as soon as the model is made. Lines are the file's, for errors; 0 where
 * there is no file. A NOTE is for people, in whole sentences: the map's reader leaves it NULL, and
 * who prints a declaration as a map (core/draft/map_writer.h) prints it as a comment. */
#ifndef DDBFS_CORE_MAP_DECLARATION_H
#define DDBFS_CORE_MAP_DECLARATION_H

#include "core/map/findings.h"
#include "core/map/model.h"

/* A word that must mean something elsewhere: a kind of record, an index. */
struct declared_name {
    const char *text;
    struct finding_at at;
};

/* How one kind of record writes an attribute of an index. */
struct declared_kind_format {
    const char *kind;
    struct format format;
    struct finding_at at;
    struct declared_kind_format *next;
};

/* A key attribute and how it is written. */
struct declared_key {
    const char *attribute;
    struct format format;
    struct declared_kind_format *by_kind; /* of an index: instead of FORMAT */
    struct finding_at at;
};

/* What is BROKEN was said, but could not be read: whoever refers to it is not judged. */
struct declared_record {
    const char *name;
    struct declared_key keys[2]; /* the first record's order is the table's: partition, sort */
    size_t key_count;
    bool broken;
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_record *next;
};

struct declared_index {
    const char *name;
    struct declared_key partition[KEY_MAX_ATTRIBUTES], sort[KEY_MAX_ATTRIBUTES];
    size_t partition_count;
    size_t sort_count;
    enum projection projects;
    const char **includes; /* of PROJECTS_SOME: what it holds beside keys; NULL when not said */
    size_t include_count;
    bool local;
    bool broken;
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_index *next;
};

/* The type of a key attribute, wherever it is one, or of one that a filter looks at; S where
 * nothing is said. */
struct declared_type {
    const char *attribute;
    enum value_type type;
    struct finding_at at;
    struct declared_type *next;
};

struct declared_param {
    const char *name;
    const char **values;
    size_t value_count;
    bool only;
    const char *owner; /* or NULL */
    const char *match; /* or NULL */
    struct finding_at match_at;
    const char *hint; /* or NULL */
    bool typed;
    enum value_type type; /* when TYPED */
    bool broken;
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_param *next;
};

/* A value to compare with. What was written as a number, true, false or null is TYPED; what a text
 * stands for depends on what it is compared with. */
struct declared_operand {
    bool typed;
    enum value_type type;
    struct format text;
};

/* A condition. TARGET is, in "where", a part of a key or a key attribute; in "filter", an attribute
 * or a path into one. */
struct declared_condition {
    const char *target; /* NULL of COND_AND, COND_OR and COND_NOT */
    bool whole;         /* of "where": TARGET is the key attribute, were there a part of its name */
    enum cond_op op;
    bool typed; /* of VALUE and UPPER, as of an operand's */
    enum value_type type;
    struct format value;
    struct format upper;           /* of COND_BETWEEN */
    struct declared_operand *list; /* of COND_IN */
    size_t list_count;
    struct declared_condition *children; /* of COND_AND, COND_OR and COND_NOT */
    struct finding_at at;
    struct declared_condition *next;
};

enum declared_choice { CHOICE_UNSAID, CHOICE_NO, CHOICE_YES };

struct declared_path {
    const char *path;
    struct finding_at at;
    bool list;                   /* the path ends in a slash */
    struct declared_name *kinds; /* none: the table's only one; "*": any */
    size_t kind_count;
    struct declared_name index; /* text NULL: the table itself */
    struct declared_condition *wheres;
    struct declared_condition *filters;
    bool ordered; /* "newest" or "oldest" was said */
    bool descending;
    uint32_t limit; /* 0: all */
    const char
        *limit_param; /* the path's parameter that says how many, instead of LIMIT; or NULL */
    bool ties;        /* of a limited listing: it ends where the sort key changes */
    bool groups;      /* a listing of the directories alone that its entries bring along */
    bool hidden;      /* it opens, but no listing shows it */
    enum map_pick pick;
    const char *pick_attribute;
    const char *attribute;
    bool has_name;
    struct format name;
    enum declared_choice hydrate;
    bool consistent;
    int64_t ttl_ms;    /* less than 0: the table's */
    const char *mtime; /* NULL: the table's */
    const char *note;  /* or NULL */
    struct declared_path *next;
};

/* A link's part that an attribute, or a part of the key, tells when it is taken apart. */
struct declared_link_source {
    const char *from;
    struct format format;
    struct finding_at at;
    struct declared_link_source *next;
};

/* Where a record leads. */
struct declared_link {
    const char *name;
    const char *to;
    struct declared_name *kinds; /* of which records; none: of all */
    size_t kind_count;
    struct declared_link_source *sources;
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_link *next;
};

struct declared_table {
    const char *path_name;
    const char *base_name;
    char separator;
    struct declared_record *records;
    struct declared_index *indexes;
    struct declared_type *types;
    struct declared_param *params;
    const char **secrets;
    size_t secret_count;
    const char *mtime; /* or NULL */
    int64_t ttl_ms;
    struct declared_link *links;
    struct declared_path *paths;
    bool has_paths;   /* "paths" was said, were it none */
    bool broken;      /* "table" or "records" may have been said, but could not be read */
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_table *next;
};

/* All in it are texts as a map has them; NULL where nothing is said. */
struct declared_environment {
    const char *name;
    const char *prefix;
    const char *profile;
    const char *region;
    const char *endpoint;
    const char *note;
    struct declared_environment *next;
};

/* A whole map, for who writes one. */
struct declared_map {
    const char *note;   /* stands at the top; or NULL */
    const char *schema; /* where editors find map.schema.json; or NULL */
    struct declared_environment *environments;
    struct declared_table *tables;
};

#endif
