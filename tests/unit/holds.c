/* Conditions as a filter, for the comparison with what servers answer. A line in is a JSON array of
 * a list of conditions, which hold together, and typed items; a line out has a 1 or a 0 an item,
 * then the body of a Query that asks the same, or is the line "error". A condition: {"op":
 * "between", "path": ["a", "b", 0], "values": [{"N": "1"}, …]}, where "op" is the word of
 * core/condition/condition.h, or {"op": "or", "children": [ … ]}. */
#include <stdio.h>
#include <stdlib.h>

#include "core/dynamo/request.h"
#include "core/item/typed.h"

static void free_line(char **line)
{
    free(*line);
}

static bool read_op(struct json word, enum cond_op *op)
{
    for (*op = COND_EQ; *op <= COND_NOT; (*op)++)
        if (json_string_is(word, span_text(cond_word(*op))))
            return true;
    return false;
}

static bool read_path(struct json path, struct arena *arena, struct cond *out)
{
    struct cond_step *steps = arena_array(arena, json_count(path) + 1, sizeof *steps);
    struct json at = json_first(path);
    if (!steps || !typed_text(at, arena, &out->attribute))
        return false;
    for (at = json_next(at); json_present(at); at = json_next(at)) {
        struct cond_step *step = &steps[out->step_count++];
        int64_t index = 0;
        step->is_index = json_read_int(at, &index);
        step->index = (uint32_t)index;
        if (!step->is_index && !typed_text(at, arena, &step->name))
            return false;
    }
    out->steps = steps;
    return true;
}

static bool read_cond(struct json from, struct arena *arena, struct cond *out)
{
    struct json values = json_member(from, "values"), children = json_member(from, "children");
    struct value *list = arena_array(arena, json_count(values) + 2, sizeof *list);
    struct cond *below = arena_array(arena, json_count(children) + 1, sizeof *below);
    *out = (struct cond){.list = list, .children = below};
    if (!list || !below || !read_op(json_member(from, "op"), &out->op))
        return false;
    for (struct json at = json_first(values); json_present(at); at = json_next(at))
        if (!typed_scalar(at, arena, &list[out->list_count++]))
            return false;
    for (struct json at = json_first(children); json_present(at); at = json_next(at))
        if (!read_cond(at, arena, &below[out->child_count++]))
            return false;
    out->value = list[0];
    out->upper = list[1];
    return out->child_count || read_path(json_member(from, "path"), arena, out);
}

static bool write_request(const struct read *read, struct buf *out)
{
    CLEAN_UP(request_clean_up) struct request request;
    return request_init(&request, read) && request_write(&request, SPAN_LITERAL(""), out);
}

static bool holds(const struct read *read, struct json item, bool *failed)
{
    for (size_t i = 0; i < read->filter_count; i++)
        if (!cond_holds(&read->filter[i], item, failed))
            return false;
    return true;
}

static bool answer(struct span line, struct read *read, struct buf *out)
{
    CLEAN_UP(json_clean_up) struct json_doc doc;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    struct cond where = {.attribute = SPAN_LITERAL("pk"), .value = {VALUE_S, SPAN_LITERAL("p")}};
    bool failed = false;
    if (!json_parse(&doc, line, JSON_STRICT, NULL))
        return false;
    read_add_where(read, &where);
    struct json conds = json_first(json_root(&doc));
    for (struct json at = json_first(conds); json_present(at); at = json_next(at)) {
        struct cond cond;
        if (!read_cond(at, &arena, &cond))
            return false;
        read_add_filter(read, &cond);
    }
    for (struct json at = json_next(conds); json_present(at); at = json_next(at))
        buf_add_char(out, holds(read, at, &failed) ? '1' : '0');
    buf_add_char(out, ' ');
    return !failed && !read_failed(read) && write_request(read, out);
}

int main(void)
{
    CLEAN_UP(free_line) char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    while ((size = getline(&line, &capacity, stdin)) >= 0) {
        CLEAN_UP(buf_clean_up) struct buf out = {0};
        struct read *read = read_new(READ_QUERY, "t", NULL);
        puts(read && answer(span_of(line, (size_t)size), read, &out) ? buf_text(&out) : "error");
        read_destroy(read);
    }
    return 0;
}
