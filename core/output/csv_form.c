/* CSV of items. Rows of given columns are written one by one. Otherwise all attributes of all items
 * are columns, which are known only after the last item: rows are held until then. */
#include "core/item/record.h"
#include "core/output/cell.h"
#include "core/output/csv_text.h"
#include "core/output/form_ops.h"
#include "core/output/grid.h"

struct csv {
    struct form form;
    struct grid grid; /* where no columns are given */
    struct buf cell;  /* its text */
    bool begun;       /* the header is written */
    size_t at;        /* of the next held row */
    size_t written;   /* bytes of held rows */
};

static bool csv_start(struct form *form)
{
    struct csv *csv = (struct csv *)form;
    csv->grid.view = &form->view;
    if (!grid_init(&csv->grid))
        return false;
    for (size_t i = 0; i < form->view.first_count; i++)
        if (!grid_add_column(&csv->grid, span_text(form->view.first[i])))
            return false;
    return true;
}

static void csv_clean_up(struct form *form)
{
    struct csv *csv = (struct csv *)form;
    grid_clean_up(&csv->grid);
    buf_clean_up_secret(&csv->cell);
}

static size_t csv_memory(const struct form *form)
{
    const struct csv *csv = (const struct csv *)form;
    return grid_memory(&csv->grid) + csv->cell.capacity;
}

static enum csv_type csv_type_of(enum typed_tag tag)
{
    return tag == TYPED_NONE ? CSV_ABSENT : tag == TYPED_S || tag == TYPED_B ? CSV_TEXT : CSV_BARE;
}

static void csv_write_given_names(struct csv *csv, struct buf *out)
{
    const struct form *form = &csv->form;
    if (csv->begun)
        return;
    for (size_t i = 0; i < form->column_count; i++)
        csv_text_add_name(out, i, form->columns[i]);
    buf_add_char(out, '\n');
    csv->begun = true;
}

static bool csv_write_row(struct csv *csv, struct json item, struct buf *out)
{
    const struct form *form = &csv->form;
    size_t row = out->size;
    if (!json_is(item, JSON_OBJECT))
        return false;
    for (size_t i = 0; i < form->column_count; i++) {
        enum typed_tag tag;
        struct span name = form->columns[i];
        struct json value = item_attribute(item, name);
        buf_add_text(out, i ? "," : "");
        if (!json_present(value))
            continue;
        buf_truncate(&csv->cell, 0);
        if (!cell_write(value, cell_is_masked(&form->view, name), &csv->cell, &tag))
            return false;
        csv_text_add_field(out, csv_type_of(tag), buf_span(&csv->cell));
    }
    csv_text_end_line(out, form->column_count, row);
    return true;
}

static bool csv_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct csv *csv = (struct csv *)form;
    if (form->column_count == 0)
        return grid_add(&csv->grid, item, err) && form_allows(form, grid_size(&csv->grid), err);
    csv_write_given_names(csv, out);
    if (csv_write_row(csv, item, out))
        return true;
    return csv->cell.failed || out->failed ? error_no_memory(err) : record_refuse(item, "", err);
}

/* Writes the names, or the next of the held rows. */
static bool csv_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    struct csv *csv = (struct csv *)form;
    struct grid *grid = &csv->grid;
    size_t before = out->size;
    if (form->column_count > 0) {
        csv_write_given_names(csv, out);
        return true;
    }
    if (!csv->begun && !grid_sort(grid))
        return error_no_memory(err);
    const struct grid_cell *cells = csv->begun ? grid_next(grid, &csv->at) : NULL;
    for (size_t i = 0; cells && i < grid->count; i++) {
        const struct grid_cell *cell = &cells[grid->columns[i]->number];
        buf_add_text(out, i ? "," : "");
        csv_text_add_field(out, csv_type_of(cell->tag), cell->text);
    }
    if (cells)
        csv_text_end_line(out, grid->count, before);
    for (size_t i = 0; !csv->begun && i < grid->count; i++)
        csv_text_add_name(out, i, grid->columns[i]->node.key);
    buf_add_text(out, csv->begun ? "" : "\n");
    *more = cells || !csv->begun;
    csv->begun = true;
    csv->written += out->size - before;
    return form_allows(form, csv->written, err);
}

const struct form_ops form_csv = {sizeof(struct csv), csv_start, csv_add, csv_end,
                                  csv_clean_up,       csv_memory};
