/* The position of the next page, found in a response before that is parsed. */
#ifndef DDBFS_CORE_DYNAMO_NEXT_PAGE_H
#define DDBFS_CORE_DYNAMO_NEXT_PAGE_H

#include "core/base/span.h"

/* The bytes of the object LastEvaluatedKey in BODY, the response to a Query; empty if it is not
 * found behind the items. If BODY is JSON, no part of an item is taken for it. */
struct span next_page_find(struct span body);

#endif
