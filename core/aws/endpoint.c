/* Hosts by service, region and account. */
#include "core/aws/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "core/aws/arn.h"
#include "core/aws/url.h"
#include "core/base/buf.h"

struct endpoint_parts {
    const struct aws_settings *settings;
    enum aws_service service;
    const char *region;
    const char *account_id; /* NULL if it is not known */
    const struct aws_partition *partition;
    const char *signing_region;
};

/* The service in a host's name. */
static const char *const labels[] = {
    [AWS_DYNAMODB] = "dynamodb",
    [AWS_STS] = "sts",
    [AWS_SSO] = "portal.sso",
    [AWS_SSO_OIDC] = "oidc",
    [AWS_SIGNIN] = "signin",
    [AWS_S3] = "s3",
    [AWS_DYNAMODB_SEARCH] = "search-dynamodb",
    [AWS_DYNAMODB_STREAMS] = "streams.dynamodb",
};

/* Whether SERVICE is DynamoDB, whose hosts may have the account in their names. */
static bool endpoint_is_dynamodb(enum aws_service service)
{
    return service == AWS_DYNAMODB || service == AWS_DYNAMODB_SEARCH;
}

/* DynamoDB on a developer's own machine. The region of its signatures must exist. */
static bool endpoint_write_local(struct endpoint_parts *parts, struct buf *url, struct error *err)
{
    const struct aws_settings *settings = parts->settings;
    if (settings->fips || settings->dual_stack)
        return error_set(err, ERROR_INVALID,
                         "region local has no %s host; remove %s (it is set by %s)",
                         settings->fips ? "FIPS" : "dual-stack",
                         settings->fips ? "use_fips_endpoint" : "use_dualstack_endpoint",
                         aws_settings_origin(settings, settings->fips ? AWS_SETTING_FIPS
                                                                      : AWS_SETTING_DUAL_STACK));
    buf_add_text(url, "http://localhost:8000");
    parts->signing_region = "us-east-1";
    return true;
}

/* Whether the host's name contains the account. False with ERR filled if it must, and cannot. */
static bool endpoint_check_account(const struct endpoint_parts *parts, bool *by_account,
                                   struct error *err)
{
    const struct aws_settings *settings = parts->settings;
    bool is_aws = strcmp(parts->partition->name, "aws") == 0;
    bool required = settings->account_mode == AWS_ACCOUNT_REQUIRED;
    const char *by = aws_settings_origin(settings, AWS_SETTING_ACCOUNT_MODE);
    *by_account = false;
    if (!endpoint_is_dynamodb(parts->service) || settings->account_mode == AWS_ACCOUNT_DISABLED)
        return true;
    if (required && settings->fips)
        return error_set(
            err, ERROR_INVALID,
            "account_id_endpoint_mode is required (%s), and FIPS hosts have no account "
            "in their names; remove one of the two settings",
            by);
    if (required && !is_aws)
        return error_set(
            err, ERROR_INVALID,
            "account_id_endpoint_mode is required (%s), and hosts of region %s have no "
            "account in their names; remove the setting",
            by, parts->region);
    if (required && !parts->account_id)
        return error_set(
            err, ERROR_INVALID,
            "account_id_endpoint_mode is required (%s), and the credentials have no account "
            "id; set AWS_ACCOUNT_ID, or aws_account_id in the profile",
            by);
    *by_account = parts->account_id && is_aws && !settings->fips;
    if (*by_account && !aws_url_is_label(span_text(parts->account_id)))
        return error_set(
            err, ERROR_INVALID,
            "the credentials' account id \"%.70s\" is invalid; correct AWS_ACCOUNT_ID or "
            "aws_account_id",
            parts->account_id);
    return true;
}

/* Only the dual-stack hosts of streams have a dash in the name. */
static const char *endpoint_label(const struct endpoint_parts *parts)
{
    bool is_dual = parts->settings->dual_stack && parts->service == AWS_DYNAMODB_STREAMS;
    return is_dual ? "streams-dynamodb" : labels[parts->service];
}

