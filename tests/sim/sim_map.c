/* The map of a life: drawn as data, and written as the text that the program reads. Also the paths
 * below tables/, which follow from the tables alone (docs/semantics.md, "Any table"; `ddbfs map`
 * prints them). */
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_model.h"
#include "tests/sim/sim_paths.h"
#include "tests/sim/sim_vectors.h"
#include "tests/sim/sim_world.h"

static struct {
    struct sim_model *now;
    unsigned draws;
} sim_map;

unsigned sim_key_count(const struct sim_key_schema *key)
{
    return key->hash_count + key->range_count;
}

bool sim_key_has(const struct sim_key_schema *key, unsigned from, unsigned until, const char *name)
{
    for (unsigned i = from; i < until; i++)
        if (strcmp(key->names[i], name) == 0)
            return true;
    return false;
}

/* Patterns. */

/* A pattern of TABLE with the steps of TEXT, "a/{b}/"; a final slash: a listing. */
static struct sim_pattern *sim_map_add_pattern(struct sim_model_table *table, unsigned kinds,
                                               char *text)
{
    if (table->pattern_count == SIM_MODEL_PATTERNS)
        sim_broken("too many patterns");
    table->patterns =
        sim_grow(table->patterns, (table->pattern_count + 1) * sizeof(*table->patterns));
    struct sim_pattern *pattern = &table->patterns[table->pattern_count++];
    *pattern = (struct sim_pattern){.text = text, .kinds = kinds, .index = -1};
    pattern->ttl_ms = table->ttl_ms;
    for (char *at = text; *at;) {
        size_t size = strcspn(at, "/");
        char *step = sim_printf("%.*s", (int)size, at);
        if (pattern->step_count == SIM_MODEL_STEPS)
            sim_broken("a pattern has too many steps");
        sim_format_read(&pattern->steps[pattern->step_count++], step);
        sim_free(step);
        at += size;
        pattern->is_listing = *at == '/';
        at += *at == '/';
    }
    return pattern;
}

static void sim_map_use_index(struct sim_model_table *table, struct sim_pattern *pattern, int index)
{
    pattern->index = index;
    if (index < 0)
        return;
    table->used[index] = true;
    pattern->reads_again = table->table->indexes[index].projection != SIM_PROJECT_ALL;
}

static bool sim_map_path_has(const struct sim_pattern *pattern, const char *part)
{
    for (unsigned i = 0; i < pattern->step_count; i++)
        if (sim_format_has(&pattern->steps[i], part))
            return true;
    return false;
}

static void sim_map_name_entries(struct sim_model_table *table, struct sim_pattern *pattern,
                                 const char *name)
{
    for (unsigned k = 0; k < table->kind_count; k++)
        sim_format_read(&pattern->names[k], name);
}

/* A part's name has letters, digits and "_" alone (docs/map.md, "Formats"): as `ddbfs map` makes it
 * of an attribute's. */
char *sim_part_name(const char *attribute)
{
    char *name = sim_copy(attribute);
    for (char *at = name; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
              (*at >= '0' && *at <= '9')))
            *at = '_';
    return name;
}

/* tables/: each key attribute is one part. */

static void sim_map_add_plain_kind(struct sim_model_table *table)
{
    struct sim_model_kind *kind = &table->kinds[table->kind_count++];
    kind->name = sim_copy("item");
    for (int index = -1; index < (int)table->table->index_count; index++) {
        const struct sim_key_schema *key =
            index < 0 ? &table->table->key : &table->table->indexes[index].key;
        for (unsigned i = 0; i < sim_key_count(key); i++) {
            if (sim_kind_format(kind, key->names[i]))
                continue;
            if (kind->key_count == SIM_MODEL_FORMATS)
                sim_broken("too many key attributes");
            char *part = sim_part_name(key->names[i]);
            char *text = sim_printf("{%s%s}", part, key->types[i] == SIM_S ? "*" : "");
            kind->keys[kind->key_count].attribute = key->names[i];
            sim_format_read(&kind->keys[kind->key_count].format, text);
            kind->keys[kind->key_count++].format.pieces[0].is_bytes = key->types[i] != SIM_S;
            sim_free(text);
            sim_free(part);
        }
    }
}

