/* AWS_MAX_ATTEMPTS, AWS_RETRY_MODE and the profile's words for them. */
#include "core/aws/settings.h"

#include "tests/unit/check.h"

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* The attempts that CONFIG, the config file, and both variables come to; -1 with ERR filled. */
static int read_settings(const char *config, const char *attempts, const char *mode,
                         struct error *err)
{
    CLEAN_UP(profiles_clean_up) struct profiles profiles = {0};
    CLEAN_UP(aws_settings_clean_up) struct aws_settings settings = {0};
    const struct aws_options options = {.profile = "p", .region = "r-1"};
    set("AWS_MAX_ATTEMPTS", attempts);
    set("AWS_RETRY_MODE", mode);
    CHECK(profile_parse(&profiles.config, PROFILE_CONFIG, span_text(config), "config", err));
    bool ok = aws_settings_init(&settings, &options, &profiles, err);
    set("AWS_MAX_ATTEMPTS", NULL);
    set("AWS_RETRY_MODE", NULL);
    return ok ? (int)settings.max_attempts : -1;
}

static void nobody_says_anything(void)
{
    struct error err;
    CHECK_INT(read_settings("[profile p]\n", NULL, NULL, &err), 0);
    CHECK_INT(read_settings("[profile p]\nmax_attempts =\n", "", "", &err), 0);
}

static void the_variable_goes_before_the_profile(void)
{
    struct error err;
    static const char config[] = "[profile p]\nmax_attempts = 7\nretry_mode = legacy\n";
    CHECK_INT(read_settings(config, NULL, NULL, &err), 7);
    CHECK_INT(read_settings(config, "2", NULL, &err), 2);
    CHECK_INT(read_settings(config, " 1 ", NULL, &err), 1);
    CHECK_INT(read_settings(config, "99999999999999999999", NULL, &err), 1000);
}

static void all_modes_are_one(void)
{
    struct error err;
    CHECK_INT(read_settings("[profile p]\n", "3", "standard", &err), 3);
    CHECK_INT(read_settings("[profile p]\n", "3", "adaptive", &err), 3);
    CHECK_INT(read_settings("[profile p]\n", NULL, "legacy", &err), 0);
}

static void what_the_cli_refuses_is_refused(void)
{
    struct error err;
    static const char *const wrong[] = {"0", "-1", "many", "3x", " "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_INT(read_settings("[profile p]\n", wrong[i], NULL, &err), -1);
        CHECK(err.kind == ERROR_INVALID);
        CHECK_HAS(err.text, "AWS_MAX_ATTEMPTS");
    }
    CHECK_INT(read_settings("[profile p]\nmax_attempts = x\n", NULL, NULL, &err), -1);
    CHECK_HAS(err.text, "max_attempts of profile p is \"x\"");
    CHECK_INT(read_settings("[profile p]\n", NULL, "sometimes", &err), -1);
    CHECK_HAS(err.text, "AWS_RETRY_MODE is \"sometimes\"");
}

static const struct check_test tests[] = {
    {"nobody says anything", nobody_says_anything},
    {"the variable goes before the profile", the_variable_goes_before_the_profile},
    {"all modes are one", all_modes_are_one},
    {"what the CLI refuses is refused", what_the_cli_refuses_is_refused},
};
CHECK_MAIN(tests)
