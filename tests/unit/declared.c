/* A map's text as the declarations that it makes. */
#include "tests/unit/declared.h"

#include <stdio.h>

#include "core/map/table_members.h"

static const char *text_of(struct arena *arena, struct json value)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    return json_read_string(value, &text) ? arena_text(arena, buf_span(&text)) : NULL;
}

static void read_environments(struct arena *arena, struct json object, struct declared_map *out)
{
    struct declared_environment **last = &out->environments;
    for (struct json name = json_first(object), value; json_present(name);
         name = json_next(value)) {
        value = json_next(name);
        *last = arena_alloc(arena, sizeof **last);
        if (!*last)
            return;
        **last = (struct declared_environment){
            .name = text_of(arena, name),
            .prefix = text_of(arena, json_member(value, "prefix")),
            .profile = text_of(arena, json_member(value, "profile")),
            .region = text_of(arena, json_member(value, "region")),
            .endpoint = text_of(arena, json_member(value, "endpoint")),
            .snapshot = text_of(arena, json_member(value, "snapshot")),
            .snapshots = text_of(arena, json_member(value, "snapshots")),
            .live = json_is(json_member(value, "live"), JSON_TRUE),
        };
        last = &(*last)->next;
    }
}

bool declared_read(struct arena *arena, struct span text, struct declared_map *out)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    struct map_reader reader = {.arena = arena, .findings = &findings};
    struct json_fault fault = {0};
    *out = (struct declared_map){0};
    if (json_parse(&reader.doc, text, JSON_COMMENTS, &fault)) {
        struct json root = json_root(&reader.doc);
        out->schema = text_of(arena, json_member(root, "$schema"));
        read_environments(arena, json_member(root, "environments"), out);
        map_read_tables(&reader, json_member(root, "tables"), &out->tables);
    } else {
        findings_add(&findings, (struct finding_at){0}, "%s", fault.what);
    }
    json_clean_up(&reader.doc);
    for (size_t i = 0; i < findings.count; i++)
        printf("# line %u: %s\n", findings.items[i].at.line, findings.items[i].text);
    return findings_none(&findings) && !arena->failed;
}
