#include "core/draft/imported_map.h"

#include "core/base/buf.h"
#include "core/draft/drafted_paths.h"
#include "core/draft/imported_secrets.h"
#include "core/draft/one_name.h"

static void imported_map_add_left_out(const struct imported *imported, struct buf *note)
{
    if (!imported->left_out) {
        buf_add_text(note, "\nAll of it was imported.");
        return;
    }
    buf_add_text(note, "\nNot all of it could be imported. Left out:");
    for (const struct left_out *each = imported->left_out; each; each = each->next)
        buf_printf(note, "\n- %s: %s", each->where, each->why);
}

/* A note that says what there is to do. */
static void imported_map_note_table(struct declared_table *table)
{
    if (!table->note && strcmp(table->base_name, IMPORT_NO_TABLE_NAME) == 0)
        table->note = "The model does not say what the table is called: put its name here.";
}

bool import_draft(struct arena *arena, const char *file, const struct imported *imported,
                  const char *more, struct declared_map *map)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    buf_printf(&note,
               "A first map, for editing, imported from %s (%s). docs/map.md explains each word; "
               "prove it with \"ddbfs check\".",
               file, imported->format);
    imported_map_add_left_out(imported, &note);
    if (more && more[0])
        buf_printf(&note, "\nThe live tables say otherwise:\n%s", more);
    *map = (struct declared_map){.note = arena_text(arena, buf_span(&note)),
                                 .tables = imported->tables};
    bool ok = !note.failed && !arena->failed;
    for (struct declared_table *table = map->tables; table && ok; table = table->next) {
        imported_map_note_table(table);
        imported_secrets_resolve(arena, table);
        if (!table->paths) /* which call parts as the model does */
            one_name_merge(arena, table);
        ok = drafted_paths_add(arena, table);
    }
    return ok;
}
