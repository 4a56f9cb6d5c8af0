/* The two profile files of the AWS tools, ~/.aws/config and ~/.aws/credentials, or the files of
 * AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE. They contain secrets, which are wiped when a
 * file is cleaned up. */
#ifndef DDBFS_CORE_AWS_PROFILES_H
#define DDBFS_CORE_AWS_PROFILES_H

#include <sys/types.h>
#include <time.h>

#include "core/aws/ini.h"
#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/span.h"

/* The form of a profile's header: [default] and [profile x], or the bare name. */
enum profile_dialect { PROFILE_CONFIG, PROFILE_CREDENTIALS };

/* The meaning of a section of the file. */
struct profile_section {
    const char *kind; /* "profile", "sso-session", "services"; NULL: ignored */
    struct span name;
};

/* A parsed file; {0} is an empty one. */
struct profile_file {
    struct ini ini;
    struct arena names;               /* owned */
    struct profile_section *sections; /* owned; one for each of the INI's */
    struct slots by_name;             /* of several sections of one name the last one counts */
    bool is_empty;       /* the file exists and has no section; perhaps it is half-written */
    const char *instead; /* the kind of a file that is not regular: "a directory"; it is ignored */
};

/* Parses TEXT, which is copied. PATH is for errors (ERROR_DENIED), which name the line and never
 * quote it. FILE, empty before, needs clean-up in either case. */
bool profile_parse(struct profile_file *file, enum profile_dialect dialect, struct span text,
                   const char *path, struct error *err);
/* The same from an open file; FILE's text is empty before. */
bool profile_parse_fd(struct profile_file *file, enum profile_dialect dialect, int fd,
                      const char *path, struct error *err);
void profile_clean_up(struct profile_file *file);

bool profile_has(const struct profile_file *file, const char *profile);

/* Finds a plain key, whatever its case. VALUE is borrowed; unchanged if there is no such key
 * (false). */
bool profile_get(const struct profile_file *file, const char *profile, const char *key,
                 struct span *value);

/* The same for a key nested under PARENT, in a section [KIND NAME]. Profiles have the kind
 * "profile" in either file. */
bool profile_get_nested(const struct profile_file *file, const char *kind, const char *name,
                        const char *parent, const char *key, struct span *value);

/* Whether there is a section [KIND NAME], and whether it has any key. */
bool profile_has_section(const struct profile_file *file, const char *kind, const char *name);
bool profile_has_keys(const struct profile_file *file, const char *kind, const char *name);

/* The plain keys of a section, one after the other: AT is zero at first. False behind the last. */
bool profile_next(const struct profile_file *file, const char *kind, const char *name, size_t *at,
                  struct span *key, struct span *value);

/* The line at which VALUE, a value of FILE, begins; 0 for any other text. */
unsigned profile_line(const struct profile_file *file, struct span value);

/* The text between the brackets of a profile's section: "profile x"; its name without a section. */
struct span profile_header(const struct profile_file *file, const char *profile);

/* The names of the profiles, one after the other: AT is zero at first. False behind the last. */
bool profile_next_name(const struct profile_file *file, size_t *at, struct span *name);

/* The state of a file when it was read. */
struct profiles_stamp {
    dev_t device;
    ino_t inode; /* 0: there was no file */
    off_t size;
    struct timespec modified, changed;
    bool is_fresh; /* it was just written, and might change again without a change of its times */
};

struct profiles {
    char *config_path;      /* owned */
    char *credentials_path; /* owned */
    struct profile_file config;
    struct profile_file credentials;
    struct profiles_stamp config_stamp, credentials_stamp;
    struct error unreadable; /* of a file that this user may not read; it is ignored */
    struct error failed;     /* of profiles_refresh */
    unsigned reads;          /* by profiles_refresh */
};

/* Reads both. As in the AWS CLI, a file that is missing, is not regular, or may not be read counts
 * as empty, because the settings may be elsewhere; UNREADABLE is for the message if they are not.
 * PROFILES needs clean-up in either case. */
bool profiles_load(struct profiles *profiles, struct error *err);
void profiles_clean_up(struct profiles *profiles);

/* For long-lived profiles: reads both files the first time, and when one of them has changed.
 * Secret keys and session tokens are wiped. After a failure both files are empty; the failure is
 * reported until a file changes. */
bool profiles_refresh(struct profiles *profiles, struct error *err);

bool profiles_has(const struct profiles *profiles, const char *profile);

/* Key by key, the credentials file's value before the config file's. */
bool profiles_get(const struct profiles *profiles, const char *profile, const char *key,
                  struct span *value);

/* Appends the place of a profile for messages: "~/.aws/config [profile x]". */
void profiles_origin(const struct profiles *profiles, enum profile_dialect dialect,
                     const char *profile, struct buf *out);

/* The same for the file that has KEY: the credentials file if both have it. */
void profiles_origin_of_key(const struct profiles *profiles, const char *profile, const char *key,
                            struct buf *out);

/* Appends the names of all profiles: "a, b". */
void profiles_names(const struct profiles *profiles, struct buf *out);

#endif
