/* Items whose names are too long to be shown whole: which of a listing's items has a name that
 * shows only its beginning and a digest. */
#ifndef DDBFS_CORE_READ_SHORTENED_NAMES_H
#define DDBFS_CORE_READ_SHORTENED_NAMES_H

#include "core/read/place.h"

/* Whether PLACE's shortened name is the name of ITEM, which has KEY. If FAILED is set, memory ran
 * out and the result means nothing. */
bool shortened_names_match(const struct place *place, const struct place_options *names,
                           const struct key *key, struct json item, bool *failed);

#endif
