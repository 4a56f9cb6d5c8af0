#include "core/map/companion.h"

size_t companion_find_ending(struct span text)
{
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(companion_ending(c));
        if (span_ends(text, ending))
            return text.size - ending.size;
    }
    return span_ends(text, SPAN_LITERAL("~")) ? text.size - 1 : text.size;
}

const char *companion_ending(enum companion companion)
{
    static const char *const endings[] = {
        [COMPANION_NONE] = "",        [COMPANION_TYPED] = "@typed",
        [COMPANION_INFO] = "@info",   [COMPANION_LINKS] = "@links",
        [COMPANION_ATTRS] = "@",      [COMPANION_JSONL] = "@jsonl",
        [COMPANION_CSV] = "@csv",     [COMPANION_TABLE] = "@table",
        [COMPANION_COUNT] = "@count", [COMPANION_SUMMARY] = "@summary",
        [COMPANION_END] = "",
    };
    return endings[companion];
}

bool companion_is_of_listing(enum companion companion)
{
    return companion >= COMPANION_JSONL;
}

bool companion_has_columns(enum companion companion)
{
    return companion == COMPANION_CSV || companion == COMPANION_TABLE;
}

/* The position in NAME of the last ENDING that a colon and columns follow; 0: none. */
static size_t companion_find_columns(struct span name, struct span ending)
{
    for (size_t at = name.size; at-- > 1;) {
        struct span rest = span_from(name, at);
        if (rest.size > ending.size + 1 && span_starts(rest, ending) &&
            rest.data[ending.size] == ':')
            return at;
    }
    return 0;
}

enum companion companion_split(struct span *name, struct span *columns)
{
    *columns = span_text("");
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(companion_ending(c));
        if (span_ends(*name, ending) && name->size > ending.size) {
            name->size -= ending.size;
            return c;
        }
    }
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(companion_ending(c));
        size_t at = companion_has_columns(c) ? companion_find_columns(*name, ending) : 0;
        if (at == 0)
            continue;
        *columns = span_from(*name, at + ending.size + 1);
        name->size = at;
        return c;
    }
    return COMPANION_NONE;
}

enum companion companion_parse_ending(struct span text)
{
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++) {
        struct span ending = span_text(companion_ending(c));
        bool columns = companion_has_columns(c) && span_starts(text, ending) &&
                       text.size > ending.size && text.data[ending.size] == ':';
        if (span_equal(text, ending) || columns)
            return c;
    }
    return COMPANION_NONE;
}
