#include "core/map/regex.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an expression comes to once its repeats are written out: the steps of each group that is
 * open, and of the part that was read last, which a repeat multiplies. */
struct size {
    unsigned long steps[REGEX_MAX_NESTING + 1];
    unsigned long last;
    size_t depth;
};

static bool regex_add(struct size *size, unsigned long steps)
{
    size->last = steps;
    size->steps[size->depth] += steps;
    return size->steps[size->depth] <= REGEX_MAX_STEPS;
}

/* The last part is written out TIMES times instead of once. */
static bool regex_repeat(struct size *size, unsigned long times)
{
    if (times < 2)
        return true;
    unsigned long more = size->last * (times - 1); /* both are small: no overflow */
    size->last += more;
    size->steps[size->depth] += more;
    return size->steps[size->depth] <= REGEX_MAX_STEPS;
}

/* One past the brackets that begin at AT, or the end: what stands between them is one step. */
static const char *regex_skip_brackets(const char *at)
{
    at += at[1] == '^' ? 2 : 1;
    if (*at == ']')
        at++;
    for (; *at && *at != ']'; at++) {
        bool class = at[0] == '[' && at[1] && strchr(":.=", at[1]);
        const char closing[] = {at[1], ']', '\0'};
        const char *end = class ? strstr(at + 2, closing) : NULL;
        if (end)
            at = end + 1;
    }
    return *at ? at + 1 : at;
}

/* "{3}", "{3,}" or "{3,5}" at AT: how often the part before it is written out; END gets what
 * follows. 0 when it is no repeat. */
static unsigned long regex_read_repeat(const char *at, const char **end)
{
    char *after;
    unsigned long least = strtoul(at + 1, &after, 10), most = least;
    if (after == at + 1 && *after != ',')
        return 0;
    if (*after == ',') {
        const char *second = after + 1;
        most = strtoul(second, &after, 10);
        if (after == second)
            most = least + 1; /* without an upper bound: one more, with a star */
    }
    if (*after != '}')
        return 0;
    *end = after + 1;
    return most > REGEX_MAX_STEPS ? REGEX_MAX_STEPS + 1 : most + (most == 0);
}

static const char too_large[] =
    "it is too large: what is repeated counts as often as it may be, and "
    "may not pass 1000 characters in all";

/* NULL, or what may not stand at AT. */
static const char *regex_forbidden(const char *at, const struct size *size)
{
    if (*at == '\\' && at[1] >= '1' && at[1] <= '9')
        return "it refers back (\\1), which can take for ever";
    if (*at == '(' && size->depth == REGEX_MAX_NESTING)
        return "it nests more than 20 groups";
    return NULL;
}

/* Adds what stands at AT to the size; NEXT gets what comes after it. False when it is too much.
 * Takes no part in what is a right expression: that is regcomp's business. */
static bool regex_measure(struct size *size, const char *at, const char **next)
{
    *next = at + 1;
    unsigned long times = *at == '{' ? regex_read_repeat(at, next) : 0;
    if (*at == '(') {
        size->depth++;
        size->steps[size->depth] = 0;
        size->last = 0;
    } else if (*at == ')' && size->depth > 0) {
        unsigned long inside = size->steps[size->depth--];
        return regex_add(size, inside + 1);
    } else if (times > 0) {
        return regex_repeat(size, times);
    } else if (*at == '+') {
        return regex_repeat(size, 2); /* x+ is xx* */
    } else if (*at == '[') {
        *next = regex_skip_brackets(at);
        return regex_add(size, 1);
    } else if (!strchr("*?|^$", *at)) {
        *next = *at == '\\' && at[1] ? at + 2 : *next;
        return regex_add(size, 1);
    }
    return true;
}

/* NULL, or what is too much of it. */
static const char *regex_excess(const char *expression)
{
    struct size size = {0};
    const char *next;
    if (strlen(expression) > REGEX_MAX_BYTES)
        return "it is longer than 1000 bytes";
    for (const char *at = expression; *at; at = next) {
        const char *wrong = regex_forbidden(at, &size);
        if (wrong)
            return wrong;
        if (!regex_measure(&size, at, &next))
            return too_large;
    }
    return NULL;
}

enum regex_result regex_compile(const char *expression, regex_t *out, char *why, size_t size)
{
    const char *wrong = regex_excess(expression);
    if (wrong) {
        snprintf(why, size, "can't be used: %s", wrong);
        return REGEX_WRONG;
    }
    int code = regcomp(out, expression, REG_EXTENDED | REG_NOSUB);
    if (code == 0)
        return REGEX_OK;
    if (code == REG_ESPACE)
        return REGEX_NO_MEMORY;
    char said[128];
    regerror(code, out, said, sizeof said);
    snprintf(why, size, "is no regular expression: %s", said);
    return REGEX_WRONG;
}
