#include "core/draft/declared_views.h"

#include "core/draft/declare.h"

/* How many entries windows show that have a limit. */
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

const char *view_free_param(struct arena *arena, const struct declared_table *table,
                            const char *wanted)
{
    const char *name = wanted;
    for (unsigned n = 2; name && declared_views_is_part(table, name); n++)
        name = declare_other_name(arena, wanted, "value", n);
    return name;
}

struct window_params window_params_of(struct arena *arena, const struct declared_table *table)
{
    return (struct window_params){
        .prefix = view_free_param(arena, table, "prefix"),
        .from = view_free_param(arena, table, "from"),
        .to = view_free_param(arena, table, "to"),
        .count = view_free_param(arena, table, "count"),
        .key = view_free_param(arena, table, "key"),
    };
}

static void declared_views_copy_wheres(struct arena *arena, const struct declared_condition *from,
                                       struct declared_path *to)
{
    struct declared_condition **last = &to->wheres;
    for (; from; from = from->next) {
        struct declared_condition *copy = arena_alloc(arena, sizeof *copy);
        if (!copy)
            return;
        *copy = *from;
        copy->next = NULL;
        *last = copy;
        last = &copy->next;
    }
}

/* The listing with STEP ("last/" or "") below it. */
static struct declared_path *declared_views_add(struct arena *arena, struct declared_table *table,
                                                const struct view *view, const char *step)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s%s", view->path, step);
    arena->failed = arena->failed || text.failed;
    struct declared_path *path = declare_path(arena, table, buf_text(&text));
    if (!path)
        return NULL;
    if (view->kind) {
        path->kinds = arena_alloc(arena, sizeof *path->kinds);
        if (!path->kinds)
            return NULL;
        path->kinds->text = view->kind;
        path->kind_count = 1;
    }
    path->index.text = view->index;
    declared_views_copy_wheres(arena, view->where, path);
    path->has_name = view->name;
    if (view->name)
        path->name = declare_format(arena, view->name);
    return path;
}

struct declared_path *view_add(struct arena *arena, struct declared_table *table,
                               const struct view *view)
{
    struct declared_path *path = declared_views_add(arena, table, view, "");
    if (path)
        path->hidden = view->hidden;
    return path;
}

static struct declared_path *declared_views_add_window(struct arena *arena,
                                                       struct declared_table *table,
                                                       const struct view *view, const char *step)
{
    struct declared_path *path = declared_views_add(arena, table, view, step);
    if (path)
        path->hidden = true;
    return path;
}

/* "{prefix}" of a parameter's name, with text before and behind it. */
static const char *declared_views_write_step(struct arena *arena, const char *before,
                                             const char *param, const char *behind)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text, "%s{%s}%s", before, param, behind);
    arena->failed = arena->failed || text.failed;
    return arena_text(arena, buf_span(&text));
}

static void declared_views_add_beginning(struct arena *arena, struct declared_table *table,
                                         const struct view *view, const char *prefix)
{
    struct declared_path *path = declared_views_add_window(
        arena, table, view, declared_views_write_step(arena, "", prefix, "*/"));
    if (path)
        declare_where(arena, path, view->part, COND_BEGINS,
                      declared_views_write_step(arena, "", prefix, ""), NULL);
}

static void declared_views_add_range(struct arena *arena, struct declared_table *table,
                                     const struct view *view, const char *from, const char *to)
{
    CLEAN_UP(buf_clean_up) struct buf step = {0};
    buf_printf(&step, "{%s}..{%s}/", from, to);
    arena->failed = arena->failed || step.failed;
    struct declared_path *path = declared_views_add_window(arena, table, view, buf_text(&step));
    if (path)
        declare_where(arena, path, view->part, COND_BETWEEN,
                      declared_views_write_step(arena, "", from, ""),
                      declared_views_write_step(arena, "", to, ""));
}

/* COUNT is the parameter that says how many; NULL: WINDOW_ENDS. */
static void declared_views_add_end(struct arena *arena, struct declared_table *table,
                                   const struct view *view, bool last, const char *count)
{
    static const char *const steps[2][2][2] = {{{"first/", "first:"}, {"last/", "last:"}},
                                               {{"oldest/", "oldest:"}, {"newest/", "newest:"}}};
    const char *step = steps[view->dated][last][count != NULL];
    struct declared_path *path = declared_views_add_window(
        arena, table, view, count ? declared_views_write_step(arena, step, count, "/") : step);
    if (!path)
        return;
    path->ordered = true;
    path->descending = last;
    path->limit_param = count;
    path->limit = count ? 0 : WINDOW_ENDS;
}

/* The next page behind a key, so that a long listing can be walked. An index may have several items
 * with one key, which no page may divide. */
static void declared_views_add_page(struct arena *arena, struct declared_table *table,
                                    const struct view *view, const char *key)
{
    struct declared_path *path = declared_views_add_window(
        arena, table, view, declared_views_write_step(arena, "after:", key, "/"));
    if (!path)
        return;
    declare_where(arena, path, view->attribute, COND_GT,
                  declared_views_write_step(arena, "", key, ""), NULL);
    if (path->wheres && !arena->failed) {
        struct declared_condition *last = path->wheres;
        while (last->next)
            last = last->next;
        last->whole = true;
    }
    path->ordered = true;
    path->limit = WINDOW_PAGE;
    path->ties = view->index;
}

void view_add_windows(struct arena *arena, struct declared_table *table, const struct view *view,
                      const struct window_params *params)
{
    if (!view->part || arena->failed)
        return;
    if (view->type == VALUE_S)
        declared_views_add_beginning(arena, table, view, params->prefix);
    declared_views_add_range(arena, table, view, params->from, params->to);
    declared_views_add_end(arena, table, view, true, NULL);
    declared_views_add_end(arena, table, view, true, params->count);
    if (!view->attribute)
        return;
    declared_views_add_end(arena, table, view, false, NULL);
    declared_views_add_end(arena, table, view, false, params->count);
    declared_views_add_page(arena, table, view, params->key);
}
