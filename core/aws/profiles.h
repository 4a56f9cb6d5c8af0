/* Both profile files of this user: ~/.aws/config and ~/.aws/credentials, or where AWS_CONFIG_FILE
 * and AWS_SHARED_CREDENTIALS_FILE say. */
#ifndef DDBFS_CORE_AWS_PROFILES_H
#define DDBFS_CORE_AWS_PROFILES_H

#include <sys/types.h>
#include <time.h>

#include "core/aws/profile.h"

/* Which file was read, and in which state: whether it is to be read again. */
struct profiles_stamp {
    dev_t device;
    ino_t inode; /* 0: there was no file */
    off_t size;
    struct timespec modified, changed;
    bool is_fresh; /* it had just been written, so that it could change once more without a trace */
};

struct profiles {
    char *config_path;      /* owned */
    char *credentials_path; /* owned */
    struct profile_file config;
    struct profile_file credentials;
    struct profiles_stamp config_stamp, credentials_stamp;
    struct error unreadable; /* which of them this user may not read, and so counts as missing */
    struct error failed;     /* why they could not be read; of profiles_refresh */
    unsigned reads;          /* how often profiles_refresh has read them */
};

/* Reads both; a missing file is an empty one, and so is what is no file, or may not be read, as in
 * the AWS CLI: what comes from elsewhere does not need it. Who needs it in vain tells UNREADABLE.
 * PROFILES is to be cleaned up in either case. */
bool profiles_load(struct profiles *profiles, struct error *err);
void profiles_clean_up(struct profiles *profiles);

/* For who keeps them: reads both when they were not read yet, or when one of the files is another
 * one than before, and else does nothing but look at both. What is kept has no secrets in it:
 * secret keys and session tokens are wiped, and are empty values; of files that could not be read,
 * nothing is kept. A failure is kept too. */
bool profiles_refresh(struct profiles *profiles, struct error *err);

bool profiles_has(const struct profiles *profiles, const char *profile);

/* Key by key, the credentials file's value over the config file's. */
bool profiles_get(const struct profiles *profiles, const char *profile, const char *key,
                  struct span *value);

/* Appends where a profile stands in one of the files: "~/.aws/config [profile x]". */
void profiles_origin(const struct profiles *profiles, enum profile_dialect dialect,
                     const char *profile, struct buf *out);

/* The same for the file that has KEY: the credentials file if both have it. */
void profiles_origin_of_key(const struct profiles *profiles, const char *profile, const char *key,
                            struct buf *out);

/* Appends the names of all profiles: "a, b". */
void profiles_names(const struct profiles *profiles, struct buf *out);

#endif
