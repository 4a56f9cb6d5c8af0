#include "fs/cli/import_keys.h"

#include "core/import/input.h"
#include "core/import/key_description.h"
#include "core/json/writer.h"
#include "core/map/map.h"
#include "core/sources.h"

enum { DESCRIPTION_MOST = 16 << 20, NAMES_SHOWN = 5 /* in a message */ };

static bool import_keys_are_live(const struct options *options)
{
    return options->describe && strcmp(options->describe, "live") == 0;
}

bool import_keys_init(struct import_keys *keys, const struct options *options, struct error *err)
{
    *keys = (struct import_keys){0};
    if (!options->describe || import_keys_are_live(options))
        return true;
    struct input *input = input_open(options->describe, err);
    bool ok = input && input_read_all(input, DESCRIPTION_MOST, &keys->file, err);
    input_close(input);
    return ok;
}

void import_keys_clean_up(struct import_keys *keys)
{
    buf_clean_up(&keys->file);
}

bool import_keys_need_map(const struct options *options)
{
    return !options->describe && !options->keys;
}

/* The live table. */

struct described_keys {
    struct app *app;
    struct buf *out;
    struct error *err;
    bool ok;
};

static void import_keys_take_page(void *arg, const struct page *page, const struct error *err)
{
    struct described_keys *live = arg;
    live->ok = page != NULL;
    if (page)
        buf_add_span(live->out, page->description);
    else
        *live->err = *err;
    loop_stop(live->app->loop);
}

static bool import_keys_request(struct described_keys *live, struct source *source,
                                enum read_kind kind, const char *table)
{
    struct read *read = read_new(kind, table, NULL);
    struct source_call *call =
        read ? source_start(source, read, NULL, import_keys_take_page, live) : NULL;
    if (call)
        loop_run(live->app->loop);
    else
        error_no_memory(live->err);
    source_end(call);
    read_destroy(read);
    return live->ok;
}

static bool import_keys_describe_live(struct import_keys *keys, const char *table,
                                      struct buf *description, struct buf *expiry,
                                      struct error *err)
{
    struct described_keys live = {.app = keys->app, .out = description, .err = err};
    if (!table)
        return error_set(err, ERROR_INVALID,
                         "the sources do not name their table; add --table NAME");
    struct place *place = app_resolve(keys->app, "/tables", err);
    struct source *source = place ? sources_for(keys->app->sources, place, err) : NULL;
    bool ok = source && import_keys_request(&live, source, READ_TABLE, table);
    live = (struct described_keys){.app = keys->app, .out = expiry, .err = err};
    if (ok && !import_keys_request(&live, source, READ_EXPIRY, table)) {
        buf_truncate(expiry, 0);
        log_line(&keys->app->log, LOG_LEVEL_WARNING, "the expiry attribute of %s is not known: %s",
                 table, err->text);
    }
    place_destroy(place);
    return ok;
}

/* The map. */

static void import_keys_write_schema(struct json_writer *json, const struct map_key *partition,
                                     size_t partition_count, const struct map_key *sort,
                                     size_t sort_count)
{
    json_writer_begin_array(json, "KeySchema", JSON_TIGHT);
    for (size_t i = 0; i < partition_count + sort_count; i++) {
        bool is_sort = i >= partition_count;
        const struct map_key *key = is_sort ? &sort[i - partition_count] : &partition[i];
        json_writer_begin_object(json, NULL, JSON_TIGHT);
        json_writer_add_text(json, "AttributeName", key->attribute);
        json_writer_add_text(json, "KeyType", is_sort ? "RANGE" : "HASH");
        json_writer_end(json);
    }
    json_writer_end(json);
}

static void import_keys_write_type(struct json_writer *json, const struct map_key *key)
{
    json_writer_begin_object(json, NULL, JSON_TIGHT);
    json_writer_add_text(json, "AttributeName", key->attribute);
    json_writer_add_text(json, "AttributeType", value_type_name(key->type));
    json_writer_end(json);
}

