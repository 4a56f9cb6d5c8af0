#include "core/skill/windows.h"

#include "core/skill/markdown.h"
#include "core/tree/route_words.h"

void window_sets_clean_up(struct window_sets *sets)
{
    for (size_t i = 0; i < sets->count; i++)
        buf_clean_up(&sets->texts[i]);
    *sets = (struct window_sets){0};
}

static void window_write(struct buf *step, struct buf *shown, struct buf *out)
{
    buf_add_text(out, out->size ? "; " : "");
    markdown_add_code(out, buf_span(step));
    buf_add_char(out, ' ');
    markdown_add_code(out, buf_span(shown));
}

/* Appends the windows of LISTING: its hidden steps that show a part of it. */
static void window_describe(const struct route *listing, struct buf *out)
{
    for (const struct route *child = listing->children; child; child = child->next) {
        CLEAN_UP(buf_clean_up) struct buf step = {0}, shown = {0};
        if (!child->list || !child->list->hidden)
            continue;
        route_write_segment(child, &step);
        buf_add_char(&step, '/');
        route_words_window(child, child->list, &shown);
        if (shown.size > 0)
            window_write(&step, &shown, out);
        out->failed = out->failed || step.failed || shown.failed;
    }
}

size_t window_sets_find(struct window_sets *sets, const struct route *listing)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (sets->count > 0)
        window_describe(listing, &text);
    sets->failed = sets->failed || text.failed;
    for (size_t i = 0; text.size > 0 && i < sets->count; i++)
        if (span_equal(buf_span(&text), buf_span(&sets->texts[i])))
            return i + 1;
    return 0;
}

bool window_sets_have(struct window_sets *sets, const struct route *route)
{
    CLEAN_UP(buf_clean_up) struct buf shown = {0};
    if (!route->parent || !route->parent->list || !route->list || !route->list->hidden)
        return false;
    route_words_window(route, route->list, &shown);
    sets->failed = sets->failed || shown.failed;
    return shown.size > 0 && window_sets_find(sets, route->parent) > 0;
}

static void window_sets_collect_below(struct window_sets *sets, const struct route *route)
{
    if (route->list && sets->count < WINDOW_MOST_SETS && window_sets_find(sets, route) == 0) {
        struct buf *text = &sets->texts[sets->count];
        window_describe(route, text);
        sets->failed = sets->failed || text->failed;
        sets->count += text->size > 0 || text->failed;
    }
    for (const struct route *child = route->children; child; child = child->next)
        if (!child->entry)
            window_sets_collect_below(sets, child);
}

void window_sets_collect(struct window_sets *sets, const struct map *map)
{
    for (size_t i = 0; i < map->model_count; i++)
        window_sets_collect_below(sets, map->models[i]->root);
}

void window_sets_write(const struct window_sets *sets, struct buf *out)
{
    if (sets->count == 0)
        return;
    buf_add_text(out, "\n## Windows\n\nBelow a listing that is marked so, these show a part of it; "
                      "no `ls` shows them:\n\n");
    for (size_t i = 0; i < sets->count; i++) {
        buf_printf(out, "- windows %zu: ", i + 1);
        buf_add_span(out, buf_span(&sets->texts[i]));
        buf_add_char(out, '\n');
    }
}
