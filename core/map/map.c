#include "core/map/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/escape.h"
#include "core/base/nearest.h"
#include "core/map/companion.h"
#include "core/map/compile.h"
#include "core/map/link.h"
#include "core/map/table_members.h"

/* "" is the same as no prefix. */
static bool map_read_prefix(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    return json_string_is(value, SPAN_LITERAL("")) || map_read_format(reader, value, what, out);
}

/* The name and the prefix need the same parameters: a table's name then determines its environment.
 */
static bool map_same_params(const struct format *name, const struct format *prefix)
{
    for (size_t i = 0; i < name->count; i++)
        if (name->pieces[i].param && !format_has(prefix, name->pieces[i].param))
            return false;
    for (size_t i = 0; i < prefix->count; i++)
        if (prefix->pieces[i].param && !format_has(name, prefix->pieces[i].param))
            return false;
    return true;
}

static bool map_check_environment(struct map_reader *reader, struct json at, const struct map *map,
                                  const struct map_environment *new)
{
    if (!map_same_params(&new->name, &new->prefix))
        return map_fail(reader, at,
                        "an environment's name and its prefix have the same parameters");
    for (const struct map_environment *old = map->environments; old; old = old->next)
        if (!format_is_literal(&old->name) && !format_is_literal(&new->name) &&
            format_overlaps(&old->name, &new->name))
            return map_fail(reader, at, "this and the environment in line %u match the same names",
                            old->line);
    return true;
}

/* The name of a file of this machine, from the map's folder on. */
static bool map_read_file_name(struct map_reader *reader, struct json value, const char *what,
                               void *out)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    const char **name = out;
    if (!map_read_text(reader, value, what, out))
        return false;
    if ((*name)[0] == '/' || !reader->folder.size)
        return true;
    buf_printf(&path, "%.*s/%s", (int)reader->folder.size, reader->folder.data, *name);
    *name = arena_text(reader->arena, buf_span(&path));
    return *name && !path.failed;
}

/* The member of an environment that does not go with "snapshot"; NULL for none. */
static const char *map_find_setting(const struct map_environment *environment)
{
    return environment->profile        ? "profile"
           : environment->region       ? "region"
           : environment->endpoint_url ? "endpoint"
           : environment->snapshots    ? "snapshots"
           : environment->live         ? "live"
                                       : NULL;
}

/* Data gives no orders: what a stored map names is not used. */
static void map_ignore_settings(struct map_environment *environment)
{
    const char *setting = map_find_setting(environment);
    environment->ignored = setting ? setting : environment->snapshot ? "snapshot" : NULL;
    environment->profile = environment->region = environment->endpoint_url = NULL;
    environment->snapshot = environment->snapshots = NULL;
    environment->live = false;
}

/* A snapshot is read without a setting of AWS. */
static bool map_check_snapshot(struct map_reader *reader, struct json at,
                               const struct map_environment *new)
{
    const char *other = map_find_setting(new);
    if (!new->snapshot || !other)
        return true;
    return map_fail(reader, at,
                    "an environment with \"snapshot\" has no \"%s\": its items come from the "
                    "file; remove one of them",
                    other);
}

static bool map_read_environment(struct map_reader *reader, const char *name, struct json at,
                                 struct json value, void *target)
{
    static const struct map_member members[] = {
        {"prefix", map_read_prefix, offsetof(struct map_environment, prefix), NULL},
        {"profile", map_read_text, offsetof(struct map_environment, profile), NULL},
        {"region", map_read_text, offsetof(struct map_environment, region), NULL},
        {"endpoint", map_read_text, offsetof(struct map_environment, endpoint_url), NULL},
        {"snapshot", map_read_file_name, offsetof(struct map_environment, snapshot), NULL},
        {"snapshots", map_read_file_name, offsetof(struct map_environment, snapshots), NULL},
        {"live", map_read_flag, offsetof(struct map_environment, live), NULL},
        {0},
    };
    struct map *map = target;
    struct map_environment *environment = map_alloc(reader, sizeof *environment);
    if (!environment)
        return false;
    environment->line = map_at(reader, at).line;
    environment->price = MAP_PRICE;
    if (!escape_is_unneeded(span_text(name)) || name[0] == '.' || strlen(name) > NAME_LIMIT)
        return map_fail(reader, at,
                        "an environment's name is one directory: at most %d bytes, no /, %%, "
                        "control character or leading dot",
                        NAME_LIMIT);
    if (strcmp(name, MAP_TABLES_NAME) == 0)
        return map_fail(reader, at,
                        "no environment may have the name \"" MAP_TABLES_NAME
                        "\": that directory has all tables by their own names");
    if (span_ends(span_text(name), SPAN_LITERAL("@at")))
        return map_fail(
            reader, at,
            "no environment's name may end in \"@at\": such a directory has the past of "
            "the environment before it");
    if (!map_read_format(reader, at, "an environment's name", &environment->name) ||
        !map_read_members(reader, value, "an environment", members, environment) ||
        !map_check_snapshot(reader, at, environment) ||
        !map_check_environment(reader, at, map, environment))
        return false;
    if (reader->is_stored)
        map_ignore_settings(environment);
    struct map_environment **last = &map->environments;
    MAP_APPEND(last, environment);
    return true;
}