/* The names of entries: the rest of the index's key, then of the table's. */
static char *sim_map_plain_name(const struct sim_table *table, int index)
{
    const struct sim_key_schema *own = &table->key;
    const struct sim_key_schema *key = index < 0 ? own : &table->indexes[index].key;
    struct sim_text text = {0};
    unsigned last = sim_key_count(key) - 1;
    const char *comma = "";
    if (key->range_count && !sim_key_has(own, 0, sim_key_count(own), key->names[last])) {
        char *part = sim_part_name(key->names[last]);
        sim_text_printf(&text, "{%s}", part);
        sim_free(part);
        comma = ",";
    }
    for (unsigned i = 0; i < sim_key_count(own); i++) {
        if (sim_key_has(key, 0, key->range_count > 1 ? last : key->hash_count, own->names[i]))
            continue;
        char *part = sim_part_name(own->names[i]);
        sim_text_printf(&text, "%s{%s}", comma, part);
        sim_free(part);
        comma = ",";
    }
    return text.bytes ? text.bytes : sim_copy("");
}

static struct sim_pattern *sim_map_add_plain(struct sim_model_table *table, int index, char *text,
                                             const char *name)
{
    struct sim_pattern *pattern = sim_map_add_pattern(table, 1, text);
    sim_map_use_index(table, pattern, index);
    sim_map_name_entries(table, pattern, name);
    return pattern;
}

/* docs/semantics.md, "Windows". PART is the rest of the sort key. No attribute's part has the names
 * of the parameters here. */
static void sim_map_add_windows(struct sim_model_table *table, int index, const char *begin,
                                const char *part, enum sim_type type, const char *name)
{
    struct sim_pattern *pattern;
    if (type == SIM_S) {
        pattern = sim_map_add_plain(table, index, sim_printf("%s{w:prefix}*/", begin), name);
        pattern->is_hidden = true;
        pattern->where = SIM_WHERE_PREFIX;
        pattern->where_name = sim_part_name(part);
        sim_format_read(&pattern->low, "{w:prefix}");
    }
    pattern = sim_map_add_plain(table, index, sim_printf("%s{w:from}..{w:to}/", begin), name);
    pattern->is_hidden = true;
    pattern->where = SIM_WHERE_BETWEEN;
    pattern->where_name = type == SIM_S ? sim_part_name(part) : sim_copy(part);
    pattern->where_is_attribute = type != SIM_S;
    sim_format_read(&pattern->low, "{w:from}");
    sim_format_read(&pattern->high, "{w:to}");
    for (int first = 0; first < 2; first++) {
        const char *word = first ? "first" : "last";
        pattern = sim_map_add_plain(table, index, sim_printf("%s%s/", begin, word), name);
        pattern->is_hidden = true;
        pattern->descends = !first;
        pattern->limit = 100;
        pattern = sim_map_add_plain(table, index, sim_printf("%s%s:{w:count}/", begin, word), name);
        pattern->is_hidden = true;
        pattern->descends = !first;
        pattern->limit_part = "w:count";
    }
    pattern = sim_map_add_plain(table, index, sim_printf("%safter:{w:key}/", begin), name);
    pattern->is_hidden = true;
    pattern->where = SIM_WHERE_AFTER;
    pattern->where_name = sim_copy(part);
    pattern->where_is_attribute = true;
    sim_format_read(&pattern->low, "{w:key}");
    pattern->limit = 1000;
    pattern->has_ties = index >= 0;
}

static void sim_map_add_plain_view(struct sim_model_table *table, int index)
{
    const struct sim_key_schema *key =
        index < 0 ? &table->table->key : &table->table->indexes[index].key;
    if (index < 0 && key->range_count == 0) {
        sim_map_add_plain(table, index, sim_printf("items/{%s}", sim_part_name(key->names[0])), "");
        return;
    }
    struct sim_text begin = {0};
    if (index < 0)
        sim_text_puts(&begin, "items/");
    else
        sim_text_printf(&begin, "by/%s/", table->table->indexes[index].name);
    unsigned last = sim_key_count(key) - 1;
    char *name = sim_map_plain_name(table->table, index);
    for (unsigned i = 0; i < key->hash_count; i++)
        sim_text_printf(&begin, "{%s}/", sim_part_name(key->names[i]));
    for (unsigned i = key->hash_count; i < last; i++) {
        char *step = sim_printf("{%s}", sim_part_name(key->names[i]));
        struct sim_pattern *groups = sim_map_add_plain(table, index, sim_copy(begin.bytes), step);
        groups->is_groups = true;
        groups->reads_again = false; /* directories are names alone */
        sim_text_printf(&begin, "%s/", step);
        sim_free(step);
    }
    sim_map_add_plain(table, index, sim_copy(begin.bytes), name);
    if (key->range_count)
        sim_map_add_windows(table, index, begin.bytes, key->names[last], key->types[last], name);
    sim_free(name);
    sim_text_free(&begin);
}

