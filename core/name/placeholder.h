/* Placeholders: directories that a listing shows in place of names which nothing lists. One can be
 * looked up and not opened. This file has their names, and the reason. */
#ifndef DDBFS_CORE_NAME_PLACEHOLDER_H
#define DDBFS_CORE_NAME_PLACEHOLDER_H

#include "core/base/error.h"
#include "core/map/model.h"
#include "core/map/route.h"

/* The name of the placeholder in LIST@table. */
#define PLACEHOLDER_COLUMNS "{columns}"

/* Appends the name of a step's placeholder: the step as the map writes it. */
void placeholder_write_name(const struct route *step, struct buf *out);

/* Fills ERR with ERROR_NOT_LISTABLE: why not all names of STEP, of TABLE, are listed, and what to
 * type. PATH is what the path to the directory says. Returns false. */
bool placeholder_refuse(const struct model *table, const struct route *step,
                        const struct bindings *path, struct error *err);
/* The same of columns. */
bool placeholder_refuse_columns(struct error *err);

#endif
