#include "core/read/links.h"

#include "core/base/escape.h"
#include "core/map/link.h"
#include "core/read/link_values.h"

/* The way to what a link leads to, as it is built. */
struct way {
    const struct map_link *link;
    const struct place_options *options;
    struct bindings values;
    struct place *place; /* owned: how far it has come */
    struct buf path;     /* owned: there, from below the environment */
};

static void links_way_clean_up(struct way *way)
{
    place_destroy(way->place);
    buf_clean_up(&way->path);
}

/* One step on. */
static bool links_go_to(struct way *way, struct span name, struct error *err)
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

/* The map refuses the name: why it does is said of the name as somebody would type it. */
static bool links_refuse(const struct way *way, const struct format *segment,
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

/* Behind the ending may be another value of a parameter, too. */
static bool links_is_companion(const struct place *place, const struct route *route)
{
    return place->route == route && place->kind != PLACE_DIRECTORY && place->kind != PLACE_RECORD &&
           place->kind != PLACE_VALUE;
}

/* The step of the target's table that the link's step is, by its name. ENDING is the companion's.
 */
static bool links_take_step(struct way *way, const struct format *step, struct span ending,
                            struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct bindings parts = {0}, own = way->place->bindings;
    const struct model *target = way->place->table;
    const struct route *route = link_step(way->place->route, step);
    if (!route) /* which the map was checked for */
        return error_set(err, ERROR_NOT_FOUND, "the map has no such path");
    if (!link_bind(target, route, step, &way->values, &arena, &parts))
        return error_no_memory(err);
    if (names_withhold(route, way->options))
        return error_set(err, ERROR_DENIED,
                         "the link \"%s\" leads to a secret, and others may read here",
                         way->link->name);
    if (!bindings_agree(&own, &parts))
        return error_set(err, ERROR_NOT_FOUND, "the link \"%s\" says a part in two ways",
                         way->link->name);
    if (!place_write_name(way->place, route, &parts, 0, way->options, &name, err))
        return err->kind != ERROR_NO_MEMORY && links_refuse(way, &route->segment, &parts, err);
    buf_add_span(&name, ending);
    if (name.size > NAME_MAX_BYTES)
        return error_set(err, ERROR_LONG_NAME, "the name that the link \"%s\" leads to is too long",
                         way->link->name);
    if (name.failed)
        return error_no_memory(err);
    return links_go_to(way, buf_span(&name), err) &&
           (ending.size == 0 || links_is_companion(way->place, route) ||
            error_set(err, ERROR_NOT_FOUND, "what the link \"%s\" leads to has no companion %.*s",
                      way->link->name, (int)ending.size, ending.data));
}

/* To the directory of the target's table. */
static bool links_set_out(struct way *way, const struct place *from, struct error *err)
{
    const struct map_link *link = way->link;
    struct span environment =
        link->environment ? span_text(link->environment) : from->environment_name;
    way->place = place_root(from->map);
    if (!way->place)
        return error_no_memory(err);
    return links_go_to(way, environment, err) && links_go_to(way, span_text(link->table), err);
}

/* Appends what stands in front of the path from the environment on, or from the root. */
static void links_write_relative(const struct place *from, const struct way *way, struct buf *out)
{
    struct span path = buf_span(&way->path);
    bool same = span_equal(way->place->environment_name, from->environment_name);
    buf_add_text(out, same ? "../" : "../../");
    for (const struct route *route = from->route; route->parent; route = route->parent)
        buf_add_text(out, "../");
    if (same)
        path = span_from(path, from->environment_name.size + 1);
    buf_add_span(out, path);
}

/* The place that VALUES lead to. */
static struct place *links_lead(struct way *way, const struct place *from, struct buf *relative,
                                struct error *err)
{
    const struct map_link *link = way->link;
    struct span ending = from->kind == PLACE_LINK ? from->link_ending : span_text("");
    if (!links_set_out(way, from, err))
        return NULL;
    if (link->step_count == 0 && ending.size > 0) {
        error_set(err, ERROR_NOT_FOUND, "the directory of a table has no companions");
        return NULL;
    }
    for (size_t i = 0; i < link->step_count; i++)
        if (!links_take_step(way, &link->steps[i],
                             i + 1 == link->step_count ? ending : span_text(""), err))
            return NULL;
    if (relative)
        links_write_relative(from, way, relative);
    if (relative && relative->failed) {
        error_no_memory(err);
        return NULL;
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
    CLEAN_UP(links_way_clean_up) struct way way = {.link = link, .options = options};
    struct linked record = place_linked(place);
    bool known = json_present(item)
                     ? link_values_of_record(&record, link, item, &arena, &way.values, err)
                     : link_values_of_path(&record, link, &arena, &way.values, err);
    return known ? links_lead(&way, place, relative, err) : NULL;
}

/* The path as the map has it, but for the environment. */
static void links_write_declared(const struct place *place, struct buf *out)
{
    const struct map_link *link = place->link;
    buf_add_char(out, '/');
    buf_add_span(out, link->environment ? span_text(link->environment) : place->environment_name);
    buf_printf(out, "/%s", link->table);
    for (size_t i = 0; i < link->step_count; i++) {
        buf_add_char(out, '/');
        format_write(&link->steps[i], out);
    }
    buf_add_span(out, place->link_ending);
}

void links_write(const struct place *place, const struct place_options *options, struct buf *out)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(links_way_clean_up) struct way way = {.link = place->link, .options = options};
    struct linked record = place_linked(place);
    struct error ignored;
    bool known = link_values_of_path(&record, place->link, &arena, &way.values, &ignored);
    struct place *target = known ? links_lead(&way, place, NULL, &ignored) : NULL;
    if (target)
        buf_printf(out, "/%s", buf_text(&way.path));
    else
        links_write_declared(place, out);
    out->failed = out->failed || way.path.failed;
    buf_add_text(out, place->link->directory && !place->link_ending.size ? "/" : "");
    place_destroy(target);
}

struct place *links_example(const struct place *place, const struct place_options *options)
{
    const struct map_link *link = place->link;
    CLEAN_UP(links_way_clean_up) struct way way = {.link = link, .options = options};
    struct error ignored;
    if (!links_set_out(&way, place, &ignored))
        return NULL;
    const struct route *step = way.place->route;
    for (size_t i = 0; step && i < link->step_count; i++)
        step = link_step(step, &link->steps[i]);
    return step ? place_example(way.place, step) : NULL;
}
