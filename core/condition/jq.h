/* Conditions as filters of jq, for printed commands, where the aws command has no option. */
#ifndef DDBFS_CORE_CONDITION_JQ_H
#define DDBFS_CORE_CONDITION_JQ_H

#include "core/condition/condition.h"

/* Appends a jq condition on a typed item that holds where COND does. An order of binary values
 * can't be had: the condition then fails with a sentence instead of deciding wrongly. Numbers are
 * compared by all their digits, by a function that jq_write_decimal defines. */
void jq_write_cond(const struct cond *cond, struct buf *out);

/* Appends "map(select(CONDITION))", CONDITION being made of such conditions, with the definition
 * that it needs. */
void jq_write_select(struct span condition, struct buf *out);

/* Appends the definition of "decimal", a filter from the text of a number to a value that jq orders
 * as the number: jq itself compares numbers as doubles. */
void jq_write_decimal(struct buf *out);

#endif
