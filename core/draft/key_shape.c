#include "core/draft/key_shape.h"

#include "core/base/ascii.h"
#include "core/draft/attribute_clues.h"
#include "core/draft/declare.h"

/* The vocabulary has no upper-case words: these are recognized by themselves. */
enum { MOST_WORDS = 256, MANY_WORDS = 8 };

bool key_shape_may_name(const struct declared_table *table, struct span name)
{
    return !declare_is_table_key(table, name) && !clue_names_a_type(name) &&
           !clue_is_generic_key(name);
}

static struct span key_shape_key_text(const struct column *column, size_t i)
{
    const struct sampled_attribute *attribute =
        sampled_item_find(column->items[i], column->attribute);
    return attribute && attribute->tag == TYPED_S ? attribute->value : span_of("", 0);
}

/* The evidence for SEPARATOR in KEY: a word before it; for '#' and '|', which are rare in values,
 * the character itself. */
static unsigned key_shape_rate_separator(struct span key, char separator)
{
    const char *at = memchr(key.data, separator, key.size);
    if (!at || (separator == ':' && clue_is_date(key)))
        return 0;
    struct span before = span_of(key.data, (size_t)(at - key.data));
    struct span after = span_from(key, before.size + 1);
    if (separator == ':' && span_starts(after, SPAN_LITERAL("//")))
        return 0; /* an address */
    if (clue_is_tag(before) || clue_is_word(before))
        return 2;
    return separator == '#' || separator == '|';
}

/* A column in which only few keys have the separator is no evidence: these may be values with that
 * character. */
char key_shape_find_separator(const struct column *columns, size_t count)
{
    enum { FEW = 4 }; /* one of four */
    static const char candidates[] = "#|:/";
    char best = '#';
    unsigned most = 0;
    for (const char *each = candidates; *each; each++) {
        unsigned sum = 0;
        for (size_t c = 0; c < count; c++) {
            unsigned in_column = 0, keys = 0, having = 0;
            for (size_t i = 0; i < columns[c].count; i++) {
                struct span key = key_shape_key_text(&columns[c], i);
                unsigned points = key_shape_rate_separator(key, *each);
                in_column += points;
                having += points > 0;
                keys += key.size > 0;
            }
            sum += having * FEW >= keys ? in_column : 0;
        }
        if (sum > most) {
            most = sum;
            best = *each;
        }
    }
    return best;
}

/* Whether an attribute of the item has the value REST, which is one part then, with separators in
 * it. */
static bool key_shape_is_one_part(const struct column *column, const struct sampled_item *item,
                                  struct span rest)
{
    for (size_t i = 0; i < item->count; i++) {
        const struct sampled_attribute *attribute = &item->attributes[i];
        if (attribute->tag == TYPED_S && span_equal(attribute->value, rest) &&
            key_shape_may_name(column->table, attribute->name))
            return true;
    }
    return false;
}

void key_shape_split_column(struct column *column)
{
    for (size_t at = 0; at < column->count; at++) {
        struct span rest = key_shape_key_text(column, at);
        struct key_shape *shape = &column->shapes[at];
        *shape = (struct key_shape){0};
        while (shape->count < KEY_SHAPE_MAX_TOKENS && rest.data &&
               (shape->count > 0 || rest.size > 0)) {
            const char *end = rest.size ? memchr(rest.data, column->separator, rest.size) : NULL;
            struct token *token = &shape->tokens[shape->count++];
            size_t size = end ? (size_t)(end - rest.data) : rest.size;
            token->open =
                end &&
                (shape->count == KEY_SHAPE_MAX_TOKENS || clue_is_time(rest) ||
                 (shape->count > 1 && key_shape_is_one_part(column, column->items[at], rest)));
            token->text = token->open ? rest : span_of(rest.data, size);
            if (!end || token->open)
                break;
            rest = span_from(rest, size + 1);
        }
    }
}

static bool key_shape_is_word_at(const struct key_shape *shape, size_t i)
{
    return i < shape->count && shape->tokens[i].literal;
}

static bool key_shape_token_alike(const struct token *a, const struct token *b)
{
    return a->literal == b->literal && span_equal(a->label, b->label) &&
           (!a->literal || span_equal(a->text, b->text));
}

/* Whether A and B are alike at each place but EXCEPT. */
static bool key_shape_alike_but(const struct key_shape *a, const struct key_shape *b, size_t except)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (i != except && !key_shape_token_alike(&a->tokens[i], &b->tokens[i]))
            return false;
    return true;
}

