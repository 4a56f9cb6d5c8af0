/* What the paths of a life mean: the map as data. sim_map.c draws it, and writes the same as the
 * text that the program reads; the oracles read the data. The rules are those of docs/map.md and of
 * docs/semantics.md. */
#ifndef DDBFS_TESTS_SIM_SIM_MODEL_H
#define DDBFS_TESTS_SIM_SIM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_history.h"
#include "tests/sim/sim_text.h"

/* Bytes of others. */
struct sim_slice {
    const char *bytes;
    size_t size;
};

struct sim_slice sim_slice_of(const char *text);
bool sim_slice_equal(struct sim_slice a, struct sim_slice b);
int sim_slice_compare(struct sim_slice a, struct sim_slice b);
bool sim_slice_begins(struct sim_slice slice, struct sim_slice with);

enum {
    SIM_MODEL_PIECES = 12,
    SIM_MODEL_STEPS = 12,
    SIM_MODEL_KINDS = 8,
    SIM_MODEL_FORMATS = 16,
    SIM_MODEL_PARTS = 20,
    SIM_MODEL_PATTERNS = 256,
    SIM_MODEL_INDEXES = 24,
    SIM_MODEL_SECRETS = 4,
    SIM_MODEL_VIEWS = 64,
};

/* JOB#{created_at}#{job_id}: texts and parts in turn. */
struct sim_piece {
    bool is_part;
    bool is_open;  /* {x*}: may hold the separator */
    bool is_bytes; /* the whole of a number or a binary key: likewise */
    char *text;    /* the text itself, or the part's name; owned */
};

struct sim_key_format {
    struct sim_piece pieces[SIM_MODEL_PIECES];
    unsigned count;
};

/* The values of parts, by name. */
struct sim_bindings {
    struct {
        const char *name;
        struct sim_slice value;
    } parts[SIM_MODEL_PARTS];
    unsigned count;
};

const struct sim_slice *sim_bindings_get(const struct sim_bindings *bindings, const char *name);
/* False if NAME has another value already. */
bool sim_bindings_add(struct sim_bindings *bindings, const char *name, struct sim_slice value);

/* "{a}#x" as a format. */
void sim_format_read(struct sim_key_format *out, const char *text);
/* As the map writes it. */
void sim_format_write(struct sim_text *out, const struct sim_key_format *format);
/* Takes VALUE apart; adds its parts. False: it does not fit, or its parts have other values. */
bool sim_format_match(const struct sim_key_format *format, struct sim_slice value,
                      struct sim_bindings *bindings);
/* False if a part has no value: OUT has what is in front of it. */
bool sim_format_expand(const struct sim_key_format *format, const struct sim_bindings *bindings,
                       struct sim_text *out);
bool sim_format_has(const struct sim_key_format *format, const char *part);

/* A kind of item: the formats of its key attributes, in the table and in the indexes. */
struct sim_model_kind {
    char *name;
    struct {
        const char *attribute;
        struct sim_key_format format;
    } keys[SIM_MODEL_FORMATS];
    unsigned key_count;
};

const struct sim_key_format *sim_kind_format(const struct sim_model_kind *kind,
                                             const char *attribute);

enum sim_where { SIM_WHERE_NONE, SIM_WHERE_PREFIX, SIM_WHERE_BETWEEN, SIM_WHERE_AFTER };
enum sim_filter {
    SIM_FILTER_NONE,
    SIM_FILTER_EQUAL,
    SIM_FILTER_UNEQUAL,
    SIM_FILTER_EXISTS,
    SIM_FILTER_ABSENT
};

struct sim_pattern {
    char *text; /* as the map writes it; owned */
    struct sim_key_format steps[SIM_MODEL_STEPS];
    unsigned step_count;
    bool is_listing;
    bool is_hidden;
    unsigned kinds;   /* a bit for each */
    int index;        /* of the table; -1: the table itself */
    bool reads_again; /* items are read from the table, not from the index */
    /* A condition on a part or a key attribute: of text by its beginning, of a number by value. */
    enum sim_where where;
    char *where_name; /* of the part, or of the attribute */
    char *where_text; /* as the map writes it */
    bool where_is_attribute;
    struct sim_key_format low, high;
    enum sim_filter filter;
    char *filter_name, *filter_value;
    bool descends;
    unsigned limit;         /* 0: all */
    const char *limit_part; /* the number is in the path */
    bool has_ties;
    char *attribute; /* the file is its bare value */
    bool is_first;   /* an item: the first of several in the order */
    bool has_rank;
    bool is_groups; /* its entries are directories: the values of the next step */
    struct sim_key_format names[SIM_MODEL_KINDS]; /* of entries, for each kind */
    bool name_is_written;                         /* in the map: one for all kinds */
    int64_t ttl_ms;
    bool has_own_ttl;
    bool is_consistent;
};

