/* An exact sum of decimals, of any number of digits: no order of the numbers changes it. */
#ifndef DDBFS_CORE_ITEM_DECIMAL_SUM_H
#define DDBFS_CORE_ITEM_DECIMAL_SUM_H

#include <stdint.h>

#include "core/base/buf.h"
#include "core/base/span.h"

/* From the last digit of the least double to the first of the sum of the greatest ones. */
enum { DECIMAL_SUM_FRACTION_LIMBS = 38, DECIMAL_SUM_LIMBS = 75 };

/* {0} is zero. Nine digits a limb, of either sign, that are carried when the sum is written: so
 * numbers are added nine billion times at most, which no statement reaches. */
struct decimal_sum {
    int64_t limbs[DECIMAL_SUM_LIMBS]; /* the least first */
};

/* Adds SIGN (1 or -1) times the number TEXT, see number_is. False, with the sum as it was: beyond
 * the range of doubles. */
bool decimal_sum_add(struct decimal_sum *sum, struct span text, int sign);

/* Divides by COUNT, which is above 0 and below 2^33, towards zero: 300 digits and more stay. */
void decimal_sum_divide(struct decimal_sum *sum, uint64_t count);

/* Appends "46954.25": all digits, without exponent. */
void decimal_sum_write(const struct decimal_sum *sum, struct buf *out);

#endif
