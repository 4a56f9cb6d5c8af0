/* Errors of requests without a response. */
#include "core/net/failure.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAX_PEER = 300 }; /* a host name and a port */

/* Writes "host:port", with the port even when it is the scheme's own. */
static void failure_write_peer(const char *url, char out[MAX_PEER])
{
    char *host = NULL, *port = NULL;
    CURLU *parts = curl_url();
    if (parts && curl_url_set(parts, CURLUPART_URL, url, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK)
        snprintf(out, MAX_PEER, "%.250s:%s", host, port);
    else
        snprintf(out, MAX_PEER, "the endpoint");
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(parts);
}

/* A message is BEFORE, the peer, AFTER, libcurl's reason if WITH_REASON is set, and ADVICE. */
struct cause {
    CURLcode code;
    enum error_kind kind;
    const char *before;
    const char *after;
    bool with_reason;
    const char *advice;
};

static const struct cause causes[] = {
    {CURLE_COULDNT_RESOLVE_HOST, ERROR_UNREACHABLE, "the name of ", " cannot be resolved", false,
     "; check the endpoint, the region and the network"},
    {CURLE_COULDNT_RESOLVE_PROXY, ERROR_UNREACHABLE, "the proxy for ", " cannot be resolved", false,
     "; check HTTPS_PROXY and HTTP_PROXY"},
    {CURLE_PROXY, ERROR_UNREACHABLE, "the proxy for ", " failed: ", true,
     "; check HTTPS_PROXY and HTTP_PROXY"},
    {CURLE_GOT_NOTHING, ERROR_RESET, "", " closed the connection without a response", false,
     "; try again, or check the endpoint"},
    {CURLE_PARTIAL_FILE, ERROR_RESET, "the response of ", " was cut short", false, "; try again"},
    {CURLE_RECV_ERROR, ERROR_RESET, "the connection to ", " was lost: ", true, "; try again"},
    {CURLE_SEND_ERROR, ERROR_RESET, "the connection to ", " was lost: ", true, "; try again"},
    {CURLE_SSL_CONNECT_ERROR, ERROR_TLS, "TLS with ", " failed: ", true,
     "; check that the endpoint speaks https"},
    {CURLE_PEER_FAILED_VERIFICATION, ERROR_UNTRUSTED, "the certificate of ", " is not trusted: ",
     true, "; check the endpoint, or name the authority's certificate in AWS_CA_BUNDLE"},
    {CURLE_SSL_CACERT_BADFILE, ERROR_UNTRUSTED, "the certificate of ", " cannot be checked: ", true,
     "; check AWS_CA_BUNDLE and the profile's ca_bundle, or install the package ca-certificates"},
    {CURLE_UNSUPPORTED_PROTOCOL, ERROR_TLS, "", " does not speak HTTP", false,
     "; check the endpoint and whether it is http or https"},
    {CURLE_WEIRD_SERVER_REPLY, ERROR_TLS, "", " does not speak HTTP: ", true,
     "; check the endpoint and whether it is http or https"},
    {CURLE_BAD_FUNCTION_ARGUMENT, ERROR_BAD_ANSWER, "the response of ", " has a malformed header",
     false, "; check the endpoint and any proxy"},
    {CURLE_URL_MALFORMAT, ERROR_INVALID, "", " is no address: ", true, "; check the endpoint"},
    {CURLE_OUT_OF_MEMORY, ERROR_NO_MEMORY, "no memory for a request to ", "", false, ""},
};

static const struct cause other_cause = {
    CURLE_OK, ERROR_BAD_ANSWER, "the request to ", " failed: ", true, ""};
static const struct cause cut_short = {CURLE_PARTIAL_FILE, ERROR_RESET, "the response of ",
                                       " was cut short",   false,       "; try again"};
static const struct cause refused = {
    CURLE_COULDNT_CONNECT,   ERROR_REFUSED, "no server listens at ",
    " (connection refused)", false,         "; check the endpoint"};
static const struct cause refused_by_proxy = {
    CURLE_COULDNT_CONNECT,
    ERROR_REFUSED,
    "the proxy for ",
    " refuses the connection: ",
    true,
    "; check HTTPS_PROXY and HTTP_PROXY, or add the host to NO_PROXY"};
static const struct cause no_route = {CURLE_COULDNT_CONNECT,
                                      ERROR_UNREACHABLE,
                                      "no connection to ",
                                      ": ",
                                      true,
                                      "; check the network and the endpoint"};
static const struct cause bad_proxy = {
    CURLE_PROXY, ERROR_UNREACHABLE, "the proxy does not reach ", ": ", true, "; check HTTPS_PROXY"};
static const struct cause bad_scheme = {
    CURLE_UNSUPPORTED_PROTOCOL, ERROR_INVALID, "", ": ", true, "; an endpoint is http or https"};

static const struct cause bad_proxy_address = {
    CURLE_COULDNT_CONNECT,
    ERROR_INVALID,
    "the proxy for ",
    " has no address that can be used",
    false,
    "; check HTTPS_PROXY and HTTP_PROXY: they take http://, https:// or socks5h://, a host and a "
    "port"};

static const struct cause *failure_listed_cause(int code)
{
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++)
        if ((int)causes[i].code == code)
            return &causes[i];
    return &other_cause;
}

