#include "core/describe/skill_forms.h"

#include "core/describe/route_words.h"
#include "core/describe/skill_example.h"
#include "core/map/link.h"

/* What a form needs of the map. */
enum form_needs { NEEDS_NOTHING, NEEDS_NEWEST, NEEDS_LINK };

/* A line of a shell, of the variables LIST, ITEM, NEWEST and LINK. */
struct skill_form {
    enum form_needs needs;
    const char *line, *question;
};

static const struct skill_form forms[] = {
    {NEEDS_NOTHING, "ddbfs cat \"$ITEM\"", "one item"},
    {NEEDS_NOTHING, "ddbfs cat \"$ITEM@/ATTRIBUTE\"", "one attribute of it, bare"},
    {NEEDS_NOTHING, "ddbfs cat \"$ITEM\" | jq .ATTRIBUTE.MEMBER", "what is inside of it"},
    {NEEDS_LINK, "ddbfs cat \"$LINK\"", "the item that it leads to, of another table"},
    {NEEDS_NOTHING, "ddbfs cat \"$LIST@count\"", "how many"},
    {NEEDS_NOTHING, "ddbfs cat \"$LIST@summary\" | jq -c .attributes.ATTRIBUTE",
     "types, least, greatest and commonest values of an attribute; without jq, of all"},
    {NEEDS_NOTHING, "ddbfs ls --where 'ATTRIBUTE = \"VALUE\" and OTHER > 2' \"$LIST\"",
     "which of them, by name"},
    {NEEDS_NOTHING, "ddbfs ls --count --where 'ATTRIBUTE = \"VALUE\"' \"$LIST\"",
     "how many of them"},
    {NEEDS_NOTHING, "ddbfs cat --where 'ATTRIBUTE = \"VALUE\"' \"$LIST@summary\"",
     "how many of them have which values"},
    {NEEDS_NOTHING, "ddbfs cat --limit 3 \"$LIST@jsonl\"", "whole items, the first three"},
    {NEEDS_NOTHING, "ddbfs cat \"$LIST@csv:ATTRIBUTE,OTHER\"", "some attributes of each"},
    {NEEDS_NOTHING, "ddbfs cat \"$LIST@jsonl\" | jq -cs 'max_by(.ATTRIBUTE)'",
     "the item with the greatest"},
    {NEEDS_NOTHING,
     "ddbfs cat \"$LIST@jsonl\" | jq -cs 'group_by(.ATTRIBUTE)[] | [.[0].ATTRIBUTE, length, "
     "(map(.OTHER) | add)]'",
     "count and sum of each value"},
    {NEEDS_NEWEST, "ddbfs ls --limit 1 \"$NEWEST\"", "the newest: the last by key"},
    {NEEDS_NEWEST, "ddbfs cat --limit 3 \"$NEWEST@csv:ATTRIBUTE,OTHER\"", "of the newest three"},
    {NEEDS_NOTHING, "ddbfs explain \"$LIST\"", "a bound on the cost before; sends no request"},
    {NEEDS_NOTHING, "ddbfs -v cat \"$ITEM\"", "each request and its cost, on standard error"},
    {NEEDS_NOTHING, "ddbfs cat \"$ITEM@info\" | jq .capacity", "the cost after; also LIST@info"},
};

/* The paths on which the forms are shown. */
struct subjects {
    const struct skill_of *of;
    const struct model *table; /* of ITEM and LIST; NULL: no map has any */
    const struct route *item, *listing;
    const struct model *newest_table;
    const struct route *newest; /* a listing that shows the last N; or NULL */
    const struct map_link *link;
};

/* A window that shows the newest is one, too. */
static bool skill_forms_is_shown(const struct route *route, bool newest)
{
    return route->list && !route->list->groups && !route->count && (newest || !route->list->hidden);
}

/* The first listing below ROUTE that is whole or, as NEWEST says, limited to the last of it. */
static const struct route *skill_forms_find_listing(const struct route *route, bool newest)
{
    bool limited = route->list && route->list->limit > 0;
    if (skill_forms_is_shown(route, newest) && limited == newest &&
        (!newest || (route->list->descending && route_words_is_dated(route->list))))
        return route;
    for (const struct route *child = route->children; child; child = child->next) {
        const struct route *found = child->entry ? NULL : skill_forms_find_listing(child, newest);
        if (found)
            return found;
    }
    return NULL;
}

static const struct route *skill_forms_find_item(const struct route *route)
{
    bool plain = route->file && !route->entry && !route->file->attribute && !route->file->hidden;
    if (plain)
        return route;
    for (const struct route *child = route->children; child; child = child->next) {
        const struct route *found = child->entry ? NULL : skill_forms_find_item(child);
        if (found)
            return found;
    }
    return NULL;
}