static void sim_map_draw_generic(struct sim_model *model)
{
    for (struct sim_table *table = sim_history_tables(); table; table = table->next)
        model->generic_count++;
    model->generic = sim_alloc(model->generic_count * sizeof(*model->generic));
    unsigned at = 0;
    for (struct sim_table *table = sim_history_tables(); table; table = table->next) {
        struct sim_model_table *own = &model->generic[at++];
        own->directory = table->name;
        own->table = table;
        own->is_generic = true;
        own->ttl_ms = 10000;
        sim_map_add_plain_kind(own);
        for (int index = -1; index < (int)table->index_count; index++)
            sim_map_add_plain_view(own, index);
        /* "by/INDEX/ has a README about the vector index, and the placeholder {vector}". */
        const struct sim_vector *vectors;
        size_t count = sim_vectors_of(table, &vectors);
        for (size_t i = 0; i < count; i++)
            sim_map_add_pattern(own, 0, sim_printf("by/%s/{vector}", vectors[i].name));
    }
}

/* The map's own tables. */

struct sim_map_draft {
    struct sim_model_table *table;
    struct sim_dice dice;
};

static bool sim_map_chance(struct sim_map_draft *draft, unsigned per_mille)
{
    return sim_dice_chance(&draft->dice, per_mille);
}

static void sim_map_add_format(struct sim_model_kind *kind, const char *attribute, const char *text)
{
    if (sim_kind_format(kind, attribute))
        return;
    if (kind->key_count == SIM_MODEL_FORMATS)
        sim_broken("too many key attributes");
    kind->keys[kind->key_count].attribute = attribute;
    sim_format_read(&kind->keys[kind->key_count++].format, text);
}

/* The kinds as the history has them; an attribute without a format is one part. */
static void sim_map_draft_kinds(struct sim_map_draft *draft)
{
    struct sim_model_table *table = draft->table;
    const struct sim_table *of = table->table;
    if (!of->kinds) {
        sim_map_add_plain_kind(table);
        return;
    }
    for (size_t k = 0; k < of->kind_count && k < SIM_MODEL_KINDS; k++) {
        struct sim_model_kind *kind = &table->kinds[table->kind_count++];
        kind->name = sim_copy(of->kinds[k].name);
        for (unsigned f = 0; f < SIM_MOST_FORMATS && of->kinds[k].formats[f].attribute; f++)
            sim_map_add_format(kind, of->kinds[k].formats[f].attribute,
                               of->kinds[k].formats[f].format);
    }
    for (int index = -1; index < (int)of->index_count; index++) {
        const struct sim_key_schema *key = index < 0 ? &of->key : &of->indexes[index].key;
        for (unsigned i = 0; i < sim_key_count(key); i++) {
            bool some = false;
            for (unsigned k = 0; k < table->kind_count; k++)
                some = some || sim_kind_format(&table->kinds[k], key->names[i]);
            if (some && index >= 0)
                continue; /* kinds without a format are not in this index */
            char *part = sim_part_name(key->names[i]);
            char *text = sim_printf("{%s%s}", part, key->types[i] == SIM_S ? "*" : "");
            sim_free(part);
            for (unsigned k = 0; k < table->kind_count; k++)
                sim_map_add_format(&table->kinds[k], key->names[i], text);
            sim_free(text);
        }
    }
}

/* Appends a step for each part of FORMAT that the path has not. */
static void sim_map_write_steps(struct sim_text *out, const struct sim_key_format *format)
{
    for (unsigned i = 0; i < format->count; i++) {
        if (!format->pieces[i].is_part)
            continue;
        struct sim_text step = {0};
        sim_text_printf(&step, "{%s}", format->pieces[i].text);
        if (!out->bytes || !strstr(out->bytes, step.bytes))
            sim_text_printf(out, "/%s", step.bytes);
        sim_text_free(&step);
    }
}

