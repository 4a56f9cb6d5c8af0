/* CSV as RFC 4180 has it, but for lines that end in LF alone. Columns that were asked for are told
 * row by row. Otherwise all attributes that any record has are columns, which only the last record
 * tells: rows are kept until then. */
#include "core/form/cell.h"
#include "core/form/grid.h"
#include "core/form/ops.h"
#include "core/item/record.h"
#include "core/item/value.h"

struct csv {
    struct form form;
    struct grid grid; /* without columns that were asked for */
    struct buf cell;  /* the last one's text */
    bool begun;       /* the header is told */
    size_t at;        /* of the rows that were kept, where the next one stands, and */
    size_t told;      /* how much has been told of them */
};

static bool start(struct form *form)
{
    struct csv *csv = (struct csv *)form;
    csv->grid.view = &form->view;
    if (!grid_init(&csv->grid))
        return false;
    for (size_t i = 0; i < form->view.first_count; i++)
        if (!grid_give(&csv->grid, span_text(form->view.first[i])))
            return false;
    return true;
}

static void clean_up(struct form *form)
{
    struct csv *csv = (struct csv *)form;
    grid_clean_up(&csv->grid);
    buf_clean_up_secret(&csv->cell);
}

static size_t memory(const struct form *form)
{
    const struct csv *csv = (const struct csv *)form;
    return grid_memory(&csv->grid) + csv->cell.capacity;
}

static void add_quoted(struct buf *out, struct span text)
{
    buf_add_char(out, '"');
    for (const char *quote; (quote = memchr(text.data, '"', text.size));) {
        size_t size = (size_t)(quote - text.data) + 1;
        buf_add(out, text.data, size);
        buf_add_char(out, '"');
        text = span_from(text, size);
    }
    buf_add_span(out, text);
    buf_add_char(out, '"');
}

/* Whether TEXT would end its field, or lose something, outside of quotes: some readers trim blanks,
 * and some take a # in front for a comment. */
static bool must_be_quoted(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (strchr(",\"\r\n", text.data[i])) /* NUL is found, too */
            return true;
    return text.size > 0 &&
           (strchr(" \t#", text.data[0]) || strchr(" \t", text.data[text.size - 1]));
}

/* Whether a text (a string, or base64) looks like what stands outside of quotes for something else:
 * nothing, null, a truth value, a number. */
static bool looks_bare(struct span text)
{
    return text.size == 0 || span_is(text, "null") || span_is(text, "true") ||
           span_is(text, "false") || number_is(text);
}

static void add_field(struct buf *out, enum typed_tag tag, struct span text)
{
    if (tag == TYPED_NONE)
        return;
    bool is_text = tag == TYPED_S || tag == TYPED_B;
    if (must_be_quoted(text) || (is_text && looks_bare(text)))
        add_quoted(out, text);
    else
        buf_add_span(out, text);
}

static void add_name(struct buf *out, size_t column, struct span name)
{
    buf_add_text(out, column ? "," : "");
    if (name.size == 0 || must_be_quoted(name))
        add_quoted(out, name);
    else
        buf_add_span(out, name);
}

/* An empty line is no row for many readers. */
static void end_line(struct buf *out, size_t columns, size_t row)
{
    if (columns == 1 && out->size == row)
        buf_add_text(out, "\"\"");
    buf_add_char(out, '\n');
}

static void tell_asked_names(struct csv *csv, struct buf *out)
{
    const struct form *form = &csv->form;
    if (csv->begun)
        return;
    for (size_t i = 0; i < form->column_count; i++)
        add_name(out, i, form->columns[i]);
    buf_add_char(out, '\n');
    csv->begun = true;
}

/* Appends what ITEM has in the column NAME: nothing when it has nothing there. */
static bool tell_asked(struct csv *csv, struct json item, struct span name, struct buf *out)
{
    enum typed_tag tag;
    struct json value = item_attribute(item, name);
    if (!json_present(value))
        return true;
    buf_truncate(&csv->cell, 0);
    if (!cell_write(value, cell_is_masked(&csv->form.view, name), &csv->cell, &tag))
        return false;
    add_field(out, tag, buf_span(&csv->cell));
    return true;
}

static bool tell_row(struct csv *csv, struct json item, struct buf *out)
{
    const struct form *form = &csv->form;
    size_t row = out->size;
    if (!json_is(item, JSON_OBJECT))
        return false;
    for (size_t i = 0; i < form->column_count; i++) {
        buf_add_text(out, i ? "," : "");
        if (!tell_asked(csv, item, form->columns[i], out))
            return false;
    }
    end_line(out, form->column_count, row);
    return true;
}

static bool add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct csv *csv = (struct csv *)form;
    if (form->column_count == 0)
        return grid_add(&csv->grid, item, err) && form_allows(form, grid_size(&csv->grid), err);
    tell_asked_names(csv, out);
    if (tell_row(csv, item, out))
        return true;
    return csv->cell.failed || out->failed ? error_no_memory(err) : record_refuse(item, "", err);
}

static void tell_names(const struct grid *grid, struct buf *out)
{
    for (size_t i = 0; i < grid->count; i++)
        add_name(out, i, grid->columns[i]->node.key);
    buf_add_char(out, '\n');
}

static void tell_kept(const struct grid *grid, const struct grid_cell *cells, struct buf *out)
{
    size_t row = out->size;
    for (size_t i = 0; i < grid->count; i++) {
        const struct grid_cell *cell = &cells[grid->columns[i]->number];
        buf_add_text(out, i ? "," : "");
        add_field(out, cell->tag, cell->text);
    }
    end_line(out, grid->count, row);
}

/* The names, or the next of the rows that were kept. */
static bool end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    struct csv *csv = (struct csv *)form;
    struct grid *grid = &csv->grid;
    size_t before = out->size;
    if (form->column_count > 0) {
        tell_asked_names(csv, out);
        return true;
    }
    if (!csv->begun && !grid_sort(grid))
        return error_no_memory(err);
    const struct grid_cell *cells = csv->begun ? grid_next(grid, &csv->at) : NULL;
    if (cells)
        tell_kept(grid, cells, out);
    else if (!csv->begun)
        tell_names(grid, out);
    *more = cells || !csv->begun;
    csv->begun = true;
    csv->told += out->size - before;
    return form_allows(form, csv->told, err);
}

const struct form_ops form_csv = {sizeof(struct csv), start, add, end, clean_up, memory};
