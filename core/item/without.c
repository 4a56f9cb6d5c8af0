#include "core/item/without.h"

#include "core/item/typed.h"

struct copy {
    struct buf *out;
    struct buf name; /* of where we are, with dots between its parts */
    const char *const *names;
    size_t count;
};

static bool without_is_left_out(const struct copy *copy)
{
    for (size_t i = 0; i < copy->count; i++)
        if (span_is(buf_span(&copy->name), copy->names[i]))
            return true;
    return false;
}

static void without_write_value(struct copy *copy, struct json value);

static void without_write_members(struct copy *copy, struct json map)
{
    bool first = true;
    struct json value;
    buf_add_char(copy->out, '{');
    for (struct json name = json_first(map); json_present(name); name = json_next(value)) {
        size_t before = copy->name.size;
        value = json_next(name);
        buf_add_text(&copy->name, before ? "." : "");
        json_read_string(name, &copy->name);
        if (!without_is_left_out(copy)) {
            buf_add_text(copy->out, first ? "" : ",");
            buf_add_span(copy->out, json_raw(name));
            buf_add_char(copy->out, ':');
            without_write_value(copy, value);
            first = false;
        }
        buf_truncate(&copy->name, before);
    }
    buf_add_char(copy->out, '}');
}

static void without_write_elements(struct copy *copy, struct json list)
{
    bool first = true;
    buf_add_char(copy->out, '[');
    for (struct json value = json_first(list); json_present(value); value = json_next(value)) {
        buf_add_text(copy->out, first ? "" : ",");
        without_write_value(copy, value);
        first = false;
    }
    buf_add_char(copy->out, ']');
}

static void without_write_value(struct copy *copy, struct json value)
{
    struct typed typed = typed_open(value);
    if (typed.tag != TYPED_M && typed.tag != TYPED_L) {
        buf_add_span(copy->out, json_raw(value));
        return;
    }
    buf_add_text(copy->out, typed.tag == TYPED_M ? "{\"M\":" : "{\"L\":");
    if (typed.tag == TYPED_M)
        without_write_members(copy, typed.content);
    else
        without_write_elements(copy, typed.content);
    buf_add_char(copy->out, '}');
}

void item_write_without(struct json item, const char *const *names, size_t count, struct buf *out)
{
    struct copy copy = {.out = out, .names = names, .count = count};
    without_write_members(&copy, item);
    out->failed = out->failed || copy.name.failed;
    buf_clean_up(&copy.name);
}
