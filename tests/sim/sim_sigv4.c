#include "tests/sim/sim_sigv4.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "tests/sim/sim_text.h"
#include "tests/sim/sim_world.h"

enum {
    SIM_DIGEST = 32, /* bytes of SHA-256 */
    SIM_BLOCK = 64,
    SIM_DAY = 8, /* of 20260416T101500Z, its 20260416 */
    SIM_TOLERANCE_MS = 15 * 60 * 1000,
    SIM_MOST_SIGNED = 32,
};

#define SIM_ALGORITHM "AWS4-HMAC-SHA256"

/* Digests. The method is fetched once, because OpenSSL's look-up costs more than the digest. */

struct sim_part {
    const void *bytes;
    size_t size;
};

static void sim_sigv4_digest(const struct sim_part *parts, size_t count,
                             unsigned char out[SIM_DIGEST])
{
    static EVP_MD *method;
    static EVP_MD_CTX *context;
    if (!method) {
        method = EVP_MD_fetch(NULL, "SHA256", NULL);
        context = EVP_MD_CTX_new();
    }
    bool ok = method && context && EVP_DigestInit_ex2(context, method, NULL) == 1;
    for (size_t i = 0; ok && i < count; i++)
        ok = EVP_DigestUpdate(context, parts[i].bytes, parts[i].size) == 1;
    if (!ok || EVP_DigestFinal_ex(context, out, NULL) != 1)
        sim_broken("OpenSSL computes no digest");
}

/* KEY has at most a block (RFC 2104). */
static void sim_sigv4_hmac(const void *key, size_t key_size, const void *bytes, size_t size,
                           unsigned char out[SIM_DIGEST])
{
    unsigned char inner[SIM_BLOCK], outer[SIM_BLOCK], digest[SIM_DIGEST];
    const unsigned char *from = key;
    if (key_size > SIM_BLOCK)
        sim_broken("a key of %zu bytes", key_size);
    for (size_t i = 0; i < SIM_BLOCK; i++) {
        unsigned char byte = i < key_size ? from[i] : 0;
        inner[i] = byte ^ 0x36;
        outer[i] = byte ^ 0x5c;
    }
    struct sim_part first[] = {{inner, sizeof inner}, {bytes, size}};
    struct sim_part second[] = {{outer, sizeof outer}, {digest, sizeof digest}};
    sim_sigv4_digest(first, 2, digest);
    sim_sigv4_digest(second, 2, out);
}

static void sim_sigv4_add_hex(struct sim_text *out, const unsigned char digest[SIM_DIGEST])
{
    static const char digits[] = "0123456789abcdef";
    char hex[2 * SIM_DIGEST];
    for (size_t i = 0; i < SIM_DIGEST; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    sim_text_add(out, hex, sizeof hex);
}

/* The signing key of one day, region and secret; the last one is stored. */
static const unsigned char *sim_sigv4_key(const char *secret, const char *day, const char *region)
{
    static unsigned char key[SIM_DIGEST];
    static char scope[160];
    char wanted[160], start[128];
    unsigned char next[SIM_DIGEST];
    snprintf(wanted, sizeof wanted, "%.8s %s %s", day, region, secret);
    if (strcmp(wanted, scope) == 0)
        return key;
    int size = snprintf(start, sizeof start, "AWS4%s", secret);
    sim_sigv4_hmac(start, (size_t)size, day, SIM_DAY, next);
    sim_sigv4_hmac(next, sizeof next, region, strlen(region), key);
    sim_sigv4_hmac(key, sizeof key, "dynamodb", strlen("dynamodb"), next);
    sim_sigv4_hmac(next, sizeof next, "aws4_request", strlen("aws4_request"), key);
    memcpy(scope, wanted, sizeof scope);
    return key;
}

/* Headers. */

static const char *sim_sigv4_skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t')
        text++;
    return text;
}

/* The value behind the name NAME of SIZE bytes; NULL if LINE is another header. */
static const char *sim_sigv4_value(const char *line, const char *name, size_t size)
{
    if (strncasecmp(line, name, size) != 0 || line[size] != ':')
        return NULL;
    return sim_sigv4_skip_blanks(line + size + 1);
}

const char *sim_request_header(const struct sim_request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const char *value = sim_sigv4_value(request->headers[i], name, strlen(name));
        if (value)
            return value;
    }
    return NULL;
}

/* A run of blanks becomes one space; none is at the ends. */
static void sim_sigv4_add_value(struct sim_text *out, const char *value)
{
    for (const char *at = sim_sigv4_skip_blanks(value); *at;) {
        size_t plain = strcspn(at, " \t");
        sim_text_add(out, at, plain);
        at = sim_sigv4_skip_blanks(at + plain);
        if (*at)
            sim_text_puts(out, " ");
    }
}

void sim_sigv4_write_date(char out[SIM_DATE_SIZE], int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(out, SIM_DATE_SIZE, "%Y%m%dT%H%M%SZ", &parts);
}

