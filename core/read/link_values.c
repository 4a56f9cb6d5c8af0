#include "core/read/link_values.h"

#include "core/item/item.h"
#include "core/map/link.h"
#include "core/plan/item_match.h"

/* What is known of a record. */
struct known {
    const struct model *table;
    bool kind_known; /* and KIND is NULL where it is none that the map declares */
    const struct map_kind *kind;
    struct bindings parts; /* of the key, as far as they are known */
    bool read;
    struct json item; /* once it has been READ */
    struct arena arena;
};

static void link_values_known_clean_up(struct known *known)
{
    arena_clean_up(&known->arena);
}

static void link_values_know_key(struct known *known, const struct key *key)
{
    struct bindings nothing = {0};
    known->kind = item_match_kind(known->table, key, &known->parts);
    known->kind_known = true;
    if (!known->kind)
        item_match_is_kind(known->table, known->table->any, key, &nothing, &known->parts);
}

/* The key that the path says whole. */
static bool link_values_key_of_path(const struct linked *record, struct arena *arena,
                                    struct key *key)
{
    const struct map_kind *kind = record->route->kind;
    *key = (struct key){.count = record->table->key_count};
    for (size_t i = 0; i < key->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        if (!kind || !format_expand(&kind->keys[i], record->path, &text))
            return false;
        arena->failed = arena->failed || text.failed;
        key->attributes[i].name = span_text(record->table->keys[i].attribute);
        key->attributes[i].value =
            (struct value){record->table->keys[i].type, arena_copy(arena, buf_span(&text))};
    }
    return !arena->failed;
}

static void link_values_know_path(struct known *known, const struct linked *record)
{
    const struct map_kind *kind = record->route->kind;
    struct key key;
    known->table = record->table;
    if (record->shortened)
        return;
    if (link_values_key_of_path(record, &known->arena, &key)) {
        link_values_know_key(known, &key);
    } else if (kind && kind != record->table->any) {
        known->kind = kind;
        known->kind_known = true;
        known->parts = *record->path;
    }
}

static bool link_values_know_record(struct known *known, const struct linked *record,
                                    struct json item)
{
    struct key key;
    known->table = record->table;
    if (!item_match_key(record->table, item, &known->arena, &key))
        return false;
    link_values_know_key(known, &key);
    known->item = item;
    known->read = true;
    return true;
}

/* What becomes of a question about the record. */
enum answer { KNOWN, UNREAD, NO_LINK };

static enum answer link_values_no_link(struct error *err, const struct map_link *link,
                                       const char *name, const char *why)
{
    error_set(err, ERROR_NOT_FOUND, "the record has no link \"%s\": its %s %s", link->name, name,
              why);
    return NO_LINK;
}

/* The text of the part of the key, or of the attribute, NAME. */
static enum answer link_values_report_text(struct known *known, const struct map_link *link,
                                           const char *name, bool is_part, struct span *out,
                                           struct error *err)
{
    const struct span *part = is_part ? bindings_find(&known->parts, name) : NULL;
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    struct value value;
    if (part) {
        *out = *part;
        return KNOWN;
    }
    if (!known->read)
        return UNREAD;
    struct json typed = item_attribute(known->item, span_text(name));
    if (!json_present(typed))
        return link_values_no_link(err, link, name, "is not there");
    if (!value_read(typed, &bytes, &value)) {
        known->arena.failed = known->arena.failed || bytes.failed;
        return link_values_no_link(err, link, name, "is neither a text, a number nor binary");
    }
    *out = arena_copy(&known->arena, value.bytes);
    return KNOWN;
}

static bool link_values_is_part(const struct known *known, const char *name)
{
    const struct map_kind *kind = known->kind ? known->kind : known->table->any;
    for (size_t i = 0; i < known->table->key_count; i++)
        if (format_has(&kind->keys[i], name))
            return true;
    return false;
}