/* The map while it is read. Tables are compiled after the whole text has been read, so that their
 * members may have any order. */
struct loading {
    struct map *map;
    struct arena declarations; /* owned: the declared tables */
    struct declared_table *tables;
    bool has_environments, has_tables; /* the map has them, right or wrong */
    struct json prices;                /* of the map, if present */
};

enum { MAX_PRICE = 1000 };

static bool map_read_environments(struct map_reader *reader, struct json value, const char *what,
                                  void *out)
{
    struct loading *loading = out;
    loading->has_environments = json_count(value) > 0 || !json_is(value, JSON_OBJECT);
    return map_read_each(reader, value, what, map_read_environment, loading->map);
}

static bool map_read_declarations(struct map_reader *reader, struct json value, const char *what,
                                  void *out)
{
    struct loading *loading = out;
    (void)what;
    loading->has_tables = json_count(value) > 0 || !json_is(value, JSON_OBJECT);
    reader->arena = &loading->declarations;
    bool ok = map_read_tables(reader, value, &loading->tables);
    reader->arena = &loading->map->arena;
    return ok;
}

/* An environment may follow its price in the file, so prices are read last. */
static bool map_note_prices(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    struct json *prices = out;
    (void)reader;
    (void)what;
    *prices = value;
    return true;
}

static struct map_environment *map_find_environment(const struct map *map, struct span written)
{
    for (struct map_environment *each = map->environments; each; each = each->next) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        format_write(&each->name, &name);
        if (!name.failed && span_equal(buf_span(&name), written))
            return each;
    }
    return NULL;
}

/* By name for one environment, or by "*" for those without a price of their own. */
static bool map_read_price(struct map_reader *reader, const char *name, struct json at,
                           struct json value, void *target)
{
    struct loading *loading = target;
    struct map_environment *named = map_find_environment(loading->map, span_text(name));
    bool all = strcmp(name, "*") == 0;
    double price = json_is(value, JSON_NUMBER) ? strtod(json_raw(value).data, NULL) : -1;
    if (!(price >= 0 && price <= MAX_PRICE))
        return map_fail(reader, value, "a price is a number of dollars for a million RCU, 0 to %d",
                        MAX_PRICE);
    if (!named && !all)
        return map_fail(reader, at,
                        "\"prices\" are of environments, but there is no environment \"%s\"", name);
    for (struct map_environment *each = loading->map->environments; each; each = each->next)
        if (each == named || (all && !each->priced))
            each->price = price;
    if (named)
        named->priced = true;
    return true;
}

/* For editors only. */
static bool map_skip_schema(struct map_reader *reader, struct json value, const char *what,
                            void *out)
{
    const char *ignored;
    (void)out;
    return map_read_text(reader, value, what, &ignored);
}

static void map_read(struct map_reader *reader, struct loading *loading)
{
    static const struct map_member members[] = {
        {"$schema", .read = map_skip_schema},
        {"environments", .read = map_read_environments},
        {"prices", map_note_prices, offsetof(struct loading, prices), NULL},
        {"tables", .read = map_read_declarations},
        {0},
    };
    struct json root = json_root(&reader->doc);
    map_read_members(reader, root, "a map", members, loading);
    if (json_present(loading->prices))
        map_read_each(reader, loading->prices, "\"prices\"", map_read_price, loading);
    if (reader->misspelt || !json_is(root, JSON_OBJECT))
        return;
    if (!loading->has_environments)
        map_fail(reader, root, "a map needs \"environments\": { \"prod\": { \"prefix\": … } }");
    if (!loading->has_tables)
        map_fail(reader, root, "a map needs \"tables\"");
}

/* Compiles each table, whatever is wrong with another, so that all mistakes are reported. A table
 * that fails is missing from the models of a map that is dropped. */
static void map_compile_tables(struct loading *loading, struct findings *findings)
{
    struct map *map = loading->map;
    const struct declared_table *table;
    size_t count = 0;
    for (table = loading->tables; table; table = table->next)
        count++;
    map->models = arena_array(&map->arena, count, sizeof *map->models);
    for (table = loading->tables; map->models && table; table = table->next) {
        if (strcmp(table->path_name, MAP_TABLES_NAME) == 0)
            findings_add(findings, table->at,
                         "no table of a map may have the name \"" MAP_TABLES_NAME
                         "\": that directory has all tables of the account by their own names");
        map->models[map->model_count] = compile_table(table, findings);
        map->model_count += map->models[map->model_count] != NULL;
    }
}

