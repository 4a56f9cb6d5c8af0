/* A name taken apart by one step of the map: what its parameters stand for, or why it is refused.
 */
#ifndef DDBFS_CORE_NAME_NAME_PARTS_H
#define DDBFS_CORE_NAME_NAME_PARTS_H

#include "core/map/model.h"

/* Why a step of the map does not take a name that has its form. */
enum refusal_kind {
    REFUSED_NOT,
    BAD_ESCAPE,
    BAD_BASE64,
    NOT_PADDED, /* no number that the key holds with zeros in front */
    SAID_TWICE,
    NO_MATCH,
    NO_COUNT,    /* it is no number, and may be meant otherwise */
    WRONG_COUNT, /* it is one that no listing has */
    A_SECRET,
    NO_COMPANION,
    OF_DIRECTORY, /* a companion that what has that name has not: it is neither record nor listing,
                   */
    OF_LISTING,   /* a listing of records, */
    OF_RECORD,    /* or a record */
    OF_PLACEHOLDER, /* a placeholder stands before a companion's ending */
    NO_VALUE,       /* before a companion's ending */
    NO_COLUMN, /* a list of columns with nothing between two commas, or no name of an attribute */
    TOO_MANY
};

struct refusal {
    enum refusal_kind kind;
    const char *param;
    const char *why; /* of BAD_BASE64, and what would have the companion: a static phrase */
};

/* Notes the first refusal of a name alone: the more specific step is tried first, and knows best.
 */
void refusal_note(struct refusal *refusal, enum refusal_kind kind, const char *param);

/* What one step of the map makes of a name: nothing, if it has not its form. */
enum taken { NOT_ITS_FORM, REFUSED, UNSUITED, TAKEN };

/* What may stand before the base64 of bytes, where they are typed. */
#define NAME_BASE64 "base64:"

/* Decodes what NAME's pieces stand for, into ARENA where they have escapes or are base64. VALUES
 * get those that PATH does not say; what both say must agree. TABLE is NULL for an environment.
 * UNSUITED when nothing but a "match" speaks against it, on a value that is written with an escape.
 */
enum taken name_take_apart(const struct format *format, struct span name,
                           const struct bindings *path, const struct model *table,
                           struct arena *arena, struct bindings *values, struct refusal *refusal);

#endif
