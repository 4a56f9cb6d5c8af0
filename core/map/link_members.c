#include "core/map/link_members.h"

#include "core/base/escape.h"
#include "core/map/companion.h"

/* Longer ones would leave no room for a companion's ending. */
enum { LINK_NAME_MAX = 200 };

static bool link_members_read_to(struct map_reader *reader, struct json value, void *target)
{
    struct declared_link *link = target;
    return map_read_text(reader, value, "a link's path", &link->to);
}

static bool link_members_add_kind(struct map_reader *reader, struct json value,
                                  struct declared_link *link)
{
    struct declared_name *kind = &link->kinds[link->kind_count];
    kind->at = map_at(reader, value);
    if (!map_read_text(reader, value, "a kind of record", &kind->text))
        return false;
    link->kind_count++;
    return true;
}

static bool link_members_read_record(struct map_reader *reader, struct json value, void *target)
{
    struct declared_link *link = target;
    bool is_list = json_is(value, JSON_ARRAY), ok = true;
    if (json_count(value) > MAP_MAX_MEMBERS)
        return map_fail(reader, value, "\"record\" has more than %d kinds", MAP_MAX_MEMBERS);
    if (is_list ? json_count(value) == 0 : !json_is(value, JSON_STRING))
        return map_fail(reader, value, "\"record\" is a kind of record, or a list of kinds");
    link->kinds = arena_array(reader->arena, is_list ? json_count(value) : 1, sizeof *link->kinds);
    if (!link->kinds)
        return findings_no_memory(reader->findings);
    if (!is_list)
        return link_members_add_kind(reader, value, link);
    for (struct json each = json_first(value); json_present(each); each = json_next(each))
        ok = link_members_add_kind(reader, each, link) && ok;
    return ok;
}

static bool link_members_read_source(struct map_reader *reader, const char *from, struct json at,
                                     struct json value, void *target)
{
    struct declared_link_source **last = target;
    struct declared_link_source *source = arena_alloc(reader->arena, sizeof *source);
    if (!source)
        return findings_no_memory(reader->findings);
    *source = (struct declared_link_source){.from = from, .at = map_at(reader, at)};
    while (*last)
        last = &(*last)->next;
    *last = source;
    return map_read_format(reader, value, "a link's \"from\"", &source->format);
}

static bool link_members_read_from(struct map_reader *reader, struct json value, void *target)
{
    struct declared_link *link = target;
    if (json_is(value, JSON_OBJECT) && json_count(value) == 0)
        return map_fail(reader, value, "\"from\" says nothing: { \"shop\": \"{account}-{name}\" }");
    return map_read_each(reader, value, "\"from\"", link_members_read_source, &link->sources);
}

/* A text is short for { "to": text }. */
static bool link_members_read_what(struct map_reader *reader, struct json at, struct json value,
                                   struct declared_link *link)
{
    static const struct map_member members[] = {
        {"to", link_members_read_to},
        {"record", link_members_read_record},
        {"from", link_members_read_from},
        {0},
    };
    if (!json_is(value, JSON_OBJECT))
        return link_members_read_to(reader, value, link);
    if (!map_read_members(reader, value, "a link", members, link))
        return false;
    return link->to || map_fail(reader, at, "link \"%s\" needs \"to\", where it leads", link->name);
}

/* What stands behind an @ is a companion of what the link leads to. */
static bool link_members_is_name(const char *name)
{
    return escape_is_unneeded(span_text(name)) && name[0] != '.' && !strchr(name, '@') &&
           companion_find_ending(span_text(name)) == strlen(name) && strlen(name) <= LINK_NAME_MAX;
}

static bool link_members_read_link(struct map_reader *reader, const char *name, struct json at,
                                   struct json value, void *target)
{
    struct declared_link **last = target;
    struct declared_link *link = arena_alloc(reader->arena, sizeof *link);
    if (!link)
        return findings_no_memory(reader->findings);
    *link = (struct declared_link){.name = name, .at = map_at(reader, at)};
    if (!link_members_is_name(name))
        return map_fail(reader, at,
                        "a link's name is one of a file: at most %d bytes, no /, %%, @, control "
                        "character, leading dot or final ~",
                        LINK_NAME_MAX);
    /* One that could not be read is left out: nobody refers to a link. */
    if (!link_members_read_what(reader, at, value, link))
        return false;
    while (*last)
        last = &(*last)->next;
    *last = link;
    return true;
}

bool map_read_links(struct map_reader *reader, struct json value, struct declared_link **links)
{
    return map_read_each(reader, value, "\"links\"", link_members_read_link, links);
}
