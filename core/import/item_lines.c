#include "core/import/item_lines.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/base/ascii.h"
#include "core/json/json.h"

/* Bytes of a member's name that has a meaning, and of the beginning that shows a file's form. */
enum { NAME_MOST = 64, FORM_MOST = 256 };

#define CUT_OFF "the text ends too early; the file is cut off; copy it again"

void item_lines_init(struct item_lines *lines, struct input *input, enum item_lines_form form)
{
    *lines = (struct item_lines){.input = input, .next_line = 1, .form = form, .stated_count = -1};
}

void item_lines_clean_up(struct item_lines *lines)
{
    buf_clean_up(&lines->bytes);
}

bool item_lines_fail(const struct item_lines *lines, struct error *err, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;
    if (!err)
        return false;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): version 14 does not see va_start */
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return error_set(err, ERROR_INVALID, "%s: line %llu: %s", lines->input->name,
                     (unsigned long long)lines->line, text);
}

bool item_lines_parse(const struct item_lines *lines, struct span text, struct json_doc *doc,
                      struct error *err)
{
    char name[sizeof err->text];
    snprintf(name, sizeof name, "%s: line %llu:", lines->input->name,
             (unsigned long long)lines->line);
    return input_parse(name, text, doc, err);
}

static bool item_lines_fail_here(struct item_lines *lines, struct error *err, const char *text)
{
    lines->line = lines->next_line;
    return item_lines_fail(lines, err, "%s", text);
}

/* Bytes that are read, but not used. */
static struct span item_lines_rest(const struct item_lines *lines)
{
    return span_from(buf_span(&lines->bytes), lines->at);
}

/* Reads further bytes. Spans of earlier ones are not valid afterwards. */
static bool item_lines_fill(struct item_lines *lines, struct error *err)
{
    struct buf *bytes = &lines->bytes;
    size_t left = bytes->size - lines->at;
    if (left > ITEM_LINES_MOST)
        return item_lines_fail_here(lines, err,
                                    "a value is longer than 16 MB, which no item is; check whether "
                                    "each line is one item, or the file the output of aws dynamodb "
                                    "scan");
    if (left > 0 && lines->at > 0)
        memmove(bytes->data, bytes->data + lines->at, left);
    buf_truncate(bytes, left);
    lines->at = 0;
    if (!input_read(lines->input, bytes, err))
        return false;
    if (lines->next_line == 1 && span_starts(buf_span(bytes), SPAN_LITERAL("SQLite format 3")))
        return error_set(err, ERROR_INVALID,
                         "%s is a snapshot or another SQLite database, and no source; name an "
                         "export or files of items; to read it: --snapshot %s",
                         lines->input->name, lines->input->name);
    lines->has_ended = bytes->size == left;
    return true;
}

/* Moves behind SIZE bytes. */
static void item_lines_use(struct item_lines *lines, size_t size)
{
    if (size == 0) /* there may be no bytes at all */
        return;
    struct span used = span_of(lines->bytes.data + lines->at, size);
    for (const char *end; used.size > 0 && (end = memchr(used.data, '\n', used.size));
         used = span_from(used, (size_t)(end - used.data) + 1))
        lines->next_line++;
    lines->at += size;
}

static bool item_lines_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

enum { AT_END = -1 };

/* The next byte that is no blank, which is not used, or AT_END. */
static bool item_lines_peek(struct item_lines *lines, int *out, struct error *err)
{
    for (;;) {
        struct span rest = item_lines_rest(lines);
        size_t blanks = 0;
        while (blanks < rest.size && item_lines_is_blank(rest.data[blanks]))
            blanks++;
        item_lines_use(lines, blanks);
        *out = blanks < rest.size ? (unsigned char)rest.data[blanks] : AT_END;
        if (*out != AT_END || lines->has_ended)
            return true;
        if (!item_lines_fill(lines, err))
            return false;
    }
}

/* The size of the JSON value at the start of TEXT; 0: it does not end in TEXT. The value is not
 * checked: brackets and strings are counted. */
static size_t item_lines_measure(struct span text, bool is_all)
{
    size_t depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (in_string) {
            i += c == '\\';
            in_string = c != '"';
            if (!in_string && depth == 0)
                return i + 1;
        } else if (c == '"') {
            in_string = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && depth > 0) {
            if (--depth == 0)
                return i + 1;
        } else if (depth == 0 &&
                   (c == ',' || c == ':' || c == '}' || c == ']' || item_lines_is_blank(c))) {
            return i; /* behind a number or a word; 0 before any */
        }
    }
    return is_all && !in_string && depth == 0 ? text.size : 0;
}

