#include "core/base/database_files.h"

#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/rollback_journal.h"

/* Copies of SQLite's own file system, with other functions to open and to remove. */
static sqlite3_vfs files_read, files_written;
static sqlite3_vfs *files_base; /* SQLite's own; set under the lock */
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

static int database_files_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                               int *out_flags)
{
    struct stat status;
    bool is_denied = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_SUPER_JOURNAL)) ||
                     (vfs == &files_read && !(flags & SQLITE_OPEN_READONLY));
    file->pMethods = NULL;
    if (is_denied || (name && stat(name, &status) == 0 && !S_ISREG(status.st_mode)))
        return SQLITE_CANTOPEN;
    int code = files_base->xOpen(vfs, name, file, flags, out_flags);
    /* A journal may appear while the database is open, as that of a recording is for days. */
    if (code == SQLITE_OK && vfs == &files_written && (flags & SQLITE_OPEN_MAIN_JOURNAL) &&
        !rollback_journal_is_trusted(name, sqlite3_filename_database(name))) {
        file->pMethods->xClose(file);
        file->pMethods = NULL;
        return SQLITE_CANTOPEN;
    }
    return code;
}

static int database_files_remove(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs, (void)name, (void)sync_folder;
    return SQLITE_IOERR_DELETE;
}

/* Of root, SQLite gives each journal that it opens to the owner of the database; one that it does
 * not create, to root. */
static int database_files_chown(int fd, uid_t owner, gid_t group)
{
    return owner == 0 && group == 0 ? 0 : fchown(fd, owner, group);
}

/* Under the lock. */
static bool database_files_register(void)
{
    sqlite3_vfs *base = sqlite3_vfs_find(NULL);
    if (!base)
        return false;
    files_read = files_written = *base;
    files_read.zName = "ddbfs-read";
    files_read.xDelete = database_files_remove;
    files_written.zName = "ddbfs-written";
    files_read.xOpen = files_written.xOpen = database_files_open;
    if (base->xSetSystemCall(base, "fchown", (sqlite3_syscall_ptr)database_files_chown) !=
            SQLITE_OK ||
        sqlite3_vfs_register(&files_read, 0) != SQLITE_OK ||
        sqlite3_vfs_register(&files_written, 0) != SQLITE_OK)
        return false;
    files_base = base;
    return true;
}

const char *database_files(bool may_write)
{
    pthread_mutex_lock(&files_lock);
    bool ok = files_base || database_files_register();
    pthread_mutex_unlock(&files_lock);
    return !ok ? NULL : may_write ? files_written.zName : files_read.zName;
}
