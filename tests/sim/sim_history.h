/* The truth: all tables, and all versions that their items ever had. The service answers from it,
 * the oracles compare with it. */
#ifndef DDBFS_TESTS_SIM_SIM_HISTORY_H
#define DDBFS_TESTS_SIM_SIM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/sim/sim_dice.h"

struct sim_text;

/* Environments: the tables of the map are named "prod-" and their base name. */
#define SIM_ENVIRONMENT "prod"

enum sim_type { SIM_S, SIM_N, SIM_B, SIM_BOOL, SIM_NULL, SIM_M, SIM_L, SIM_SS, SIM_NS, SIM_BS };

/* An attribute's value. S: text, may hold any byte but is UTF-8. N: its canonical digits. B: bytes,
 * decoded. BOOL: "true" or "false". The others have MEMBERS; those of a map have names. */
struct sim_value {
    enum sim_type type;
    char *bytes; /* owned; ends in NUL besides */
    size_t size;
    struct sim_attribute *members; /* owned */
    size_t member_count;
};

struct sim_attribute {
    char *name; /* owned; NULL in lists and sets */
    struct sim_value value;
};

/* One state of an item. Immutable. */
struct sim_version {
    struct sim_item *item;
    uint64_t number;                  /* unique in the life: 1, 2, … */
    int64_t from_ms;                  /* it was written then */
    int64_t until_ms;                 /* the next one was; INT64_MAX: it is the present one */
    bool is_deleted;                  /* the item did not exist */
    struct sim_attribute *attributes; /* owned; sorted by name (bytes); with the keys */
    size_t attribute_count;
    size_t item_size; /* by the service's rules, for consumed units */
    int64_t
        *index_ms; /* owned; when each index of the table shows it (its lag); in order per item */
    int64_t
        *gone_ms; /* owned; when each index stops to show the place of the version before it, if
                   * that is another: not before INDEX_MS, so that a moving item may be at both */
    struct sim_place **places; /* owned; [0] in the table, [1 + N] in index N; NULL: not in it */
    struct sim_version *older;
};

enum { SIM_MOST_PARTS = 24 };

struct sim_item {
    struct sim_table *table;
    struct sim_version *newest;
    uint64_t digest;                /* of its key: the order of ties */
    int kind;                       /* of TABLE->kinds; -1: plain keys, or a stray */
    uint32_t parts[SIM_MOST_PARTS]; /* for the writers: which values its parts have */
    struct sim_item *next;          /* of the table, in the order of creation */
};

enum sim_projection { SIM_PROJECT_ALL, SIM_PROJECT_KEYS, SIM_PROJECT_INCLUDE };

enum { SIM_MOST_KEYS = 4 };

struct sim_key_schema {
    char *names[2 * SIM_MOST_KEYS]; /* owned; hash attributes, then range attributes */
    enum sim_type types[2 * SIM_MOST_KEYS];
    unsigned hash_count, range_count;
};

struct sim_index {
    char *name; /* owned */
    bool is_local;
    struct sim_key_schema key;
    enum sim_projection projection;
    char **included; /* owned */
    unsigned included_count;
    int64_t most_lag_ms; /* of a read of the index; of local indexes as of the table */
};

/* How a table was drawn. */
enum sim_shape {
    SIM_SHAPE_JOBS, /* the three tables of docs/guides/access-patterns.md, with all their indexes */
    SIM_SHAPE_SETTINGS,
    SIM_SHAPE_SHOPS,
    SIM_SHAPE_SINGLE, /* PK and SK of several kinds: USER#{user}, ORDER#{date}#{order} */
    SIM_SHAPE_HASH,   /* a plain hash key alone, of any type */
    SIM_SHAPE_PAIR,   /* plain hash and range keys, of any types */
    SIM_SHAPE_WIDE,   /* plain keys; its global indexes have up to four hash and range attributes */
    SIM_SHAPES
};

/* A kind of item, by the formats of its key attributes: "JOB#{created_at}#{job_id}". An item lacks
 * the key attributes of indexes for which its kind has no format, and may lack others of indexes. A
 * part's value has no "#", unless the part is open: "{query*}". A few items of a table are strays:
 * they match no format of the table's key. All formats are of attributes of type S. Constant. */
enum { SIM_MOST_FORMATS = 8 };
struct sim_kind {
    const char *name;
    struct sim_format {
        const char *attribute, *format; /* NULL: the end */
    } formats[SIM_MOST_FORMATS];
};

struct sim_table {
    char *name;            /* owned */
    const char *base_name; /* NAME without the environment; points into NAME; NULL: it is of none */
    enum sim_shape shape;
    const struct sim_kind *kinds; /* NULL: plain keys */
    size_t kind_count;
    struct sim_key_schema key;
    struct sim_index *indexes; /* owned */
    unsigned index_count;
    bool has_stream;
    bool has_ttl;
    char *ttl_attribute; /* owned; NULL: none */
    int64_t most_lag_ms; /* of eventually consistent reads */
    struct sim_item *first, **last;
    size_t item_count;                        /* present items */
    struct sim_order *orders;                 /* owned; [0] of the table, [1 + N] of index N */
    struct sim_change *changes, *last_change; /* in order, also of a table without a stream */
    struct sim_table *next;
};

/* A change of an item, as a stream reports it. */
struct sim_change {
    uint64_t sequence;                        /* increasing in the table */
    const struct sim_version *before, *after; /* may be deleted versions */
    bool by_ttl;
    struct sim_change *next;
};