/* What SOURCE tells, taken apart. */
static enum answer link_values_report_source(struct known *known, const struct map_link *link,
                                             const struct map_link_source *source,
                                             struct bindings *values, struct error *err)
{
    struct span text;
    enum answer answer = link_values_report_text(
        known, link, source->from, link_values_is_part(known, source->from), &text, err);
    if (answer == KNOWN &&
        !format_match_key(&source->format, text, known->table->separator, values)) {
        CLEAN_UP(buf_clean_up) struct buf format = {0}, why = {0};
        format_write(&source->format, &format);
        buf_printf(&why, "is not of the form %s", buf_text(&format));
        return link_values_no_link(err, link, source->from, buf_text(&why));
    }
    return answer;
}

static enum answer link_values_report_part(struct known *known, const struct map_link *link,
                                           const char *param, struct bindings *values,
                                           struct error *err)
{
    struct span text;
    const struct map_link_source *source = link_source(link, param);
    if (bindings_find(values, param))
        return KNOWN;
    if (source)
        return link_values_report_source(known, link, source, values, err);
    enum answer answer =
        link_values_report_text(known, link, param, link_values_is_part(known, param), &text, err);
    if (answer == KNOWN)
        bindings_add(values, param, text); /* without room no name will be found */
    return answer;
}

/* The values of all parts of LINK. */
static enum answer link_values_report_values(struct known *known, const struct map_link *link,
                                             struct bindings *values, struct error *err)
{
    enum answer worst = KNOWN;
    if (known->kind_known && !link_is_of(link, known->kind)) {
        error_set(err, ERROR_NOT_FOUND, "the map says no link \"%s\" of records of its kind",
                  link->name);
        return NO_LINK;
    }
    for (size_t i = 0; i < link->step_count; i++) {
        for (size_t k = 0; k < link->steps[i].count; k++) {
            const char *param = link->steps[i].pieces[k].param;
            enum answer answer =
                param ? link_values_report_part(known, link, param, values, err) : KNOWN;
            worst = answer > worst ? answer : worst;
        }
    }
    return known->kind_known ? worst : UNREAD;
}

bool link_values_known(const struct linked *record, const struct map_link *link)
{
    CLEAN_UP(link_values_known_clean_up) struct known known = {0};
    link_values_know_path(&known, record);
    for (const struct map_link *each = record->table->links; each; each = each->next) {
        struct bindings values = {0};
        if ((!link || each == link) &&
            link_values_report_values(&known, each, &values, NULL) == UNREAD)
            return false;
    }
    return true;
}

/* The values outlive what else is known. */
static bool link_values_resolve(struct known *known, enum answer answer, struct arena *arena,
                                struct bindings *values, struct error *err)
{
    for (size_t i = 0; i < values->count; i++)
        values->items[i].value = arena_copy(arena, values->items[i].value);
    if (known->arena.failed || arena->failed)
        return error_no_memory(err);
    return answer == KNOWN;
}

bool link_values_of_path(const struct linked *record, const struct map_link *link,
                         struct arena *arena, struct bindings *values, struct error *err)
{
    CLEAN_UP(link_values_known_clean_up) struct known known = {0};
    error_set(err, ERROR_NOT_FOUND, "the record has not been read");
    link_values_know_path(&known, record);
    return link_values_resolve(&known, link_values_report_values(&known, link, values, err), arena,
                               values, err);
}

bool link_values_of_record(const struct linked *record, const struct map_link *link,
                           struct json item, struct arena *arena, struct bindings *values,
                           struct error *err)
{
    CLEAN_UP(link_values_known_clean_up) struct known known = {0};
    bool keyed = link_values_know_record(&known, record, item);
    if (!keyed && !known.arena.failed)
        return error_set(err, ERROR_BAD_ANSWER, "the record's key is not understood");
    enum answer answer = keyed ? link_values_report_values(&known, link, values, err) : NO_LINK;
    return link_values_resolve(&known, answer, arena, values, err);
}
