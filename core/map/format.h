/* A text with parameters: "PLATFORM#{platform}#SHOP#{shop_id}". Key formats, path segments and
 * the names of entries are all written so. */
#ifndef DDBFS_CORE_MAP_FORMAT_H
#define DDBFS_CORE_MAP_FORMAT_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"
#include "core/item/value.h"

enum { FORMAT_MAX_PIECES = 24, BINDINGS_MAX = 24 };

/* In which letters a key holds a part: {email:lower}. */
enum format_case { FORMAT_ANY_CASE, FORMAT_LOWER, FORMAT_UPPER };

/* A number with zeros in front has at most so many digits, as numbers of the service have. */
enum { FORMAT_MAX_PAD = 38 };

/* Literal text, or a parameter. */
struct format_piece {
    struct span literal;      /* empty for a parameter */
    const char *param;        /* NULL for a literal */
    bool open;                /* {name*}: a part that may hold separators */
    enum value_type type;     /* of the key that the part is the whole of; else VALUE_S. In a
                               * step of a path, VALUE_B where it is compared with bytes. */
    enum format_case letters; /* of a key's format alone, as */
    unsigned pad; /* {score:05}: in the key the number has so many digits, with zeros in front; 0
                   * for none */
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
/* False when there is no room. */
bool bindings_add(struct bindings *bindings, const char *param, struct span value);
/* Whether no parameter that stands in both has two values. One number is one value, however it is
 * written. */
bool bindings_agree(const struct bindings *a, const struct bindings *b);

/* Parses TEXT into ARENA. Returns NULL, or a static phrase that says what is wrong. Two
 * parameters with nothing between them are wrong, as no text could be taken apart again. */
const char *format_parse(struct arena *arena, struct span text, struct format *out);
/* The same for a key's format, which says how the key spells its parts: {email:lower}, {score:05}.
 */
const char *format_parse_key(struct arena *arena, struct span text, struct format *out);

/* Whether the key spells the part in a way of its own. */
bool format_is_spelled(const struct format_piece *piece);
/* Appends the part's value that TEXT, as somebody typed it, stands for: "ann" for "Ann" where PIECE
 * is {x:lower}, "42" for "00042" where it is {x:05}; TEXT itself where PIECE says nothing. False
 * (nothing appended) when the key can hold no such value. A number is typed without zeros in front,
 * or with as many as the key has. */
bool format_read_part(const struct format_piece *piece, struct span text, struct buf *out);
/* Appends the part's value as the key holds it, from any text that format_read_part takes; any
 * other text as it is. */
void format_write_part(const struct format_piece *piece, struct span value, struct buf *out);

/* FROM once more, with all it points to in ARENA. False when memory ran out. */
bool format_copy(struct arena *arena, const struct format *from, struct format *out);

/* Appends the format's own notation. */
void format_write(const struct format *format, struct buf *out);

bool format_is_literal(const struct format *format);
/* The text of a format that is literal. */
struct span format_literal(const struct format *format);
/* The parameter that is the whole of a format; NULL when it is something else. */
const char *format_whole_param(const struct format *format);
bool format_has(const struct format *format, const char *param);
size_t format_literal_bytes(const struct format *format);
bool format_equal(const struct format *a, const struct format *b);
/* Whether they write the same keys: they may call their parts otherwise. */
bool format_alike(const struct format *a, const struct format *b);
/* Whether FORMAT begins with all that PREFIX says. */
bool format_starts(const struct format *format, const struct format *prefix);

/* Appends the text with every parameter replaced, as the key spells it; false at the first that has
 * no value, with what stands before it appended: a known prefix. */
bool format_expand(const struct format *format, const struct bindings *bindings, struct buf *out);

/* Takes TEXT apart: what each parameter stands for is a piece of TEXT, added to CAPTURES. A
 * parameter reaches to the first occurrence of the literal after it; the last one to the end,
 * or to the final literal. No piece is empty. False (CAPTURES as before) when TEXT does not
 * fit or there is no room. */
bool format_match(const struct format *format, struct span text, struct bindings *captures);

/* As format_match, for a key: pieces may be empty, a part holds no SEPARATOR unless it is open, and
 * is spelled as the format says; of {x:05} the value is the number without the zeros in front.
 * Numbers and binaries have no separators. */
bool format_match_key(const struct format *format, struct span text, char separator,
                      struct bindings *captures);

/* Whether some text could fit both. Errs on the side of yes. */
bool format_overlaps(const struct format *a, const struct format *b);
/* The same for names of records: a part that is not open holds no SEPARATOR, which is not empty. */
bool format_overlaps_within(const struct format *a, const struct format *b, struct span separator);

/* Fills ERR, ERROR_INVALID: TEXT is no value of the part SPELLING. Returns false. */
bool format_refuse_part(const struct format_piece *spelling, struct span text, struct error *err);

/* Whether FORMAT's spellings accept the values of PATH. False with ERR filled. */
bool format_check_parts(const struct format *format, const struct bindings *path,
                        struct error *err);

#endif
