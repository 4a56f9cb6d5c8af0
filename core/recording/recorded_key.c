#include "core/recording/recorded_key.h"

#include "core/item/item.h"
#include "core/item/typed.h"
#include "core/json/writer.h"
#include "core/snapshot/sort_text.h"

void recorded_key_types(const struct key *key, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_array(&json, NULL, JSON_TIGHT);
    for (size_t i = 0; i < key->count; i++) {
        json_writer_begin_array(&json, NULL, JSON_TIGHT);
        json_writer_add_string(&json, NULL, key->attributes[i].name);
        json_writer_add_text(&json, NULL, value_type_name(key->attributes[i].value.type));
        json_writer_end(&json);
    }
    json_writer_end(&json);
}

bool recorded_key_read(const struct span *names, size_t count, struct json item,
                       struct arena *arena, struct key *out)
{
    *out = (struct key){.count = count};
    for (size_t i = 0; i < count; i++) {
        struct value *value = &out->attributes[i].value;
        out->attributes[i].name = names[i];
        if (!typed_scalar(item_attribute(item, names[i]), arena, value) || value->type > VALUE_B)
            return false;
    }
    return count > 0;
}

bool recorded_key_bind(struct statement *statement, int first, const struct key *key,
                       struct arena *arena)
{
    for (size_t i = 0; i < key->count; i++) {
        const struct value *value = &key->attributes[i].value;
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        if (value->type == VALUE_N)
            sort_text_write(value->bytes, &text);
        if (text.failed)
            return false;
        if (value->type == VALUE_N)
            statement_bind_text(statement, first + (int)i, arena_adopt(arena, &text));
        else if (value->type == VALUE_B)
            statement_bind_bytes(statement, first + (int)i, value->bytes);
        else
            statement_bind_text(statement, first + (int)i, value->bytes);
    }
    return !arena->failed;
}
