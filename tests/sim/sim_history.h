/* The truth: all tables, and all versions that their items ever had. The service answers from it,
 * the oracles compare with it. */
#ifndef DDBFS_TESTS_SIM_SIM_HISTORY_H
#define DDBFS_TESTS_SIM_SIM_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_type {
    SIM_S, SIM_N, SIM_B, SIM_BOOL, SIM_NULL, SIM_M, SIM_L, SIM_SS, SIM_NS, SIM_BS
};

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
    uint64_t number;    /* unique in the life: 1, 2, … */
    int64_t from_ms;    /* it was written then */
    int64_t until_ms;   /* the next one was; INT64_MAX: it is the present one */
    bool is_deleted;    /* the item did not exist */
    struct sim_attribute *attributes; /* owned; sorted by name (bytes); with the keys */
    size_t attribute_count;
    size_t item_size;   /* by the service's rules, for consumed units */
    int64_t *index_ms;  /* owned; when each index of the table shows it (its lag); in order per item */
    struct sim_version *older;
};

struct sim_item {
    struct sim_table *table;
    struct sim_version *newest;
    struct sim_item *next; /* of the table, in the order of creation */
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
    int64_t most_lag_ms; /* of a change; 0 for local indexes */
};

struct sim_table {
    char *name; /* owned */
    struct sim_key_schema key;
    struct sim_index *indexes; /* owned */
    unsigned index_count;
    bool has_stream;
    bool has_ttl;
    char *ttl_attribute;    /* owned; NULL: none */
    int64_t most_lag_ms;    /* of eventually consistent reads */
    struct sim_item *first, **last;
    size_t item_count;      /* present items */
    struct sim_change *changes, *last_change; /* in order, for streams */
    struct sim_table *next;
};

/* A change of an item, as a stream reports it. */
struct sim_change {
    uint64_t sequence; /* increasing in the table */
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
struct sim_item *sim_history_find(const struct sim_table *table,
                                  const struct sim_attribute *like, size_t count);

const struct sim_value *sim_version_get(const struct sim_version *version, const char *name);

/* The version at AT_MS, for readers of the table (INDEX -1) or of an index, with their lag. NULL: the
 * item did not exist yet. A deleted version is returned as such. */
const struct sim_version *sim_version_at(const struct sim_item *item, int index, int64_t at_ms);

/* Compares as keys do: N by number, others by bytes. The types are equal. */
int sim_value_compare(const struct sim_value *a, const struct sim_value *b);
bool sim_value_equal(const struct sim_value *a, const struct sim_value *b);

/* Appends typed JSON, as the service sends it: {"S":"x"}. */
struct sim_text;
void sim_value_write(struct sim_text *out, const struct sim_value *value);

void sim_value_copy(struct sim_value *out, const struct sim_value *value);
void sim_attributes_free(struct sim_attribute *attributes, size_t count);

/* Draws the tables of this life and their first items. */
void sim_history_draw(void);
/* One random write by one of the writers: put, change, delete, move in an index. */
void sim_history_write_one(struct sim_dice *dice);

#endif
