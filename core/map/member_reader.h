/* Inside the map: the members of its file, each read by one function. A member that is wrong is
 * noted and left out, and reading goes on, so that one run tells all that is wrong. */
#ifndef DDBFS_CORE_MAP_MEMBER_READER_H
#define DDBFS_CORE_MAP_MEMBER_READER_H

#include "core/json/json.h"
#include "core/map/findings.h"
#include "core/map/format.h"

/* More than anybody writes; without a bound what compares each with each could take for ever. */
enum { MAP_MAX_MEMBERS = 2000, MAP_MAX_TEXTS = 10000 };

struct map_reader {
    struct json_doc doc;
    struct arena *arena;       /* where what is read goes; borrowed */
    struct findings *findings; /* borrowed */
    struct json_position last; /* of map_at */
    bool misspelt; /* The object whose members were read last had one of an unknown name: that
                    * another is missing is then no news. */
};

/* Notes what is wrong, at VALUE's place. Returns false. */
bool map_fail(struct map_reader *reader, struct json value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* One member an object may have. TARGET is what the object becomes. */
struct map_member {
    const char *name;
    bool (*read)(struct map_reader *reader, struct json value, void *target);
};

/* Reads OBJECT by its table of members, which ends in {0}; unknown and repeated names are wrong.
 * WHAT names the object in errors: "a table". False when any member was wrong; the others have
 * been read all the same. */
bool map_read_members(struct map_reader *reader, struct json object, const char *what,
                      const struct map_member *members, void *target);

/* Calls READ for each member of OBJECT, whose names are the user's. False as above. */
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
bool map_read_key_format(struct map_reader *reader, struct json value, struct format *out);
bool map_read_texts(struct map_reader *reader, struct json value, const char *what,
                    const char ***out, size_t *count);
bool map_read_ttl(struct map_reader *reader, struct json value, int64_t *ttl_ms);

/* Where VALUE begins: cheap when places are asked for in the order of the file. */
struct finding_at map_at(struct map_reader *reader, struct json value);

#endif
