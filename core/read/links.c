#include "core/read/links.h"

#include "core/base/escape.h"
#include "core/item/item.h"
#include "core/map/link.h"
#include "core/plan/item_match.h"

/* The item that links start from, as far as it is known. */
struct links_item {
    const struct model *table;
    bool kind_known; /* then KIND is NULL for an item of no kind that the map declares */
    const struct map_kind *kind;
    struct bindings parts; /* of the key, as far as they are known */
    struct json item;      /* absent before it is read */
    struct arena arena;
};

/* Whether the parts of a link are known; the worst comes last. */
enum links_verdict { LINKS_KNOWN, LINKS_UNREAD, LINKS_NONE };

static void links_item_clean_up(struct links_item *from)
{
    arena_clean_up(&from->arena);
}

static void links_item_set_key(struct links_item *from, const struct key *key)
{
    struct bindings nothing = {0};
    from->kind = item_match_kind(from->table, key, &from->parts);
    from->kind_known = true;
    if (!from->kind)
        item_match_is_kind(from->table, from->table->any, key, &nothing, &from->parts);
}

/* Fills in KEY where the path contains all of it. */
static bool links_key_of_path(const struct place *place, struct arena *arena, struct key *key)
{
    const struct map_kind *kind = place->route->kind;
    const struct model *table = place->table;
    *key = (struct key){.count = table->key_count};
    for (size_t i = 0; i < key->count; i++) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        if (!kind || !format_expand(&kind->keys[i], &place->bindings, &text))
            return false;
        arena->failed = arena->failed || text.failed;
        key->attributes[i].name = span_text(table->keys[i].attribute);
        key->attributes[i].value =
            (struct value){table->keys[i].type, arena_copy(arena, buf_span(&text))};
    }
    return !arena->failed;
}

static void links_item_set_path(struct links_item *from, const struct place *place)
{
    const struct map_kind *kind = place->route->kind;
    struct key key;
    from->table = place->table;
    if (place->shortened.size > 0)
        return;
    if (links_key_of_path(place, &from->arena, &key)) {
        links_item_set_key(from, &key);
    } else if (kind && kind != place->table->any) {
        from->kind = kind;
        from->kind_known = true;
        from->parts = place->bindings;
    }
}

static enum links_verdict links_deny(struct error *err, const struct map_link *link,
                                     const char *name, const char *why)
{
    error_set(err, ERROR_NOT_FOUND, "the item has no link \"%s\": its %s %s", link->name, name,
              why);
    return LINKS_NONE;
}

/* Reads NAME, a part of the item's key or one of its attributes. */
static enum links_verdict links_read_text(struct links_item *from, const struct map_link *link,
                                          const char *name, struct span *out, struct error *err)
{
    CLEAN_UP(buf_clean_up_secret) struct buf bytes = {0};
    const struct map_kind *kind = from->kind ? from->kind : from->table->any;
    struct value value;
    bool is_part = false;
    for (size_t i = 0; i < from->table->key_count; i++)
        is_part = is_part || format_has(&kind->keys[i], name);
    const struct span *part = is_part ? bindings_find(&from->parts, name) : NULL;
    if (part) {
        *out = *part;
        return LINKS_KNOWN;
    }
    if (!json_present(from->item))
        return LINKS_UNREAD;
    struct json typed = item_attribute(from->item, span_text(name));
    if (!json_present(typed))
        return links_deny(err, link, name, "does not exist");
    if (!value_read(typed, &bytes, &value)) {
        from->arena.failed = from->arena.failed || bytes.failed;
        return links_deny(err, link, name, "is neither a text, a number nor binary");
    }
    *out = arena_copy(&from->arena, value.bytes);
    return LINKS_KNOWN;
}

static enum links_verdict links_read_part(struct links_item *from, const struct map_link *link,
                                          const char *param, struct bindings *values,
                                          struct error *err)
{
    struct span text;
    const struct map_link_source *source = link_source(link, param);
    if (bindings_find(values, param))
        return LINKS_KNOWN;
    enum links_verdict verdict =
        links_read_text(from, link, source ? source->from : param, &text, err);
    if (verdict != LINKS_KNOWN)
        return verdict;
    if (!source) {
        bindings_add(values, param, text); /* without room no name will be found */
        return verdict;
    }
    if (format_match_key(&source->format, text, from->table->separator, values))
        return verdict;
    CLEAN_UP(buf_clean_up) struct buf format = {0}, why = {0};
    format_write(&source->format, &format);
    buf_printf(&why, "is not of the form %s", buf_text(&format));
    return links_deny(err, link, source->from, buf_text(&why));
}

static enum links_verdict links_read_parts(struct links_item *from, const struct map_link *link,
                                           struct bindings *values, struct error *err)
{
    enum links_verdict worst = LINKS_KNOWN;
    if (from->kind_known && !link_is_of(link, from->kind)) {
        error_set(err, ERROR_NOT_FOUND, "the map declares no link \"%s\" for items of this kind",
                  link->name);
        return LINKS_NONE;
    }
    for (size_t i = 0; i < link->step_count; i++) {
        for (size_t k = 0; k < link->steps[i].count; k++) {
            const char *param = link->steps[i].pieces[k].param;
            enum links_verdict verdict =
                param ? links_read_part(from, link, param, values, err) : LINKS_KNOWN;
            worst = verdict > worst ? verdict : worst;
        }
    }
    return from->kind_known ? worst : LINKS_UNREAD;
}

