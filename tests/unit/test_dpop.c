/* Keys of ES256, and proofs of possession made with them. tests/cli/test_login.py has openssl
 * verify the signature. */
#include "core/aws/credentials_providers.h"

#include "core/base/crypto.h"
#include "tests/unit/check.h"

#define SEC1                                                                                       \
    "-----BEGIN EC PRIVATE KEY-----\n"                                                             \
    "MHcCAQEEILn+2skVZOz5V50LkplHuTlEecIQTgdCijGVsU/6pOmXoAoGCCqGSM49\n"                           \
    "AwEHoUQDQgAE9VedVjZFkgGIUetCTaGadHBsI1GGXYOm1Rt3U2GouKnKUayELRA3\n"                           \
    "QQWdz75AeJV7CBS4DzvwrGp3v79pCtGglA==\n"                                                       \
    "-----END EC PRIVATE KEY-----\n"

static const char pkcs8[] = "-----BEGIN PRIVATE KEY-----\r\n"
                            "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQguf7ayRVk7PlXnQuS\r\n"
                            "mUe5OUR5whBOB0KKMZWxT/qk6ZehRANCAAT1V51WNkWSAYhR60JNoZp0cGwjUYZd\r\n"
                            "g6bVG3dTYai4qcpRrIQtEDdBBZ3PvkB4lXsIFLgPO/Csane/v2kK0aCU\r\n"
                            "-----END PRIVATE KEY-----\r\n";

static const char p384[] = "-----BEGIN EC PRIVATE KEY-----\n"
                           "MIGkAgEBBDCzSej+G5eN80AE/WYzTN3wZSJE9Q7jFOfl6YpUJeazN0cb11OugZST\n"
                           "j9+A4dpXpeSgBwYFK4EEACKhZANiAASI3MpWHqTiEQmfeQ2RgbQEP4Dr0ba6enjL\n"
                           "n67OPBE29t9nPLtpx3jPUxkJ2c7Ev0mRRFiltjGZw/Xxp2UiMVLlRkqYAwJmvDR1\n"
                           "z/edf6Wm9Ls1jLQ1at1u9zV8g2isUZw=\n"
                           "-----END EC PRIVATE KEY-----\n";

static const char encrypted[] = "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
                                "MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAifZojfzOpv5AICCAAw\n"
                                "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEB3F9FtcrgcMZEa9vflMdjgEgZD6\n"
                                "JL66JjCIdz5I2bCkHwl3VIbwi1YTHrHtN3+xakpfa/ncFhcF40l6gGs8nBhFhc7D\n"
                                "tGdGIOm0T43RuTI35He35W5N1Y559OGziJvv59gFoTkdvaPrbFElJKqupHEVH+Im\n"
                                "iK5rVMBbcuGu7vZBU4fItrpvf44blY3zEWWnr3fkzqTBhER/yWsWvnRlpamzxDs=\n"
                                "-----END ENCRYPTED PRIVATE KEY-----\n";

/* The first bytes of both numbers of the public key, as `openssl ec -text` shows them. */
static void check_point(const char *text)
{
    static const uint8_t want_x[] = {0xf5, 0x57, 0x9d, 0x56}, want_y[] = {0xca, 0x51, 0xac, 0x84};
    uint8_t x[ES256_NUMBER], y[ES256_NUMBER];
    struct es256_key *key = es256_key_read(span_text(text));
    bool ok = key && es256_key_point(key, x, y);
    es256_key_free(key);
    CHECK(ok && memcmp(x, want_x, 4) == 0 && memcmp(y, want_y, 4) == 0);
}

static void keys_of_either_form(void)
{
    check_point(SEC1);
    check_point(pkcs8);
    check_point("MHcCAQEEILn+2skVZOz5V50LkplHuTlEecIQTgdCijGVsU/6pOmXoAoGCCqGSM49AwEHoUQDQgAE9V"
                "edVjZFkgGIUetCTaGadHBsI1GGXYOm1Rt3U2GouKnKUayELRA3QQWdz75AeJV7CBS4DzvwrGp3v79p"
                "CtGglA==");
}

static void what_is_no_key(void)
{
    static const char *const bad[] = {
        "",         "-----BEGIN EC PRIVATE KEY-----\n-----END EC PRIVATE KEY-----\n",
        p384,       encrypted,
        "x",        "MHcCAQEE",
        "\n\n\n",   "MHcCAQEEILn+2skVZOz5V50LkplHuTlEecIQTgdCijGVsU/6pOmXoAoGCCqGSM49",
        "!!!!!!!!", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    };
    CLEAN_UP(buf_clean_up) struct buf large = {0}, proof = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct es256_key *key = es256_key_read(span_text(bad[i]));
        es256_key_free(key);
        if (key)
            CHECK_FAIL("<%s> is taken for a key", bad[i]);
        CHECK(!login_write_proof(&proof, span_text(bad[i]), "https://x/", 0) && proof.size == 0);
    }
    buf_add_repeated(&large, 'A', 1000000);
    CHECK(!es256_key_read(buf_span(&large)));
}

static int value_of(char c)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *found = c ? strchr(letters, c) : NULL;
    return found ? (int)(found - letters) : -1;
}

/* Takes what stands before the next dot off TEXT, decoded. */
static void take_part(const char **text, struct buf *out)
{
    unsigned bits = 0, count = 0;
    for (; **text && **text != '.'; ++*text) {
        int value = value_of(**text);
        CHECK(value >= 0);
        bits = bits << 6 | (unsigned)value;
        count += 6;
        if (count >= 8)
            buf_add_char(out, (char)(bits >> (count -= 8)));
    }
    *text += **text == '.';
}

static void a_proof(void)
{
    CLEAN_UP(buf_clean_up)
    struct buf proof = {0}, other = {0}, head = {0}, claims = {0}, signature = {0};
    CHECK(
        login_write_proof(&proof, SPAN_LITERAL(SEC1), "https://x.example/v1/token", 1792000000999));
    CHECK(
        login_write_proof(&other, SPAN_LITERAL(SEC1), "https://x.example/v1/token", 1792000000999));
    CHECK(!span_equal(buf_span(&proof), buf_span(&other)));
    const char *rest = buf_text(&proof);
    take_part(&rest, &head);
    take_part(&rest, &claims);
    take_part(&rest, &signature);
    CHECK_TEXT(rest, "");
    CHECK_TEXT(buf_text(&head),
               "{\"typ\":\"dpop+jwt\",\"alg\":\"ES256\",\"jwk\":{\"kty\":\"EC\","
               "\"x\":\"9VedVjZFkgGIUetCTaGadHBsI1GGXYOm1Rt3U2GouKk\","
               "\"y\":\"ylGshC0QN0EFnc--QHiVewgUuA878Kxqd7-_aQrRoJQ\",\"crv\":\"P-256\"}}");
    CHECK_HAS(buf_text(&claims), "{\"htm\":\"POST\",\"htu\":\"https://x.example/v1/token\","
                                 "\"iat\":1792000000,\"jti\":\"");
    CHECK_INT(claims.size, strlen("{\"htm\":\"POST\",\"htu\":\"https://x.example/v1/token\","
                                  "\"iat\":1792000000,\"jti\":\"\"}") +
                               36);
    CHECK_INT(signature.size, ES256_SIGNATURE);
}

static const struct check_test tests[] = {
    {"keys of either form", keys_of_either_form},
    {"what is no key", what_is_no_key},
    {"a proof", a_proof},
};
CHECK_MAIN(tests)
