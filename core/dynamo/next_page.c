#include "core/dynamo/next_page.h"

#include <string.h>

/* A position has at most four key attributes of 2 KB, and JSON escapes take up to six bytes each.
 */
enum { MOST_BEHIND_ITEMS = 64 * 1024 };

/* The object at the beginning of TEXT; empty if it does not end there. */
static struct span next_page_take_object(struct span text)
{
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && c == '{')
            depth++;
        else if (!quoted && c == '}' && --depth == 0)
            return span_of(text.data, i + 1);
        if (depth == 0)
            break;
    }
    return span_text("");
}

/* The name in quotes is no part of a string, where quotes are escaped. No bracket behind the name
 * closes the array of items, so the name is no attribute of an item. */
struct span next_page_find(struct span body)
{
    static const char name[] = "\"LastEvaluatedKey\":";
    const char *end = body.data + body.size;
    size_t size = body.size < MOST_BEHIND_ITEMS ? body.size : MOST_BEHIND_ITEMS;
    struct span tail = span_of(end - size, size);
    const char *bracket = size > 0 ? memrchr(tail.data, ']', size) : NULL;
    if (bracket)
        tail = span_of(bracket + 1, (size_t)(end - bracket - 1));
    const char *at = tail.size > 0 ? memmem(tail.data, tail.size, name, sizeof name - 1) : NULL;
    if (!at)
        return span_text("");
    at += sizeof name - 1;
    while (at < end && *at == ' ')
        at++;
    return next_page_take_object(span_of(at, (size_t)(end - at)));
}
