#include "core/map/format.h"

#include <stdint.h>
#include <stdlib.h>

const struct span *bindings_find(const struct bindings *bindings, const char *param)
{
    for (size_t i = 0; i < bindings->count; i++)
        if (strcmp(bindings->items[i].param, param) == 0)
            return &bindings->items[i].value;
    return NULL;
}

bool bindings_add(struct bindings *bindings, const char *param, struct span value)
{
    if (bindings->count == BINDINGS_MAX)
        return false;
    bindings->items[bindings->count++] = (struct binding){.param = param, .value = value};
    return true;
}

bool bindings_agree(const struct bindings *a, const struct bindings *b)
{
    for (size_t i = 0; i < a->count; i++) {
        const struct binding *one = &a->items[i];
        for (size_t k = 0; k < b->count; k++) {
            const struct binding *other = &b->items[k];
            if (strcmp(one->param, other->param) != 0)
                continue;
            bool number = one->type == VALUE_N || other->type == VALUE_N;
            if (number ? number_compare(one->value, other->value) != 0
                       : !span_equal(one->value, other->value))
                return false;
        }
    }
    return true;
}

static bool format_is_param_name(struct span name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i > 0 && c >= '0' && c <= '9') && !(i > 0 && c == '-'))
            return false;
    }
    return name.size > 0;
}

static const char *const letters_words[] = {
    [FORMAT_ANY_CASE] = "", [FORMAT_LOWER] = "lower", [FORMAT_UPPER] = "upper"};

/* Parses the spelling behind a part's colon: a case, or a 0 and a number of digits. */
static const char *format_parse_spelling(struct span text, struct format_piece *piece)
{
    for (enum format_case c = FORMAT_LOWER; c <= FORMAT_UPPER; c++) {
        if (span_is(text, letters_words[c])) {
            piece->letters = c;
            return NULL;
        }
    }
    bool digits = text.size >= 2 && text.size <= 3 && text.data[0] == '0' && text.data[1] != '0';
    for (size_t i = 1; digits && i < text.size; i++) {
        digits = text.data[i] >= '0' && text.data[i] <= '9';
        piece->pad = piece->pad * 10 + (unsigned)(text.data[i] - '0');
    }
    if (!digits || piece->pad > FORMAT_MAX_PAD)
        return "a part's colon is followed by lower, upper, or a 0 and a number of digits up to 38 "
               "({score:05})";
    if (piece->open)
        return "a number with leading zeros contains no separator: remove the *";
    return NULL;
}

/* Reads the parameter at the start of TEXT; USED gets its length, braces included. */
static const char *format_parse_param(struct arena *arena, struct span text, bool key,
                                      struct format_piece *piece, size_t *used)
{
    const char *end = memchr(text.data, '}', text.size);
    if (!end)
        return "a { without its }";
    *used = (size_t)(end - text.data) + 1;
    struct span name = span_of(text.data + 1, *used - 2), spelling = {0};
    const char *colon = memchr(name.data, ':', name.size);
    if (colon && !key)
        return "a part has a spelling ({x:lower}, {x:05}) only in \"records\" and \"indexes\"";
    if (colon) {
        spelling = span_from(name, (size_t)(colon - name.data) + 1);
        name.size -= spelling.size + 1;
    }
    piece->open = span_ends(name, SPAN_LITERAL("*"));
    if (piece->open)
        name.size--;
    if (!format_is_param_name(name))
        return "a parameter's name is letters, digits, _ and -";
    piece->param = arena_text(arena, name);
    return colon ? format_parse_spelling(spelling, piece) : NULL;
}

static const char *format_parse_literal(struct arena *arena, struct span text,
                                        struct format_piece *piece, size_t *used)
{
    const char *end = memchr(text.data, '{', text.size);
    *used = end ? (size_t)(end - text.data) : text.size;
    if (memchr(text.data, '}', *used))
        return "a } without its {";
    piece->literal = arena_copy(arena, span_of(text.data, *used));
    return NULL;
}

