/* ddbfs skill [MAP]: a SKILL.md of a map, for an agent. */
#include "core/describe/skill.h"

#include <stdio.h>
#include <stdlib.h>

#include "fs/cli/app.h"

int skill_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error why;
    struct app app;
    if (argc > 1)
        return app_usage("skill takes one map", "skill");
    bool ok = argc == 1 ? app_init(&app, options, argv[0], COMMAND_CACHE_BYTES)
                        : app_init_any(&app, options, COMMAND_CACHE_BYTES);
    bool written = ok && skill_write(app.map, &app.tree.names, &text);
    error_no_memory(&why);
    if (written)
        fwrite(text.data, 1, text.size, stdout);
    else if (ok)
        app_report_error(&app, NULL, &why);
    else
        app.status = EXIT_FAILURE;
    app_clean_up(&app);
    return app.status;
}