static bool sim_map_write_key_steps(struct sim_text *out, const struct sim_model_kind *kind,
                                    const struct sim_key_schema *key, unsigned from, unsigned until)
{
    for (unsigned i = from; i < until; i++) {
        const struct sim_key_format *format = sim_kind_format(kind, key->names[i]);
        if (!format)
            return false;
        sim_map_write_steps(out, format);
    }
    return true;
}

static unsigned sim_map_part_count(const struct sim_key_format *format)
{
    unsigned count = 0;
    for (unsigned i = 0; i < format->count; i++)
        count += format->pieces[i].is_part;
    return count;
}

/* A name with all parts that the path does not determine: those of the table's key, and perhaps
 * those of the index's. False: there are none. */
static bool sim_map_write_own_name(struct sim_map_draft *draft, struct sim_pattern *pattern,
                                   const struct sim_model_kind *kind)
{
    static const char *const commas[] = {",", "+", "=", " - "};
    const char *comma = commas[sim_dice_below(&draft->dice, 4)];
    const struct sim_table *of = draft->table->table;
    struct sim_text text = {0};
    bool is_any = false;
    int until = pattern->index >= 0 && sim_map_chance(draft, 500) ? pattern->index : -1;
    for (int index = -1; index <= until; index = index < 0 && until >= 0 ? until : until + 1) {
        const struct sim_key_schema *key = index < 0 ? &of->key : &of->indexes[index].key;
        for (unsigned i = 0; i < sim_key_count(key); i++) {
            const struct sim_key_format *format = sim_kind_format(kind, key->names[i]);
            for (unsigned p = 0; p < format->count; p++) {
                const char *name = format->pieces[p].text;
                char *part = sim_printf("{%s}", name);
                if (format->pieces[p].is_part && !sim_map_path_has(pattern, name) &&
                    (!text.bytes || !strstr(text.bytes, part))) {
                    sim_text_printf(&text, "%s%s", is_any ? comma : "", part);
                    is_any = true;
                }
                sim_free(part);
            }
        }
    }
    if (is_any)
        sim_map_name_entries(draft->table, pattern, text.bytes);
    pattern->name_is_written = is_any;
    sim_text_free(&text);
    return is_any;
}

/* Without "name": the parts that the path does not determine, with the text between them. The model
 * knows that only where the partition key is determined and the sort key ends in a part. */
static bool sim_map_use_default_name(struct sim_pattern *pattern, unsigned number,
                                     const struct sim_key_format *sort)
{
    unsigned from = 0;
    while (from < sort->count && !sort->pieces[from].is_part)
        from++;
    if (from == sort->count || !sort->pieces[sort->count - 1].is_part)
        return false;
    for (unsigned i = 0; i < sort->count; i++)
        if (sort->pieces[i].is_part && sim_map_path_has(pattern, sort->pieces[i].text))
            return false;
    struct sim_key_format *name = &pattern->names[number];
    *name = (struct sim_key_format){0};
    for (unsigned i = from; i < sort->count; i++)
        name->pieces[name->count++] = sort->pieces[i];
    return true;
}

/* Whether the steps TEXT have all parts of FORMAT. */
static bool sim_map_has_all_parts(const struct sim_text *text, const struct sim_key_format *format)
{
    for (unsigned i = 0; i < format->count; i++) {
        char *part = sim_printf("{%s}", format->pieces[i].text);
        bool is_there = !format->pieces[i].is_part || strstr(text->bytes, part);
        sim_free(part);
        if (!is_there)
            return false;
    }
    return true;
}

static const struct sim_key_format *sim_map_hash_format(const struct sim_model_table *table,
                                                        unsigned kind)
{
    return sim_kind_format(&table->kinds[kind], table->table->key.names[0]);
}

static const struct sim_key_format *sim_map_range_format(const struct sim_model_table *table,
                                                         unsigned kind)
{
    return table->table->key.range_count
               ? sim_kind_format(&table->kinds[kind], table->table->key.names[1])
               : NULL;
}

static char *sim_map_end_text(struct sim_text *text, const char *more)
{
    sim_text_puts(text, more);
    return text->bytes;
}