/* The host of a service without a configured address. */
static bool endpoint_write_own(struct endpoint_parts *parts, struct buf *url, struct error *err)
{
    const struct aws_settings *settings = parts->settings;
    const struct aws_partition *partition = parts->partition;
    bool by_account;
    bool is_dynamos =
        endpoint_is_dynamodb(parts->service) || parts->service == AWS_DYNAMODB_STREAMS;
    if (is_dynamos && strcmp(parts->region, "local") == 0)
        return endpoint_write_local(parts, url, err);
    if (parts->service == AWS_STS && strcmp(parts->region, "aws-global") == 0 && !settings->fips &&
        !settings->dual_stack) {
        buf_add_text(url, "https://sts.amazonaws.com");
        parts->signing_region = "us-east-1";
        return true;
    }
    if (!endpoint_check_account(parts, &by_account, err))
        return false;
    /* Most hosts of AWS Sign-In have names of their own. */
    const char *domain = strcmp(partition->name, "aws") == 0          ? "aws.amazon.com"
                         : strcmp(partition->name, "aws-cn") == 0     ? "amazonaws.cn"
                         : strcmp(partition->name, "aws-us-gov") == 0 ? "amazonaws-us-gov.com"
                                                                      : NULL;
    if (parts->service == AWS_SIGNIN && domain && !settings->fips && !settings->dual_stack) {
        buf_printf(url, "https://%s.signin.%s", parts->region, domain);
        return true;
    }
    if (parts->service == AWS_S3) {
        buf_printf(url, "https://s3%s%s.%s.%s", settings->fips ? "-fips" : "",
                   settings->dual_stack ? ".dualstack" : "", parts->region, partition->suffix);
        return true;
    }
    /* All hosts of GovCloud are FIPS hosts; only dual-stack ones have it in their names. */
    bool has_fips = settings->fips && (settings->dual_stack || parts->service == AWS_SIGNIN ||
                                       strcmp(partition->name, "aws-us-gov") != 0);
    if (by_account)
        buf_printf(url, "https://%s.%sddb", parts->account_id,
                   parts->service == AWS_DYNAMODB_SEARCH ? "search-" : "");
    else
        buf_printf(url, "https://%s%s", endpoint_label(parts), has_fips ? "-fips" : "");
    buf_printf(url, ".%s.%s", parts->region,
               settings->dual_stack ? partition->dual_stack_suffix : partition->suffix);
    return true;
}

static bool endpoint_parse(struct aws_endpoint *endpoint, struct span text, struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf host = {0}, root = {0}, path = {0}, url = {0};
    struct aws_url parts;
    if (!aws_url_parse(text, &parts))
        return error_set(err, ERROR_INVALID, "\"%.*s\" is no endpoint", (int)text.size, text.data);
    aws_url_write_host(&host, &parts);
    buf_printf(&url, "%s://%s", parts.tls ? "https" : "http", buf_text(&host));
    buf_add_span(&url, parts.path.size ? parts.path : SPAN_LITERAL("/"));
    aws_url_write_signed_path(&root, parts.path);
    buf_add_span(&path, buf_span(&root));
    endpoint->root_url = strdup(buf_text(&url));
    endpoint->root_path = strdup(buf_text(&root));
    if (!span_ends(buf_span(&url), SPAN_LITERAL("/")))
        buf_add_char(&url, '/');
    if (!span_ends(buf_span(&path), SPAN_LITERAL("/")))
        buf_add_char(&path, '/');
    endpoint->url = buf_steal(&url, NULL);
    endpoint->path = buf_steal(&path, NULL);
    endpoint->host = buf_steal(&host, NULL);
    return (endpoint->root_url && endpoint->root_path && endpoint->url && endpoint->path &&
            endpoint->host && !root.failed) ||
           error_no_memory(err);
}

bool aws_endpoint_init(struct aws_endpoint *endpoint, const struct aws_settings *settings,
                       enum aws_service service, const char *region, const char *account_id,
                       struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    struct endpoint_parts parts = {
        .settings = settings,
        .service = service,
        .region = region ? region : settings->region,
        .account_id = account_id,
    };
    const char *configured;
    *endpoint = (struct aws_endpoint){0};
    if (!parts.region)
        return error_set(err, ERROR_INVALID, "no region is known");
    if (!aws_url_is_label(span_text(parts.region)))
        return error_set(err, ERROR_INVALID, "\"%.63s\" is no region", parts.region);
    parts.partition = aws_partition_of(parts.region);
    parts.signing_region = parts.region;
    enum aws_service configured_as = service == AWS_DYNAMODB_SEARCH ? AWS_DYNAMODB : service;
    if (!aws_settings_url(settings, configured_as, &configured, err))
        return false;
    if (configured)
        buf_add_text(&url, configured);
    else if (!endpoint_write_own(&parts, &url, err))
        return false;
    endpoint->signing_region = strdup(parts.signing_region);
    if (url.failed || !endpoint->signing_region)
        return error_no_memory(err);
    return endpoint_parse(endpoint, buf_span(&url), err);
}

void aws_endpoint_clean_up(struct aws_endpoint *endpoint)
{
    free(endpoint->root_url);
    free(endpoint->root_path);
    free(endpoint->url);
    free(endpoint->path);
    free(endpoint->host);
    free(endpoint->signing_region);
    *endpoint = (struct aws_endpoint){0};
}
