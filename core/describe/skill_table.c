#include "core/describe/skill_table.h"

#include "core/base/printable.h"
#include "core/base/shell.h"
#include "core/describe/markdown.h"
#include "core/describe/route_words.h"

/* Example paths. */

const struct map_environment *skill_table_environment(const struct map *map)
{
    for (const struct map_environment *each = map->environments; each; each = each->next)
        if (format_is_literal(&each->name))
            return each;
    return map->environments;
}

const struct map_environment *skill_table_other_environment(const struct map_environment *first)
{
    for (const struct map_environment *each = first ? first->next : NULL; each; each = each->next)
        if (format_is_literal(&each->name))
            return each;
    return NULL;
}

static struct place *skill_table_place(const struct map *map,
                                       const struct map_environment *environment,
                                       const struct model *model)
{
    const struct place_options names = {.suffix = ""};
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    struct bindings values = {0};
    for (size_t i = 0; i < environment->name.count; i++) /* "dev-{branch}" gets an example value */
        if (environment->name.pieces[i].param)
            bindings_add(&values, environment->name.pieces[i].param, SPAN_LITERAL("1"));
    bool named = names_write_environment(environment, &values, &name);
    struct place *root = named ? place_root(map) : NULL;
    struct place *within = root ? place_child(root, buf_span(&name), &names, NULL) : NULL;
    struct place *table = within ? place_table(within, model) : NULL;
    place_destroy(root);
    place_destroy(within);
    return table;
}

bool skill_table_is_plain(struct span text)
{
    enum { MOST_BYTES = 64 };
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool ok = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                  c == '_' || c == '-';
        if (!ok)
            return false;
    }
    return text.size > 0 && text.size <= MOST_BYTES;
}

static void skill_table_write_steps(const struct model *model, const struct route *route,
                                    struct buf *out)
{
    if (!route->parent)
        return;
    skill_table_write_steps(model, route->parent, out);
    buf_add_char(out, '/');
    for (size_t i = 0; i < route->segment.count; i++) {
        const struct format_piece *piece = &route->segment.pieces[i];
        const struct map_param *param = piece->param ? model_find_param(model, piece->param) : NULL;
        if (!piece->param)
            buf_add_span(out, piece->literal);
        else if (param && param->value_count > 0 && skill_table_is_plain(param->values[0]))
            out->failed |= !names_write_attribute(param->values[0], out);
        else
            buf_printf(out, "{%s}", piece->param);
    }
}

void skill_table_path(const struct map_environment *environment, const struct model *model,
                      const struct route *route, const struct place_options *names, struct buf *out)
{
    buf_add_char(out, '/');
    format_write(&environment->name, out);
    buf_printf(out, "/%s", model->path_name);
    skill_table_write_steps(model, route, out);
    if (route->file && !route->file->attribute)
        buf_add_text(out, names->suffix);
}

void skill_table_add_word(struct span path, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf safe = {0};
    printable_add(&safe, path, "");
    shell_quote(out, buf_span(&safe));
    out->failed = out->failed || safe.failed;
}

/* The section. */

/* In one line. */
enum { MOST_KINDS = 5, MOST_SECRETS = 20 };

/* A section while it is written. */
struct skill_section {
    const struct skill_of *of;
    const struct model *table;
    const struct skill_measure *measure;
    const struct place *place; /* the table's directory */
    struct buf *out;
    size_t paths;    /* shown so far */
    size_t left_out; /* lines of any sort */
};

static void skill_table_add_code(struct skill_section *section, const char *text)
{
    markdown_add_code(section->out, span_text(text));
}

/* Whether A is a better example than B, which may be NULL: no entry of a listing, or shorter. */
static bool skill_table_is_plainer(struct skill_section *section, const struct route *a,
                                   const struct route *b)
{
    CLEAN_UP(buf_clean_up) struct buf one = {0}, other = {0};
    if (!b || !a->entry != !b->entry)
        return !b || !a->entry;
    route_words_path(a, &one);
    route_words_path(b, &other);
    section->out->failed |= one.failed || other.failed;
    return one.size < other.size;
}

/* The plainest path below ROUTE at which one item of KIND opens; BEST if none is plainer. */
static const struct route *skill_table_find_path_of(struct skill_section *section,
                                                    const struct route *route,
                                                    const struct map_kind *kind,
                                                    const struct route *best)
{
    bool ranked = route->entry && route->entry->rank.digits > 0;
    if (route->file && route->kind == kind && !route->file->attribute && !route->file->hidden &&
        !ranked && skill_table_is_plainer(section, route, best))
        best = route;
    for (const struct route *child = route->children; child; child = child->next)
        best = skill_table_find_path_of(section, child, kind, best);
    return best;
}

