/* What becomes of the models in tests/vectors/models: each declaration and each note in words, as
 * the .txt beside a model has them, and that it compiles. Paths are told where models have some. */
#include "tests/unit/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/draft/import.h"
#include "core/map/compile.h"

static void tell_format(const struct format *format, struct buf *out)
{
    format_write(format, out);
}

static void tell_key(const struct declared_key *key, struct buf *out)
{
    buf_printf(out, " %s=", key->attribute);
    if (!key->by_kind)
        tell_format(&key->format, out);
    for (const struct declared_kind_format *each = key->by_kind; each; each = each->next) {
        buf_printf(out, "%s%s:", each == key->by_kind ? "" : "|", each->kind);
        tell_format(&each->format, out);
    }
}

static void tell_index(const struct declared_index *index, struct buf *out)
{
    static const char *const projections[] = {"all", "some", "keys"};
    buf_printf(out, "index %s%s %s:", index->name, index->local ? " local" : "",
               projections[index->projects]);
    for (size_t i = 0; i < index->include_count; i++)
        buf_printf(out, " +%s", index->includes[i]);
    for (size_t i = 0; i < index->partition_count; i++)
        tell_key(&index->partition[i], out);
    for (size_t i = 0; i < index->sort_count; i++) {
        buf_add_text(out, " /");
        tell_key(&index->sort[i], out);
    }
    buf_add_char(out, '\n');
}

static void tell_where(const struct declared_condition *where, struct buf *out)
{
    static const char *const names[] = {
        [COND_EQ] = "=",  [COND_BEGINS] = "begins", [COND_BETWEEN] = "in", [COND_LT] = "<",
        [COND_LE] = "<=", [COND_GT] = ">",          [COND_GE] = ">="};
    buf_printf(out, " where %s%s %s ", where->whole ? "key " : "", where->target, names[where->op]);
    tell_format(&where->value, out);
    if (where->op == COND_BETWEEN) {
        buf_add_text(out, " .. ");
        tell_format(&where->upper, out);
    }
}

static void tell_path(const struct declared_path *path, struct buf *out)
{
    buf_printf(out, "%s", path->path);
    for (size_t i = 0; i < path->kind_count; i++)
        buf_printf(out, "%s%s", i ? "+" : " of ", path->kinds[i].text);
    if (path->index.text)
        buf_printf(out, " by %s", path->index.text);
    if (path->consistent)
        buf_add_text(out, " consistently");
    for (const struct declared_condition *where = path->wheres; where; where = where->next)
        tell_where(where, out);
    buf_add_char(out, '\n');
}

static void tell_table(const struct declared_table *table, bool paths, struct buf *out)
{
    buf_printf(out, "table %s: %s\n", table->path_name, table->base_name);
    if (table->separator != '#')
        buf_printf(out, "separator %c\n", table->separator);
    for (const struct declared_record *each = table->records; each; each = each->next) {
        buf_printf(out, "%s:", each->name);
        for (size_t i = 0; i < each->key_count; i++)
            tell_key(&each->keys[i], out);
        buf_add_char(out, '\n');
    }
    for (const struct declared_index *each = table->indexes; each; each = each->next)
        tell_index(each, out);
    for (const struct declared_type *each = table->types; each; each = each->next)
        buf_printf(out, "type %s %s\n", each->attribute, value_type_name(each->type));
    for (const struct declared_path *each = table->paths; paths && each; each = each->next)
        tell_path(each, out);
}

static void check_compiles(struct declared_table *table)
{
    struct findings findings = {0};
    bool has_paths = table->has_paths;
    table->has_paths = true;
    const struct model *model = compile_table(table, &findings);
    CHECK_TEXT(findings.count ? findings.items[0].text : "", "");
    CHECK(model);
    if (model)
        model_unref(model);
    findings_clean_up(&findings);
    table->has_paths = has_paths;
}

static void read_file(const char *name, const char *ending, struct buf *out)
{
    const char *data = getenv("DDBFS_TEST_DATA");
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%s/vectors/models/%s.%s", data ? data : "tests", name, ending);
    FILE *file = fopen(buf_text(&path), "r");
    if (!file)
        CHECK_FAIL("cannot open %s", buf_text(&path));
    char chunk[4096];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, file)) > 0)
        buf_add(out, chunk, got);
    fclose(file);
}

static void imports(const char *name, bool paths)
{
    struct arena arena = {0};
    struct imported imported = {0};
    struct error err = {0};
    CLEAN_UP(buf_clean_up) struct buf model = {0}, told = {0}, want = {0};
    read_file(name, "json", &model);
    read_file(name, "txt", &want);
    bool read = import_model(&arena, "m.json", buf_span(&model), &imported, &err);
    CHECK_TEXT(err.text, "");
    for (struct declared_table *each = imported.tables; read && each; each = each->next) {
        tell_table(each, paths, &told);
        check_compiles(each);
    }
    for (struct left_out *each = imported.left_out; read && each; each = each->next)
        buf_printf(&told, "left out: %s: %s\n", each->where, each->why);
    CHECK_TEXT(buf_text(&told), buf_text(&want));
    arena_clean_up(&arena);
}

static void test_data_model(void)
{
    imports("data-model", true);
}

static void test_data_model_left_out(void)
{
    imports("data-model-left-out", true);
}

static void test_data_model_types(void)
{
    imports("data-model-types", true);
}

static void test_workbench(void)
{
    imports("workbench", false);
}

static const struct check_test tests[] = {
    {"data_model_types", test_data_model_types},
    {"workbench", test_workbench},
    {"data_model", test_data_model},
    {"data_model_left_out", test_data_model_left_out},
};

CHECK_MAIN(tests)
