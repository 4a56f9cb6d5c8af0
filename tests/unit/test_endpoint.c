/* Hosts by partition, FIPS, dual-stack and account; addresses that are configured. */
#include "core/aws/endpoint.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/aws/arn.h"
#include "core/aws/url.h"
#include "tests/unit/check.h"

/* An environment without any variable of AWS, and a config file of TEXT. */
struct scene {
    struct aws_options options;
    char file[64];
    struct profiles profiles;
    struct aws_settings settings;
    struct aws_endpoint endpoint;
    struct error err;
};

static const char *const variables[] = {
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_DYNAMODB",
    "AWS_ENDPOINT_URL_DYNAMODB_STREAMS",
    "AWS_ENDPOINT_URL_STS",
    "AWS_ENDPOINT_URL_SSO",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_USE_FIPS_ENDPOINT",
    "AWS_USE_DUALSTACK_ENDPOINT",
    "AWS_ACCOUNT_ID_ENDPOINT_MODE",
    "AWS_MAX_ATTEMPTS",
    "AWS_RETRY_MODE",
    "AWS_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "AWS_ACCESS_KEY_ID",
};

static void open_scene(struct scene *scene, const char *config)
{
    *scene = (struct scene){.file = "/tmp/ddbfs-endpoint-XXXXXX"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        unsetenv(variables[i]);
    int fd = mkstemp(scene->file);
    CHECK(fd >= 0 && write(fd, config, strlen(config)) == (ssize_t)strlen(config));
    close(fd);
    setenv("AWS_CONFIG_FILE", scene->file, 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null", 1);
    setenv("AWS_REGION", "eu-west-1", 1);
}

static void scene_clean_up(struct scene *scene)
{
    aws_endpoint_clean_up(&scene->endpoint);
    aws_settings_clean_up(&scene->settings);
    profiles_clean_up(&scene->profiles);
    unlink(scene->file);
}

static bool settle(struct scene *scene)
{
    aws_settings_clean_up(&scene->settings);
    scene->err = (struct error){0};
    return profiles_refresh(&scene->profiles, &scene->err) &&
           aws_settings_init(&scene->settings, &scene->options, &scene->profiles, &scene->err);
}

static bool locate(struct scene *scene, enum aws_service service, const char *account)
{
    aws_endpoint_clean_up(&scene->endpoint);
    scene->err = (struct error){0};
    return aws_endpoint_init(&scene->endpoint, &scene->settings, service, NULL, account,
                             &scene->err);
}

static void check_url(struct scene *scene, enum aws_service service, const char *account,
                      const char *url)
{
    if (!settle(scene) || !locate(scene, service, account))
        CHECK_FAIL("%s: %s", url, scene->err.text);
    CHECK_TEXT(scene->endpoint.root_url, url);
}

static void check_refused(struct scene *scene, enum aws_service service, const char *account,
                          const char *why)
{
    if (settle(scene) && locate(scene, service, account))
        CHECK_FAIL("%s is asked", scene->endpoint.root_url);
    CHECK_INT(scene->err.kind, ERROR_INVALID);
    CHECK_HAS(scene->err.text, why);
}

static void set_switches(bool fips, bool dual_stack)
{
    setenv("AWS_USE_FIPS_ENDPOINT", fips ? "true" : "false", 1);
    setenv("AWS_USE_DUALSTACK_ENDPOINT", dual_stack ? "True" : "no", 1);
}

/* Of each region: plain, FIPS, dual-stack, both; behind https:// and before the slash. */
static void hosts_of_every_partition(void)
{
    static const char *const rows[][5] = {
        {"us-east-1", "dynamodb.us-east-1.amazonaws.com", "dynamodb-fips.us-east-1.amazonaws.com",
         "dynamodb.us-east-1.api.aws", "dynamodb-fips.us-east-1.api.aws"},
        {"cn-north-1", "dynamodb.cn-north-1.amazonaws.com.cn",
         "dynamodb-fips.cn-north-1.amazonaws.com.cn",
         "dynamodb.cn-north-1.api.amazonwebservices.com.cn",
         "dynamodb-fips.cn-north-1.api.amazonwebservices.com.cn"},
        {"us-gov-west-1", "dynamodb.us-gov-west-1.amazonaws.com",
         "dynamodb.us-gov-west-1.amazonaws.com", "dynamodb.us-gov-west-1.api.aws",
         "dynamodb-fips.us-gov-west-1.api.aws"},
        {"us-iso-east-1", "dynamodb.us-iso-east-1.c2s.ic.gov",
         "dynamodb-fips.us-iso-east-1.c2s.ic.gov", "dynamodb.us-iso-east-1.api.aws.ic.gov",
         "dynamodb-fips.us-iso-east-1.api.aws.ic.gov"},
        {"us-isob-east-1", "dynamodb.us-isob-east-1.sc2s.sgov.gov",
         "dynamodb-fips.us-isob-east-1.sc2s.sgov.gov", "dynamodb.us-isob-east-1.api.aws.scloud",
         "dynamodb-fips.us-isob-east-1.api.aws.scloud"},
        {"eu-isoe-west-1", "dynamodb.eu-isoe-west-1.cloud.adc-e.uk",
         "dynamodb-fips.eu-isoe-west-1.cloud.adc-e.uk",
         "dynamodb.eu-isoe-west-1.api.cloud-aws.adc-e.uk",
         "dynamodb-fips.eu-isoe-west-1.api.cloud-aws.adc-e.uk"},
        {"us-isof-south-1", "dynamodb.us-isof-south-1.csp.hci.ic.gov",
         "dynamodb-fips.us-isof-south-1.csp.hci.ic.gov",
         "dynamodb.us-isof-south-1.api.aws.hci.ic.gov",
         "dynamodb-fips.us-isof-south-1.api.aws.hci.ic.gov"},
        {"eusc-de-east-1", "dynamodb.eusc-de-east-1.amazonaws.eu",
         "dynamodb-fips.eusc-de-east-1.amazonaws.eu",
         "dynamodb.eusc-de-east-1.api.amazonwebservices.eu",
         "dynamodb-fips.eusc-de-east-1.api.amazonwebservices.eu"},
    };
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t way = 0; way < 4; way++) {
            char url[128];
            setenv("AWS_REGION", rows[i][0], 1);
            set_switches(way & 1, way & 2);
            snprintf(url, sizeof url, "https://%s/", rows[i][1 + way]);
            check_url(&scene, AWS_DYNAMODB, NULL, url);
            CHECK_TEXT(scene.endpoint.signing_region, rows[i][0]);
        }
}

static void regions_belong_to_partitions_by_how_they_are_made(void)
{
    static const struct {
        const char *region, *partition;
    } rows[] = {
        {"us-east-99", "aws"},
        {"mars-north-1", "aws"},
        {"cn-west-7", "aws-cn"},
        {"cn-west", "aws"},
        {"cn-west-", "aws"},
        {"cn--1", "aws"},
        {"cnx-west-1", "aws"},
        {"CN-NORTH-1", "aws"},
        {"cn-a-b-1", "aws"},
        {"us-gov-x-2", "aws-us-gov"},
        {"us-gov-2", "aws"},
        {"us-gove-x-2", "aws"},
        {"us-iso-west-1", "aws-iso"},
        {"us-isob-west-9", "aws-iso-b"},
        {"eusc-de-x-1", "aws-eusc"},
        {"eusc-fr-x-1", "aws"},
        {"aws-global", "aws"},
        {"aws-cn-global", "aws-cn"},
        {"aws-us-gov-global", "aws-us-gov"},
        {"aws-iso-b-global", "aws-iso-b"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_TEXT(aws_partition_of(rows[i].region)->name, rows[i].partition);
}

static void names_of_regions_that_ask_for_fips(void)
{
    static const char *const names[] = {"fips-us-west-2", "us-west-2-fips", "us-fips-west-2"};
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    set_switches(false, false);
    for (size_t i = 0; i < 3; i++) {
        setenv("AWS_REGION", names[i], 1);
        check_url(&scene, AWS_DYNAMODB, "123456789012",
                  "https://dynamodb-fips.us-west-2.amazonaws.com/");
        CHECK_TEXT(scene.endpoint.signing_region, "us-west-2");
    }
}

static void the_region_local(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    setenv("AWS_REGION", "local", 1);
    check_url(&scene, AWS_DYNAMODB, "123456789012", "http://localhost:8000/");
    CHECK_TEXT(scene.endpoint.signing_region, "us-east-1");
    CHECK_TEXT(scene.endpoint.host, "localhost:8000");
    check_url(&scene, AWS_STS, NULL, "https://sts.local.amazonaws.com/");
    set_switches(true, false);
    check_refused(&scene, AWS_DYNAMODB, NULL, "region local has no FIPS host");
    set_switches(false, true);
    check_refused(&scene, AWS_DYNAMODB, NULL, "AWS_USE_DUALSTACK_ENDPOINT");
    setenv("AWS_ENDPOINT_URL", "http://h:1", 1);
    check_url(&scene, AWS_DYNAMODB, NULL, "http://h:1/");
    CHECK_TEXT(scene.endpoint.signing_region, "local");
}

static void hosts_by_account(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    check_url(&scene, AWS_DYNAMODB, "123456789012",
              "https://123456789012.ddb.eu-west-1.amazonaws.com/");
    check_url(&scene, AWS_DYNAMODB, NULL, "https://dynamodb.eu-west-1.amazonaws.com/");
    check_url(&scene, AWS_STS, "123456789012", "https://sts.eu-west-1.amazonaws.com/");
    set_switches(false, true);
    check_url(&scene, AWS_DYNAMODB, "123456789012", "https://123456789012.ddb.eu-west-1.api.aws/");
    set_switches(true, true);
    check_url(&scene, AWS_DYNAMODB, "123456789012", "https://dynamodb-fips.eu-west-1.api.aws/");
    set_switches(false, false);
    setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "Disabled", 1);
    check_url(&scene, AWS_DYNAMODB, "123456789012", "https://dynamodb.eu-west-1.amazonaws.com/");
    unsetenv("AWS_ACCOUNT_ID_ENDPOINT_MODE");
    setenv("AWS_REGION", "us-gov-west-1", 1);
    check_url(&scene, AWS_DYNAMODB, "123456789012",
              "https://dynamodb.us-gov-west-1.amazonaws.com/");
    setenv("AWS_REGION", "eu-west-1", 1);
    check_refused(&scene, AWS_DYNAMODB, "a.b", "\"a.b\" is invalid");
    check_refused(&scene, AWS_DYNAMODB, "", "account id");
}

static void hosts_of_searches(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    check_url(&scene, AWS_DYNAMODB_SEARCH, "123456789012",
              "https://123456789012.search-ddb.eu-west-1.amazonaws.com/");
    check_url(&scene, AWS_DYNAMODB_SEARCH, NULL,
              "https://search-dynamodb.eu-west-1.amazonaws.com/");
    set_switches(false, true);
    check_url(&scene, AWS_DYNAMODB_SEARCH, "123456789012",
              "https://123456789012.search-ddb.eu-west-1.api.aws/");
    check_url(&scene, AWS_DYNAMODB_SEARCH, NULL, "https://search-dynamodb.eu-west-1.api.aws/");
    set_switches(true, true);
    check_url(&scene, AWS_DYNAMODB_SEARCH, "1", "https://search-dynamodb-fips.eu-west-1.api.aws/");
    set_switches(true, false);
    check_url(&scene, AWS_DYNAMODB_SEARCH, "1",
              "https://search-dynamodb-fips.eu-west-1.amazonaws.com/");
    setenv("AWS_REGION", "us-gov-west-1", 1);
    check_url(&scene, AWS_DYNAMODB_SEARCH, "1",
              "https://search-dynamodb.us-gov-west-1.amazonaws.com/");
    set_switches(false, false);
    setenv("AWS_REGION", "local", 1);
    check_url(&scene, AWS_DYNAMODB_SEARCH, "1", "http://localhost:8000/");
    setenv("AWS_REGION", "eu-west-1", 1);
    setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://one:1", 1); /* for both */
    check_url(&scene, AWS_DYNAMODB_SEARCH, "1", "http://one:1/");
    setenv("AWS_ENDPOINT_URL_DYNAMODB", "ftp://one", 1);
    check_refused(&scene, AWS_DYNAMODB_SEARCH, NULL, "no endpoint");
    unsetenv("AWS_ENDPOINT_URL_DYNAMODB");
}

static void accounts_that_are_required(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "[default]\naccount_id_endpoint_mode = REQUIRED\n");
    check_url(&scene, AWS_DYNAMODB, "1", "https://1.ddb.eu-west-1.amazonaws.com/");
    check_refused(&scene, AWS_DYNAMODB, NULL, "set AWS_ACCOUNT_ID");
    CHECK_HAS(scene.err.text, "[default]");
    check_url(&scene, AWS_STS, NULL, "https://sts.eu-west-1.amazonaws.com/");
    set_switches(true, false);
    check_refused(&scene, AWS_DYNAMODB, "1", "FIPS hosts have no account");
    set_switches(false, false);
    setenv("AWS_REGION", "cn-north-1", 1);
    check_refused(&scene, AWS_DYNAMODB, "1", "hosts of region cn-north-1 have no account");
    setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://h:1", 1);
    check_url(&scene, AWS_DYNAMODB, NULL, "http://h:1/");
    setenv("AWS_ACCOUNT_ID_ENDPOINT_MODE", "maybe", 1);
    check_refused(&scene, AWS_DYNAMODB, "1", "\"maybe\" (AWS_ACCOUNT_ID_ENDPOINT_MODE)");
}

/* The first that is there wins, in this order. */
static void urls_by_rank(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "[default]\nservices = s\nendpoint_url = http://profile:4\n[services s]\n"
                       "dynamodb =\n  endpoint_url = http://services:3\n");
    setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://own:1", 1);
    setenv("AWS_ENDPOINT_URL", "http://all:2", 1);
    check_url(&scene, AWS_DYNAMODB, "1", "http://own:1/");
    check_url(&scene, AWS_STS, NULL, "http://all:2/");
    unsetenv("AWS_ENDPOINT_URL_DYNAMODB");
    check_url(&scene, AWS_DYNAMODB, NULL, "http://all:2/");
    setenv("AWS_ENDPOINT_URL", "", 1);
    check_url(&scene, AWS_DYNAMODB, NULL, "http://services:3/");
    CHECK_HAS(aws_settings_origin(&scene.settings, AWS_SETTING_URLS + AWS_DYNAMODB),
              " [services s]");
    check_url(&scene, AWS_STS, NULL, "http://profile:4/");
    check_url(&scene, AWS_SSO, NULL, "http://profile:4/");
    setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "TRUE", 1);
    setenv("AWS_ENDPOINT_URL", "http://all:2", 1);
    check_url(&scene, AWS_DYNAMODB, NULL, "https://dynamodb.eu-west-1.amazonaws.com/");
    check_url(&scene, AWS_SSO, NULL, "https://portal.sso.eu-west-1.amazonaws.com/");
    CHECK_TEXT(aws_settings_origin(&scene.settings, AWS_SETTING_URLS + AWS_DYNAMODB), "");
}

