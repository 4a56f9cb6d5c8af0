/* Small worlds for tests: random tables with a map, whose kinds share parts, lack formats of
 * indexes, or have parts with the names of key attributes. What items and columns mean is written
 * here a second time, from docs/map.md and docs/sql.md alone. */
#ifndef DDBFS_TESTS_WORLDS_WORLD_H
#define DDBFS_TESTS_WORLDS_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WORLD_TABLES = 2,
    WORLD_KINDS = 4,
    WORLD_INDEXES = 3,
    WORLD_INDEX_KEYS = 4,
    WORLD_PIECES = 8,
    WORLD_ITEMS = 40,
    WORLD_ATTRIBUTES = 32,
    WORLD_COLUMNS = 48,
    WORLD_NAME = 16,
    WORLD_VALUE = 96,
};

struct world_dice {
    uint64_t state;
};

uint32_t world_draw(struct world_dice *dice, uint32_t below);
/* True once in N. */
bool world_once_in(struct world_dice *dice, uint32_t n);

/* A literal text, or a part of that NAME. */
struct world_piece {
    char name[WORLD_NAME];
    bool is_part;
};

/* The format of a key attribute; without pieces: none. */
struct world_format {
    struct world_piece pieces[WORLD_PIECES];
    unsigned count;
};

struct world_key {
    char attribute[WORLD_NAME];
    char type;     /* 'S', 'N' or 'B' */
    bool of_table; /* of an index: it is a key attribute of the table, too */
    struct world_format formats[WORLD_KINDS]; /* by kind */
};

struct world_index {
    char name[WORLD_NAME];
    struct world_key keys[WORLD_INDEX_KEYS]; /* of the partition first */
    unsigned partition_count, key_count;
    char projects; /* 'a': all, 'k': keys, 's': INCLUDED */
    char included[2][WORLD_NAME];
    bool states_holds;
    bool holds[WORLD_KINDS];
    bool reads[WORLD_KINDS]; /* a path of the map reads the kind through it, without "holds" */
};

/* A value: of S its text, of N its digits, of B its bytes; of others the typed JSON is TEXT, and
 * SQL has SHOWN. */
struct world_value {
    char type; /* 'S', 'N', 'B', or 'J' for the others; 0: absent */
    char text[WORLD_VALUE];
    const char *shown; /* of 'J': a literal of SQL */
    const char *plain; /* of 'J': the JSON of files */
};

struct world_attribute {
    char name[WORLD_NAME];
    struct world_value value;
};

struct world_item {
    struct world_attribute attributes[WORLD_ATTRIBUTES]; /* sorted by name */
    unsigned count;
    int kind; /* -1: none */
};

struct world_part {
    char name[WORLD_NAME];
    struct world_value value;
};

/* Parts of one key. */
struct world_parts {
    struct world_part list[WORLD_COLUMNS];
    unsigned count;
};

/* What the map states of the attribute with the name of a part. */
struct world_stated {
    char name[WORLD_NAME];
    bool kinds[WORLD_KINDS];
};

struct world_table {
    char name[WORLD_NAME];    /* in the map */
    char service[WORLD_NAME]; /* the service's, with the prefix */
    struct world_key keys[2];
    bool is_full; /* indexes have all items of the kinds with formats */
    unsigned key_count, kind_count, index_count, item_count, stated_count;
    struct world_index indexes[WORLD_INDEXES];
    struct world_item items[WORLD_ITEMS];
    struct world_stated stated[WORLD_COLUMNS];
};

struct world {
    uint64_t seed;
    bool is_tidy; /* every key attribute fits its format */
    struct world_dice dice;
    struct world_table tables[WORLD_TABLES];
    unsigned table_count;
};

/* The world of SEED. TIDY: each attribute of an index fits the format of its kind, if there is one,
 * and its type. */
void world_make(struct world *world, uint64_t seed, bool tidy);
/* One table whose items are one partition, pk = 'a', of one kind; each has p = 'b'. */
void world_make_partition(struct world *world);
/* Some items change, some are deleted, some are new. The keys of the table never change. */
void world_age(struct world *world);

