/* Inside the map: the member "links" of a table. */
#ifndef DDBFS_CORE_MAP_LINK_MEMBERS_H
#define DDBFS_CORE_MAP_LINK_MEMBERS_H

#include "core/map/declaration.h"
#include "core/map/member_reader.h"

/* Reads them into LINKS, in the order in which they stand. */
bool map_read_links(struct map_reader *reader, struct json value, struct declared_link **links);

#endif
