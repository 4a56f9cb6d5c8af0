/* Snapshots as sources of lives: the tables at the begin of the life, imported by the program
 * itself. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

int ddbfs_main(int argc, char **argv);

enum { SNAPSHOT_MOST_WORDS = 16 };

static void snapshot_write_file(const char *path, const struct sim_text *text)
{
    FILE *file = fopen(path, "w");
    if (!file || fwrite(text->bytes, 1, text->size, file) != text->size || fclose(file) != 0)
        sim_broken("%s can't be written", path);
}

/* The description, as `aws dynamodb describe-table` prints it. */
static void snapshot_write_description(const struct sim_table *table, const char *path)
{
    struct sim_dice dice = sim_dice_for("snapshot", 0);
    struct sim_mood mood = {.dice = &dice};
    struct sim_outcome outcome;
    struct sim_text request = {0};
    struct sim_json parsed;
    sim_text_puts(&request, "{\"TableName\":");
    sim_text_json_string(&request, table->name, strlen(table->name));
    sim_text_puts(&request, "}");
    if (!sim_json_parse(&parsed, request.bytes, request.size) ||
        !sim_tables_answer("DescribeTable", &parsed, &mood, &outcome) || outcome.code)
        sim_broken("no description of %s", table->name);
    snapshot_write_file(path, &outcome.body);
    sim_outcome_clean_up(&outcome);
    sim_json_free(&parsed);
    sim_text_free(&request);
}

/* One typed item a line; a table without items is an empty result. */
static void snapshot_write_items(const struct sim_table *table, const char *path)
{
    struct sim_text lines = {0};
    sim_text_puts(&lines, "");
    for (const struct sim_item *item = table->first; item; item = item->next) {
        const struct sim_version *version = sim_version_at(item, -1, sim_now_ms());
        if (!version || version->is_deleted)
            continue;
        sim_text_puts(&lines, "{\"Item\":");
        sim_tables_write_item(&lines, version);
        sim_text_puts(&lines, "}\n");
    }
    if (lines.size == 0)
        sim_text_puts(&lines, "{\"Items\":[],\"Count\":0}\n");
    snapshot_write_file(path, &lines);
    sim_text_free(&lines);
}

/* Runs a command of the program in a process of its own. */
static void snapshot_run(char **words, int count)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        _exit(ddbfs_main(count, words));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        sim_broken("no process for an import");
    if (status != 0)
        sim_defect("snapshot", "ddbfs import failed: wait status %d", status);
}

static void snapshot_import(const char *scratch, const struct sim_table *table, bool is_first)
{
    char *describe = sim_printf("%s/describe.json", scratch);
    char *items = sim_printf("%s/items.jsonl", scratch);
    char *file = sim_printf("%s/snapshot.ddb", scratch);
    const char *words[SNAPSHOT_MOST_WORDS] = {"ddbfs", "import", "--describe", describe};
    int count = 4;
    snapshot_write_description(table, describe);
    snapshot_write_items(table, items);
    words[count++] = "--at";
    words[count++] = "2025-12-31T00:00:00Z";
    if (!is_first) {
        words[count++] = "--onto";
        words[count++] = file;
    }
    words[count++] = items;
    if (is_first)
        words[count++] = file;
    words[count] = NULL;
    snapshot_run((char **)(void *)words, count);
    sim_free(describe);
    sim_free(items);
    sim_free(file);
}

void sim_life_prepare(const char *scratch)
{
    const struct sim_table *table = sim_history_tables();
    if (!sim_life_options()->is_snapshot)
        return;
    for (bool is_first = true; table; table = table->next, is_first = false)
        snapshot_import(scratch, table, is_first);
}