static void import_keys_write_index(struct json_writer *json, const struct map_index *index)
{
    static const char *const types[] = {
        [PROJECTS_ALL] = "ALL", [PROJECTS_SOME] = "INCLUDE", [PROJECTS_KEYS] = "KEYS_ONLY"};
    json_writer_begin_object(json, NULL, JSON_TIGHT);
    json_writer_add_text(json, "IndexName", index->name);
    import_keys_write_schema(json, index->partition, index->partition_count, index->sort,
                             index->sort_count);
    json_writer_begin_object(json, "Projection", JSON_TIGHT);
    json_writer_add_text(json, "ProjectionType", types[index->projects]);
    if (index->include_count > 0) {
        json_writer_begin_array(json, "NonKeyAttributes", JSON_TIGHT);
        for (size_t i = 0; i < index->include_count; i++)
            json_writer_add_text(json, NULL, index->includes[i]);
        json_writer_end(json);
    }
    json_writer_end(json);
    json_writer_end(json);
}

static bool import_keys_have_index(const struct model *model, bool local)
{
    const struct map_index *index = model->indexes;
    while (index && index->local != local)
        index = index->next;
    return index != NULL;
}

/* The description that a table of MODEL has, as far as the map knows. */
static void import_keys_write_model(const struct model *model, const char *table, struct buf *out)
{
    static const char *const names[] = {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"};
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    json_writer_add_text(&json, "TableName", table);
    json_writer_begin_array(&json, "AttributeDefinitions", JSON_TIGHT);
    for (size_t i = 0; i < model->key_count; i++)
        import_keys_write_type(&json, &model->keys[i]);
    for (const struct map_index *index = model->indexes; index; index = index->next) {
        const struct map_key *key;
        for (size_t i = 0; (key = model_index_key(index, i)); i++)
            if (!model_is_key(model, key->attribute))
                import_keys_write_type(&json, key);
    }
    json_writer_end(&json);
    import_keys_write_schema(&json, model->keys, 1, model->keys + 1, model->key_count - 1);
    for (int local = 0; local < 2; local++) {
        if (!import_keys_have_index(model, local))
            continue;
        json_writer_begin_array(&json, names[local], JSON_TIGHT);
        for (const struct map_index *index = model->indexes; index; index = index->next)
            if (index->local == local)
                import_keys_write_index(&json, index);
        json_writer_end(&json);
    }
    json_writer_end(&json);
}

/* The model of TABLE: its name is that of an environment's table, or the one without a prefix. */
static const struct model *import_keys_find_model(const struct map *map, const char *table)
{
    for (size_t i = 0; table && i < map->model_count; i++)
        if (map_names_table(map, map->models[i], span_text(table)) ||
            strcmp(map->models[i]->base_name, table) == 0)
            return map->models[i];
    return NULL;
}

/* MAP is of --map. */
static bool import_keys_refuse_map(const struct map *map, const char *table, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0};
    for (size_t i = 0; i < map->model_count && i < NAMES_SHOWN; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", map->models[i]->base_name);
    if (map->model_count > NAMES_SHOWN)
        buf_printf(&names, " and %zu more", map->model_count - NAMES_SHOWN);
    if (!table)
        return error_set(err, ERROR_INVALID,
                         "the sources do not name their table; add --table NAME; the map has %s",
                         buf_text(&names));
    return error_set(err, ERROR_INVALID,
                     "the map does not have the table %s; it has %s; correct --table NAME, or add "
                     "--keys pk:S,sk:N or --describe FILE",
                     table, buf_text(&names));
}

static bool import_keys_refuse(const char *table, struct error *err)
{
    return error_set(
        err, ERROR_INVALID,
        "the keys of %s%s are not known; add one of these: --describe FILE, the output "
        "of aws dynamodb describe-table; --describe live, which requests it; --keys "
        "pk:S,sk:N, the names and types of the keys; or --map FILE, a map of the table%s",
        table ? "the table " : "the table", table ? table : "",
        table ? "" : " (with --table NAME)");
}

bool import_keys_describe(struct import_keys *keys, const char *table, struct buf *description,
                          struct buf *expiry, struct error *err)
{
    const struct options *options = keys->app->options;
    if (import_keys_are_live(options))
        return import_keys_describe_live(keys, table, description, expiry, err);
    if (options->describe)
        return key_description_read(options->describe, buf_span(&keys->file), table, description,
                                    err);
    if (options->keys)
        return key_description_of_keys(options->keys, table, description, err);
    const struct model *model = import_keys_find_model(keys->app->map, table);
    if (!model && options->map)
        return import_keys_refuse_map(keys->app->map, table, err);
    if (!model)
        return import_keys_refuse(table, err);
    import_keys_write_model(model, table, description);
    return !description->failed || error_no_memory(err);
}