static void sim_map_draw_ttl(struct sim_map_draft *draft, struct sim_pattern *pattern)
{
    static const int64_t choices[] = {0, 1000, 2000, 10000, 60000};
    if (!sim_map_chance(draft, 300))
        return;
    pattern->ttl_ms = choices[sim_dice_below(&draft->dice, 5)];
    pattern->has_own_ttl = true;
}

static void sim_map_draft_items(struct sim_map_draft *draft, unsigned k)
{
    struct sim_model_table *table = draft->table;
    const struct sim_model_kind *kind = &table->kinds[k];
    const struct sim_key_schema *key = &table->table->key;
    struct sim_text text = {0};
    sim_text_printf(&text, "%s-one", kind->name);
    if (sim_map_write_key_steps(&text, kind, key, 0, sim_key_count(key)))
        sim_map_draw_ttl(draft, sim_map_add_pattern(table, 1u << k, sim_map_end_text(&text, "")));
    if (sim_map_range_format(table, k) && sim_map_part_count(sim_map_range_format(table, k)) &&
        sim_map_chance(draft, 500)) {
        struct sim_text more = {0};
        sim_text_printf(&more, "%s-newest", kind->name);
        if (sim_map_write_key_steps(&more, kind, key, 0, 1) &&
            !sim_map_has_all_parts(&more, sim_map_range_format(table, k))) {
            struct sim_pattern *pattern =
                sim_map_add_pattern(table, 1u << k, sim_map_end_text(&more, ""));
            pattern->is_first = true;
            pattern->descends = sim_map_chance(draft, 500);
            sim_map_draw_ttl(draft, pattern);
        }
    }
}

/* Attributes that are no keys, of some item. */
static const struct sim_attribute *sim_map_draw_attribute(struct sim_map_draft *draft,
                                                          enum sim_type type)
{
    const struct sim_model_table *table = draft->table;
    size_t at = sim_dice_below(&draft->dice, (uint32_t)table->table->item_count);
    const struct sim_item *item = table->table->first;
    while (item && at--)
        item = item->next;
    if (!item || !item->newest)
        return NULL;
    for (size_t i = 0; i < item->newest->attribute_count; i++) {
        const struct sim_attribute *each = &item->newest->attributes[i];
        bool is_key = false;
        for (unsigned k = 0; k < table->kind_count; k++)
            is_key = is_key || sim_kind_format(&table->kinds[k], each->name);
        if (each->value.type == type && !is_key && sim_map_chance(draft, 400))
            return each;
    }
    return NULL;
}

/* A filter by an attribute that some item has. */
static bool sim_map_draw_filter(struct sim_map_draft *draft, struct sim_pattern *pattern)
{
    const struct sim_attribute *attribute = sim_map_draw_attribute(draft, SIM_S);
    if (!attribute || attribute->value.size == 0 || attribute->value.size > 60 ||
        memchr(attribute->value.bytes, 0, attribute->value.size) ||
        strpbrk(attribute->value.bytes, "{}") || strpbrk(attribute->name, "'{}") ||
        strlen(attribute->name) > 100)
        return false;
    pattern->filter = (enum sim_filter)(SIM_FILTER_EQUAL + (int)sim_dice_below(&draft->dice, 4));
    pattern->filter_name = sim_copy(attribute->name);
    pattern->filter_value = sim_copy(attribute->value.bytes);
    return true;
}

/* "The file is this attribute's bare value." */
static void sim_map_draft_value(struct sim_map_draft *draft, unsigned k)
{
    static const enum sim_type types[] = {SIM_S, SIM_N, SIM_B, SIM_L, SIM_SS};
    struct sim_model_table *table = draft->table;
    struct sim_text text = {0};
    const struct sim_attribute *attribute =
        sim_map_draw_attribute(draft, types[sim_dice_below(&draft->dice, 5)]);
    sim_text_printf(&text, "%s-value", table->kinds[k].name);
    if (!attribute || strlen(attribute->name) > 100 ||
        !sim_map_write_key_steps(&text, &table->kinds[k], &table->table->key, 0,
                                 sim_key_count(&table->table->key)))
        return;
    struct sim_pattern *pattern = sim_map_add_pattern(table, 1u << k, sim_map_end_text(&text, ""));
    pattern->attribute = sim_copy(attribute->name);
    sim_map_draw_ttl(draft, pattern);
}