/* The first table of the life. */
struct sim_table *sim_history_tables(void);
struct sim_table *sim_history_find_table(const char *name);

/* Takes what it is given. */
struct sim_table *sim_history_add_table(struct sim_table table);

/* Writes a version now; takes ATTRIBUTES, which include the keys. COUNT 0 with KEY attributes only
 * and DELETED: a deletion. Returns the version. */
struct sim_version *sim_history_put(struct sim_table *table, struct sim_attribute *attributes,
                                    size_t count, bool is_deleted, bool by_ttl);

/* The item with the key attributes of LIKE; NULL: never existed. */
struct sim_item *sim_history_find(const struct sim_table *table, const struct sim_attribute *like,
                                  size_t count);

const struct sim_value *sim_version_get(const struct sim_version *version, const char *name);

/* The version at AT_MS, for readers of the table (INDEX -1) or of an index, with their lag. NULL:
 * the item did not exist yet. A deleted version is returned as such. */
const struct sim_version *sim_version_at(const struct sim_item *item, int index, int64_t at_ms);

/* A place of an item in the order of a table or an index. An item that moves in an index has
 * several places; a place is never removed. A version is in an index if it is not deleted and has
 * all attributes of the index's key, with their types. */
struct sim_place {
    struct sim_item *item;
    const struct sim_version *like; /* a version with the key attributes of this place */
    struct sim_partition *partition;
};

/* The items with one hash key, in the order of their range keys; ties in an unspecified but stable
 * order. */
struct sim_partition {
    const struct sim_version *like; /* a version with the hash attributes */
    uint64_t digest;                /* of its hash key: the order of a Scan */
    struct sim_place **places;      /* owned */
    size_t place_count, room;
};

struct sim_order {
    const struct sim_table *table;
    const struct sim_key_schema *key;
    int index; /* -1: the table */
    struct sim_partition *
        *partitions; /* owned; in the order of their digests, then of their keys */
    size_t partition_count, room;
};

/* The order of the table (INDEX -1) or of an index. */
const struct sim_order *sim_history_order(const struct sim_table *table, int index);
/* The number of the partition with the hash attributes HASH, or where it would be. */
size_t sim_order_seek(const struct sim_order *order, const struct sim_value *const *hash,
                      bool *found);
/* The partition with the hash attributes HASH, as many as the key has; NULL: there never was an
 * item. */
const struct sim_partition *sim_order_find(const struct sim_order *order,
                                           const struct sim_value *const *hash);
/* The version that the place shows at AT_MS; NULL: none, or the item is elsewhere. */
const struct sim_version *sim_place_version(const struct sim_place *place,
                                            const struct sim_order *order, int64_t at_ms);
/* A position in a partition: the range key, and the key of the table for ties. Borrowed. */
struct sim_position {
    const struct sim_value *range[SIM_MOST_KEYS];
    uint64_t digest; /* of OWN */
    const struct sim_value *own[2];
};
void sim_position_of(struct sim_position *out, const struct sim_order *order,
                     const struct sim_version *version);
int sim_position_compare(const struct sim_order *order, const struct sim_position *a,
                         const struct sim_position *b);
/* The first place at the position or behind it. */
size_t sim_partition_seek(const struct sim_order *order, const struct sim_partition *partition,
                          const struct sim_position *position, bool *found);
uint64_t sim_values_digest(const struct sim_value *const *values, size_t count);
/* Whether the version is in the table or the index at all. */
bool sim_version_is_in(const struct sim_version *version, const struct sim_order *order);
/* Whether an index has the attribute (of each index the keys of the table, too). */
bool sim_index_has(const struct sim_table *table, int index, const char *attribute);
/* The number of the index with this name; -1: none. */
int sim_table_find_index(const struct sim_table *table, const char *name);

/* Compares as keys do: N by number, others by bytes. The types are equal. */
int sim_value_compare(const struct sim_value *a, const struct sim_value *b);
bool sim_value_equal(const struct sim_value *a, const struct sim_value *b);

/* Appends typed JSON, as the service sends it: {"S":"x"}. */
void sim_value_write(struct sim_text *out, const struct sim_value *value);

/* Reads typed JSON as the service does: strict, N in its canonical form. False: it is no value;
 * then nothing is to be freed. */
struct sim_json;
bool sim_value_read(struct sim_value *out, const struct sim_json *json);

/* "S", "N", … */
const char *sim_type_name(enum sim_type type);

/* By the service's rules for item sizes. */
size_t sim_value_size(const struct sim_value *value);
size_t sim_attributes_size(const struct sim_attribute *attributes, size_t count);

/* Appends the canonical form of a number: digits without an exponent and without zeros at its ends.
 * False: it is no number, or has more than 38 digits or too great an exponent. */
bool sim_number_write(struct sim_text *out, const char *text, size_t size);

void sim_value_free(struct sim_value *value);
void sim_value_copy(struct sim_value *out, const struct sim_value *value);
void sim_attributes_free(struct sim_attribute *attributes, size_t count);

/* Draws the tables of this life and their first items. */
void sim_history_draw(void);
/* One random write by one of the writers: put, change, delete, move in an index. */
void sim_history_write_one(struct sim_dice *dice);
/* A write of ITEM: a change, a move in an index, a deletion, or a new item of that key. */
void sim_history_write_item(struct sim_dice *dice, struct sim_item *item);
/* A write of an item that was just read: mostly a move in an index. */
void sim_history_write_read(struct sim_dice *dice, struct sim_item *item);

#endif
