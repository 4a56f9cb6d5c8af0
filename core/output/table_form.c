/* A table for eyes: a line of names, and a row a record. */
#include "core/output/aligned.h"
#include "core/output/form_ops.h"

struct table {
    struct form form;
    struct aligned aligned;
    bool begun;  /* the names are told */
    size_t told; /* bytes of it */
};

static bool table_form_start(struct form *form)
{
    struct aligned *aligned = &((struct table *)form)->aligned;
    bool all = form->column_count == 0;
    bool ok = aligned_start(aligned, &form->view, all);
    for (size_t i = 0; ok && i < form->column_count; i++)
        ok = grid_emit(&aligned->grid, form->columns[i]);
    for (size_t i = 0; ok && all && i < form->view.first_count; i++)
        ok = grid_emit(&aligned->grid, span_text(form->view.first[i]));
    return ok;
}

static void table_form_clean_up(struct form *form)
{
    aligned_end(&((struct table *)form)->aligned);
}

static size_t table_form_memory(const struct form *form)
{
    return grid_memory(&((const struct table *)form)->aligned.grid);
}

static bool table_form_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct aligned *aligned = &((struct table *)form)->aligned;
    (void)out;
    return aligned_add(aligned, item, err) && form_allows(form, grid_size(&aligned->grid), err);
}

/* Of columns that were not asked for, those are told that fit. */
static bool table_form_start_rows(struct form *form, struct aligned *aligned, struct buf *out)
{
    if (form->column_count == 0 && form->width > 0 &&
        !aligned_fit(aligned, form->width, &form->left_out))
        return false;
    return aligned_write_names(aligned, out);
}

/* The names, or the next row. */
static bool table_form_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    struct table *table = (struct table *)form;
    struct aligned *aligned = &table->aligned;
    size_t before = out->size;
    if (table->begun)
        *more = aligned_write_next(aligned, true, out);
    else if (grid_sort(&aligned->grid) && table_form_start_rows(form, aligned, out))
        *more = true;
    else
        return error_no_memory(err);
    table->begun = true;
    table->told += out->size - before;
    return form_allows(form, table->told, err);
}

const struct form_ops form_table = {sizeof(struct table), table_form_start,    table_form_add,
                                    table_form_end,       table_form_clean_up, table_form_memory};
