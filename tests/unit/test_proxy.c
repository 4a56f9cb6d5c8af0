/* Which proxy the environment names for a url. What is expected here is what botocore does, but for
 * SOCKS, of which it makes a host's name. */
#include "core/net/proxy.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

static const char *const names[] = {"http_proxy", "HTTP_PROXY",  "https_proxy",   "HTTPS_PROXY",
                                    "all_proxy",  "ALL_PROXY",   "no_proxy",      "NO_PROXY",
                                    "Http_Proxy", "HTTPS_proxy", "REQUEST_METHOD"};

static void clear(void)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unsetenv(names[i]);
}

/* SETTINGS is "NAME=value NAME=value". */
static void check(const char *settings, const char *url, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf found = {0};
    char copy[256], *rest = copy;
    clear();
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *word; (word = strsep(&rest, " "));) {
        char *equals = strchr(word, '=');
        if (!equals)
            continue;
        *equals = '\0';
        setenv(word, equals + 1, 1);
    }
    proxy_for(url, &found);
    clear();
    CHECK_TEXT(buf_text(&found), want);
}

#define HOST "dynamodb.eu-west-1.amazonaws.com"
#define PLAIN "http://" HOST "/"
#define TLS "https://" HOST "/"

static void none_is_named(void)
{
    check("", TLS, "");
    check("http_proxy=p:1", TLS, "");
    check("https_proxy=p:1", PLAIN, "");
    check("https_proxy=", TLS, "");
}

static void each_scheme_has_its_own(void)
{
    check("http_proxy=http://p:1 https_proxy=http://q:2", PLAIN, "http://p:1");
    check("http_proxy=http://p:1 https_proxy=http://q:2", TLS, "http://q:2");
}

static void capitals_count_and_lower_case_goes_before(void)
{
    check("HTTP_PROXY=http://p:1", PLAIN, "http://p:1");
    check("HTTPS_PROXY=http://p:1", TLS, "http://p:1");
    check("Http_Proxy=http://p:1", PLAIN, "http://p:1");
    check("HTTPS_PROXY=http://p:1 https_proxy=http://q:2", TLS, "http://q:2");
    check("https_proxy=http://q:2 HTTPS_PROXY=http://p:1", TLS, "http://q:2");
    check("HTTPS_PROXY=http://p:1 https_proxy=", TLS, "");
}

static void a_proxy_for_all_is_none(void)
{
    check("ALL_PROXY=http://p:1", TLS, "");
    check("all_proxy=http://p:1", PLAIN, "");
}

static void a_strangers_header_is_no_proxy(void)
{
    check("REQUEST_METHOD=GET HTTP_PROXY=http://p:1", PLAIN, "");
    check("REQUEST_METHOD=GET http_proxy=http://p:1", PLAIN, "http://p:1");
}

static void a_scheme_is_supplied(void)
{
    check("https_proxy=p:1", TLS, "http://p:1");
    check("https_proxy=//p:1", TLS, "http://p:1");
    check("https_proxy=https://p:1", TLS, "https://p:1");
    check("https_proxy=socks5h://p:1", TLS, "socks5h://p:1");
}

static void check_left_out(const char *no_proxy, const char *url, bool left_out)
{
    char settings[200];
    snprintf(settings, sizeof settings, "http_proxy=http://p:1 https_proxy=http://p:1 no_proxy=%s",
             no_proxy);
    check(settings, url, left_out ? "" : "http://p:1");
}

static void domains_can_be_left_out(void)
{
    check_left_out(HOST, TLS, true);
    check_left_out("amazonaws.com", TLS, true);
    check_left_out(".amazonaws.com", TLS, true);
    check_left_out("...AmazonAWS.com", TLS, true);
    check_left_out("x.org,,amazonaws.com", TLS, true);
    check_left_out("aws.com", TLS, false);
    check_left_out("dynamodb", TLS, false);
    check_left_out(",", TLS, false);
    check_left_out("", TLS, false);
    check("https_proxy=http://p:1 NO_PROXY=amazonaws.com", TLS, "");
    check("https_proxy=http://p:1 NO_PROXY=amazonaws.com no_proxy=", TLS, "http://p:1");
}

static void a_star_stands_alone(void)
{
    check_left_out("*", TLS, true);
    check_left_out("x.org,*", TLS, false);
    check_left_out("*.amazonaws.com", TLS, false);
}

static void ports_and_addresses(void)
{
    check_left_out("127.0.0.1", "http://127.0.0.1:8000/", true);
    check_left_out("127.0.0.1:8000", "http://127.0.0.1:8000/", true);
    check_left_out("127.0.0.1:8001", "http://127.0.0.1:8000/", false);
    check_left_out("127.0.0.0/8", "http://127.0.0.1:8000/", false);
    check_left_out("[::1]", "http://[::1]:8000/", true);
    check_left_out("localhost", "http://127.0.0.1:8000/", false);
    check_left_out("0.1", "http://127.0.0.1:8000/", true);
}

static const struct check_test tests[] = {
    {"none is named", none_is_named},
    {"each scheme has its own", each_scheme_has_its_own},
    {"capitals count, and lower case goes before", capitals_count_and_lower_case_goes_before},
    {"a proxy for all is none", a_proxy_for_all_is_none},
    {"a stranger's header is no proxy", a_strangers_header_is_no_proxy},
    {"a scheme is supplied", a_scheme_is_supplied},
    {"domains can be left out", domains_can_be_left_out},
    {"a star stands alone", a_star_stands_alone},
    {"ports and addresses", ports_and_addresses},
};
CHECK_MAIN(tests)
