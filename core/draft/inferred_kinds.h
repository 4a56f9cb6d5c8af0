/* The kinds of record that the keys of a table tell: records whose keys say the same words at the
 * same places are of one kind. */
#ifndef DDBFS_CORE_DRAFT_INFERRED_KINDS_H
#define DDBFS_CORE_DRAFT_INFERRED_KINDS_H

#include "core/draft/inference.h"

/* Takes the table's keys apart, and finds the separator, the kinds and the first names of their
 * parts. A record of whose keys no word, no attribute and no date shows how they
 * are written is of no kind. False when memory ran out. */
bool inferred_kinds_find(struct inferring *inferring);

#endif
