#include "core/import/new_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/ascii.h"

/* The end of a hidden name; mkostemp replaces the letters X. */
static const char new_file_ending[] = ".import-XXXXXX";
enum { NEW_FILE_ENDING = sizeof new_file_ending - 1, NEW_FILE_RANDOM = 6, NEW_FILE_TRIES = 100 };

/* The size of FILE's folder, with a slash at its end; 0: the current one. */
static int new_file_folder_size(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? (int)(slash - file) + 1 : 0;
}

bool new_file_refuse(const char *file, struct error *err)
{
    int number = errno;
    enum error_kind kind = number == ENOSPC || number == EDQUOT  ? ERROR_NO_SPACE
                           : number == EACCES || number == EROFS ? ERROR_DENIED
                                                                 : ERROR_INVALID;
    return error_set(err, kind, "%s can't be written: %s", file, strerror(number));
}

/* Locks the file without a wait. The lock belongs to the open file: SQLite's locks, and its closing
 * of other descriptors, do not touch it. SQLite never locks the first byte. */
static bool new_file_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 0, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* Files that killed processes left. */

static bool new_file_has_name(const char *name)
{
    size_t size = strlen(name), fixed = NEW_FILE_ENDING - NEW_FILE_RANDOM;
    if (name[0] != '.' || size <= NEW_FILE_ENDING ||
        memcmp(name + size - NEW_FILE_ENDING, new_file_ending, fixed) != 0)
        return false;
    for (size_t i = size - NEW_FILE_RANDOM; i < size; i++)
        if (!ascii_is_letter(name[i]) && !ascii_is_digit(name[i]))
            return false;
    return true;
}

/* An empty file, the beginning of a database, or one whose first page was not written yet. */
static bool new_file_has_content(int fd)
{
    static const char zeros[16], magic[16] = "SQLite format 3";
    char head[sizeof magic];
    ssize_t size = pread(fd, head, sizeof head, 0);
    return size == 0 || (size == (ssize_t)sizeof head && (memcmp(head, magic, sizeof head) == 0 ||
                                                          memcmp(head, zeros, sizeof head) == 0));
}

/* The lock is taken first, so that no other process has it between the check and the removal. */
static void new_file_remove_left(int folder, const char *name)
{
    struct stat opened, named;
    int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return;
    if (fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() &&
        opened.st_nlink == 1 && new_file_lock(fd) && new_file_has_content(fd) &&
        fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == opened.st_ino &&
        named.st_dev == opened.st_dev)
        unlinkat(folder, name, 0);
    close(fd);
}

/* A folder that cannot be listed keeps them. */
static void new_file_remove_all_left(const char *target)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    buf_printf(&path, "%.*s.", new_file_folder_size(target), target);
    DIR *folder = path.failed ? NULL : opendir(buf_text(&path));
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL)
        if (new_file_has_name(entry->d_name))
            new_file_remove_left(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
}

/* The file. */

/* Between its creation and the lock, another process may take the file for one that was left, and
 * remove it: then the file is locked by that process, or has no name any more. */
static bool new_file_try(struct new_file *file, bool *again, struct error *err)
{
    const char *target = file->target;
    int folder = new_file_folder_size(target);
    struct stat status;
    *again = false;
    if (asprintf(&file->name, "%.*s.%s%s", folder, target, target + folder, new_file_ending) < 0) {
        file->name = NULL;
        return error_no_memory(err);
    }
    file->fd = mkostemp(file->name, O_CLOEXEC);
    if (file->fd < 0) {
        new_file_refuse(target, err);
        free(file->name);
        file->name = NULL;
        return false;
    }
    bool locked = new_file_lock(file->fd);
    *again = (!locked && (errno == EAGAIN || errno == EACCES)) ||
             (fstat(file->fd, &status) == 0 && status.st_nlink == 0);
    if (!*again)
        return true; /* locked, or on a file system without locks, where no other process has one */
    close(file->fd);
    free(file->name);
    file->name = NULL;
    file->fd = -1;
    return false;
}

bool new_file_create(struct new_file *file, const char *target, struct error *err)
{
    bool again = true;
    *file = (struct new_file){.target = strdup(target), .fd = -1};
    if (!file->target)
        return error_no_memory(err);
    new_file_remove_all_left(target);
    for (int i = 0; i < NEW_FILE_TRIES && again; i++)
        if (new_file_try(file, &again, err))
            return true;
    return !again ? false
                  : error_set(err, ERROR_INVALID,
                              "%s can't be written: another program removes each temporary file; "
                              "use another folder",
                              target);
}

void new_file_clean_up(struct new_file *file)
{
    if (file->name)
        unlink(file->name);
    if (file->target && file->fd >= 0)
        close(file->fd);
    free(file->name);
    free(file->target);
    *file = (struct new_file){.fd = -1};
}

/* For a file system without RENAME_NOREPLACE: an empty file reserves the name. */
static bool new_file_rename_reserved(const char *from, const char *to)
{
    int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0)
        return false;
    close(fd);
    if (rename(from, to) == 0)
        return true;
    int number = errno;
    unlink(to);
    errno = number;
    return false;
}

static bool new_file_rename(const char *from, const char *to, bool replaces)
{
    if (replaces)
        return rename(from, to) == 0;
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0 ||
           ((errno == EINVAL || errno == ENOSYS) && new_file_rename_reserved(from, to));
}

/* Writes the entries of FOLDER to the disk. */
static bool new_file_sync_folder(const char *folder, struct error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && fsync(fd) == 0;
    if (!ok)
        new_file_refuse(folder, err);
    if (fd >= 0)
        close(fd);
    return ok;
}

bool new_file_publish(struct new_file *file, bool replaces, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf folder = {0};
    const char *target = file->target;
    buf_printf(&folder, "%.*s.", new_file_folder_size(target), target);
    if (folder.failed)
        return error_no_memory(err);
    if (fsync(file->fd) != 0)
        return new_file_refuse(target, err);
    if (!new_file_rename(file->name, target, replaces))
        return errno == EEXIST && !replaces
                   ? error_set(
                         err, ERROR_INVALID,
                         "%s was made by another program meanwhile, and was not changed; name "
                         "another file, or replace it: --yes",
                         target)
                   : new_file_refuse(target, err);
    free(file->name);
    file->name = NULL;
    return new_file_sync_folder(buf_text(&folder), err);
}