/* A listing of whole partitions of KIND by items of any kind: its names are sort keys. */
static const struct route *skill_table_find_listing_of_any(const struct skill_section *section,
                                                           const struct route *route,
                                                           const struct map_kind *kind)
{
    const struct map_pattern *list = route->list;
    bool any = list && !list->index && !list->hidden && list->kind_count == 1 &&
               list->kinds[0] == section->table->any && list->where_count == 1;
    if (any && format_equal(&list->where[0].value, &kind->keys[0]))
        return route;
    for (const struct route *child = route->children; child; child = child->next) {
        const struct route *found =
            child->entry ? NULL : skill_table_find_listing_of_any(section, child, kind);
        if (found)
            return found;
    }
    return NULL;
}

/* FORMAT as it is typed in a path: {query} for {query*}. */
static void skill_table_add_typed(const struct format *format, struct buf *out)
{
    for (size_t i = 0; i < format->count; i++) {
        if (format->pieces[i].param)
            buf_printf(out, "{%s}", format->pieces[i].param);
        else
            buf_add_span(out, format->pieces[i].literal);
    }
}

static void skill_table_add_typed_path(const struct route *route, struct buf *out)
{
    if (!route->parent)
        return;
    skill_table_add_typed_path(route->parent, out);
    buf_add_text(out, route->parent->parent ? "/" : "");
    skill_table_add_typed(&route->segment, out);
}

/* The path of one item of KIND; nothing if none is known. */
static void skill_table_add_path_of(struct skill_section *section, const struct map_kind *kind,
                                    struct buf *out)
{
    const struct model *table = section->table;
    const struct route *one = skill_table_find_path_of(section, table->root, kind, NULL);
    const struct route *listing = one || table->key_count < 2
                                      ? NULL
                                      : skill_table_find_listing_of_any(section, table->root, kind);
    if (one)
        skill_table_add_typed_path(one, out);
    else if (listing) {
        skill_table_add_typed_path(listing, out);
        buf_add_char(out, '/');
        skill_table_add_typed(&kind->keys[1], out);
    }
    if (out->size > 0)
        buf_add_text(out, section->of->names->suffix);
}

static void skill_table_write_kind(struct skill_section *section, const struct map_kind *kind)
{
    const struct model *table = section->table;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_add_text(section->out, "- item ");
    skill_table_add_code(section, kind->name);
    buf_add_text(section->out, ": ");
    for (size_t i = 0; i < table->key_count; i++) {
        buf_add_text(section->out, i ? ", " : "");
        skill_table_add_code(section, table->keys[i].attribute);
        buf_add_text(section->out, " = ");
        CLEAN_UP(buf_clean_up) struct buf format = {0};
        format_write(&kind->keys[i], &format);
        markdown_add_code(section->out, buf_span(&format));
        section->out->failed |= format.failed;
    }
    skill_table_add_path_of(section, kind, &path);
    if (path.size > 0) {
        buf_add_text(section->out, "; one is ");
        markdown_add_code(section->out, buf_span(&path));
    }
    buf_add_char(section->out, '\n');
    section->out->failed |= path.failed;
}

static void skill_table_write_what(struct skill_section *section, const struct map_pattern *pattern)
{
    if (pattern->attribute) {
        buf_add_text(section->out, ", the bare value of ");
        skill_table_add_code(section, pattern->attribute);
        bool secret = model_is_secret(section->table, span_text(pattern->attribute));
        buf_add_text(section->out, secret ? ", a secret" : "");
        return;
    }
    if (pattern->list && pattern->groups) {
        buf_add_text(section->out, ", lists directories");
        return;
    }
    if (pattern->kind_count == 1 && pattern->kinds[0] == section->table->any) {
        buf_add_text(section->out, pattern->list ? ", lists all items" : ", one item");
        return;
    }
    buf_add_text(section->out, pattern->list ? ", lists " : ", one ");
    for (size_t i = 0; i < pattern->kind_count && i < MOST_KINDS; i++) {
        buf_add_text(section->out, i ? ", " : "");
        skill_table_add_code(section, pattern->kinds[i]->name);
    }
    if (pattern->kind_count > MOST_KINDS)
        buf_printf(section->out, " and %zu more kinds", pattern->kind_count - MOST_KINDS);
}

