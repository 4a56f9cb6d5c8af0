/* A profile file of the AWS tools, ~/.aws/config or ~/.aws/credentials: INI whose sections are
 * profiles and other things that have a name. It holds secrets, which are wiped when it is cleaned
 * up. */
#ifndef DDBFS_CORE_AWS_PROFILE_H
#define DDBFS_CORE_AWS_PROFILE_H

#include "core/aws/ini.h"
#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/span.h"

/* How a profile's section is headed: [default] and [profile x], or the bare name. */
enum profile_dialect { PROFILE_CONFIG, PROFILE_CREDENTIALS };

/* What a section of the file is. */
struct profile_section {
    const char *kind; /* "profile", "sso-session", "services"; NULL for what has no meaning here */
    struct span name;
};

/* A parsed file; {0} is an empty one. */
struct profile_file {
    struct ini ini;
    struct arena names;               /* owned */
    struct profile_section *sections; /* owned; one for each of the INI's */
    struct slots by_name; /* of several sections of one name the last one stands alone */
    bool is_empty;        /* the file is there, and has no section: half-written, perhaps */
    const char *instead; /* what stands there and is no file: "a directory"; it counts as missing */
};

/* Parses TEXT, which is copied. PATH is for errors (ERROR_DENIED), which name the line and never
 * quote it. FILE, empty before, is to be cleaned up in either case. */
bool profile_parse(struct profile_file *file, enum profile_dialect dialect, struct span text,
                   const char *path, struct error *err);

/* The same from an open file; TEXT is empty before. */
bool profile_parse_fd(struct profile_file *file, enum profile_dialect dialect, int fd,
                      const char *path, struct error *err);
void profile_clean_up(struct profile_file *file);

bool profile_has(const struct profile_file *file, const char *profile);

/* The value of a plain key, whose case does not matter. VALUE is borrowed; left alone when there
 * is none (false). */
bool profile_get(const struct profile_file *file, const char *profile, const char *key,
                 struct span *value);

/* The same for a key that is nested under PARENT, in a section [KIND NAME]. Profiles have the
 * kind "profile" in either file. */
bool profile_get_nested(const struct profile_file *file, const char *kind, const char *name,
                        const char *parent, const char *key, struct span *value);

/* Whether there is a section [KIND NAME], and whether it has any key. */
bool profile_has_section(const struct profile_file *file, const char *kind, const char *name);
bool profile_has_keys(const struct profile_file *file, const char *kind, const char *name);

/* Its plain keys, one after the other: AT is zero at first. False behind the last one. */
bool profile_next(const struct profile_file *file, const char *kind, const char *name, size_t *at,
                  struct span *key, struct span *value);

/* The line of FILE in which VALUE begins, which it gave; 0 when it gave another. */
unsigned profile_line(const struct profile_file *file, struct span value);

/* What stands between the brackets of a profile's section: "profile x"; its name when it has none.
 */
struct span profile_header(const struct profile_file *file, const char *profile);

/* The name of the profile at AT, which is zero at first, and goes on to the next. False behind the
 * last one. */
bool profile_next_name(const struct profile_file *file, size_t *at, struct span *name);

/* Overwrites secret keys and session tokens, which are empty values then, and nothing else. */
void profile_wipe_secrets(struct profile_file *file);

#endif
