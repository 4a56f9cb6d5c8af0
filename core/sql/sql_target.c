#include "core/sql/sql_target.h"

bool sql_target_needs_value(const struct sql_constraint *constraint)
{
    return constraint->is_usable && constraint->op != SQL_OP_IS && constraint->op != SQL_OP_LIMIT &&
           constraint->op != SQL_OP_OTHER;
}

/* Whether COLUMN is compared as values of TYPE. */
static bool sql_target_is_of_type(const struct sql_column *column, enum value_type type)
{
    return type == VALUE_S   ? column->is_text
           : type == VALUE_N ? column->is_number
                             : column->is_binary;
}

size_t sql_target_find_own(const struct sql_columns *columns, const struct map_key *key,
                           const struct map_kind *kind)
{
    size_t i = sql_columns_find_part(columns, key->attribute);
    if (i == columns->count)
        return i;
    bool is_own = sql_columns_origin(columns, i, kind).place == SQL_FROM_ATTRIBUTE &&
                  sql_target_is_of_type(&columns->items[i], key->type);
    return is_own ? i : columns->count;
}

static bool sql_target_is_needed(const struct sql_wanted *wanted, size_t column)
{
    for (size_t i = 0; i < wanted->constraint_count; i++)
        if (sql_target_needs_value(&wanted->constraints[i]) &&
            wanted->constraints[i].column == column)
            return true;
    return false;
}

/* Whether items of KIND (NULL: of no declared kind) may have a value in each constrained column. */
static bool sql_target_allows(const struct sql_wanted *wanted, const struct map_kind *kind)
{
    const struct sql_columns *columns = wanted->columns;
    for (size_t i = 0; i < wanted->constraint_count; i++)
        if (sql_target_needs_value(&wanted->constraints[i]) &&
            sql_columns_origin(columns, wanted->constraints[i].column, kind).place ==
                SQL_FROM_NOWHERE)
            return false;
    return true;
}

bool sql_target_is_promised(const struct model *model, const struct map_kind *kind,
                            const struct map_index *index)
{
    for (size_t i = 0; kind && i < index->hold_count; i++)
        if (index->holds[i] == kind)
            return true;
    const struct map_pattern *each = kind && !index->has_holds ? model->patterns : NULL;
    for (; each; each = each->next)
        for (size_t i = 0; each->index == index && i < each->kind_count; i++)
            if (each->kinds[i] == kind)
                return true;
    return false;
}

bool sql_target_is_part_of(const struct model *model, struct sql_origin origin,
                           const struct map_key *key, const struct map_kind *kind)
{
    if (origin.place != SQL_FROM_INDEX || strcmp(origin.key->attribute, key->attribute) != 0)
        return false;
    const struct format *format = model_key_format(model, key, kind);
    return format && format_equal(model_key_format(model, origin.key, kind), format);
}

/* Whether the promises for INDEX cover an item's key attribute KEY, perhaps of another index. */
static bool sql_target_is_covered(const struct model *model, const struct map_kind *kind,
                                  const struct map_index *index, const struct map_key *key)
{
    const struct map_key *other;
    for (const struct map_index *each = model->indexes; each; each = each->next)
        for (size_t i = 0; (other = model_index_key(each, i)); i++)
            if (other == key && (each == index || sql_target_is_promised(model, kind, each)))
                return true;
    return false;
}

/* Whether the map states that items of KIND have the attribute of the name of a part without that
 * part. Key attributes have their own promises. */
static bool sql_target_is_beside(const struct sql_columns *columns, size_t column,
                                 const struct map_kind *kind)
{
    return !columns->items[column].key &&
           model_presence(columns->model, kind, columns->items[column].name) == MAP_PRESENT;
}

/* Whether the columns of the parts of FORMAT, of KEY of the promised index, have the values that
 * the promise is about. If the map states that the attribute of a part's name occurs beside the
 * part, the promise is not about it. */
