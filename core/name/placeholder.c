#include "core/name/placeholder.h"

#include "core/base/escape.h"
#include "core/map/companion.h"
#include "core/map/directory_groups.h"
#include "core/map/listable.h"

void placeholder_write_name(const struct route *step, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    format_write(&step->segment, &name);
    if (name.size > NAME_LIMIT && !escape_shorten(&name, NAME_LIMIT, ESCAPE_MARK_DIRECTORY))
        out->failed = true;
    buf_add_span(out, buf_span(&name));
    out->failed = out->failed || name.failed;
}

/* The map's hint for the first parameter of a step that has one. */
static const char *placeholder_hint(const struct model *table, const struct route *step)
{
    for (size_t i = 0; i < step->segment.count; i++) {
        const char *name = step->segment.pieces[i].param;
        const struct map_param *param = name ? model_find_param(table, name) : NULL;
        if (param && param->hint)
            return param->hint;
    }
    return NULL;
}

bool placeholder_refuse(const struct model *table, const struct route *step,
                        const struct bindings *path, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf segment = {0};
    format_write(&step->segment, &segment);
    const char *slash = step->file ? "" : "/", *hint = placeholder_hint(table, step);
    const char *reason = listable_values(table, step)
                             ? "is listed as far as the map knows its values, and it does not say "
                               "that these are \"only\" them"
                         : listable_follows_some(step, path) || directory_groups_show(step, path)
                             ? "is listed as far as entries lead to it, and there may be others"
                             : "can't be listed, since no key leads to all of them";
    return error_set(err, ERROR_NOT_LISTABLE, "%s%s %s; type one: …/%s%s%s%s", buf_text(&segment),
                     slash, reason, buf_text(&segment), slash, hint ? "; " : "", hint ? hint : "");
}

bool placeholder_refuse_columns(struct error *err)
{
    return error_set(err, ERROR_NOT_LISTABLE,
                     "the columns of a table are typed: …@table/status,created_at, with attributes "
                     "of the records in place of these; …@summary tells which there are");
}
