/* Inside the map: a regular expression that is safe to compile and to run. */
#ifndef DDBFS_CORE_MAP_MATCH_H
#define DDBFS_CORE_MAP_MATCH_H

#include <regex.h>
#include <stddef.h>

/* What the C library does with an expression is not bounded by itself: it follows nested groups
 * with its stack, and writes a repeated part out as often as it may be repeated, which multiplies
 * where repeats are nested. */
enum { MATCH_MAX_BYTES = 1000, MATCH_MAX_NESTING = 20, MATCH_MAX_STEPS = 1000 };

enum match_result { MATCH_OK, MATCH_WRONG, MATCH_NO_MEMORY };

/* Compiles EXPRESSION, POSIX extended, into OUT, to be freed by regfree when MATCH_OK. When it is
 * MATCH_WRONG, WHY of SIZE bytes gets the end of a sentence that begins with "match". */
enum match_result match_compile(const char *expression, regex_t *out, char *why, size_t size);

#endif