static const char *format_parse_pieces(struct arena *arena, struct span text, bool key,
                                       struct format *out)
{
    *out = (struct format){.pieces = arena_array(arena, FORMAT_MAX_PIECES, sizeof *out->pieces)};
    while (text.size > 0 && !arena->failed) {
        if (out->count == FORMAT_MAX_PIECES)
            return "too many parameters";
        struct format_piece *piece = &out->pieces[out->count];
        size_t used = 0;
        bool param = text.data[0] == '{';
        if (param && out->count > 0 && piece[-1].param)
            return "two parameters need a text between them";
        const char *wrong = param ? format_parse_param(arena, text, key, piece, &used)
                                  : format_parse_literal(arena, text, piece, &used);
        if (wrong)
            return wrong;
        out->count++;
        text = span_from(text, used);
    }
    return arena->failed ? "out of memory" : NULL;
}

const char *format_parse(struct arena *arena, struct span text, struct format *out)
{
    return format_parse_pieces(arena, text, false, out);
}

const char *format_parse_key(struct arena *arena, struct span text, struct format *out)
{
    return format_parse_pieces(arena, text, true, out);
}

bool format_copy(struct arena *arena, const struct format *from, struct format *out)
{
    *out = (struct format){.pieces = arena_array(arena, from->count, sizeof *out->pieces)};
    for (size_t i = 0; out->pieces && i < from->count; i++) {
        const struct format_piece *piece = &from->pieces[i];
        out->pieces[out->count++] = (struct format_piece){
            .literal = piece->param ? piece->literal : arena_copy(arena, piece->literal),
            .param = piece->param ? arena_text(arena, span_text(piece->param)) : NULL,
            .open = piece->open,
            .type = piece->type,
            .letters = piece->letters,
            .pad = piece->pad,
        };
    }
    return !arena->failed;
}

void format_write(const struct format *format, struct buf *out)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        if (!piece->param) {
            buf_add_span(out, piece->literal);
            continue;
        }
        buf_printf(out, "{%s%s%s%s", piece->param, piece->open ? "*" : "",
                   piece->letters ? ":" : "", letters_words[piece->letters]);
        if (piece->pad)
            buf_printf(out, ":0%u", piece->pad);
        buf_add_char(out, '}');
    }
}

bool format_is_literal(const struct format *format)
{
    return format->count == 0 || (format->count == 1 && !format->pieces[0].param);
}

bool format_has(const struct format *format, const char *param)
{
    for (size_t i = 0; i < format->count; i++)
        if (format->pieces[i].param && strcmp(format->pieces[i].param, param) == 0)
            return true;
    return false;
}

struct span format_literal(const struct format *format)
{
    return format->count ? format->pieces[0].literal : span_of("", 0);
}

const char *format_whole_param(const struct format *format)
{
    return format->count == 1 ? format->pieces[0].param : NULL;
}

size_t format_literal_bytes(const struct format *format)
{
    size_t bytes = 0;
    for (size_t i = 0; i < format->count; i++)
        bytes += format->pieces[i].literal.size;
    return bytes;
}

static bool format_piece_equal(const struct format_piece *a, const struct format_piece *b)
{
    if (!a->param || !b->param)
        return !a->param && !b->param && span_equal(a->literal, b->literal);
    return strcmp(a->param, b->param) == 0;
}

bool format_equal(const struct format *a, const struct format *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!format_piece_equal(&a->pieces[i], &b->pieces[i]))
            return false;
    return true;
}

bool format_alike(const struct format *a, const struct format *b)
{
    bool alike = a->count == b->count;
    for (size_t i = 0; alike && i < a->count; i++) {
        const struct format_piece *one = &a->pieces[i], *other = &b->pieces[i];
        alike = !one->param == !other->param && span_equal(one->literal, other->literal) &&
                one->open == other->open && one->letters == other->letters &&
                one->pad == other->pad;
    }
    return alike;
}

bool format_starts(const struct format *format, const struct format *prefix)
{
    if (prefix->count > format->count)
        return false;
    for (size_t i = 0; i < prefix->count; i++) {
        const struct format_piece *piece = &format->pieces[i], *wanted = &prefix->pieces[i];
        bool last = i + 1 == prefix->count;
        if (!format_piece_equal(piece, wanted) && (!last || piece->param || wanted->param ||
                                                   !span_starts(piece->literal, wanted->literal)))
            return false;
    }
    return true;
}

bool format_is_spelled(const struct format_piece *piece)
{
    return piece->letters != FORMAT_ANY_CASE || piece->pad > 0;
}

static bool format_all_digits(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
    return text.size > 0;
}

static struct span format_without_zeros(struct span digits)
{
    while (digits.size > 1 && digits.data[0] == '0')
        digits = span_from(digits, 1);
    return digits;
}

