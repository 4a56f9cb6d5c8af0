/* The command line: which command, with which options. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/nearest.h"
#include "fs/cli/command.h"
#include "fs/cli/output.h"

static command_fn main_help_command;

const struct command commands[] = {
    {"mount", "[-f] [-o OPTIONS] MOUNTPOINT", "mount a map's environments as read-only files",
     "ddbfs mount --map my.map.json /mnt", mount_command, WORD_FOLDER, WORD_ANY},
    {"umount", "MOUNTPOINT", "unmount, also after the daemon died", "ddbfs umount /mnt",
     umount_command, WORD_FOLDER, WORD_ANY},
    {"cat", "[OPTION…] PATH…", "print files",
     "ddbfs cat /prod/shops/cool-store.myshopify.com/SETTINGS", cat_command, WORD_PATH, WORD_PATH},
    {"ls", "[-l] [OPTION…] [PATH…]", "list directories",
     "ddbfs ls -l /prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4/latest", ls_command,
     WORD_PATH, WORD_PATH},
    {"diff", "[--ignore NAME]… [--json] [--together] A B",
     "compare two items, directories, tables or environments",
     "ddbfs diff /prod/shops/a.myshopify.com /staging/shops/a.myshopify.com", diff_command,
     WORD_PATH, WORD_PATH},
    {"explain", "[--json] [--together] PATH…",
     "print the requests of a path, their cost and an aws command",
     "ddbfs explain /prod/jobs/by-id/1f3c9a52-7b1e-4c57-9d0a-2e6f4b8c1d90", explain_command,
     WORD_PATH, WORD_PATH},
    {"sql", "[--explain] [--csv|--json] [OPTION…] [STATEMENT|-]",
     "run a SELECT, which reads tables by their keys; alone, a prompt",
     "ddbfs sql \"select status from prod.jobs where job_id = '1f3c…'\"", sql_command, WORD_ANY,
     WORD_ANY},
    {"tail", "[--json] [--since TIME] [OPTION…] PATH…", "print the changes of items as they happen",
     "ddbfs tail /prod/jobs/by-index/shopify/kl7a9h55-shopify-e513a8-4", tail_command, WORD_PATH,
     WORD_PATH},
    {"refresh", "PATH…", "drop the cached results of paths from a live mount",
     "ddbfs refresh /prod/shops", refresh_command, WORD_FILE, WORD_FILE},
    {"status", "[--json]", "list the mounts: map, start, requests and RCU of each", "ddbfs status",
     status_command, WORD_ANY, WORD_ANY},
    {"log", "[-f] [-n N] [--errors] [MOUNTPOINT]", "print the log of a mount", "ddbfs log -f /mnt",
     log_command, WORD_FOLDER, WORD_ANY},
    {"top", "[-n N] [MOUNTPOINT]", "show the RCU and requests of each program in a mount",
     "ddbfs top /mnt", top_command, WORD_FOLDER, WORD_ANY},
    {"check", "[OPTION…] [MAP [PATH…] | FILE.ddb]",
     "check a map against tables and items, or a snapshot",
     "ddbfs check my.map.json /prod/shops/cool-store.myshopify.com", check_command, WORD_FILE,
     WORD_PATH},
    {"map", "[--from FILE|--sample PATH|N] [TABLE…]",
     "print a first map of tables, with the formats of their keys",
     "ddbfs map --sample /tables/Orders/items/USER#123/ Orders", map_command, WORD_ANY, WORD_ANY},
    {"import", "[OPTION…] SOURCE… FILE.ddb",
     "make a snapshot of a table from an export or from items",
     "ddbfs import ./export --describe orders.json orders.ddb", import_command, WORD_FILE,
     WORD_FILE},
    {"init", "[--yes] [--from FILE] TABLE…", "write a first map of tables to the default location",
     "ddbfs init 'prod-*'", init_command, WORD_ANY, WORD_ANY},
    {"policy", "[--env NAME] [OPTION…] [MAP]", "print the IAM policy that a map needs",
     "ddbfs policy --env prod my.map.json", policy_command, WORD_FILE, WORD_ANY},
    {"config", "[--env NAME] [OPTION…] [MAP]", "show the effective settings and the origin of each",
     "ddbfs config --env prod", config_command, WORD_FILE, WORD_ANY},
    {"completion", "bash|zsh|fish", "print the completion script of a shell",
     "source <(ddbfs completion bash)", completion_command, WORD_SHELL, WORD_ANY},
    {"skill", "[MAP]", "print a SKILL.md for an agent: paths, examples, costs and errors",
     "ddbfs skill > ~/skills/ddbfs/SKILL.md", skill_command, WORD_FILE, WORD_ANY},
    {"help", "[COMMAND]", "print the usage of a command", "ddbfs help ls", main_help_command,
     WORD_COMMAND, WORD_ANY},
    {.name = NULL},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] - 1 };

bool command_is_offered(const struct command *command)
{
    return mount_is_built || (command->run != mount_command && command->run != umount_command);
}

static const char exit_statuses[] =
    "exit status: 0 success, 1 an error or incomplete results, 2 wrong usage,\n"
    "3 not found, and no other error\n";

/* Those of diff(1). */
static const char diff_exit_statuses[] =
    "exit status: 0 no differences, 1 differences, 2 an incomplete comparison or\nwrong usage\n";

