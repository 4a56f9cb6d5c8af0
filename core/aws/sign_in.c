/* Finds the installed AWS CLI; commands and advice for a sign-in. */
#include "core/aws/sign_in.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/shell.h"

/* Reads "2.36" at TEXT; false without digits. */
static bool sign_in_read_version(const char *text, struct aws_cli *out)
{
    return sscanf(text, "%3u.%4u", &out->major, &out->minor) >= 1 && out->major > 0;
}

/* The version in a path such as /usr/local/aws-cli/v2/2.36.0/dist/aws, or …/Cellar/awscli/2.15/… */
static bool sign_in_version_of_path(const char *path, struct aws_cli *out)
{
    static const char *const marks[] = {"/aws-cli/v2/", "/awscli/", "/awscli@"};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *at = strstr(path, marks[i]);
        if (at && sign_in_read_version(at + strlen(marks[i]), out))
            return true;
    }
    return false;
}

/* The version of a Python script's package, which is below the same prefix. */
static bool sign_in_version_of_package(const char *program, struct aws_cli *out)
{
    static const char *const places[] = {"lib/python3*/site-packages",
                                         "lib/python3*/dist-packages"};
    const char *slash = strrchr(program, '/');
    bool found = false;
    for (size_t i = 0; slash && !found && i < sizeof places / sizeof places[0]; i++) {
        char pattern[PATH_MAX];
        glob_t names = {0};
        snprintf(pattern, sizeof pattern, "%.*s/../%s/awscli-[0-9]*-info", (int)(slash - program),
                 program, places[i]);
        if (glob(pattern, 0, NULL, &names) == 0)
            found = sign_in_read_version(
                strstr(strrchr(names.gl_pathv[0], '/'), "awscli-") + strlen("awscli-"), out);
        globfree(&names);
    }
    return found;
}

void aws_cli_find(const char *path, struct aws_cli *out)
{
    char real[PATH_MAX];
    *out = (struct aws_cli){0};
    for (const char *at = path; at && *at && !out->path[0]; at += *at == ':') {
        size_t size = strcspn(at, ":");
        int length = snprintf(out->path, sizeof out->path, "%.*s/aws", (int)size, at);
        if (at[0] != '/' || length >= (int)sizeof out->path || access(out->path, X_OK) != 0)
            out->path[0] = '\0';
        at += size;
    }
    if (!out->path[0] || !realpath(out->path, real))
        return;
    /* All programs of a snap are links to one binary. */
    if (sign_in_version_of_path(real, out) || sign_in_version_of_package(real, out))
        return;
    /* Version 1 is a script, so a binary is version 2. */
    char magic[4] = "";
    FILE *file = fopen(real, "re");
    bool is_binary = file && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                     memcmp(magic, "\177ELF", sizeof magic) == 0;
    if (file)
        fclose(file);
    out->major = is_binary && !strstr(real, "/snap") ? 2 : 0;
}

/* Found once: the PATH of a process is constant, and a version rarely changes. */
static struct {
    bool looked;
    struct aws_cli cli;
} installed;

void sign_in_prepare(void)
{
    if (!installed.looked)
        aws_cli_find(getenv("PATH"), &installed.cli);
    installed.looked = true;
}

void aws_add_profile_option(struct buf *out, const char *profile)
{
    if (!profile || strcmp(profile, "default") == 0)
        return;
    buf_add_text(out, " --profile ");
    shell_word(out, span_text(profile));
}

void sign_in_write_command(struct buf *out, const char *verb, const char *profile)
{
    sign_in_prepare();
    const struct aws_cli *cli = &installed.cli;
    bool sso = strcmp(verb, "sso login") == 0;
    const char *needed = sso ? "2" : "2.32 or later";
    buf_printf(out, "aws %s", verb);
    aws_add_profile_option(out, profile);
    if (!cli->path[0])
        buf_printf(out, " (of the AWS CLI, version %s; none is in the PATH here)", needed);
    else if (cli->major == 0)
        buf_printf(out, " (of the AWS CLI, version %s)", needed);
    else if (cli->major < 2)
        buf_printf(out, " (of the AWS CLI, version %s; %s is version %u.%u)", needed, cli->path,
                   cli->major, cli->minor);
    else if (!sso && cli->major == 2 && cli->minor > 0 && cli->minor < 32)
        buf_printf(out, " (of the AWS CLI, version %s; %s is version 2.%u)", needed, cli->path,
                   cli->minor);
}

void sign_in_write_first_steps(struct buf *out)
{
    sign_in_prepare();
    buf_add_text(out, installed.cli.major == 1
                          ? "aws configure"
                          : "aws configure for keys, aws configure sso or aws login to sign in");
}

void sign_in_write_advice(struct buf *out, const char *method, const char *profile)
{
    static const struct {
        const char *method, *advice;
    } others[] = {
        {"env", "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN again; a mount "
                "must be "
                "restarted"},
        {"shared-credentials-file", "write fresh keys and their aws_session_token into it"},
        {"config-file", "write fresh keys and their aws_session_token into it"},
        {"custom-process", "check the output of its credential_process"},
        {"assume-role", "its role is assumed automatically: check the session of its source"},
        {"assume-role-with-web-identity", "check the program that renews its token's file"},
        {"container-role", "check the container's agent, which should renew them"},
        {"iam-role", "check the machine's metadata service, which should renew them"},
    };
    if (method && strcmp(method, "login") == 0) {
        buf_add_text(out, "sign in again: ");
        sign_in_write_command(out, "login", profile);
        return;
    }
    for (size_t i = 0; method && i < sizeof others / sizeof others[0]; i++)
        if (strcmp(method, others[i].method) == 0) {
            if (strcmp(method, "env") != 0)
                buf_printf(out, "profile %s: ", profile ? profile : "default");
            buf_add_text(out, others[i].advice);
            return;
        }
    buf_add_text(out, method ? "sign in again: " : "sign in again, as with: ");
    sign_in_write_command(out, "sso login", profile);
}
