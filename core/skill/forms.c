#include "core/skill/forms.h"

#include "core/map/link.h"
#include "core/skill/example.h"

/* Of which path a form is. */
enum subject { OF_RECORD, OF_LISTING, OF_NEWEST, OF_LINK };

struct form {
    enum subject of;
    const char *question;
    const char *command;
    const char *ending; /* of the path, within its quotes */
    const char *rest;
};

/* ATTRIBUTE, VALUE and N are for whoever asks to say. */
static const struct form forms[] = {
    {OF_RECORD, "one record", "ddbfs cat ", "", ""},
    {OF_RECORD, "one attribute of it, bare", "ddbfs cat ", "@/ATTRIBUTE", ""},
    {OF_RECORD, "what is inside of it", "ddbfs cat ", "", " | jq .ATTRIBUTE.MEMBER"},
    {OF_LINK, "the record that it leads to, of another table", "ddbfs cat ", "", ""},
    {OF_LISTING, "how many", "ddbfs cat ", "@count", ""},
    {OF_LISTING, "which attributes there are; least, greatest, oldest, newest, commonest values",
     "ddbfs cat ", "@summary", ""},
    {OF_LISTING, "the same of one attribute", "ddbfs cat ", "@summary",
     " | jq -c .attributes.ATTRIBUTE"},
    {OF_LISTING, "which of them, by name",
     "ddbfs ls --where 'ATTRIBUTE = \"VALUE\" and OTHER > 2' ", "", ""},
    {OF_LISTING, "how many of them", "ddbfs ls --count --where 'ATTRIBUTE = \"VALUE\"' ", "", ""},
    {OF_LISTING, "how many of them have which values", "ddbfs cat --where 'ATTRIBUTE = \"VALUE\"' ",
     "@summary", ""},
    {OF_LISTING, "some attributes of each", "ddbfs cat ", "@csv:ATTRIBUTE,OTHER", ""},
    {OF_LISTING, "the record with the greatest", "ddbfs cat ", "@jsonl",
     " | jq -cs 'max_by(.ATTRIBUTE)'"},
    {OF_LISTING, "how many of each value, or a sum of each", "ddbfs cat ", "@jsonl",
     " | jq -cs 'group_by(.ATTRIBUTE)[] | [.[0].ATTRIBUTE, length, (map(.OTHER) | add)]'"},
    {OF_LISTING, "whole records that answer", "ddbfs cat ", "@jsonl",
     " | jq -c 'select(.ATTRIBUTE == \"VALUE\")'"},
    {OF_NEWEST, "the newest, in the listing's own order", "ddbfs ls --limit 1 ", "", ""},
    {OF_NEWEST, "some attributes of the newest", "ddbfs cat --limit 3 ", "@csv:ATTRIBUTE,OTHER",
     ""},
    {OF_LISTING, "what a path takes, before: asks nobody", "ddbfs explain ", "", ""},
    {OF_LISTING, "what it took, after", "ddbfs cat ", "@info", " | jq -c '[.requests, .capacity]'"},
    {OF_RECORD, "what a record took", "ddbfs cat ", "@info", " | jq .capacity"},
};

/* The paths on which the forms are shown. */
struct subjects {
    const struct skill_of *of;
    const struct model *table; /* of RECORD and LISTING; NULL: no map has any */
    const struct route *record, *listing;
    const struct model *newest_table;
    const struct route *newest; /* a listing that shows the last N; or NULL */
    const struct map_link *link;
};

static bool is_shown(const struct route *route)
{
    return route->list && !route->list->groups && !route->list->hidden;
}

/* The first listing below ROUTE that is whole or, as NEWEST says, limited to the last of it. */
static const struct route *find_listing(const struct route *route, bool newest)
{
    bool limited = route->list && route->list->limit > 0;
    if (is_shown(route) && limited == newest && (!newest || route->list->descending))
        return route;
    for (const struct route *child = route->children; child; child = child->next) {
        const struct route *found = child->entry ? NULL : find_listing(child, newest);
        if (found)
            return found;
    }
    return NULL;
}

static const struct route *find_record(const struct route *route)
{
    bool plain = route->file && !route->entry && !route->file->attribute && !route->file->hidden;
    if (plain)
        return route;
    for (const struct route *child = route->children; child; child = child->next) {
        const struct route *found = child->entry ? NULL : find_record(child);
        if (found)
            return found;
    }
    return NULL;
}

