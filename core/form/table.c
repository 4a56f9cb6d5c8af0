/* A table for eyes: columns as wide as their widest cell on a terminal. What a terminal would act
 * on is escaped, and a long cell is cut; CSV has all of it. */
#include <locale.h>
#include <wchar.h>

#include "core/base/printable.h"
#include "core/base/utf8.h"
#include "core/form/grid.h"
#include "core/form/ops.h"

enum { MOST_WIDTH = 60 };

static const char GAP[] = "  ";
static const struct span CUT = {"\u2026", 3}, MISSING = {"-", 1};

struct table {
    struct form form;
    struct grid grid;
    locale_t locale; /* in which characters have widths; 0: the system has none */
};

/* The code point of a valid character. */
static wchar_t point_of(struct span character)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned char first = (unsigned char)character.data[0];
    unsigned point = first & masks[character.size];
    for (size_t i = 1; i < character.size; i++)
        point = point << 6 | ((unsigned char)character.data[i] & 0x3f);
    return (wchar_t)point;
}

/* How many cells of a terminal a character takes. One that the system does not know is taken to be
 * like most. */
static size_t width_of(locale_t locale, struct span character)
{
    if (!locale || character.size == 1)
        return 1;
    locale_t before = uselocale(locale);
    int width = wcwidth(point_of(character));
    uselocale(before);
    return width < 0 ? 1 : (size_t)width;
}

static size_t measure(locale_t locale, struct span text)
{
    size_t width = 0;
    while (text.size > 0) {
        struct span character = span_of(text.data, utf8_length(text));
        width += width_of(locale, character);
        text = span_from(text, character.size);
    }
    return width;
}

/* Cuts TEXT, which is printable, where it is too wide. */
static void cut(locale_t locale, struct buf *text)
{
    size_t width = 0, kept = 0; /* KEPT: bytes that leave room for the sign of a cut */
    struct span left = buf_span(text);
    while (left.size > 0) {
        struct span character = span_of(left.data, utf8_length(left));
        width += width_of(locale, character);
        if (width > MOST_WIDTH)
            break;
        left = span_from(left, character.size);
        if (width < MOST_WIDTH)
            kept = text->size - left.size;
    }
    if (left.size > 0) {
        buf_truncate(text, kept);
        buf_add_span(text, CUT);
    }
}

/* Makes TEXT what is shown of it. */
static void show(locale_t locale, struct buf *text)
{
    struct buf shown = {0};
    printable_add(&shown, buf_span(text), "");
    if (!shown.failed)
        cut(locale, &shown);
    shown.failed |= text->failed;
    buf_clean_up_secret(text);
    buf_move(text, &shown);
}

static void widen(struct grid_column *column, size_t width)
{
    if (width > column->width)
        column->width = width;
}

static void fit(void *arg, struct grid_column *column, enum typed_tag tag, struct buf *text)
{
    const struct table *table = arg;
    show(table->locale, text);
    widen(column, measure(table->locale, buf_span(text)));
    column->words |= tag != TYPED_N;
}

static bool start(struct form *form)
{
    struct table *table = (struct table *)form;
    struct grid *grid = &table->grid;
    table->locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    grid->view = &form->view;
    grid->fit = fit;
    grid->fit_arg = table;
    grid->closed = form->column_count > 0;
    bool ok = grid_init(grid);
    for (size_t i = 0; ok && i < form->column_count; i++)
        ok = grid_give(grid, form->columns[i]);
    for (size_t i = 0; ok && !grid->closed && i < form->view.first_count; i++)
        ok = grid_give(grid, span_text(form->view.first[i]));
    return ok;
}

static void clean_up(struct form *form)
{
    struct table *table = (struct table *)form;
    if (table->locale)
        freelocale(table->locale);
    grid_clean_up(&table->grid);
}

static size_t memory(const struct form *form)
{
    return grid_memory(&((const struct table *)form)->grid);
}

static bool add(struct form *form, struct json item, struct buf *out, struct error *err)
{
    struct grid *grid = &((struct table *)form)->grid;
    (void)out;
    return grid_add(grid, item, err) && form_allows(form, grid_size(grid), err);
}

/* Numbers, and what stands among them, end below each other; no blanks end a line. */
static void tell_cell(const struct table *table, size_t place, struct span text, struct buf *out)
{
    const struct grid_column *column = table->grid.columns[place];
    size_t blanks = column->width - measure(table->locale, text);
    buf_add_text(out, place ? GAP : "");
    if (!column->words)
        buf_add_repeated(out, ' ', blanks);
    buf_add_span(out, text);
    if (column->words && place + 1 < table->grid.count)
        buf_add_repeated(out, ' ', blanks);
}

/* The names, which make columns wider, too. */
static bool tell_names(struct table *table, struct buf *out)
{
    for (size_t i = 0; i < table->grid.count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct grid_column *column = table->grid.columns[i];
        buf_add_span(&name, column->node.key);
        show(table->locale, &name);
        if (name.failed)
            return false;
        widen(column, measure(table->locale, buf_span(&name)));
        widen(column, MISSING.size);
        tell_cell(table, i, buf_span(&name), out);
    }
    buf_add_char(out, '\n');
    return true;
}

static void tell_row(const struct table *table, const struct grid_cell *cells, struct buf *out)
{
    for (size_t i = 0; i < table->grid.count; i++) {
        const struct grid_cell *cell = &cells[table->grid.columns[i]->number];
        tell_cell(table, i, cell->tag == TYPED_NONE ? MISSING : cell->text, out);
    }
    buf_add_char(out, '\n');
}

static bool end(struct form *form, struct buf *out, struct error *err)
{
    struct table *table = (struct table *)form;
    const struct grid_cell *cells;
    size_t at = 0, before = out->size;
    if (!grid_sort(&table->grid) || !tell_names(table, out))
        return error_no_memory(err);
    while ((cells = grid_next(&table->grid, &at))) {
        tell_row(table, cells, out);
        if (!form_allows(form, out->size - before, err))
            return false;
    }
    return true;
}

const struct form_ops form_table = {sizeof(struct table), start, add, end, clean_up, memory};
