/* Names and contents of the files in the AWS CLI's cache of roles. */
#include "core/aws/cli_cache.h"

#include "core/aws/credentials_cache.h"
#include "core/aws/document.h"
#include "core/aws/stored.h"
#include "core/base/crypto.h"
#include "core/base/instant.h"

char *cli_cache_path(struct span arguments)
{
    CLEAN_UP(buf_clean_up) struct buf path = {0};
    uint8_t digest[DIGEST_SHA1_SIZE];
    if (!digest_sha1(arguments, digest))
        return NULL;
    buf_add_text(&path, "~/.aws/cli/cache/");
    digest_hex(&path, digest, sizeof digest);
    buf_add_text(&path, ".json");
    return path.failed ? NULL : stored_path(path.data);
}

bool cli_cache_read(const char *path, int64_t wall_ms, struct credentials *out)
{
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    if (stored_read(path, &text, NULL) != STORED_READ)
        return false;
    CLEAN_UP(document_clean_up)
    struct document *document = document_parse(buf_span(&text), path, NULL);
    if (!document)
        return false;
    struct instant expires =
        instant_parse(span_text(document_text(document, "Credentials.Expiration")));
    if (expires.ms - wall_ms < CREDENTIALS_EARLY_MS)
        return false;
    const char *id = document_word(document, "Credentials.AccessKeyId");
    const char *secret = document_word(document, "Credentials.SecretAccessKey");
    const char *token = document_word(document, "Credentials.SessionToken");
    const char *account = document_word(document, "Credentials.AccountId");
    if (!id || !secret || !token ||
        !credentials_fill(out, span_text(id), span_text(secret), span_text(token),
                          span_text(account), NULL))
        return false;
    out->expires_wall_ms = expires.ms;
    return true;
}

void cli_cache_write(const char *path, const struct credentials *credentials, const char *provider,
                     const struct log *log)
{
    CLEAN_UP(document_clean_up) struct document *document = document_new();
    CLEAN_UP(buf_clean_up) struct buf expires = {0};
    CLEAN_UP(buf_clean_up_secret) struct buf text = {0};
    struct error err = {0};
    instant_write(&expires, credentials->expires_wall_ms);
    bool whole =
        document && (!provider || document_set_text(document, "ProviderType", provider)) &&
        document_set_object(document, "Credentials") &&
        document_set_text(document, "Credentials.AccessKeyId", credentials->access_key_id) &&
        document_set_text(document, "Credentials.SecretAccessKey",
                          credentials->secret_access_key) &&
        document_set_text(document, "Credentials.SessionToken", credentials->session_token) &&
        document_set_text(document, "Credentials.Expiration", buf_text(&expires)) &&
        (!credentials->account_id ||
         document_set_text(document, "Credentials.AccountId", credentials->account_id));
    if (whole)
        document_write(&text, document);
    if (!whole || expires.failed || text.failed)
        error_no_memory(&err);
    if (err.kind != ERROR_NONE || !stored_write(path, buf_span(&text), &err))
        log_line(log, LOG_LEVEL_WARNING, "credentials of a role are not stored for later: %s",
                 err.text);
}
