#include "core/describe/skill_example.h"

#include "core/base/printable.h"
#include "core/base/shell.h"

const struct map_environment *skill_example_environment(const struct map *map)
{
    for (const struct map_environment *each = map->environments; each; each = each->next)
        if (format_is_literal(&each->name))
            return each;
    return map->environments;
}

const struct map_environment *skill_example_other_environment(const struct map_environment *first)
{
    for (const struct map_environment *each = first ? first->next : NULL; each; each = each->next)
        if (format_is_literal(&each->name))
            return each;
    return NULL;
}

/* Something stands in for what a name like "dev-{branch}" leaves open. */
static struct place *skill_example_enter_environment(const struct place *root,
                                                     const struct map_environment *environment,
                                                     const struct place_options *names)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct bindings values = {0};
    for (size_t i = 0; i < environment->name.count; i++)
        if (environment->name.pieces[i].param)
            bindings_add(&values, environment->name.pieces[i].param, SPAN_LITERAL("1"));
    if (!names_write_environment(environment, &values, &name))
        return NULL;
    return place_child(root, buf_span(&name), names, NULL);
}

struct place *skill_example_table(const struct map *map, const struct map_environment *environment,
                                  const struct model *model)
{
    const struct place_options names = {.suffix = ""};
    struct place *root = place_root(map);
    struct place *within = root ? skill_example_enter_environment(root, environment, &names) : NULL;
    struct place *table = within ? place_table(within, model) : NULL;
    place_destroy(root);
    place_destroy(within);
    return table;
}

/* A short one of letters and digits, and what else no name, shell or Markdown takes for its own. */
static bool skill_example_is_plain(struct span text)
{
    enum { MOST_BYTES = 64 };
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool ok = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  c == '_' || c == '-';
        if (!ok)
            return false;
    }
    return text.size > 0 && text.size <= MOST_BYTES;
}

static void skill_example_write_piece(const struct model *model, const struct format_piece *piece,
                                      struct buf *out)
{
    const struct map_param *param = piece->param ? model_find_param(model, piece->param) : NULL;
    if (!piece->param)
        buf_add_span(out, piece->literal);
    else if (param && param->value_count > 0 && skill_example_is_plain(param->values[0]))
        buf_add_span(out, param->values[0]);
    else
        buf_printf(out, "{%s}", piece->param);
}

static void skill_example_write_steps(const struct model *model, const struct route *route,
                                      struct buf *out)
{
    if (!route->parent)
        return;
    skill_example_write_steps(model, route->parent, out);
    buf_add_char(out, '/');
    for (size_t i = 0; i < route->segment.count; i++)
        skill_example_write_piece(model, &route->segment.pieces[i], out);
}

void skill_example_path(const struct map_environment *environment, const struct model *model,
                        const struct route *route, const struct place_options *names,
                        struct buf *out)
{
    buf_add_char(out, '/');
    format_write(&environment->name, out);
    buf_printf(out, "/%s", model->path_name);
    skill_example_write_steps(model, route, out);
    if (route->file && !route->file->attribute)
        buf_add_text(out, names->suffix);
}

void skill_example_add_word(struct span path, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, path, "");
    shell_quote(out, buf_span(&safe));
    out->failed = out->failed || safe.failed;
}
