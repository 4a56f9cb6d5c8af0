/* The command line's options: forms, values, where they may stand. */
#include "fs/cli/options.h"

#include "tests/unit/check.h"

enum { MOST_WORDS = 16 };

/* A program's name, a command (unless NULL) and words up to a NULL, parsed. */
struct scene {
    struct options options;
    char *words[MOST_WORDS]; /* afterwards: what is no option */
    int kept;                /* how many those are, the command among them */
    bool ok;
};

static void parse(struct scene *scene, const char *command, const char *const *words)
{
    int count = 1;
    *scene = (struct scene){0};
    options_init(&scene->options);
    if (command)
        scene->words[count++] = (char *)(uintptr_t)command;
    for (; *words; words++)
        scene->words[count++] = (char *)(uintptr_t)*words;
    scene->kept = options_parse(&scene->options, count, scene->words);
    scene->ok = scene->kept >= 0;
}

#define PARSE(scene, command, ...)                                                                 \
    do {                                                                                           \
        const char *const parse_words[] = {__VA_ARGS__, NULL};                                     \
        parse(scene, command, parse_words);                                                        \
    } while (0)

static void the_defaults_are_as_the_manual_says(void)
{
    struct options options;
    options_init(&options);
    CHECK_INT(options.timeout_ms, 10000);
    CHECK_INT(options.cache_bytes, 256 << 20);
    CHECK_INT(options.max_entries, 1000000);
    CHECK_INT(options.stale_ms, 0);
    CHECK_TEXT(options.suffix, "");
    CHECK(!options.compact && !options.show_secrets && !options.foreground);
}

static void a_value_stands_behind_an_equal_sign_or_next(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "--map=a", "--region", "b", "rest");
    CHECK(scene.ok);
    CHECK_TEXT(scene.options.map, "a");
    CHECK_TEXT(scene.options.region, "b");
    CHECK_INT(scene.kept, 2);
    CHECK_TEXT(scene.words[1], "rest");
}

static void a_missing_value_is_refused(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "--map");
    CHECK(!scene.ok);
    PARSE(&scene, "mount", "-o");
    CHECK(!scene.ok);
}

static void a_value_that_is_not_wanted_is_refused(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "--foreground=yes");
    CHECK(!scene.ok);
}

static void unknown_words_are_refused(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "--mop");
    CHECK(!scene.ok);
    PARSE(&scene, "mount", "-x");
    CHECK(!scene.ok);
    PARSE(&scene, "mount", "--=x");
    CHECK(!scene.ok);
    PARSE(&scene, "mount", "--ma"); /* no abbreviations: a later option could share them */
    CHECK(!scene.ok);
}

static void letters_may_share_a_dash(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "-fvvo", "ro", "-onodev", "/mnt");
    CHECK(scene.ok && scene.options.foreground);
    CHECK_INT(scene.options.verbose, 2);
    CHECK_INT(scene.options.fuse_option_count, 2);
    CHECK_TEXT(scene.options.fuse_options[0], "ro");
    CHECK_TEXT(scene.options.fuse_options[1], "nodev");
    CHECK_INT(scene.kept, 2);
}

static void two_dashes_end_the_options(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "-f", "--", "-v");
    CHECK_INT(scene.kept, 2);
    CHECK_TEXT(scene.words[1], "-v");
    CHECK_INT(scene.options.verbose, 0);
}

static void a_single_dash_is_a_word(void)
{
    struct scene scene;
    PARSE(&scene, "cat", "-", "-v");
    CHECK_INT(scene.kept, 2);
    CHECK_TEXT(scene.words[1], "-");
    CHECK_INT(scene.options.verbose, 1);
}

static void options_may_stand_anywhere(void)
{
    struct scene scene;
    PARSE(&scene, NULL, "-l", "ls", "--suffix", ".x", "/a", "-v", "/b");
    CHECK_INT(scene.kept, 3);
    CHECK_TEXT(scene.words[0], "ls");
    CHECK_TEXT(scene.words[2], "/b");
    CHECK(scene.options.list_long && scene.options.verbose == 1);
}

static void an_option_stands_only_where_it_does_something(void)
{
    struct scene scene;
    PARSE(&scene, "cat", "--cache-size", "1M");
    CHECK(!scene.ok);
    PARSE(&scene, NULL, "-f");
    CHECK(!scene.ok);
    PARSE(&scene, "mount", "-l");
    CHECK(!scene.ok);
    PARSE(&scene, "ls", "-l");
    CHECK(scene.ok && scene.options.list_long);
}

static void sizes_have_units(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "--cache-size", "1048576");
    CHECK_INT(scene.options.cache_bytes, 1 << 20);
    PARSE(&scene, "mount", "--cache-size", "2048K");
    CHECK_INT(scene.options.cache_bytes, 2 << 20);
    PARSE(&scene, "mount", "--cache-size", "3M");
    CHECK_INT(scene.options.cache_bytes, 3 << 20);
    PARSE(&scene, "mount", "--cache-size", "4G");
    CHECK_INT(scene.options.cache_bytes, 4LL << 30);
}