bool key_shape_alike(const struct key_shape *a, const struct key_shape *b)
{
    return key_shape_alike_but(a, b, KEY_SHAPE_MAX_TOKENS);
}

bool key_shape_has_form(const struct key_shape *shape)
{
    return shape->count > 1 || key_shape_is_word_at(shape, 0);
}

/* An attribute of ITEM, from index FROM on, that has the value TEXT and may name a part; or NULL.
 */
static const struct sampled_attribute *key_shape_find_stating(const struct column *column,
                                                              const struct sampled_item *item,
                                                              struct span text, size_t from)
{
    for (size_t i = from; i < item->count; i++) {
        const struct sampled_attribute *attribute = &item->attributes[i];
        if (span_equal(attribute->value, text) && text.size > 0 &&
            !span_equal(attribute->name, column->attribute) &&
            key_shape_may_name(column->table, attribute->name))
            return attribute;
    }
    return NULL;
}

/* Whether items in several partitions have the sort key of item R, "ORG#PROFILE", and no other sort
 * key begins with the same words. */
static bool key_shape_is_constant_end(const struct column *column, size_t r)
{
    enum { SEVERAL = 3 };
    const struct key_shape *shape = &column->shapes[r];
    size_t same = 0, last = shape->count - 1;
    for (size_t q = 0; column->sorts && q < column->count; q++) {
        const struct key_shape *other = &column->shapes[q];
        bool begins = other->count > 1;
        for (size_t i = 0; begins && i < last; i++)
            begins = i < other->count && span_equal(other->tokens[i].text, shape->tokens[i].text);
        if (!begins)
            continue;
        if (other->count != shape->count ||
            !span_equal(other->tokens[last].text, shape->tokens[last].text))
            return false;
        same++;
    }
    return same >= SEVERAL;
}

/* Marks upper-case words in the places of words: before a separator, behind a part, or alone in an
 * attribute with a generic name. Behind another word, the last token is a part. */
static void key_shape_find_tags(struct column *column)
{
    bool generic = clue_is_generic_key(column->attribute);
    for (size_t r = 0; r < column->count; r++) {
        struct key_shape *shape = &column->shapes[r];
        for (size_t i = 0; i < shape->count; i++) {
            struct token *token = &shape->tokens[i];
            bool last = i + 1 == shape->count;
            bool place = !last || (i > 0 && !shape->tokens[i - 1].literal) || (i == 0 && generic) ||
                         key_shape_is_constant_end(column, r);
            bool leading = i == 0 && !last && token->text.size == 0; /* "#META#" */
            token->literal = leading || (place && !token->open && clue_is_tag(token->text));
        }
    }
}

/* Whether the word at I of item R, which is not in upper case, is at the same place of a different
 * key. If it is also the value of an attribute, it is a value and not a word. */
static bool key_shape_is_repeated_word(const struct column *column, size_t r, size_t i)
{
    const struct key_shape *shape = &column->shapes[r];
    struct span word = shape->tokens[i].text;
    bool repeated = false;
    for (size_t q = 0; q < column->count; q++) {
        const struct key_shape *other = &column->shapes[q];
        if (other->count != shape->count || !span_equal(other->tokens[i].text, word))
            continue;
        if (key_shape_find_stating(column, column->items[q], word, 0))
            return false;
        bool differs = shape->count == 1 && q != r;
        for (size_t k = 0; k < shape->count; k++)
            differs =
                differs || (k != i && !span_equal(other->tokens[k].text, shape->tokens[k].text));
        repeated = repeated || differs;
    }
    return repeated;
}

/* "user#123" in an item whose user_id is 123. */
static bool key_shape_is_stated_by_name(const struct column *column, size_t r)
{
    const struct key_shape *shape = &column->shapes[r];
    const struct sampled_item *item = column->items[r];
    const struct sampled_attribute *each;
    for (size_t from = 0;
         (each = key_shape_find_stating(column, item, shape->tokens[1].text, from));
         from = (size_t)(each - item->attributes) + 1)
        if (clue_is_of_tag(each->name, shape->tokens[0].text))
            return true;
    return false;
}

/* Whether the token behind I is the last one, and empty: "Account#". */
static bool key_shape_ends_empty(const struct key_shape *shape, size_t i)
{
    return i + 2 == shape->count && shape->tokens[i + 1].text.size == 0;
}

