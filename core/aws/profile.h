/* The profile files of the AWS tools, ~/.aws/config and ~/.aws/credentials: INI with one level
 * of nesting. They hold secrets, so their text is wiped when it is cleaned up. */
#ifndef DDBFS_CORE_AWS_PROFILE_H
#define DDBFS_CORE_AWS_PROFILE_H

#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "core/base/buf.h"
#include "core/base/error.h"
#include "core/base/span.h"

/* How a section is headed: [default] and [profile x], or the bare name. */
enum profile_dialect { PROFILE_CONFIG, PROFILE_CREDENTIALS };

/* Which file was read, and in which state: whether it is to be read again. */
struct profile_stamp {
    dev_t device;
    ino_t inode; /* 0: there was no file */
    off_t size;
    struct timespec modified, changed;
};

/* A parsed file; {0} is an empty one. */
struct profile_file {
    struct buf text;               /* owned */
    struct profile_entry *entries; /* owned; in the order of the file, pointing into TEXT */
    size_t count;
    size_t capacity;
    uint32_t *slots; /* owned; a hash table of entries: their numbers from 1, 0 for none */
    size_t slot_count;
    size_t slots_used;
    struct profile_stamp stamp; /* of profile_read */
    /* What it is instead of a file ("a directory"), which counts as a missing one, as in the AWS
     * CLI; NULL for a file, or none. */
    const char *instead;
};

/* Parses TEXT, which is copied. PATH is for errors, which name the line and never quote it.
 * FILE, empty before, is to be cleaned up in either case. */
bool profile_parse(struct profile_file *file, enum profile_dialect dialect, struct span text,
                   const char *path, struct error *err);

/* The same from a file; a missing file is an empty one. */
bool profile_read(struct profile_file *file, enum profile_dialect dialect, const char *path,
                  struct error *err);
void profile_clean_up(struct profile_file *file);

bool profile_has(const struct profile_file *file, const char *profile);

/* Whether there is a section [KIND NAME] with anything in it. */
bool profile_has_keys(const struct profile_file *file, const char *kind, const char *name);

/* The value of a plain key, whose case does not matter. VALUE is borrowed; left alone when there
 * is none (false). */
bool profile_get(const struct profile_file *file, const char *profile, const char *key,
                 struct span *value);

/* The same for a key that is nested under PARENT, in a section [KIND NAME]. Profiles have the
 * kind "profile" in either file. */
bool profile_get_nested(const struct profile_file *file, const char *kind, const char *name,
                        const char *parent, const char *key, struct span *value);

/* Whether there is a section [KIND NAME], and its plain keys, one after the other: AT is zero at
 * first. False behind the last one. */
bool profile_has_section(const struct profile_file *file, const char *kind, const char *name);
bool profile_next(const struct profile_file *file, const char *kind, const char *name, size_t *at,
                  struct span *key, struct span *value);

/* The line of FILE in which VALUE begins, which it gave. */
unsigned profile_line(const struct profile_file *file, struct span value);

/* Both files of this user. */
struct profiles {
    char *config_path;      /* owned */
    char *credentials_path; /* owned */
    struct profile_file config;
    struct profile_file credentials;
    struct error failed; /* why they could not be read; of profiles_refresh */
};

/* Reads both, from where AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE say or from ~/.aws.
 * PROFILES is to be cleaned up in either case. */
bool profiles_load(struct profiles *profiles, struct error *err);
void profiles_clean_up(struct profiles *profiles);

/* For who keeps them: reads both when they were not read yet, or when one of the files is another
 * one than before, and else does nothing but look at both. What is kept has no secrets in it:
 * secret keys and session tokens are wiped, and are empty values. A failure is kept too. */
bool profiles_refresh(struct profiles *profiles, struct error *err);

bool profiles_has(const struct profiles *profiles, const char *profile);

/* Key by key, the credentials file's value over the config file's. */
bool profiles_get(const struct profiles *profiles, const char *profile, const char *key,
                  struct span *value);

/* Appends where a profile stands in one of the files: "~/.aws/config [profile x]". */
void profiles_origin(const struct profiles *profiles, enum profile_dialect dialect,
                     const char *profile, struct buf *out);

/* Appends the names of all profiles: "a, b". */
void profiles_names(const struct profiles *profiles, struct buf *out);

#endif
