/* Companions: the hidden files and directories of an item or of a listing, which the ending of a
 * name selects. */
#ifndef DDBFS_CORE_MAP_COMPANION_H
#define DDBFS_CORE_MAP_COMPANION_H

#include "core/base/buf.h"
#include "core/base/escape.h"
#include "core/base/span.h"

/* The longest name that leaves room for the longest ending, "@history". */
enum { NAME_LIMIT = NAME_MAX_BYTES - 8 };

enum companion {
    COMPANION_NONE,
    COMPANION_TYPED,   /* name@typed */
    COMPANION_INFO,    /* name@info, of an item or a listing */
    COMPANION_LINKS,   /* name@links, a directory */
    COMPANION_HISTORY, /* name@history, a directory */
    COMPANION_SIMILAR, /* name@similar, name@similar:index, directories */
    COMPANION_ATTRS,   /* name@, a directory */
    COMPANION_JSONL,   /* of a listing, as are those below: name@jsonl */
    COMPANION_CSV,     /* name@csv, name@csv:columns */
    COMPANION_TABLE,   /* name@table, a directory; name@table:columns */
    COMPANION_COUNT,   /* name@count */
    COMPANION_SUMMARY, /* name@summary */
    COMPANION_SQLITE,  /* name@sqlite, name@sqlite:columns */
    COMPANION_END,     /* their number */
};

const char *companion_ending(enum companion companion);
/* Whether only listings have it; COMPANION_INFO is of both. */
bool companion_is_of_listing(enum companion companion);
/* Whether its ending may name columns, or an index. */
bool companion_has_columns(enum companion companion);

/* Takes the ending off NAME. COLUMNS gets the text behind the ending's colon, still escaped; empty
 * for none. Of COMPANION_SIMILAR it is the index. */
enum companion companion_split(struct span *name, struct span *columns);
/* The companion whose ending, with columns or without, is the whole of TEXT. */
enum companion companion_parse_ending(struct span text);

/* The position of an ending in TEXT that no name made of it may have: a companion's, or the tilde
 * of names that programs probe. The size of TEXT if TEXT has no ending. */
size_t companion_find_ending(struct span text);
/* The position in NAME of its last @ with text before it; 0 without one. */
size_t companion_find_at(struct span name);

/* A companion in a sentence for READMEs and messages. */
struct companion_words {
    const char *name; /* its ending, with an example of columns */
    const char *is;   /* its content, in one clause */
};

/* The companions of a listing or of an item, the most useful first. */
const struct companion_words *companion_words_of(bool listing, size_t *count);
/* Appends their names, separated by commas. */
void companion_write_names(bool listing, struct buf *out);
/* Appends ` (did you mean "@jsonl"?)` if WRONG, the end of a name from its last @ on, is near to
 * one of their endings. */
void companion_write_hint(bool listing, struct span wrong, struct buf *out);

#endif
