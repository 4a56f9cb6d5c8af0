#include "core/draft/attribute_traits.h"

#include "core/base/instant.h"
#include "core/draft/attribute_clues.h"
#include "core/item/secret_clues.h"

enum { MOST_SECRETS = 50 };

/* Seconds, and milliseconds, of 1990 and of 2100: numbers that are dates are between them. */
static const long long FIRST_SECOND = 631152000, LAST_SECOND = 4102444800;

static bool traits_is_epoch(struct span text)
{
    long long number = 0;
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

static bool traits_is_date(const struct sampled_item_attribute *attribute)
{
    if (attribute->tag == TYPED_N)
        return traits_is_epoch(attribute->value);
    return attribute->tag == TYPED_S && instant_parse(attribute->value).known;
}

/* In how many records the attribute is; 0 when it is no date in one of them. */
static size_t traits_count_dates(const struct sampled_item *const *specimens, size_t count,
                                 struct span name)
{
    size_t dates = 0;
    for (size_t i = 0; i < count; i++) {
        const struct sampled_item_attribute *attribute = sampled_item_find(specimens[i], name);
        if (attribute && !traits_is_date(attribute))
            return 0;
        dates += attribute != NULL;
    }
    return dates;
}

bool attribute_traits_is_key(const struct declared_table *table, struct span name)
{
    const struct declared_record *record = table->records;
    for (size_t i = 0; record && i < record->key_count; i++)
        if (span_is(name, record->keys[i].attribute))
            return true;
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < KEY_MAX_ATTRIBUTES; i++)
            if ((i < index->partition_count && span_is(name, index->partition[i].attribute)) ||
                (i < index->sort_count && span_is(name, index->sort[i].attribute)))
                return true;
    return false;
}

static void traits_find_date(const struct sampled_item *const *specimens, size_t count,
                             struct arena *arena, struct declared_table *table, struct buf *note)
{
    struct span best = {0};
    enum clue_dating dating = DATES_NOTHING;
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < specimens[i]->count; a++) {
            const struct sampled_item_attribute *attribute = &specimens[i]->attributes[a];
            enum clue_dating clue = clue_dating(attribute->name);
            if (clue == DATES_NOTHING || clue < dating || !traits_is_date(attribute) ||
                span_equal(attribute->name, best))
                continue;
            size_t dates = traits_count_dates(specimens, count, attribute->name);
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
    buf_printf(note, " \"mtime\": %.*s is a date in all of the %zu sampled record%s that %s it.",
               (int)best.size, best.data, most, most == 1 ? "" : "s", most == 1 ? "has" : "have");
}

static bool traits_is_text(const struct sampled_item_attribute *attribute)
{
    return attribute->tag == TYPED_S || attribute->tag == TYPED_B || attribute->tag == TYPED_SS ||
           attribute->tag == TYPED_M || attribute->tag == TYPED_L;
}

static bool traits_is_listed(const struct declared_table *table, struct span name)
{
    for (size_t i = 0; i < table->secret_count; i++)
        if (span_is(name, table->secrets[i]))
            return true;
    return false;
}

static void traits_find_secrets(const struct sampled_item *const *specimens, size_t count,
                                struct arena *arena, struct declared_table *table, struct buf *note)
{
    const char **secrets = arena_array(arena, MOST_SECRETS, sizeof *secrets);
    for (size_t i = 0; secrets && i < table->secret_count && i < MOST_SECRETS; i++)
        secrets[i] = table->secrets[i];
    if (!secrets)
        return;
    table->secrets = secrets;
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < specimens[i]->count; a++) {
            const struct sampled_item_attribute *attribute = &specimens[i]->attributes[a];
            bool named = secret_clue_in_name(attribute->name) && traits_is_text(attribute);
            if ((!named && !attribute->secret) || table->secret_count >= MOST_SECRETS ||
                traits_is_listed(table, attribute->name))
                continue;
            if (attribute_traits_is_key(table,
                                        attribute->name)) /* a path spells it: nothing is hidden */
                continue;
            secrets[table->secret_count++] = arena_text(arena, attribute->name);
            buf_printf(note, " \"secret\": %.*s looks like one by its %s.",
                       (int)attribute->name.size, attribute->name.data,
                       attribute->secret ? "value" : "name");
        }
    }
}

void attribute_traits_find(const struct sampled_item *const *specimens, size_t count,
                           struct arena *arena, struct declared_table *table, struct buf *note)
{
    traits_find_date(specimens, count, arena, table, note);
    traits_find_secrets(specimens, count, arena, table, note);
}
