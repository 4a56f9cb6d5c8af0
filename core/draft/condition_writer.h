/* Inside the writer of maps: "where" and "filter". */
#ifndef DDBFS_CORE_DRAFT_CONDITION_WRITER_H
#define DDBFS_CORE_DRAFT_CONDITION_WRITER_H

#include "core/draft/json_layout.h"
#include "core/map/declaration.h"

/* Each adds the member to PATH, unless there are no CONDITIONS. */
void write_where(struct arena *arena, struct json_layout *path,
                 const struct declared_condition *conditions);
void write_filter(struct arena *arena, struct json_layout *path,
                  const struct declared_condition *conditions);

#endif
