/* Forms: their settings, and which kind does the work. */
#include "core/output/form.h"

#include <stdlib.h>

#include "core/output/form_ops.h"

/* Of the rest, at a time. */
enum { PIECE_BYTES = 1 << 20 };

static const struct form_ops *const kinds[] = {
    [FORM_JSONL] = &form_jsonl, [FORM_CSV] = &form_csv,         [FORM_TABLE] = &form_table,
    [FORM_COUNT] = &form_count, [FORM_SUMMARY] = &form_summary,
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

static void form_copy_view(struct form *form, const struct record_view *view)
{
    form->view = *view;
    form->view.first = form_copy_names(&form->arena, view->first, view->first_count);
    form->view.secret = form_copy_names(&form->arena, view->secret, view->secret_count);
}

static bool form_is_among(const struct span *names, size_t count, struct span name)
{
    for (size_t i = 0; i < count; i++)
        if (span_equal(names[i], name))
            return true;
    return false;
}

static void form_copy_columns(struct form *form, const struct form_setting *setting)
{
    size_t count = setting->column_count;
    struct span *copies = arena_array(&form->arena, count, sizeof *copies);
    form->columns = copies;
    for (size_t i = 0; copies && i < count; i++)
        if (!form_is_among(copies, form->column_count, setting->columns[i]))
            copies[form->column_count++] = arena_copy(&form->arena, setting->columns[i]);
}

struct form *form_new(const struct form_setting *setting)
{
    const struct form_ops *ops = kinds[setting->kind];
    struct form *form = calloc(1, ops->size);
    if (!form)
        return NULL;
    form->ops = ops;
    form->most = setting->most;
    form->width = setting->width;
    form_copy_view(form, setting->view);
    form_copy_columns(form, setting);
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

bool form_allows(const struct form *form, size_t size, struct error *err)
{
    return form->most == 0 || size <= form->most ||
           error_set(err, ERROR_TOO_LARGE, "it would be larger than %zu bytes", form->most);
}

/* Takes back what was written since OUT had the size BEFORE, when not all went well. */
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
    do {
        left = false;
        ok = form->ops->end(form, out, &left, err);
    } while (ok && left && !out->failed && (!more || out->size - before < PIECE_BYTES));
    if (more)
        *more = ok && left;
    return form_finish(ok, out, before, err);
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
    buf_add_text(out, "none of the records has an attribute \"");
    buf_add_span(out, name);
    buf_add_char(out, '"');
    if (name.size > 0 && memchr(name.data, '.', name.size))
        buf_add_text(out, "; a column is a whole attribute, and of @jsonl jq tells a part of one");
}
