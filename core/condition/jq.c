#include "core/condition/jq.h"

void jq_write_decimal(struct buf *out)
{
    /* Sign, exponent, and digits without zeros at either end. A terminator, and the digits' sign,
     * put -0.12 behind -0.123. */
    buf_add_text(out,
                 "def decimal: startswith(\"-\") as $minus | "
                 "capture(\"(?<i>[0-9]*)[.]?(?<f>[0-9]*)([eE][+]?(?<e>.+))?$\") | "
                 "(.i + .f | sub(\"^0+\"; \"\")) as $digits | "
                 "(if $digits == \"\" then 0 elif $minus then -1 else 1 end) as $sign | "
                 "[$sign, $sign * ((.e // 0 | tonumber) - (.f | length) + ($digits | length)), "
                 "[($digits | sub(\"0+$\"; \"\") | explode[] * $sign), 0]]; ");
}

/* A text constant with the function's name in it gets a definition that nothing uses. */
void jq_write_select(struct span condition, struct buf *out)
{
    if (memmem(condition.data, condition.size, "decimal", strlen("decimal")))
        jq_write_decimal(out);
    buf_add_text(out, "map(select(");
    buf_add_span(out, condition);
    buf_add_text(out, "))");
}

/* The typed value of the condition's attribute; null if the item has no such attribute. */
static void jq_write_path(const struct cond *cond, struct buf *out)
{
    buf_add_char(out, '.');
    json_write_ascii(out, cond->attribute);
    for (size_t i = 0; i < cond->step_count; i++) {
        const struct cond_step *step = &cond->steps[i];
        if (step->is_index) {
            buf_printf(out, ".L[%u]", (unsigned)step->index);
        } else {
            buf_add_text(out, ".M.");
            json_write_ascii(out, step->name);
        }
    }
}

/* A value for a comparison with .S, .N or .B of an item. */
static void jq_write_value(struct value value, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    switch (value.type) {
    case VALUE_S:
        json_write_ascii(out, value.bytes);
        break;
    case VALUE_N:
        buf_add_char(out, '(');
        json_write_ascii(out, value.bytes);
        buf_add_text(out, " | decimal)");
        break;
    case VALUE_B:
        base64_write(&text, value.bytes);
        json_write_ascii(out, buf_span(&text));
        break;
    case VALUE_BOOL:
        buf_add_span(out, value.bytes);
        break;
    case VALUE_NULL:
        buf_add_text(out, "true");
        break;
    }
    out->failed = out->failed || text.failed;
}

static void jq_write_order(const char *op, struct value value, struct buf *out)
{
    if (value.type == VALUE_B) {
        buf_add_text(out, "error(\"the order of binary values is not known here\")");
        return;
    }
    buf_printf(out, "%s %s ", value.type == VALUE_N ? "decimal" : ".", op);
    jq_write_value(value, out);
}

static void jq_write_equal(const struct cond *cond, struct value value, struct buf *out)
{
    buf_add_char(out, '(');
    jq_write_path(cond, out);
    buf_printf(out, ".%s | . != null and %s == ", value_type_name(value.type),
               value.type == VALUE_N ? "decimal" : ".");
    jq_write_value(value, out);
    buf_add_char(out, ')');
}

/* A range, or a beginning. */
static void jq_write_range(const struct cond *cond, struct buf *out)
{
    static const char *const ops[] = {[COND_BETWEEN] = ">=",
                                      [COND_LT] = "<",
                                      [COND_LE] = "<=",
                                      [COND_GT] = ">",
                                      [COND_GE] = ">="};
    buf_add_char(out, '(');
    jq_write_path(cond, out);
    buf_printf(out, ".%s | . != null and ", value_type_name(cond->value.type));
    if (cond->op != COND_BEGINS || cond->value.type == VALUE_B) {
        jq_write_order(cond->op == COND_BEGINS ? "" : ops[cond->op], cond->value, out);
    } else {
        buf_add_text(out, "startswith(");
        jq_write_value(cond->value, out);
        buf_add_char(out, ')');
    }
    if (cond->op == COND_BETWEEN) {
        buf_add_text(out, " and ");
        jq_write_order("<=", cond->upper, out);
    }
    buf_add_char(out, ')');
}

/* A substring, a member of a set, or an element of a list. */
static void jq_write_contains(const struct cond *cond, struct buf *out)
{
    const char *type = value_type_name(cond->value.type);
    bool has_sets = cond->value.type <= VALUE_B;
    buf_add_char(out, '(');
    jq_write_path(cond, out);
    buf_add_text(out, " | ");
    if (cond->value.type == VALUE_S) {
        buf_add_text(out, "(.S | . != null and contains(");
        jq_write_value(cond->value, out);
        buf_add_text(out, ")) or ");
    } else if (cond->value.type == VALUE_B) {
        buf_add_text(out, "(.B | . != null and ");
        jq_write_order("", cond->value, out);
        buf_add_text(out, ") or ");
    }
    buf_add_text(out, "any(");
    if (has_sets)
        buf_printf(out, "(.%sS // [])[], ", type);
    buf_printf(out, "((.L // [])[] | .%s | values); %s == ", type,
               cond->value.type == VALUE_N ? "decimal" : ".");
    jq_write_value(cond->value, out);
    buf_add_text(out, "))");
}

/* Compares with several values: one, or with AND each, must satisfy the comparison. */
static void jq_write_several(const struct cond *cond, struct buf *out)
{
    size_t count = cond->op == COND_IN ? cond->list_count : cond->child_count;
    buf_add_char(out, '(');
    for (size_t i = 0; i < count; i++) {
        buf_add_text(out, i == 0 ? "" : cond->op == COND_AND ? " and " : " or ");
        if (cond->op == COND_IN)
            jq_write_equal(cond, cond->list[i], out);
        else
            jq_write_cond(&cond->children[i], out);
    }
    buf_add_char(out, ')');
}

void jq_write_cond(const struct cond *cond, struct buf *out)
{
    switch (cond->op) {
    case COND_EQ:
        jq_write_equal(cond, cond->value, out);
        break;
    case COND_NE:
        buf_add_char(out, '(');
        jq_write_equal(cond, cond->value, out);
        buf_add_text(out, " | not)");
        break;
    case COND_BEGINS:
    case COND_BETWEEN:
    case COND_LT:
    case COND_LE:
    case COND_GT:
    case COND_GE:
        jq_write_range(cond, out);
        break;
    case COND_CONTAINS:
        jq_write_contains(cond, out);
        break;
    case COND_EXISTS:
    case COND_MISSING:
        buf_add_char(out, '(');
        jq_write_path(cond, out);
        buf_add_text(out, cond->op == COND_EXISTS ? " != null)" : " == null)");
        break;
    case COND_IN:
    case COND_AND:
    case COND_OR:
        jq_write_several(cond, out);
        break;
    case COND_NOT:
        buf_add_char(out, '(');
        jq_write_cond(cond->children, out);
        buf_add_text(out, " | not)");
        break;
    }
}
