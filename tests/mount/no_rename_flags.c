/* LD_PRELOAD for an import: a file system whose renames have no flags, such as exFAT or NFS. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (flags == 0)
        return renameat(from_folder, from, to_folder, to);
    errno = EINVAL;
    return -1;
}