/* Milliseconds since 1970 of 20260416T101500Z; -1: it is none. */
static int64_t sim_sigv4_read_date(const char *text)
{
    struct tm parts = {0};
    int end = 0;
    if (sscanf(text, "%4d%2d%2dT%2d%2d%2dZ%n", &parts.tm_year, &parts.tm_mon, &parts.tm_mday,
               &parts.tm_hour, &parts.tm_min, &parts.tm_sec, &end) != 6 ||
        end != SIM_DATE_SIZE - 1 || text[end] != '\0')
        return -1;
    parts.tm_year -= 1900;
    parts.tm_mon--;
    return (int64_t)timegm(&parts) * 1000;
}

/* The Authorization header. */

struct sim_authorization {
    char credential[160], signed_headers[400], signature[80];
    /* The parts of CREDENTIAL. */
    char key_id[64], day[16], region[40], service[32], end[32];
};

/* Copies the value of "NAME=VALUE," into OUT. */
static bool sim_sigv4_read_member(const char *text, const char *name, char *out, size_t size)
{
    const char *at = strstr(text, name);
    if (!at)
        return false;
    at += strlen(name);
    size_t length = strcspn(at, ", ");
    if (length == 0 || length >= size)
        return false;
    memcpy(out, at, length);
    out[length] = '\0';
    return true;
}

static bool sim_sigv4_read(const char *text, struct sim_authorization *out)
{
    static const char algorithm[] = SIM_ALGORITHM " ";
    *out = (struct sim_authorization){0};
    return strncmp(text, algorithm, sizeof algorithm - 1) == 0 &&
           sim_sigv4_read_member(text, "Credential=", out->credential, sizeof out->credential) &&
           sim_sigv4_read_member(text, "SignedHeaders=", out->signed_headers,
                                 sizeof out->signed_headers) &&
           sim_sigv4_read_member(text, "Signature=", out->signature, sizeof out->signature) &&
           sscanf(out->credential, "%63[^/]/%15[^/]/%39[^/]/%31[^/]/%31[^/]", out->key_id, out->day,
                  out->region, out->service, out->end) == 5;
}

/* The stages. */

/* Appends the canonical request. False if a signed header is missing, or the list is not sorted. */
static bool sim_sigv4_add_canonical(struct sim_text *out, const struct sim_request *request,
                                    const char *path, const char *signed_headers)
{
    unsigned char digest[SIM_DIGEST];
    char previous[64] = "";
    sim_text_puts(out, request->method);
    sim_text_puts(out, "\n");
    sim_text_puts(out, path);
    sim_text_puts(out, "\n\n");
    for (const char *at = signed_headers; *at;) {
        size_t size = strcspn(at, ";");
        const char *value = NULL;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)size, at);
        if (strcmp(previous, name) >= 0)
            return false;
        for (size_t i = 0; i < request->header_count && !value; i++)
            value = sim_sigv4_value(request->headers[i], name, size);
        if (!value)
            return false;
        sim_text_puts(out, name);
        sim_text_puts(out, ":");
        sim_sigv4_add_value(out, value);
        sim_text_puts(out, "\n");
        memcpy(previous, name, sizeof previous);
        at += size + (at[size] == ';');
    }
    sim_text_puts(out, "\n");
    sim_text_puts(out, signed_headers);
    sim_text_puts(out, "\n");
    sim_sigv4_digest(&(struct sim_part){request->body, request->size}, 1, digest);
    sim_sigv4_add_hex(out, digest);
    return true;
}

static bool sim_sigv4_matches(const struct sim_request *request, const char *path,
                              const struct sim_authorization *read, const char *date,
                              const char *secret)
{
    struct sim_text canonical = {0}, to_sign = {0}, hex = {0};
    unsigned char digest[SIM_DIGEST];
    bool ok = sim_sigv4_add_canonical(&canonical, request, path, read->signed_headers);
    if (ok) {
        sim_sigv4_digest(&(struct sim_part){canonical.bytes, canonical.size}, 1, digest);
        sim_text_printf(&to_sign, SIM_ALGORITHM "\n%s\n%s/%s/%s/aws4_request\n", date, read->day,
                        read->region, read->service);
        sim_sigv4_add_hex(&to_sign, digest);
        sim_sigv4_hmac(sim_sigv4_key(secret, read->day, read->region), SIM_DIGEST, to_sign.bytes,
                       to_sign.size, digest);
        sim_sigv4_add_hex(&hex, digest);
        ok = strcmp(hex.bytes, read->signature) == 0;
    }
    sim_text_free(&canonical);
    sim_text_free(&to_sign);
    sim_text_free(&hex);
    return ok;
}

/* Whether the list NAMES, with semicolons, has the header LINE. */
static bool sim_sigv4_signs(const char *names, const char *line)
{
    size_t size = strcspn(line, ":");
    for (const char *at = names; *at;) {
        size_t each = strcspn(at, ";");
        if (each == size && strncasecmp(at, line, size) == 0)
            return true;
        at += each + (at[each] == ';');
    }
    return false;
}