bool links_are_known(const struct place *place)
{
    CLEAN_UP(links_item_clean_up) struct links_item from = {0};
    links_item_set_path(&from, place);
    for (const struct map_link *each = place->table->links; each; each = each->next) {
        struct bindings values = {0};
        if ((!place->link || each == place->link) &&
            links_read_parts(&from, each, &values, NULL) == LINKS_UNREAD)
            return false;
    }
    return true;
}

/* VALUES get those of LINK's parts, from ITEM, or from PLACE's path where ITEM is absent. Texts go
 * to ARENA. False with ERR filled: the item has no such link, or has to be read; or no memory. */
static bool links_find_values(const struct place *place, const struct map_link *link,
                              struct json item, struct arena *arena, struct bindings *values,
                              struct error *err)
{
    CLEAN_UP(links_item_clean_up) struct links_item from = {.table = place->table, .item = item};
    struct key key;
    if (!json_present(item)) {
        error_set(err, ERROR_NOT_FOUND, "the item has not been read");
        links_item_set_path(&from, place);
    } else if (item_match_key(place->table, item, &from.arena, &key)) {
        links_item_set_key(&from, &key);
    } else {
        return from.arena.failed ? error_no_memory(err)
                                 : error_set(err, ERROR_BAD_ANSWER, "the item's key is not valid");
    }
    enum links_verdict verdict = links_read_parts(&from, link, values, err);
    for (size_t i = 0; i < values->count; i++)
        values->items[i].value = arena_copy(arena, values->items[i].value);
    if (from.arena.failed || arena->failed)
        return error_no_memory(err);
    return verdict == LINKS_KNOWN;
}

/* The way to a link's target, as it is built. */
struct links_way {
    const struct map_link *link;
    const struct place_options *options;
    struct bindings values;
    struct place *place; /* owned: how far it has come */
    struct buf path;     /* owned: of PLACE, from the root */
};

static void links_way_clean_up(struct links_way *way)
{
    place_destroy(way->place);
    buf_clean_up(&way->path);
}

static bool links_way_enter(struct links_way *way, struct span name, struct error *err)
{
    struct place *child = place_child(way->place, name, way->options, err);
    if (!child)
        return false;
    place_destroy(way->place);
    way->place = child;
    buf_add_text(&way->path, way->path.size ? "/" : "");
    buf_add_span(&way->path, name);
    return !way->path.failed || error_no_memory(err);
}

/* No name can be written for the values. The reason is the one that a user would get who typed the
 * name. */
static bool links_way_refuse(const struct links_way *way, const struct format *segment,
                             const struct bindings *parts, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct error why = *err;
    for (size_t i = 0; i < segment->count; i++) {
        const struct format_piece *piece = &segment->pieces[i];
        const struct span *value = piece->param ? bindings_find(parts, piece->param) : NULL;
        if (value)
            escape_add_value(&name, *value, span_text(""), NULL);
        else
            buf_add_span(&name, piece->literal);
    }
    if (name.failed)
        return error_no_memory(err);
    struct place *other = place_child(way->place, buf_span(&name), way->options, err);
    place_destroy(other);
    if (other)
        *err = why;
    if (err->kind == ERROR_NO_MEMORY)
        return false;
    why = *err;
    return error_set(err, ERROR_INVALID, "the link \"%s\" would lead to \"%s\" below %s: %s",
                     way->link->name, buf_text(&name), buf_text(&way->path), why.text);
}

/* Takes the link's STEP. ENDING is the companion's, or empty. */
static bool links_way_take_step(struct links_way *way, const struct format *step,
                                struct span ending, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct bindings parts = {0}, own = way->place->bindings;
    const struct model *target = way->place->table;
    const struct route *route = link_step(way->place->route, step);
    if (!route) /* the map has been checked for this */
        return error_set(err, ERROR_NOT_FOUND, "the map has no such path");
    if (!link_bind(target, route, step, &way->values, &arena, &parts))
        return error_no_memory(err);
    if (names_withhold(route, way->options))
        return error_set(err, ERROR_DENIED,
                         "the link \"%s\" leads to a secret, and other users may read this mount",
                         way->link->name);
    if (!bindings_agree(&own, &parts))
        return error_set(err, ERROR_NOT_FOUND, "the link \"%s\" gives a part two values",
                         way->link->name);
    if (!place_write_name(way->place, route, &parts, 0, way->options, &name, err))
        return err->kind != ERROR_NO_MEMORY && links_way_refuse(way, &route->segment, &parts, err);
    buf_add_span(&name, ending);
    if (name.size > NAME_MAX_BYTES)
        return error_set(err, ERROR_LONG_NAME, "the name that the link \"%s\" leads to is too long",
                         way->link->name);
    if (name.failed)
        return error_no_memory(err);
    if (!links_way_enter(way, buf_span(&name), err))
        return false;
    /* A name with an ending may also be another value of a parameter. */
    enum place_kind kind = way->place->kind;
    bool is_companion = way->place->route == route && kind != PLACE_DIRECTORY &&
                        kind != PLACE_RECORD && kind != PLACE_VALUE;
    return ending.size == 0 || is_companion ||
           error_set(err, ERROR_NOT_FOUND, "the target of the link \"%s\" has no companion %.*s",
                     way->link->name, (int)ending.size, ending.data);
}

