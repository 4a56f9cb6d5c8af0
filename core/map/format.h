/* Formats: texts with parameters, "PLATFORM#{platform}#SHOP#{shop_id}". Keys, segments of paths and
 * names of entries have formats. */
#ifndef DDBFS_CORE_MAP_FORMAT_H
#define DDBFS_CORE_MAP_FORMAT_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"
#include "core/item/value.h"

enum { FORMAT_MAX_PIECES = 24, BINDINGS_MAX = 24 };

/* The case in which a key has a part: {email:lower}. */
enum format_case { FORMAT_ANY_CASE, FORMAT_LOWER, FORMAT_UPPER };

/* The most digits of a padded number, as of numbers of the service. */
enum { FORMAT_MAX_PAD = 38 };

/* Literal text, or a parameter. */
struct format_piece {
    struct span literal;  /* empty for a parameter */
    const char *param;    /* NULL for a literal */
    bool open;            /* {name*}: a part that may hold separators */
    enum value_type type; /* of the key that consists of the part; else VALUE_S. In a segment of a
                             path, VALUE_B for bytes. */
    enum format_case letters; /* of a key's format alone, as is PAD */
    unsigned pad; /* {score:05}: the digits of the number in the key, with leading zeros; 0: none */
};

struct format {
    struct format_piece *pieces;
    size_t count;
};

/* Values of parameters. All borrowed. */
struct binding {
    const char *param;
    struct span value;
    enum value_type type; /* as its piece's */
};

struct bindings {
    struct binding items[BINDINGS_MAX];
    size_t count;
};

/* The value of PARAM, or NULL. */
const struct span *bindings_find(const struct bindings *bindings, const char *param);
/* False if there is no room. */
bool bindings_add(struct bindings *bindings, const char *param, struct span value);
/* Whether no parameter has a different value in A and in B. Numbers are compared by value. */
bool bindings_agree(const struct bindings *a, const struct bindings *b);

/* Parses TEXT into ARENA. Returns NULL, or a static phrase for the mistake. Two parameters need a
 * text between them. */
const char *format_parse(struct arena *arena, struct span text, struct format *out);
/* The same for a key's format, which may have spellings: {email:lower}, {score:05}. */
const char *format_parse_key(struct arena *arena, struct span text, struct format *out);

/* Whether the part has a spelling. */
bool format_is_spelled(const struct format_piece *piece);
/* Appends the part's value for TEXT, a typed text: "ann" for "Ann" if PIECE is {x:lower}, "42" for
 * "00042" if it is {x:05}; TEXT itself without a spelling. A number has no leading zeros, or all of
 * the key's digits. False, with nothing appended, if no key can have the value. */
bool format_read_part(const struct format_piece *piece, struct span text, struct buf *out);
/* Appends the part's value as in the key, for any text that format_read_part accepts; any other
 * text as it is. */
void format_write_part(const struct format_piece *piece, struct span value, struct buf *out);

/* Copies FROM, with everything that it points to, into ARENA. False if memory ran out. */
bool format_copy(struct arena *arena, const struct format *from, struct format *out);

/* Appends the format in its own notation. */
void format_write(const struct format *format, struct buf *out);

bool format_is_literal(const struct format *format);
/* The text of a literal format. */
struct span format_literal(const struct format *format);
/* The parameter that is the whole format; else NULL. */
const char *format_whole_param(const struct format *format);
bool format_has(const struct format *format, const char *param);
size_t format_literal_bytes(const struct format *format);
bool format_equal(const struct format *a, const struct format *b);
/* Whether A and B describe the same keys; their parts may have different names. */
bool format_alike(const struct format *a, const struct format *b);
/* Whether FORMAT begins with PREFIX. */
bool format_starts(const struct format *format, const struct format *prefix);

/* Appends the text with the value of each parameter, in the key's spelling. False at the first
 * parameter without a value, with the text before it appended: a known prefix. */
bool format_expand(const struct format *format, const struct bindings *bindings, struct buf *out);

/* Parses TEXT: the value of each parameter, a piece of TEXT, is added to CAPTURES. A parameter
 * extends to the first occurrence of the literal behind it; the last one to the end, or to the
 * final literal. No value is empty. False, with CAPTURES as before, if TEXT does not match or there
 * is no room. */
bool format_match(const struct format *format, struct span text, struct bindings *captures);

/* As format_match, for a key: values may be empty; a part contains no SEPARATOR unless it is open;
 * it has the format's spelling, and the value of {x:05} is the number without leading zeros.
 * Numbers and binaries have no separators. */
bool format_match_key(const struct format *format, struct span text, char separator,
                      struct bindings *captures);

/* Whether some text could match both; true in doubt. */
bool format_overlaps(const struct format *a, const struct format *b);
/* The same for names of items: a part that is not open contains no SEPARATOR, which is not empty.
 */
bool format_overlaps_within(const struct format *a, const struct format *b, struct span separator);

/* Fills ERR, ERROR_INVALID: TEXT is no value of the part SPELLING. Returns false. */
bool format_refuse_part(const struct format_piece *spelling, struct span text, struct error *err);

/* Whether FORMAT's spellings accept the values of PATH. False with ERR filled. */
bool format_check_parts(const struct format *format, const struct bindings *path,
                        struct error *err);

#endif
