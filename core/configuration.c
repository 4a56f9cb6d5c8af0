#include "core/configuration.h"

#include <stdlib.h>

#include "core/aws/sts.h"
#include "core/base/instant.h"
#include "core/map/map.h"

struct configuration {
    struct loop *loop;
    struct sources *sources;
    int64_t deadline_ms;
    bool whoami;
    struct configured_environment *environments; /* owned */
    size_t count;
    size_t under_way;
    struct loop_timer *all_known; /* calls DONE if nothing is under way */
    configuration_fn *done;
    void *arg;
};

const char *configured_name(enum configured which)
{
    static const char *const names[CONFIGURED] = {
        [CONFIGURED_SNAPSHOT] = "snapshot",
        [CONFIGURED_SNAPSHOTS] = "snapshots",
        [CONFIGURED_PROFILE] = "profile",
        [CONFIGURED_REGION] = "region",
        [CONFIGURED_ENDPOINT] = "endpoint",
        [CONFIGURED_CREDENTIALS] = "credentials",
        [CONFIGURED_ACCESS_KEY_ID] = "access_key_id",
        [CONFIGURED_EXPIRES] = "expires",
        [CONFIGURED_ACCOUNT_ID] = "account_id",
        [CONFIGURED_ARN] = "arn",
        [CONFIGURED_USER_ID] = "user_id",
        [CONFIGURED_FIPS] = "use_fips_endpoint",
        [CONFIGURED_DUAL_STACK] = "use_dualstack_endpoint",
        [CONFIGURED_ACCOUNT_MODE] = "account_id_endpoint_mode",
        [CONFIGURED_CA_BUNDLE] = "ca_bundle",
        [CONFIGURED_MAX_ATTEMPTS] = "max_attempts",
        [CONFIGURED_RETRY_MODE] = "retry_mode",
    };
    return names[which];
}

size_t configuration_count(const struct configuration *configuration)
{
    return configuration->count;
}

const struct configured_environment *
configuration_environment(const struct configuration *configuration, size_t number)
{
    return &configuration->environments[number];
}

/* Settings. */

static void configuration_report(struct configured_environment *to, enum configured which,
                                 const char *value, const char *origin)
{
    struct configured_fact *fact = &to->facts[which];
    if (!value || !*value)
        return;
    buf_truncate(&fact->value, 0);
    buf_truncate(&fact->origin, 0);
    buf_add_text(&fact->value, value);
    buf_add_text(&fact->origin, origin);
}

/* A default, which has no origin, is not reported. */
static void configuration_report_if_stated(struct configured_environment *to, enum configured which,
                                           const char *value, const char *origin)
{
    if (*origin)
        configuration_report(to, which, value, origin);
}

static void configuration_report_settings(struct configured_environment *to,
                                          const struct aws_settings *settings)
{
    static const char *const modes[] = {[AWS_ACCOUNT_PREFERRED] = "preferred",
                                        [AWS_ACCOUNT_REQUIRED] = "required",
                                        [AWS_ACCOUNT_DISABLED] = "disabled"};
    CLEAN_UP(buf_clean_up) struct buf attempts = {0};
    const char *profile_by = aws_settings_origin(settings, AWS_SETTING_PROFILE);
    buf_printf(&attempts, "%u", settings->max_attempts);
    configuration_report(to, CONFIGURED_PROFILE, aws_settings_profile_in_force(settings),
                         *profile_by ? profile_by : "no profile is named");
    configuration_report(to, CONFIGURED_REGION, settings->region,
                         aws_settings_origin(settings, AWS_SETTING_REGION));
    configuration_report_if_stated(to, CONFIGURED_FIPS, settings->fips ? "true" : "false",
                                   aws_settings_origin(settings, AWS_SETTING_FIPS));
    configuration_report_if_stated(to, CONFIGURED_DUAL_STACK,
                                   settings->dual_stack ? "true" : "false",
                                   aws_settings_origin(settings, AWS_SETTING_DUAL_STACK));
    configuration_report_if_stated(to, CONFIGURED_ACCOUNT_MODE, modes[settings->account_mode],
                                   aws_settings_origin(settings, AWS_SETTING_ACCOUNT_MODE));
    configuration_report(to, CONFIGURED_CA_BUNDLE, settings->ca_bundle,
                         aws_settings_origin(settings, AWS_SETTING_CA_BUNDLE));
    configuration_report_if_stated(to, CONFIGURED_MAX_ATTEMPTS,
                                   settings->max_attempts ? buf_text(&attempts) : "",
                                   aws_settings_origin(settings, AWS_SETTING_MAX_ATTEMPTS));
    configuration_report(to, CONFIGURED_RETRY_MODE, settings->retry_mode,
                         aws_settings_origin(settings, AWS_SETTING_RETRY_MODE));
}

