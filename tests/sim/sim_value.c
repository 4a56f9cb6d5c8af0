/* Values of attributes: compared, measured, read and written as the service does. */
#include <string.h>

#include "tests/sim/sim_history.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

enum { SIM_MOST_DIGITS = 38, SIM_MOST_EXPONENT = 125, SIM_LEAST_EXPONENT = -130 };

/* A number: 0.DIGITS times ten to the power of POINT. */
struct sim_decimal {
    bool is_negative;
    char digits[SIM_MOST_DIGITS + 1]; /* the first and the last are not "0" */
    int count, point;
};

/* Reads e[-+]digits at *AT, and adds them to *POINT. */
static bool sim_decimal_read_exponent(const char *text, size_t size, size_t *at, int *point)
{
    int exponent = 0;
    size_t i = *at + 1;
    bool down = i < size && text[i] == '-';
    if (i < size && (text[i] == '-' || text[i] == '+'))
        i++;
    if (i == size)
        return false;
    for (; i < size && text[i] >= '0' && text[i] <= '9' && exponent < 100000; i++)
        exponent = exponent * 10 + (text[i] - '0');
    *point += down ? -exponent : exponent;
    *at = i;
    return true;
}

/* Reads [-+]digits[.digits][e[-+]digits]. */
static bool sim_decimal_read(struct sim_decimal *out, const char *text, size_t size)
{
    size_t i = 0;
    bool has_digit = false, has_point = false;
    int trailing = 0; /* zeros that may be the last ones */
    *out = (struct sim_decimal){0};
    if (i < size && (text[i] == '-' || text[i] == '+'))
        out->is_negative = text[i++] == '-';
    for (; i < size && ((text[i] >= '0' && text[i] <= '9') || (text[i] == '.' && !has_point));
         i++) {
        if (text[i] == '.') {
            has_point = true;
            continue;
        }
        has_digit = true;
        if (text[i] == '0' && out->count == 0) {
            out->point -= has_point;
            continue;
        }
        out->point += !has_point;
        if (text[i] == '0') {
            trailing++;
            continue;
        }
        if (out->count + trailing >= SIM_MOST_DIGITS)
            return false;
        for (; trailing; trailing--)
            out->digits[out->count++] = '0';
        out->digits[out->count++] = text[i];
    }
    if (!has_digit)
        return false;
    if (i < size && (text[i] == 'e' || text[i] == 'E') &&
        !sim_decimal_read_exponent(text, size, &i, &out->point))
        return false;
    if (i != size)
        return false;
    if (out->count == 0)
        *out = (struct sim_decimal){0};
    return out->count == 0 ||
           (out->point - 1 <= SIM_MOST_EXPONENT && out->point - out->count >= SIM_LEAST_EXPONENT);
}

bool sim_number_write(struct sim_text *out, const char *text, size_t size)
{
    struct sim_decimal number;
    if (!sim_decimal_read(&number, text, size))
        return false;
    if (number.is_negative)
        sim_text_puts(out, "-");
    if (number.point <= 0)
        sim_text_puts(out, number.count ? "0." : "0");
    for (int i = number.point; i < 0; i++)
        sim_text_puts(out, "0");
    for (int i = 0; i < number.count; i++) {
        if (i == number.point && i)
            sim_text_puts(out, ".");
        sim_text_add(out, &number.digits[i], 1);
    }
    for (int i = number.count; i < number.point; i++)
        sim_text_puts(out, "0");
    return true;
}

static int sim_decimal_compare(const struct sim_value *a, const struct sim_value *b)
{
    struct sim_decimal x, y;
    if (!sim_decimal_read(&x, a->bytes, a->size) || !sim_decimal_read(&y, b->bytes, b->size))
        sim_broken("a number is not canonical: %s, %s", a->bytes, b->bytes);
    int x_sign = x.count == 0 ? 0 : x.is_negative ? -1 : 1;
    int y_sign = y.count == 0 ? 0 : y.is_negative ? -1 : 1;
    if (x_sign != y_sign || x_sign == 0)
        return x_sign - y_sign;
    int order = x.point != y.point ? (x.point < y.point ? -1 : 1)
                                   : strcmp(x.digits, y.digits); /* "12" is less than "123" */
    return x_sign * order;
}

