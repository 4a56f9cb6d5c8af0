#include "core/import/secrets.h"

#include <strings.h>

#include "core/author/traits.h"
#include "core/item/secret_clues.h"

enum { MOST_SECRETS = 500 };

/* Numbers and truths say how many passwords there are, and whether one is set. */
static bool may_hold_text(struct json attribute)
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

static bool is_listed(const struct declared_table *table, const char *name)
{
    for (size_t i = 0; i < table->secret_count; i++)
        if (strcmp(table->secrets[i], name) == 0)
            return true;
    return false;
}

static bool add(struct arena *arena, struct declared_table *table, const char *name)
{
    if (is_listed(table, name) || table->secret_count == MOST_SECRETS)
        return is_listed(table, name);
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
static const char *whole_attribute(struct arena *arena, const char *path)
{
    size_t size = strcspn(path, ".");
    return size > 0 && path[size] ? arena_text(arena, span_of(path, size)) : path;
}

static bool names_a_secret(struct reading *reading, struct json name)
{
    const char *text = reading_text(reading, name);
    return text && secret_clue_in_name(span_text(text));
}

/* STORED is what the attribute is called in the table. */
static void look_at(struct reading *reading, struct declared_table *table, struct json name,
                    struct json stored, struct json attribute)
{
    bool said = json_is(json_member(attribute, "crypt"), JSON_TRUE) ||
                json_is(json_member(attribute, "hidden"), JSON_TRUE);
    bool named = may_hold_text(attribute) &&
                 (names_a_secret(reading, name) || names_a_secret(reading, stored));
    const char *text = said || named ? reading_text(reading, stored) : NULL;
    const char *whole = text ? whole_attribute(reading->arena, text) : NULL;
    if (whole && !add(reading->arena, table, whole))
        reading_leave_out(reading, name, "at most %d attributes are kept secret", MOST_SECRETS);
}

void secrets_look_at(struct reading *reading, struct declared_table *table, struct json name,
                     struct json attribute)
{
    look_at(reading, table, name, name, attribute);
}

void secrets_look_at_all(struct reading *reading, struct declared_table *table,
                         struct json attributes, const char *stored)
{
    for (struct json name = json_first(attributes), each; json_present(name);
         name = json_next(each)) {
        each = json_next(name);
        struct json other = json_member(each, stored);
        look_at(reading, table, name, json_present(other) ? other : name, each);
    }
}

static void look_at_indexes(struct arena *arena, struct declared_table *table)
{
    for (const struct declared_index *index = table->indexes; index; index = index->next)
        for (size_t i = 0; i < index->include_count; i++)
            if (secret_clue_in_name(span_text(index->includes[i])))
                add(arena, table, index->includes[i]);
}

static void drop_keys(struct declared_table *table)
{
    size_t count = 0;
    for (size_t i = 0; i < table->secret_count; i++)
        if (!traits_is_key(table, span_text(table->secrets[i])))
            table->secrets[count++] = table->secrets[i];
    table->secret_count = count;
}

/* Whether sampled records have made it one, which the note tells. */
static bool is_told(const struct declared_table *table, const char *name)
{
    CLEAN_UP(buf_clean_up) struct buf told = {0};
    buf_printf(&told, "\"secret\": %s looks ", name);
    return table->note && !told.failed && strstr(table->note, buf_text(&told));
}

static void add_note(struct arena *arena, struct declared_table *table)
{
    CLEAN_UP(buf_clean_up) struct buf note = {0};
    size_t count = 0;
    buf_printf(&note, "%s%s", table->note ? table->note : "", table->note ? " " : "");
    buf_add_text(&note, "\"secret\": encrypted or hidden, as the model says, or called so:");
    for (size_t i = 0; i < table->secret_count; i++)
        if (!is_told(table, table->secrets[i]))
            buf_printf(&note, "%s %s", count++ ? "," : "", table->secrets[i]);
    buf_add_char(&note, '.');
    arena->failed = arena->failed || note.failed;
    if (count > 0)
        table->note = arena_text(arena, buf_span(&note));
}

void secrets_settle(struct arena *arena, struct declared_table *table)
{
    look_at_indexes(arena, table);
    drop_keys(table);
    add_note(arena, table);
}
