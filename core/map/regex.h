/* Inside the map: a regular expression that is safe to compile and to run. */
#ifndef DDBFS_CORE_MAP_REGEX_H
#define DDBFS_CORE_MAP_REGEX_H

#include <regex.h>
#include <stddef.h>

/* What the C library does with an expression is not bounded by itself: it follows nested groups
 * with its stack, and writes a repeated part out as often as it may be repeated, which multiplies
 * where repeats are nested. */
enum { REGEX_MAX_BYTES = 1000, REGEX_MAX_NESTING = 20, REGEX_MAX_STEPS = 1000 };

enum regex_result { REGEX_OK, REGEX_WRONG, REGEX_NO_MEMORY };

/* Compiles EXPRESSION, POSIX extended, into OUT, to be freed by regfree when REGEX_OK. When it is
 * REGEX_WRONG, WHY of SIZE bytes gets the end of a sentence that begins with "match". */
enum regex_result regex_compile(const char *expression, regex_t *out, char *why, size_t size);

#endif