/* ASCII letters only: the case of others depends on the language. */
static char format_in_case(enum format_case letters, char c)
{
    if (letters == FORMAT_LOWER && c >= 'A' && c <= 'Z')
        return (char)(c + ('a' - 'A'));
    if (letters == FORMAT_UPPER && c >= 'a' && c <= 'z')
        return (char)(c - ('a' - 'A'));
    return c;
}

static bool format_is_in_case(enum format_case letters, struct span text)
{
    for (size_t i = 0; letters != FORMAT_ANY_CASE && i < text.size; i++)
        if (format_in_case(letters, text.data[i]) != text.data[i])
            return false;
    return true;
}

bool format_read_part(const struct format_piece *piece, struct span text, struct buf *out)
{
    if (piece->pad > 0) {
        bool as_in_key = text.size == piece->pad;
        bool plain = text.size < piece->pad && format_without_zeros(text).size == text.size;
        if (!format_all_digits(text) || (!as_in_key && !plain))
            return false;
        text = format_without_zeros(text);
    }
    for (size_t i = 0; i < text.size; i++)
        buf_add_char(out, format_in_case(piece->letters, text.data[i]));
    return true;
}

void format_write_part(const struct format_piece *piece, struct span value, struct buf *out)
{
    size_t before = out->size;
    CLEAN_UP(buf_clean_up) struct buf plain = {0};
    if (!format_read_part(piece, value, &plain)) {
        buf_add_span(out, value);
        return;
    }
    while (out->size - before + plain.size < piece->pad && !out->failed)
        buf_add_char(out, '0');
    buf_add_span(out, buf_span(&plain));
    out->failed = out->failed || plain.failed;
}

bool format_expand(const struct format *format, const struct bindings *bindings, struct buf *out)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct span *value = piece->param ? bindings_find(bindings, piece->param) : NULL;
        if (piece->param && !value)
            return false;
        if (value && format_is_spelled(piece))
            format_write_part(piece, *value, out);
        else
            buf_add_span(out, value ? *value : piece->literal);
    }
    return true;
}

/* How far the parameter at I reaches into TEXT, or SIZE_MAX when it does not fit. */
static size_t format_param_reach(const struct format *format, size_t i, struct span text)
{
    if (i + 1 == format->count)
        return text.size;
    struct span next = format->pieces[i + 1].literal;
    if (i + 2 == format->count)
        return span_ends(text, next) ? text.size - next.size : SIZE_MAX;
    const char *at = text.size > 0 ? memmem(text.data, text.size, next.data, next.size) : NULL;
    return at ? (size_t)(at - text.data) : SIZE_MAX;
}

static bool format_match_pieces(const struct format *format, struct span text, bool key,
                                struct bindings *captures)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        size_t used = piece->literal.size;
        if (piece->param) {
            bool padded = key && piece->pad > 0;
            used = !padded                  ? format_param_reach(format, i, text)
                   : text.size < piece->pad ? SIZE_MAX
                                            : piece->pad;
            if (used == SIZE_MAX)
                return false;
            struct span value = span_of(text.data, used);
            if (key && (!format_is_in_case(piece->letters, value) ||
                        (padded && !format_all_digits(value))))
                return false;
            if (!bindings_add(captures, piece->param, padded ? format_without_zeros(value) : value))
                return false;
            captures->items[captures->count - 1].type = piece->type;
        } else if (!span_starts(text, piece->literal)) {
            return false;
        }
        text = span_from(text, used);
    }
    return text.size == 0;
}

bool format_match(const struct format *format, struct span text, struct bindings *captures)
{
    size_t before = captures->count;
    bool matches = format_match_pieces(format, text, false, captures);
    for (size_t i = before; matches && i < captures->count; i++)
        matches = captures->items[i].value.size > 0;
    if (matches)
        return true;
    captures->count = before;
    return false;
}

static const struct format_piece *format_piece_of(const struct format *format, const char *param)
{
    for (size_t i = 0; i < format->count; i++)
        if (format->pieces[i].param == param)
            return &format->pieces[i];
    return NULL;
}

static bool format_holds_no_separator(const struct format *format, char separator,
                                      const struct bindings *captures, size_t from)
{
    for (size_t i = from; i < captures->count; i++) {
        const struct binding *part = &captures->items[i];
        if (!format_piece_of(format, part->param)->open && part->type == VALUE_S &&
            memchr(part->value.data, separator, part->value.size))
            return false;
    }
    return true;
}

