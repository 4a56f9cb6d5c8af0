/* Declarations: tables as the map's file (table_members.h), a description or an import describes
 * them. Compiling (compile.h) copies them, so they may be freed afterwards. Lines are the file's,
 * for messages; 0 without a file. A NOTE consists of whole sentences for people: the map's reader
 * leaves it NULL, and core/draft prints it as a comment of a map. */
#ifndef DDBFS_CORE_MAP_DECLARATION_H
#define DDBFS_CORE_MAP_DECLARATION_H

#include "core/map/findings.h"
#include "core/map/model.h"

/* A reference to a kind of record or an index. */
struct declared_name {
    const char *text;
    struct finding_at at;
};

/* The format of an index attribute for one kind. */
struct declared_kind_format {
    const char *kind;
    struct format format;
    struct finding_at at;
    struct declared_kind_format *next;
};

/* A key attribute and its format. */
struct declared_key {
    const char *attribute;
    struct format format;
    struct declared_kind_format *by_kind; /* of an index: instead of FORMAT */
    struct finding_at at;
};

/* A BROKEN member is present but unreadable: references to it are not checked. */
struct declared_record {
    const char *name;
    struct declared_key keys[2]; /* of the first record, in the table's order: partition, sort */
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
    const char **includes; /* of PROJECTS_SOME, beside keys; NULL: not in the map */
    size_t include_count;
    bool local;
    bool broken;
    const char *note;            /* or NULL */
    bool has_holds;              /* the index has "holds", perhaps empty: */
    struct declared_name *holds; /* the kinds whose items are all in the index */
    size_t hold_count;
    struct finding_at at;
    struct declared_index *next;
};

/* The type of an attribute of a key or a filter; S for an attribute without one. */
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

/* A value of a comparison. A number, true, false or null is TYPED; the type of a text depends on
 * the attribute. */
struct declared_operand {
    bool typed;
    enum value_type type;
    struct format text;
};

/* A condition. TARGET is a part of a key or a key attribute in "where", an attribute or a path into
 * one in "filter". */
struct declared_condition {
    const char *target; /* NULL of COND_AND, COND_OR and COND_NOT */
    bool whole;         /* of "where": TARGET is a key attribute, even if a part has its name */
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
    bool ordered; /* the path has "newest" or "oldest" */
    bool descending;
    uint32_t limit;          /* 0: all */
    const char *limit_param; /* the path's parameter with the number, instead of LIMIT; or NULL */
    bool ties;   /* of a limited listing: it includes items with the last one's sort key */
    bool groups; /* the listing shows only directories that follow from its entries */
    bool hidden; /* it opens, but no listing shows it */
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

/* Parts of a link that an attribute, or a part of the key, contains. */
struct declared_link_source {
    const char *from;
    struct format format;
    struct finding_at at;
    struct declared_link_source *next;
};

/* A link of items. */
struct declared_link {
    const char *name;
    const char *to;
    struct declared_name *kinds; /* of the items that have it; none: of all */
    size_t kind_count;
    struct declared_link_source *sources;
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_link *next;
};

/* The kinds whose items may have an attribute of a part's name beside their keys. */
struct declared_attribute {
    const char *name;
    struct declared_name *kinds;
    size_t kind_count;
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_attribute *next;
};

struct declared_table {
    const char *path_name;
    const char *base_name;
    char separator;
    struct declared_record *records;
    struct declared_index *indexes;
    struct map_vector *vectors;
    struct declared_type *types;
    struct declared_param *params;
    struct declared_attribute *attributes;
    const char **secrets;
    size_t secret_count;
    const char *mtime; /* or NULL */
    int64_t ttl_ms;
    struct declared_link *links;
    struct declared_path *paths;
    const char *arn;  /* as the service states it; or NULL */
    bool has_paths;   /* the table has "paths", perhaps empty */
    bool broken;      /* "table" or "records" is unreadable */
    const char *note; /* or NULL */
    struct finding_at at;
    struct declared_table *next;
};

/* Texts as a map has them, or NULL. */
struct declared_environment {
    const char *name;
    const char *prefix;
    const char *profile;
    const char *region;
    const char *endpoint;
    const char *snapshot;
    const char *snapshots;
    bool live;
    const char *note;
    struct declared_environment *next;
};

/* A whole map, to be printed. */
struct declared_map {
    const char *note;   /* at the top of the map; or NULL */
    const char *schema; /* where editors find map.schema.json; or NULL */
    struct declared_environment *environments;
    struct declared_table *tables;
};

#endif
