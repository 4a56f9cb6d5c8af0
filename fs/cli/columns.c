#include "fs/cli/columns.h"

#include <stdlib.h>

#include "core/output/aligned.h"
#include "core/output/cell.h"
#include "core/output/form.h"
#include "core/read/file.h"

struct columns {
    const struct app *app;
    struct arena arena; /* owns the names */
    struct span *names; /* as they were typed */
    size_t count;
    const char *first[KEY_MAX_BASE_ATTRIBUTES];
    struct record_view view;
    struct aligned aligned;
    bool filled; /* a record has come */
};

static bool columns_start(struct columns *columns)
{
    struct span typed = span_text(columns->app->options->columns);
    bool ok = names_find_columns(typed, &columns->arena, &columns->names, &columns->count, NULL) &&
              aligned_start(&columns->aligned, &columns->view, false);
    for (size_t i = 0; ok && i < columns->count; i++)
        ok = grid_emit(&columns->aligned.grid, columns->names[i]);
    return ok && grid_sort(&columns->aligned.grid);
}

struct columns *columns_new(const struct app *app, const struct place *place)
{
    struct columns *columns = calloc(1, sizeof *columns);
    if (!columns)
        return NULL;
    columns->app = app;
    file_view(&app->tree, place->table, columns->first, &columns->view);
    if (columns_start(columns))
        return columns;
    columns_destroy(columns);
    return NULL;
}

void columns_destroy(struct columns *columns)
{
    if (!columns)
        return;
    aligned_end(&columns->aligned);
    arena_clean_up(&columns->arena);
    free(columns);
}

bool columns_take(struct columns *columns, const struct tree_entry *entries, size_t count,
                  struct error *err)
{
    aligned_forget(&columns->aligned);
    columns->filled = columns->filled || count > 0;
    for (size_t i = 0; i < count; i++)
        if (!aligned_add(&columns->aligned, entries[i].item, err))
            return false;
    return true;
}

void columns_write_next(struct columns *columns, struct buf *out)
{
    aligned_write_next(&columns->aligned, false, out);
}

void columns_write_json(const struct columns *columns, struct json item, struct buf *out)
{
    size_t before = out->size;
    buf_add_char(out, '{');
    for (size_t i = 0; i < columns->aligned.grid.count; i++) {
        struct span name = columns->aligned.grid.columns[i]->node.key;
        struct json value = item_attribute(item, name);
        if (!json_present(value))
            continue;
        buf_add_text(out, out->size > before + 1 ? "," : "");
        json_write_string(out, name);
        buf_add_char(out, ':');
        cell_write_json(value, cell_is_masked(&columns->view, name), out);
    }
    buf_add_char(out, '}');
}

void columns_print_empty(const struct columns *columns, const char *path)
{
    for (size_t i = 0; columns->filled && i < columns->aligned.grid.count; i++) {
        CLEAN_UP(buf_clean_up) struct buf words = {0};
        const struct grid_column *column = columns->aligned.grid.columns[i];
        if (column->filled)
            continue;
        form_write_unfilled(column->node.key, &words);
        app_note(columns->app, LOG_LEVEL_WARNING, path, buf_text(&words));
    }
}
