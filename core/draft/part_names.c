#include "core/draft/part_names.h"

#include "core/draft/attribute_clues.h"
#include "core/draft/declare.h"

void part_names_add_word(struct span word, struct buf *out)
{
    bool tag = clue_is_tag(word);
    for (size_t i = 0; i < word.size; i++) {
        bool upper = word.data[i] >= 'A' && word.data[i] <= 'Z';
        buf_add_char(out, tag && upper ? (char)(word.data[i] - 'A' + 'a') : word.data[i]);
    }
}

/* The keys whose parts are named. */
struct naming {
    const struct column *column;
    const size_t *rows;
    size_t count;
    size_t at; /* which token */
    struct arena *arena;
};

static const struct token *part_names_token_of(const struct naming *naming, size_t i)
{
    return &naming->column->shapes[naming->rows[i]].tokens[naming->at];
}

/* The word before the part; empty when none stands there. */
static struct span part_names_word_before(const struct naming *naming)
{
    const struct key_shape *shape = &naming->column->shapes[naming->rows[0]];
    if (naming->at == 0 || !shape->tokens[naming->at - 1].literal)
        return span_of("", 0);
    return shape->tokens[naming->at - 1].text;
}

static bool part_names_is_index_key(const struct declared_table *table, struct span name)
{
    for (const struct declared_index *index = table->indexes; index; index = index->next) {
        for (size_t i = 0; i < index->partition_count; i++)
            if (span_is(name, index->partition[i].attribute))
                return true;
        for (size_t i = 0; i < index->sort_count; i++)
            if (span_is(name, index->sort[i].attribute))
                return true;
    }
    return false;
}

/* How well the attribute NAME suits: in how many records it says the part, and in doubt by what it
 * is called. 0: in one record it says something else, or it may well be by chance. */
static size_t part_names_suitability(const struct naming *naming, struct span name)
{
    size_t equal = 0;
    bool differs = false;
    struct span first = part_names_token_of(naming, 0)->text;
    for (size_t i = 0; i < naming->count; i++) {
        const struct sampled_item *specimen = naming->column->specimens[naming->rows[i]];
        const struct sampled_item_attribute *attribute = sampled_item_find(specimen, name);
        struct span text = part_names_token_of(naming, i)->text;
        if (!attribute)
            continue;
        if (!span_equal(attribute->value, text) || text.size == 0)
            return 0;
        differs = differs || !span_equal(text, first);
        equal++;
    }
    bool of_tag = clue_is_of_tag(name, part_names_word_before(naming));
    if (equal == 0 || (!differs && !of_tag && first.size < 6))
        return 0;
    enum clue_dating dating = clue_dating(name);
    size_t points = 8 * equal;
    points += of_tag ? 4 : 0;
    points += part_names_is_index_key(naming->column->table, name) ? 2 : 0;
    return points + (dating == DATES_CREATION || dating == DATES_NOTHING);
}

static struct span part_names_find_attribute(const struct naming *naming)
{
    struct span best = {0};
    size_t most = 0;
    for (size_t i = 0; i < naming->count; i++) {
        const struct sampled_item *specimen = naming->column->specimens[naming->rows[i]];
        for (size_t a = 0; a < specimen->count; a++) {
            const struct sampled_item_attribute *attribute = &specimen->attributes[a];
            if (!span_equal(attribute->value, part_names_token_of(naming, i)->text) ||
                span_equal(attribute->name, best) ||
                span_equal(attribute->name, naming->column->attribute) ||
                !key_shape_may_name(naming->column->table, attribute->name))
                continue;
            size_t suits = part_names_suitability(naming, attribute->name);
            if (suits > most) {
                most = suits;
                best = attribute->name;
            }
        }
        if (most > 0)
            break; /* what is right in all records is right in this one */
    }
    return best;
}

static bool part_names_all_are(const struct naming *naming, bool (*is)(struct span))
{
    for (size_t i = 0; i < naming->count; i++)
        if (!is(part_names_token_of(naming, i)->text))
            return false;
    return true;
}

static bool part_names_has_no_digit(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= '0' && text.data[i] <= '9')
            return false;
    return text.size > 0;
}

