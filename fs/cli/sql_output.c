#include "fs/cli/sql_output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/item/value.h"
#include "core/json/writer.h"
#include "core/output/aligned.h"
#include "core/output/csv_text.h"

/* Rows of a table that are held; whichever limit is reached first. */
enum { SQL_OUTPUT_ROWS = 200, SQL_OUTPUT_BYTES = 1 << 20 };

/* 15 digits are exact for every decimal text of that length, 17 for every double. */
enum { SQL_OUTPUT_LEAST_DIGITS = 15, SQL_OUTPUT_MOST_DIGITS = 17 };

struct sql_output {
    enum sql_form form;
    size_t count;
    struct arena arena;       /* owns the names */
    struct span *names;       /* in the arena; of JSON, each is unique */
    size_t width;             /* of the terminal; 0: none */
    struct aligned aligned;   /* of a table */
    struct grid_cell *cells;  /* of a table, in the arena: one row */
    size_t held, bytes, rows; /* rows that are held, their bytes; rows that are printed */
    bool begun;               /* the names are printed */
    bool is_long;             /* a line for each value */
    struct buf text;          /* owned: of one row */
};

/* Appends a REAL that reads back as the same REAL, and as no INTEGER. */
static void sql_output_add_real(double real, struct buf *out)
{
    char text[40];
    int digits = SQL_OUTPUT_LEAST_DIGITS;
    if (isinf(real)) {
        buf_add_text(out, real > 0 ? "9e999" : "-9e999");
        return;
    }
    do
        snprintf(text, sizeof text, "%.*g", digits, real);
    while (strtod(text, NULL) != real && ++digits <= SQL_OUTPUT_MOST_DIGITS);
    buf_add_text(out, text);
    buf_add_text(out, strpbrk(text, ".e") ? "" : ".0");
}

/* Appends VALUE without quotes; nothing for NULL. */
static void sql_output_add_bare(const struct sql_value *value, struct buf *out)
{
    switch (value->type) {
    case SQL_NULL:
        break;
    case SQL_INTEGER:
        buf_printf(out, "%lld", (long long)value->integer);
        break;
    case SQL_REAL:
        sql_output_add_real(value->real, out);
        break;
    case SQL_TEXT:
        buf_add_span(out, value->bytes);
        break;
    case SQL_BLOB:
        base64_write(out, value->bytes);
        break;
    }
}

/* Appends the cell of a table. A text that could pass for NULL or for such a literal is a literal
 * of SQL. */
static void sql_output_add_cell(const struct sql_value *value, struct buf *out)
{
    struct span text = value->bytes;
    if (value->type == SQL_NULL) {
        buf_add_text(out, "NULL");
        return;
    }
    if (value->type != SQL_TEXT ||
        (text.size > 0 && text.data[0] != '\'' && !span_is(text, "NULL"))) {
        sql_output_add_bare(value, out);
        return;
    }
    buf_add_char(out, '\'');
    for (size_t i = 0; i < text.size; i++) {
        buf_add_text(out, text.data[i] == '\'' ? "'" : "");
        buf_add_char(out, text.data[i]);
    }
    buf_add_char(out, '\'');
}

static bool sql_output_is_name(const struct sql_output *output, size_t count, struct span name)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal(output->names[i], name))
            return true;
    return false;
}

/* A reader of JSON would drop all but the last of equal names, so the others get a number: "id",
 * "id:2". False when memory ran out. */
static bool sql_output_number_names(struct sql_output *output)
{
    for (size_t i = 1; i < output->count; i++) {
        struct span name = output->names[i];
        CLEAN_UP(buf_clean_up) struct buf other = {0};
        buf_add_span(&other, name);
        for (unsigned number = 2; sql_output_is_name(output, i, buf_span(&other)); number++) {
            buf_truncate(&other, name.size);
            buf_printf(&other, ":%u", number);
        }
        output->names[i] = arena_copy(&output->arena, buf_span(&other));
        if (other.failed || output->arena.failed)
            return false;
    }
    return true;
}

/* False when memory ran out. */
static bool sql_output_start_table(struct sql_output *output)
{
    struct aligned *aligned = &output->aligned;
    bool ok = aligned_start(aligned, NULL, false);
    aligned->holds_whole = true;
    aligned->cuts = output->width > 0;
    for (size_t i = 0; ok && i < output->count; i++)
        ok = grid_add_equal_column(&aligned->grid, output->names[i]);
    output->cells = arena_alloc(&output->arena, (output->count + 1) * sizeof *output->cells);
    return ok && grid_sort(&aligned->grid) && output->cells;
}

struct sql_output *sql_output_new(enum sql_form form, const struct span *names, size_t count,
                                  size_t width)
{
    struct sql_output *output = calloc(1, sizeof *output);
    if (!output)
        return NULL;
    *output = (struct sql_output){.form = form, .count = count, .width = width};
    output->names = arena_alloc(&output->arena, (count + 1) * sizeof *output->names);
    for (size_t i = 0; output->names && i < count; i++)
        output->names[i] = arena_copy(&output->arena, names[i]);
    bool ok = !output->arena.failed;
    if (ok && form == SQL_FORM_JSON)
        ok = sql_output_number_names(output);
    if (ok && form == SQL_FORM_TABLE)
        ok = sql_output_start_table(output);
    if (ok)
        return output;
    sql_output_destroy(output);
    return NULL;
}

void sql_output_destroy(struct sql_output *output)
{
    if (!output)
        return;
    if (output->form == SQL_FORM_TABLE)
        aligned_end(&output->aligned);
    buf_clean_up_secret(&output->text);
    arena_clean_up(&output->arena);
    free(output);
}

