#include "core/draft/imported_secrets.h"

#include <strings.h>

#include "core/draft/declare.h"
#include "core/item/secret_clues.h"

enum { MOST_SECRETS = 500 };

/* Numbers and truths say how many passwords there are, and whether one is set. */
static bool secrets_may_hold_text(struct json attribute)
{
    static const char *const others[] = {"number",  "boolean", "date", "integer",
                                         "decimal", "N",       "NS",   "BOOL"};
    struct json workbench = json_member(attribute, "AttributeType");
    struct span type;
    if (!json_plain_string(json_member(attribute, "type"), &type) &&
        !json_plain_string(workbench, &type))
        return true;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (type.size == strlen(others[i]) && strncasecmp(type.data, others[i], type.size) == 0)
            return false;
    return true;
}

static bool secrets_is_listed(const struct declared_table *table, const char *name)
{
    for (size_t i = 0; i < table->secret_count; i++)
        if (strcmp(table->secrets[i], name) == 0)
            return true;
    return false;
}

static bool secrets_add(struct arena *arena, struct declared_table *table, const char *name)
{
    if (secrets_is_listed(table, name) || table->secret_count == MOST_SECRETS)
        return secrets_is_listed(table, name);
    const char **longer = arena_array(arena, table->secret_count + 1, sizeof *longer);
    for (size_t i = 0; longer && i < table->secret_count; i++)
        longer[i] = table->secrets[i];
    if (!longer)
        return true; /* the arena says that there is no room */
    longer[table->secret_count++] = name;
    table->secrets = longer;
    return true;
}

/* The attribute that a path into it, "data.email", begins with: it is masked whole. */
static const char *secrets_whole_attribute(struct arena *arena, const char *path)
{
    size_t size = strcspn(path, ".");
    return size > 0 && path[size] ? arena_text(arena, span_of(path, size)) : path;
}

static bool secrets_names_a(struct import_reader *reading, struct json name)
{
    const char *text = import_reader_text(reading, name);
    return text && secret_clue_in_name(span_text(text));
}

/* STORED is what the attribute is called in the table. */
static void secrets_look_at(struct import_reader *reading, struct declared_table *table,
                            struct json name, struct json stored, struct json attribute)
{
    bool said = json_is(json_member(attribute, "crypt"), JSON_TRUE) ||
                json_is(json_member(attribute, "hidden"), JSON_TRUE);
    bool named = secrets_may_hold_text(attribute) &&
                 (secrets_names_a(reading, name) || secrets_names_a(reading, stored));
    const char *text = said || named ? import_reader_text(reading, stored) : NULL;
    const char *whole = text ? secrets_whole_attribute(reading->arena, text) : NULL;
    if (whole && !secrets_add(reading->arena, table, whole))
        import_reader_leave_out(reading, name, "at most %d attributes are kept secret",
                                MOST_SECRETS);
}

void imported_secrets_look_at(struct import_reader *reading, struct declared_table *table,
                              struct json name, struct json attribute)
{
    secrets_look_at(reading, table, name, name, attribute);
}

void imported_secrets_look_at_all(struct import_reader *reading, struct declared_table *table,
                                  struct json attributes, const char *stored)
{
    for (struct json name = json_first(attributes), each; json_present(name);
         name = json_next(each)) {
        each = json_next(name);
        struct json other = json_member(each, stored);
        secrets_look_at(reading, table, name, json_present(other) ? other : name, each);
    }
}

static void secrets_look_at_indexes(struct arena *arena, struct declared_table *table)
{
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < index->include_count; i++)
            if (secret_clue_in_name(span_text(index->includes[i])))
                secrets_add(arena, table, index->includes[i]);
}

static void secrets_drop_keys(struct declared_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->secret_count; i++)
        if (!declare_is_key(table, span_text(table->secrets[i])))
            table->secrets[count++] = table->secrets[i];
    table->secret_count = count;
}

/* Whether sampled records have made it one, which the note tells. */
static bool secrets_is_reported(const struct declared_table *table, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf told = {0};
    buf_printf(&told, "\"secret\": %s looks ", name);
    return table->note && !told.failed && strstr(table->note, buf_text(&told));
}

static void secrets_add_note(struct arena *arena, struct declared_table *table)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t count = 0;
    buf_printf(&note, "%s%s", table->note ? table->note : "", table->note ? " " : "");
    buf_add_text(&note, "\"secret\": encrypted or hidden, as the model says, or called so:");
    for (size_t i = 0; i < table->secret_count; i++)
        if (!secrets_is_reported(table, table->secrets[i]))
            buf_printf(&note, "%s %s", count++ ? "," : "", table->secrets[i]);
    buf_add_char(&note, '.');
    arena->failed = arena->failed || note.failed;
    if (count > 0)
        table->note = arena_text(arena, buf_span(&note));
}

void imported_secrets_resolve(struct arena *arena, struct declared_table *table)
{
    secrets_look_at_indexes(arena, table);
    secrets_drop_keys(table);
    secrets_add_note(arena, table);
}