/* Without the slash of an empty path. */
static void configuration_report_endpoint(struct configured_environment *to,
                                          const struct aws_settings *settings,
                                          const struct aws_endpoint *endpoint, bool by_account)
{
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    const char *origin = aws_settings_origin(settings, AWS_SETTING_URLS + AWS_DYNAMODB);
    buf_add_text(&url, endpoint->root_url);
    if (strcmp(endpoint->root_path, "/") == 0 && span_ends(buf_span(&url), SPAN_LITERAL("/")))
        buf_truncate(&url, url.size - 1);
    configuration_report(to, CONFIGURED_ENDPOINT, buf_text(&url),
                         *origin      ? origin
                         : by_account ? "the region and the account"
                                      : "the region");
}

/* Credentials. */

static bool configuration_report_credentials(struct configured_environment *to,
                                             const struct credentials *credentials)
{
    CLEAN_UP(buf_clean_up) struct buf key = {0}, instant = {0};
    const char *id = credentials->access_key_id;
    bool of_environment = credentials->method && strcmp(credentials->method, "env") == 0;
    to->method = credentials->method;
    configuration_report(to, CONFIGURED_CREDENTIALS, credentials->method, credentials->origin);
    buf_add_repeated(&key, '*', 16); /* as the AWS CLI masks it */
    buf_add_text(&key, id + (strlen(id) < 4 ? 0 : strlen(id) - 4));
    configuration_report(to, CONFIGURED_ACCESS_KEY_ID, buf_text(&key), "");
    if (credentials->expires_wall_ms) {
        struct clock *clock = loop_clock(to->configuration->loop);
        instant_write(&instant, credentials->expires_wall_ms);
        configuration_report(to, CONFIGURED_EXPIRES, buf_text(&instant), "");
        to->left_ms = credentials->expires_wall_ms - clock->wall_ms(clock);
    }
    configuration_report(to, CONFIGURED_ACCOUNT_ID, credentials->account_id,
                         of_environment ? "AWS_ACCOUNT_ID" : "the credentials");
    const struct aws_endpoint *endpoint =
        aws_session_endpoint(to->session, AWS_DYNAMODB, credentials, &to->err);
    if (!endpoint)
        return false;
    configuration_report_endpoint(
        to, &to->settings, endpoint,
        credentials->account_id &&
            strncmp(endpoint->host, credentials->account_id, strlen(credentials->account_id)) == 0);
    return true;
}

/* The requests of one environment. */

static void configuration_report_done(void *arg)
{
    struct configuration *configuration = arg;
    configuration->all_known = NULL;
    configuration->done(configuration->arg);
}

/* Facts that lack memory must not pass for complete ones. */
static void configuration_check_memory(struct configured_environment *to)
{
    bool failed = to->name.failed;
    for (size_t i = 0; i < CONFIGURED; i++)
        failed = failed || to->facts[i].value.failed || to->facts[i].origin.failed;
    if (failed)
        error_no_memory(&to->err);
}

static void configuration_end(struct configured_environment *to)
{
    configuration_check_memory(to);
    loop_remove_timer(to->deadline);
    to->deadline = NULL;
    to->configuration->under_way--;
    if (to->configuration->under_way == 0)
        configuration_report_done(to->configuration);
}

/* A refusal of the credentials by STS has the words of a refusal by DynamoDB. */
static void configuration_on_identity(void *arg, struct document *response, const struct error *err)
{
    struct configured_environment *to = arg;
    const struct aws_settings *settings = aws_session_settings(to->session);
    CLEAN_UP(document_clean_up) struct document *owned = response;
    struct sts_identity found;
    struct error why = {0};
    to->whoami = NULL;
    if (!err && !sts_read_identity(owned, &found, &why))
        err = &why;
    if (!err) {
        configuration_report(to, CONFIGURED_ACCOUNT_ID, found.account, "STS");
        configuration_report(to, CONFIGURED_ARN, found.arn, "STS");
        configuration_report(to, CONFIGURED_USER_ID, found.user_id, "STS");
    } else if (!sts_fault_of_identity(err, to->method,
                                      buf_text(&to->facts[CONFIGURED_CREDENTIALS].origin),
                                      aws_settings_profile(settings), &to->err)) {
        to->err = *err;
    } else {
        memcpy(to->err.code, err->code, sizeof err->code);
        memcpy(to->err.request_id, err->request_id, sizeof err->request_id);
    }
    configuration_end(to);
}

static void configuration_take_credentials(void *arg, const struct credentials_result *answer)
{
    struct configured_environment *to = arg;
    const struct aws_settings *settings = aws_session_settings(to->session);
    bool found = answer->found == CREDENTIALS_FOUND;
    to->request = NULL;
    if (!to->settings.region) /* the machine's metadata may have named it */
        configuration_report(to, CONFIGURED_REGION, settings->region,
                             aws_settings_origin(settings, AWS_SETTING_REGION));
    if (!found)
        to->err = answer->err;
    if (found && configuration_report_credentials(to, &answer->credentials) &&
        to->configuration->whoami) {
        to->sts = aws_session_client(to->session);
        to->whoami =
            sts_get_caller_identity(&to->sts, settings, configuration_on_identity, to, &to->err);
    }
    if (!to->whoami)
        configuration_end(to);
}

