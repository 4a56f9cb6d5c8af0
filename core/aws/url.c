/* Parses an address. */
#include "core/aws/url.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <strings.h>

#include "core/base/ascii.h"

enum { MAX_LABEL = 63, MAX_HOST = 253, MAX_PORT = 65535, MAX_PATH = 1024 };

static bool url_is_letter_or_digit(char c)
{
    return ascii_is_letter(c) || ascii_is_digit(c);
}

bool aws_url_is_label(struct span text)
{
    if (text.size == 0 || text.size > MAX_LABEL || text.data[0] == '-' ||
        text.data[text.size - 1] == '-')
        return false;
    for (size_t i = 0; i < text.size; i++)
        if (!url_is_letter_or_digit(text.data[i]) && text.data[i] != '-')
            return false;
    return true;
}

static unsigned url_default_port(const struct aws_url *url)
{
    return url->tls ? 443 : 80;
}

static bool url_take_prefix(struct span *text, const char *prefix)
{
    size_t size = strlen(prefix);
    if (text->size < size || strncasecmp(text->data, prefix, size) != 0)
        return false;
    *text = span_from(*text, size);
    return true;
}

static bool url_take_host(struct span *text, struct span *host)
{
    size_t size = 0;
    if (span_starts(*text, SPAN_LITERAL("["))) {
        const char *end = memchr(text->data, ']', text->size);
        if (!end)
            return false;
        char address[INET6_ADDRSTRLEN];
        struct in6_addr parsed;
        size = (size_t)(end - text->data) - 1;
        *host = span_of(text->data, size + 2);
        *text = span_from(*text, host->size);
        if (size >= sizeof address)
            return false;
        memcpy(address, host->data + 1, size);
        address[size] = '\0';
        return inet_pton(AF_INET6, address, &parsed) == 1;
    }
    while (size < text->size && (url_is_letter_or_digit(text->data[size]) ||
                                 memchr("-._", text->data[size], strlen("-._"))))
        size++;
    *host = span_of(text->data, size);
    *text = span_from(*text, size);
    return size > 0 && size <= MAX_HOST;
}

/* Only characters that a path can contain without encoding, and encoded ones. */
static bool url_is_path(struct span text)
{
    if (text.size == 0)
        return true;
    if (text.data[0] != '/' || text.size > MAX_PATH)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        bool encoded = c == '%' && text.size - i > 2 && isxdigit((unsigned char)text.data[i + 1]) &&
                       isxdigit((unsigned char)text.data[i + 2]);
        if (!encoded && !url_is_letter_or_digit(c) &&
            !(c != '\0' && strchr("/-._~!$&'()*+,;=:@", c)))
            return false;
    }
    return true;
}

bool aws_url_parse(struct span text, struct aws_url *url)
{
    url->tls = url_take_prefix(&text, "https://");
    if (!url->tls && !url_take_prefix(&text, "http://"))
        return false;
    if (!url_take_host(&text, &url->host))
        return false;
    url->port = url_default_port(url);
    if (url_take_prefix(&text, ":")) {
        unsigned port = 0;
        while (text.size > 0 && ascii_is_digit(text.data[0]) && port <= MAX_PORT) {
            port = port * 10 + (unsigned)(text.data[0] - '0');
            text = span_from(text, 1);
        }
        if (port < 1 || port > MAX_PORT)
            return false;
        url->port = port;
    }
    url->path = text;
    return url_is_path(text);
}

/* A password may contain a slash that is not encoded, so all text before the last @ is removed. */
void aws_url_write_shown(struct buf *out, struct span text)
{
    static const char scheme_end[] = "://";
    const char *at = memrchr(text.data, '@', text.size);
    const char *secret = memmem(text.data, text.size, scheme_end, strlen(scheme_end));
    if (!at) {
        buf_add_span(out, text);
        return;
    }
    secret = secret && secret < at ? secret + strlen(scheme_end) : text.data;
    buf_add(out, text.data, (size_t)(secret - text.data));
    buf_add_text(out, "…");
    buf_add_span(out, span_from(text, (size_t)(at - text.data)));
}

void aws_url_write_host(struct buf *out, const struct aws_url *url)
{
    for (size_t i = 0; i < url->host.size; i++)
        buf_add_char(out, (char)tolower((unsigned char)url->host.data[i]));
    if (url->port != url_default_port(url))
        buf_printf(out, ":%u", url->port);
}

void aws_url_encode(struct buf *out, struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if (url_is_letter_or_digit(c) || memchr("-._~", c, strlen("-._~")))
            buf_add_char(out, c);
        else
            buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

/* The signature encodes the address's path once more, so a percent sign is encoded, too. */
void aws_url_write_signed_path(struct buf *out, struct span path)
{
    size_t from = out->size;
    bool in_folder = span_ends(path, SPAN_LITERAL("/"));
    while (path.size > 0) {
        const char *slash = memchr(path.data, '/', path.size);
        struct span segment = span_of(path.data, slash ? (size_t)(slash - path.data) : path.size);
        path = span_from(path, segment.size + (slash ? 1 : 0));
        if (span_is(segment, "..")) {
            size_t size = out->size;
            while (size > from && out->data[size - 1] != '/')
                size--;
            buf_truncate(out, size > from ? size - 1 : from);
        }
        if (segment.size == 0 || span_is(segment, ".") || span_is(segment, ".."))
            continue;
        buf_add_char(out, '/');
        aws_url_encode(out, segment);
    }
    if (in_folder || out->size == from)
        buf_add_char(out, '/');
}
