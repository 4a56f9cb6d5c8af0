/* Any text as a part of a file's name, and back. `%XX` represents a byte that a name cannot or
 * should not contain: `%`, `/`, a byte that a terminal acts on, a byte that is not UTF-8, a leading
 * dot. `%` alone is the empty text. A name is written once, from the values in it: each character
 * is escaped or copied, and written bytes are never escaped again. The names of a directory are
 * written and found by core/name/names.h. */
#ifndef DDBFS_CORE_BASE_ESCAPE_H
#define DDBFS_CORE_BASE_ESCAPE_H

#include "core/base/buf.h"
#include "core/base/span.h"

enum {
    NAME_MAX_BYTES = 255, /* of a file's name */
    ESCAPE_DIGEST_DIGITS = 32,
};

/* A name beyond its limit is a beginning of it, `%`, a mark, and a digest of the whole. No other
 * name contains `%` with a mark behind it. */
enum escape_mark {
    ESCAPE_MARK_FILE = '~',
    ESCAPE_MARK_DIRECTORY = '=',
};

/* Characters that a name escapes without need. They are counted over all values of the name. */
struct escape_extra {
    bool all;
    size_t one, other; /* characters by number; SIZE_MAX for none */
    size_t seen;       /* characters written so far */
};

/* Appends VALUE to OUT, which holds the name written so far. STOP, unless empty, is a character
 * that the value must escape: the first of the text that follows. EXTRA may be NULL. */
void escape_add_value(struct buf *out, struct span value, struct span stop,
                      struct escape_extra *extra);

/* Shortens NAME to LIMIT bytes. False if memory or the digest failed. */
bool escape_shorten(struct buf *name, size_t limit, enum escape_mark mark);

/* Appends the text that TEXT, a name or a part of one, represents. False, with nothing appended, if
 * TEXT is no name: it contains a stray % or is shortened. */
bool escape_decode(struct span text, struct buf *out);

/* Whether NAME is shortened; then MARK and PREFIX, the bytes before its digest, are set. */
bool escape_is_shortened(struct span name, enum escape_mark *mark, struct span *prefix);

/* Whether no character of TEXT needs an escape within a name; a leading dot is not checked. */
bool escape_is_unneeded(struct span text);

#endif