static void main_print_help(void)
{
    enum { INDENT = 15 };
    printf("usage: ddbfs [OPTION…] COMMAND [ARGUMENT…]\n\n"
           "Reads DynamoDB by paths: ddbfs cat /prod/jobs/by-id/1f3c…\n\n"
           "commands (ddbfs help COMMAND prints the options of one)\n");
    for (size_t i = 0; i < COMMANDS; i++)
        if (command_is_offered(&commands[i]))
            options_print_row(stdout, INDENT, commands[i].name, commands[i].help);
    options_print_help(stdout, NULL, mount_is_built ? NULL : "mount");
    printf("\n%s", exit_statuses);
}

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int main_no_such_command(const char *word)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    struct nearest nearest = nearest_to(span_text(word));
    for (size_t i = 0; i < COMMANDS; i++)
        if (command_is_offered(&commands[i]))
            nearest_offer(&nearest, span_text(commands[i].name));
    buf_printf(&text, "no such command: %s", word);
    nearest_write(&nearest, &text);
    return app_usage(buf_text(&text), NULL);
}

static int main_help_command(const struct options *options, int argc, char **argv)
{
    (void)options;
    if (argc > 1)
        return app_usage("help takes one command", NULL);
    const struct command *command = argc == 1 ? command_find(argv[0]) : NULL;
    if (argc == 1 && !command)
        return main_no_such_command(argv[0]);
    if (!command) {
        main_print_help();
        return EXIT_SUCCESS;
    }
    printf("usage: ddbfs %s %s\n\n%s; for example:\n\n  %s\n", command->name, command->arguments,
           command->help, command->example);
    options_print_help(stdout, command->name, NULL);
    printf("\n%s", command->run == diff_command ? diff_exit_statuses : exit_statuses);
    return EXIT_SUCCESS;
}

static int main_run_command(const struct options *options, int count, char **words)
{
    if (options->version) {
        printf("ddbfs %s\n", DDBFS_VERSION);
        return EXIT_SUCCESS;
    }
    if (options->help)
        return main_help_command(options, count > 0, words);
    if (count == 0)
        return app_usage("no command", NULL);
    const struct command *command = command_find(words[0]);
    if (!command || command->run != mount_command) /* whose process ends before its daemon */
        output_begin();
    return command ? command->run(options, count - 1, words + 1) : main_no_such_command(words[0]);
}

/* A pipe that its reader closed (`| head`) is no error. */
static int main_flush(int status)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    output_end();
    if (written || (poll(&out, 1, 0) == 1 && (out.revents & POLLERR)))
        return status;
    fprintf(stderr, "ddbfs: standard output: not all could be written; is the disk full?\n");
    return status == EXIT_USAGE ? status : EXIT_FAILURE;
}

/* mount(8) runs mount.fuse.ddbfs SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS]. A SOURCE without a slash
 * means the default map. */
static int main_run_as_helper(struct options *options, int argc, char **argv)
{
    int option;
    if (argc < 3)
        return app_usage("as a helper of mount: SOURCE MOUNTPOINT [-o OPTIONS]", NULL);
    if (strchr(argv[1], '/'))
        options->map = argv[1];
    optind = 3;
    while ((option = getopt(argc, argv, "sfnvo:t:")) != -1)
        if (option == 'o' && !options_add_mount(options, optarg))
            return app_usage("too many -o", NULL);
    return mount_command(options, 1, argv + 2);
}

int main(int argc, char **argv)
{
    struct options options;
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none); /* a core file would contain credentials */
    /* A file that is opened later must not become standard input, output or error. Each stream that
     * the caller closed is opened in the wrong direction, so that its use remains an error. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(EXIT_FAILURE);
    signal(SIGPIPE, SIG_IGN);
    options_init(&options);
    const char *slash = strrchr(argv[0], '/');
    if (strncmp(slash ? slash + 1 : argv[0], "mount.", 6) == 0)
        return main_run_as_helper(&options, argc, argv);
    int count = options_parse(&options, argc, argv);
    if (count < 0)
        return EXIT_USAGE;
    return main_flush(main_run_command(&options, count, argv));
}