/* Goes to the directory of the target's table, at the same moment. */
static bool links_way_begin(struct links_way *way, const struct place *from, struct error *err)
{
    const struct map_link *link = way->link;
    struct span environment =
        link->environment ? span_text(link->environment) : from->environment_name;
    CLEAN_UP(buf_clean_up) struct buf past = {0};
    way->place = place_root(from->map);
    if (!way->place)
        return error_no_memory(err);
    if (!from->is_past)
        return links_way_enter(way, environment, err) &&
               links_way_enter(way, span_text(link->table), err);
    buf_add_span(&past, environment);
    buf_add_text(&past, PLACE_TIMES_ENDING);
    if (past.failed)
        return error_no_memory(err);
    return links_way_enter(way, buf_span(&past), err) && links_way_enter(way, from->at, err) &&
           links_way_enter(way, span_text(link->table), err);
}

/* The place that the way's values lead to. */
static struct place *links_way_finish(struct links_way *way, const struct place *from,
                                      struct buf *relative, struct error *err)
{
    const struct map_link *link = way->link;
    struct span ending = from->kind == PLACE_LINK ? from->link_ending : span_text("");
    if (!links_way_begin(way, from, err))
        return NULL;
    if (link->step_count == 0 && ending.size > 0) {
        error_set(err, ERROR_NOT_FOUND, "the directory of a table has no companions");
        return NULL;
    }
    for (size_t i = 0; i < link->step_count; i++)
        if (!links_way_take_step(way, &link->steps[i],
                                 i + 1 == link->step_count ? ending : span_text(""), err))
            return NULL;
    if (relative) {
        struct span path = buf_span(&way->path);
        bool same = span_equal(way->place->environment_name, from->environment_name);
        size_t above = from->environment_name.size + 1; /* of PATH: the part that both share */
        buf_add_text(relative, same ? "../" : "../../");
        if (from->is_past && same)
            above += sizeof PLACE_TIMES_ENDING - 1 + from->at.size + 1;
        else if (from->is_past)
            buf_add_text(relative, "../");
        for (const struct route *route = from->route; route->parent; route = route->parent)
            buf_add_text(relative, "../");
        buf_add_span(relative, same ? span_from(path, above) : path);
        if (relative->failed) {
            error_no_memory(err);
            return NULL;
        }
    }
    struct place *place = way->place;
    way->place = NULL;
    return place;
}

struct place *links_follow(const struct place *place, const struct map_link *link, struct json item,
                           const struct place_options *options, struct buf *relative,
                           struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(links_way_clean_up) struct links_way way = {.link = link, .options = options};
    bool known = links_find_values(place, link, item, &arena, &way.values, err);
    return known ? links_way_finish(&way, place, relative, err) : NULL;
}

/* Without its values, the path is written as the map declares it. */
void links_write(const struct place *place, const struct place_options *options, struct buf *out)
{
    const struct map_link *link = place->link;
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(links_way_clean_up) struct links_way way = {.link = link, .options = options};
    struct json no_item = {0};
    struct error ignored;
    bool known = links_find_values(place, link, no_item, &arena, &way.values, &ignored);
    struct place *target = known ? links_way_finish(&way, place, NULL, &ignored) : NULL;
    buf_add_char(out, '/');
    if (target) {
        buf_add_text(out, buf_text(&way.path));
    } else {
        struct span environment =
            link->environment ? span_text(link->environment) : place->environment_name;
        buf_add_span(out, environment);
        if (place->is_past)
            buf_printf(out, PLACE_TIMES_ENDING "/%.*s", (int)place->at.size, place->at.data);
        buf_printf(out, "/%s", link->table);
        for (size_t i = 0; i < link->step_count; i++) {
            buf_add_char(out, '/');
            format_write(&link->steps[i], out);
        }
        buf_add_span(out, place->link_ending);
    }
    out->failed = out->failed || way.path.failed;
    buf_add_text(out, link->directory && !place->link_ending.size ? "/" : "");
    place_destroy(target);
}

struct place *links_example(const struct place *place, const struct place_options *options)
{
    const struct map_link *link = place->link;
    CLEAN_UP(links_way_clean_up) struct links_way way = {.link = link, .options = options};
    struct error ignored;
    if (!links_way_begin(&way, place, &ignored))
        return NULL;
    const struct route *step = way.place->route;
    for (size_t i = 0; step && i < link->step_count; i++)
        step = link_step(step, &link->steps[i]);
    return step ? place_example(way.place, step) : NULL;
}
