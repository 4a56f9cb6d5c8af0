#include "core/json/writer.h"

#include "core/json/json.h"

struct json_writer json_writer_to(struct buf *out)
{
    return (struct json_writer){.out = out};
}

/* All levels beyond JSON_WRITER_DEPTH share the last one. */
static struct json_level *json_writer_level(struct json_writer *writer)
{
    unsigned depth = writer->depth < JSON_WRITER_DEPTH ? writer->depth : JSON_WRITER_DEPTH;
    return &writer->levels[depth];
}

static void json_writer_break_line(struct json_writer *writer)
{
    buf_add_char(writer->out, '\n');
    buf_add_repeated(writer->out, ' ', (size_t)2 * writer->depth);
}

/* Writes everything between the value before and the next value or name. */
static void json_writer_separate(struct json_writer *writer)
{
    if (writer->is_named || writer->depth == 0) {
        writer->is_named = false;
        return;
    }
    struct json_level *level = json_writer_level(writer);
    if (level->is_filled)
        buf_add_text(writer->out, level->style == JSON_SPACED ? ", " : ",");
    if (level->style == JSON_LINES)
        json_writer_break_line(writer);
    level->is_filled = true;
}

void json_writer_add_name(struct json_writer *writer, struct span name)
{
    json_writer_separate(writer);
    json_write_string(writer->out, name);
    buf_add_char(writer->out, ':');
    if (json_writer_level(writer)->style != JSON_TIGHT)
        buf_add_char(writer->out, ' ');
    writer->is_named = true;
}

struct buf *json_writer_add_value(struct json_writer *writer, const char *name)
{
    if (name)
        json_writer_add_name(writer, span_text(name));
    json_writer_separate(writer);
    return writer->out;
}

static void json_writer_begin(struct json_writer *writer, const char *name, const char *brackets,
                              enum json_style style)
{
    buf_add_char(json_writer_add_value(writer, name), brackets[0]);
    if (++writer->depth > JSON_WRITER_DEPTH)
        writer->out->failed = true;
    *json_writer_level(writer) = (struct json_level){.style = style, .end = brackets[1]};
}

void json_writer_begin_object(struct json_writer *writer, const char *name, enum json_style style)
{
    json_writer_begin(writer, name, "{}", style);
}

void json_writer_begin_array(struct json_writer *writer, const char *name, enum json_style style)
{
    json_writer_begin(writer, name, "[]", style);
}

void json_writer_end(struct json_writer *writer)
{
    struct json_level *level = json_writer_level(writer);
    writer->depth--;
    if (level->style == JSON_LINES && level->is_filled)
        json_writer_break_line(writer);
    buf_add_char(writer->out, level->end);
}

void json_writer_add_string(struct json_writer *writer, const char *name, struct span text)
{
    json_write_string(json_writer_add_value(writer, name), text);
}

void json_writer_add_text(struct json_writer *writer, const char *name, const char *text)
{
    json_writer_add_string(writer, name, span_text(text));
}

void json_writer_add_integer(struct json_writer *writer, const char *name, int64_t number)
{
    struct buf *out = json_writer_add_value(writer, name);
    if (number < 0)
        buf_add_char(out, '-');
    buf_add_number(out, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void json_writer_add_bool(struct json_writer *writer, const char *name, bool yes)
{
    buf_add_text(json_writer_add_value(writer, name), yes ? "true" : "false");
}

void json_writer_add_null(struct json_writer *writer, const char *name)
{
    buf_add_text(json_writer_add_value(writer, name), "null");
}

void json_writer_add_raw(struct json_writer *writer, const char *name, struct span json)
{
    buf_add_span(json_writer_add_value(writer, name), json);
}
