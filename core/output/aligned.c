#include "core/output/aligned.h"

#include <wchar.h>

#include "core/base/printable.h"
#include "core/base/utf8.h"

enum { MOST_WIDTH = 60 };

static const char GAP[] = "  ";
static const struct span CUT = {"\u2026", 3}, MISSING = {"-", 1};

/* The cells of a terminal that a character takes; 1 for one that the system does not know. */
static size_t aligned_width_of(locale_t locale, struct span character)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    if (!locale || character.size == 1)
        return 1;
    unsigned point = (unsigned char)character.data[0] & masks[character.size];
    for (size_t i = 1; i < character.size; i++)
        point = point << 6 | ((unsigned char)character.data[i] & 0x3f);
    locale_t before = uselocale(locale);
    int width = wcwidth((wchar_t)point);
    uselocale(before);
    return width < 0 ? 1 : (size_t)width;
}

static size_t aligned_measure(locale_t locale, struct span text)
{
    size_t width = 0;
    while (text.size > 0) {
        struct span character = span_of(text.data, utf8_length(text));
        width += aligned_width_of(locale, character);
        text = span_from(text, character.size);
    }
    return width;
}

/* Cuts TEXT, which is printable, where it is too wide. */
static void aligned_cut(locale_t locale, struct buf *text)
{
    size_t width = 0, kept = 0; /* KEPT: bytes that leave room for the ellipsis */
    struct span left = buf_span(text);
    while (left.size > 0) {
        struct span character = span_of(left.data, utf8_length(left));
        width += aligned_width_of(locale, character);
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

/* Escapes TEXT, and cuts it. */
static void aligned_show(locale_t locale, bool cuts, struct buf *text)
{
    struct buf shown = {0};
    printable_add(&shown, buf_span(text), "");
    if (cuts && !shown.failed)
        aligned_cut(locale, &shown);
    shown.failed |= text->failed;
    buf_clean_up_secret(text);
    buf_move(text, &shown);
}

static void aligned_widen(struct grid_column *column, size_t width)
{
    size_t most = width < MOST_WIDTH ? width : MOST_WIDTH;
    if (most > column->width)
        column->width = most;
}

static void aligned_fit_cell(void *arg, struct grid_column *column, enum typed_tag tag,
                             struct buf *text)
{
    const struct aligned *aligned = arg;
    aligned_show(aligned->locale, !aligned->holds_whole, text);
    aligned_widen(column, aligned_measure(aligned->locale, buf_span(text)));
    column->words |= tag != TYPED_N;
}

bool aligned_start(struct aligned *aligned, const struct record_view *view, bool all)
{
    struct grid *grid = &aligned->grid;
    *aligned = (struct aligned){.locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0)};
    grid->view = view;
    grid->fit = aligned_fit_cell;
    grid->fit_arg = aligned;
    grid->closed = !all;
    return grid_init(grid);
}

void aligned_end(struct aligned *aligned)
{
    if (aligned->locale)
        freelocale(aligned->locale);
    grid_clean_up(&aligned->grid);
    *aligned = (struct aligned){0};
}

static size_t aligned_shown(const struct aligned *aligned)
{
    return aligned->grid.count - aligned->left_out;
}

static void aligned_write_cell(const struct aligned *aligned, size_t place, struct span text,
                               bool ends, struct buf *out)
{
    const struct grid_column *column = aligned->grid.columns[place];
    CLEAN_UP(buf_clean_up_secret) struct buf cut = {0};
    if (aligned->cuts) {
        buf_add_span(&cut, text);
        aligned_cut(aligned->locale, &cut);
        out->failed |= cut.failed;
        text = buf_span(&cut);
    }
    size_t width = aligned_measure(aligned->locale, text);
    size_t blanks = width < column->width ? column->width - width : 0;
    buf_add_text(out, place ? GAP : "");
    if (!column->words)
        buf_add_repeated(out, ' ', blanks);
    buf_add_span(out, text);
    if (column->words && (!ends || place + 1 < aligned_shown(aligned)))
        buf_add_repeated(out, ' ', blanks);
}

/* Fills in the column's NAME as it is shown. False when memory ran out. */
static bool aligned_show_name(struct aligned *aligned, struct grid_column *column, struct buf *name)
{
    buf_add_span(name, column->node.key);
    aligned_show(aligned->locale, true, name);
    if (!name->failed)
        aligned_widen(column, aligned_measure(aligned->locale, buf_span(name)));
    return !name->failed;
}

size_t aligned_width(struct aligned *aligned)
{
    const struct grid *grid = &aligned->grid;
    size_t width = 0;
    for (size_t i = 0; i < grid->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        aligned_show_name(aligned, grid->columns[i], &name);
        width += (i ? sizeof GAP - 1 : 0) + grid->columns[i]->width;
    }
    return width;
}

bool aligned_fit(struct aligned *aligned, size_t width, size_t *left_out)
{
    const struct grid *grid = &aligned->grid;
    size_t used = 0, fitting = 0;
    for (size_t i = 0; i < grid->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        struct grid_column *column = grid->columns[i];
        if (!aligned_show_name(aligned, column, &name))
            return false;
        size_t more = (fitting ? sizeof GAP - 1 : 0) + column->width;
        if (fitting > 0 && used + more > width)
            continue;
        used += more;
        memmove(grid->columns + fitting + 1, grid->columns + fitting,
                (i - fitting) * sizeof *grid->columns); /* those left out move behind the others */
        grid->columns[fitting++] = column;
    }
    *left_out = aligned->left_out = grid->count - fitting;
    return true;
}

bool aligned_write_names(struct aligned *aligned, struct buf *out)
{
    for (size_t i = 0; i < aligned_shown(aligned); i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        if (!aligned_show_name(aligned, aligned->grid.columns[i], &name))
            return false;
        aligned_write_cell(aligned, i, buf_span(&name), true, out);
    }
    buf_add_char(out, '\n');
    return true;
}

size_t aligned_name_width(struct aligned *aligned)
{
    size_t widest = 0;
    for (size_t i = 0; i < aligned->grid.count; i++) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        aligned_show_name(aligned, aligned->grid.columns[i], &name);
        size_t width = aligned_measure(aligned->locale, buf_span(&name));
        widest = width > widest ? width : widest;
    }
    return widest;
}

void aligned_write_name(struct aligned *aligned, size_t place, size_t width, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    aligned_show_name(aligned, aligned->grid.columns[place], &name);
    size_t own = aligned_measure(aligned->locale, buf_span(&name));
    buf_add_span(out, buf_span(&name));
    buf_add_repeated(out, ' ', own < width ? width - own : 0);
    buf_add_text(out, GAP);
    out->failed |= name.failed;
}

bool aligned_write_next(struct aligned *aligned, bool ends, struct buf *out)
{
    const struct grid_cell *cells = grid_next(&aligned->grid, &aligned->at);
    if (!cells)
        return false;
    for (size_t i = 0; i < aligned_shown(aligned); i++) {
        const struct grid_cell *cell = &cells[aligned->grid.columns[i]->number];
        struct span text = cell->tag == TYPED_NONE ? MISSING : cell->text;
        aligned_widen(aligned->grid.columns[i], MISSING.size);
        aligned_write_cell(aligned, i, text, ends, out);
    }
    buf_add_text(out, ends ? "\n" : GAP);
    return true;
}

void aligned_forget(struct aligned *aligned)
{
    grid_forget(&aligned->grid);
    aligned->at = 0;
}