/* Host and all headers of AWS must be signed. Returns the first that is not, or NULL. */
static const char *sim_sigv4_unsigned(const struct sim_request *request, const char *names)
{
    for (size_t i = 0; i < request->header_count; i++) {
        const char *line = request->headers[i];
        bool must = strncasecmp(line, "host:", 5) == 0 || strncasecmp(line, "x-amz-", 6) == 0;
        if (must && !sim_sigv4_signs(names, line))
            return line;
    }
    return NULL;
}

/* The clock: NULL if the date is near enough. */
static char *sim_sigv4_check_clock(const char *date, int64_t at_ms, int64_t wall_ms)
{
    char now[SIM_DATE_SIZE], limit[SIM_DATE_SIZE];
    sim_sigv4_write_date(now, wall_ms);
    if (at_ms < wall_ms - SIM_TOLERANCE_MS) {
        sim_sigv4_write_date(limit, wall_ms - SIM_TOLERANCE_MS);
        return sim_printf("Signature expired: %s is now earlier than %s (%s - 15 min.)", date,
                          limit, now);
    }
    if (at_ms > wall_ms + SIM_TOLERANCE_MS) {
        sim_sigv4_write_date(limit, wall_ms + SIM_TOLERANCE_MS);
        return sim_printf("Signature not yet current: %s is still later than %s (%s + 15 min.)",
                          date, limit, now);
    }
    return NULL;
}

static struct sim_signature sim_sigv4_refuse(const char *code, char *message)
{
    return (struct sim_signature){.code = code, .message = message};
}

/* What the scope and the identity lack. */
static struct sim_signature sim_sigv4_check_scope(const struct sim_request *request,
                                                  const struct sim_authorization *read,
                                                  const struct sim_credentials *credentials,
                                                  const char *region, const char *date)
{
    const char *token = sim_request_header(request, "x-amz-security-token");
    const char *wanted = credentials->session_token;
    if (strncmp(read->day, date, SIM_DAY) != 0 || strlen(read->day) != SIM_DAY)
        return sim_sigv4_refuse(
            "InvalidSignatureException",
            sim_printf("Date in Credential scope does not match YYYYMMDD from ISO-8601 version of "
                       "date from HTTP: '%s' != '%.8s', from '%s'.",
                       read->day, date, date));
    if (strcmp(read->region, region) != 0)
        return sim_sigv4_refuse(
            "InvalidSignatureException",
            sim_printf("Credential should be scoped to a valid region, not '%s'. ", read->region));
    if (strcmp(read->service, "dynamodb") != 0 || strcmp(read->end, "aws4_request") != 0)
        return sim_sigv4_refuse(
            "InvalidSignatureException",
            sim_copy("Credential should be scoped to correct service: 'dynamodb'. "));
    if (strcmp(read->key_id, credentials->access_key_id) != 0 || !token != !wanted ||
        (wanted && strcmp(token, wanted) != 0))
        return sim_sigv4_refuse("UnrecognizedClientException",
                                sim_copy("The security token included in the request is invalid."));
    return (struct sim_signature){0};
}

struct sim_signature sim_sigv4_check(const struct sim_request *request, const char *path,
                                     const struct sim_credentials *credentials, const char *region,
                                     int64_t wall_ms)
{
    struct sim_authorization read;
    const char *authorization = sim_request_header(request, "authorization");
    const char *date = sim_request_header(request, "x-amz-date");
    if (!authorization)
        return sim_sigv4_refuse("MissingAuthenticationTokenException",
                                sim_copy("Missing Authentication Token"));
    int64_t at_ms = date ? sim_sigv4_read_date(date) : -1;
    if (!sim_sigv4_read(authorization, &read) || at_ms < 0)
        return sim_sigv4_refuse(
            "IncompleteSignatureException",
            sim_printf("Authorization header requires 'Credential' parameter. Authorization "
                       "header requires 'Signature' parameter. Authorization header requires "
                       "'SignedHeaders' parameter. Authorization=%s",
                       authorization));
    const char *missing = sim_sigv4_unsigned(request, read.signed_headers);
    if (missing || !sim_sigv4_signs(read.signed_headers, "host:"))
        return sim_sigv4_refuse(
            "InvalidSignatureException",
            sim_printf("'%.*s' must be a 'SignedHeader' in the AWS Authorization.",
                       missing ? (int)strcspn(missing, ":") : 4, missing ? missing : "Host"));
    struct sim_signature scope = sim_sigv4_check_scope(request, &read, credentials, region, date);
    if (scope.code)
        return scope;
    char *late = sim_sigv4_check_clock(date, at_ms, wall_ms);
    bool matches = sim_sigv4_matches(request, path, &read, date, credentials->secret_access_key);
    if (late && matches)
        return (struct sim_signature){"InvalidSignatureException", late, true};
    sim_free(late);
    if (matches)
        return (struct sim_signature){0};
    return sim_sigv4_refuse(
        "InvalidSignatureException",
        sim_copy("The request signature we calculated does not match the signature you provided. "
                 "Check your AWS Secret Access Key and signing method. Consult the service "
                 "documentation for details."));
}