bool format_match_key(const struct format *format, struct span text, char separator,
                      struct bindings *captures)
{
    size_t before = captures->count;
    if (format_match_pieces(format, text, true, captures) &&
        format_holds_no_separator(format, separator, captures, before))
        return true;
    captures->count = before;
    return false;
}

static struct span format_last_literal(const struct format *format)
{
    return format->count ? format->pieces[format->count - 1].literal : span_of("", 0);
}

bool format_overlaps(const struct format *a, const struct format *b)
{
    struct bindings captures = {0};
    if (format_is_literal(a))
        return format_match(b, format_literal(a), &captures);
    if (format_is_literal(b))
        return format_match(a, format_literal(b), &captures);
    struct span a_first = format_literal(a), b_first = format_literal(b);
    struct span a_last = format_last_literal(a), b_last = format_last_literal(b);
    return (span_starts(a_first, b_first) || span_starts(b_first, a_first)) &&
           (span_ends(a_last, b_last) || span_ends(b_last, a_last));
}

/* A place in a format while two are compared: how much of a literal has been compared. */
struct format_cursor {
    const struct format *format;
    size_t piece, offset;
};

/* The literal text at AT; empty at a part and at the end. */
static struct span format_cursor_text(const struct format_cursor *at)
{
    if (at->piece == at->format->count)
        return span_of("", 0);
    return span_from(at->format->pieces[at->piece].literal, at->offset);
}

static const struct format_piece *format_cursor_part(const struct format_cursor *at)
{
    bool part = at->piece < at->format->count && at->format->pieces[at->piece].param;
    return part ? &at->format->pieces[at->piece] : NULL;
}

static void format_cursor_skip(struct format_cursor *at, size_t bytes)
{
    at->offset += bytes;
    if (at->offset == at->format->pieces[at->piece].literal.size)
        *at = (struct format_cursor){at->format, at->piece + 1, 0};
}

/* Moves behind the next part, or behind the literal text in its place; FILLED is set if that is not
 * empty. False if that text might not end at SEPARATOR or at the end. */
static bool format_cursor_skip_part(struct format_cursor *at, struct span separator, bool *filled)
{
    const struct format_piece *part = format_cursor_part(at);
    struct span text = format_cursor_text(at);
    const char *end =
        text.size ? memmem(text.data, text.size, separator.data, separator.size) : NULL;
    size_t size = end ? (size_t)(end - text.data) : text.size;
    *filled = part || size > 0;
    if (part && (part->open || part->type != VALUE_S))
        return false;
    if (part)
        at->piece++;
    else if (size > 0)
        format_cursor_skip(at, size);
    return at->piece == at->format->count || span_starts(format_cursor_text(at), separator);
}

bool format_overlaps_within(const struct format *a, const struct format *b, struct span separator)
{
    struct format_cursor left = {a, 0, 0}, right = {b, 0, 0};
    while (left.piece < a->count && right.piece < b->count) {
        struct span one = format_cursor_text(&left), other = format_cursor_text(&right);
        size_t size = one.size < other.size ? one.size : other.size;
        bool filled, other_filled;
        if (span_compare(span_of(one.data, size), span_of(other.data, size)) != 0)
            return false;
        if (size > 0) {
            format_cursor_skip(&left, size);
            format_cursor_skip(&right, size);
        } else if (!format_cursor_skip_part(&left, separator, &filled) ||
                   !format_cursor_skip_part(&right, separator, &other_filled)) {
            return true;
        } else if (!filled || !other_filled) {
            return false;
        }
    }
    return left.piece == a->count && right.piece == b->count;
}

bool format_refuse_part(const struct format_piece *spelling, struct span text, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "{%s} can't be \"%.*s\": the key has a number of %u digits; type all of them, "
                     "or none of the leading zeros",
                     spelling->param, text.size > 60 ? 60 : (int)text.size, text.data,
                     spelling->pad);
}

bool format_check_parts(const struct format *format, const struct bindings *path, struct error *err)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct span *value =
            piece->param && piece->pad ? bindings_find(path, piece->param) : NULL;
        CLEAN_UP(buf_clean_up) struct buf plain = {0};
        if (value && !format_read_part(piece, *value, &plain))
            return format_refuse_part(piece, *value, err);
    }
    return true;
}
