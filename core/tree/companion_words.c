#include "core/tree/companion_words.h"

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
