/* All rows are in one buffer: a head and a text for each cell of a row, and a head that ends the
 * row. */
#include "core/output/grid.h"

#include <stdlib.h>

#include "core/item/record.h"
#include "core/output/cell.h"

struct grid_cell_head {
    uint32_t column; /* its number; ROW_END: of no cell */
    uint32_t size;
    enum typed_tag tag;
};

static const uint32_t ROW_END = UINT32_MAX;

bool grid_init(struct grid *grid)
{
    return dict_init(&grid->by_name);
}

void grid_clean_up(struct grid *grid)
{
    free(grid->columns);
    free(grid->row);
    dict_clean_up(&grid->by_name);
    buf_clean_up_secret(&grid->cells);
    buf_clean_up_secret(&grid->cell);
    arena_clean_up(&grid->arena);
    *grid = (struct grid){0};
}

static struct grid_column *grid_new_column(struct grid *grid, struct span name)
{
    struct grid_column *column = arena_alloc(&grid->arena, sizeof *column);
    struct span copy = arena_copy(&grid->arena, name);
    if (grid->arena.failed || grid->count == ROW_END)
        return NULL;
    if (grid->count == grid->capacity) {
        size_t capacity = grid->capacity ? grid->capacity * 2 : 16;
        struct grid_column **columns = reallocarray(grid->columns, capacity, sizeof(*columns));
        if (!columns)
            return NULL;
        grid->columns = columns;
        grid->capacity = capacity;
    }
    column->node.key = copy;
    column->number = (uint32_t)grid->count;
    return grid->columns[grid->count++] = column;
}

/* The column of that NAME, which is added if it is new. NULL when memory ran out. */
static struct grid_column *grid_column_of(struct grid *grid, struct span name)
{
    struct dict_node *known = dict_find(&grid->by_name, name);
    struct grid_column *column = known ? (struct grid_column *)known : grid_new_column(grid, name);
    if (column && !known)
        dict_add(&grid->by_name, &column->node);
    return column;
}

bool grid_add_column(struct grid *grid, struct span name)
{
    struct grid_column *column = grid_column_of(grid, name);
    if (column)
        column->given = true;
    return column != NULL;
}

bool grid_add_equal_column(struct grid *grid, struct span name)
{
    struct grid_column *column = grid_new_column(grid, name);
    if (column)
        column->given = true;
    return column != NULL;
}

/* Stores the text of grid->cell. False when memory ran out. */
static bool grid_store_cell(struct grid *grid, struct grid_column *column, enum typed_tag tag)
{
    struct grid_cell_head head = {.column = column->number, .tag = tag};
    if (grid->fit)
        grid->fit(grid->fit_arg, column, tag, &grid->cell);
    head.size = (uint32_t)grid->cell.size;
    column->filled = true;
    buf_add(&grid->cells, &head, sizeof head);
    buf_add_span(&grid->cells, buf_span(&grid->cell));
    return !grid->cell.failed;
}

/* False when VALUE is no value of DynamoDB, or memory ran out. */
static bool grid_add_cell(struct grid *grid, struct grid_column *column, struct json value)
{
    enum typed_tag tag;
    bool masked = cell_is_masked(grid->view, column->node.key);
    buf_truncate(&grid->cell, 0);
    return cell_write(value, masked, &grid->cell, &tag) && grid_store_cell(grid, column, tag);
}

static bool grid_add_row(struct grid *grid, struct json item, struct arena *arena)
{
    struct typed_members members;
    if (grid->closed) {
        bool ok = json_is(item, JSON_OBJECT);
        for (size_t i = 0; ok && i < grid->count; i++) {
            struct json value = item_attribute(item, grid->columns[i]->node.key);
            ok = !json_present(value) || grid_add_cell(grid, grid->columns[i], value);
        }
        return ok;
    }
    if (!typed_members(item, arena, &members))
        return false;
    for (size_t i = 0; i < members.count; i++) {
        struct grid_column *column = grid_column_of(grid, members.list[i].name);
        grid->cells.failed |= !column;
        if (!column || !grid_add_cell(grid, column, members.list[i].value))
            return false;
    }
    return true;
}

bool grid_add(struct grid *grid, struct json item, struct error *err)
{
    const struct grid_cell_head end = {.column = ROW_END};
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    bool ok = grid_add_row(grid, item, &arena);
    buf_add(&grid->cells, &end, sizeof end);
    if (arena.failed || grid->cell.failed || grid->cells.failed)
        return error_no_memory(err);
    return ok || record_refuse(item, "", err);
}

bool grid_add_cells(struct grid *grid, const struct grid_cell *cells)
{
    const struct grid_cell_head end = {.column = ROW_END};
    for (size_t i = 0; i < grid->count; i++) {
        const struct grid_cell *cell = &cells[grid->columns[i]->number];
        buf_truncate(&grid->cell, 0);
        buf_add_span(&grid->cell, cell->text);
        grid_store_cell(grid, grid->columns[i], cell->tag);
    }
    buf_add(&grid->cells, &end, sizeof end);
    return !grid->cell.failed && !grid->cells.failed;
}

void grid_forget(struct grid *grid)
{
    buf_truncate(&grid->cells, 0);
}

static int grid_by_place(const void *a, const void *b)
{
    const struct grid_column *x = *(struct grid_column *const *)a;
    const struct grid_column *y = *(struct grid_column *const *)b;
    if (x->given != y->given)
        return x->given ? -1 : 1;
    if (x->given)
        return x->number < y->number ? -1 : 1;
    return span_compare(x->node.key, y->node.key);
}

bool grid_sort(struct grid *grid)
{
    grid->row = calloc(grid->count + 1, sizeof *grid->row);
    if (!grid->row)
        return false;
    if (grid->count > 0)
        qsort(grid->columns, grid->count, sizeof(*grid->columns), grid_by_place);
    return true;
}

const struct grid_cell *grid_next(struct grid *grid, size_t *at)
{
    if (*at == grid->cells.size)
        return NULL;
    memset(grid->row, 0, (grid->count + 1) * sizeof *grid->row);
    for (;;) {
        struct grid_cell_head head;
        memcpy(&head, grid->cells.data + *at, sizeof head);
        *at += sizeof head;
        if (head.column == ROW_END)
            return grid->row;
        grid->row[head.column] =
            (struct grid_cell){head.tag, span_of(grid->cells.data + *at, head.size)};
        *at += head.size;
    }
}

size_t grid_size(const struct grid *grid)
{
    return grid->cells.size + arena_memory(&grid->arena);
}

size_t grid_memory(const struct grid *grid)
{
    size_t row = grid->row ? (grid->count + 1) * sizeof *grid->row : 0;
    return arena_memory(&grid->arena) + dict_memory(&grid->by_name) + grid->cells.capacity +
           grid->cell.capacity + grid->capacity * sizeof(*grid->columns) + row;
}
