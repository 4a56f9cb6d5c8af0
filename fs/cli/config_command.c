/* ddbfs config [--env NAME] [--json] [--whoami] [MAP]: the effective settings of each environment,
 * and the origin of each. */
#include "core/configuration.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/printable.h"
#include "core/json/writer.h"
#include "fs/cli/app.h"

/* In characters: without the bytes that continue one. */
static size_t config_width(const struct buf *text)
{
    size_t width = 0;
    for (size_t i = 0; i < text->size; i++)
        width += ((unsigned char)text->data[i] & 0xC0) != 0x80;
    return width;
}

static void config_add_cell(struct buf *out, const struct buf *text, size_t width)
{
    size_t own = config_width(text);
    buf_add_span(out, buf_span(text));
    buf_add_repeated(out, ' ', own < width ? width - own : 0);
}

static void config_write_value(struct buf *out, const struct configured_environment *of,
                               unsigned which)
{
    printable_add(out, buf_span(&of->facts[which].value), "");
    if (which != CONFIGURED_EXPIRES)
        return;
    enum { DAY = 24 * 60 };
    long long minutes = of->left_ms / 60000;
    if (minutes >= 2LL * DAY)
        buf_printf(out, " (in %lld days)", minutes / DAY);
    else if (minutes >= 60)
        buf_printf(out, " (in %lld h %lld min)", minutes / 60, minutes % 60);
    else
        buf_printf(out, " (in %lld min)", minutes);
}

static void config_add_row(struct buf *out, const char *name, size_t width)
{
    CLEAN_UP(buf_clean_up) struct buf cell = {0};
    buf_add_text(&cell, name);
    buf_add_text(out, "  ");
    config_add_cell(out, &cell, width);
    buf_add_text(out, "  ");
}

static void config_write_text(const struct configured_environment *of, struct buf *out)
{
    struct buf values[CONFIGURED] = {0};
    size_t name_width = strlen(configured_name(CONFIGURED_ACCESS_KEY_ID)), value_width = 0;
    for (unsigned i = 0; i < CONFIGURED; i++) {
        if (of->facts[i].value.size == 0)
            continue;
        config_write_value(&values[i], of, i);
        size_t name = strlen(configured_name(i)), value = config_width(&values[i]);
        name_width = name > name_width ? name : name_width;
        value_width = value > value_width ? value : value_width;
    }
    if (of->environment)
        printable_add(out, buf_span(&of->name), "");
    else
        buf_add_text(out, "without a map");
    buf_add_char(out, '\n');
    for (unsigned i = 0; i < CONFIGURED; i++) {
        const struct buf *origin = &of->facts[i].origin;
        if (values[i].size > 0) {
            config_add_row(out, configured_name(i), name_width);
            config_add_cell(out, &values[i], origin->size > 0 ? value_width + 2 : 0);
            printable_add(out, buf_span(origin), "");
            buf_add_char(out, '\n');
        }
        buf_clean_up(&values[i]);
    }
    if (of->err.kind) {
        config_add_row(out, "error", name_width);
        buf_printf(out, "%s\n", of->err.text);
    }
}

static void config_write_json(const struct configured_environment *of, struct buf *out)
{
    struct json_writer json = json_writer_to(out);
    json_writer_begin_object(&json, NULL, JSON_TIGHT);
    if (of->environment)
        json_writer_add_string(&json, "environment", buf_span(&of->name));
    else
        json_writer_add_null(&json, "environment");
    for (unsigned i = 0; i < CONFIGURED; i++) {
        const struct configured_fact *fact = &of->facts[i];
        if (fact->value.size == 0)
            continue;
        json_writer_begin_object(&json, configured_name(i), JSON_TIGHT);
        json_writer_add_string(&json, "value", buf_span(&fact->value));
        if (fact->origin.size > 0)
            json_writer_add_string(&json, "origin", buf_span(&fact->origin));
        if (i == CONFIGURED_EXPIRES)
            json_writer_add_integer(&json, "left_s", of->left_ms / 1000);
        json_writer_end(&json);
    }
    if (of->err.kind)
        app_write_error(json_writer_add_value(&json, "error"), NULL, &of->err);
    json_writer_end(&json);
    buf_add_char(out, '\n');
}

static void config_print(struct app *app, const struct configuration *configuration)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0}, safe = {0};
    for (size_t i = 0; i < configuration_count(configuration); i++) {
        const struct configured_environment *each = configuration_environment(configuration, i);
        if (each->err.kind)
            app->status = EXIT_FAILURE;
        if (app->options->json)
            config_write_json(each, &text);
        else
            config_write_text(each, &text);
        if (!app->options->json && i + 1 < configuration_count(configuration))
            buf_add_char(&text, '\n');
    }
    json_add_printable(&safe, buf_span(&text));
    fwrite(safe.data, 1, safe.size, stdout);
}

static void config_stop(void *arg)
{
    struct app *app = arg;
    loop_stop(app->loop);
}

static void config_read_and_print(struct app *app)
{
    struct error why;
    const struct configuration_options options = {
        .loop = app->loop,
        .sources = app->sources,
        .map = app->map,
        .environment = app->options->environment,
        .deadline_ms = app->options->timeout_ms,
        .whoami = app->options->whoami,
    };
    struct configuration *configuration = configuration_start(&options, config_stop, app, &why);
    if (configuration) {
        loop_run(app->loop);
        config_print(app, configuration);
    } else {
        app_report_error(app, NULL, &why);
    }
    configuration_destroy(configuration);
}

/* Without a map, the settings of tables/ are printed, unless an environment was named. */
int config_command(const struct options *options, int argc, char **argv)
{
    CLEAN_UP(buf_clean_up) struct buf map = {0};
    struct app app;
    if (argc > 1)
        return app_usage("config takes one map", "config");
    if (argc == 1)
        buf_add_text(&map, argv[0]);
    bool has_map = argc == 1 || app_look_for_map(options, &map);
    if (!has_map && options->environment && !app_find_map(options, &map))
        return EXIT_FAILURE;
    if (has_map ? app_init(&app, options, buf_text(&map), COMMAND_CACHE_BYTES)
                : app_open(&app, options, COMMAND_CACHE_BYTES))
        config_read_and_print(&app);
    else
        app.status = EXIT_FAILURE;
    app_clean_up(&app);
    return app.status;
}
