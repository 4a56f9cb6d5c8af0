/* The parser: text to tape, in one pass and without recursion. */
#include "core/json/json.h"

#include <stdlib.h>

#include "core/base/utf8.h"
#include "core/json/tape.h"
#include "core/json/text.h"

enum { MAX_DEPTH = 512 };

/* A container that is not closed yet. The outermost frame is the document. */
struct frame {
    uint32_t container;
    uint32_t last;     /* its newest child; 0 before there is one */
    uint32_t children; /* in an object, names and values */
    char closer;
};

struct json_parser {
    const char *at;
    const char *end;
    struct json_doc *doc;
    struct json_fault *fault;
    unsigned flags;
    uint32_t most; /* tokens */
    uint32_t depth;
    struct frame frames[MAX_DEPTH + 1];
};

static bool parse_fail(struct json_parser *parser, const char *at, const char *what)
{
    *parser->fault = (struct json_fault){(size_t)(at - parser->doc->text), what};
    return false;
}

static bool parse_no_memory(struct json_parser *parser)
{
    return parse_fail(parser, parser->at, "out of memory");
}

/* Gives the tape room for CAPACITY tokens, more or fewer than now. */
static bool parse_resize(struct json_doc *doc, size_t capacity)
{
    if (capacity > UINT32_MAX)
        capacity = UINT32_MAX;
    void *tokens = realloc(doc->tokens, capacity * sizeof *doc->tokens);
    if (!tokens)
        return false;
    doc->tokens = tokens;
    doc->capacity = (uint32_t)capacity;
    return true;
}

/* Appends the token of the text from AT to END and links it to its elder sibling. */
static bool parse_add_token(struct json_parser *parser, const char *at, const char *end,
                            bool escaped)
{
    struct json_doc *doc = parser->doc;
    struct frame *frame = &parser->frames[parser->depth];
    if (doc->count == parser->most)
        return parse_fail(parser, at, JSON_TOO_MANY);
    if (doc->count == doc->capacity && !parse_resize(doc, (size_t)doc->capacity * 2))
        return parse_no_memory(parser);
    uint32_t index = doc->count++;
    doc->tokens[index] = (struct json_token){
        .offset = (uint32_t)(at - doc->text), .size = (uint32_t)(end - at), .count = escaped};
    if (frame->last)
        doc->tokens[frame->last].next = index;
    frame->last = index;
    frame->children++;
    return true;
}

static bool parse_skip_line_comment(struct json_parser *parser)
{
    const char *newline = memchr(parser->at, '\n', (size_t)(parser->end - parser->at));
    parser->at = newline ? newline : parser->end;
    return true;
}

static bool parse_skip_block_comment(struct json_parser *parser)
{
    const char *start = parser->at;
    const char *close = memmem(start + 2, (size_t)(parser->end - start - 2), "*/", 2);
    if (!close)
        return parse_fail(parser, start, "a comment without an end");
    parser->at = close + 2;
    return true;
}

static bool parse_skip_comment(struct json_parser *parser)
{
    char second = parser->end - parser->at > 1 ? parser->at[1] : '\0';
    if ((parser->flags & JSON_COMMENTS) && second == '/')
        return parse_skip_line_comment(parser);
    if ((parser->flags & JSON_COMMENTS) && second == '*')
        return parse_skip_block_comment(parser);
    return parse_fail(parser, parser->at, "a / outside of a string");
}

static bool parse_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Skips blanks and comments, up to the end at most. */
static bool parse_skip_space(struct json_parser *parser)
{
    for (;;) {
        while (parser->at < parser->end && parse_is_space(*parser->at))
            parser->at++;
        if (parser->at == parser->end || *parser->at != '/')
            return true;
        if (!parse_skip_comment(parser))
            return false;
    }
}

/* The same, where the text must not end. */
static bool parse_skip_to_more(struct json_parser *parser)
{
    char c = parser->at < parser->end ? *parser->at : ' ';
    if (c > ' ' && c != '/')
        return true;
    if (!parse_skip_space(parser))
        return false;
    return parser->at < parser->end || parse_fail(parser, parser->end, "the text ends too early");
}

/* Skips the escape or the UTF-8 sequence at *AT. */
static bool parse_pass_special(struct json_parser *parser, const char **at)
{
    unsigned char c = (unsigned char)**at;
    if (c < 0x20)
        return parse_fail(parser, *at, "a control character in a string");
    struct span rest = span_of(*at, (size_t)(parser->end - *at));
    size_t size = c == '\\' ? json_text_escape_size(*at, parser->end) : utf8_length(rest);
    if (size == 0)
        return parse_fail(parser, *at,
                          c == '\\' ? "an unknown escape" : "a byte that is not UTF-8");
    *at += size;
    return true;
}

static bool parse_string(struct json_parser *parser)
{
    const char *start = parser->at;
    bool escaped = false;
    for (const char *at = start + 1;;) {
        at = json_text_skip_plain(at, parser->end);
        if (at == parser->end)
            return parse_fail(parser, start, "a string without an end");
        if (*at == '"') {
            parser->at = at + 1;
            return parse_add_token(parser, start, parser->at, escaped);
        }
        escaped |= *at == '\\';
        if (!parse_pass_special(parser, &at))
            return false;
    }
}

static bool parse_is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* The end of the digits at AT; NULL without digits. */
static const char *parse_skip_digits(const char *at, const char *end)
{
    const char *start = at;
    while (parse_is_digit(at, end))
        at++;
    return at > start ? at : NULL;
}

/* The end of the number at AT; NULL without a number. */
static const char *parse_skip_number(const char *at, const char *end)
{
    at += at < end && *at == '-';
    at = at < end && *at == '0' ? at + 1 : parse_skip_digits(at, end);
    if (at && at < end && *at == '.')
        at = parse_skip_digits(at + 1, end);
    if (at && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        at = parse_skip_digits(at, end);
    }
    return at;
}

