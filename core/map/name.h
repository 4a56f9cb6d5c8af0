/* Names: any key as one legal file name, and back. `%XX` stands for a byte that a name cannot
 * or should not hold: `%`, `/`, control characters, bytes that are no UTF-8, a leading dot.
 * `%` alone is the empty key. A name beyond NAME_LIMIT ends in `%~` and a digest instead. */
#ifndef DDBFS_CORE_MAP_NAME_H
#define DDBFS_CORE_MAP_NAME_H

#include "core/base/buf.h"
#include "core/base/span.h"

enum {
    NAME_MAX_BYTES = 255,
    /* Room is kept for the longest companion, "@typed". */
    NAME_LIMIT = NAME_MAX_BYTES - 6,
    NAME_DIGEST_DIGITS = 32,
};

/* The hidden companions of a record, by what ends their name. */
enum companion {
    COMPANION_NONE,
    COMPANION_TYPED, /* name@typed */
    COMPANION_INFO,  /* name@info */
    COMPANION_ATTRS, /* name@, a directory */
};

/* Writing a name: values and literal text are added, then the whole is sealed.
 * STOP, unless 0, is one more byte to escape: the first of the text that follows. */
void name_add_value(struct buf *out, struct span value, char stop);

/* Escapes a leading dot and the `@` of an ending that would be taken for a companion, and
 * shortens a name longer than LIMIT. OUT holds the name alone. False when memory or the
 * digest failed. */
bool name_seal(struct buf *out, size_t limit);

/* The whole of it for one value. */
bool name_encode(struct span key, size_t limit, struct buf *out);

/* Escapes the byte at AT, which must stand for itself. */
void name_escape_at(struct buf *name, size_t at);

/* Appends what TEXT, a name or a part of one, stands for; false (nothing appended) when it
 * is no name: a stray %, a shortened name. */
bool name_decode(struct span text, struct buf *out);

/* Whether NAME is a shortened one; PREFIX then gets what stands before the mark. */
bool name_is_shortened(struct span name, struct span *prefix);

/* Takes the companion's ending off NAME. */
enum companion name_split_companion(struct span *name);
const char *name_companion_ending(enum companion companion);

#endif
