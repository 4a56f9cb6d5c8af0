/* Reads the members of objects of the map's file. A wrong member is reported and left out, and the
 * reader goes on, so that one run reports all mistakes. */
#ifndef DDBFS_CORE_MAP_MEMBER_READER_H
#define DDBFS_CORE_MAP_MEMBER_READER_H

#include "core/json/json.h"
#include "core/map/findings.h"
#include "core/map/format.h"

/* More than any map needs: some checks compare each member with each. */
enum { MAP_MAX_MEMBERS = 2000, MAP_MAX_TEXTS = 10000 };

struct map_reader {
    struct json_doc doc;
    struct arena *arena;       /* owns the texts that are read; borrowed */
    struct findings *findings; /* borrowed */
    struct json_position last; /* of map_at */
    struct span folder;        /* that names of files are relative to; empty: the current one */
    bool is_stored;            /* the map is part of a snapshot */
    bool misspelt; /* the object read last has a member of an unknown name: do not report that
                    * another is absent */
};

/* Reports a mistake at VALUE's place. Returns false. */
bool map_fail(struct map_reader *reader, struct json value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The place of VALUE: cheap if places are requested in the order of the file. */
struct finding_at map_at(struct map_reader *reader, struct json value);

/* Zeroed memory of the reader's arena; NULL with a finding. */
void *map_alloc(struct map_reader *reader, size_t size);

/* Appends ITEM to the list whose first pointer LAST points to; moves LAST. */
#define MAP_APPEND(last, item)                                                                     \
    do {                                                                                           \
        while (*(last))                                                                            \
            (last) = &(*(last))->next;                                                             \
        *(last) = (item);                                                                          \
    } while (0)

/* Reads VALUE into OUT. WHAT is the subject of messages. False with a finding. */
typedef bool map_read_fn(struct map_reader *reader, struct json value, const char *what, void *out);
/* Reads one member of an object whose names are the user's. */
typedef bool map_each_fn(struct map_reader *reader, const char *name, struct json at,
                         struct json value, void *out);

/* A member of an object: READ reads it, or EACH reads each of its own members, into the field at
 * OFFSET of the object's struct. */
struct map_member {
    const char *name;
    map_read_fn *read;
    size_t offset;
    map_each_fn *each;
};

/* Reads OBJECT by its table of members, which ends in {0}, into TARGET; unknown and repeated names
 * are mistakes. WHAT names the object in messages: "a table". False if any member was wrong; the
 * others have been read all the same. */
bool map_read_members(struct map_reader *reader, struct json object, const char *what,
                      const struct map_member *members, void *target);
/* Calls READ for each member of OBJECT. False as above. */
bool map_read_each(struct map_reader *reader, struct json object, const char *what,
                   map_each_fn *read, void *target);

map_read_fn map_read_text;       /* const char * */
map_read_fn map_read_flag;       /* bool */
map_read_fn map_read_format;     /* struct format */
map_read_fn map_read_key_format; /* struct format, with spellings */
map_read_fn map_read_ttl;        /* int64_t, milliseconds */
bool map_read_texts(struct map_reader *reader, struct json value, const char *what,
                    const char ***out, size_t *count);

#endif
