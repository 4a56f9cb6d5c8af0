/* ddbfs mount in a build without libfuse (-Dmount=disabled). */
#include <stdio.h>
#include <stdlib.h>

#include "fs/cli/app.h"

const bool mount_is_built = false;

int mount_command(const struct options *options, int argc, char **argv)
{
    (void)options;
    (void)argc;
    (void)argv;
    fprintf(stderr, "ddbfs: this ddbfs was built without the mount; cat, ls and explain read "
                    "the same paths\n");
    return EXIT_FAILURE;
}
