#include "core/sql/sql_target.h"

bool sql_target_needs_value(const struct sql_constraint *constraint)
{
    return constraint->is_usable && constraint->op != SQL_OP_IS && constraint->op != SQL_OP_LIMIT &&
           constraint->op != SQL_OP_OTHER;
}

size_t sql_target_find_column(const struct sql_columns *columns, const struct map_key *key)
{
    size_t i = sql_columns_find_part(columns, key->attribute);
    return i < columns->count && columns->items[i].role == SQL_ATTRIBUTE ? i : columns->count;
}

static bool sql_target_is_needed(const struct sql_wanted *wanted, size_t column)
{
    for (size_t i = 0; i < wanted->constraint_count; i++)
        if (sql_target_needs_value(&wanted->constraints[i]) &&
            wanted->constraints[i].column == column)
            return true;
    return false;
}

/* The format of the index's KEY for KIND; NULL if no item of that kind has it there. */
static const struct format *sql_target_index_format(const struct model *model,
                                                    const struct map_key *key,
                                                    const struct map_kind *kind)
{
    if (kind)
        return model_key_format(model, key, kind);
    return model_is_key(model, key->attribute) || key->by_kind_count ? NULL : &key->format;
}

static bool sql_target_kind_has(const struct model *model, const struct map_kind *kind,
                                const char *param)
{
    for (size_t i = 0; kind && i < model->key_count; i++)
        if (format_has(&kind->keys[i], param))
            return true;
    return false;
}

/* Whether COLUMN has a value in some item of KIND. */
static bool sql_target_has_column(const struct model *model, const struct map_kind *kind,
                                  const struct sql_column *column)
{
    if (column->role != SQL_PART)
        return true;
    if (!column->key)
        return sql_target_kind_has(model, kind, column->name);
    const struct format *format = sql_target_index_format(model, column->key, kind);
    return format && format_has(format, column->name);
}

static bool sql_target_allows(const struct sql_wanted *wanted, const struct map_kind *kind)
{
    const struct sql_columns *columns = wanted->columns;
    for (size_t i = 0; i < wanted->constraint_count; i++)
        if (sql_target_needs_value(&wanted->constraints[i]) &&
            !sql_target_has_column(columns->model, kind,
                                   &columns->items[wanted->constraints[i].column]))
            return false;
    return true;
}

/* Whether a path of the map reads the kind through the index. */
static bool sql_target_is_promised(const struct model *model, const struct map_kind *kind,
                                   const struct map_index *index)
{
    for (const struct map_pattern *each = model->patterns; kind && each; each = each->next)
        for (size_t i = 0; each->index == index && i < each->kind_count; i++)
            if (each->kinds[i] == kind)
                return true;
    return false;
}

/* Whether the columns of the parts of a promised format have the values that the promise is about:
 * a part that another index has is read in that index's format, which must be promised, too. */
static bool sql_target_is_read_alike(const struct sql_columns *columns, const struct map_kind *kind,
                                     const struct map_index *index, const struct format *format)
{
    const struct model *model = columns->model;
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        size_t at = param ? sql_columns_find_part(columns, param) : columns->count;
        const struct sql_column *column = at < columns->count ? &columns->items[at] : NULL;
        if (!column || column->role != SQL_PART || !column->key)
            continue;
        bool alike = false;
        for (const struct map_index *each = model->indexes; each; each = each->next) {
            const struct map_key *key;
            for (size_t k = 0; (key = model_index_key(each, k)); k++)
                alike = alike || (key == column->key &&
                                  (each == index || sql_target_is_promised(model, kind, each)));
        }
        if (!alike)
            return false;
    }
    return true;
}

/* Whether each part of the format of KEY, of an index, has the value of its column. A constraint on
 * one of them proves that the item's attribute has the format. */
static bool sql_target_is_own_format(const struct sql_wanted *wanted, const struct map_key *key,
                                     const struct map_kind *kind, const struct format *format)
{
    const struct sql_columns *columns = wanted->columns;
    bool is_proven = false;
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        if (!param)
            continue;
        size_t at = sql_columns_find_part(columns, param);
        const struct map_key *source = at < columns->count ? columns->items[at].key : NULL;
        const struct format *other = source && strcmp(source->attribute, key->attribute) == 0
                                         ? sql_target_index_format(columns->model, source, kind)
                                         : NULL;
        if (!other || !format_equal(other, format))
            return false;
        is_proven = is_proven || sql_target_is_needed(wanted, at);
    }
    return is_proven;
}

/* FORMAT, unless it is the attribute of KEY itself, whose values may have the separator. */
static const struct format *sql_target_parts(const struct sql_columns *columns,
                                             const struct map_key *key, const struct format *format)
{
    const char *whole = format ? format_whole_param(format) : NULL;
    size_t own = sql_target_find_column(columns, key);
    return whole && own < columns->count && sql_columns_find_part(columns, whole) == own ? NULL
                                                                                         : format;
}

/* Whether a constraint needs the attribute of KEY to be in the item: by its own name, or by one of
 * its parts. */
