/* Which AWS CLI is installed, found without running it, and what it takes to sign in again. */
#include "core/aws/sign_in.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/check.h"

struct place {
    char folder[64];
    char path[256]; /* the PATH */
};

static void run(const struct place *place, const char *command)
{
    char line[1024];
    snprintf(line, sizeof line, "cd %s && %s", place->folder, command);
    CHECK_INT(system(line), 0);
}

static void open_place(struct place *place)
{
    *place = (struct place){.folder = "/tmp/ddbfs-sign-in-XXXXXX"};
    CHECK(mkdtemp(place->folder));
    snprintf(place->path, sizeof place->path, "relative:/nowhere::%s/bin:/bin", place->folder);
    run(place, "mkdir bin");
}

static void place_clean_up(struct place *place)
{
    run(place, "rm -rf *");
    rmdir(place->folder);
}

#define SCRIPT "printf '#!/usr/bin/python3\\n' >bin/aws && chmod +x bin/aws"
#define BINARY(name) "printf '\\177ELF' >" name " && chmod +x " name

static void check_version(const char *make, unsigned major, unsigned minor)
{
    CLEAN_UP(place_clean_up) struct place place;
    struct aws_cli found;
    open_place(&place);
    run(&place, make);
    aws_cli_find(place.path, &found);
    CHECK_HAS(found.path, "/bin/aws");
    CHECK_INT(found.major, major);
    CHECK_INT(found.minor, minor);
}

static void version_2_by_its_installer(void)
{
    check_version(
        "mkdir -p aws-cli/v2/2.36.1/dist aws-cli/v2/2.36.1/bin && " BINARY(
            "aws-cli/v2/2.36.1/dist/aws") " && "
                                          "ln -s 2.36.1 aws-cli/v2/current && "
                                          "ln -s ../dist/aws aws-cli/v2/2.36.1/bin/aws && "
                                          "ln -s ../aws-cli/v2/current/bin/aws bin/aws",
        2, 36);
}

static void a_program_that_is_no_script_is_version_2(void)
{
    check_version(BINARY("bin/aws"), 2, 0);
}

static void version_1_of_a_distribution(void)
{
    check_version(SCRIPT " && mkdir -p lib/python3/dist-packages/awscli-1.22.34.egg-info", 1, 22);
}

static void version_1_of_pip(void)
{
    check_version(SCRIPT " && mkdir -p lib/python3.11/site-packages/awscli-1.40.2.dist-info", 1,
                  40);
}

static void version_2_of_a_distribution(void)
{
    check_version(SCRIPT " && mkdir -p lib/python3.12/site-packages/awscli-2.15.31.dist-info", 2,
                  15);
}

static void version_2_of_homebrew(void)
{
    check_version(
        "mkdir -p Cellar/awscli/2.30.4/bin && printf '#!/x\\n' >Cellar/awscli/2.30.4/bin/aws"
        " && chmod +x Cellar/awscli/2.30.4/bin/aws"
        " && ln -s ../Cellar/awscli/2.30.4/bin/aws bin/aws",
        2, 30);
}

static void of_a_wrapper_nothing_is_known(void)
{
    check_version(SCRIPT, 0, 0);
}

static void none_is_none(void)
{
    CLEAN_UP(place_clean_up) struct place place;
    struct aws_cli found;
    open_place(&place);
    run(&place, "touch bin/aws"); /* which may not be run */
    char *colon = strrchr(place.path, ':');
    *colon = '\0';
    aws_cli_find(place.path, &found);
    CHECK_TEXT(found.path, "");
    aws_cli_find(NULL, &found);
    CHECK_TEXT(found.path, "");
}

static void check_advice(const char *method, const char *profile, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    sign_in_write_advice(&text, method, profile);
    CHECK_HAS(buf_text(&text), want);
}

static void each_method_has_an_advice(void)
{
    check_advice("env", NULL, "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN");
    check_advice("shared-credentials-file", "x", "profile x: write fresh keys");
    check_advice("config-file", NULL, "profile default: write fresh keys");
    check_advice("custom-process", "x", "profile x: check the output of its credential_process");
    check_advice("assume-role", "x", "profile x: its role is assumed automatically");
    check_advice("sso", "x y", "sign in again: aws sso login --profile 'x y'");
    check_advice("sso", "default", "sign in again: aws sso login");
    check_advice("login", "x", "sign in again: aws login --profile x");
    check_advice(NULL, "x", "sign in again, as with: aws sso login --profile x");
}

static const struct check_test tests[] = {
    {"version 2 by its installer", version_2_by_its_installer},
    {"a program that is no script is version 2", a_program_that_is_no_script_is_version_2},
    {"version 1 of a distribution", version_1_of_a_distribution},
    {"version 1 of pip", version_1_of_pip},
    {"version 2 of a distribution", version_2_of_a_distribution},
    {"version 2 of Homebrew", version_2_of_homebrew},
    {"of a wrapper nothing is known", of_a_wrapper_nothing_is_known},
    {"none is none", none_is_none},
    {"each method has an advice", each_method_has_an_advice},
};
CHECK_MAIN(tests)
