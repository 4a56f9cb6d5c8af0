/* Hosts by service and region. */
#include "core/aws/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"

static const struct {
    const char *variable; /* that gives a whole address */
    const char *label;    /* of the host's name */
} services[] = {
    [AWS_DYNAMODB] = {"AWS_ENDPOINT_URL_DYNAMODB", "dynamodb"},
    [AWS_STS] = {"AWS_ENDPOINT_URL_STS", "sts"},
    [AWS_SSO] = {"AWS_ENDPOINT_URL_SSO", "portal.sso"},
    [AWS_SSO_OIDC] = {"AWS_ENDPOINT_URL_SSO_OIDC", "oidc"},
    [AWS_SIGNIN] = {"AWS_ENDPOINT_URL_SIGNIN", "signin"},
};

/* An empty variable counts as none. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool aws_endpoint_init(struct aws_endpoint *endpoint, const struct aws_settings *settings,
                       enum aws_service service, const char *region, const char *account_id,
                       struct error *err)
{
    CLEAN_UP(buf_clean_up) struct buf url = {0};
    (void)account_id;
    *endpoint = (struct aws_endpoint){0};
    const char *given = variable(services[service].variable);
    if (!given)
        given = variable("AWS_ENDPOINT_URL");
    if (!region)
        region = settings->region;
    if (given)
        buf_add_text(&url, given);
    else
        buf_printf(&url, "https://%s.%s.amazonaws.com%s", services[service].label, region,
                   strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
    if (url.failed)
        return error_no_memory(err);
    const char *host = strstr(url.data, "://");
    if (!host)
        return error_set(err, ERROR_INVALID, "\"%.200s\" is no endpoint", url.data);
    host += 3;
    if (url.data[url.size - 1] != '/')
        buf_add_char(&url, '/');
    host = url.failed ? "" : strstr(url.data, "://") + 3;
    endpoint->host = strndup(host, strcspn(host, "/"));
    endpoint->path = strdup(host + strcspn(host, "/"));
    endpoint->signing_region = strdup(region);
    endpoint->url = buf_steal(&url, NULL);
    return (endpoint->url && endpoint->host && endpoint->path && endpoint->signing_region) ||
           error_no_memory(err);
}

void aws_endpoint_clean_up(struct aws_endpoint *endpoint)
{
    free(endpoint->url);
    free(endpoint->host);
    free(endpoint->path);
    free(endpoint->signing_region);
    *endpoint = (struct aws_endpoint){0};
}