static bool sql_target_is_attribute_needed(const struct sql_wanted *wanted,
                                           const struct map_key *key)
{
    const struct sql_columns *columns = wanted->columns;
    for (size_t i = 0; i < columns->count; i++)
        if (columns->items[i].key &&
            strcmp(columns->items[i].key->attribute, key->attribute) == 0 &&
            sql_target_is_needed(wanted, i))
            return true;
    return false;
}

/* Whether the columns of all parts of FORMAT have a value in each wanted row of KIND. */
static bool sql_target_has_parts(const struct sql_wanted *wanted, const struct map_kind *kind,
                                 const struct format *format)
{
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        if (param && !sql_target_kind_has(wanted->columns->model, kind, param) &&
            !sql_target_is_needed(wanted, sql_columns_find_part(wanted->columns, param)))
            return false;
    }
    return true;
}

/* Finds the formats of a case of an index. False if a wanted row may not be in the index. */
static bool sql_target_find_formats(const struct sql_wanted *wanted,
                                    const struct sql_target *target, struct sql_case *each)
{
    const struct model *model = wanted->columns->model;
    bool is_named = wanted->index == target->index;
    bool is_promised = sql_target_is_promised(model, each->kind, target->index);
    for (size_t i = 0; i < target->key_count; i++) {
        const struct map_key *key = target->keys[i];
        const struct format *format = sql_target_index_format(model, key, each->kind);
        bool is_base = model_is_key(model, key->attribute);
        bool is_alike =
            is_promised && format &&
            sql_target_is_read_alike(wanted->columns, each->kind, target->index, format);
        if (format &&
            (is_base || is_alike || sql_target_is_own_format(wanted, key, each->kind, format)))
            each->formats[i] = sql_target_parts(wanted->columns, key, format);
        bool in_index = is_base || is_named || sql_target_is_attribute_needed(wanted, key) ||
                        (is_alike && sql_target_has_parts(wanted, each->kind, format));
        if (!in_index)
            return false;
    }
    return true;
}

static void sql_target_set_keys(const struct model *model, struct sql_target *target)
{
    const struct map_key *key;
    target->partition_count = target->index ? target->index->partition_count : 1;
    for (size_t i = 0; target->index && (key = model_index_key(target->index, i)); i++)
        target->keys[target->key_count++] = key;
    for (size_t i = 0; !target->index && i < model->key_count; i++)
        target->keys[target->key_count++] = &model->keys[i];
}

static bool sql_target_add_case(const struct sql_wanted *wanted, struct sql_target *target,
                                const struct map_kind *kind)
{
    struct sql_case *each = &target->cases[target->case_count];
    *each = (struct sql_case){.kind = kind};
    for (size_t i = 0; !target->index && kind && i < target->key_count; i++)
        each->formats[i] = sql_target_parts(wanted->columns, target->keys[i], &kind->keys[i]);
    if (target->index && !sql_target_find_formats(wanted, target, each))
        return false;
    for (size_t i = 0; i < target->partition_count; i++)
        if (!sql_target_fixes(wanted, target, each, i, NULL))
            return false;
    target->case_count++;
    return true;
}

/* If an item without a kind may be wanted, one case has all items. */
bool sql_target_find(const struct sql_wanted *wanted, const struct map_index *index,
                     struct arena *arena, struct sql_target *out)
{
    const struct model *model = wanted->columns->model;
    size_t kinds = 1;
    *out = (struct sql_target){.index = index};
    sql_target_set_keys(model, out);
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        kinds++;
    out->cases = arena_array(arena, kinds, sizeof *out->cases);
    if (!out->cases)
        return false;
    if (sql_target_allows(wanted, NULL))
        return sql_target_add_case(wanted, out, NULL);
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        if (sql_target_allows(wanted, kind) && !sql_target_add_case(wanted, out, kind))
            return false;
    return true;
}

/* Marks the usable constraints on COLUMN that narrow a key. Whether one of them is an equality. */
static bool sql_target_note(const struct sql_wanted *wanted, size_t column, bool *in_key)
{
    bool is_fixed = false;
    for (size_t i = 0; i < wanted->constraint_count; i++) {
        const struct sql_constraint *each = &wanted->constraints[i];
        if (!each->is_usable || each->column != column || each->op > SQL_OP_BEGINS)
            continue;
        is_fixed = is_fixed || each->op == SQL_OP_EQ;
        if (in_key)
            in_key[i] = true;
    }
    return is_fixed;
}

bool sql_target_fixes(const struct sql_wanted *wanted, const struct sql_target *target,
                      const struct sql_case *each, size_t i, bool *in_key)
{
    const struct sql_columns *columns = wanted->columns;
    const struct format *format = each->formats[i];
    size_t own = sql_target_find_column(columns, target->keys[i]);
    bool fixed = own < columns->count && sql_target_note(wanted, own, in_key);
    bool parts = format && !fixed;
    for (size_t k = 0; parts && k < format->count; k++) {
        const char *param = format->pieces[k].param;
        size_t column = param ? sql_columns_find_part(columns, param) : 0;
        if (param)
            parts = column < columns->count && sql_target_note(wanted, column, in_key);
    }
    return fixed || parts;
}
