/* Forms: the settings of all kinds, and the three small kinds: JSON Lines, tables and counts. */
#include "core/output/form.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/item/record.h"
#include "core/output/aligned.h"
#include "core/output/form_ops.h"

/* Of the rest, at a time. */
enum { PIECE_BYTES = 1 << 20 };

/* JSON Lines: an item a line, as `cat` shows it with --format compact. */

static bool form_jsonl_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct record_view view = form->view;
    view.compact = true;
    if (item_write(item, &view, out))
        return true;
    return out->failed ? error_no_memory(err) : record_refuse(item, "", err);
}

static bool form_jsonl_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    (void)form, (void)out, (void)more, (void)err;
    return true;
}

static const struct form_ops form_jsonl = {sizeof(struct form), NULL, form_jsonl_add,
                                           form_jsonl_end,      NULL, NULL};

/* Counts: a number on a line of its own. */

struct form_counter {
    struct form form;
    uint64_t items;
};

static bool form_count_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    (void)item, (void)out, (void)err;
    ((struct form_counter *)form)->items++;
    return true;
}

static bool form_count_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    (void)more, (void)err;
    buf_printf(out, "%" PRIu64 "\n", ((struct form_counter *)form)->items);
    return true;
}

void form_add_unseen(struct form *form, uint64_t count)
{
    ((struct form_counter *)form)->items += count;
}

static const struct form_ops form_count = {
    sizeof(struct form_counter), NULL, form_count_add, form_count_end, NULL, NULL};

/* Tables: a line of names, and a row an item. */

struct form_grid {
    struct form form;
    struct aligned aligned;
    bool begun;     /* the names are written */
    size_t written; /* bytes of it */
};

static bool form_table_start(struct form *form)
{
    struct aligned *aligned = &((struct form_grid *)form)->aligned;
    bool all = form->column_count == 0;
    bool ok = aligned_start(aligned, &form->view, all);
    for (size_t i = 0; ok && i < form->column_count; i++)
        ok = grid_add_column(&aligned->grid, form->columns[i]);
    for (size_t i = 0; ok && all && i < form->view.first_count; i++)
        ok = grid_add_column(&aligned->grid, span_text(form->view.first[i]));
    return ok;
}

static void form_table_clean_up(struct form *form)
{
    aligned_end(&((struct form_grid *)form)->aligned);
}

static size_t form_table_memory(const struct form *form)
{
    return grid_memory(&((const struct form_grid *)form)->aligned.grid);
}

static bool form_table_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct grid *grid = &((struct form_grid *)form)->aligned.grid;
    (void)out;
    return grid_add(grid, item, err) && form_allows(form, grid_size(grid), err);
}

/* Writes the names, or the next row. If the setting has no columns, those that fit are shown. */
static bool form_table_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    struct form_grid *table = (struct form_grid *)form;
    struct aligned *aligned = &table->aligned;
    size_t before = out->size;
    bool fits = form->column_count == 0 && form->width > 0;
    if (table->begun)
        *more = aligned_write_next(aligned, true, out);
    else if (grid_sort(&aligned->grid) &&
             (!fits || aligned_fit(aligned, form->width, &form->left_out)) &&
             aligned_write_names(aligned, out))
        *more = true;
    else
        return error_no_memory(err);
    table->begun = true;
    table->written += out->size - before;
    return form_allows(form, table->written, err);
}

static const struct form_ops form_table = {sizeof(struct form_grid), form_table_start,
                                           form_table_add,           form_table_end,
                                           form_table_clean_up,      form_table_memory};

/* All kinds. */

static const struct form_ops *const form_kinds[] = {
    [FORM_JSONL] = &form_jsonl, [FORM_CSV] = &form_csv,         [FORM_TABLE] = &form_table,
    [FORM_COUNT] = &form_count, [FORM_SUMMARY] = &form_summary, [FORM_DATABASE] = &form_database,
};

