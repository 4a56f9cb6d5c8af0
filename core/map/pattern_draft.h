/* A path while it is compiled: what was declared, what becomes of it, and what the path says of a
 * key. Gone when the pattern is made. */
#ifndef DDBFS_CORE_MAP_PATTERN_DRAFT_H
#define DDBFS_CORE_MAP_PATTERN_DRAFT_H

#include "core/map/declaration.h"
#include "core/map/findings.h"

struct pattern_draft {
    const struct declared_path *path;
    const struct declared_table *table;
    const struct model *model;   /* its keys, kinds and indexes are complete */
    struct map_pattern *pattern; /* what is made */
    struct arena *arena;         /* the model's: what the pattern keeps */
    struct arena scratch;        /* owned: what it does not keep */
    struct findings *findings;
    /* The "where" conditions of which key conditions were made. */
    const struct declared_condition *used[READ_MAX_CONDS];
    size_t used_count;
};

/* Notes what is wrong with the path. Returns false. */
bool pattern_draft_fail(struct pattern_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same when memory, or the room of a format, ran out. */
bool pattern_draft_fail_room(struct pattern_draft *draft);

/* Whether PARAM stands in the path. */
bool pattern_draft_path_has(const struct declared_path *path, const char *param);
/* Whether PARAM stands there or is said by an equality of "where". */
bool pattern_draft_states(const struct pattern_draft *draft, const char *param);
/* The "where" condition on a part of a key; on a key attribute, in single quotes or without. NULL
 * when there is none. */
const struct declared_condition *pattern_draft_where_part(const struct pattern_draft *draft,
                                                          const char *part);
const struct declared_condition *pattern_draft_where_key(const struct pattern_draft *draft,
                                                         const char *attribute);

/* Whether a value that the map gives to TARGET itself is one that "params" knows: a misspelt one
 * would find nothing. False with a finding at LINE. */
bool pattern_draft_check_known(struct pattern_draft *draft, struct finding_at at,
                               const char *target, const struct format *value);

/* Whether what is asked is known to hold ATTRIBUTE, at which MEMBER of the path looks: the service
 * filters what the index holds, and takes what is not in it for what the record lacks. False with a
 * finding. */
bool pattern_draft_check_held(struct pattern_draft *draft, const char *member,
                              const char *attribute);

/* What the path, together with the equalities of "where", says of one key attribute. */
struct said_text {
    struct format text; /* as far as it is said, in terms of the path's parameters; scratch */
    size_t pieces;      /* of the key's own format that this took */
    const char *stop;   /* the first parameter that is not said; NULL when all is */
};

/* Cuts FORMAT before the first parameter that is not said. False when there is no room. */
bool pattern_draft_stated(struct pattern_draft *draft, const struct format *format,
                          struct said_text *out);

/* Appends to a format that pattern_draft_append made, or to an empty one; literals that meet become
 * one. False when there is no room. */
bool pattern_draft_append(struct pattern_draft *draft, struct format *format,
                          const struct format_piece *piece);
bool pattern_draft_append_all(struct pattern_draft *draft, struct format *format,
                              const struct format *more);

/* The longest format that both begin with. Where they part inside a literal, it ends after a
 * separator, or before the literal. False when there is no room. */
bool pattern_draft_common(struct pattern_draft *draft, const struct format *a,
                          const struct format *b, struct format *out);

/* The beginning of TEXT that ends after the table's separator; empty when it has none. */
struct span pattern_draft_cut_after_separator(const struct pattern_draft *draft, struct span text);

/* Fills in the pattern's key condition: an equality for each partition attribute, and a condition
 * on the sort key where the path has one. False with a finding. */
bool pattern_draft_compile_keys(struct pattern_draft *draft);

#endif
