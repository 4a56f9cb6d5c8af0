/* The map: which environments there are, which tables, and which path asks what of them. A map
 * is data; it is read once, checked, and never changes afterwards. docs/map.md describes the
 * file. */
#ifndef DDBFS_CORE_MAP_MAP_H
#define DDBFS_CORE_MAP_MAP_H

#include <regex.h>
#include <stdint.h>

#include "core/base/error.h"
#include "core/map/format.h"
#include "core/source/read.h"
#include "core/source/source.h"

/* "prod", or "dev-{branch}", whose values are found among the names of the tables. */
struct map_environment {
    struct format name;
    struct format prefix;     /* of each table's name */
    const char *profile;      /* NULL: as the aws tools choose */
    const char *region;       /* NULL: likewise */
    const char *endpoint_url; /* NULL: likewise */
    unsigned line;
    struct map_environment *next;
};

/* A key attribute of a table or an index. */
struct map_key {
    const char *attribute;
    enum value_type type;
    struct format format; /* of an index; empty where the record kinds say it (base keys) */
};

/* A kind of record: how its keys are written. */
struct map_kind {
    const char *name;
    struct format keys[2]; /* beside the table's keys */
    unsigned line;
    struct map_kind *next;
};

struct map_index {
    const char *name;
    struct map_key partition[KEY_MAX_ATTRIBUTES], sort[KEY_MAX_ATTRIBUTES];
    size_t partition_count;
    size_t sort_count;
    enum projection projects;
    unsigned line;
    struct map_index *next;
};

/* What is known of a parameter's values. */
struct map_param {
    const char *name;
    const struct span *values; /* the known ones, listed by directories */
    size_t value_count;
    const char *match; /* an extended regular expression, or NULL */
    regex_t regex;     /* compiled when MATCH is set; owned */
    const char *hint;  /* what to say when MATCH fails, or NULL */
    unsigned line;
    struct map_param *next;
};

/* A condition as the map writes it: TARGET is a part of a key, or an attribute. */
struct map_where {
    const char *target;
    enum cond_op op;
    enum value_type type;
    struct format value;
    struct format upper; /* of COND_BETWEEN */
    bool used;           /* a condition was made of it */
    unsigned line;
    struct map_where *next;
};

/* The same, settled: the attribute itself, and texts of path parameters only. */
struct map_cond {
    const char *attribute;
    enum value_type type;
    enum cond_op op;
    struct format value;
    struct format upper;
};

enum map_pick { PICK_NONE, PICK_GREATEST, PICK_LEAST };
enum map_choice { CHOICE_UNSAID, CHOICE_NO, CHOICE_YES };

/* One kind of entry of a listing, and how it is named. */
struct map_entry {
    const struct map_kind *kind;
    struct format name;
    bool has_lead;      /* the sort key is what LEAD says followed by what the name says */
    struct format lead; /* in terms of the path's parameters */
};

struct map_pattern {
    /* As the map says it. */
    const char *path;
    unsigned line;
    bool list;                     /* the path ends in a slash */
    const struct map_table *table; /* whose pattern it is */
    const struct map_kind **kinds;
    size_t kind_count;
    const struct map_index *index; /* NULL: the table itself */
    struct map_where *wheres;
    struct map_where *filters;
    bool ordered; /* "newest" or "oldest" was said */
    bool descending;
    uint32_t limit; /* 0: all */
    enum map_pick pick;
    const char *pick_attribute;
    const char *attribute; /* the file is this attribute's bare value */
    bool has_name;
    struct format name;
    enum map_choice hydrate;
    bool consistent;
    int64_t ttl_ms;
    const char *mtime; /* the attribute that dates a record, or NULL */

    /* As core/map/pattern.c settles it. */
    bool by_key; /* the full key of one record is known: no query */
    struct map_cond *where;
    size_t where_count;
    struct map_cond *filter;
    size_t filter_count;
    struct map_entry *entries; /* of a listing, one a kind */
    size_t entry_count;

    struct map_pattern *next;
};

struct map_table {
    const char *path_name; /* "jobs" */
    const char *base_name; /* "EcomIndexerJobsTable" */
    char separator;        /* what no part holds unless it is open */
    struct map_key keys[2];
    size_t key_count;
    struct map_kind *kinds;
    struct map_kind *any; /* the kind of list "*" */
    struct map_index *indexes;
    struct map_param *params;
    const char **secrets;
    size_t secret_count;
    const char *mtime;
    int64_t ttl_ms;
    struct map_pattern *patterns;
    struct route *root; /* all its paths as a tree of segments */
    unsigned line;
    struct map_table *next;
};

struct map {
    struct arena arena; /* owns everything but the compiled expressions */
    const char *file;   /* as errors name it */
    const char *text;   /* as it was read */
    struct map_environment *environments;
    struct map_table *tables;
};

enum { MAP_TTL_MS = 10000, MAP_MISSING_TTL_MS = 2000, MAP_STRUCTURE_TTL_MS = 60000 };

/* Reads, parses and checks. NULL with ERR filled: its text begins with FILE:LINE. */
struct map *map_load(const char *file, struct error *err);
/* The same for a text; FILE is what errors call it. */
struct map *map_parse(const char *file, struct span text, struct error *err);
void map_destroy(struct map *map); /* NULL is fine */

const struct map_param *map_find_param(const struct map_table *table, const char *name);
const struct map_index *map_find_index(const struct map_table *table, const char *name);

/* Whether the map masks the attribute. */
bool map_is_secret(const struct map_table *table, struct span attribute);

/* Whether ATTRIBUTE is of the table's own key, and so in every index too. */
bool map_is_key(const struct map_table *table, const char *attribute);

/* Whether records that PATTERN's query finds must be read again from the table. */
bool map_hydrates(const struct map_pattern *pattern);

#endif
