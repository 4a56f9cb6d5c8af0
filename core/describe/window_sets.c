#include "core/describe/window_sets.h"

#include "core/describe/route_words.h"

bool window_sets_each(const struct route *listing, window_fn *fn, void *arg)
{
    bool ok = true;
    for (const struct route *child = listing->children; ok && child; child = child->next) {
        CLEAN_UP(buf_clean_up) struct buf step = {0}, shown = {0};
        if (!child->list || !child->list->hidden)
            continue;
        route_write_segment(child, &step);
        buf_add_char(&step, '/');
        route_words_window(child, child->list, &shown);
        ok = !step.failed && !shown.failed;
        if (ok && shown.size > 0)
            fn(arg, child, buf_span(&step), buf_span(&shown));
    }
    return ok;
}

static void window_sets_add(void *arg, const struct route *window, struct span step,
                            struct span shown)
{
    struct buf *out = arg;
    (void)window;
    buf_add_span(out, step);
    buf_add_char(out, '\n');
    buf_add_span(out, shown);
    buf_add_char(out, '\n');
}

static void window_sets_describe(struct window_sets *sets, const struct route *listing,
                                 struct buf *out)
{
    sets->failed = !window_sets_each(listing, window_sets_add, out) || out->failed || sets->failed;
}

size_t window_sets_find(struct window_sets *sets, const struct route *listing)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (sets->count > 0)
        window_sets_describe(sets, listing, &text);
    for (size_t i = 0; text.size > 0 && i < sets->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf other = {0};
        window_sets_describe(sets, sets->listings[i], &other);
        if (span_equal(buf_span(&text), buf_span(&other)))
            return i + 1;
    }
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

void window_sets_collect(struct window_sets *sets, const struct route *route)
{
    if (route->list && sets->count < WINDOW_MOST_SETS && window_sets_find(sets, route) == 0) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        window_sets_describe(sets, route, &text);
        if (text.size > 0)
            sets->listings[sets->count++] = route;
    }
    for (const struct route *child = route->children; child; child = child->next)
        if (!child->entry)
            window_sets_collect(sets, child);
}

/* A search for one window; or, with AMONG, for all windows of a listing in another one. */
struct window_sets_search {
    struct span step, shown;
    const struct route *among;
    bool found; /* with AMONG: so far, all of them */
};

static void window_sets_compare(void *arg, const struct route *window, struct span step,
                                struct span shown)
{
    struct window_sets_search *search = arg;
    (void)window;
    search->found =
        search->found || (span_equal(step, search->step) &&
                          (search->shown.size == 0 || span_equal(shown, search->shown)));
}

bool window_sets_include(const struct route *listing, struct span step, struct span shown)
{
    struct window_sets_search search = {.step = step, .shown = shown};
    return window_sets_each(listing, window_sets_compare, &search) && search.found;
}

static void window_sets_find_among(void *arg, const struct route *window, struct span step,
                                   struct span shown)
{
    struct window_sets_search *search = arg;
    (void)window;
    (void)shown;
    search->found = search->found && window_sets_include(search->among, step, span_of("", 0));
}

size_t window_sets_base(const struct window_sets *sets, size_t set)
{
    for (size_t base = set; base-- > 0;) {
        struct window_sets_search search = {.among = sets->listings[set], .found = true};
        if (window_sets_each(sets->listings[base], window_sets_find_among, &search) && search.found)
            return base;
    }
    return set;
}