/* The value at the next byte that is no blank. It is used, and valid until further bytes are read.
 */
static bool item_lines_take(struct item_lines *lines, struct span *out, struct error *err)
{
    int first;
    if (!item_lines_peek(lines, &first, err))
        return false;
    lines->line = lines->next_line;
    for (;;) {
        struct span rest = item_lines_rest(lines);
        bool is_mark = first == ',' || first == ':' || first == '}' || first == ']';
        size_t size = is_mark ? 0 : item_lines_measure(rest, lines->has_ended);
        if (size > 0) {
            *out = span_of(rest.data, size);
            item_lines_use(lines, size);
            return true;
        }
        if (is_mark)
            return item_lines_fail(lines, err, "is no JSON: a value is missing before %c",
                                   (char)first);
        if (lines->has_ended)
            return item_lines_fail(lines, err, CUT_OFF);
        if (!item_lines_fill(lines, err))
            return false;
    }
}

/* Uses the byte WANTED, which comes next. */
static bool item_lines_pass(struct item_lines *lines, char wanted, struct error *err)
{
    int c;
    if (!item_lines_peek(lines, &c, err))
        return false;
    lines->line = lines->next_line;
    if (c == AT_END)
        return item_lines_fail(lines, err, CUT_OFF);
    if (c != wanted)
        return item_lines_fail(lines, err, "is no JSON: %c expected", wanted);
    item_lines_use(lines, 1);
    return true;
}

/* Lines. */

static bool item_lines_next_row(struct item_lines *lines, struct span *out, struct error *err)
{
    int first;
    if (!item_lines_peek(lines, &first, err))
        return false;
    lines->line = lines->next_line;
    *out = span_text("");
    if (first == AT_END)
        return true;
    for (;;) {
        struct span rest = item_lines_rest(lines);
        const char *end = memchr(rest.data, '\n', rest.size);
        if (end || lines->has_ended) {
            *out = span_of(rest.data, end ? (size_t)(end - rest.data) : rest.size);
            lines->at += out->size + (end != NULL);
            lines->next_line += end != NULL;
            lines->count++;
            return true;
        }
        if (!item_lines_fill(lines, err))
            return false;
    }
}

/* One document. */

static bool item_lines_fail_part(struct item_lines *lines, const char *member, struct error *err)
{
    return item_lines_fail(lines, err,
                           "the output is not complete: it has a %s, so further items were not "
                           "read; run the command again without --max-items and --no-paginate",
                           member);
}

static bool item_lines_check_member(struct item_lines *lines, const struct buf *name,
                                    struct span value, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    if (!item_lines_parse(lines, value, &doc, err))
        return false;
    struct json root = json_root(&doc);
    bool resumes = span_is(buf_span(name), "LastEvaluatedKey") ||
                   span_is(buf_span(name), "NextToken") || span_is(buf_span(name), "nextToken");
    if (resumes && !json_is(root, JSON_NULL))
        return item_lines_fail_part(lines, buf_text(name), err);
    if (span_is(buf_span(name), "Count") && !json_read_int(root, &lines->stated_count))
        return item_lines_fail(lines, err, "Count is no number");
    return true;
}

/* Reads a name, and its value unless that is the array "Items". */
static bool item_lines_pass_member(struct item_lines *lines, struct error *err)
{
    CLEAN_UP(json_clean_up) struct json_doc doc = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct span text;
    int first;
    if (!item_lines_take(lines, &text, err))
        return false;
    if (!item_lines_parse(lines, text, &doc, err))
        return false;
    if (!json_read_string(json_root(&doc), &name) || name.size > NAME_MOST)
        return item_lines_fail(lines, err, "is no JSON: a name in quotes expected");
    if (!item_lines_pass(lines, ':', err) || !item_lines_peek(lines, &first, err))
        return false;
    if (!span_is(buf_span(&name), "Items") || first != '[')
        return item_lines_take(lines, &text, err) &&
               item_lines_check_member(lines, &name, text, err);
    if (lines->has_items)
        return item_lines_fail_here(lines, err, "has Items twice");
    lines->has_items = lines->in_items = true;
    lines->has_member = false;
    item_lines_use(lines, 1);
    return true;
}

