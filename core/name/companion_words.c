#include "core/name/companion_words.h"

#include <ctype.h>

#include "core/base/nearest.h"
#include "core/map/companion.h"

static const struct companion_words of_listing[] = {
    {"@count", "how many records it has"},
    {"@summary",
     "JSON: count, oldest, newest; of each attribute count, types, min, max, commonest values"},
    {"@csv:A,B", "these attributes of each record, for programs; @csv has all"},
    {"@table:A,B", "the same aligned, for eyes"},
    {"@jsonl", "whole records, one a line"},
    {"@info", "what listing it took: requests, read units, and what was skipped"},
};

static const struct companion_words of_record[] = {
    {"@/A", "one attribute's bare value; @ is a directory of them"},
    {"@links/L", "leads to another record, where the map says so; @links has them all"},
    {"@info", "where it came from, what it took, the equal aws command"},
    {"@typed", "DynamoDB's own typed JSON"},
};

const struct companion_words *companion_words_of(bool listing, size_t *count)
{
    *count =
        listing ? sizeof of_listing / sizeof of_listing[0] : sizeof of_record / sizeof of_record[0];
    return listing ? of_listing : of_record;
}

void companion_words_names(bool listing, struct buf *out)
{
    size_t count;
    const struct companion_words *words = companion_words_of(listing, &count);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "%s%s", i ? ", " : "", words[i].name);
}

void companion_words_hint(bool listing, struct span wrong, struct buf *out)
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

size_t companion_words_at(struct span name)
{
    size_t at = name.size;
    while (at > 0 && name.data[at - 1] != '@')
        at--;
    return at > 0 ? at - 1 : 0;
}