/* A listing of one kind in its partition, perhaps of a window. */
static void sim_map_draft_listing(struct sim_map_draft *draft, unsigned k, unsigned form)
{
    struct sim_model_table *table = draft->table;
    const struct sim_model_kind *kind = &table->kinds[k];
    const struct sim_key_schema *key = &table->table->key;
    static const char *const words[] = {"all", "latest", "on", "between", "where", "ranked"};
    const struct sim_key_format *sort = sim_map_range_format(table, k);
    if (!sort || !sim_map_part_count(sort))
        return;
    const char *part = NULL;
    for (unsigned i = 0; i < sort->count && !part; i++)
        part = sort->pieces[i].is_part ? sort->pieces[i].text : NULL;
    bool is_text = key->types[1] == SIM_S;
    struct sim_text text = {0};
    sim_text_printf(&text, "%s-%s", kind->name, words[form]);
    sim_map_write_key_steps(&text, kind, key, 0, 1);
    if ((form == 2 && !is_text) ||
        (form >= 2 && form <= 3 && text.bytes && strstr(text.bytes, part)))
        return;
    sim_text_puts(&text, form == 2 ? "/{xday}" : form == 3 ? "/{xfrom}..{xto}" : "");
    struct sim_pattern *pattern = sim_map_add_pattern(table, 1u << k, sim_map_end_text(&text, "/"));
    pattern->descends = sim_map_chance(draft, 500);
    if (form == 4 && !sim_map_draw_filter(draft, pattern)) {
        table->pattern_count--;
        return;
    }
    if (form == 1 || form == 5)
        pattern->limit = 1 + sim_dice_below(&draft->dice, sim_map_chance(draft, 500) ? 5 : 40);
    if (form == 2 || form == 3) {
        pattern->where = form == 2 ? SIM_WHERE_PREFIX : SIM_WHERE_BETWEEN;
        pattern->where_text = sim_copy(part);
        pattern->where_is_attribute = !is_text;
        pattern->where_name = sim_copy(is_text ? part : key->names[1]);
        sim_format_read(&pattern->low, form == 2 ? "{xday}" : "{xfrom}");
        if (form == 3)
            sim_format_read(&pattern->high, "{xto}");
    }
    sim_map_draw_ttl(draft, pattern);
    pattern->has_rank = form == 5;
    if (form == 5 || sim_map_chance(draft, 400) || !sim_map_use_default_name(pattern, k, sort))
        sim_map_write_own_name(draft, pattern, kind);
}

/* All kinds with the partition key of kind K. */
static void sim_map_draft_collection(struct sim_map_draft *draft, unsigned k)
{
    struct sim_model_table *table = draft->table;
    const struct sim_key_schema *key = &table->table->key;
    struct sim_text own = {0}, text = {0};
    unsigned kinds = 0;
    size_t common = SIZE_MAX;
    const char *least = NULL;
    if (!key->range_count)
        return;
    sim_format_write(&own, sim_map_hash_format(table, k));
    for (unsigned i = 0; i < table->kind_count; i++) {
        struct sim_text other = {0}, sort = {0};
        sim_format_write(&other, sim_map_hash_format(table, i));
        sim_format_write(&sort, sim_map_range_format(table, i));
        if (strcmp(own.bytes, other.bytes) == 0) {
            kinds |= 1u << i;
            /* The common beginning of the sort keys, without parts, up to a separator. */
            char *copy = sim_copy(sort.bytes);
            size_t same = least ? 0 : strcspn(copy, "{");
            while (least && same < common && copy[same] && copy[same] != '{' &&
                   copy[same] == least[same])
                same++;
            common = same;
            least = copy;
        }
        sim_text_free(&other);
        sim_text_free(&sort);
    }
    while (common && least[common - 1] != '#')
        common--;
    if (!(kinds & (kinds - 1)))
        return;
    sim_text_printf(&text, "with-%s", table->kinds[k].name);
    sim_map_write_key_steps(&text, &table->kinds[k], key, 0, 1);
    struct sim_pattern *pattern = sim_map_add_pattern(table, kinds, sim_map_end_text(&text, "/"));
    pattern->descends = sim_map_chance(draft, 300);
    for (unsigned i = 0; i < table->kind_count; i++) {
        struct sim_text sort = {0};
        sim_format_write(&sort, sim_map_range_format(table, i));
        if (kinds & 1u << i)
            sim_format_read(&pattern->names[i], sort.bytes + common);
        sim_text_free(&sort);
    }
    sim_map_draw_ttl(draft, pattern);
    sim_text_free(&own);
}

