/* Inside the map: its file's members, each read by one function. */
#ifndef DDBFS_CORE_MAP_READER_H
#define DDBFS_CORE_MAP_READER_H

#include "core/map/map.h"

struct map_reader {
    struct map *map;
    struct json_doc doc;
    struct error *err;
};

/* Fails at VALUE's line: fills ERR with FILE:LINE and the rest. Returns false. */
bool map_fail(struct map_reader *reader, struct json value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool map_fail_line(const struct map *map, struct error *err, unsigned line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* One member an object may have. TARGET is what the object becomes. */
struct map_member {
    const char *name;
    bool (*read)(struct map_reader *reader, struct json value, void *target);
};

/* Reads OBJECT by its table of members, which ends in {0}; unknown and repeated names fail.
 * WHAT names the object in errors: "a table". */
bool map_read_members(struct map_reader *reader, struct json object, const char *what,
                      const struct map_member *members, void *target);

/* Calls READ for each member of OBJECT, whose names are the user's. */
typedef bool map_each_fn(struct map_reader *reader, const char *name, struct json at,
                         struct json value, void *target);
bool map_read_each(struct map_reader *reader, struct json object, const char *what,
                   map_each_fn *read, void *target);

/* Scalars; each fails, with WHAT in its words, when VALUE is something else. */
bool map_read_text(struct map_reader *reader, struct json value, const char *what,
                   const char **out);
bool map_read_flag(struct map_reader *reader, struct json value, const char *what, bool *out);
bool map_read_format(struct map_reader *reader, struct json value, const char *what,
                     struct format *out);
bool map_read_texts(struct map_reader *reader, struct json value, const char *what,
                    const char ***out, size_t *count);

unsigned map_line(const struct map_reader *reader, struct json value);

/* The "paths" of a table. */
bool map_read_paths(struct map_reader *reader, struct json value, void *table);
bool map_read_ttl(struct map_reader *reader, struct json value, int64_t *ttl_ms);

#endif
