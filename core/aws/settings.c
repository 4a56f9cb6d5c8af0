/* Settling profile, region and endpoint. */
#include "core/aws/settings.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <strings.h>

#include "core/aws/retry_settings.h"
#include "core/base/buf.h"
#include "core/base/shell.h"
#include "core/base/span.h"

enum { MAX_LABEL = 63, MAX_HOST = 253, MAX_PORT = 65535 };

/* An empty variable counts as none. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool copy(char **out, struct span text, struct error *err)
{
    *out = strndup(text.data, text.size);
    return *out || error_no_memory(err);
}

/* Profile. */

const char *aws_settings_profile_in_force(const struct aws_settings *settings)
{
    return settings->profile ? settings->profile : "default";
}

/* AWS_PROFILE comes first, as in version 2 of the AWS CLI. */
static bool pick_profile(struct aws_settings *settings, const struct aws_options *options,
                         struct error *err)
{
    const char *name = options->profile ? options->profile : variable("AWS_PROFILE");
    if (!name)
        name = variable("AWS_DEFAULT_PROFILE");
    settings->asked_for = options->profile != NULL;
    return !name || copy(&settings->profile, span_text(name), err);
}

/* Who names the profile in force; NULL when nobody does. */
static const char *named_by(const struct aws_options *options)
{
    if (options->profile)
        return options->profile_named_by;
    return variable("AWS_PROFILE")           ? "AWS_PROFILE"
           : variable("AWS_DEFAULT_PROFILE") ? "AWS_DEFAULT_PROFILE"
                                             : NULL;
}

static bool check_profile(const struct aws_settings *settings, const struct aws_options *options,
                          const struct profiles *profiles, struct error *err)
{
    if (!settings->profile || profiles_has(profiles, settings->profile))
        return true;
    CLEAN_UP(buf_clean_up) struct buf names = {0}, who = {0}, word = {0};
    profiles_names(profiles, &names);
    if (named_by(options))
        buf_printf(&who, " (named by %s)", named_by(options));
    shell_word(&word, span_text(settings->profile));
    return error_set(
        err, ERROR_DENIED,
        "profile %s%s is in neither %s%s nor %s%s; profiles there: %s; name one of them, or "
        "make it: aws configure --profile %s%s",
        settings->profile, buf_text(&who), profiles->config_path,
        profiles->config.is_directory ? " (which is a directory)" : "", profiles->credentials_path,
        profiles->credentials.is_directory ? " (which is a directory)" : "",
        names.size > 0 ? buf_text(&names) : "none", buf_text(&word),
        options->profile && variable("AWS_ACCESS_KEY_ID")
            ? "; AWS_ACCESS_KEY_ID is not used where a profile is named so"
            : "");
}

/* Region. */

static bool is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* A region becomes a label of a host name. */
static bool is_label(struct span text)
{
    if (text.size == 0 || text.size > MAX_LABEL || text.data[0] == '-' ||
        text.data[text.size - 1] == '-')
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!is_letter_or_digit(text.data[i]) && text.data[i] != '-')
            return false;
    return true;
}

static struct span find_region(const struct aws_settings *settings,
                               const struct aws_options *options, const struct profiles *profiles)
{
    const char *name = options->region ? options->region : variable("AWS_REGION");
    if (!name)
        name = variable("AWS_DEFAULT_REGION");
    struct span region = span_text(name);
    if (!name)
        profiles_get(profiles, aws_settings_profile_in_force(settings), "region", &region);
    return region;
}

static bool settle_region(struct aws_settings *settings, const struct aws_options *options,
                          const struct profiles *profiles, struct error *err)
{
    struct span region = find_region(settings, options, profiles);
    if (region.size == 0)
        return error_set(err, ERROR_INVALID,
                         "no region: give --region, set AWS_REGION, or give profile %s a region "
                         "(aws configure set region REGION)",
                         aws_settings_profile_in_force(settings));
    if (!is_label(region))
        return error_set(err, ERROR_INVALID,
                         "\"%.*s\" is no region: letters, digits and dashes only, such as "
                         "eu-central-1",
                         (int)(region.size < MAX_LABEL ? region.size : MAX_LABEL), region.data);
    return copy(&settings->region, region, err);
}

/* Endpoint. */

/* The parts of an endpoint's url. */
struct endpoint {
    bool tls;
    struct span host; /* with its brackets, if it is an IPv6 address */
    unsigned port;    /* the scheme's own when none was given */
};

static unsigned default_port(const struct endpoint *endpoint)
{
    return endpoint->tls ? 443 : 80;
}

static bool take_prefix(struct span *text, const char *prefix)
{
    size_t size = strlen(prefix);
    if (text->size < size || strncasecmp(text->data, prefix, size) != 0)
        return false;
    *text = span_from(*text, size);
    return true;
}

static bool is_ipv6(struct span text)
{
    char address[INET6_ADDRSTRLEN];
    struct in6_addr parsed;
    if (text.size >= sizeof address)
        return false;
    memcpy(address, text.data, text.size);
    address[text.size] = '\0';
    return inet_pton(AF_INET6, address, &parsed) == 1;
}