static void streams_have_hosts_of_their_own(void)
{
    static const struct {
        bool fips, dual_stack;
        const char *region, *url;
    } rows[] = {
        {false, false, "eu-west-1", "https://streams.dynamodb.eu-west-1.amazonaws.com/"},
        {true, false, "eu-west-1", "https://streams.dynamodb-fips.eu-west-1.amazonaws.com/"},
        {false, true, "eu-west-1", "https://streams-dynamodb.eu-west-1.api.aws/"},
        {true, true, "eu-west-1", "https://streams-dynamodb-fips.eu-west-1.api.aws/"},
        {false, false, "cn-north-1", "https://streams.dynamodb.cn-north-1.amazonaws.com.cn/"},
        {true, false, "us-gov-west-1", "https://streams.dynamodb.us-gov-west-1.amazonaws.com/"},
        {false, false, "local", "http://localhost:8000/"},
    };
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_switches(rows[i].fips, rows[i].dual_stack);
        setenv("AWS_REGION", rows[i].region, 1);
        check_url(&scene, AWS_DYNAMODB_STREAMS, "123456789012", rows[i].url);
    }
}

static void streams_share_the_url_of_dynamodb(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "[default]\nservices = s\n[services s]\ndynamodb =\n  endpoint_url = "
                       "http://table:1\n");
    check_url(&scene, AWS_DYNAMODB_STREAMS, "1", "http://table:1/");
    CHECK_HAS(aws_settings_origin(&scene.settings, AWS_SETTING_URLS + AWS_DYNAMODB_STREAMS),
              " [services s]");
}

