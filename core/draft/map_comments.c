#include "core/draft/map_comments.h"

static void map_comments_note(const char **at, const char *text)
{
    if (!*at)
        *at = text;
}

static bool map_comments_is_window(const struct declared_path *path)
{
    return path->hidden && (path->wheres || path->ordered);
}

static void map_comments_paths(struct declared_table *table)
{
    bool items = false, by = false, windows = false;
    for (struct declared_path *path = table->paths; path; path = path->next) {
        struct span text = span_text(path->path);
        if (!items && span_starts(text, SPAN_LITERAL("items/"))) {
            map_comments_note(
                &path->note,
                path->list ? "Every item of a partition, by its whole key: one Query, page by "
                             "page. `ls` on an item's name, or `cat`, is one GetItem."
                           : "Every item, by its whole key: one GetItem.");
            items = true;
        } else if (!by && span_starts(text, SPAN_LITERAL("by/"))) {
            map_comments_note(&path->note,
                              "What an index has of a partition: one Query of it. Unless it "
                              "projects all, records "
                              "are read again from the table.");
            by = true;
        } else if (!windows && map_comments_is_window(path)) {
            map_comments_note(
                &path->note,
                "Windows on it, to be typed: \"hidden\" paths open, and no listing shows them, so "
                "that `grep -r` and `find` see each item once.");
            windows = true;
        }
    }
}

static void map_comments_records(struct declared_table *table)
{
    struct declared_record *record = table->records;
    if (!record || record->next)
        return;
    map_comments_note(
        &record->note,
        "One kind of record, whose keys are one part each: {x*} is any text. Where keys are made "
        "of "
        "parts, say each kind and its parts, for example\n"
        "  \"profile\": { \"PK\": \"USER#{user_id}\", \"SK\": \"PROFILE\" },\n"
        "  \"order\":   { \"PK\": \"USER#{user_id}\", \"SK\": \"ORDER#{date}#{order_id}\" }\n"
        "and paths can say them, too, with the condition on the key made by itself:\n"
        "  \"user/{user_id}/orders/\":          { \"list\": \"order\", \"newest\": 100 }\n"
        "  \"user/{user_id}/orders/on/{day}/\": { \"list\": \"order\", \"where\": { \"date\": "
        "\"{day}*\" } }\n"
        "With several kinds, each path says which it is of: \"list\" or \"record\".");
}

void author_teach(struct declared_map *map)
{
    map_comments_note(
        &map->note,
        "A first map: what `ddbfs map` found, ready to use and to edit. Comments and a comma after "
        "the last member do no harm.\n"
        "  ddbfs check FILE               proves it against the tables, after each change\n"
        "  ddbfs --map FILE explain PATH  says what a path reads, and what it costs\n"
        "docs/map.md describes each word. Tables that are not named here are below tables/ of each "
        "environment.");
    if (map->environments)
        map_comments_note(
            &map->environments->note,
            "An environment is the first step of each path. Tables are called as its \"prefix\" "
            "and their \"table\" say together; \"profile\" and \"region\" may stand here, too.");
    if (!map->tables)
        return;
    map_comments_records(map->tables);
    map_comments_paths(map->tables);
}