static void sim_map_draft_index(struct sim_map_draft *draft, unsigned k, int index)
{
    struct sim_model_table *table = draft->table;
    const struct sim_model_kind *kind = &table->kinds[k];
    const struct sim_index *of = &table->table->indexes[index];
    for (unsigned i = 0; i < sim_key_count(&of->key); i++)
        if (!sim_kind_format(kind, of->key.names[i]))
            return;
    struct sim_text text = {0};
    sim_text_printf(&text, "%s-by-%s", kind->name, of->name);
    sim_map_write_key_steps(&text, kind, &of->key, 0, of->key.hash_count);
    struct sim_pattern *pattern = sim_map_add_pattern(table, 1u << k, sim_map_end_text(&text, "/"));
    sim_map_use_index(table, pattern, index);
    if (pattern->reads_again && sim_map_chance(draft, 150))
        pattern->reads_again = false;
    pattern->descends = of->key.range_count && sim_map_chance(draft, 400);
    if (sim_map_chance(draft, 200))
        pattern->limit = 1 + sim_dice_below(&draft->dice, 20);
    sim_map_draw_ttl(draft, pattern);
    if (!sim_map_write_own_name(draft, pattern, kind))
        table->pattern_count--;
    if (!sim_map_chance(draft, 600))
        return;
    struct sim_text more = {0};
    sim_text_printf(&more, "%s-find-%s", kind->name, of->name);
    sim_map_write_key_steps(&more, kind, &of->key, 0, of->key.hash_count);
    pattern = sim_map_add_pattern(table, 1u << k, sim_map_end_text(&more, ""));
    sim_map_use_index(table, pattern, index);
    pattern->is_first = of->key.range_count && sim_map_chance(draft, 300);
    pattern->descends = pattern->is_first && sim_map_chance(draft, 500);
    sim_map_draw_ttl(draft, pattern);
}

/* Known values of a part of some item, so that directories list them. */
static void sim_map_draft_values(struct sim_map_draft *draft)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    struct sim_model_table *table = draft->table;
    const struct sim_key_format *hash = sim_map_hash_format(table, 0);
    const char *part = NULL;
    for (unsigned i = 0; i < hash->count && !part; i++)
        if (hash->pieces[i].is_part && !hash->pieces[i].is_bytes && !hash->pieces[i].is_open)
            part = hash->pieces[i].text;
    for (const struct sim_item *item = table->table->first; part && item; item = item->next) {
        struct sim_pattern any = {.index = -1, .kinds = 1};
        struct sim_bindings none = {0}, parts;
        if (!sim_map_chance(draft, 300) ||
            sim_pattern_takes_apart(table, &any, 1, &none, item->newest, &parts) != SIM_FIT_YES)
            continue;
        const struct sim_slice *value = sim_bindings_get(&parts, part);
        bool is_new = value->size > 0 && value->size < 40;
        for (size_t c = 0; is_new && c < value->size; c++)
            is_new = value->bytes[c] && strchr(plain, value->bytes[c]);
        for (unsigned i = 0; is_new && i < table->value_count; i++)
            is_new = !sim_slice_equal(sim_slice_of(table->values[i]), *value);
        if (is_new && !sim_name_is_probe(*value) &&
            !sim_slice_equal(*value, sim_slice_of("README")) &&
            table->value_count < SIM_MODEL_VALUES)
            table->values[table->value_count++] =
                sim_printf("%.*s", (int)value->size, value->bytes);
    }
    table->valued = table->value_count ? sim_copy(part) : NULL;
    table->values_are_all = sim_map_chance(draft, 500);
}

/* A link from items of a kind to a listing that their keys alone determine. */
static void sim_map_draft_link(struct sim_map_draft *draft)
{
    struct sim_model_table *table = draft->table;
    for (unsigned p = 0; p < table->pattern_count && !table->link; p++) {
        const struct sim_pattern *pattern = &table->patterns[p];
        if (!pattern->is_listing || pattern->index >= 0 || pattern->where != SIM_WHERE_NONE ||
            !sim_map_chance(draft, 400))
            continue;
        table->link_kind = 0;
        while (!(pattern->kinds & 1u << table->link_kind))
            table->link_kind++;
        table->link_pattern = p;
        table->link = "own";
    }
}