/* Of the item, if it is of a kind that leads on. */
static const struct map_link *skill_forms_find_link(const struct model *table,
                                                    const struct route *item)
{
    for (const struct map_link *link = table->links; link; link = link->next)
        if (item->kind && link_is_of(link, item->kind))
            return link;
    return NULL;
}

static const struct route *skill_forms_entry_of(const struct route *listing)
{
    for (size_t i = 0; i < listing->list->entry_count; i++) {
        const struct route *entry = route_of_entry(listing, &listing->list->entries[i]);
        if (entry)
            return entry;
    }
    return NULL;
}

static void skill_forms_find_subjects(const struct skill_of *of, struct subjects *out)
{
    *out = (struct subjects){.of = of};
    for (size_t i = 0; i < of->map->model_count; i++) {
        const struct model *table = of->map->models[i];
        const struct route *listing = skill_forms_find_listing(table->root, false);
        if (!out->newest && (out->newest = skill_forms_find_listing(table->root, true)))
            out->newest_table = table;
        if (out->table || !listing)
            continue;
        const struct route *item = skill_forms_find_item(table->root);
        out->item = item ? item : skill_forms_entry_of(listing);
        out->listing = listing;
        out->table = out->item ? table : NULL;
        out->link = out->table ? skill_forms_find_link(table, out->item) : NULL;
    }
}

static void skill_forms_write_any(const struct skill_of *of, const char *below, struct buf *out)
{
    if (of->environment) {
        buf_add_char(out, '/');
        format_write(&of->environment->name, out);
    }
    buf_printf(out, "/" MAP_TABLES_NAME "/{table}/items/%s", below);
}

static void skill_forms_write_variable(const char *name, struct buf *path, struct buf *out)
{
    buf_printf(out, "%s=", name);
    skill_example_add_word(buf_span(path), out);
    buf_add_char(out, '\n');
    out->failed = out->failed || path->failed;
    buf_truncate(path, 0);
}

static void skill_forms_write_variables(const struct subjects *subjects, struct buf *out)
{
    const struct skill_of *of = subjects->of;
    const struct model *table = subjects->table;
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (table)
        skill_example_path(of->environment, table, subjects->listing, of->names, &path);
    else
        skill_forms_write_any(of, "{key}", &path);
    skill_forms_write_variable("LIST", &path, out);
    if (table)
        skill_example_path(of->environment, table, subjects->item, of->names, &path);
    else
        skill_forms_write_any(of, "{key}/{sort_key}", &path);
    if (subjects->link) {
        CLEAN_UP(buf_clean_up) struct buf link = {0};
        buf_add_span(&link, buf_span(&path));
        skill_forms_write_variable("ITEM", &path, out);
        buf_printf(&link, "@links/%s", subjects->link->name);
        skill_forms_write_variable("LINK", &link, out);
    } else {
        skill_forms_write_variable("ITEM", &path, out);
    }
    if (!subjects->newest)
        return;
    skill_example_path(of->environment, subjects->newest_table, subjects->newest, of->names, &path);
    skill_forms_write_variable("NEWEST", &path, out);
}

/* The same path in two environments: what differs. */
static void skill_forms_write_difference(const struct subjects *subjects, struct buf *out)
{
    const struct skill_of *of = subjects->of;
    const struct map_environment *other = skill_example_other_environment(of->environment);
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    if (!other || !subjects->table)
        return;
    skill_example_path(other, subjects->table, subjects->listing, of->names, &path);
    buf_add_text(out, "# in what two environments differ, or any two paths\nddbfs diff \"$LIST\" ");
    skill_example_add_word(buf_span(&path), out);
    buf_add_char(out, '\n');
    out->failed = out->failed || path.failed;
}

static bool skill_forms_has(const struct subjects *subjects, enum form_needs needs)
{
    return needs == NEEDS_NEWEST ? subjects->newest != NULL
           : needs == NEEDS_LINK ? subjects->link != NULL
                                 : true;
}

bool skill_forms_write(const struct skill_of *of, struct buf *out)
{
    struct subjects subjects;
    skill_forms_find_subjects(of, &subjects);
    buf_add_text(out, "\n## Questions, and the line for each\n\n"
                      "LIST is a listing's path without its last `/`, ITEM the path of one item. "
                      "Replace ATTRIBUTE, OTHER, MEMBER, VALUE and what stands in braces.\n\n"
                      "```sh\n");
    skill_forms_write_variables(&subjects, out);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (skill_forms_has(&subjects, forms[i].needs))
            buf_printf(out, "# %s\n%s\n", forms[i].question, forms[i].line);
    skill_forms_write_difference(&subjects, out);
    buf_add_text(out, "```\n");
    return !out->failed;
}