static void urls_of_streams_by_rank(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "[default]\nservices = s\n[services s]\ndynamodb =\n  endpoint_url = "
                       "http://table:1\ndynamodb_streams =\n  endpoint_url = http://stream:2\n");
    check_url(&scene, AWS_DYNAMODB_STREAMS, "1", "http://stream:2/");
    setenv("AWS_ENDPOINT_URL", "http://all:3", 1);
    check_url(&scene, AWS_DYNAMODB_STREAMS, "1", "http://all:3/");
    setenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "http://own:4", 1);
    check_url(&scene, AWS_DYNAMODB_STREAMS, "1", "http://own:4/");
    scene.options.endpoint_url = "http://option:5";
    check_url(&scene, AWS_DYNAMODB_STREAMS, "1", "http://own:4/");
    unsetenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS");
    check_url(&scene, AWS_DYNAMODB_STREAMS, "1", "http://stream:2/");
    setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true", 1);
    check_url(&scene, AWS_DYNAMODB_STREAMS, "1", "http://option:5/");
}

static void a_missing_section_of_services(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "[default]\nservices = s\nendpoint_url = http://profile:4\n[services s]\n");
    check_refused(&scene, AWS_DYNAMODB, NULL, "[services s]");
    setenv("AWS_ENDPOINT_URL_DYNAMODB", "http://own:1", 1);
    check_url(&scene, AWS_DYNAMODB, NULL, "http://own:1/");
    check_refused(&scene, AWS_STS, NULL, "[services s]");
    setenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true", 1);
    check_url(&scene, AWS_STS, NULL, "https://sts.eu-west-1.amazonaws.com/");
}