enum { SIM_MODEL_VALUES = 6 };

struct sim_model_table {
    const char *directory;
    const struct sim_table *table;
    struct sim_model_kind kinds[SIM_MODEL_KINDS];
    unsigned kind_count;
    struct sim_pattern *patterns; /* owned */
    unsigned pattern_count;
    char *secrets[SIM_MODEL_SECRETS];
    unsigned secret_count;
    char *mtime; /* NULL: none */
    int64_t ttl_ms;
    bool is_generic;              /* below tables/: with facts */
    bool used[SIM_MODEL_INDEXES]; /* the map declares the index */
    /* "params": a part whose values directories list. NULL: none. */
    char *valued;
    char *values[SIM_MODEL_VALUES];
    unsigned value_count;
    bool values_are_all; /* "only" */
    /* "links": of items of a kind to a listing of their partition. NULL: none. */
    const char *link;
    unsigned link_kind, link_pattern;
};

struct sim_model {
    int64_t until_ms; /* when a reload replaced it; INT64_MAX: it is in use */
    struct sim_model *older;
    const char *environment; /* NULL: no map */
    const char *prefix;
    struct sim_model_table *tables; /* of the environment; owned */
    unsigned table_count;
    struct sim_model_table *generic; /* each table of the history, below tables/ */
    unsigned generic_count;
    char *text; /* the map; NULL without */
};

/* The model in use. Older ones, newest first, may be in use after a reload. */
const struct sim_model *sim_model_now(void);

/* Whether VERSION counts for PATTERN in a path with the values PATH. */
enum sim_fit {
    SIM_FIT_NO,
    /* It is not in the index. A lookup by its key finds it all the same: "by all conditions of the
     * path, as for a lookup, and by the presence of the index's key" decides a listing alone (ADR
     * 66). */
    SIM_FIT_OUTSIDE,
    /* It has the index's key, but in another format than its kind, or with other values of the
     * parts than the table's key has: no document says whether it is listed. */
    SIM_FIT_MAYBE,
    SIM_FIT_YES,
};

/* PARTS gets PATH, the parts of VERSION's keys and, with an index, of the index's keys. KINDS
 * further selects. Deleted versions count nowhere. */
enum sim_fit sim_pattern_admits(const struct sim_model_table *table,
                                const struct sim_pattern *pattern, unsigned kinds,
                                const struct sim_bindings *path, const struct sim_version *version,
                                struct sim_bindings *parts);
/* The same without the pattern's conditions on parts and attributes, and without filters. */
enum sim_fit sim_pattern_takes_apart(const struct sim_model_table *table,
                                     const struct sim_pattern *pattern, unsigned kinds,
                                     const struct sim_bindings *path,
                                     const struct sim_version *version, struct sim_bindings *parts);
/* The number of VERSION's kind among WANTED; -1: none. */
int sim_kind_of(const struct sim_model_table *table, const struct sim_version *version,
                unsigned wanted);

/* What a path of the model is. */
enum sim_node_kind {
    SIM_NODE_NONE,        /* nothing defines it: not found */
    SIM_NODE_UNKNOWN,     /* the model does not know */
    SIM_NODE_STRUCTURE,   /* a directory of the map alone */
    SIM_NODE_LISTING,     /* a directory with the items of PATTERN */
    SIM_NODE_ENTRY,       /* an item of the listing PATTERN */
    SIM_NODE_ITEM,        /* the item of PATTERN */
    SIM_NODE_PLACEHOLDER, /* or below one */
    SIM_NODE_README,
    SIM_NODE_FACT,       /* schema.json and its like */
    SIM_NODE_PROBE,      /* never found */
    SIM_NODE_CONTROL,    /* below /.ddbfs */
    SIM_NODE_REFUSED,    /* EINVAL */
    SIM_NODE_BELOW_FILE, /* ENOTDIR */
};