/* A text that grows; owned. */
struct world_text {
    char *bytes;
    size_t size, room;
};

void world_add(struct world_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void world_add_string(struct world_text *text, const char *string); /* as JSON, with quotes */
void world_text_free(struct world_text *text);

/* The map of WORLD as JSON. ALL_PATHS: with paths to items (/e/TABLE/kN/PARTS), to the partitions
 * of kinds (lN/) and of indexes (xIkN/); else only with those that promise what is in an index. */
void world_write_map(const struct world *world, bool all_paths, struct world_text *out);
/* The parts of the partition key, or (SORTS) of the sort key, in items of the kind. INDEX NULL: of
 * the table. False if the index does not have the kind. */
bool world_key_names(const struct world_table *table, const struct world_index *index,
                     unsigned kind, bool sorts, char names[][WORLD_NAME], unsigned *count);
/* Appends the path behind the table that shows ITEM, or (LISTS) the listing of its partition;
 * INDEX: in that index. Each byte is escaped. False if the map has no such path. */
bool world_write_path(const struct world_table *table, const struct world_index *index,
                      const struct world_item *item, bool lists, struct world_text *out);
/* The items that the listing with ITEM has, in their order; with ITEM itself only if it is there.
 */
unsigned world_find_listed(const struct world_table *table, const struct world_index *index,
                           const struct world_item *item,
                           const struct world_item *out[WORLD_ITEMS]);
/* The item with the key of LIKE; NULL: none. */
const struct world_item *world_find_item(const struct world_table *table,
                                         const struct world_item *like);
/* The parts of the table's key. */
void world_take_apart(const struct world_table *table, const struct world_item *item,
                      struct world_parts *out);
/* ITEM as typed JSON; with INDEX, what that index has of it. */
void world_write_typed(const struct world_table *table, const struct world_item *item,
                       const struct world_index *index, struct world_text *out);
/* ITEM as compact JSON of files: key attributes first. */
void world_write_plain(const struct world_table *table, const struct world_item *item,
                       struct world_text *out);
/* VALUE as a literal of SQL. */
void world_write_literal(const struct world_value *value, struct world_text *out);
/* DescribeTable's object "Table". */
void world_write_description(const struct world_table *table, struct world_text *out);

const struct world_value *world_find(const struct world_item *item, const char *name);
bool world_is_in(const struct world_item *item, const struct world_index *index);
bool world_index_has(const struct world_table *table, const struct world_index *index,
                     const char *attribute);

/* Columns. */

enum world_affinity { WORLD_TEXT, WORLD_NUMERIC, WORLD_BARE };

struct world_column {
    char name[WORLD_NAME];
    enum world_affinity affinity;
};

/* The declared columns of TABLE, as the map has it (MAPPED) or the account. Returns their number.
 */
unsigned world_columns(const struct world_table *table, bool mapped,
                       struct world_column out[WORLD_COLUMNS]);
/* The value of the column NAME. TYPE 0: NULL. */
struct world_value world_column_value(const struct world_table *table, bool mapped,
                                      const struct world_item *item, const char *name);
/* Whether a part of the table's key has the name, so that the column is not just the attribute. */
bool world_is_part_of_table(const struct world_table *table, const char *name);

/* Takes TEXT apart; PARTS gets more. False if it does not fit, or a part has another value. */
bool world_match(const struct world_format *format, const struct world_value *value,
                 struct world_parts *parts);
const struct world_value *world_find_part(const struct world_parts *parts, const char *name);

/* Runs. */

/* Checks worlds from DDBFS_WORLDS_SEED on: DDBFS_WORLDS of them, or as many as DDBFS_WORLDS_SECONDS
 * allow; until *FAILED is 10. Prints the first seed. */
void world_check_all(void (*check)(uint64_t seed), const unsigned *failed);

#endif
