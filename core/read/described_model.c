#include "core/read/described_model.h"

#include "core/draft/from_description.h"
#include "core/draft/generic_view.h"
#include "core/map/compile.h"
#include "core/map/environment.h"

static void described_model_write_schema(const struct key_schema *keys, struct buf *out)
{
    for (size_t i = 0; i < keys->partition_count; i++)
        buf_printf(out, "p%d%zu:%.*s", (int)keys->partition[i].type, keys->partition[i].name.size,
                   (int)keys->partition[i].name.size, keys->partition[i].name.data);
    for (size_t i = 0; i < keys->sort_count; i++)
        buf_printf(out, "s%d%zu:%.*s", (int)keys->sort[i].type, keys->sort[i].name.size,
                   (int)keys->sort[i].name.size, keys->sort[i].name.data);
}

/* What the map keeps secret of a table stays so under the table's own name. False when memory ran
 * out. */
static bool described_model_add_secrets(struct arena *arena, const struct map *map,
                                        struct declared_table *table)
{
    size_t most = 0;
    for (size_t i = 0; i < map->model_count; i++)
        most += map->models[i]->secret_count;
    table->secrets = arena_array(arena, most, sizeof *table->secrets);
    if (!table->secrets)
        return false;
    for (size_t i = 0; i < map->model_count; i++) {
        const struct model *model = map->models[i];
        bool same = environment_calls(map, model, span_text(table->base_name));
        for (size_t k = 0; same && k < model->secret_count; k++)
            table->secrets[table->secret_count++] = arena_text(arena, span_text(model->secrets[k]));
    }
    if (table->secret_count > 0) { /* which stand in no name of an entry */
        table->paths = NULL;
        generic_add_paths(arena, table, table->records);
    }
    return !arena->failed;
}

/* All that a model is made of, as a text that two descriptions share if their models would be the
 * same. */
static void described_model_write_identity(const struct table_info *info,
                                           const struct declared_table *table, struct buf *out)
{
    described_model_write_schema(&info->keys, out);
    for (size_t i = 0; i < info->index_count; i++) {
        const struct index_info *index = &info->indexes[i];
        buf_printf(out, "i%d%d%zu:%.*s", (int)index->local, (int)index->projection,
                   index->name.size, (int)index->name.size, index->name.data);
        described_model_write_schema(&index->keys, out);
        for (size_t k = 0; k < index->included_count; k++)
            buf_printf(out, "a%zu:%.*s", index->included[k].size, (int)index->included[k].size,
                       index->included[k].data);
    }
    for (size_t i = 0; i < table->secret_count; i++)
        buf_printf(out, "x%zu:%s", strlen(table->secrets[i]), table->secrets[i]);
}

/* NULL with ERR filled. */
static const struct model *described_model_make_model(const struct declared_table *table,
                                                      struct error *err)
{
    CLEAN_UP(findings_clean_up) struct findings findings = {0};
    const struct model *model = compile_table(table, &findings);
    if (!model && findings.count > 0 && !findings.no_memory)
        error_set(err, ERROR_INVALID, "no paths can be made for the table %s: %s", table->base_name,
                  findings.items[0].text);
    else if (!model)
        error_no_memory(err);
    return model;
}

bool described_model_learn(struct described_model *described, const char *name,
                           const struct table_info *info, const struct map *map, struct error *err)
{
    CLEAN_UP(arena_clean_up) struct arena arena = {0};
    CLEAN_UP(buf_clean_up) struct buf identity = {0};
    struct declared_table *table = describe_table(&arena, name, info);
    if (table && described_model_add_secrets(&arena, map, table))
        described_model_write_identity(info, table, &identity);
    if (!table || arena.failed || identity.failed)
        return error_no_memory(err);
    if (described->model && span_equal(buf_span(&identity), buf_span(&described->identity)))
        return true;
    const struct model *model = described_model_make_model(table, err);
    if (!model)
        return false;
    described_model_clean_up(described);
    described->model = model;
    buf_move(&described->identity, &identity);
    return true;
}

void described_model_clean_up(struct described_model *described)
{
    model_unref(described->model);
    buf_clean_up(&described->identity);
    *described = (struct described_model){0};
}