static bool parse_number(struct json_parser *parser)
{
    const char *start = parser->at;
    const char *end = parse_skip_number(start, parser->end);
    if (!end)
        return parse_fail(parser, start, "a number that is not finished");
    parser->at = end;
    return parse_add_token(parser, start, end, false);
}

static bool parse_word(struct json_parser *parser, struct span word)
{
    const char *start = parser->at;
    if (!span_starts(span_of(start, (size_t)(parser->end - start)), word))
        return parse_fail(parser, start, "an unknown word");
    parser->at += word.size;
    return parse_add_token(parser, start, parser->at, false);
}

static bool parse_open_container(struct json_parser *parser, char closer)
{
    const char *start = parser->at;
    if (parser->depth == MAX_DEPTH)
        return parse_fail(parser, start, "nested deeper than 512 levels");
    if (!parse_add_token(parser, start, start + 1, false))
        return false;
    parser->at++;
    parser->frames[++parser->depth] =
        (struct frame){.container = parser->doc->count - 1, .closer = closer};
    return true;
}

static bool parse_close_container(struct json_parser *parser)
{
    struct frame *frame = &parser->frames[parser->depth--];
    struct json_token *token = &parser->doc->tokens[frame->container];
    parser->at++;
    token->size = (uint32_t)(parser->at - parser->doc->text) - token->offset;
    token->count = frame->closer == '}' ? frame->children / 2 : frame->children;
    return true;
}

/* Parses a scalar, or opens a container. */
static bool parse_value(struct json_parser *parser)
{
    switch (*parser->at) {
    case '"':
        return parse_string(parser);
    case '{':
        return parse_open_container(parser, '}');
    case '[':
        return parse_open_container(parser, ']');
    case 't':
        return parse_word(parser, SPAN_LITERAL("true"));
    case 'f':
        return parse_word(parser, SPAN_LITERAL("false"));
    case 'n':
        return parse_word(parser, SPAN_LITERAL("null"));
    default:
        if (*parser->at == '-' || parse_is_digit(parser->at, parser->end))
            return parse_number(parser);
        return parse_fail(parser, parser->at, "a value expected");
    }
}

static bool parse_name(struct json_parser *parser)
{
    if (*parser->at != '"')
        return parse_fail(parser, parser->at, "a name in quotes expected");
    if (!parse_string(parser) || !parse_skip_to_more(parser))
        return false;
    if (*parser->at != ':')
        return parse_fail(parser, parser->at, "a colon expected");
    parser->at++;
    return parse_skip_to_more(parser);
}

static bool parse_comma(struct json_parser *parser, char closer)
{
    if (*parser->at != ',')
        return parse_fail(parser, parser->at,
                          closer == '}' ? "a comma or } expected" : "a comma or ] expected");
    parser->at++;
    return parse_skip_to_more(parser);
}

/* Parses the next element or member of the innermost container, or its end. */
static bool parse_next(struct json_parser *parser)
{
    const struct frame *frame = &parser->frames[parser->depth];
    if (!parse_skip_to_more(parser))
        return false;
    if (*parser->at == frame->closer)
        return parse_close_container(parser);
    if (frame->last && !parse_comma(parser, frame->closer))
        return false;
    if ((parser->flags & JSON_COMMENTS) && *parser->at == frame->closer)
        return parse_close_container(parser);
    if (frame->closer == '}' && !parse_name(parser))
        return false;
    return parse_value(parser);
}

static bool parse_document(struct json_parser *parser)
{
    if (!parse_skip_to_more(parser) || !parse_value(parser))
        return false;
    while (parser->depth > 0)
        if (!parse_next(parser))
            return false;
    if (!parse_skip_space(parser))
        return false;
    return parser->at == parser->end || parse_fail(parser, parser->at, "more text after the value");
}

/* Typed items have a token for about every seven bytes. */
static bool parse_reserve(struct json_parser *parser)
{
    return parse_resize(parser->doc, parser->doc->size / 7 + 4) || parse_no_memory(parser);
}

/* Shrinks the tape if the estimate was much too large. Otherwise it keeps its size: an allocation
 * of the same size for each page reuses warm memory. A failure to shrink changes nothing. */
static bool parse_shrink(struct json_doc *doc)
{
    if (doc->capacity - doc->count > doc->capacity / 8)
        (void)parse_resize(doc, doc->count);
    return true;
}

static bool parse(struct json_doc *doc, struct span text, unsigned flags, uint32_t most,
                  struct json_fault *fault)
{
    struct json_fault unwanted;
    *doc = (struct json_doc){.text = text.data ? text.data : "", .size = text.size};
    struct json_parser parser;
    parser.at = doc->text;
    parser.end = doc->text + doc->size;
    parser.doc = doc;
    parser.fault = fault ? fault : &unwanted;
    parser.flags = flags;
    parser.most = most;
    parser.depth = 0;
    parser.frames[0] = (struct frame){0};
    if (doc->size > UINT32_MAX)
        return parse_fail(&parser, parser.at, "longer than 4 GB");
    return parse_reserve(&parser) && parse_document(&parser) && parse_shrink(doc);
}

bool json_is_number(struct span text)
{
    if (text.size == 0)
        return false;
    const char *end = text.data + text.size;
    return parse_skip_number(text.data, end) == end;
}

bool json_parse(struct json_doc *doc, struct span text, unsigned flags, struct json_fault *fault)
{
    return parse(doc, text, flags, UINT32_MAX, fault);
}

bool json_parse_within(struct json_doc *doc, struct span text, uint32_t most,
                       struct json_fault *fault)
{
    return parse(doc, text, JSON_STRICT, most, fault);
}
