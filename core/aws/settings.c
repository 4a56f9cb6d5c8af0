/* Resolves profile, region and endpoints. */
#include "core/aws/settings.h"

#include <stdlib.h>
#include <strings.h>

#include "core/aws/sign_in.h"
#include "core/aws/url.h"
#include "core/base/ascii.h"
#include "core/base/buf.h"
#include "core/base/nearest.h"
#include "core/base/span.h"

enum { MOST_ATTEMPTS = 1000 }; /* no deadline allows more */

/* The names of the services in the AWS CLI's variables and in the sections [services …]. */
static const struct {
    const char *variable;
    const char *key;
    bool is_beside_dynamodb; /* without an address of its own it has the one of DynamoDB: local
                              * servers serve both */
} services[AWS_SERVICES] = {
    [AWS_DYNAMODB] = {"AWS_ENDPOINT_URL_DYNAMODB", "dynamodb", false},
    [AWS_STS] = {"AWS_ENDPOINT_URL_STS", "sts", false},
    [AWS_SSO] = {"AWS_ENDPOINT_URL_SSO", "sso", false},
    [AWS_SSO_OIDC] = {"AWS_ENDPOINT_URL_SSO_OIDC", "sso_oidc", false},
    [AWS_SIGNIN] = {"AWS_ENDPOINT_URL_SIGNIN", "signin", false},
    [AWS_S3] = {"AWS_ENDPOINT_URL_S3", "s3", false},
    [AWS_DYNAMODB_STREAMS] = {"AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "dynamodb_streams", true},
};

struct settings_lookup {
    struct aws_settings *settings;
    const struct aws_options *options;
    const struct profiles *profiles;
    bool no_memory;
};

/* An empty variable counts as unset. */
static const char *settings_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void settings_store(struct settings_lookup *in, char **out, struct span text)
{
    *out = strndup(text.data, text.size);
    in->no_memory = in->no_memory || !*out;
}

static void settings_store_origin(struct settings_lookup *in, unsigned setting, const char *text)
{
    free(in->settings->origins[setting]);
    settings_store(in, &in->settings->origins[setting], span_text(text));
}

static void settings_store_file_origin(struct settings_lookup *in, unsigned setting,
                                       enum profile_dialect file)
{
    CLEAN_UP(buf_clean_up) struct buf text = {0};
    profiles_origin(in->profiles, file, aws_settings_profile_in_force(in->settings), &text);
    settings_store_origin(in, setting, buf_text(&text));
}

/* In the effective profile; the credentials file comes first. */
static bool settings_find_in_profile(struct settings_lookup *in, unsigned setting, const char *key,
                                     struct span *value)
{
    const char *profile = aws_settings_profile_in_force(in->settings);
    bool in_credentials = profile_get(&in->profiles->credentials, profile, key, value);
    if (!in_credentials && !profile_get(&in->profiles->config, profile, key, value))
        return false;
    settings_store_file_origin(in, setting, in_credentials ? PROFILE_CREDENTIALS : PROFILE_CONFIG);
    return true;
}

static bool settings_find_in_environment(struct settings_lookup *in, unsigned setting,
                                         const char *name, struct span *value)
{
    if (!settings_variable(name))
        return false;
    *value = span_text(settings_variable(name));
    settings_store_origin(in, setting, name);
    return true;
}

/* A text; an empty one counts as unset. */
static bool settings_find(struct settings_lookup *in, unsigned setting, const char *name,
                          const char *key, struct span *value)
{
    return settings_find_in_environment(in, setting, name, value) ||
           (settings_find_in_profile(in, setting, key, value) && value->size > 0);
}

/* Only "true" is true, in any case. As in the AWS CLI, an empty variable is set, and means no. */
static bool settings_find_switch(struct settings_lookup *in, unsigned setting, const char *name,
                                 const char *key)
{
    const char *text = getenv(name);
    struct span value = span_text(text);
    if (text)
        settings_store_origin(in, setting, name);
    else
        settings_find_in_profile(in, setting, key, &value);
    return value.size == 4 && strncasecmp(value.data, "true", 4) == 0;
}

const char *aws_settings_origin(const struct aws_settings *settings, unsigned setting)
{
    const char *origin = settings->origins[setting];
    return origin ? origin : "";
}

/* Profile. */

const char *aws_settings_profile_in_force(const struct aws_settings *settings)
{
    return settings->profile ? settings->profile : "default";
}

/* AWS_PROFILE comes first, as in version 2 of the AWS CLI. As in the AWS CLI, an empty variable
 * names a profile, which hardly any user has. */
static void settings_resolve_profile(struct settings_lookup *in)
{
    static const char *const variables[] = {"AWS_PROFILE", "AWS_DEFAULT_PROFILE"};
    const struct aws_options *options = in->options;
    const char *name = options->profile;
    const char *by = options->profile_named_by ? options->profile_named_by : "--profile";
    in->settings->by_option = name;
    for (size_t i = 0; i < 2 && !name; i++) {
        by = variables[i];
        name = getenv(by);
    }
    if (!name)
        return;
    settings_store_origin(in, AWS_SETTING_PROFILE, by);
    settings_store(in, &in->settings->profile, span_text(name));
}

static void settings_write_file(struct buf *out, const char *path, const struct profile_file *file)
{
    buf_add_text(out, path[0] ? path : "\"\"");
    if (file->instead || file->is_empty)
        buf_printf(out, " (which is %s)", file->instead ? file->instead : "empty");
}

/* Advice for a profile that does not exist. */
static void settings_write_advice(const struct settings_lookup *in, struct buf *out)
{
    const struct profiles *profiles = in->profiles;
    const struct ini *config = &profiles->config.ini;
    const char *wanted = in->settings->profile;
    const struct profile_file *files[] = {&profiles->config, &profiles->credentials};
    CLEAN_UP(buf_clean_up) struct buf names = {0};
    struct nearest nearest = nearest_to(span_text(wanted));
    struct span name;
    profiles_names(profiles, &names);
    for (size_t i = 0; i < 2; i++)
        for (size_t at = 0; profile_next_name(files[i], &at, &name);)
            nearest_offer(&nearest, name);
    for (size_t i = 0; i < config->section_count; i++)
        if (span_is(config->sections[i].header, wanted)) {
            buf_printf(out, "; write [profile %.100s] in place of [%.100s]", wanted, wanted);
            return;
        }
    if (names.size > 0) {
        buf_printf(out, "; profiles there: %s", buf_text(&names));
        nearest_write(&nearest, out);
    }
    buf_printf(out, "; %smake it: aws configure", names.size > 0 ? "name one of them, or " : "");
    aws_add_profile_option(out, wanted);
    if (in->settings->by_option && settings_variable("AWS_ACCESS_KEY_ID"))
        buf_add_text(out, "; AWS_ACCESS_KEY_ID is ignored because an option names the profile");
}

static bool settings_check_profile(const struct settings_lookup *in, struct error *err)
{
    const struct aws_settings *settings = in->settings;
    const struct profiles *profiles = in->profiles;
    const char *named_by = settings->origins[AWS_SETTING_PROFILE];
    if (!settings->profile)
        return true;
    if (!settings->profile[0] && !settings->by_option)
        return error_set(err, ERROR_DENIED,
                         "%s is empty, which is the name of a profile to the AWS CLI; unset it, or "
                         "name a profile",
                         named_by ? named_by : "AWS_PROFILE");
    if (profiles_has(profiles, settings->profile))
        return true;
    if (profiles->unreadable.kind != ERROR_NONE) {
        error_set(err, profiles->unreadable.kind, "%s", profiles->unreadable.text);
        error_add(err, "; profile %s (named by %s) is nowhere else", settings->profile,
                  named_by ? named_by : "");
        return false;
    }
    CLEAN_UP(buf_clean_up) struct buf config = {0}, credentials = {0}, advice = {0};
    settings_write_file(&config, profiles->config_path, &profiles->config);
    settings_write_file(&credentials, profiles->credentials_path, &profiles->credentials);
    settings_write_advice(in, &advice);
    return error_set(err, ERROR_DENIED, "profile %s (named by %s) is in neither %s nor %s%s",
                     settings->profile, named_by ? named_by : "", buf_text(&config),
                     buf_text(&credentials), buf_text(&advice));
}

/* Region. */

static bool settings_remove(struct buf *text, const char *part)
{
    char *at = strstr(buf_text(text), part);
    size_t size = strlen(part);
    if (!at)
        return false;
    memmove(at, at + size, strlen(at + size) + 1);
    text->size -= size;
    return true;
}

/* A region becomes a label of a host's name. A number alone is invalid. */
static bool settings_check_region(struct span region, struct error *err)
{
    size_t digits = 0;
    while (digits < region.size && ascii_is_digit(region.data[digits]))
        digits++;
    return (aws_url_is_label(region) && digits < region.size) ||
           error_set(err, ERROR_INVALID,
                     "\"%.*s\" is no region: letters, digits and dashes only, such as "
                     "eu-central-1",
                     (int)(region.size < 63 ? region.size : 63), region.data);
}

bool aws_settings_find_region(struct aws_settings *settings, struct span region, const char *by,
                              struct error *err)
{
    if (!settings_check_region(region, err))
        return false;
    char *name = strndup(region.data, region.size), *origin = strdup(by);
    if (!name || !origin) {
        free(name);
        free(origin);
        return error_no_memory(err);
    }
    free(settings->region);
    free(settings->origins[AWS_SETTING_REGION]);
    settings->region = name;
    settings->region_is_found = true;
    settings->origins[AWS_SETTING_REGION] = origin;
    return true;
}

/* Some names of regions imply FIPS: "fips-us-west-2", "us-west-2-fips". */
static bool settings_resolve_region(struct settings_lookup *in, struct error *err)
{
    const struct aws_options *options = in->options;
    struct aws_settings *settings = in->settings;
    struct span region = span_text(options->region);
    CLEAN_UP(buf_clean_up) struct buf name = {0};
    bool fips = false;
    if (options->region)
        settings_store_origin(in, AWS_SETTING_REGION,
                              options->region_named_by ? options->region_named_by : "--region");
    else if (!settings_find_in_environment(in, AWS_SETTING_REGION, "AWS_REGION", &region))
        settings_find(in, AWS_SETTING_REGION, "AWS_DEFAULT_REGION", "region", &region);
    settings->of_machine = region.size == 0;
    if (settings->of_machine)
        return true;
    if (!settings_check_region(region, err))
        return false;
    buf_add_span(&name, region);
    while (settings_remove(&name, "fips-") || settings_remove(&name, "-fips"))
        fips = true;
    if (fips) {
        settings->fips = true;
        settings_store_origin(in, AWS_SETTING_FIPS, "the region's name");
    }
    settings_store(in, &settings->region, buf_span(&name));
    in->no_memory = in->no_memory || name.failed;
    return true;
}

/* Endpoints. */

static bool settings_resolve_hosts(struct settings_lookup *in, struct error *err)
{
    static const char *const modes[] = {[AWS_ACCOUNT_PREFERRED] = "preferred",
                                        [AWS_ACCOUNT_REQUIRED] = "required",
                                        [AWS_ACCOUNT_DISABLED] = "disabled"};
    struct aws_settings *settings = in->settings;
    struct span mode = span_text(NULL);
    settings->fips =
        settings_find_switch(in, AWS_SETTING_FIPS, "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint");
    settings->dual_stack = settings_find_switch(
        in, AWS_SETTING_DUAL_STACK, "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint");
    if (!settings_find(in, AWS_SETTING_ACCOUNT_MODE, "AWS_ACCOUNT_ID_ENDPOINT_MODE",
                       "account_id_endpoint_mode", &mode))
        return true;
    for (unsigned i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (mode.size == strlen(modes[i]) && strncasecmp(mode.data, modes[i], mode.size) == 0) {
            settings->account_mode = (enum aws_account_mode)i;
            return true;
        }
    return error_set(err, ERROR_INVALID,
                     "\"%.*s\" (%s) is no account_id_endpoint_mode: preferred, required or "
                     "disabled",
                     (int)(mode.size < 63 ? mode.size : 63), mode.data,
                     aws_settings_origin(settings, AWS_SETTING_ACCOUNT_MODE));
}

/* Variables come first, the general one too; then the profile's section of services; then the
 * profile. A section that does not exist is an error once the service is used. Without GENERAL only
 * addresses of this very service count. */
static bool settings_find_url(struct settings_lookup *in, enum aws_service service, bool general,
                              struct span *url)
{
    unsigned setting = AWS_SETTING_URLS + service;
    struct aws_settings *settings = in->settings;
    struct span section = span_text(NULL);
    if (settings_find_in_environment(in, setting, services[service].variable, url) ||
        (general && settings_find_in_environment(in, setting, "AWS_ENDPOINT_URL", url)))
        return true;
    if (settings_find_in_profile(in, setting, "services", &section)) {
        CLEAN_UP(buf_clean_up) struct buf name = {0};
        buf_add_span(&name, section);
        in->no_memory = in->no_memory || name.failed;
        if (!profile_has_keys(&in->profiles->config, "services", buf_text(&name))) {
            if (!settings->missing_services)
                settings_store(in, &settings->missing_services, section);
            return false;
        }
        if (profile_get_nested(&in->profiles->config, "services", buf_text(&name),
                               services[service].key, "endpoint_url", url) &&
            url->size > 0) {
            CLEAN_UP(buf_clean_up) struct buf origin = {0};
            settings_store_file_origin(in, setting, PROFILE_CONFIG);
            const char *file = aws_settings_origin(settings, setting);
            buf_printf(&origin, "%.*s[services %s]", (int)strcspn(file, "["), file,
                       buf_text(&name));
            settings_store_origin(in, setting, buf_text(&origin));
            in->no_memory = in->no_memory || origin.failed;
            return true;
        }
    }
    return general && settings_find_in_profile(in, setting, "endpoint_url", url) && url->size > 0;
}

/* A valid address is stored in its regular form. An invalid one is reported by aws_settings_url. */
static void settings_store_url(struct settings_lookup *in, enum aws_service service,
                               struct span text)
{
    struct aws_url url;
    CLEAN_UP(buf_clean_up) struct buf regular = {0};
    if (aws_url_parse(text, &url)) {
        buf_add_text(&regular, url.tls ? "https://" : "http://");
        aws_url_write_host(&regular, &url);
        buf_add_span(&regular, url.path.size ? url.path : SPAN_LITERAL("/"));
    } else {
        buf_add_span(&regular, text);
    }
    settings_store(in, &in->settings->urls[service], buf_span(&regular));
    in->no_memory = in->no_memory || regular.failed;
}

/* SERVICE gets the address of DynamoDB, if that has one. */
static void settings_share_url(struct settings_lookup *in, enum aws_service service)
{
    const struct aws_settings *settings = in->settings;
    if (!settings->urls[AWS_DYNAMODB])
        return;
    settings_store(in, &in->settings->urls[service], span_text(settings->urls[AWS_DYNAMODB]));
    settings_store_origin(in, AWS_SETTING_URLS + service,
                          aws_settings_origin(settings, AWS_SETTING_URLS + AWS_DYNAMODB));
}

/* An option names the address of DynamoDB, and with it of the services beside it. */
static void settings_resolve_urls(struct settings_lookup *in)
{
    const struct aws_options *options = in->options;
    bool ignored = settings_find_switch(in, AWS_SETTING_URLS, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
                                        "ignore_configured_endpoint_urls");
    for (unsigned service = 0; service < AWS_SERVICES; service++) {
        struct span url = span_text(NULL);
        bool general = !(services[service].is_beside_dynamodb && options->endpoint_url);
        if (service == AWS_DYNAMODB && options->endpoint_url) {
            settings_store_origin(in, AWS_SETTING_URLS,
                                  options->endpoint_named_by ? options->endpoint_named_by
                                                             : "--endpoint-url");
            settings_store_url(in, AWS_DYNAMODB, span_text(options->endpoint_url));
            continue;
        }
        if (!ignored && settings_find_url(in, service, general, &url)) {
            settings_store_url(in, service, url);
            continue;
        }
        free(in->settings->origins[AWS_SETTING_URLS + service]);
        in->settings->origins[AWS_SETTING_URLS + service] = NULL;
        if (services[service].is_beside_dynamodb)
            settings_share_url(in, service);
    }
}

bool aws_settings_url(const struct aws_settings *settings, enum aws_service service,
                      const char **url, struct error *err)
{
    struct aws_url parts;
    *url = settings->urls[service];
    if (*url && !aws_url_parse(span_text(*url), &parts)) {
        CLEAN_UP(buf_clean_up) struct buf shown = {0};
        aws_url_write_shown(&shown, span_text(*url));
        return error_set(err, ERROR_INVALID,
                         "\"%.200s\" is no endpoint (%s); set it to http:// or https://, a host, "
                         "and an optional port and path, such as http://127.0.0.1:8000",
                         buf_text(&shown),
                         aws_settings_origin(settings, AWS_SETTING_URLS + service));
    }
    if (!*url && settings->missing_services)
        return error_set(err, ERROR_INVALID,
                         "profile %s names a section [services %s] that does not exist or is "
                         "empty; write it into ~/.aws/config, or remove services from the profile",
                         aws_settings_profile_in_force(settings), settings->missing_services);
    return true;
}

/* Other settings. */

/* The origin of a setting in messages about its value. */
static void settings_write_named_by(const struct settings_lookup *in, const char *variable,
                                    const char *key, struct buf *out)
{
    if (settings_variable(variable))
        buf_add_text(out, variable);
    else
        buf_printf(out, "%s of profile %s", key, aws_settings_profile_in_force(in->settings));
}

/* AWS_MAX_ATTEMPTS and AWS_RETRY_MODE. The mode is only checked: all three modes of the AWS CLI are
 * the standard one here. */
static bool settings_resolve_retries(struct settings_lookup *in, struct error *err)
{
    static const char *const modes[] = {"standard", "legacy", "adaptive"};
    struct aws_settings *settings = in->settings;
    CLEAN_UP(buf_clean_up) struct buf number = {0}, by = {0};
    struct span value;
    if (settings_find(in, AWS_SETTING_MAX_ATTEMPTS, "AWS_MAX_ATTEMPTS", "max_attempts", &value)) {
        char *end;
        settings_write_named_by(in, "AWS_MAX_ATTEMPTS", "max_attempts", &by);
        buf_add_span(&number, value);
        if (number.failed || by.failed)
            return error_no_memory(err);
        long count = strtol(buf_text(&number), &end, 10);
        if (end == buf_text(&number) || end[strspn(end, " \t")] || count < 1)
            return error_set(err, ERROR_INVALID, "%s is \"%.60s\", but takes a number from 1 on",
                             buf_text(&by), buf_text(&number));
        settings->max_attempts = count < MOST_ATTEMPTS ? (unsigned)count : MOST_ATTEMPTS;
    }
    if (!settings_find(in, AWS_SETTING_RETRY_MODE, "AWS_RETRY_MODE", "retry_mode", &value))
        return true;
    settings_store(in, &settings->retry_mode, value);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++)
        if (span_is(value, modes[i]))
            return true;
    buf_truncate(&by, 0);
    settings_write_named_by(in, "AWS_RETRY_MODE", "retry_mode", &by);
    return error_set(err, ERROR_INVALID,
                     "%s is \"%.*s\", but takes standard (legacy and adaptive are the same here)",
                     buf_text(&by), (int)(value.size < 60 ? value.size : 60), value.data);
}

bool aws_settings_init(struct aws_settings *settings, const struct aws_options *options,
                       const struct profiles *profiles, struct error *err)
{
    struct settings_lookup in = {.settings = settings, .options = options, .profiles = profiles};
    struct span path;
    const char *url;
    *settings = (struct aws_settings){0};
    settings_resolve_profile(&in);
    if (!in.no_memory &&
        (!settings_check_profile(&in, err) || !settings_resolve_hosts(&in, err) ||
         !settings_resolve_region(&in, err) || !settings_resolve_retries(&in, err)))
        return false;
    settings_resolve_urls(&in);
    /* REQUESTS_CA_BUNDLE, a variable of Python, comes last, as in the AWS CLI. */
    if (settings_find(&in, AWS_SETTING_CA_BUNDLE, "AWS_CA_BUNDLE", "ca_bundle", &path) ||
        settings_find_in_environment(&in, AWS_SETTING_CA_BUNDLE, "REQUESTS_CA_BUNDLE", &path))
        settings_store(&in, &settings->ca_bundle, path);
    return in.no_memory ? error_no_memory(err)
                        : aws_settings_url(settings, AWS_DYNAMODB, &url, err);
}

void aws_settings_clean_up(struct aws_settings *settings)
{
    for (size_t i = 0; i < AWS_SERVICES; i++)
        free(settings->urls[i]);
    for (size_t i = 0; i < AWS_SETTINGS; i++)
        free(settings->origins[i]);
    free(settings->profile);
    free(settings->region);
    free(settings->missing_services);
    free(settings->ca_bundle);
    free(settings->retry_mode);
    *settings = (struct aws_settings){0};
}

/* Whether keys in the environment sign the requests. */
static bool settings_uses_environment(const struct aws_settings *settings)
{
    return !settings->by_option && settings_variable("AWS_ACCESS_KEY_ID");
}

static bool settings_same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool aws_settings_equal(const struct aws_settings *a, const struct aws_settings *b)
{
    bool environment = settings_uses_environment(a);
    for (size_t i = 0; i < AWS_SERVICES; i++)
        if (!settings_same_text(a->urls[i], b->urls[i]))
            return false;
    if (a->of_machine != b->of_machine ||
        (!a->of_machine && !settings_same_text(a->region, b->region)) || a->fips != b->fips ||
        a->dual_stack != b->dual_stack || a->account_mode != b->account_mode ||
        a->max_attempts != b->max_attempts || !settings_same_text(a->ca_bundle, b->ca_bundle) ||
        a->by_option != b->by_option ||
        !settings_same_text(a->missing_services, b->missing_services) ||
        environment != settings_uses_environment(b))
        return false;
    return environment ||
           strcmp(aws_settings_profile_in_force(a), aws_settings_profile_in_force(b)) == 0;
}

/* Naming a profile would disable the keys in the environment. */
const char *aws_settings_profile(const struct aws_settings *settings)
{
    return settings_uses_environment(settings) ? NULL : settings->profile;
}

const char *aws_settings_endpoint_url(const struct aws_settings *settings)
{
    return settings->urls[AWS_DYNAMODB];
}
