/* Maps for tests. */
#include "tests/unit/sample.h"

#include <stdio.h>
#include <stdlib.h>

static void example_file(char out[512])
{
    const char *folder = getenv("DDBFS_TEST_DATA");
    snprintf(out, 512, "%s/../docs/examples/ecommerce.map.json", folder ? folder : "tests");
}

const struct map *sample_example(struct error *err)
{
    char file[512];
    example_file(file);
    return map_load(file, NULL, NULL, err);
}

bool sample_example_text(struct buf *out)
{
    char file[512], chunk[4096];
    size_t size;
    example_file(file);
    FILE *stream = fopen(file, "re");
    if (!stream)
        return false;
    while ((size = fread(chunk, 1, sizeof chunk, stream)) > 0)
        buf_add(out, chunk, size);
    fclose(stream);
    return out->size > 0 && !out->failed;
}

const struct map *sample_table(const char *table, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    buf_printf(&text,
               "{\"environments\":{\"prod\":{\"prefix\":\"prod-\"}},\"tables\":{\"t\":{\n%s}}}",
               table);
    return map_parse("map.json", buf_span(&text), NULL, err);
}

const struct map_pattern *sample_pattern(const struct map *map, const char *table, const char *path)
{
    const struct model *each = NULL;
    for (size_t i = 0; i < map->model_count && !each; i++)
        if (strcmp(map->models[i]->path_name, table) == 0)
            each = map->models[i];
    const struct map_pattern *pattern = each ? each->patterns : NULL;
    while (pattern && strcmp(pattern->path, path) != 0)
        pattern = pattern->next;
    return pattern;
}

static void write_cond(const struct map_cond *cond, struct buf *out)
{
    buf_printf(out, "%s %s ", cond->attribute, cond_word(cond->op));
    if (cond->type != VALUE_S)
        buf_printf(out, "%s:", value_type_name(cond->type));
    format_write(&cond->value, out);
    if (cond->op == COND_BETWEEN) {
        buf_add_text(out, " and ");
        format_write(&cond->upper, out);
    }
}

void sample_write_conds(const struct map_pattern *pattern, struct buf *out)
{
    for (size_t i = 0; i < pattern->where_count; i++) {
        buf_add_text(out, i ? " and " : "");
        write_cond(&pattern->where[i], out);
    }
    for (size_t i = 0; i < pattern->filter_count; i++) {
        buf_add_text(out, i ? " and " : "; filter ");
        write_cond(&pattern->filter[i], out);
    }
}
