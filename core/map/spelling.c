#include "core/map/spelling.h"

struct collecting {
    struct model *model;
    struct arena *arena;
    struct findings *findings;
    struct format_piece *spelled; /* room for all pieces there are */
    unsigned *lines;
};

/* Calls FN for each format of a key that is text. */
static void spelling_each_format(struct collecting *collecting,
                                 void (*fn)(struct collecting *, const struct format *,
                                            struct finding_at at))
{
    const struct model *model = collecting->model;
    for (const struct map_kind *kind = model->kinds; kind; kind = kind->next)
        for (size_t i = 0; i < model->key_count; i++)
            if (model->keys[i].type == VALUE_S)
                fn(collecting, &kind->keys[i], FINDING_AT(kind));
    for (const struct map_index *index = model->indexes; index; index = index->next) {
        const struct map_key *key;
        for (size_t i = 0; (key = model_index_key(index, i)); i++) {
            if (key->type != VALUE_S)
                continue;
            fn(collecting, &key->format, FINDING_AT(index));
            for (size_t k = 0; k < key->by_kind_count; k++)
                if (key->by_kind[k].kind != model->any)
                    fn(collecting, &key->by_kind[k].format, FINDING_AT(index));
        }
    }
}

static bool spelling_is_same(const struct format_piece *a, const struct format_piece *b)
{
    return a->letters == b->letters && a->pad == b->pad;
}

static void spelling_write(const struct format_piece *spelling, struct buf *out)
{
    struct format_piece piece = *spelling;
    piece.open = false;
    format_write(&(struct format){&piece, 1}, out);
}

static void spelling_count(struct collecting *collecting, const struct format *format,
                           struct finding_at at)
{
    (void)at;
    for (size_t i = 0; i < format->count; i++)
        collecting->model->spelled_count +=
            format->pieces[i].param && format_is_spelled(&format->pieces[i]);
}

static void spelling_collect_it(struct collecting *collecting, const struct format *format,
                                struct finding_at at)
{
    struct model *model = collecting->model;
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        if (!piece->param || !format_is_spelled(piece))
            continue;
        if (piece->pad && model->separator >= '0' && model->separator <= '9')
            findings_add(collecting->findings, at,
                         "{%s} is a number with zeros in front, and a digit is the separator",
                         piece->param);
        if (model_spelling(model, piece->param))
            continue;
        collecting->lines[model->spelled_count] = at.line;
        collecting->spelled[model->spelled_count++] = *piece;
    }
}

static void spelling_compare(struct collecting *collecting, const struct format *format,
                             struct finding_at at)
{
    const struct model *model = collecting->model;
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct format_piece *spelling =
            piece->param ? model_spelling(model, piece->param) : NULL;
        if (!spelling || spelling_is_same(spelling, piece))
            continue;
        CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
        spelling_write(piece, &one);
        spelling_write(spelling, &other);
        findings_add(collecting->findings, at,
                     "a part is spelled in one way wherever it stands, but this is %s, and line %u "
                     "has %s; call one of them something else",
                     buf_text(&one), collecting->lines[spelling - model->spelled],
                     buf_text(&other));
    }
}

/* Of a parameter whose values are known: a misspelt one would be found nowhere. */
static void spelling_check_values(const struct collecting *collecting)
{
    const struct model *model = collecting->model;
    for (const struct map_param *param = model->params; param; param = param->next) {
        for (size_t i = 0; i < param->value_count; i++) {
            CLEAN_UP(buf_clean_up) struct buf value = {0};
            struct error err;
            const struct format_piece *spelling = model_spelling(model, param->name);
            if (!spelling || (format_read_part(spelling, param->values[i], &value) &&
                              span_equal(buf_span(&value), param->values[i])))
                continue;
            if (value.size > 0)
                findings_add(collecting->findings, FINDING_AT(param),
                             "by its format in the key {%s} is \"%s\", not \"%.*s\"", param->name,
                             buf_text(&value), (int)param->values[i].size, param->values[i].data);
            else if (!spelling_refuse(spelling, param->values[i], &err))
                findings_add(collecting->findings, FINDING_AT(param), "%s", err.text);
        }
    }
}

