/* Records whose names are too long to be shown whole: which of a listing's records is meant by a
 * name that shows a beginning and a digest alone. */
#ifndef DDBFS_CORE_READ_SHORTENED_NAMES_H
#define DDBFS_CORE_READ_SHORTENED_NAMES_H

#include "core/read/place.h"

/* Whether ITEM, which has KEY, is the one whose name was shortened to PLACE's. FAILED is set, and
 * the answer means nothing, when memory ran out. */
bool shortened_names_match(const struct place *place, const struct place_options *names,
                           const struct key *key, struct json item, bool *failed);

/* Whether NAME, an entry of LISTING whose name tells of an index's key, is still what ITEM, the
 * record of KEY, is called there. FAILED as above. */
bool shortened_names_is_still(const struct place *listing, const struct place_options *names,
                              const struct key *key, struct json item, struct span name,
                              bool *failed);

#endif