static bool sql_target_is_read_alike(const struct sql_columns *columns, const struct map_kind *kind,
                                     const struct map_index *index, const struct map_key *key,
                                     const struct format *format)
{
    const struct model *model = columns->model;
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        size_t at = param ? sql_columns_find_part(columns, param) : columns->count;
        if (at == columns->count)
            continue;
        struct sql_origin origin = sql_columns_origin(columns, at, kind);
        bool is_beside = sql_target_is_beside(columns, at, kind);
        bool is_here = sql_target_is_part_of(model, origin, key, kind);
        if (origin.place == SQL_FROM_ATTRIBUTE && is_beside)
            return false;
        if (origin.place == SQL_FROM_INDEX && !is_here &&
            (is_beside || !sql_target_is_covered(model, kind, index, origin.key)))
            return false;
    }
    return true;
}

/* Whether each part of the format of KEY, of an index, has the value of its column, which nothing
 * else can give it. A constraint on one of them proves that the item's attribute has the format. */
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
        if (at == columns->count)
            return false;
        struct sql_origin origin = sql_columns_origin(columns, at, kind);
        if (origin.or_attribute || !sql_target_is_part_of(columns->model, origin, key, kind))
            return false;
        is_proven = is_proven || sql_target_is_needed(wanted, at);
    }
    return is_proven;
}

/* FORMAT, unless it is the attribute of KEY itself, whose values may have the separator. */
static const struct format *sql_target_parts(const struct sql_columns *columns,
                                             const struct map_key *key, const struct map_kind *kind,
                                             const struct format *format)
{
    const char *whole = format ? format_whole_param(format) : NULL;
    size_t own = sql_target_find_own(columns, key, kind);
    return whole && own < columns->count && sql_columns_find_part(columns, whole) == own ? NULL
                                                                                         : format;
}

/* Whether a constraint needs the attribute of KEY to be in items of KIND: by its own name, or by
 * one of its parts. */
static bool sql_target_is_attribute_needed(const struct sql_wanted *wanted,
                                           const struct map_key *key, const struct map_kind *kind)
{
    const struct sql_columns *columns = wanted->columns;
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->items[i].role == SQL_ITEM || !sql_target_is_needed(wanted, i))
            continue;
        struct sql_origin origin = sql_columns_origin(columns, i, kind);
        bool is_attribute = origin.place == SQL_FROM_ATTRIBUTE && columns->items[i].key &&
                            strcmp(columns->items[i].name, key->attribute) == 0;
        bool is_part = origin.place == SQL_FROM_INDEX && !origin.or_attribute &&
                       strcmp(origin.key->attribute, key->attribute) == 0;
        if (is_attribute || is_part)
            return true;
    }
    return false;
}

/* Whether each wanted row of KIND has all parts of FORMAT, so that a promise is about it. */
static bool sql_target_has_parts(const struct sql_wanted *wanted, const struct map_kind *kind,
                                 const struct format *format)
{
    const struct sql_columns *columns = wanted->columns;
    for (size_t i = 0; i < format->count; i++) {
        const char *param = format->pieces[i].param;
        size_t at = param ? sql_columns_find_part(columns, param) : columns->count;
        if (!param ||
            (at < columns->count && sql_columns_origin(columns, at, kind).place == SQL_FROM_KEY))
            continue;
        if (!sql_target_is_needed(wanted, at) || sql_target_is_beside(columns, at, kind))
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
        const struct format *format = each->kind ? model_key_format(model, key, each->kind) : NULL;
        bool is_base = model_is_key(model, key->attribute);
        bool is_alike =
            is_promised && format &&
            sql_target_is_read_alike(wanted->columns, each->kind, target->index, key, format);
        if (format &&
            (is_base || is_alike || sql_target_is_own_format(wanted, key, each->kind, format)))
            each->formats[i] = sql_target_parts(wanted->columns, key, each->kind, format);
        bool in_index = is_base || is_named ||
                        sql_target_is_attribute_needed(wanted, key, each->kind) ||
                        (is_promised && target->index->has_holds) ||
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
        each->formats[i] = sql_target_parts(wanted->columns, target->keys[i], kind, &kind->keys[i]);
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
    size_t own = sql_target_find_own(columns, target->keys[i], each->kind);
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