static bool key_shape_has_digit(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (ascii_is_digit(text.data[i]))
            return true;
    return false;
}

/* "pet" as the partition of items whose sort key begins with "pet#". */
static bool key_shape_begins_another_key(const struct column *column, size_t r)
{
    struct span word = column->shapes[r].tokens[0].text;
    const struct declared_record *record = column->table->records;
    for (size_t i = 0; i < record->key_count; i++) {
        const struct sampled_attribute *key =
            sampled_item_find(column->items[r], span_text(record->keys[i].attribute));
        if (key && span_starts(key->value, word) && key->value.size > word.size &&
            key->value.data[word.size] == column->separator)
            return true;
    }
    return false;
}

/* Whether the token at I of item R, which is not in upper case, is a word. */
static bool key_shape_is_other_word(const struct column *column, size_t r, size_t i)
{
    enum { SHORTEST_ID = 3 };
    const struct key_shape *shape = &column->shapes[r];
    const struct token *token = &shape->tokens[i];
    bool letter = i + 1 < shape->count && clue_is_letter(token->text);
    if (token->literal || token->open || !(letter || clue_is_word(token->text)) ||
        (clue_is_tag(token->text) && !letter) || (i > 0 && key_shape_is_word_at(shape, i - 1)))
        return false;
    if (shape->count == 1)
        return clue_is_generic_key(column->attribute) &&
               (column->sorts ? key_shape_is_repeated_word(column, r, i)
                              : key_shape_begins_another_key(column, r));
    /* "u#123#follower" has a word behind an id; "invoice#55443" and "i#55443" before one */
    bool behind_id = i >= 2 && i + 1 == shape->count && key_shape_is_word_at(shape, i - 2) &&
                     key_shape_has_digit(shape->tokens[i - 1].text);
    bool before_id = i == 0 && shape->tokens[1].text.size >= SHORTEST_ID &&
                     key_shape_has_digit(shape->tokens[1].text);
    return key_shape_ends_empty(shape, i) || key_shape_is_repeated_word(column, r, i) ||
           behind_id || before_id || (i == 0 && key_shape_is_stated_by_name(column, r));
}

/* Marks words that are not in upper case. A tag behind such a word, at the end, is a part: "c#ABC".
 */
static void key_shape_find_other_words(struct column *column)
{
    for (size_t i = 0; i < KEY_SHAPE_MAX_TOKENS; i++) {
        for (size_t r = 0; r < column->count; r++) {
            struct key_shape *shape = &column->shapes[r];
            if (i >= shape->count || !key_shape_is_other_word(column, r, i))
                continue;
            shape->tokens[i].literal = true;
            if (i + 2 == shape->count && shape->tokens[i + 1].text.size > 0 &&
                !key_shape_is_constant_end(column, r))
                shape->tokens[i + 1].literal = false;
        }
    }
}

/* If no key goes on behind "ACCOUNT#", the empty end is no part. */
static void key_shape_find_empty_ends(struct column *column)
{
    for (size_t r = 0; r < column->count; r++) {
        struct key_shape *shape = &column->shapes[r];
        if (shape->count < 2 || !key_shape_ends_empty(shape, shape->count - 2) ||
            !key_shape_is_word_at(shape, shape->count - 2))
            continue;
        size_t last = shape->count - 1;
        bool goes_on = false;
        for (size_t q = 0; !goes_on && q < column->count; q++)
            goes_on = key_shape_alike_but(&column->shapes[q], shape, last) &&
                      column->shapes[q].tokens[last].text.size > 0;
        shape->tokens[last].literal = shape->tokens[last].literal || !goes_on;
    }
}

/* The words at one place of keys that are alike at all other places. */
struct word_choice {
    const struct key_shape *pattern;
    size_t at;
    size_t first[MANY_WORDS + 1]; /* an item of each word */
    size_t words;
    bool same_kind; /* items with two of the words have the same attributes */
    bool stated;    /* an attribute has the word as its value in all items */
};

