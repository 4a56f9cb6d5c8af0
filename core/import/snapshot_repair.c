#include "core/import/snapshot_repair.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/snapshot/schema.h"

bool snapshot_repair(const char *file, bool *repaired, struct error *err)
{
    struct stat status;
    struct error why = {0};
    *repaired = false;
    if (lstat(file, &status) != 0)
        return error_set(err, ERROR_INVALID, "%s cannot be opened: %s; name the snapshot to repair",
                         file, strerror(errno));
    if (!S_ISREG(status.st_mode) || status.st_nlink > 1)
        return error_set(err, ERROR_INVALID,
                         "%s was not repaired: it is a link, or no regular file; name the snapshot "
                         "itself, or copy it and its journal",
                         file);
    if (!schema_is_in_header(file))
        return error_set(err, ERROR_INVALID,
                         "%s was not repaired: it is no snapshot of ddbfs; repair it with the "
                         "program that made it",
                         file);
    if (database_repair(file, repaired, &why))
        return true;
    if (why.kind == ERROR_DENIED)
        error_add(&why,
                  "; copy it and %s-journal to a folder that can be written, and repair the "
                  "copy",
                  file);
    if (err)
        *err = why;
    return false;
}
