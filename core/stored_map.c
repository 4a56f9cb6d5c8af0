#include "core/stored_map.h"

#include "core/snapshot/schema.h"

/* SQLite opens and closes the file, since any other close would drop the locks of its readers. A
 * pipe is no database, and is not read here. */
static bool stored_map_is_database(const char *file, enum database_mode mode)
{
    struct error why = {0};
    struct database *database = database_open(file, mode, &why);
    database_close(database);
    return database || why.kind == ERROR_TIMED_OUT || why.kind == ERROR_BAD_ANSWER;
}

/* Appends the map of the snapshot FILE. */
static bool stored_map_read(const char *file, enum database_mode mode, struct buf *out,
                            struct error *err)
{
    struct database *database = database_open(file, mode, err);
    bool found = false;
    bool ok = database && schema_check(database, err) &&
              schema_read_fact(database, "map", &found, out, err);
    database_close(database);
    if (ok && !found)
        error_set(err, ERROR_INVALID,
                  "the snapshot %s contains no map; name a map file, or import with --map", file);
    return found;
}

bool stored_map_is_in(const char *file)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error ignored;
    return stored_map_is_database(file, DATABASE_READ) &&
           stored_map_read(file, DATABASE_READ, &text, &ignored);
}

static const struct map *stored_map_parse(const char *file, enum database_mode mode,
                                          struct findings *findings, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    static const struct map_origin origin = {.is_stored = true};
    return stored_map_read(file, mode, &text, err)
               ? map_parse_of(file, &origin, buf_span(&text), findings, err)
               : NULL;
}

const struct map *stored_map_load(const char *file, const struct map_origin *origin,
                                  struct findings *findings, struct error *err)
{
    return origin->is_stored || stored_map_is_database(file, DATABASE_READ)
               ? stored_map_parse(file, DATABASE_READ, findings, err)
               : map_load(file, origin->folder, findings, err);
}

/* The loop does not wait for a writer. */
const struct map *stored_map_load_again(const char *file, bool is_stored, struct error *err)
{
    return is_stored || stored_map_is_database(file, DATABASE_READ_NOW)
               ? stored_map_parse(file, DATABASE_READ_NOW, NULL, err)
               : map_load_again(file, err);
}