static void key_shape_read_choice(const struct column *column, size_t r, struct word_choice *choice)
{
    const struct sampled_attribute *each;
    size_t at = choice->at;
    for (size_t q = r; q < column->count; q++) {
        const struct key_shape *shape = &column->shapes[q];
        if (!key_shape_is_word_at(shape, at) || !key_shape_alike_but(shape, choice->pattern, at))
            continue;
        bool known = false;
        for (size_t w = 0; w < choice->words; w++) {
            size_t first = choice->first[w];
            if (span_equal(column->shapes[first].tokens[at].text, shape->tokens[at].text))
                known = true;
            else if (sampled_item_alike(column->items[first], column->items[q]) &&
                     column->items[q]->count > column->table->records->key_count)
                choice->same_kind = true;
        }
        if (!known && choice->words <= MANY_WORDS)
            choice->first[choice->words++] = q;
    }
    for (size_t from = 0; (each = key_shape_find_stating(column, column->items[r],
                                                         column->shapes[r].tokens[at].text, from));
         from = (size_t)(each - column->items[r]->attributes) + 1) {
        bool all = true;
        for (size_t q = r; all && q < column->count; q++) {
            if (!key_shape_is_word_at(&column->shapes[q], at) ||
                !key_shape_alike_but(&column->shapes[q], choice->pattern, at))
                continue;
            const struct sampled_attribute *same = sampled_item_find(column->items[q], each->name);
            all = same && span_equal(same->value, column->shapes[q].tokens[at].text);
        }
        choice->stated = choice->stated || all;
    }
}

/* Marks words as parts that are values after all: a status rather than a kind of item. */
static void key_shape_unmark_values(struct column *column, bool *decided)
{
    for (size_t at = 0; at < KEY_SHAPE_MAX_TOKENS; at++) {
        memset(decided, 0, column->count * sizeof *decided);
        for (size_t r = 0; r < column->count; r++) {
            if (decided[r] || !key_shape_is_word_at(&column->shapes[r], at))
                continue;
            struct key_shape pattern = column->shapes[r];
            struct word_choice choice = {.pattern = &pattern, .at = at};
            key_shape_read_choice(column, r, &choice);
            bool weak =
                !clue_is_tag(pattern.tokens[at].text) || (at > 0 && pattern.tokens[at - 1].literal);
            bool value = weak ? choice.same_kind || choice.stated
                              : choice.same_kind && (choice.stated || choice.words > MANY_WORDS);
            for (size_t q = r; q < column->count; q++) {
                if (!key_shape_alike_but(&column->shapes[q], &pattern, at))
                    continue;
                decided[q] = true;
                column->shapes[q].tokens[at].literal =
                    column->shapes[q].tokens[at].literal && !value;
            }
        }
    }
}

/* Whether A and B have words at the same places, the same first one, and at least two different
 * ones.
 */
static bool key_shape_is_crossed(const struct key_shape *a, const struct key_shape *b)
{
    size_t differ = 0;
    if (a->count != b->count || !key_shape_is_word_at(a, 0) ||
        !key_shape_token_alike(&a->tokens[0], &b->tokens[0]))
        return false;
    for (size_t i = 1; i < a->count; i++) {
        if (a->tokens[i].literal != b->tokens[i].literal)
            return false;
        differ += !key_shape_token_alike(&a->tokens[i], &b->tokens[i]);
    }
    return differ > 1;
}

static bool key_shape_is_single(const struct column *column, size_t r)
{
    for (size_t q = 0; q < column->count; q++)
        if (q != r && key_shape_alike(&column->shapes[q], &column->shapes[r]))
            return false;
    return true;
}

/* "F#ACTIVE#SEATS#1" and "F#EXPIRED#DOORS#2", each in one item: two words that change together are
 * values. */
static void key_shape_unmark_crossed(struct column *column)
{
    for (size_t r = 0; r < column->count; r++) {
        for (size_t q = r + 1; q < column->count; q++) {
            struct key_shape *a = &column->shapes[r], *b = &column->shapes[q];
            if (!key_shape_is_crossed(a, b) || !key_shape_is_single(column, r) ||
                !key_shape_is_single(column, q))
                continue;
            for (size_t i = 1; i < a->count; i++)
                if (!key_shape_token_alike(&a->tokens[i], &b->tokens[i]))
                    a->tokens[i].literal = b->tokens[i].literal = false;
        }
    }
}

bool key_shape_find_words(struct column *column, struct arena *arena)
{
    bool *decided = arena_array(arena, column->count, sizeof *decided);
    if (!decided)
        return false;
    key_shape_find_tags(column);
    key_shape_find_other_words(column);
    key_shape_find_empty_ends(column);
    key_shape_unmark_values(column, decided);
    key_shape_unmark_crossed(column);
    return true;
}

static bool key_shape_vocabulary_has(const struct vocabulary *vocabulary, struct span word)
{
    for (size_t i = 0; vocabulary && i < vocabulary->count; i++)
        if (span_equal(vocabulary->words[i], word))
            return true;
    return false;
}