/* The AWS CLI forgets FIPS and dual-stack where an address is given, and so is this. */
static void a_given_address_is_asked_whatever_hosts_are_wanted(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    setenv("AWS_ENDPOINT_URL", "https://h.example/", 1);
    set_switches(true, true);
    check_url(&scene, AWS_DYNAMODB, "123456789012", "https://h.example/");
}

/* A switch is on for "true" alone; a variable that is there but empty says no. */
static void switches(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "[default]\nuse_fips_endpoint = True\n");
    check_url(&scene, AWS_DYNAMODB, NULL, "https://dynamodb-fips.eu-west-1.amazonaws.com/");
    setenv("AWS_USE_FIPS_ENDPOINT", "1", 1);
    check_url(&scene, AWS_DYNAMODB, NULL, "https://dynamodb.eu-west-1.amazonaws.com/");
    setenv("AWS_USE_FIPS_ENDPOINT", "", 1);
    check_url(&scene, AWS_DYNAMODB, NULL, "https://dynamodb.eu-west-1.amazonaws.com/");
}

static void other_services(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    check_url(&scene, AWS_SSO_OIDC, NULL, "https://oidc.eu-west-1.amazonaws.com/");
    check_url(&scene, AWS_SIGNIN, NULL, "https://eu-west-1.signin.aws.amazon.com/");
    set_switches(true, false);
    check_url(&scene, AWS_SSO, NULL, "https://portal.sso-fips.eu-west-1.amazonaws.com/");
    check_url(&scene, AWS_SIGNIN, NULL, "https://signin-fips.eu-west-1.amazonaws.com/");
    setenv("AWS_REGION", "us-gov-west-1", 1);
    check_url(&scene, AWS_STS, NULL, "https://sts.us-gov-west-1.amazonaws.com/");
    set_switches(false, false);
    check_url(&scene, AWS_SIGNIN, NULL, "https://us-gov-west-1.signin.amazonaws-us-gov.com/");
    setenv("AWS_REGION", "cn-north-1", 1);
    check_url(&scene, AWS_SIGNIN, NULL, "https://cn-north-1.signin.amazonaws.cn/");
    setenv("AWS_REGION", "aws-global", 1);
    check_url(&scene, AWS_STS, NULL, "https://sts.amazonaws.com/");
    CHECK_TEXT(scene.endpoint.signing_region, "us-east-1");
}

