#include "core/describe/skill_sql.h"

#include <string.h>

#include "core/base/database.h"
#include "core/base/printable.h"
#include "core/base/shell.h"

/* Appends NAME=TEXT for a shell. A statement has single quotes, so it is in double ones, unless the
 * shell would expand a piece of it. */
static void skill_sql_write_variable(const char *name, struct buf *text, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, buf_span(text), "");
    bool plain = true;
    for (size_t i = 0; i < safe.size; i++)
        plain = plain && !strchr("$`\\!\"", safe.data[i]);
    buf_printf(out, "%s=", name);
    if (plain && strchr(buf_text(&safe), '\''))
        buf_printf(out, "\"%s\"", buf_text(&safe));
    else
        shell_word(out, buf_span(&safe));
    buf_add_char(out, '\n');
    out->failed = out->failed || text->failed || safe.failed;
    buf_truncate(text, 0);
}

/* Appends TEXT as a literal of TYPE. */
static void skill_sql_write_literal(enum value_type type, struct span text, struct buf *out)
{
    if (type == VALUE_N) {
        buf_add_span(out, text);
        return;
    }
    buf_add_text(out, type == VALUE_B ? "x'" : "'");
    for (size_t i = 0; i < text.size; i++) {
        buf_add_char(out, text.data[i]);
        if (text.data[i] == '\'')
            buf_add_char(out, '\'');
    }
    buf_add_char(out, '\'');
}

/* The part's column, equal to an example. */
static void skill_sql_write_part(const struct model *model, const struct format_piece *piece,
                                 enum value_type type, struct buf *out)
{
    const struct map_param *param = model_find_param(model, piece->param);
    CLEAN_UP(buf_clean_up) struct buf example = {0};
    if (param && param->value_count > 0 && skill_table_is_plain(param->values[0]))
        buf_add_span(&example, param->values[0]);
    else
        buf_printf(&example, "{%s}", piece->param);
    database_write_name(span_text(piece->param), out);
    buf_add_text(out, " = ");
    skill_sql_write_literal(piece->pad > 0 ? VALUE_N : type, buf_span(&example), out);
    out->failed = out->failed || example.failed;
}

/* The conditions that find the items of KIND in one partition. */
static void skill_sql_write_conditions(const struct model *model, const struct map_kind *kind,
                                       struct buf *out)
{
    const struct format *format = &kind->keys[0];
    size_t before = out->size;
    for (size_t i = 0; i < format->count; i++) {
        if (!format->pieces[i].param)
            continue;
        buf_add_text(out, out->size > before ? " and " : "");
        skill_sql_write_part(model, &format->pieces[i], model->keys[0].type, out);
    }
    if (out->size > before)
        return;
    database_write_name(span_text(model->keys[0].attribute), out);
    buf_add_text(out, " = ");
    skill_sql_write_literal(model->keys[0].type, format_literal(format), out);
}

static void skill_sql_write_table(const struct map_environment *environment, const char *table,
                                  struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    format_write(&environment->name, &name);
    database_write_name(buf_span(&name), out);
    buf_add_char(out, '.');
    database_write_name(span_text(table), out);
    out->failed = out->failed || name.failed;
}

void skill_sql_write_variables(const struct skill_of *of, const struct model *model,
                               const struct map_pattern *list, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    const struct map_environment *other = skill_table_other_environment(of->environment);
    if (!model) {
        buf_add_text(out, "FROM='\"{table}\"'\nWHERE=\"{key} = 'VALUE'\"\n");
        return;
    }
    const struct map_kind *kind = list->kind_count > 0 ? list->kinds[0] : model->kinds;
    skill_sql_write_table(of->environment, model->path_name, &text);
    skill_sql_write_variable("FROM", &text, out);
    skill_sql_write_conditions(model, kind == model->any ? model->kinds : kind, &text);
    skill_sql_write_variable("WHERE", &text, out);
    if (!other)
        return;
    skill_sql_write_table(other, model->path_name, &text);
    skill_sql_write_variable("ALSO", &text, out);
}