bool key_shape_find_vocabulary(struct vocabulary *vocabulary, const struct column *columns,
                               size_t count, struct arena *arena)
{
    *vocabulary =
        (struct vocabulary){.words = arena_array(arena, MOST_WORDS, sizeof *vocabulary->words)};
    if (!vocabulary->words)
        return false;
    for (size_t c = 0; c < count; c++)
        for (size_t r = 0; r < columns[c].count; r++)
            for (size_t i = 0; i + 1 < columns[c].shapes[r].count; i++) {
                const struct token *token = &columns[c].shapes[r].tokens[i];
                if (token->literal && !clue_is_tag(token->text) &&
                    !key_shape_vocabulary_has(vocabulary, token->text) &&
                    vocabulary->count < MOST_WORDS)
                    vocabulary->words[vocabulary->count++] = token->text;
            }
    return true;
}

/* "child#suuid#7": a known word behind another word is no part if all keys with the same begin have
 * it and go on differently. */
static bool key_shape_is_second_word(const struct column *column, size_t r, size_t i)
{
    const struct key_shape *shape = &column->shapes[r];
    bool differs = false;
    for (size_t q = 0; q < column->count; q++) {
        const struct key_shape *other = &column->shapes[q];
        if (other->count <= i || !span_equal(other->tokens[i - 1].text, shape->tokens[i - 1].text))
            continue;
        if (!span_equal(other->tokens[i].text, shape->tokens[i].text))
            return false;
        differs = differs || (other->count > i + 1 &&
                              !span_equal(other->tokens[i + 1].text, shape->tokens[i + 1].text));
    }
    return differs;
}

void key_shape_find_known_words(struct column *column)
{
    for (size_t r = 0; r < column->count; r++) {
        struct key_shape *shape = &column->shapes[r];
        for (size_t i = 0; i + 1 < shape->count; i++) {
            struct token *token = &shape->tokens[i];
            if (!token->open && key_shape_vocabulary_has(column->known, token->text) &&
                (i == 0 || !shape->tokens[i - 1].literal ||
                 key_shape_is_second_word(column, r, i)) &&
                !key_shape_find_stating(column, column->items[r], token->text, 0))
                token->literal = true;
        }
    }
    key_shape_find_empty_ends(column);
}

static bool key_shape_is_common(const struct column *column, size_t i)
{
    struct span text = column->shapes[0].tokens[i].text;
    for (size_t r = 0; r < column->count; r++) {
        const struct token *token = &column->shapes[r].tokens[i];
        if (token->open || !span_equal(token->text, text) ||
            key_shape_find_stating(column, column->items[r], text, 0))
            return false;
    }
    return true;
}

/* Whether a word can be at I, behind the words before it. */
static bool key_shape_is_place_for_word(const struct column *column, size_t i)
{
    const struct key_shape *shape = &column->shapes[0];
    bool several = column->count > 1;
    bool last = i + 1 == shape->count;
    struct span text = shape->tokens[i].text;
    if (shape->count == 1)
        return clue_is_generic_key(column->attribute) &&
               (clue_is_tag(text) || (several && clue_is_word(text)));
    if (i > 0 && shape->tokens[i - 1].literal)
        return last ? text.size == 0 : several && clue_is_tag(text);
    if (!last && clue_is_word(text) &&
        (key_shape_ends_empty(shape, i) || key_shape_vocabulary_has(column->known, text)))
        return true;
    return clue_is_tag(text) || (several && !last && clue_is_word(text));
}

void key_shape_find_words_of_kind(struct column *column)
{
    if (column->count == 0)
        return;
    bool level = true;
    for (size_t r = 1; r < column->count; r++)
        level = level && column->shapes[r].count == column->shapes[0].count;
    for (size_t r = 0; !level && r < column->count; r++) { /* then the keys are one part each */
        struct span key = key_shape_key_text(column, r);
        column->shapes[r] = (struct key_shape){
            .tokens = {{.text = key, .open = memchr(key.data, column->separator, key.size)}},
            .count = 1};
    }
    for (size_t i = 0; i < column->shapes[0].count; i++) {
        bool literal = key_shape_is_common(column, i) && key_shape_is_place_for_word(column, i);
        for (size_t r = 0; r < column->count; r++)
            column->shapes[r].tokens[i].literal = literal;
    }
}