/* "USER#123" is of user_id, "STATUS#open" of status, "APPT#2026-04-16" of appt_date. */
static void part_names_name_by_word(const struct naming *naming, struct span word, struct buf *out)
{
    part_names_add_word(word, out);
    if (part_names_all_are(naming, clue_is_date))
        buf_add_text(out, clue_is_of_tag(SPAN_LITERAL("date"), word) ? "" : "_date");
    else if (!part_names_all_are(naming, part_names_has_no_digit) &&
             !span_ends(buf_span(out), SPAN_LITERAL("id")))
        buf_add_text(out, "_id");
}

static const char *part_names_name_of(const struct naming *naming, struct part_name *name)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct span word = part_names_word_before(naming);
    name->attribute = part_names_token_of(naming, 0)->attribute;
    if (name->attribute.size == 0)
        name->attribute = part_names_find_attribute(naming);
    if (name->attribute.size > 0)
        return declare_param_name(naming->arena, name->attribute);
    if (word.size == 0 && naming->at > 1) { /* the word of the part before it */
        struct naming before = *naming;
        before.at--;
        word = part_names_word_before(&before);
    }
    if (word.size > 0)
        part_names_name_by_word(naming, word, &text);
    else if (part_names_all_are(naming, clue_is_date))
        buf_add_text(&text, "date");
    else
        buf_add_span(&text, naming->column->attribute);
    naming->arena->failed = naming->arena->failed || text.failed;
    return declare_param_name(naming->arena, buf_span(&text));
}

static bool part_names_is_taken(const struct part_name *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].name && strcmp(names[i].name, name) == 0)
            return true;
    return false;
}

/* A word before the part that does not name it already; empty when there is none. */
static struct span part_names_another_word(const struct key_shape *shape, size_t at,
                                           const char *wanted)
{
    while (at-- > 0)
        if (shape->tokens[at].literal && clue_is_word(shape->tokens[at].text) &&
            !clue_is_of_tag(span_text(wanted), shape->tokens[at].text))
            return shape->tokens[at].text;
    return span_of("", 0);
}

const char *part_names_other(struct arena *arena, const struct key_shape *shape, size_t at,
                             const char *wanted, unsigned number)
{
    static const char *const ordinals[] = {"second",  "third",  "fourth", "fifth", "sixth",
                                           "seventh", "eighth", "ninth",  "tenth"};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct span word = part_names_another_word(shape, at, wanted);
    if (word.size > 0 && number == 2)
        part_names_add_word(word, &name);
    else if (number - 2 < sizeof ordinals / sizeof ordinals[0])
        buf_add_text(&name, ordinals[number - 2]);
    else
        buf_printf(&name, "part_%u", number);
    buf_printf(&name, "_%s", wanted);
    arena->failed = arena->failed || name.failed;
    return declare_param_name(arena, buf_span(&name));
}

bool part_names_find(const struct column *column, const size_t *rows, size_t count,
                     struct arena *arena, struct part_name names[KEY_SHAPE_MAX_TOKENS])
{
    const struct key_shape *shape = &column->shapes[rows[0]];
    for (size_t i = 0; i < shape->count; i++) {
        struct naming naming = {column, rows, count, i, arena};
        names[i] = (struct part_name){0};
        if (shape->tokens[i].literal)
            continue;
        const char *wanted = part_names_name_of(&naming, &names[i]);
        const char *name = wanted;
        for (unsigned n = 2; name && part_names_is_taken(names, i, name); n++)
            name = part_names_other(arena, shape, i, wanted, n);
        names[i].name = name;
    }
    return !arena->failed;
}

void part_names_write(const struct column *column, const struct key_shape *shape,
                      const struct part_name *names, struct buf *out)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct token *token = &shape->tokens[i];
        if (i > 0)
            buf_add_char(out, column->separator);
        buf_add_span(out, token->literal ? token->text : token->label);
        if (!token->literal)
            buf_printf(out, "{%s%s%s}", names[i].name, token->open ? "*" : "",
                       column->is_lower ? ":lower" : "");
    }
}