static bool skill_table_write_cost(const struct place *place, const struct route *route,
                                   const struct map_pattern *pattern,
                                   const struct place_options *names, struct buf *out)
{
    struct cost cost;
    if (!route_words_cost(place, route, pattern, names, &cost))
        return false;
    cost_write(&cost, out);
    buf_add_text(out, cost.is_free ? "" : "; ");
    cost_write_most(&cost, out);
    return !out->failed;
}

static void skill_table_write_words(struct skill_section *section, const struct route *route,
                                    const struct map_pattern *pattern)
{
    CLEAN_UP(buf_clean_up) struct buf cost = {0}, window = {0};
    const char *usual = pattern->list ? section->of->list_cost : section->of->item_cost;
    size_t set = pattern->list ? window_sets_find(section->of->windows, route) : 0;
    section->out->failed |=
        !skill_table_write_cost(section->place, route, pattern, section->of->names, &cost);
    if (!usual || !span_is(buf_span(&cost), usual))
        buf_printf(section->out, ": %s", buf_text(&cost));
    if (pattern->list)
        route_words_window(route, pattern, &window);
    if (window.size) { /* it contains names of the map */
        buf_add_text(section->out, "; ");
        markdown_add_code(section->out, buf_span(&window));
    }
    buf_add_text(section->out, !pattern->list || !pattern->descending ? ""
                               : route_words_is_dated(pattern)        ? "; newest first"
                                                                      : "; last key first");
    if (set > 0)
        buf_printf(section->out, "; windows %zu", set);
    section->out->failed |= cost.failed || window.failed;
}

static void skill_table_write_path(struct skill_section *section, const struct route *route,
                                   const struct map_pattern *pattern)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (section->paths++ >= section->measure->paths) {
        section->left_out++;
        return;
    }
    route_words_path(route, &path);
    buf_add_text(&path, pattern->list ? "/" : pattern->attribute ? "" : section->of->names->suffix);
    buf_add_text(section->out, "- path ");
    markdown_add_code(section->out, buf_span(&path));
    skill_table_write_what(section, pattern);
    skill_table_write_words(section, route, pattern);
    buf_add_char(section->out, '\n');
    section->out->failed |= path.failed;
}

static void skill_table_write_paths(struct skill_section *section, const struct route *route)
{
    bool described = window_sets_have(section->of->windows, route);
    if (route->list && !described)
        skill_table_write_path(section, route, route->list);
    if (route->file && !route->entry)
        skill_table_write_path(section, route, route->file);
    for (const struct route *child = route->children; child; child = child->next)
        if (!child->entry)
            skill_table_write_paths(section, child);
}

/* As it is typed in a path. */
static void skill_table_add_value(struct span value, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    out->failed |= !names_write_attribute(value, &name);
    markdown_add_code(out, buf_span(&name));
}

static void skill_table_write_values(struct skill_section *section, const struct map_param *param)
{
    size_t shown = param->value_count < section->measure->values ? param->value_count
                                                                 : section->measure->values;
    if (shown == 0)
        return;
    buf_add_text(section->out, param->only ? "; it is one of " : "; known are ");
    for (size_t i = 0; i < shown; i++) {
        buf_add_text(section->out, i ? ", " : "");
        skill_table_add_value(param->values[i], section->out);
    }
    if (shown < param->value_count)
        buf_printf(section->out, " and %zu more", param->value_count - shown);
    buf_add_text(section->out, param->only ? ", and no other" : ", and others");
}

static bool skill_table_is_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Whether both have the same description. */
static bool skill_table_is_same_param(const struct map_param *a, const struct map_param *b)
{
    bool same = a->value_count == b->value_count && a->only == b->only &&
                skill_table_is_same_text(a->hint, b->hint) &&
                skill_table_is_same_text(a->match, b->match);
    for (size_t i = 0; same && i < a->value_count; i++)
        same = span_equal(a->values[i], b->values[i]);
    return same;
}

/* PARAM, and those behind it with the same description. */
static void skill_table_write_param(struct skill_section *section, const struct map_param *param)
{
    buf_add_text(section->out, "- parameter ");
    for (const struct map_param *each = param; each; each = each->next)
        if (each == param || skill_table_is_same_param(each, param))
            buf_printf(section->out, "%s`{%s}`", each == param ? "" : ", ", each->name);
    if (param->hint) {
        buf_add_text(section->out, "; trap: ");
        skill_table_add_code(section, param->hint);
    }
    skill_table_write_values(section, param);
    if (param->match) {
        buf_add_text(section->out, "; it matches ");
        skill_table_add_code(section, param->match);
    }
    buf_add_char(section->out, '\n');
}