static void wrong_values_are_refused(void)
{
    static const char *const words[][2] = {
        {"--cache-size", "0"},   {"--cache-size", "1"},  {"--cache-size", "-1M"},
        {"--max-entries", "0"},  {"--max-entries", "x"}, {"--max-entries", "100000001"},
        {"--cache-size", "1MB"}, {"--cache-size", "M"},  {"--cache-size", "99999999999999G"},
        {"--timeout", "0"},      {"--timeout", "-1"},    {"--timeout", "nan"},
        {"--timeout", "inf"},    {"--timeout", "3601"},  {"--timeout", "1s"},
        {"--timeout", ""},       {"--format", "xml"},    {"--suffix", "a/b"},
        {"--suffix", "@info"},   {"--suffix", "%41"},    {"--suffix", "12345678901234567"},
        {"--profile", ""},       {"--endpoint-url", ""},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct scene scene;
        PARSE(&scene, "mount", words[i][0], words[i][1]);
        if (scene.ok)
            CHECK_FAIL("%s %s is taken", words[i][0], words[i][1]);
    }
}

static void too_many_mount_options_are_refused(void)
{
    struct scene scene;
    PARSE(&scene, "mount", "-oa", "-ob", "-oc", "-od", "-oe", "-of", "-og", "-oh");
    CHECK(scene.ok);
    CHECK(!options_add_mount(&scene.options, "i"));
}

static void options_of_a_mount_are_set_by_name(void)
{
    struct options options;
    options_init(&options);
    CHECK_INT(options_set(&options, span_text("timeout"), "2"), OPTIONS_SET);
    CHECK_INT(options.timeout_ms, 2000);
    CHECK_INT(options_set(&options, span_text("timeout"), "x"), OPTIONS_WRONG);
    CHECK_INT(options_set(&options, span_text("timeout"), NULL), OPTIONS_WRONG);
    CHECK_INT(options_set(&options, span_text("foreground"), "1"), OPTIONS_WRONG);
    CHECK_INT(options_set(&options, span_text("offline"), NULL), OPTIONS_UNKNOWN);
    CHECK_INT(options_set(&options, span_text(""), NULL), OPTIONS_UNKNOWN);
}

static void before_the_command_a_letter_means_what_it_means_for_all(void)
{
    struct scene scene;
    PARSE(&scene, NULL, "-h", "ls");
    CHECK(scene.ok && scene.options.help && !scene.options.human);
    PARSE(&scene, "ls", "-h");
    CHECK(scene.ok && scene.options.human && !scene.options.help);
    PARSE(&scene, NULL, "-n", "3", "top");
    CHECK(scene.ok);
    CHECK_INT(scene.kept, 1);
}

static void an_empty_command_has_no_options(void)
{
    struct scene scene;
    PARSE(&scene, "", "-l");
    CHECK(!scene.ok);
}

static void the_help_tells_every_option(void)
{
    char text[8192] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    CHECK(out);
    options_print_help(out, NULL, NULL);
    fclose(out);
    CHECK_HAS(text, "--cache-size BYTES");
    CHECK_HAS(text, "(default: 256M)");
    CHECK_HAS(text, "-f, --foreground");
    CHECK_HAS(text, "-o");
}

static const struct check_test tests[] = {
    {"the_defaults_are_as_the_manual_says", the_defaults_are_as_the_manual_says},
    {"a_value_stands_behind_an_equal_sign_or_next", a_value_stands_behind_an_equal_sign_or_next},
    {"a_missing_value_is_refused", a_missing_value_is_refused},
    {"a_value_that_is_not_wanted_is_refused", a_value_that_is_not_wanted_is_refused},
    {"unknown_words_are_refused", unknown_words_are_refused},
    {"letters_may_share_a_dash", letters_may_share_a_dash},
    {"two_dashes_end_the_options", two_dashes_end_the_options},
    {"a_single_dash_is_a_word", a_single_dash_is_a_word},
    {"options_may_stand_anywhere", options_may_stand_anywhere},
    {"an_option_stands_only_where_it_does_something",
     an_option_stands_only_where_it_does_something},
    {"sizes_have_units", sizes_have_units},
    {"wrong_values_are_refused", wrong_values_are_refused},
    {"too_many_mount_options_are_refused", too_many_mount_options_are_refused},
    {"options_of_a_mount_are_set_by_name", options_of_a_mount_are_set_by_name},
    {"before_the_command_a_letter_means_what_it_means_for_all",
     before_the_command_a_letter_means_what_it_means_for_all},
    {"an_empty_command_has_no_options", an_empty_command_has_no_options},
    {"the_help_tells_every_option", the_help_tells_every_option},
};

CHECK_MAIN(tests)