/* The path is asked as it stands; its signature has it encoded once more, and shortened. */
static void paths(void)
{
    static const char *const rows[][4] = {
        /* url, as asked, its root as signed, what resources stand behind */
        {"http://h", "http://h/", "/", "http://h/"},
        {"http://h/p", "http://h/p", "/p", "http://h/p/"},
        {"http://h/p/", "http://h/p/", "/p/", "http://h/p/"},
        {"http://h//", "http://h//", "/", "http://h//"},
        {"http://h/a%20b/c:d", "http://h/a%20b/c:d", "/a%2520b/c%3Ad", "http://h/a%20b/c:d/"},
        {"http://h/a/./b/../c", "http://h/a/./b/../c", "/a/c", "http://h/a/./b/../c/"},
        {"http://h/..", "http://h/..", "/", "http://h/../"},
    };
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        setenv("AWS_ENDPOINT_URL", rows[i][0], 1);
        check_url(&scene, AWS_DYNAMODB, NULL, rows[i][1]);
        CHECK_TEXT(scene.endpoint.root_path, rows[i][2]);
        CHECK_TEXT(scene.endpoint.url, rows[i][3]);
    }
}

static void a_region_of_another_service_is_a_label_too(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "");
    CHECK(settle(&scene));
    CHECK(!aws_endpoint_init(&scene.endpoint, &scene.settings, AWS_SSO, "evil.example/", NULL,
                             &scene.err));
    CHECK_HAS(scene.err.text, "is no region");
}

