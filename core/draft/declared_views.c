#include "core/draft/declared_views.h"

#include "core/draft/declare.h"

/* The entry limits of windows. */
enum { WINDOW_ENDS = 100, WINDOW_PAGE = 1000 };

static bool declared_views_keys_have(const struct declared_key *keys, size_t count,
                                     const char *param)
{
    for (size_t i = 0; i < count; i++) {
        if (format_has(&keys[i].format, param))
            return true;
        const struct declared_kind_format *each = keys[i].by_kind;
        for (; each; each = each->next)
            if (format_has(&each->format, param))
                return true;
    }
    return false;
}

static bool declared_views_is_part(const struct declared_table *table, const char *param)
{
    for (const struct declared_record *each = table->records; each; each = each->next)
        if (declared_views_keys_have(each->keys, each->key_count, param))
            return true;
    for (const struct declared_index *each = table->indexes; each; each = each->next)
        if (declared_views_keys_have(each->partition, each->partition_count, param) ||
            declared_views_keys_have(each->sort, each->sort_count, param))
            return true;
    return false;
}

const char *declared_views_free_param(struct arena *arena, const struct declared_table *table,
                                      const char *wanted)
{
    const char *name = wanted;
    for (unsigned n = 2; name && declared_views_is_part(table, name); n++)
        name = declare_other_name(arena, wanted, "value", n);
    return name;
}

struct window_params declared_views_params(struct arena *arena, const struct declared_table *table)
{
    return (struct window_params){
        .prefix = declared_views_free_param(arena, table, "prefix"),
        .from = declared_views_free_param(arena, table, "from"),
        .to = declared_views_free_param(arena, table, "to"),
        .count = declared_views_free_param(arena, table, "count"),
        .key = declared_views_free_param(arena, table, "key"),
    };
}

/* The listing with STEP ("last/" or "") below it. */
static struct declared_path *declared_views_add_step(struct arena *arena,
                                                     struct declared_table *table,
                                                     const struct view *view, const char *step)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s%s", view->path, step);
    arena->failed = arena->failed || text.failed;
    struct declared_path *path = declare_path(arena, table, buf_text(&text));
    if (!path)
        return NULL;
    if (view->kind)
        declare_path_kind(arena, path, view->kind);
    path->hidden = view->hidden || !step || step[0];
    path->index.text = view->index;
    struct declared_condition **last = &path->wheres;
    for (const struct declared_condition *from = view->where; from; from = from->next) {
        struct declared_condition *copy = arena_alloc(arena, sizeof *copy);
        if (!copy)
            return NULL;
        *copy = *from;
        copy->next = NULL;
        *last = copy;
        last = &copy->next;
    }
    path->has_name = view->name;
    if (view->name)
        path->name = declare_format(arena, view->name);
    return path;
}

struct declared_path *declared_views_add(struct arena *arena, struct declared_table *table,
                                         const struct view *view)
{
    return declared_views_add_step(arena, table, view, "");
}

/* "{prefix}" of a parameter's name, with text before and behind it. */
static const char *declared_views_write_step(struct arena *arena, const char *before,
                                             const char *param, const char *behind)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s{%s}%s", before, param, behind);
    return declare_text(arena, &text);
}

/* COUNT is the parameter of the limit; NULL: the limit is WINDOW_ENDS. */
static void declared_views_add_end(struct arena *arena, struct declared_table *table,
                                   const struct view *view, bool last, const char *count)
{
    static const char *const steps[2][2][2] = {{{"first/", "first:"}, {"last/", "last:"}},
                                               {{"oldest/", "oldest:"}, {"newest/", "newest:"}}};
    const char *step = steps[view->dated][last][count != NULL];
    struct declared_path *path = declared_views_add_step(
        arena, table, view, count ? declared_views_write_step(arena, step, count, "/") : step);
    if (!path)
        return;
    path->ordered = true;
    path->descending = last;
    path->limit_param = count;
    path->limit = count ? 0 : WINDOW_ENDS;
}

void declared_views_add_windows(struct arena *arena, struct declared_table *table,
                                const struct view *view, const struct window_params *params)
{
    if (!view->part || arena->failed)
        return;
    if (view->type == VALUE_S) {
        struct declared_path *begin = declared_views_add_step(
            arena, table, view, declared_views_write_step(arena, "", params->prefix, "*/"));
        if (begin)
            declare_where(arena, begin, view->part, COND_BEGINS,
                          declared_views_write_step(arena, "", params->prefix, ""), NULL);
    }
    CLEAN_UP(buf_clean_up) struct buf step = {0};
    buf_printf(&step, "{%s}..{%s}/", params->from, params->to);
    arena->failed = arena->failed || step.failed;
    struct declared_path *range = declared_views_add_step(arena, table, view, buf_text(&step));
    if (range)
        declare_where(arena, range, view->part, COND_BETWEEN,
                      declared_views_write_step(arena, "", params->from, ""),
                      declared_views_write_step(arena, "", params->to, ""));
    declared_views_add_end(arena, table, view, true, NULL);
    declared_views_add_end(arena, table, view, true, params->count);
    if (!view->attribute)
        return;
    declared_views_add_end(arena, table, view, false, NULL);
    declared_views_add_end(arena, table, view, false, params->count);
    /* the next page behind a key, to walk a long listing; items of an index with one key stay in
     * one page */
    struct declared_path *page = declared_views_add_step(
        arena, table, view, declared_views_write_step(arena, "after:", params->key, "/"));
    if (!page)
        return;
    declare_where(arena, page, view->attribute, COND_GT,
                  declared_views_write_step(arena, "", params->key, ""), NULL);
    struct declared_condition *last = page->wheres;
    while (last && last->next)
        last = last->next;
    if (last && !arena->failed)
        last->whole = true;
    page->ordered = true;
    page->limit = WINDOW_PAGE;
    page->ties = view->index;
}