/* Prints the text of rows. False with ERR filled, or if standard output is closed. */
static bool sql_output_print(struct sql_output *output, struct error *err)
{
    const struct buf *text = &output->text;
    if (text->failed)
        return error_no_memory(err);
    if (text->size > 0)
        fwrite(text->data, 1, text->size, stdout);
    buf_truncate(&output->text, 0);
    return !ferror(stdout);
}

static void sql_output_add_csv_names(struct sql_output *output)
{
    for (size_t i = 0; !output->begun && i < output->count; i++)
        csv_text_add_name(&output->text, i, output->names[i]);
    buf_add_text(&output->text, output->begun ? "" : "\n");
    output->begun = true;
}

static void sql_output_add_csv(struct sql_output *output, const struct sql_value *values)
{
    CLEAN_UP(buf_clean_up_secret) struct buf field = {0};
    sql_output_add_csv_names(output);
    size_t row = output->text.size;
    for (size_t i = 0; i < output->count; i++) {
        bool is_text = values[i].type == SQL_TEXT || values[i].type == SQL_BLOB;
        buf_truncate(&field, 0);
        sql_output_add_bare(&values[i], &field);
        buf_add_text(&output->text, i ? "," : "");
        csv_text_add_field(&output->text,
                           values[i].type == SQL_NULL ? CSV_ABSENT
                           : is_text                  ? CSV_TEXT
                                                      : CSV_BARE,
                           buf_span(&field));
    }
    csv_text_end_line(&output->text, output->count, row);
    output->text.failed |= field.failed;
}

static void sql_output_add_json(struct sql_output *output, const struct sql_value *values)
{
    CLEAN_UP(buf_clean_up_secret) struct buf line = {0}, bare = {0};
    struct json_writer json = json_writer_to(&line);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < output->count; i++) {
        buf_truncate(&bare, 0);
        sql_output_add_bare(&values[i], &bare);
        json_writer_add_name(&json, output->names[i]);
        if (values[i].type == SQL_NULL)
            json_writer_add_null(&json, NULL);
        else if (values[i].type == SQL_TEXT || values[i].type == SQL_BLOB)
            json_writer_add_string(&json, NULL, buf_span(&bare));
        else
            json_writer_add_raw(&json, NULL, buf_span(&bare));
    }
    json_writer_end(&json);
    json_add_printable(&output->text, buf_span(&line));
    buf_add_char(&output->text, '\n');
    output->text.failed |= line.failed || bare.failed;
}

/* Prints the held rows, a line for each value. */
static void sql_output_write_long(struct sql_output *output)
{
    struct aligned *aligned = &output->aligned;
    const struct grid_cell *cells;
    size_t width = aligned_name_width(aligned);
    while ((cells = grid_next(&aligned->grid, &aligned->at))) {
        buf_printf(&output->text, "-[ %zu ]-\n", ++output->rows);
        for (size_t i = 0; i < output->count; i++) {
            aligned_write_name(aligned, i, width, &output->text);
            buf_add_span(&output->text, cells[i].text);
            buf_add_char(&output->text, '\n');
        }
    }
}

static bool sql_output_print_held(struct sql_output *output, struct error *err)
{
    struct aligned *aligned = &output->aligned;
    bool ok = true;
    if (!output->begun) {
        output->is_long =
            output->held > 0 && output->width > 0 && aligned_width(aligned) > output->width;
        ok = output->is_long || aligned_write_names(aligned, &output->text);
        output->begun = true;
    }
    if (ok && output->is_long)
        sql_output_write_long(output);
    while (ok && aligned_write_next(aligned, true, &output->text)) {
    }
    aligned_forget(aligned);
    output->held = 0;
    output->bytes = 0;
    return ok ? sql_output_print(output, err) : error_no_memory(err);
}

/* Holds a row of a table. False when memory ran out. */
static bool sql_output_hold(struct sql_output *output, const struct sql_value *values)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    CLEAN_UP(arena_clean_up) struct arena ends = {0};
    size_t *from = arena_alloc(&ends, (output->count + 1) * sizeof *from);
    for (size_t i = 0; from && i < output->count; i++) {
        from[i] = text.size;
        sql_output_add_cell(&values[i], &text);
    }
    if (!from || text.failed)
        return false;
    from[output->count] = text.size;
    /* A NULL is aligned as the numbers of its column are. */
    for (size_t i = 0; i < output->count; i++)
        output->cells[i] = (struct grid_cell){
            values[i].type == SQL_TEXT || values[i].type == SQL_BLOB ? TYPED_S : TYPED_N,
            span_of(text.data + from[i], from[i + 1] - from[i])};
    output->held++;
    output->bytes += text.size;
    return grid_add_cells(&output->aligned.grid, output->cells);
}

bool sql_output_add(struct sql_output *output, const struct sql_value *values, struct error *err)
{
    switch (output->form) {
    case SQL_FORM_CSV:
        sql_output_add_csv(output, values);
        return sql_output_print(output, err);
    case SQL_FORM_JSON:
        sql_output_add_json(output, values);
        return sql_output_print(output, err);
    case SQL_FORM_TABLE:
        break;
    }
    if (!sql_output_hold(output, values))
        return error_no_memory(err);
    return (output->held < SQL_OUTPUT_ROWS && output->bytes < SQL_OUTPUT_BYTES) ||
           sql_output_print_held(output, err);
}

bool sql_output_end(struct sql_output *output, struct error *err)
{
    if (output->form == SQL_FORM_TABLE)
        return (output->begun && output->held == 0) || sql_output_print_held(output, err);
    if (output->form == SQL_FORM_CSV)
        sql_output_add_csv_names(output);
    return sql_output_print(output, err);
}