/* Those with a hint come first. */
static void skill_table_write_params(struct skill_section *section)
{
    size_t shown = 0;
    for (int trap = 1; trap >= 0; trap--)
        for (const struct map_param *param = section->table->params; param; param = param->next) {
            bool described = param->value_count > 0 || param->match || param->hint;
            const struct map_param *same = section->table->params;
            while (same != param && !skill_table_is_same_param(same, param))
                same = same->next;
            if (!described || (param->hint != NULL) != trap || same != param)
                continue;
            if (shown++ < section->measure->params)
                skill_table_write_param(section, param);
            else
                section->left_out++;
        }
}

static void skill_table_write_links(struct skill_section *section)
{
    size_t shown = 0;
    for (const struct map_link *link = section->table->links; link; link = link->next) {
        if (shown++ >= section->measure->links) {
            section->left_out++;
            continue;
        }
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        buf_printf(&name, "@links/%s", link->name);
        buf_add_text(section->out, "- link ");
        markdown_add_code(section->out, buf_span(&name));
        buf_add_text(section->out, link->kind_count ? " of " : " of any item");
        for (size_t i = 0; i < link->kind_count; i++) {
            buf_add_text(section->out, i ? ", " : "");
            skill_table_add_code(section, link->kinds[i]->name);
        }
        buf_add_text(section->out, ", leads to ");
        skill_table_add_code(section, link->to);
        buf_add_char(section->out, '\n');
        section->out->failed |= name.failed;
    }
}

/* The attribute that dates items, and the secret ones, in one line. */
static void skill_table_write_marks(struct skill_section *section)
{
    const struct model *table = section->table;
    if (!table->mtime && table->secret_count == 0)
        return;
    buf_add_text(section->out, "- ");
    if (table->mtime) {
        buf_add_text(section->out, "dated by ");
        skill_table_add_code(section, table->mtime);
    }
    for (size_t i = 0; i < table->secret_count && i < MOST_SECRETS; i++) {
        buf_add_text(section->out, i              ? ", "
                                   : table->mtime ? "; secret, shown as `********`: "
                                                  : "secret, shown as `********`: ");
        skill_table_add_code(section, table->secrets[i]);
    }
    if (table->secret_count > MOST_SECRETS)
        buf_printf(section->out, " and %zu more", table->secret_count - MOST_SECRETS);
    buf_add_char(section->out, '\n');
}

static const struct route *skill_table_find_usual(const struct route *route, bool list)
{
    const struct map_pattern *pattern = list ? route->list : route->file;
    if (pattern && !pattern->index && !pattern->attribute && !route->entry && !pattern->limit &&
        (list ? !pattern->groups : pattern->by_key))
        return route;
    for (const struct route *child = route->children; child; child = child->next) {
        const struct route *found = child->entry ? NULL : skill_table_find_usual(child, list);
        if (found)
            return found;
    }
    return NULL;
}

bool skill_table_usual_cost(const struct skill_of *of, const struct model *table, bool list,
                            struct buf *out)
{
    const struct route *route = skill_table_find_usual(table->root, list);
    struct place *place = route ? skill_table_place(of->map, of->environment, table) : NULL;
    bool ok =
        !route || (place && skill_table_write_cost(place, route, list ? route->list : route->file,
                                                   of->names, out));
    place_destroy(place);
    return ok;
}

bool skill_table_write(const struct skill_of *of, const struct model *table,
                       const struct skill_measure *measure, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf directory = {0};
    struct place *place = skill_table_place(of->map, of->environment, table);
    struct skill_section section = {
        .of = of, .table = table, .measure = measure, .place = place, .out = out};
    if (!place)
        return false;
    skill_table_path(of->environment, table, table->root, of->names, &directory);
    buf_add_text(out, "\n### ");
    markdown_add_code(out, buf_span(&directory));
    buf_add_text(out, ", table ");
    skill_table_add_code(&section, table->base_name);
    buf_add_text(out, "\n\n");
    size_t kinds = 0;
    for (const struct map_kind *kind = table->kinds; kind; kind = kind->next)
        if (kinds++ < measure->kinds)
            skill_table_write_kind(&section, kind);
        else
            section.left_out++;
    skill_table_write_paths(&section, table->root);
    skill_table_write_params(&section);
    skill_table_write_links(&section);
    skill_table_write_marks(&section);
    if (section.left_out > 0) {
        buf_printf(out, "- left out: %zu more of these; all are in ", section.left_out);
        buf_add_text(&directory, "/" README_NAME);
        markdown_add_code(out, buf_span(&directory));
        buf_add_char(out, '\n');
    }
    place_destroy(place);
    out->failed = out->failed || directory.failed;
    return !out->failed;
}
