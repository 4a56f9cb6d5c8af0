/* The command line: which command, with which options. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/app.h"

static const struct command {
    const char *name;
    const char *arguments;
    const char *help;
    command_fn *run;
} commands[] = {
    {"cat", "PATH…", "print files", cat_command},
    {"ls", "[-l] [--json] [PATH…]", "list directories", ls_command},
    {"explain", "[--json] PATH…", "what a path reads, its cost, the equal aws command",
     explain_command},
    {"check", "[--offline] [MAP]", "prove a map against the live tables", check_command},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void)
{
    printf("usage: ddbfs [OPTION…] COMMAND [ARGUMENT…]\n\n"
           "Reads DynamoDB by paths: ddbfs cat /prod/jobs/by-id/1f3c…\n\ncommands\n");
    for (size_t i = 0; i < COMMANDS; i++)
        printf("  %-8s %-22s %s\n", commands[i].name, commands[i].arguments, commands[i].help);
    printf("\noptions\n");
    options_print_help(stdout);
    printf("\nexit status: 0, 1 when something could not be answered, 2 for wrong usage\n");
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int usage(const char *what, const char *word)
{
    fprintf(stderr, "ddbfs: %s%s; see ddbfs --help\n", what, word);
    return EXIT_USAGE;
}

/* True when --help or --version has been answered. */
static bool answered(const struct options *options)
{
    if (options->help)
        print_help();
    else if (options->version)
        printf("ddbfs %s\n", DDBFS_VERSION);
    return options->help || options->version;
}

static int run_command(struct options *options, int argc, char **argv, int at)
{
    if (at == argc)
        return usage("no command", "");
    const struct command *command = find_command(argv[at]);
    if (!command)
        return usage("no such command: ", argv[at]);
    at++;
    if (!options_parse(options, command->name, argc, argv, &at))
        return EXIT_USAGE;
    if (answered(options))
        return EXIT_SUCCESS;
    return command->run(options, argc - at, argv + at);
}

static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

/* A reader that has gone away (`| head`) has what it wanted; else all that was printed must be
 * where it belongs. */
static int deliver(int status)
{
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    if (written || reader_is_gone())
        return status;
    fprintf(stderr, "ddbfs: standard output: not all could be written; is the disk full?\n");
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct options options;
    int at = 1;
    signal(SIGPIPE, SIG_IGN); /* a pipe or a connection that closes is an error to be seen */
    options_init(&options);
    if (!options_parse(&options, NULL, argc, argv, &at))
        return EXIT_USAGE;
    return deliver(answered(&options) ? EXIT_SUCCESS : run_command(&options, argc, argv, at));
}