/* Targets of links are checked when all tables are compiled. */
static void map_check_links(const struct loading *loading, struct findings *findings)
{
    const struct map *map = loading->map;
    for (size_t i = 0; i < map->model_count; i++)
        for (const struct map_link *link = map->models[i]->links; link; link = link->next) {
            struct bindings values = {0};
            const struct map_environment *each = link->environment ? map->environments : NULL;
            while (each && !format_match(&each->name, span_text(link->environment), &values))
                each = each->next;
            if (link->environment && !each)
                findings_add(findings, FINDING_AT(link),
                             "link \"%s\" leads to the environment \"%s\", which the map does not "
                             "have",
                             link->name, link->environment);
        }
    links_check(map->models, map->model_count, loading->tables, findings);
}

/* Empty for the current one. */
static struct span map_folder(const struct map *map)
{
    const char *slash = map->folder ? NULL : strrchr(map->file, '/');
    return map->folder ? span_text(map->folder)
                       : span_of(map->file, slash ? (size_t)(slash - map->file) : 0);
}

static void map_parse_into(struct map *map, struct span text, struct findings *findings)
{
    struct loading loading = {.map = map};
    struct map_reader reader = {.arena = &map->arena,
                                .findings = findings,
                                .folder = map_folder(map),
                                .is_stored = map->is_stored};
    struct json_fault fault;
    if (json_parse(&reader.doc, text, JSON_COMMENTS, &fault)) {
        map_read(&reader, &loading);
        map_compile_tables(&loading, findings);
        map_check_links(&loading, findings);
    } else if (strcmp(fault.what, "out of memory") == 0) {
        findings_no_memory(findings);
    } else {
        json_position_move(&reader.last, &reader.doc, fault.offset);
        findings_add(findings, finding_at(&reader.last), "this is not JSON: %s", fault.what);
    }
    json_clean_up(&reader.doc);
    /* A text may have been absent because memory ran out. */
    if (map->arena.failed || loading.declarations.failed)
        findings_no_memory(findings);
    arena_discard(&loading.declarations);
}

/* Maps in this process, for tests and metrics. */
static size_t live_maps;

static struct map *map_new(const char *file, struct span text)
{
    struct map *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    live_maps++;
    map->references = 1;
    map->self = map;
    map->file = arena_text(&map->arena, span_text(file));
    map->text = arena_text(&map->arena, text);
    return map;
}

const struct map *map_none(void)
{
    struct map *map = map_new("", span_text(""));
    if (!map || !map->arena.failed)
        return map;
    map_unref(map);
    return NULL;
}

bool map_is_none(const struct map *map)
{
    return !map->environments;
}

const struct map *map_parse_of(const char *file, const struct map_origin *origin, struct span text,
                               struct findings *findings, struct error *err)
{
    CLEAN_UP(findings_clean_up) struct findings own = {0};
    struct findings *found = findings ? findings : &own;
    struct map *map = map_new(file, text);
    if (map)
        map->is_stored = origin->is_stored;
    if (map && origin->folder)
        map->folder = arena_text(&map->arena, span_text(origin->folder));
    if (map && !map->arena.failed)
        map_parse_into(map, text, found);
    else
        findings_no_memory(found);
    if (findings_none(found))
        return map;
    findings_sort(found);
    findings_error(found, file, err);
    map_unref(map);
    return NULL;
}

const struct map *map_parse(const char *file, struct span text, struct findings *findings,
                            struct error *err)
{
    return map_parse_of(file, &(struct map_origin){0}, text, findings, err);
}

/* The example of three tables has 6 KB. The limit also bounds checks that take quadratic time. */
enum { MAP_MAX_BYTES = 1 << 20 };

/* Closes STREAM. */
static bool map_read_stream(const char *file, FILE *stream, struct buf *out, struct error *err)
{
    if (!stream)
        return error_set(err, ERROR_INVALID, "can't read the map %s: %s", file, strerror(errno));
    char chunk[8192];
    size_t size;
    while (out->size <= MAP_MAX_BYTES && (size = fread(chunk, 1, sizeof chunk, stream)) > 0)
        buf_add(out, chunk, size);
    bool failed = ferror(stream) != 0;
    fclose(stream);
    if (failed)
        return error_set(err, ERROR_INVALID, "can't read the map %s: %s", file, strerror(errno));
    if (out->size > MAP_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "%s is not a map: it is larger than 1 MB", file);
    return !out->failed || error_no_memory(err);
}