static bool take_ipv6(struct span *text, struct span *host)
{
    const char *end = memchr(text->data, ']', text->size);
    if (!end)
        return false;
    *host = span_of(text->data, (size_t)(end - text->data) + 1);
    *text = span_from(*text, host->size);
    return is_ipv6(span_of(host->data + 1, host->size - 2));
}

static bool take_name(struct span *text, struct span *host)
{
    size_t size = 0;
    while (size < text->size &&
           (is_letter_or_digit(text->data[size]) || memchr("-._", text->data[size], strlen("-._"))))
        size++;
    *host = span_of(text->data, size);
    *text = span_from(*text, size);
    return size > 0 && size <= MAX_HOST;
}

/* An optional :port; false when it is no port. */
static bool take_port(struct span *text, struct endpoint *endpoint)
{
    endpoint->port = default_port(endpoint);
    if (!take_prefix(text, ":"))
        return true;
    unsigned port = 0;
    while (text->size > 0 && text->data[0] >= '0' && text->data[0] <= '9' && port <= MAX_PORT) {
        port = port * 10 + (unsigned)(text->data[0] - '0');
        *text = span_from(*text, 1);
    }
    endpoint->port = port;
    return port >= 1 && port <= MAX_PORT;
}

static bool parse_endpoint(struct span url, struct endpoint *endpoint)
{
    endpoint->tls = take_prefix(&url, "https://");
    if (!endpoint->tls && !take_prefix(&url, "http://"))
        return false;
    bool ipv6 = span_starts(url, SPAN_LITERAL("["));
    if (!(ipv6 ? take_ipv6(&url, &endpoint->host) : take_name(&url, &endpoint->host)))
        return false;
    if (!take_port(&url, endpoint))
        return false;
    take_prefix(&url, "/");
    return url.size == 0;
}

/* What libcurl will send as the Host header: the port only when it is not the scheme's own. */
static bool write_endpoint(struct aws_settings *settings, const struct endpoint *endpoint,
                           struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf host = {0}, url = {0};
    buf_add_span(&host, endpoint->host);
    if (endpoint->port != default_port(endpoint))
        buf_printf(&host, ":%u", endpoint->port);
    buf_printf(&url, "%s://%s/", endpoint->tls ? "https" : "http", buf_text(&host));
    settings->host = buf_steal(&host, NULL);
    settings->url = buf_steal(&url, NULL);
    return (settings->host && settings->url) || error_no_memory(err);
}

static const char *find_endpoint(const struct aws_options *options)
{
    if (options->endpoint_url)
        return options->endpoint_url;
    const char *own = variable("AWS_ENDPOINT_URL_DYNAMODB");
    return own ? own : variable("AWS_ENDPOINT_URL");
}

static void write_service_url(struct buf *out, const char *region)
{
    bool china = span_starts(span_text(region), SPAN_LITERAL("cn-"));
    buf_printf(out, "https://dynamodb.%s.amazonaws.com%s", region, china ? ".cn" : "");
}

static bool settle_endpoint(struct aws_settings *settings, const struct aws_options *options,
                            struct error *err)
{
    const char *given = find_endpoint(options);
    settings->own_endpoint = given != NULL;
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    if (given)
        buf_add_text(&url, given);
    else
        write_service_url(&url, settings->region);
    struct endpoint endpoint = {0};
    if (url.failed)
        return error_no_memory(err);
    if (!parse_endpoint(buf_span(&url), &endpoint))
        return error_set(err, ERROR_INVALID,
                         "\"%.200s\" is no endpoint: http:// or https://, a host, and perhaps a "
                         "port, such as http://127.0.0.1:8000",
                         buf_text(&url));
    return write_endpoint(settings, &endpoint, err);
}

/* All together. */

bool aws_settings_init(struct aws_settings *settings, const struct aws_options *options,
                       const struct profiles *profiles, struct error *err)
{
    *settings = (struct aws_settings){0};
    return pick_profile(settings, options, err) &&
           check_profile(settings, options, profiles, err) &&
           settle_region(settings, options, profiles, err) &&
           settle_endpoint(settings, options, err) &&
           retry_settings_read(profiles, aws_settings_profile_in_force(settings),
                               &settings->max_attempts, err);
}

void aws_settings_clean_up(struct aws_settings *settings)
{
    free(settings->profile);
    free(settings->region);
    free(settings->url);
    free(settings->host);
    *settings = (struct aws_settings){0};
}

/* Whether keys in the environment are whose requests are signed. */
static bool uses_environment(const struct aws_settings *settings)
{
    return !settings->asked_for && variable("AWS_ACCESS_KEY_ID");
}

bool aws_settings_equal(const struct aws_settings *a, const struct aws_settings *b)
{
    bool environment = uses_environment(a);
    if (strcmp(a->region, b->region) != 0 || strcmp(a->url, b->url) != 0 ||
        a->max_attempts != b->max_attempts || environment != uses_environment(b))
        return false;
    return environment ||
           strcmp(aws_settings_profile_in_force(a), aws_settings_profile_in_force(b)) == 0;
}

/* Where keys in the environment are in force, naming a profile would turn them off. */
const char *aws_settings_profile(const struct aws_settings *settings)
{
    return uses_environment(settings) ? NULL : settings->profile;
}

const char *aws_settings_endpoint_url(const struct aws_settings *settings)
{
    return settings->own_endpoint ? settings->url : NULL;
}