/* Behind the closing bracket of all. */
static bool item_lines_end(struct item_lines *lines, struct error *err)
{
    int next;
    lines->form = ITEM_LINES_OVER;
    if (!item_lines_peek(lines, &next, err))
        return false;
    if (next != AT_END)
        return item_lines_fail_here(lines, err, "more text is behind the value");
    if (!lines->has_items)
        return item_lines_fail_here(lines, err,
                                    "the document has no Items; it must be the output of aws "
                                    "dynamodb scan or query, and not of --select COUNT");
    if (lines->stated_count >= 0 && (uint64_t)lines->stated_count != lines->count)
        return item_lines_fail(lines, err, "Count is %lld, but there are %llu Items",
                               (long long)lines->stated_count, (unsigned long long)lines->count);
    return true;
}

/* Whether the container that CLOSER ends, ends here. The comma between its parts is used. */
static bool item_lines_close(struct item_lines *lines, char closer, bool *out, struct error *err)
{
    int next;
    if (!item_lines_peek(lines, &next, err))
        return false;
    *out = next == closer;
    if (*out)
        item_lines_use(lines, 1);
    else if (lines->has_member && !item_lines_pass(lines, ',', err))
        return false;
    lines->has_member = true;
    return true;
}

static bool item_lines_next_element(struct item_lines *lines, struct span *out, struct error *err)
{
    bool closed;
    *out = span_text("");
    while (lines->form != ITEM_LINES_OVER) {
        if (!item_lines_close(lines, lines->in_items ? ']' : '}', &closed, err))
            return false;
        if (lines->in_items && !closed) {
            lines->count++;
            return item_lines_take(lines, out, err);
        }
        bool ok = !closed ? item_lines_pass_member(lines, err)
                  : !lines->in_items || lines->form == ITEM_LINES_ARRAY ? item_lines_end(lines, err)
                                                                        : true;
        if (!ok)
            return false;
        if (closed)
            lines->in_items = false;
    }
    return true;
}

/* The first member of a document has a number, null or an array, where a line has an object. Its
 * name is short. */
static bool item_lines_is_document(struct span text)
{
    size_t at = 1;
    text.size = text.size < FORM_MOST ? text.size : FORM_MOST;
    while (at < text.size && item_lines_is_blank(text.data[at]))
        at++;
    size_t name = item_lines_measure(span_from(text, at), false);
    if (name == 0 || text.data[at] != '"')
        return false;
    at += name;
    while (at < text.size && (item_lines_is_blank(text.data[at]) || text.data[at] == ':'))
        at++;
    return at < text.size &&
           (text.data[at] == '[' || text.data[at] == 'n' || ascii_is_digit(text.data[at]));
}

/* Reads until SIZE bytes are there, or the end. */
static bool item_lines_fill_to(struct item_lines *lines, size_t size, struct error *err)
{
    while (item_lines_rest(lines).size < size && !lines->has_ended)
        if (!item_lines_fill(lines, err))
            return false;
    return true;
}

static bool item_lines_find_form(struct item_lines *lines, struct error *err)
{
    int first;
    if (!item_lines_fill_to(lines, FORM_MOST, err))
        return false;
    if (span_starts(item_lines_rest(lines), SPAN_LITERAL("\xef\xbb\xbf")))
        item_lines_use(lines, 3);
    if (!item_lines_peek(lines, &first, err) || !item_lines_fill_to(lines, FORM_MOST, err))
        return false;
    lines->form = ITEM_LINES_ROWS;
    if (first == '[') {
        lines->form = ITEM_LINES_ARRAY;
        lines->in_items = lines->has_items = true;
        item_lines_use(lines, 1);
    } else if (first == '{' && item_lines_is_document(item_lines_rest(lines))) {
        lines->form = ITEM_LINES_DOCUMENT;
        item_lines_use(lines, 1);
    }
    return true;
}

bool item_lines_next(struct item_lines *lines, struct span *out, struct error *err)
{
    if (lines->form == ITEM_LINES_UNKNOWN && !item_lines_find_form(lines, err))
        return false;
    return lines->form == ITEM_LINES_ROWS ? item_lines_next_row(lines, out, err)
                                          : item_lines_next_element(lines, out, err);
}