static const struct cause *failure_find_cause(const struct failure *failure)
{
    static const char bad_address[] = "Unsupported proxy";
    if (failure->lost)
        return failure_listed_cause(CURLE_GOT_NOTHING);
    if (failure->proxy_status >= 300)
        return &bad_proxy;
    /* libcurl has several codes for an invalid address of a proxy, and quotes it with its password.
     */
    if (failure->proxied && strncmp(failure->reason, bad_address, strlen(bad_address)) == 0)
        return &bad_proxy_address;
    if (failure->code == CURLE_COULDNT_CONNECT && failure->os_error != ECONNREFUSED)
        return &no_route;
    if (failure->code == CURLE_COULDNT_CONNECT)
        return failure->proxied ? &refused_by_proxy : &refused;
    if (failure->code == CURLE_UNSUPPORTED_PROTOCOL && !failure->connected)
        return &bad_scheme;
    if (failure->code == CURLE_OK || (failure->code == CURLE_RECV_ERROR && failure->answered))
        return &cut_short;
    return failure_listed_cause(failure->code);
}

bool failure_report(const struct failure *failure, struct error *err)
{
    char peer[MAX_PEER];
    const struct cause *cause = failure_find_cause(failure);
    failure_write_peer(failure->url, peer);
    bool is_printable = failure->reason[0] && !(failure->proxied && strchr(failure->reason, '@'));
    const char *reason =
        is_printable ? failure->reason : curl_easy_strerror((CURLcode)failure->code);
    return error_set(err, cause->kind, "%s%s%s%s%s", cause->before, peer, cause->after,
                     cause->with_reason ? reason : "", cause->advice);
}

bool failure_report_late(const char *url, const char *what, int64_t timeout_ms, struct error *err)
{
    char peer[MAX_PEER];
    failure_write_peer(url, peer);
    return error_set(err, ERROR_TIMED_OUT,
                     "no %s %s within %.1f s; check the network and try again", what, peer,
                     (double)timeout_ms / 1000);
}

bool failure_report_no_descriptors(const char *url, struct error *err)
{
    char peer[MAX_PEER];
    failure_write_peer(url, peer);
    return error_set(err, ERROR_NO_DESCRIPTORS,
                     "too many files are open for a connection to %s; raise the limit (ulimit -n), "
                     "or close some",
                     peer);
}

bool failure_report_large_head(const char *url, size_t limit, struct error *err)
{
    char peer[MAX_PEER];
    failure_write_peer(url, peer);
    return error_set(err, ERROR_BAD_ANSWER,
                     "the headers of the response of %s are larger than the limit of %zu bytes; "
                     "check the endpoint and any proxy",
                     peer, limit);
}

bool failure_report_too_large(const char *url, size_t limit, struct error *err)
{
    char peer[MAX_PEER];
    failure_write_peer(url, peer);
    return error_set(err, ERROR_BAD_ANSWER,
                     "the response of %s is larger than the limit of %zu bytes", peer, limit);
}

bool failure_report_dead(const char *url, struct error *err)
{
    char peer[MAX_PEER];
    failure_write_peer(url, peer);
    return error_set(err, ERROR_RESET,
                     "an idle connection to %s was dead: no response arrived; try again", peer);
}
