/* ddbfs skill [MAP]: a SKILL.md of a map, for an agent. */
#include "core/describe/skill.h"

#include <stdio.h>
#include <stdlib.h>

#include "fs/cli/app.h"

static void skill_command_print(struct app *app)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct error why;
    if (skill_write(app->map, &app->tree.names, &text)) {
        fwrite(text.data, 1, text.size, stdout);
        return;
    }
    error_no_memory(&why);
    app_report_error(app, NULL, &why);
}

int skill_command(const struct options *options, int argc, char **argv)
{
    struct app app;
    if (argc > 1)
        return app_usage("skill takes one map", "skill");
    bool ok = argc == 1 ? app_init(&app, options, argv[0], COMMAND_CACHE_BYTES)
                        : app_init_any(&app, options, COMMAND_CACHE_BYTES);
    if (ok)
        skill_command_print(&app);
    else
        app.status = EXIT_FAILURE;
    app_clean_up(&app);
    return app.status;
}
