#include "core/draft/json_layout.h"

#include "core/base/printable.h"
#include "core/json/json.h"

/* COLUMNS: the length of a line. MOST_ALIGNED: neighbours of a longer name are not aligned with it.
 */
enum { COLUMNS = 110, MOST_ALIGNED = 72, STEP = 2 };

struct json_layout *json_layout_add(struct arena *arena, struct json_layout *parent,
                                    const char *name, enum json_layout_kind kind)
{
    struct json_layout *child = arena_alloc(arena, sizeof *child);
    if (!child)
        return NULL;
    *child = (struct json_layout){.kind = kind, .name = name};
    struct json_layout **last = parent ? &parent->children : NULL;
    while (last && *last)
        last = &(*last)->next;
    if (last)
        *last = child;
    return child;
}

void json_layout_add_text(struct arena *arena, struct json_layout *parent, const char *name,
                          struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf quoted = {0};
    struct json_layout *child = json_layout_add(arena, parent, name, JSON_LAYOUT_SCALAR);
    json_write_string(&quoted, text);
    arena->failed = arena->failed || quoted.failed;
    if (child)
        child->json = arena_copy(arena, buf_span(&quoted));
}

void json_layout_add_raw(struct arena *arena, struct json_layout *parent, const char *name,
                         const char *json)
{
    struct json_layout *child = json_layout_add(arena, parent, name, JSON_LAYOUT_SCALAR);
    if (child)
        child->json = arena_copy(arena, span_text(json));
}

/* The number of code points. */
static size_t json_layout_count_columns(struct span text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
    return count;
}

static void json_layout_write_name(const struct json_layout *node, struct buf *out)
{
    if (!node->name)
        return;
    json_write_string(out, span_text(node->name));
    buf_add_char(out, ':');
}

static size_t json_layout_name_columns(const struct json_layout *node)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    json_layout_write_name(node, &name);
    return json_layout_count_columns(buf_span(&name));
}

/* Whether NODE may be on one line, if there is room. */
static bool json_layout_is_plain(const struct json_layout *node)
{
    if (node->open && node->children)
        return false;
    for (const struct json_layout *child = node->children; child; child = child->next)
        if (child->note || !json_layout_is_plain(child))
            return false;
    return true;
}

/* The value on one line. */
static void json_layout_write_flat(const struct json_layout *node, struct buf *out)
{
    if (node->kind == JSON_LAYOUT_SCALAR) {
        buf_add_span(out, node->json);
        return;
    }
    bool object = node->kind == JSON_LAYOUT_OBJECT;
    buf_add_text(out, object ? "{" : "[");
    for (const struct json_layout *child = node->children; child; child = child->next) {
        buf_add_text(out, child != node->children ? ", " : object ? " " : "");
        json_layout_write_name(child, out);
        buf_add_text(out, child->name ? " " : "");
        json_layout_write_flat(child, out);
    }
    buf_add_text(out, object && node->children ? " }" : object ? "}" : "]");
}

/* Whether the member, with a comma, fits on a line that begins at column INDENT, if its value
 * begins VALUE columns behind that. */
static bool json_layout_fits(const struct json_layout *node, size_t indent, size_t value)
{
    CLEAN_UP(buf_clean_up) struct buf flat = {0};
    if (!json_layout_is_plain(node))
        return false;
    json_layout_write_flat(node, &flat);
    return indent + value + json_layout_count_columns(buf_span(&flat)) + 1 <= COLUMNS;
}

/* One line of a note, broken between words. */
static void json_layout_write_note_line(struct span line, size_t indent, struct buf *out)
{
    size_t at = COLUMNS;
    while (line.size > 0 && line.data[line.size - 1] == ' ')
        line.size--;
    if (line.size == 0)
        buf_printf(out, "%*s//\n", (int)indent, "");
    bool first = true;
    while (line.size > 0) {
        size_t blanks = 0, word = 0;
        while (blanks < line.size && line.data[blanks] == ' ')
            blanks++;
        while (blanks + word < line.size && line.data[blanks + word] != ' ')
            word++;
        struct span text = span_of(line.data + blanks, word);
        if (at + blanks + json_layout_count_columns(text) > COLUMNS) {
            buf_printf(out, "%s%*s// ", first ? "" : "\n", (int)indent, "");
            at = indent + 3;
            blanks = first ? blanks : 0; /* blanks at the begin of a note's line stay */
        }
        buf_add_repeated(out, ' ', blanks);
        buf_add_span(out, text);
        at += blanks + json_layout_count_columns(text);
        line = span_of(text.data + word, line.size - (size_t)(text.data + word - line.data));
        first = false;
    }
    buf_add_text(out, first ? "" : "\n");
}

/* A note may quote any name: no character of it ends the comment. */
static void json_layout_write_note(const char *note, size_t indent, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    if (!note)
        return;
    printable_add_lines(&safe, span_text(note));
    struct span rest = buf_span(&safe);
    while (rest.size > 0) {
        const char *end = memchr(rest.data, '\n', rest.size);
        size_t size = end ? (size_t)(end - rest.data) : rest.size;
        json_layout_write_note_line(span_of(rest.data, size), indent, out);
        rest = span_from(rest, end ? size + 1 : size);
    }
    out->failed = out->failed || safe.failed;
}

/* The value, on several lines unless it is a scalar or empty. Each child is on lines of its own. If
 * NODE is aligned, the values of children that fit on one line begin in one column. */
static void json_layout_write_value(const struct json_layout *node, size_t indent, struct buf *out)
{
    size_t inner = indent + STEP, column = 0;
    if (node->kind == JSON_LAYOUT_SCALAR || !node->children) {
        json_layout_write_flat(node, out);
        return;
    }
    for (const struct json_layout *child = node->children; child; child = child->next) {
        size_t width = json_layout_name_columns(child);
        if (node->aligned && width > column && width <= MOST_ALIGNED &&
            json_layout_fits(child, inner, width + 1))
            column = width;
    }
    buf_add_text(out, node->kind == JSON_LAYOUT_OBJECT ? "{\n" : "[\n");
    for (const struct json_layout *child = node->children; child; child = child->next) {
        size_t width = json_layout_name_columns(child);
        json_layout_write_note(child->note, inner, out);
        buf_add_repeated(out, ' ', inner);
        json_layout_write_name(child, out);
        if (child->name)
            buf_add_char(out, ' ');
        if (width < column && json_layout_fits(child, inner, column + 1))
            buf_add_repeated(out, ' ', column - width);
        if (json_layout_fits(child, inner, child->name ? width + 1 : 0))
            json_layout_write_flat(child, out);
        else
            json_layout_write_value(child, inner, out);
        buf_add_text(out, !child->next ? "\n" : node->spaced ? ",\n\n" : ",\n");
    }
    buf_add_repeated(out, ' ', indent);
    buf_add_char(out, node->kind == JSON_LAYOUT_OBJECT ? '}' : ']');
}

void json_layout_write(const struct json_layout *root, struct buf *out)
{
    json_layout_write_note(root->note, 0, out);
    json_layout_write_value(root, 0, out);
    buf_add_char(out, '\n');
}
