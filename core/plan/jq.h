/* Conditions as filters of jq, for printed commands: what a tool of AWS has no option for. */
#ifndef DDBFS_CORE_PLAN_JQ_H
#define DDBFS_CORE_PLAN_JQ_H

#include "core/source/cond.h"

/* Appends a jq condition on a typed item that holds where COND does. Numbers are compared as jq
 * knows them, by some 17 digits. An order of binary values can't be had: the condition then fails
 * with a sentence instead of deciding wrongly. */
void jq_write_cond(const struct cond *cond, struct buf *out);

#endif
