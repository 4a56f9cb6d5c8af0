/* How keys are written: tokens between separators. A token is a word, which all keys of a kind
 * share, or a part, whose value differs. */
#ifndef DDBFS_CORE_DRAFT_KEY_SHAPE_H
#define DDBFS_CORE_DRAFT_KEY_SHAPE_H

#include "core/draft/sampled_item.h"

/* The last token has the rest of the key. A format has at most 24 pieces, which are the tokens and
 * the separators between them. */
enum { KEY_SHAPE_MAX_TOKENS = 10 };

struct token {
    struct span text;      /* borrowed of the item */
    struct span label;     /* text before a part, in the same token: "user_"; borrowed */
    struct span attribute; /* the attribute that LABEL names; empty if absent */
    bool literal;          /* a word */
    bool open;             /* a part with separators in it */
};

struct key_shape {
    struct token tokens[KEY_SHAPE_MAX_TOKENS];
    size_t count; /* 0: the key is no text, or empty */
};

/* The words that are before a separator somewhere in the keys of a table. */
struct vocabulary {
    struct span *words; /* borrowed of the items */
    size_t count;
};

/* The values of one key attribute: a shape for each of some items. */
struct column {
    const struct declared_table *table;
    struct span attribute;
    char separator;
    bool sorts; /* the table's sort key: two items with the same one are in different partitions */
    const struct sampled_item *const *items;
    struct key_shape *shapes; /* beside ITEMS */
    size_t count;
    const struct vocabulary *known; /* or NULL: the other keys were not read yet */
    bool is_lower;                  /* ElectroDB wrote all keys, in lower case */
};

/* Whether an attribute called NAME can name a part of TABLE's keys: it is no key of the table, and
 * it does not state the kind of its item. */
bool key_shape_may_name(const struct declared_table *table, struct span name);

/* The separator of most keys in COLUMNS; '#' when no key has one. */
char key_shape_find_separator(const struct column *columns, size_t count);

/* Splits all keys of a column into tokens, which are all parts at first. */
void key_shape_split_column(struct column *column);

/* Marks the words of a column with all items of a table. False when memory ran out. */
bool key_shape_find_words(struct column *column, struct arena *arena);

/* Lists the words of the columns' keys. False when memory ran out. */
bool key_shape_find_vocabulary(struct vocabulary *vocabulary, const struct column *columns,
                               size_t count, struct arena *arena);

/* Marks the known words in each place of a word: the evidence may be missing in a kind with few
 * items. */
void key_shape_find_known_words(struct column *column);

/* Marks the words of a column whose items are all of one kind: a word is the same in all keys. */
void key_shape_find_words_of_kind(struct column *column);

/* Whether both have the same words at the same places. */
bool key_shape_alike(const struct key_shape *a, const struct key_shape *b);

/* Whether it has a word, or more than one part. */
bool key_shape_has_form(const struct key_shape *shape);

#endif
