#include "core/draft/sampled_item.h"

#include "core/base/instant.h"
#include "core/draft/attribute_clues.h"
#include "core/draft/declare.h"
#include "core/item/secret_clues.h"

enum { MOST_SECRETS = 50 };

/* The seconds of 1990 and of 2100: a number between them, or between their milliseconds, may be a
 * date. */
static const long long FIRST_SECOND = 631152000, LAST_SECOND = 4102444800;

static bool sampled_item_read_value(struct json value, struct arena *arena,
                                    struct sampled_attribute *out)
{
    struct typed typed = typed_open(value);
    struct span text;
    out->tag = typed.tag;
    if (typed.tag != TYPED_S && typed.tag != TYPED_N)
        return typed.tag != TYPED_NONE;
    if (json_raw(typed.content).size > 6 * (size_t)SAMPLED_ITEM_LONGEST) {
        out->secret =
            secret_clue_in_value(span_from(span_of(json_raw(typed.content).data, 100), 1));
        return true;
    }
    if (!typed_text(typed.content, arena, &text))
        return false;
    out->secret = typed.tag == TYPED_S && secret_clue_in_value(text);
    if (text.size <= SAMPLED_ITEM_LONGEST)
        out->value = arena_copy(arena, text);
    return true;
}

struct sampled_item *sampled_item_new(struct json item, struct arena *arena)
{
    struct sampled_item *sampled = arena_alloc(arena, sizeof *sampled);
    struct typed_members members;
    if (!sampled || !typed_members(item, arena, &members))
        return NULL;
    sampled->attributes = arena_array(arena, members.count, sizeof *sampled->attributes);
    for (size_t i = 0; sampled->attributes && i < members.count; i++) {
        struct sampled_attribute *attribute = &sampled->attributes[sampled->count++];
        attribute->name = arena_copy(arena, members.list[i].name);
        if (!sampled_item_read_value(members.list[i].value, arena, attribute))
            return NULL;
    }
    return arena->failed ? NULL : sampled;
}

const struct sampled_attribute *sampled_item_find(const struct sampled_item *item, struct span name)
{
    for (size_t i = 0; i < item->count; i++)
        if (span_equal(item->attributes[i].name, name))
            return &item->attributes[i];
    return NULL;
}

/* Attributes are in the order of their names. */
bool sampled_item_alike(const struct sampled_item *a, const struct sampled_item *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!span_equal(a->attributes[i].name, b->attributes[i].name) ||
            (clue_of_kind(a->attributes[i].name) == KIND_IS_NAMED &&
             !span_equal(a->attributes[i].value, b->attributes[i].value)))
            return false;
    return true;
}

static bool sampled_attribute_is_date(const struct sampled_attribute *attribute)
{
    struct span text = attribute->value;
    long long number = 0;
    if (attribute->tag != TYPED_N)
        return attribute->tag == TYPED_S && instant_parse(text).known;
    if (text.size < 9 || text.size > 13)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9')
            return false;
        number = number * 10 + (text.data[i] - '0');
    }
    return (number >= FIRST_SECOND && number <= LAST_SECOND) ||
           (number >= FIRST_SECOND * 1000 && number <= LAST_SECOND * 1000);
}

/* How many items have the attribute; 0 when one of the values is no date. */
static size_t sampled_items_count_dates(const struct sampled_item *const *items, size_t count,
                                        struct span name)
{
    size_t dates = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sampled_attribute *attribute = sampled_item_find(items[i], name);
        if (attribute && !sampled_attribute_is_date(attribute))
            return 0;
        dates += attribute != NULL;
    }
    return dates;
}

static void sampled_items_declare_mtime(const struct sampled_item *const *items, size_t count,
                                        struct arena *arena, struct declared_table *table,
                                        struct buf *note)
{
    struct span best = {0};
    enum clue_dating dating = DATES_NOTHING;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < items[i]->count; a++) {
            const struct sampled_attribute *attribute = &items[i]->attributes[a];
            enum clue_dating clue = clue_dating(attribute->name);
            if (clue == DATES_NOTHING || clue < dating || !sampled_attribute_is_date(attribute) ||
                span_equal(attribute->name, best))
                continue;
            size_t dates = sampled_items_count_dates(items, count, attribute->name);
            if (dates == 0 || (clue == dating && dates <= most))
                continue;
            best = attribute->name;
            dating = clue;
            most = dates;
        }
    }
    if (most == 0)
        return;
    table->mtime = arena_text(arena, best);
    buf_printf(note, " \"mtime\": %.*s is a date in all of the %zu sampled item%s that %s it.",
               (int)best.size, best.data, most, most == 1 ? "" : "s", most == 1 ? "has" : "have");
}

/* Keys are never secret: paths spell them. */
static void sampled_items_declare_secrets(const struct sampled_item *const *items, size_t count,
                                          struct arena *arena, struct declared_table *table,
                                          struct buf *note)
{
    const char **secrets = arena_array(arena, MOST_SECRETS, sizeof *secrets);
    for (size_t i = 0; secrets && i < table->secret_count && i < MOST_SECRETS; i++)
        secrets[i] = table->secrets[i];
    if (!secrets)
        return;
    table->secrets = secrets;
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < items[i]->count; a++) {
            const struct sampled_attribute *attribute = &items[i]->attributes[a];
            enum typed_tag tag = attribute->tag;
            bool holds_text = tag == TYPED_S || tag == TYPED_B || tag == TYPED_SS ||
                              tag == TYPED_M || tag == TYPED_L;
            if ((!attribute->secret && !(holds_text && secret_clue_in_name(attribute->name))) ||
                table->secret_count >= MOST_SECRETS)
                continue;
            bool listed = false;
            for (size_t k = 0; k < table->secret_count; k++)
                listed = listed || span_is(attribute->name, secrets[k]);
            if (listed || declare_is_key(table, attribute->name))
                continue;
            secrets[table->secret_count++] = arena_text(arena, attribute->name);
            buf_printf(note, " \"secret\": %.*s looks like a secret by its %s.",
                       (int)attribute->name.size, attribute->name.data,
                       attribute->secret ? "value" : "name");
        }
    }
}

void sampled_items_declare_traits(const struct sampled_item *const *items, size_t count,
                                  struct arena *arena, struct declared_table *table,
                                  struct buf *note)
{
    sampled_items_declare_mtime(items, count, arena, table, note);
    sampled_items_declare_secrets(items, count, arena, table, note);
}