static void sim_map_draft_table(struct sim_map_draft *draft)
{
    static const int64_t ttls[] = {0, 1000, 10000, 10000, 60000};
    struct sim_model_table *table = draft->table;
    table->ttl_ms = ttls[sim_dice_below(&draft->dice, 5)];
    sim_map_draft_kinds(draft);
    for (unsigned k = 0; k < table->kind_count; k++) {
        sim_map_draft_items(draft, k);
        for (unsigned form = 0; form < 6; form++)
            if (sim_map_chance(draft, 500))
                sim_map_draft_listing(draft, k, form);
        if (sim_map_chance(draft, 300))
            sim_map_draft_value(draft, k);
        if (sim_map_chance(draft, 500))
            sim_map_draft_collection(draft, k);
        for (unsigned i = 0; i < table->table->index_count; i++)
            if (sim_map_chance(draft, 700))
                sim_map_draft_index(draft, k, (int)i);
    }
    if (sim_map_chance(draft, 500))
        sim_map_draft_values(draft);
    if (sim_map_chance(draft, 700))
        sim_map_draft_link(draft);
    static const char *const dates[] = {"updated_at", "last_updated", "created_at", "ttl",
                                        "last_seen"};
    if (sim_map_chance(draft, 600))
        table->mtime = sim_copy(dates[sim_dice_below(&draft->dice, 5)]);
    const struct sim_attribute *secret =
        sim_map_chance(draft, 300) ? sim_map_draw_attribute(draft, SIM_S) : NULL;
    if (secret)
        table->secrets[table->secret_count++] = sim_copy(secret->name);
}

/* Secrets are masked "also below tables/" (docs/semantics.md, "Secrets"). */
static void sim_map_share_secrets(struct sim_model *model)
{
    for (unsigned i = 0; i < model->table_count; i++)
        for (unsigned g = 0; g < model->generic_count; g++) {
            if (model->generic[g].table != model->tables[i].table)
                continue;
            model->generic[g].secret_count = model->tables[i].secret_count;
            memcpy(model->generic[g].secrets, model->tables[i].secrets,
                   sizeof(model->tables[i].secrets));
        }
}

static struct sim_model *sim_map_draw_model(void)
{
    struct sim_model *model = sim_alloc(sizeof(*model));
    struct sim_dice dice = sim_dice_for("map", sim_map.draws++);
    model->until_ms = INT64_MAX;
    sim_map_draw_generic(model);
    static bool has_map;
    if (sim_map.draws == 1)
        has_map = sim_dice_chance(&dice, 750);
    if (!has_map)
        return model;
    model->environment = SIM_ENVIRONMENT;
    model->prefix = SIM_ENVIRONMENT "-";
    model->tables = sim_alloc(model->generic_count * sizeof(*model->tables));
    for (struct sim_table *table = sim_history_tables(); table; table = table->next) {
        if (!table->base_name || sim_dice_chance(&dice, 100))
            continue;
        struct sim_model_table *own = &model->tables[model->table_count++];
        own->table = table;
        own->directory = sim_printf("t%u-%s", model->table_count, table->base_name);
        struct sim_map_draft draft = {
            own, sim_dice_for("map table", sim_map.draws * 100 + model->table_count)};
        sim_map_draft_table(&draft);
    }
    if (!model->table_count) {
        model->environment = NULL;
        return model;
    }
    sim_map_share_secrets(model);
    sim_map_write_text(model);
    return model;
}

const char *sim_paths_draw_map(void)
{
    sim_map.now = sim_map_draw_model();
    return sim_map.now->text;
}

const char *sim_paths_redraw_map(void)
{
    /* A replay has the map of its recording. */
    if (!sim_map.now->text || sim_life_options()->is_replay)
        return NULL;
    struct sim_model *model = sim_map_draw_model();
    if (!model->text)
        return NULL;
    model->older = sim_map.now;
    sim_map.now->until_ms = sim_now_ms();
    sim_map.now = model;
    return model->text;
}

const struct sim_model *sim_model_now(void)
{
    return sim_map.now;
}
