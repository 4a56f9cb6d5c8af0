/* The rules are those of Python's urllib, which the AWS CLI uses: libcurl knows ALL_PROXY, but not
 * HTTP_PROXY, and reads no_proxy in another way. */
#include "core/net/proxy.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

static const char suffix[] = "_proxy";

/* The value of LINE, "NAME=value", if NAME is SCHEME_proxy; its last part in lower case, if EXACT
 * is set, and in any case otherwise. */
static const char *proxy_value_in(const char *line, struct span scheme, bool exact)
{
    size_t size = scheme.size + sizeof suffix - 1;
    if (strncasecmp(line, scheme.data, scheme.size) != 0 ||
        strncasecmp(line + scheme.size, suffix, sizeof suffix - 1) != 0 || line[size] != '=')
        return NULL;
    return exact && strncmp(line + scheme.size, suffix, sizeof suffix - 1) != 0 ? NULL
                                                                                : line + size + 1;
}

/* The environment's value for SCHEME ("http", "https", "no"), or NULL. A name in lower case goes
 * before all others; if it is empty, there is no value. */
static const char *proxy_find(struct span scheme)
{
    const char *found = NULL, *value;
    for (char **line = environ; *line; line++)
        if ((value = proxy_value_in(*line, scheme, false)) && *value)
            found = value;
    /* In a CGI program HTTP_PROXY is the "Proxy:" header of a stranger's request. */
    if (getenv("REQUEST_METHOD") && span_is(scheme, "http"))
        found = NULL;
    for (char **line = environ; *line; line++)
        if ((value = proxy_value_in(*line, scheme, true)))
            found = *value ? value : NULL;
    return found;
}

/* Whether HOST is NAME, or a host of the domain NAME. */
static bool proxy_is_within(struct span host, struct span name)
{
    if (host.size < name.size ||
        strncasecmp(host.data + host.size - name.size, name.data, name.size) != 0)
        return false;
    return host.size == name.size || host.data[host.size - name.size - 1] == '.';
}

/* Whether no_proxy matches the host: all hosts ("*"), or domains with or without a port. */
static bool proxy_is_left_out(struct span host)
{
    const char *list = proxy_find(span_text("no"));
    size_t port = host.size;
    while (port > 0 && isdigit((unsigned char)host.data[port - 1]))
        port--;
    bool has_port = port > 0 && host.data[port - 1] == ':';
    struct span name_only = has_port ? span_of(host.data, port - 1) : host;
    if (list && strcmp(list, "*") == 0)
        return true;
    while (list && *list) {
        size_t size = strcspn(list, ",");
        struct span name = span_of(list, size);
        while (name.size > 0 && isspace((unsigned char)name.data[name.size - 1]))
            name.size--;
        while (name.size > 0 && isspace((unsigned char)name.data[0]))
            name = span_from(name, 1);
        while (name.size > 0 && name.data[0] == '.')
            name = span_from(name, 1);
        if (name.size > 0 && (proxy_is_within(host, name) || proxy_is_within(name_only, name)))
            return true;
        list += size + (list[size] == ',');
    }
    return false;
}

void proxy_for(const char *url, struct buf *out)
{
    const char *end = strstr(url, "://");
    if (!end)
        return;
    const char *proxy = proxy_find(span_of(url, (size_t)(end - url)));
    struct span host = span_of(end + 3, strcspn(end + 3, "/?#"));
    if (!proxy || proxy_is_left_out(host))
        return;
    if (!strstr(proxy, "://"))
        buf_add_text(out, strncmp(proxy, "//", 2) == 0 ? "http:" : "http://");
    buf_add_text(out, proxy);
}