void spelling_collect(struct model *model, struct arena *arena, struct findings *findings)
{
    struct collecting collecting = {.model = model, .arena = arena, .findings = findings};
    spelling_each_format(&collecting, spelling_count);
    if (model->spelled_count == 0)
        return;
    collecting.spelled = arena_array(arena, model->spelled_count, sizeof *collecting.spelled);
    collecting.lines = arena_array(arena, model->spelled_count, sizeof *collecting.lines);
    model->spelled_count = 0;
    model->spelled = collecting.spelled;
    if (!collecting.spelled || !collecting.lines)
        return;
    spelling_each_format(&collecting, spelling_collect_it);
    spelling_each_format(&collecting, spelling_compare);
    spelling_check_values(&collecting);
}

bool spelling_refuse(const struct format_piece *spelling, struct span text, struct error *err)
{
    return error_set(err, ERROR_INVALID,
                     "{%s} is no such number as \"%.*s\": the key has a number of %u digits; it "
                     "is typed with all of them, or without the zeros in front",
                     spelling->param, text.size > 60 ? 60 : (int)text.size, text.data,
                     spelling->pad);
}

bool spelling_check(const struct format *format, const struct bindings *path, struct error *err)
{
    for (size_t i = 0; i < format->count; i++) {
        const struct format_piece *piece = &format->pieces[i];
        const struct span *value =
            piece->param && piece->pad ? bindings_find(path, piece->param) : NULL;
        CLEAN_UP(buf_clean_up) struct buf plain = {0};
        if (value && !format_read_part(piece, *value, &plain))
            return spelling_refuse(piece, *value, err);
    }
    return true;
}

/* VALUE as keys spell it that have the part SPELLING. Of a number it is one whole parameter, or
 * written out. */
static bool spelling_spell(const struct format_piece *spelling, const struct format *value,
                           struct arena *arena, struct format *out)
{
    if (!format_copy(arena, value, out))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        struct format_piece *piece = &out->pieces[i];
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        piece->letters = spelling->letters;
        piece->pad = spelling->pad;
        if (piece->param)
            continue;
        format_write_part(spelling, piece->literal, &text);
        arena->failed = arena->failed || text.failed;
        piece->literal = arena_copy(arena, buf_span(&text));
    }
    return !arena->failed;
}

/* NULL, or why a condition's value can't be compared with a number that has zeros in front. */
static const char *spelling_unfit(const struct format_piece *spelling, const struct format *value)
{
    CLEAN_UP(buf_clean_up) struct buf plain = {0};
    if (format_whole_param(value))
        return NULL;
    if (!format_is_literal(value))
        return "a number is one whole parameter, or written out";
    return format_read_part(spelling, format_literal(value), &plain)
               ? NULL
               : "it is a number with as many digits as the key has, or without the zeros in front";
}

static const char *spelling_unfit_condition(const struct format_piece *spelling,
                                            const struct declared_condition *where)
{
    if (spelling->pad == 0)
        return NULL;
    if (where->op == COND_BEGINS)
        return "a number with zeros in front has no beginning (x*)";
    const char *wrong = spelling_unfit(spelling, &where->value);
    return wrong || where->op != COND_BETWEEN ? wrong : spelling_unfit(spelling, &where->upper);
}

bool spelling_of_wheres(const struct model *model, const struct declared_path *path,
                        struct arena *arena, struct findings *findings, struct declared_path *out)
{
    bool ok = true;
    struct declared_condition **last = &out->wheres;
    const struct declared_condition *where;
    *out = *path;
    *last = NULL;
    for (where = path->wheres; where; where = where->next) {
        struct declared_condition *copy = arena_alloc(arena, sizeof *copy);
        const struct format_piece *spelling =
            where->whole ? NULL : model_spelling(model, where->target);
        if (!copy)
            return findings_no_memory(findings);
        *copy = *where;
        copy->next = NULL;
        *last = copy;
        last = &copy->next;
        const char *wrong = spelling ? spelling_unfit_condition(spelling, where) : NULL;
        if (wrong)
            ok = findings_add(findings, where->at, "\"%s\": \"where\" on %s: %s", path->path,
                              where->target, wrong);
        if (spelling && (!spelling_spell(spelling, &where->value, arena, &copy->value) ||
                         !spelling_spell(spelling, &where->upper, arena, &copy->upper)))
            return findings_no_memory(findings);
    }
    return ok;
}
