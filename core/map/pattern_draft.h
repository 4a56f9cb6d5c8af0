/* A path while it is compiled: its declaration, its pattern, and the values that the path has for a
 * key. */
#ifndef DDBFS_CORE_MAP_PATTERN_DRAFT_H
#define DDBFS_CORE_MAP_PATTERN_DRAFT_H

#include "core/map/declaration.h"
#include "core/map/findings.h"

struct pattern_draft {
    const struct declared_path *path;
    const struct declared_table *table;
    const struct model *model;   /* its keys, kinds and indexes are complete */
    struct map_pattern *pattern; /* the result */
    struct arena *arena;         /* the model's: owns what the pattern points to */
    struct arena scratch;        /* owned: everything else */
    struct findings *findings;
    /* The "where" conditions that are in the key condition. */
    const struct declared_condition *used[READ_MAX_CONDS];
    size_t used_count;
};

/* Reports a mistake in the path. Returns false. */
bool pattern_draft_fail(struct pattern_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same if memory, or the room of a format, ran out. */
bool pattern_draft_fail_room(struct pattern_draft *draft);

/* Whether PARAM is in the path. */
bool pattern_draft_path_has(const struct declared_path *path, const char *param);
/* Whether PARAM has a value: in the path, or by an equality of "where". */
bool pattern_draft_states(const struct pattern_draft *draft, const char *param);
/* The "where" condition on a part of a key; on a key attribute, in single quotes or without. NULL
 * for none. */
const struct declared_condition *pattern_draft_where_part(const struct pattern_draft *draft,
                                                          const char *part);
const struct declared_condition *pattern_draft_where_key(const struct pattern_draft *draft,
                                                         const char *attribute);

/* Whether "params" knows VALUE, a value for TARGET in the map: a misspelt one would find nothing.
 * False with a finding at AT. */
bool pattern_draft_check_known(struct pattern_draft *draft, struct finding_at at,
                               const char *target, const struct format *value);

/* Whether the path's index is known to include ATTRIBUTE, which MEMBER of the path tests: for the
 * service, an attribute that the index does not include is absent. False with a finding. */
bool pattern_draft_check_held(struct pattern_draft *draft, const char *member,
                              const char *attribute);

/* The beginning of one key attribute that has values in the path and the equalities of "where". */
struct stated_text {
    struct format text; /* in terms of the path's parameters; scratch */
    size_t pieces;      /* of the key's own format that TEXT represents */
    const char *stop;   /* the first parameter without a value; NULL: all have one */
};

/* Cuts FORMAT before the first parameter without a value. False if there is no room. */
bool pattern_draft_stated(struct pattern_draft *draft, const struct format *format,
                          struct stated_text *out);

/* Appends to an empty format, or to one made by pattern_draft_append; adjacent literals become one.
 * False if there is no room. */
bool pattern_draft_append(struct pattern_draft *draft, struct format *format,
                          const struct format_piece *piece);
bool pattern_draft_append_all(struct pattern_draft *draft, struct format *format,
                              const struct format *more);

/* The longest common beginning of A and B. If they differ inside a literal, it ends behind a
 * separator, or before the literal. False if there is no room. */
bool pattern_draft_common(struct pattern_draft *draft, const struct format *a,
                          const struct format *b, struct format *out);

/* The beginning of TEXT that ends behind the table's last separator; empty for none. */
struct span pattern_draft_cut_after_separator(const struct pattern_draft *draft, struct span text);

/* Fills in the pattern's key condition: an equality for each partition attribute, and a condition
 * on the sort key where the path has one. False with a finding. */
bool pattern_draft_compile_keys(struct pattern_draft *draft);

#endif
