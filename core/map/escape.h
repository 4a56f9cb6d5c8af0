/* Names: any text as a part of a file's name, and back. `%XX` stands for a byte that a name cannot
 * or should not hold: `%`, `/`, what a terminal would act on, bytes that are no UTF-8, a leading
 * dot. `%` alone is the empty text. A name is written once, from the values it is made of: what is
 * escaped is decided character by character, and nothing that has been written is escaped again.
 * Which names a directory has is the business of core/name/names.h. */
#ifndef DDBFS_CORE_MAP_ESCAPE_H
#define DDBFS_CORE_MAP_ESCAPE_H

#include "core/base/buf.h"
#include "core/base/span.h"

enum {
    NAME_MAX_BYTES = 255,
    /* Room is kept for the longest companions, "@typed" and "@links". */
    NAME_LIMIT = NAME_MAX_BYTES - 6,
    NAME_DIGEST_DIGITS = 32,
};

/* The hidden companions of a record, and those of a listing, by what ends their name. */
enum companion {
    COMPANION_NONE,
    COMPANION_TYPED,   /* name@typed */
    COMPANION_INFO,    /* name@info, of either */
    COMPANION_LINKS,   /* name@links, a directory */
    COMPANION_ATTRS,   /* name@, a directory */
    COMPANION_JSONL,   /* of a listing, as the others below: name@jsonl */
    COMPANION_CSV,     /* name@csv, name@csv:columns */
    COMPANION_TABLE,   /* name@table, a directory; name@table:columns */
    COMPANION_COUNT,   /* name@count */
    COMPANION_SUMMARY, /* name@summary */
    COMPANION_END,     /* how many there are */
};

/* A name beyond its limit is a beginning of it, a mark, and a digest of the whole. The mark, which
 * no other name holds, says what the name is of. */
enum name_mark {
    NAME_MARK_FILE = '~',
    NAME_MARK_DIRECTORY = '=',
};

/* What a name escapes beside what it must. Characters are counted over all its values. */
struct name_escapes {
    bool all;
    size_t one, other; /* characters by number; SIZE_MAX for none */
    size_t seen;       /* how many have been written */
};

/* Appends VALUE to OUT, which holds the name as far as it goes. STOP, unless it is empty, is the
 * character that the value must not show: the first of the text that follows. EXTRA may be NULL. */
void name_add_value(struct buf *out, struct span value, struct span stop,
                    struct name_escapes *extra);

/* Shortens NAME to LIMIT bytes. False when memory or the digest failed. */
bool name_shorten(struct buf *name, size_t limit, enum name_mark mark);

/* Appends what TEXT, a name or a part of one, stands for; false (nothing appended) when it
 * is no name: a stray %, a shortened name. */
bool name_decode(struct span text, struct buf *out);

/* Whether NAME is a shortened one; MARK and PREFIX, what stands before it, are set then. */
bool name_is_shortened(struct span name, enum name_mark *mark, struct span *prefix);

/* Whether a name can hold the text as it is: no %, no /, and nothing that a terminal acts on. */
bool name_can_hold(struct span text);

/* Where the ending of TEXT begins that a name made of it must not have: a companion's, or the tilde
 * of names that programs try; its size when it has none. */
size_t name_ending(struct span text);

/* Takes the companion's ending off NAME. COLUMNS gets what stands behind its colon, as it is
 * written; empty where it has none. */
enum companion name_split_companion(struct span *name, struct span *columns);
const char *name_companion_ending(enum companion companion);
/* The companion whose ending, with columns or without, TEXT is as a whole. */
enum companion name_bare_companion(struct span text);

/* Whether it is one that listings have, and records have not; and whether it may name columns. */
bool name_companion_is_of_listing(enum companion companion);
bool name_companion_has_columns(enum companion companion);

#endif