int sim_value_compare(const struct sim_value *a, const struct sim_value *b)
{
    if (a->type == SIM_N)
        return sim_decimal_compare(a, b);
    size_t size = a->size < b->size ? a->size : b->size;
    int order = size ? memcmp(a->bytes, b->bytes, size) : 0;
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* Whether VALUE is one of the members. */
static bool sim_value_is_member(const struct sim_value *value, const char *name,
                                const struct sim_value *of)
{
    for (size_t i = 0; i < of->member_count; i++) {
        const struct sim_attribute *member = &of->members[i];
        if ((!name || strcmp(name, member->name) == 0) && sim_value_equal(value, &member->value))
            return true;
    }
    return false;
}

bool sim_value_equal(const struct sim_value *a, const struct sim_value *b)
{
    if (a->type != b->type || a->member_count != b->member_count)
        return false;
    bool ok = true;
    if (a->type == SIM_L) {
        for (size_t i = 0; ok && i < a->member_count; i++)
            ok = sim_value_equal(&a->members[i].value, &b->members[i].value);
        return ok;
    }
    if (a->type >= SIM_M) { /* members are unique */
        for (size_t i = 0; ok && i < a->member_count; i++)
            ok = sim_value_is_member(&a->members[i].value, a->members[i].name, b);
        return ok;
    }
    return a->type == SIM_NULL || sim_value_compare(a, b) == 0;
}

static size_t sim_decimal_size(const struct sim_value *value)
{
    struct sim_decimal number;
    if (!sim_decimal_read(&number, value->bytes, value->size) || number.count == 0)
        return 1;
    return (size_t)(number.count + 1) / 2 + 1 + number.is_negative;
}

size_t sim_value_size(const struct sim_value *value)
{
    size_t sum = 3;
    switch (value->type) {
    case SIM_S:
    case SIM_B:
        return value->size;
    case SIM_N:
        return sim_decimal_size(value);
    case SIM_BOOL:
    case SIM_NULL:
        return 1;
    case SIM_SS:
    case SIM_NS:
    case SIM_BS:
        sum = 0;
        break;
    case SIM_M:
    case SIM_L:
        break;
    }
    for (size_t i = 0; i < value->member_count; i++) {
        const struct sim_attribute *member = &value->members[i];
        sum += sim_value_size(&member->value) + (member->name ? strlen(member->name) : 0) +
               (value->type == SIM_M || value->type == SIM_L);
    }
    return sum;
}

size_t sim_attributes_size(const struct sim_attribute *attributes, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += strlen(attributes[i].name) + sim_value_size(&attributes[i].value);
    return sum;
}

static const char *const sim_type_names[] = {"S", "N", "B",  "BOOL", "NULL",
                                             "M", "L", "SS", "NS",   "BS"};

const char *sim_type_name(enum sim_type type)
{
    return sim_type_names[type];
}

/* A scalar without its type. */
static void sim_value_write_bytes(struct sim_text *out, const struct sim_value *value)
{
    if (value->type == SIM_B) {
        sim_text_puts(out, "\"");
        sim_text_base64(out, value->bytes, value->size);
        sim_text_puts(out, "\"");
    } else if (value->type == SIM_BOOL) {
        sim_text_puts(out, value->bytes);
    } else if (value->type == SIM_NULL) {
        sim_text_puts(out, "true");
    } else {
        sim_text_json_string(out, value->bytes, value->size);
    }
}

void sim_value_write(struct sim_text *out, const struct sim_value *value)
{
    bool is_map = value->type == SIM_M;
    sim_text_puts(out, "{\"");
    sim_text_puts(out, sim_type_names[value->type]);
    sim_text_puts(out, "\":");
    if (value->type < SIM_M) {
        sim_value_write_bytes(out, value);
        sim_text_puts(out, "}");
        return;
    }
    sim_text_puts(out, is_map ? "{" : "[");
    for (size_t i = 0; i < value->member_count; i++) {
        const struct sim_attribute *member = &value->members[i];
        if (i)
            sim_text_puts(out, ",");
        if (is_map) {
            sim_text_json_string(out, member->name, strlen(member->name));
            sim_text_puts(out, ":");
        }
        if (value->type >= SIM_SS)
            sim_value_write_bytes(out, &member->value);
        else
            sim_value_write(out, &member->value);
    }
    sim_text_puts(out, is_map ? "}}" : "]}");
}

/* A scalar of TYPE from a member of typed JSON. */
static bool sim_value_read_scalar(struct sim_value *out, enum sim_type type,
                                  const struct sim_json *json)
{
    struct sim_text text = {0};
    bool ok = false;
    sim_text_add(&text, "", 0);
    if (type == SIM_BOOL) {
        ok = json->kind == SIM_JSON_TRUE || json->kind == SIM_JSON_FALSE;
        sim_text_puts(&text, json->kind == SIM_JSON_TRUE ? "true" : "false");
    } else if (type == SIM_NULL) {
        ok = json->kind == SIM_JSON_TRUE;
    } else if (json->kind == SIM_JSON_STRING && type == SIM_S) {
        ok = true;
        sim_text_add(&text, json->bytes, json->size);
    } else if (json->kind == SIM_JSON_STRING) {
        ok = type == SIM_N ? sim_number_write(&text, json->bytes, json->size)
                           : sim_text_from_base64(&text, json->bytes, json->size);
    }
    if (!ok) {
        sim_text_free(&text);
        return false;
    }
    *out = (struct sim_value){.type = type, .bytes = text.bytes, .size = text.size};
    return true;
}

static bool sim_value_read_members(struct sim_value *out, const struct sim_json *json)
{
    enum sim_type type = out->type;
    if (json->kind != (type == SIM_M ? SIM_JSON_OBJECT : SIM_JSON_ARRAY) ||
        (type >= SIM_SS && json->count == 0))
        return false;
    out->members = sim_alloc(json->count * sizeof *out->members + 1);
    for (size_t i = 0; i < json->count; i++) {
        struct sim_value member;
        bool ok = type >= SIM_SS ? sim_value_read_scalar(&member, (enum sim_type)(type - SIM_SS),
                                                         &json->members[i])
                                 : sim_value_read(&member, &json->members[i]);
        if (!ok || (type >= SIM_SS && sim_value_is_member(&member, NULL, out))) {
            if (ok)
                sim_value_free(&member);
            sim_value_free(out);
            return false;
        }
        out->members[out->member_count++] = (struct sim_attribute){
            .name = type == SIM_M ? sim_copy(json->names[i]) : NULL, .value = member};
    }
    return true;
}

bool sim_value_read(struct sim_value *out, const struct sim_json *json)
{
    if (json->kind != SIM_JSON_OBJECT || json->count != 1)
        return false;
    for (enum sim_type type = SIM_S; type <= SIM_BS; type++) {
        if (strcmp(json->names[0], sim_type_names[type]) != 0)
            continue;
        *out = (struct sim_value){.type = type};
        return type < SIM_M ? sim_value_read_scalar(out, type, &json->members[0])
                            : sim_value_read_members(out, &json->members[0]);
    }
    return false;
}

void sim_value_free(struct sim_value *value)
{
    sim_free(value->bytes);
    sim_attributes_free(value->members, value->member_count);
    *value = (struct sim_value){0};
}

void sim_attributes_free(struct sim_attribute *attributes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sim_free(attributes[i].name);
        sim_value_free(&attributes[i].value);
    }
    sim_free(attributes);
}

void sim_value_copy(struct sim_value *out, const struct sim_value *value)
{
    *out = *value;
    if (value->bytes) {
        out->bytes = sim_alloc(value->size + 1);
        memcpy(out->bytes, value->bytes, value->size);
    }
    if (!value->members)
        return;
    out->members = sim_alloc(value->member_count * sizeof *out->members + 1);
    for (size_t i = 0; i < value->member_count; i++) {
        const struct sim_attribute *member = &value->members[i];
        out->members[i].name = member->name ? sim_copy(member->name) : NULL;
        sim_value_copy(&out->members[i].value, &member->value);
    }
}