const struct map *map_load(const char *file, const char *folder, struct findings *findings,
                           struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!map_read_stream(file, fopen(file, "re"), &text, err))
        return NULL;
    return map_parse_of(file, &(struct map_origin){.folder = folder}, buf_span(&text), findings,
                        err);
}

const struct map *map_load_again(const char *file, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct stat told;
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && fstat(fd, &told) == 0 && !S_ISREG(told.st_mode)) {
        close(fd);
        error_set(err, ERROR_INVALID,
                  "the map %s is not a regular file, so it can't be read a second time", file);
        return NULL;
    }
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (fd >= 0 && !stream)
        close(fd);
    if (!map_read_stream(file, stream, &text, err))
        return NULL;
    return map_parse(file, buf_span(&text), NULL, err);
}

const struct map *map_ref(const struct map *map)
{
    if (map)
        map->self->references++;
    return map;
}

void map_unref(const struct map *map)
{
    struct map *mine = map ? map->self : NULL;
    if (!mine || --mine->references > 0)
        return;
    for (size_t i = 0; i < mine->model_count; i++)
        model_unref(mine->models[i]);
    arena_discard(&mine->arena);
    free(mine);
    live_maps--;
}

const struct model *map_find_model(const struct map *map, struct span name)
{
    for (size_t i = 0; i < map->model_count; i++)
        if (span_is(name, map->models[i]->path_name))
            return map->models[i];
    return NULL;
}

size_t map_count(void)
{
    return live_maps;
}

static bool map_environment_fits(const struct map_environment *each, const char *name,
                                 struct bindings *values)
{
    CLEAN_UP(buf_clean_up) struct buf written = {0};
    format_write(&each->name, &written);
    *values = (struct bindings){0};
    if (name && !span_is(buf_span(&written), name))
        return format_match(&each->name, span_text(name), values);
    for (size_t i = 0; i < each->name.count; i++)
        if (each->name.pieces[i].param)
            bindings_add(values, each->name.pieces[i].param, SPAN_LITERAL("*"));
    return true;
}

/* A literal name precedes one with a parameter. */
static bool map_has_literal_environment(const struct map *map, const char *name)
{
    struct bindings values;
    for (const struct map_environment *each = map->environments; each; each = each->next)
        if (format_is_literal(&each->name) && map_environment_fits(each, name, &values))
            return true;
    return false;
}

bool map_environment_is_named(const struct map *map, const struct map_environment *each,
                              const char *name, struct bindings *values)
{
    struct bindings own;
    return map_environment_fits(each, name, values ? values : &own) &&
           (!name || format_is_literal(&each->name) || !map_has_literal_environment(map, name));
}

bool map_refuse_environment(const struct map *map, const char *name, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0}, hint = {0};
    struct nearest nearest = nearest_to(span_text(name));
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        buf_add_text(&names, names.size ? ", " : "");
        format_write(&each->name, &names);
        if (format_is_literal(&each->name))
            nearest_offer(&nearest, each->name.pieces[0].literal);
    }
    nearest_write(&nearest, &hint);
    return error_set(err, ERROR_INVALID, "the map has no environment \"%s\"%s; it has %s", name,
                     buf_text(&hint), buf_text(&names));
}

/* Whether paths of MODEL have values of its attribute NAME. */
static bool map_model_asks_for(const struct model *model, const char *name)
{
    if (model_is_key(model, name))
        return true;
    for (const struct map_index *each = model->indexes; each; each = each->next)
        if (model_is_index_key(each, name))
            return true;
    for (const struct map_param *each = model->params; each; each = each->next)
        if (strcmp(each->name, name) == 0)
            return true;
    for (const struct map_pattern *each = model->patterns; each; each = each->next)
        for (size_t i = 0; i < each->where_count; i++)
            if (each->where[i].attribute && strcmp(each->where[i].attribute, name) == 0)
                return true;
    return false;
}

bool map_may_reveal(const struct map *map, struct span path)
{
    static const char by[] = "/by/";
    bool names_value = path.size > 0 && memmem(path.data, path.size, by, sizeof by - 1) != NULL;
    for (size_t i = 0; i < map->model_count; i++)
        for (size_t k = 0; k < map->models[i]->secret_count; k++)
            if (names_value || map_model_asks_for(map->models[i], map->models[i]->secrets[k]))
                return true;
    return false;
}

bool map_names_table(const struct map *map, const struct model *model, struct span table)
{
    struct span base = span_text(model->base_name);
    if (!span_ends(table, base))
        return false;
    struct span prefix = span_of(table.data, table.size - base.size);
    for (const struct map_environment *each = map->environments; each; each = each->next) {
        struct bindings values = {0};
        if (format_match(&each->prefix, prefix, &values))
            return true;
    }
    return false;
}