enum sim_companion {
    SIM_COMPANION_NONE,
    SIM_COMPANION_TYPED,
    SIM_COMPANION_INFO,
    SIM_COMPANION_ATTRIBUTE,  /* NAME@/ATTRIBUTE */
    SIM_COMPANION_ATTRIBUTES, /* NAME@ */
    SIM_COMPANION_JSONL,
    SIM_COMPANION_COUNT,
    SIM_COMPANION_OTHER,
};

struct sim_node {
    enum sim_node_kind kind;
    enum sim_companion companion;
    const struct sim_model_table *table;
    const struct sim_pattern *pattern;
    unsigned kinds; /* those that PATTERN, or an entry's name, may have */
    struct sim_bindings
        path;            /* the values of the path's parameters; of an entry, of its name, too */
    unsigned base_count; /* how many of them an entry's name has not added */
    char *values;        /* owned: the bytes of PATH */
    size_t values_used;
    struct sim_slice attribute; /* of SIM_COMPANION_ATTRIBUTE */
    unsigned depth;             /* of SIM_NODE_STRUCTURE: its steps below the table's directory */
    bool is_root, is_environment, is_tables;
};

/* PATH begins with "/". OUT is to be cleaned up. */
void sim_model_resolve(const struct sim_model *model, const char *path, struct sim_node *out);
void sim_node_clean_up(struct sim_node *node);

/* Maps (sim_map.c, sim_map_text.c). */

unsigned sim_key_count(const struct sim_key_schema *key);
/* Whether NAME is among the key attributes FROM to UNTIL. */
bool sim_key_has(const struct sim_key_schema *key, unsigned from, unsigned until, const char *name);
/* The part that stands for a whole attribute. To be freed. */
char *sim_part_name(const char *attribute);
/* Writes MODEL's text from its other members. */
void sim_map_write_text(struct sim_model *model);

/* Names (sim_names.c). */

/* Appends the name of an entry of PATTERN's listing, of an item of KIND with PARTS, with the suffix
 * of items, without a rank. False: the model does not know the exact name. */
bool sim_name_write(struct sim_text *out, const struct sim_model_table *table,
                    const struct sim_pattern *pattern, int kind, const struct sim_bindings *parts);
/* Whether another path of the map takes NAME in the directory of PATTERN: then "one byte of a name
 * that would not lead back to its key" has an escape, and the model does not know which. */
bool sim_name_is_taken(const struct sim_model_table *table, const struct sim_pattern *pattern,
                       struct sim_slice name);
/* The bytes that a typed name stands for. False: an escape is not valid. */
bool sim_name_decode(struct sim_text *out, struct sim_slice name);
/* Appends a step of a path. */
bool sim_step_write(struct sim_text *out, const struct sim_key_format *step,
                    const struct sim_bindings *parts);
bool sim_name_is_probe(struct sim_slice name);

/* Files (sim_render.c). */

/* Appends the file of VERSION, as PATTERN shows it in TABLE. False: it has none (a bare value whose
 * attribute is absent). */
bool sim_render_item(struct sim_text *out, const struct sim_model_table *table,
                     const struct sim_pattern *pattern, const struct sim_version *version);
/* As a line of @jsonl. */
void sim_render_line(struct sim_text *out, const struct sim_model_table *table,
                     const struct sim_pattern *pattern, const struct sim_version *version);
void sim_render_typed(struct sim_text *out, const struct sim_model_table *table,
                      const struct sim_pattern *pattern, const struct sim_version *version);
/* NAME@/ATTRIBUTE. False: VERSION has no such attribute. */
bool sim_render_attribute(struct sim_text *out, const struct sim_model_table *table,
                          const struct sim_version *version, struct sim_slice attribute);

/* Whether the map masks ATTRIBUTE. */
bool sim_is_secret(const struct sim_model_table *table, struct sim_slice attribute);
/* Whether a recording has no value of it: "secrets are masked as in items, also in files that show
 * a secret on a live mount" (docs/semantics.md). */
bool sim_model_is_masked(const struct sim_model_table *table, const char *attribute);

/* Whether a directory lists the values of STEP. */
bool sim_step_is_valued(const struct sim_model_table *table, const struct sim_key_format *step);

/* The date of VERSION in seconds since 1970; INT64_MIN: it has none, INT64_MAX: the model does not
 * know. */
int64_t sim_render_date(const struct sim_model_table *table, const struct sim_pattern *pattern,
                        const struct sim_version *version);

#endif
