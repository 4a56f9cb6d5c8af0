/* ddbfs policy [--env NAME] [--tables [--allow-scan]] [--json] [MAP]: the minimal access policy of
 * a map, or of tables without a map. */
#include "core/grants.h"

#include <stdio.h>
#include <stdlib.h>

#include "fs/cli/app.h"

enum { POLICY_CHARACTERS = 6144 }; /* of an AWS managed policy, without blanks */

static void policy_command_print(struct app *app)
{
    size_t count = 0;
    struct error why;
    CLEAN_UP(buf_clean_up) struct buf text = {0}, safe = {0};
    const struct options *options = app->options;
    const struct grants_more more = {.tables = options->tables,
                                     .scan = options->allow_scan,
                                     .live = options->live,
                                     .similar = options->similar};
    if (!grants_write(app->sources, app->map, options->environment, &more, options->json, &text,
                      &why)) {
        app_report_error(app, NULL, &why);
        return;
    }
    json_add_printable(&safe, buf_span(&text));
    fwrite(safe.data, 1, safe.size, stdout);
    for (size_t i = 0; i < text.size; i++)
        count += text.data[i] != ' ' && text.data[i] != '\n';
    if (count > POLICY_CHARACTERS)
        log_line(&app->log, LOG_LEVEL_WARNING,
                 "the policy has %zu characters, and a managed policy may have %d; make one for "
                 "each environment: --env",
                 count, POLICY_CHARACTERS);
}

int policy_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    struct app app;
    if (argc > 1)
        return app_usage("policy takes one map", "policy");
    if (options->allow_scan && !options->tables)
        return app_usage("the paths of a map never scan; --allow-scan needs --tables", "policy");
    if (argc == 1)
        buf_add_text(&map, argv[0]);
    bool ok = argc == 1 ? app_init(&app, options, buf_text(&map), COMMAND_CACHE_BYTES)
                        : app_init_any(&app, options, COMMAND_CACHE_BYTES);
    if (ok)
        policy_command_print(&app);
    else
        app.status = EXIT_FAILURE;
    app_clean_up(&app);
    return app.status;
}
