/* Reading both profile files, again when they change, and asking them together. */
#include "core/aws/profiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/aws/stored.h"
#include "core/base/clock.h"
#include "core/base/printable.h"

/* A file's times may be this coarse. */
enum { FRESH_S = 2 };

/* Which file it was. */

/* STAT is NULL for a file that is not there. One that was changed within the last moments, or, by
 * another machine's clock, in the future, may be changed again, and look the same afterwards. */
static struct profiles_stamp profiles_stamp_of(const struct stat *stat)
{
    struct clock *clock = clock_system();
    if (!stat)
        return (struct profiles_stamp){0};
    return (struct profiles_stamp){
        .device = stat->st_dev,
        .inode = stat->st_ino,
        .size = stat->st_size,
        .modified = stat->st_mtim,
        .changed = stat->st_ctim,
        .is_fresh = stat->st_ctim.tv_sec >= clock->wall_ms(clock) / 1000 - FRESH_S,
    };
}

static bool profiles_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool profiles_has_changed(const struct profiles_stamp *then, const char *path)
{
    struct stat stat_now;
    struct profiles_stamp now = profiles_stamp_of(stat(path, &stat_now) == 0 ? &stat_now : NULL);
    return then->is_fresh || now.device != then->device || now.inode != then->inode ||
           now.size != then->size || !profiles_same_time(now.modified, then->modified) ||
           !profiles_same_time(now.changed, then->changed);
}

/* Reading. */

static void profiles_close_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static bool profiles_fail_open(const char *path, struct error *err)
{
    bool no_descriptors = errno == EMFILE || errno == ENFILE;
    return error_set(err, no_descriptors ? ERROR_NO_DESCRIPTORS : ERROR_DENIED,
                     "cannot read %s: %s; ddbfs runs as user %u, who must be able to", path,
                     strerror(errno), (unsigned)geteuid());
}

/* What the AWS CLI goes on without: the file, or the way to it, is closed to this user. */
static bool profiles_is_closed(int code)
{
    return code == EACCES || code == EPERM || code == ELOOP || code == ENAMETOOLONG;
}

/* A pipe or a terminal would keep the loop waiting for whoever writes there. */
static bool profiles_read_file(struct profiles *profiles, enum profile_dialect dialect,
                               struct error *err)
{
    bool is_config = dialect == PROFILE_CONFIG;
    const char *path = is_config ? profiles->config_path : profiles->credentials_path;
    struct profile_file *file = is_config ? &profiles->config : &profiles->credentials;
    struct profiles_stamp *stamp =
        is_config ? &profiles->config_stamp : &profiles->credentials_stamp;
    CLEAN_UP(profiles_close_fd)
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat stat_now;
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (fd < 0 && profiles_is_closed(errno)) {
        profiles_fail_open(path, &profiles->unreadable);
        if (stat(path, &stat_now) == 0)
            *stamp = profiles_stamp_of(&stat_now);
        return true;
    }
    if (fd < 0 || fstat(fd, &stat_now) != 0)
        return profiles_fail_open(path, err);
    *stamp = profiles_stamp_of(&stat_now);
    if (!S_ISREG(stat_now.st_mode)) {
        file->instead = S_ISDIR(stat_now.st_mode) ? "a directory" : "no regular file";
        return true;
    }
    return profile_parse_fd(file, dialect, fd, path, err);
}

/* As in the AWS CLI, a variable that is empty names no file. NULL when memory ran out. */
static char *profiles_find_path(const char *variable, const char *fallback)
{
    const char *value = getenv(variable);
    return stored_path(value ? value : fallback);
}

bool profiles_load(struct profiles *profiles, struct error *err)
{
    *profiles = (struct profiles){
        .config_path = profiles_find_path("AWS_CONFIG_FILE", "~/.aws/config"),
        .credentials_path = profiles_find_path("AWS_SHARED_CREDENTIALS_FILE", "~/.aws/credentials"),
    };
    if (!profiles->config_path || !profiles->credentials_path)
        return error_no_memory(err);
    return profiles_read_file(profiles, PROFILE_CONFIG, err) &&
           profiles_read_file(profiles, PROFILE_CREDENTIALS, err);
}

void profiles_clean_up(struct profiles *profiles)
{
    profile_clean_up(&profiles->config);
    profile_clean_up(&profiles->credentials);
    free(profiles->config_path);
    free(profiles->credentials_path);
    *profiles = (struct profiles){0};
}

bool profiles_refresh(struct profiles *profiles, struct error *err)
{
    bool first = !profiles->config_path || !profiles->credentials_path;
    if (first || profiles_has_changed(&profiles->config_stamp, profiles->config_path) ||
        profiles_has_changed(&profiles->credentials_stamp, profiles->credentials_path)) {
        struct error why = {0};
        unsigned reads = profiles->reads + 1;
        profiles_clean_up(profiles);
        if (!profiles_load(profiles, &why)) {
            profile_clean_up(&profiles->config);
            profile_clean_up(&profiles->credentials);
            profiles->failed = why;
        }
        profile_wipe_secrets(&profiles->config);
        profile_wipe_secrets(&profiles->credentials);
        profiles->reads = reads;
    }
    if (err && profiles->failed.kind != ERROR_NONE)
        *err = profiles->failed;
    return profiles->failed.kind == ERROR_NONE;
}

/* Questions. */

bool profiles_has(const struct profiles *profiles, const char *profile)
{
    return profile_has(&profiles->config, profile) || profile_has(&profiles->credentials, profile);
}

bool profiles_get(const struct profiles *profiles, const char *profile, const char *key,
                  struct span *value)
{
    return profile_get(&profiles->credentials, profile, key, value) ||
           profile_get(&profiles->config, profile, key, value);
}

void profiles_origin(const struct profiles *profiles, enum profile_dialect dialect,
                     const char *profile, struct buf *out)
{
    bool is_config = dialect == PROFILE_CONFIG;
    struct span path = span_text(is_config ? profiles->config_path : profiles->credentials_path);
    struct span home = span_text(stored_home());
    if (home.size > 1 && span_starts(path, home) && path.size > home.size &&
        path.data[home.size] == '/') {
        buf_add_char(out, '~');
        path = span_from(path, home.size);
    }
    printable_add(out, path, "");
    buf_add_text(out, " [");
    printable_add(
        out, profile_header(is_config ? &profiles->config : &profiles->credentials, profile), "");
    buf_add_char(out, ']');
}

void profiles_origin_of_key(const struct profiles *profiles, const char *profile, const char *key,
                            struct buf *out)
{
    struct span value;
    bool in_credentials = profile_get(&profiles->credentials, profile, key, &value);
    profiles_origin(profiles, in_credentials ? PROFILE_CREDENTIALS : PROFILE_CONFIG, profile, out);
}

static void profiles_add_names(const struct profile_file *file, const struct profile_file *but,
                               struct buf *out)
{
    struct span name;
    for (size_t at = 0; profile_next_name(file, &at, &name);) {
        CLEAN_UP(buf_clean_up) struct buf text = {0};
        buf_add_span(&text, name);
        if (but && profile_has(but, buf_text(&text)))
            continue;
        if (out->size > 0)
            buf_add_text(out, ", ");
        buf_add_span(out, name);
    }
}

void profiles_names(const struct profiles *profiles, struct buf *out)
{
    profiles_add_names(&profiles->config, NULL, out);
    profiles_add_names(&profiles->credentials, &profiles->config, out);
}
