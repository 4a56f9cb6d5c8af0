#include "core/map/companion.h"

#include <ctype.h>

#include "core/base/nearest.h"

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
        [COMPANION_NONE] = "",
        [COMPANION_TYPED] = "@typed",
        [COMPANION_INFO] = "@info",
        [COMPANION_LINKS] = "@links",
        [COMPANION_HISTORY] = "@history",
        [COMPANION_SIMILAR] = "@similar",
        [COMPANION_ATTRS] = "@",
        [COMPANION_JSONL] = "@jsonl",
        [COMPANION_CSV] = "@csv",
        [COMPANION_TABLE] = "@table",
        [COMPANION_COUNT] = "@count",
        [COMPANION_SUMMARY] = "@summary",
        [COMPANION_SQLITE] = "@sqlite",
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
    return companion == COMPANION_CSV || companion == COMPANION_TABLE ||
           companion == COMPANION_SQLITE || companion == COMPANION_SIMILAR;
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
    if (!name->size || !memchr(name->data, '@', name->size)) /* each ending has one */
        return COMPANION_NONE;
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

static const struct companion_words of_listing[] = {
    {"@count", "the number of its items"},
    {"@summary",
     "JSON: count, oldest, newest; of each attribute count, types, min, max, commonest values"},
    {"@csv:A,B", "these attributes of each item, for programs; @csv has all"},
    {"@table:A,B", "the same aligned, for eyes"},
    {"@jsonl", "whole items, one a line"},
    {"@sqlite", "whole items as the rows of one SQLite table: records"},
    {"@info", "the listing's requests, RCU and skipped items"},
};

static const struct companion_words of_record[] = {
    {"@/A", "one attribute's bare value; @ is a directory of them"},
    {"@links/L", "leads to another item, if the map has links; @links has them all"},
    {"@info", "its origin, its cost, the equal aws command"},
    {"@typed", "DynamoDB's own typed JSON"},
    {"@history/T", "its versions, by the times of snapshots"},
    {"@similar/N", "the N items nearest to its vector"},
};

const struct companion_words *companion_words_of(bool listing, size_t *count)
{
    *count =
        listing ? sizeof of_listing / sizeof of_listing[0] : sizeof of_record / sizeof of_record[0];
    return listing ? of_listing : of_record;
}

void companion_write_names(bool listing, struct buf *out)
{
    size_t count;
    const struct companion_words *words = companion_words_of(listing, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", words[i].name);
}

void companion_write_hint(bool listing, struct span wrong, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf typed = {0};
    for (size_t i = 0; i < wrong.size && wrong.data[i] != ':'; i++)
        buf_add_char(&typed, (char)tolower((unsigned char)wrong.data[i]));
    struct nearest nearest = nearest_to(buf_span(&typed));
    for (enum companion c = COMPANION_TYPED; c < COMPANION_END; c++)
        if (c != COMPANION_ATTRS && (c == COMPANION_INFO || companion_is_of_listing(c) == listing))
            nearest_offer(&nearest, span_text(companion_ending(c)));
    nearest_write(&nearest, out);
    out->failed = out->failed || typed.failed;
}

size_t companion_find_at(struct span name)
{
    size_t at = name.size;
    while (at > 0 && name.data[at - 1] != '@')
        at--;
    return at > 0 ? at - 1 : 0;
}
