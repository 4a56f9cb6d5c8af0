#include "core/base/rollback_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char journal_magic[] = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
enum {
    JOURNAL_MAGIC = 8,
    JOURNAL_RECORDS_AT = 8,
    JOURNAL_PAGES_AT = 16,
    JOURNAL_SECTOR_AT = 20, /* the size of the header */
    JOURNAL_PAGE_SIZE_AT = 24,
    JOURNAL_RECORD_REST = 8, /* the number and the checksum of a page */
};

static uint32_t rollback_journal_number(struct span bytes, size_t at)
{
    const unsigned char *from = (const unsigned char *)bytes.data + at;
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* SQLite finds a super-journal by the last bytes, also if the header is not valid. */
struct rollback_journal rollback_journal_parse(struct span head, struct span end)
{
    struct span magic = span_of(journal_magic, JOURNAL_MAGIC);
    struct rollback_journal out = {
        .is_hot = head.size > 0 && head.data[0] != '\0',
        .is_valid = head.size >= ROLLBACK_JOURNAL_HEAD && span_starts(head, magic),
        .names_another = span_ends(end, magic),
    };
    if (out.is_valid) {
        out.pages = rollback_journal_number(head, JOURNAL_PAGES_AT);
        out.page_size = rollback_journal_number(head, JOURNAL_PAGE_SIZE_AT);
        uint32_t records = rollback_journal_number(head, JOURNAL_RECORDS_AT);
        out.least_size = rollback_journal_number(head, JOURNAL_SECTOR_AT);
        if (records != UINT32_MAX) /* that is a writer that does not state it */
            out.least_size += (uint64_t)records * ((uint64_t)out.page_size + JOURNAL_RECORD_REST);
    }
    return out;
}

static bool rollback_journal_refuse(const char *journal, const char *why, struct error *err)
{
    return error_set(
        err, ERROR_BAD_ANSWER,
        "%s was not applied: %s, so ddbfs did not write it; import the items again, or "
        "restore a copy of the snapshot",
        journal, why);
}

static bool rollback_journal_refuse_open(const char *journal, struct error *err)
{
    return error_set(err, errno == EACCES ? ERROR_DENIED : ERROR_INVALID, "%s cannot be opened: %s",
                     journal, strerror(errno));
}

/* Reads the first and the last bytes of a regular file that has one name. */
static bool rollback_journal_read(const char *journal, struct rollback_journal *out,
                                  struct error *err)
{
    char head[ROLLBACK_JOURNAL_HEAD], end[ROLLBACK_JOURNAL_END];
    struct stat status;
    int fd = open(journal, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0) {
        rollback_journal_refuse_open(journal, err);
        if (fd >= 0)
            close(fd);
        return false;
    }
    off_t last = status.st_size > ROLLBACK_JOURNAL_END ? status.st_size - ROLLBACK_JOURNAL_END : 0;
    ssize_t head_size = pread(fd, head, sizeof head, 0);
    ssize_t end_size = pread(fd, end, sizeof end, last);
    bool ok = (head_size >= 0 && end_size >= 0) || rollback_journal_refuse_open(journal, err);
    close(fd);
    if (ok)
        *out = rollback_journal_parse(span_of(head, (size_t)head_size),
                                      span_of(end, (size_t)end_size));
    return ok;
}

bool rollback_journal_is_trusted(const char *journal, const char *file)
{
    struct stat opened, database;
    return lstat(journal, &opened) == 0 && stat(file, &database) == 0 &&
           (opened.st_uid == 0 || opened.st_uid == geteuid() || opened.st_uid == database.st_uid);
}

bool rollback_journal_check(const char *journal, const char *file, uint32_t page_size,
                            struct error *err)
{
    struct rollback_journal found = {0};
    struct stat status, database;
    if (lstat(journal, &status) != 0)
        return errno == ENOENT || rollback_journal_refuse_open(journal, err);
    if (!S_ISREG(status.st_mode) || status.st_nlink > 1)
        return rollback_journal_refuse(journal, "it is a link, or no regular file", err);
    if (!rollback_journal_is_trusted(journal, file))
        return rollback_journal_refuse(journal, "it is another user's", err);
    if (!rollback_journal_read(journal, &found, err))
        return false;
    if (found.names_another)
        return rollback_journal_refuse(
            journal, "it names a super-journal, which a rollback would remove", err);
    if (!found.is_hot)
        return true;
    if (!found.is_valid)
        return rollback_journal_refuse(journal, "it has no header of SQLite", err);
    if (found.page_size != page_size || stat(file, &database) != 0 ||
        (uint64_t)found.pages * found.page_size > (uint64_t)database.st_size)
        return rollback_journal_refuse(journal, "it is of another database", err);
    return (uint64_t)status.st_size >= found.least_size ||
           error_set(err, ERROR_BAD_ANSWER,
                     "%s was not applied: it is cut short, so that the rollback would leave a part "
                     "of the change; copy it and the snapshot again, or import the items again",
                     journal);
}