/* Copies COUNT names, which end in a NUL. NULL when memory ran out. */
static const char *const *form_copy_names(struct arena *arena, const char *const *names,
                                          size_t count)
{
    const char **copies = arena_array(arena, count, sizeof *copies);
    for (size_t i = 0; copies && i < count; i++)
        copies[i] = arena_text(arena, span_text(names[i]));
    return copies;
}

struct form *form_new(const struct form_setting *setting)
{
    const struct form_ops *ops = form_kinds[setting->kind];
    struct form *form = calloc(1, ops->size);
    if (!form)
        return NULL;
    form->ops = ops;
    form->next_name = span_of("", 0);
    form->most = setting->most;
    form->width = setting->width;
    form->view = *setting->view;
    form->view.first = form_copy_names(&form->arena, form->view.first, form->view.first_count);
    form->view.secret = form_copy_names(&form->arena, form->view.secret, form->view.secret_count);
    struct span *columns = arena_array(&form->arena, setting->column_count, sizeof *columns);
    form->columns = columns;
    for (size_t i = 0; columns && i < setting->column_count; i++) {
        size_t at = 0;
        while (at < form->column_count && !span_equal(columns[at], setting->columns[i]))
            at++;
        if (at == form->column_count)
            columns[form->column_count++] = arena_copy(&form->arena, setting->columns[i]);
    }
    struct form_part *parts = arena_array(&form->arena, setting->part_count, sizeof *parts);
    form->parts = parts;
    for (size_t i = 0; parts && i < setting->part_count; i++) {
        parts[i] = setting->parts[i];
        parts[i].name = arena_copy(&form->arena, parts[i].name);
        form->part_count++;
    }
    if (setting->dated_by)
        form->dated_by = arena_text(&form->arena, span_text(setting->dated_by));
    if (!form->arena.failed && (!ops->start || ops->start(form)))
        return form;
    form_destroy(form);
    return NULL;
}

void form_destroy(struct form *form)
{
    if (!form)
        return;
    if (form->ops->clean_up)
        form->ops->clean_up(form);
    arena_clean_up(&form->arena);
    free(form);
}

bool form_allows(struct form *form, size_t size, struct error *err)
{
    form->is_over = form->most > 0 && size > form->most;
    return !form->is_over ||
           error_set(err, ERROR_TOO_LARGE, "it would be larger than %zu bytes", form->most);
}

/* On failure, cuts OUT back to the size BEFORE. */
static bool form_finish(bool ok, struct buf *out, size_t before, struct error *err)
{
    if (ok && out->failed)
        ok = error_no_memory(err);
    if (!ok)
        buf_truncate(out, before);
    return ok;
}

bool form_add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    size_t before = out->size;
    return form_finish(form->ops->add(form, item, out, err), out, before, err);
}

bool form_end(struct form *form, struct buf *out, bool *more, struct error *err)
{
    size_t before = out->size;
    bool left, ok;
    form->worked = 0;
    do {
        left = false;
        ok = form->ops->end(form, out, &left, err);
    } while (ok && left && !out->failed &&
             (!more || form->worked + out->size - before < PIECE_BYTES));
    if (more)
        *more = ok && left;
    return form_finish(ok, out, before, err);
}

void form_name_next(struct form *form, struct span name, const struct sql_value *parts)
{
    form->next_name = name;
    form->next_parts = parts;
}

bool form_is_over(const struct form *form)
{
    return form->is_over;
}

size_t form_left_out(const struct form *form)
{
    return form->left_out;
}

size_t form_memory(const struct form *form)
{
    size_t more = form->ops->memory ? form->ops->memory(form) : 0;
    return form->ops->size + arena_memory(&form->arena) + more;
}

void form_write_unfilled(struct span name, struct buf *out)
{
    buf_add_text(out, "no item has an attribute \"");
    buf_add_span(out, name);
    buf_add_char(out, '"');
    if (name.size > 0 && memchr(name.data, '.', name.size))
        buf_add_text(out, "; a column is a whole attribute; use jq with @jsonl for a part of one");
}
