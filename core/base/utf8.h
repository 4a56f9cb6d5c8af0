/* UTF-8, one character at a time. */
#ifndef DDBFS_CORE_BASE_UTF8_H
#define DDBFS_CORE_BASE_UTF8_H

#include "core/base/span.h"

/* How many bytes the character at the start of TEXT takes: 1 to 4; 0 when TEXT is empty or does
 * not start with valid UTF-8 (overlong forms and surrogates are not). */
size_t utf8_length(struct span text);

bool utf8_valid(struct span text);

#endif
