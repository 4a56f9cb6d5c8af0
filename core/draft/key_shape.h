/* How a key is put together: pieces between separators, each of them a word that all keys of a kind
 * share, or a part that differs. */
#ifndef DDBFS_CORE_DRAFT_KEY_SHAPE_H
#define DDBFS_CORE_DRAFT_KEY_SHAPE_H

#include "core/draft/sampled_item.h"
#include "core/map/declaration.h"

/* What goes on behind so many pieces is one part: a format has at most 24 pieces, and those are
 * pieces and what stands between them. */
enum { KEY_SHAPE_MAX_TOKENS = 10 };

struct token {
    struct span text;      /* borrowed of the specimen */
    struct span label;     /* what stands before a part, of the same piece: "user_"; borrowed */
    struct span attribute; /* which LABEL names; empty where there is none */
    bool literal;
    bool open; /* a part that holds separators */
};

struct key_shape {
    struct token tokens[KEY_SHAPE_MAX_TOKENS];
    size_t count; /* 0: no text is there to be taken apart */
};

/* The words that stand before a separator somewhere in the keys of a table. */
struct vocabulary {
    struct span *words; /* borrowed of the specimens */
    size_t count;
};

/* The keys that stand in one attribute: a shape for each of some records. */
struct column {
    const struct declared_table *table;
    struct span attribute;
    char separator;
    bool sorts; /* it is the table's sort key: in two records with the same one partitions differ */
    const struct sampled_item *const *specimens;
    struct key_shape *shapes; /* beside SPECIMENS */
    size_t count;
    const struct vocabulary *known; /* or NULL: nothing is known of other keys */
    bool is_lower;                  /* ElectroDB wrote all keys, in lower case */
};

/* Whether an attribute of that name can tell what a part of a key of TABLE is: no key, and nothing
 * that says which kind of record it is in. */
bool key_shape_may_name(const struct declared_table *table, struct span name);

/* The separator of most keys in COLUMNS; '#' where none has any. */
char key_shape_separator(const struct column *columns, size_t count);

/* Takes all keys of a column apart, without telling words from parts: all are parts. */
void column_take_apart(struct column *column);

/* Tells the words from the parts, of all records of a table. False when memory ran out. */
bool column_find_words(struct column *column, struct arena *arena);

/* All words of the columns' keys. False when memory ran out. */
bool vocabulary_find(struct vocabulary *vocabulary, const struct column *columns, size_t count,
                     struct arena *arena);

/* What is known as a word is one wherever a word may stand: what showed it in one kind of record
 * need not show in another, of which there may be one record. */
void column_find_known_words(struct column *column);

/* Like column_find_words, where all records are of one kind: a word is what none of them has
 * otherwise. */
void column_find_words_of_kind(struct column *column);

/* Whether both say the same words at the same places. */
bool key_shape_alike(const struct key_shape *a, const struct key_shape *b);

/* Whether it says any word, or has more than one part. */
bool key_shape_has_form(const struct key_shape *shape);

#endif
