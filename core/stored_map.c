#include "core/stored_map.h"

#include <stdio.h>
#include <sys/stat.h>

#include "core/snapshot/schema.h"

/* The first bytes of a database, with the NUL. A pipe is no database, and is not read here. */
static bool stored_map_is_database(const char *file)
{
    static const char magic[] = "SQLite format 3";
    char start[sizeof magic] = "";
    struct stat status;
    FILE *stream = stat(file, &status) == 0 && S_ISREG(status.st_mode) ? fopen(file, "re") : NULL;
    if (!stream)
        return false;
    bool is_database = fread(start, 1, sizeof start, stream) == sizeof start &&
                       memcmp(start, magic, sizeof magic) == 0;
    fclose(stream);
    return is_database;
}

/* Appends the map of the snapshot FILE. */
static bool stored_map_read(const char *file, struct buf *out, struct error *err)
{
    struct database *database = database_open(file, DATABASE_READ, err);
    struct statement *find =
        database && schema_check(database, err)
            ? database_prepare(database, "SELECT value FROM about WHERE name = 'map'", err)
            : NULL;
    enum statement_step step = find ? statement_step(find, err) : STATEMENT_FAILED;
    if (step == STATEMENT_ROW)
        buf_add_span(out, statement_text(find, 0));
    else if (step == STATEMENT_DONE)
        error_set(err, ERROR_INVALID,
                  "the snapshot %s contains no map; name a map file, or import with --map", file);
    statement_end(find);
    database_close(database);
    if (out->failed)
        return error_no_memory(err);
    return step == STATEMENT_ROW;
}

bool stored_map_is_in(const char *file)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error ignored;
    return stored_map_is_database(file) && stored_map_read(file, &text, &ignored);
}

const struct map *stored_map_load(const char *file, const char *folder, struct findings *findings,
                                  struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    if (!stored_map_is_database(file))
        return map_load(file, folder, findings, err);
    return stored_map_read(file, &text, err) ? map_parse(file, buf_span(&text), findings, err)
                                             : NULL;
}

const struct map *stored_map_load_again(const char *file, struct error *err)
{
    return stored_map_is_database(file) ? stored_map_load(file, NULL, NULL, err)
                                        : map_load_again(file, err);
}