/* Of the record, if it is of a kind that leads on; a record of the listing will do as well. */
static const struct map_link *find_link(const struct model *table, const struct route *record)
{
    for (const struct map_link *link = table->links; link; link = link->next)
        if (record->kind && link_is_of(link, record->kind))
            return link;
    return NULL;
}

static const struct route *entry_of(const struct route *listing)
{
    for (size_t i = 0; i < listing->list->entry_count; i++) {
        const struct route *entry = route_of_entry(listing, &listing->list->entries[i]);
        if (entry)
            return entry;
    }
    return NULL;
}

static void find_subjects(const struct skill_of *of, struct subjects *out)
{
    *out = (struct subjects){.of = of};
    for (size_t i = 0; i < of->map->model_count; i++) {
        const struct model *table = of->map->models[i];
        const struct route *listing = find_listing(table->root, false);
        if (!out->newest && (out->newest = find_listing(table->root, true)))
            out->newest_table = table;
        if (out->table || !listing)
            continue;
        const struct route *record = find_record(table->root);
        out->record = record ? record : entry_of(listing);
        out->listing = listing;
        out->table = out->record ? table : NULL;
        out->link = out->table ? find_link(table, out->record) : NULL;
    }
}

static void write_subject(const struct subjects *subjects, enum subject which, struct buf *out)
{
    const struct skill_of *of = subjects->of;
    const struct model *table = which == OF_NEWEST ? subjects->newest_table : subjects->table;
    const struct route *route = which == OF_LISTING  ? subjects->listing
                                : which == OF_NEWEST ? subjects->newest
                                                     : subjects->record;
    if (!table) {
        if (of->environment) {
            buf_add_char(out, '/');
            format_write(&of->environment->name, out);
        }
        buf_add_text(out, which == OF_LISTING ? "/" MAP_TABLES_NAME "/{table}/items/{key}"
                                              : "/" MAP_TABLES_NAME
                                                "/{table}/items/{key}/{sort_key}");
        return;
    }
    example_path(of->environment, table, route, of->names, out);
    if (which == OF_LINK)
        buf_printf(out, "@links/%s", subjects->link->name);
}

static bool has(const struct subjects *subjects, enum subject which)
{
    return which == OF_NEWEST ? subjects->newest != NULL
           : which == OF_LINK ? subjects->link != NULL
                              : true;
}

static void write_form(const struct subjects *subjects, const struct form *form, struct buf *out)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    write_subject(subjects, form->of, &path);
    buf_add_text(&path, form->ending);
    buf_printf(out, "# %s\n%s", form->question, form->command);
    example_add_word(buf_span(&path), out);
    buf_printf(out, "%s\n", form->rest);
    out->failed = out->failed || path.failed;
}

/* The same path in two environments: what differs. */
static void write_difference(const struct subjects *subjects, struct buf *out)
{
    const struct map_environment *other = example_other_environment(subjects->of->environment);
    struct skill_of there = *subjects->of;
    struct subjects elsewhere = *subjects;
    CLEAN_UP(buf_clean_up) struct buf here = {0}, path = {0};
    if (!other || !subjects->table)
        return;
    there.environment = other;
    elsewhere.of = &there;
    write_subject(subjects, OF_LISTING, &here);
    write_subject(&elsewhere, OF_LISTING, &path);
    buf_add_text(out, "# what differs between two environments; or of any two paths\nddbfs diff ");
    example_add_word(buf_span(&here), out);
    buf_add_char(out, ' ');
    example_add_word(buf_span(&path), out);
    buf_add_char(out, '\n');
    out->failed = out->failed || here.failed || path.failed;
}

bool forms_write(const struct skill_of *of, struct buf *out)
{
    struct subjects subjects;
    find_subjects(of, &subjects);
    buf_add_text(out,
                 "\n## Questions, and the line for each\n\n"
                 "ATTRIBUTE, OTHER, MEMBER, VALUE and numbers are yours to say; so is what stands "
                 "in braces.\n\n```sh\n");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (has(&subjects, forms[i].of))
            write_form(&subjects, &forms[i], out);
    write_difference(&subjects, out);
    buf_add_text(out, "```\n");
    return !out->failed;
}
