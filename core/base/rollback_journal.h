/* The rollback journal beside an SQLite database, read without SQLite: a journal can name any file
 * of the user as its super-journal, which SQLite removes after a rollback. */
#ifndef DDBFS_CORE_BASE_ROLLBACK_JOURNAL_H
#define DDBFS_CORE_BASE_ROLLBACK_JOURNAL_H

#include <stdint.h>

#include "core/base/error.h"
#include "core/base/span.h"

enum { ROLLBACK_JOURNAL_HEAD = 28, ROLLBACK_JOURNAL_END = 8 };

struct rollback_journal {
    bool is_hot;               /* SQLite applies it, unless its writer is at work */
    bool is_valid;             /* it has SQLite's header */
    bool names_another;        /* it ends as one with the name of a super-journal does */
    uint32_t pages, page_size; /* of the database before the change; 0 if it is not valid */
    uint64_t least_size;       /* bytes of the header and of the pages that it counts */
};

/* HEAD and END are the first and the last bytes of a journal; of a shorter one, all of it. */
struct rollback_journal rollback_journal_parse(struct span head, struct span end);

/* Whether JOURNAL belongs to the owner of the database FILE, to the caller or to root. In a folder
 * of several users, as /tmp, another user could overwrite FILE by a journal. */
bool rollback_journal_is_trusted(const char *journal, const char *file);

/* Whether SQLite may apply the file JOURNAL, which may be missing, to the database FILE with pages
 * of PAGE_SIZE bytes. False with ERR filled: it is a link or no regular file, not trusted, it names
 * a super-journal, it is of another database, or it is cut short. */
bool rollback_journal_check(const char *journal, const char *file, uint32_t page_size,
                            struct error *err);

#endif