static void configuration_abandon(void *arg)
{
    struct configured_environment *to = arg;
    to->deadline = NULL;
    error_set(&to->err, ERROR_TIMED_OUT,
              "%s took longer than %.1f s; check the network, or raise the limit: --timeout",
              to->whoami ? "the request to STS" : "the search for credentials",
              (double)to->configuration->deadline_ms / 1000);
    credentials_request_cancel(to->request);
    token_call_end(to->whoami);
    to->request = NULL;
    to->whoami = NULL;
    configuration_end(to);
}

/* Whether the environment is a snapshot, so that it has no setting of AWS. */
static bool configuration_report_snapshot(struct configured_environment *to)
{
    CLEAN_UP(buf_clean_up) struct buf names = {0}, origin = {0};
    const struct snapshots *snapshots = sources_snapshots(to->configuration->sources);
    bool is_present = snapshots_are_present(snapshots, to->environment);
    if (!snapshots_write_names(snapshots, to->environment, &names, &origin))
        return false;
    configuration_report(to, is_present ? CONFIGURED_SNAPSHOT : CONFIGURED_SNAPSHOTS,
                         buf_text(&names), buf_text(&origin));
    if (names.failed || origin.failed)
        error_no_memory(&to->err);
    return is_present;
}

static void configuration_start_environment(struct configured_environment *to)
{
    struct configuration *in = to->configuration;
    if (configuration_report_snapshot(to)) {
        configuration_check_memory(to);
        return;
    }
    bool resolved = sources_resolve(in->sources, to->environment, &to->settings, &to->err);
    configuration_report_settings(to, &to->settings);
    if (to->settings.region) { /* the endpoint without an account */
        struct aws_endpoint endpoint;
        if (aws_endpoint_init(&endpoint, &to->settings, AWS_DYNAMODB, NULL, NULL, NULL))
            configuration_report_endpoint(to, &to->settings, &endpoint, false);
        aws_endpoint_clean_up(&endpoint);
    }
    to->session = resolved ? sources_session(in->sources, to->environment, &to->err) : NULL;
    if (to->session) {
        to->deadline = loop_add_timer(in->loop, in->deadline_ms, configuration_abandon, to);
        if (to->deadline)
            to->request = credentials_request_start(aws_session_credentials(to->session),
                                                    configuration_take_credentials, to);
        if (!to->request)
            error_no_memory(&to->err);
    }
    if (to->request) {
        in->under_way++;
        return;
    }
    loop_remove_timer(to->deadline);
    to->deadline = NULL;
    configuration_check_memory(to);
}

/* All environments. */

static bool configuration_choose_environments(struct configuration *in,
                                              const struct configuration_options *options,
                                              struct error *err)
{
    const struct map *map = options->map;
    size_t most = 1;
    for (const struct map_environment *each = map ? map->environments : NULL; each;
         each = each->next)
        most++;
    in->environments = calloc(most, sizeof *in->environments);
    if (!in->environments)
        return error_no_memory(err);
    if (!map)
        in->environments[in->count++].configuration = in;
    for (const struct map_environment *each = map ? map->environments : NULL; each;
         each = each->next) {
        if (!map_environment_is_named(map, each, options->environment, NULL))
            continue;
        struct configured_environment *to = &in->environments[in->count++];
        to->configuration = in;
        to->environment = each;
        if (options->environment)
            buf_add_text(&to->name, options->environment);
        else
            format_write(&each->name, &to->name);
    }
    return in->count > 0 || map_refuse_environment(map, options->environment, err);
}

struct configuration *configuration_start(const struct configuration_options *options,
                                          configuration_fn *done, void *arg, struct error *err)
{
    struct configuration *in = calloc(1, sizeof *in);
    if (!in) {
        error_no_memory(err);
        return NULL;
    }
    *in = (struct configuration){.loop = options->loop,
                                 .sources = options->sources,
                                 .deadline_ms = options->deadline_ms,
                                 .whoami = options->whoami,
                                 .done = done,
                                 .arg = arg};
    if (!configuration_choose_environments(in, options, err)) {
        configuration_destroy(in);
        return NULL;
    }
    for (size_t i = 0; i < in->count; i++)
        configuration_start_environment(&in->environments[i]);
    if (in->under_way == 0)
        in->all_known = loop_add_timer(in->loop, 0, configuration_report_done, in);
    if (in->under_way > 0 || in->all_known)
        return in;
    error_no_memory(err);
    configuration_destroy(in);
    return NULL;
}

static void configuration_clean_up_environment(struct configured_environment *to)
{
    loop_remove_timer(to->deadline);
    credentials_request_cancel(to->request);
    token_call_end(to->whoami);
    buf_clean_up(&to->name);
    aws_settings_clean_up(&to->settings);
    for (size_t i = 0; i < CONFIGURED; i++) {
        buf_clean_up(&to->facts[i].value);
        buf_clean_up(&to->facts[i].origin);
    }
}

void configuration_destroy(struct configuration *configuration)
{
    if (!configuration)
        return;
    loop_remove_timer(configuration->all_known);
    for (size_t i = 0; i < configuration->count; i++)
        configuration_clean_up_environment(&configuration->environments[i]);
    free(configuration->environments);
    free(configuration);
}
