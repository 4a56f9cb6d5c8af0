/* Inside the map: formats cut down to what a path says, and names made of the rest. */
#ifndef DDBFS_CORE_MAP_SETTLE_H
#define DDBFS_CORE_MAP_SETTLE_H

#include "core/map/map.h"

/* What a path, together with the pattern's equalities, says of one key attribute. */
struct known {
    struct format text; /* as far as it is said, in terms of the path's parameters */
    size_t pieces;      /* of the key's own format that this took */
    const char *stop;   /* the first parameter that is not said; NULL when all is */
};

/* Cuts FORMAT before the first parameter that neither the path nor a "where" equality says. */
bool settle_known(struct arena *arena, const struct map_pattern *pattern,
                  const struct format *format, struct known *out);

/* The format of a key attribute for records of KIND: the kind's own for a base key. */
const struct format *settle_key_format(const struct map_pattern *pattern, const struct map_key *key,
                                       const struct map_kind *kind);

/* Appends PIECE to a format whose pieces have room; literals that meet become one. */
bool settle_append(struct arena *arena, struct format *format, const struct format_piece *piece);

/* The longest format that both begin with. Where they part inside a literal, it ends after a
 * separator, or before the literal. */
bool settle_common(struct arena *arena, const struct format *a, const struct format *b,
                   char separator, struct format *out);

/* The names of a listing's entries: pattern->entries. */
bool settle_entries(struct arena *arena, struct map_pattern *pattern, struct error *err);

#endif