static void settings_of_retries_and_certificates(void)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_scene(&scene, "[default]\nmax_attempts = 7\nretry_mode = adaptive\nca_bundle = /p.pem\n");
    setenv("REQUESTS_CA_BUNDLE", "/r.pem", 1);
    CHECK(settle(&scene));
    CHECK_INT(scene.settings.max_attempts, 7);
    CHECK_TEXT(scene.settings.retry_mode, "adaptive");
    CHECK_TEXT(scene.settings.ca_bundle, "/p.pem");
    setenv("AWS_MAX_ATTEMPTS", "2", 1);
    setenv("AWS_CA_BUNDLE", "/a.pem", 1);
    CHECK(settle(&scene));
    CHECK_INT(scene.settings.max_attempts, 2);
    CHECK_TEXT(scene.settings.ca_bundle, "/a.pem");
    CHECK_TEXT(aws_settings_origin(&scene.settings, AWS_SETTING_CA_BUNDLE), "AWS_CA_BUNDLE");
    setenv("AWS_MAX_ATTEMPTS", "3x", 1);
    check_refused(&scene, AWS_DYNAMODB, NULL, "AWS_MAX_ATTEMPTS is \"3x\"");
}

static const struct check_test tests[] = {
    {"hosts of searches", hosts_of_searches},
    {"hosts of every partition", hosts_of_every_partition},
    {"regions belong to partitions by how they are made",
     regions_belong_to_partitions_by_how_they_are_made},
    {"names of regions that ask for FIPS", names_of_regions_that_ask_for_fips},
    {"the region local", the_region_local},
    {"hosts by account", hosts_by_account},
    {"accounts that are required", accounts_that_are_required},
    {"urls by rank", urls_by_rank},
    {"streams have hosts of their own", streams_have_hosts_of_their_own},
    {"streams share the url of dynamodb", streams_share_the_url_of_dynamodb},
    {"urls of streams by rank", urls_of_streams_by_rank},
    {"a missing section of services", a_missing_section_of_services},
    {"a given address is asked whatever hosts are wanted",
     a_given_address_is_asked_whatever_hosts_are_wanted},
    {"switches", switches},
    {"other services", other_services},
    {"paths", paths},
    {"a region of another service is a label too", a_region_of_another_service_is_a_label_too},
    {"settings of retries and certificates", settings_of_retries_and_certificates},
};
CHECK_MAIN(tests)
