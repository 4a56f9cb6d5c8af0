/* What a directory does not list, in words for those who meet one of its placeholders. */
#ifndef DDBFS_CORE_READ_UNLISTED_H
#define DDBFS_CORE_READ_UNLISTED_H

#include "core/read/tree.h"

/* Fills ERR with ERROR_NOT_LISTABLE: why the names that PLACE, a placeholder, stands for are not
 * listed, what to type, and the option by which a Scan would list them. Returns false. */
bool unlisted_refuse(const struct tree *tree, const struct place *place, struct error *err);

/* Likewise for all placeholders of the directory PLACE, or of which it is a companion. True with
 * ERR as before when there is none: all names of the directory are listed. */
bool unlisted_is_none(const struct tree *tree, const struct place *place, struct error *err);

#endif
