#include "core/item/difference.h"

#include "core/base/arena.h"
#include "core/item/typed.h"

struct difference_search {
    difference_fn *fn;
    void *arg;
    struct arena arena;
    struct buf path, name; /* of the place of the search; PATH without its last bracket */
    struct span attribute;
    bool failed; /* a value is not typed, memory ran out, or FN ended the search */
};

const char *difference_word(enum difference_kind kind)
{
    static const char *const words[] = {
        [DIFFERENCE_ADDED] = "added",
        [DIFFERENCE_REMOVED] = "removed",
        [DIFFERENCE_CHANGED] = "changed",
    };
    return words[kind];
}

static void difference_report(struct difference_search *search, enum difference_kind kind,
                              struct json before, struct json now)
{
    size_t size = search->path.size;
    buf_add_char(&search->path, ']');
    struct difference difference = {
        .kind = kind,
        .path = buf_span(&search->path),
        .name = buf_span(&search->name),
        .attribute = search->attribute,
        .before = before,
        .now = now,
    };
    bool lost = search->path.failed || search->name.failed;
    search->failed = search->failed || lost || !search->fn(search->arg, &difference);
    buf_truncate(&search->path, size);
}

static void difference_compare(struct difference_search *search, struct json before,
                               struct json now);

/* Compares two values one step below the place of the search; either may be absent. */
static void difference_compare_step(struct difference_search *search, const struct span *member,
                                    size_t element, struct json before, struct json now)
{
    size_t path = search->path.size, name = search->name.size;
    buf_add_text(&search->path, path > 1 ? "," : "");
    if (member) {
        json_write_string(&search->path, *member);
        buf_add_text(&search->name, name ? "." : "");
        buf_add_span(&search->name, *member);
    } else {
        buf_printf(&search->path, "%zu", element);
        buf_printf(&search->name, "[%zu]", element);
    }
    if (path == 1)
        search->attribute = *member;
    if (json_present(before) && json_present(now))
        difference_compare(search, before, now);
    else
        difference_report(search, json_present(now) ? DIFFERENCE_ADDED : DIFFERENCE_REMOVED, before,
                          now);
    buf_truncate(&search->path, path);
    buf_truncate(&search->name, name);
}

static void difference_compare_members(struct difference_search *search, struct json before,
                                       struct json now)
{
    const struct json absent = {0};
    struct typed_members a, b;
    if (!typed_members(before, &search->arena, &a) || !typed_members(now, &search->arena, &b)) {
        search->failed = true;
        return;
    }
    for (size_t i = 0, j = 0; !search->failed && (i < a.count || j < b.count);) {
        int order = i == a.count   ? 1
                    : j == b.count ? -1
                                   : span_compare(a.list[i].name, b.list[j].name);
        const struct span *name = order > 0 ? &b.list[j].name : &a.list[i].name;
        difference_compare_step(search, name, 0, order > 0 ? absent : a.list[i].value,
                                order < 0 ? absent : b.list[j].value);
        i += order <= 0;
        j += order >= 0;
    }
}

static void difference_compare_elements(struct difference_search *search, struct json before,
                                        struct json now)
{
    struct json a = json_first(before), b = json_first(now);
    for (size_t i = 0; !search->failed && (json_present(a) || json_present(b)); i++) {
        difference_compare_step(search, NULL, i, a, b);
        a = json_present(a) ? json_next(a) : a;
        b = json_present(b) ? json_next(b) : b;
    }
}

/* Whether two values of the same type, neither a map nor a list, are equal. */
static bool difference_is_same(struct difference_search *search, struct typed before,
                               struct typed now)
{
    struct typed_set a, b;
    struct span x, y;
    bool same;
    switch (before.tag) {
    case TYPED_S:
    case TYPED_N:
    case TYPED_B:
        if (typed_text(before.content, &search->arena, &x) &&
            typed_text(now.content, &search->arena, &y))
            return span_equal(x, y);
        break;
    case TYPED_SS:
    case TYPED_NS:
    case TYPED_BS:
        if (!typed_set(before, &search->arena, &a) || !typed_set(now, &search->arena, &b))
            break;
        same = a.count == b.count;
        for (size_t i = 0; same && i < a.count; i++)
            same = span_equal(a.list[i], b.list[i]);
        return same;
    default:
        return json_type(before.content) == json_type(now.content);
    }
    search->failed = true;
    return false;
}

static void difference_compare(struct difference_search *search, struct json before,
                               struct json now)
{
    struct typed a = typed_open(before), b = typed_open(now);
    if (a.tag == TYPED_NONE || b.tag == TYPED_NONE)
        search->failed = true;
    else if (a.tag == b.tag && a.tag == TYPED_M)
        difference_compare_members(search, a.content, b.content);
    else if (a.tag == b.tag && a.tag == TYPED_L)
        difference_compare_elements(search, a.content, b.content);
    else if (a.tag != b.tag || !difference_is_same(search, a, b))
        difference_report(search, DIFFERENCE_CHANGED, before, now);
}

bool difference_find(struct json before, struct json now, difference_fn *fn, void *arg)
{
    struct difference_search search = {.fn = fn, .arg = arg};
    buf_add_char(&search.path, '[');
    difference_compare_members(&search, before, now);
    bool ok = !search.failed;
    arena_clean_up(&search.arena);
    buf_clean_up(&search.path);
    buf_clean_up(&search.name);
    return ok;
}

/* Copies without some attributes. */

struct partial_copy {
    struct buf *out;
    struct buf name; /* of the current value, with dots between its parts */
    const char *const *names;
    size_t count;
};

static bool difference_is_left_out(const struct partial_copy *copy)
{
    for (size_t i = 0; i < copy->count; i++)
        if (span_is(buf_span(&copy->name), copy->names[i]))
            return true;
    return false;
}

static void difference_write_value(struct partial_copy *copy, struct json value);

static void difference_write_members(struct partial_copy *copy, struct json map)
{
    bool first = true;
    struct json value;
    buf_add_char(copy->out, '{');
    for (struct json name = json_first(map); json_present(name); name = json_next(value)) {
        size_t before = copy->name.size;
        value = json_next(name);
        buf_add_text(&copy->name, before ? "." : "");
        json_read_string(name, &copy->name);
        if (!difference_is_left_out(copy)) {
            buf_add_text(copy->out, first ? "" : ",");
            buf_add_span(copy->out, json_raw(name));
            buf_add_char(copy->out, ':');
            difference_write_value(copy, value);
            first = false;
        }
        buf_truncate(&copy->name, before);
    }
    buf_add_char(copy->out, '}');
}

static void difference_write_value(struct partial_copy *copy, struct json value)
{
    struct typed typed = typed_open(value);
    bool first = true;
    switch (typed.tag) {
    case TYPED_M:
        buf_add_text(copy->out, "{\"M\":");
        difference_write_members(copy, typed.content);
        buf_add_char(copy->out, '}');
        return;
    case TYPED_L:
        buf_add_text(copy->out, "{\"L\":[");
        for (struct json each = json_first(typed.content); json_present(each);
             each = json_next(each)) {
            buf_add_text(copy->out, first ? "" : ",");
            difference_write_value(copy, each);
            first = false;
        }
        buf_add_text(copy->out, "]}");
        return;
    default:
        buf_add_span(copy->out, json_raw(value));
    }
}

void item_write_without(struct json item, const char *const *names, size_t count, struct buf *out)
{
    struct partial_copy copy = {.out = out, .names = names, .count = count};
    difference_write_members(&copy, item);
    out->failed = out->failed || copy.name.failed;
    buf_clean_up(&copy.name);
}
