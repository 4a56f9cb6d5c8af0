#include "core/item/decimal_sum.h"

#include <stdlib.h>

#include "core/base/ascii.h"

enum { LIMB_DIGITS = 9 };
static const int64_t LIMB = 1000000000;
static const long FRACTION_DIGITS = 342, MOST_DIGITS = 675; /* of all limbs */

_Static_assert(DECIMAL_SUM_FRACTION_LIMBS *LIMB_DIGITS == 342, "FRACTION_DIGITS");
_Static_assert(DECIMAL_SUM_LIMBS *LIMB_DIGITS == 675, "MOST_DIGITS");

/* The digits of a number's text: the first one has the weight of ten to the power of FIRST. */
struct decimal_digits {
    const char *at, *end; /* digits, and perhaps a point */
    long first;
    int sign;
};

static void decimal_sum_split(struct span text, struct decimal_digits *out)
{
    const char *at = text.data, *end = text.data + text.size;
    out->sign = at < end && *at == '-' ? -1 : 1;
    at += at < end && (*at == '-' || *at == '+');
    out->at = at;
    out->first = -1;
    for (; at < end && ascii_is_digit(*at); at++)
        out->first++;
    while (at < end && *at != 'e' && *at != 'E')
        at++;
    out->end = at;
    /* An exponent beyond these has no place in the sum, however it goes on. */
    enum { MOST_EXPONENT = 100000 };
    bool is_negative = at + 1 < end && at[1] == '-';
    long exponent = 0;
    for (at++; at < end; at++)
        if (ascii_is_digit(*at) && exponent < MOST_EXPONENT)
            exponent = exponent * 10 + (*at - '0');
    out->first += is_negative ? -exponent : exponent;
}

/* Adds the digits to LIMBS. False if one has no place. */
static bool decimal_sum_add_digits(const struct decimal_digits *digits, int sign, int64_t *limbs)
{
    static const int64_t powers[LIMB_DIGITS] = {1,      10,      100,      1000,     10000,
                                                100000, 1000000, 10000000, 100000000};
    long place = digits->first + FRACTION_DIGITS;
    for (const char *at = digits->at; at < digits->end; at++) {
        if (*at == '.')
            continue;
        bool fits = place >= 0 && place < MOST_DIGITS;
        if (!fits && *at != '0')
            return false;
        if (fits)
            limbs[place / LIMB_DIGITS] += (int64_t)sign * (*at - '0') * powers[place % LIMB_DIGITS];
        place--;
    }
    return true;
}

bool decimal_sum_add(struct decimal_sum *sum, struct span text, int sign)
{
    struct decimal_digits digits;
    struct decimal_sum before = *sum;
    decimal_sum_split(text, &digits);
    if (decimal_sum_add_digits(&digits, sign * digits.sign, sum->limbs))
        return true;
    *sum = before;
    return false;
}

/* Carries, so that no limb is negative or has ten digits. Whether the sum was negative; its
 * absolute value stays. */
static bool decimal_sum_carry(struct decimal_sum *sum)
{
    bool is_negative = false;
    for (unsigned turn = 0; turn < 2; turn++) {
        int64_t carry = 0;
        for (size_t i = 0; i < DECIMAL_SUM_LIMBS; i++) {
            int64_t limb = sum->limbs[i] + carry;
            carry = limb / LIMB - (limb % LIMB < 0);
            sum->limbs[i] = limb - carry * LIMB;
        }
        if (carry >= 0)
            return is_negative;
        is_negative = true; /* the limbs are those of LIMB to the power of their number, less it */
        sum->limbs[DECIMAL_SUM_LIMBS - 1] += carry * LIMB;
        for (size_t i = 0; i < DECIMAL_SUM_LIMBS; i++)
            sum->limbs[i] = -sum->limbs[i];
    }
    return is_negative;
}

void decimal_sum_divide(struct decimal_sum *sum, uint64_t count)
{
    bool is_negative = decimal_sum_carry(sum);
    uint64_t rest = 0;
    for (size_t i = DECIMAL_SUM_LIMBS; i-- > 0;) {
        uint64_t limb = rest * (uint64_t)LIMB + (uint64_t)sum->limbs[i];
        int64_t part = (int64_t)(limb / count);
        sum->limbs[i] = is_negative ? -part : part;
        rest = limb % count;
    }
}

void decimal_sum_write(const struct decimal_sum *sum, struct buf *out)
{
    struct decimal_sum copy = *sum;
    size_t top = DECIMAL_SUM_LIMBS - 1, start = 0;
    if (decimal_sum_carry(&copy))
        buf_add_char(out, '-');
    while (top > DECIMAL_SUM_FRACTION_LIMBS && copy.limbs[top] == 0)
        top--;
    for (size_t i = top + 1; i-- > 0;) {
        if (i == DECIMAL_SUM_FRACTION_LIMBS - 1) {
            start = out->size;
            buf_add_char(out, '.');
        }
        buf_printf(out, i == top ? "%lld" : "%09lld", (long long)copy.limbs[i]);
    }
    while (!out->failed && out->size > start + 1 && out->data[out->size - 1] == '0')
        buf_truncate(out, out->size - 1);
    if (!out->failed && out->size == start + 1)
        buf_truncate(out, start);
}
