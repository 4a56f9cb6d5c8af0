/* Digests against published values. */
#include "core/base/crypto.h"

#include "tests/unit/check.h"

static void check_hex(const uint8_t *bytes, const char *want)
{
    CLEAN_UP(buf_clean_up) struct buf hex = {0};
    digest_hex(&hex, bytes, DIGEST_SIZE);
    CHECK_TEXT(buf_text(&hex), want);
}

static void check_sha256(struct span data, const char *want)
{
    uint8_t digest[DIGEST_SIZE];
    CHECK(digest_sha256(data, digest));
    check_hex(digest, want);
}

static void sha256_of_nothing(void)
{
    check_sha256(span_text(NULL),
                 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void sha256_of_abc(void)
{
    check_sha256(SPAN_LITERAL("abc"),
                 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

/* RFC 4231, test case 2. */
static void hmac_of_a_short_key(void)
{
    uint8_t digest[DIGEST_SIZE];
    CHECK(digest_hmac_sha256(SPAN_LITERAL("Jefe"), SPAN_LITERAL("what do ya want for nothing?"),
                             digest));
    check_hex(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

/* RFC 4231, test case 6. */
static void hmac_of_a_key_longer_than_a_block(void)
{
    uint8_t digest[DIGEST_SIZE];
    char key[131];
    memset(key, 0xaa, sizeof key);
    CHECK(digest_hmac_sha256(span_of(key, sizeof key),
                             SPAN_LITERAL("Test Using Larger Than Block-Size Key - Hash Key First"),
                             digest));
    check_hex(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void hmac_of_nothing_under_nothing(void)
{
    uint8_t digest[DIGEST_SIZE];
    CHECK(digest_hmac_sha256(span_of(NULL, 0), span_text(""), digest));
    check_hex(digest, "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void hex_is_lower_case_and_appended(void)
{
    static const uint8_t bytes[] = {0x00, 0x0f, 0xf0, 0xab};
    CLEAN_UP(buf_clean_up) struct buf hex = {0};
    buf_add_text(&hex, "x");
    digest_hex(&hex, bytes, sizeof bytes);
    digest_hex(&hex, bytes, 0);
    CHECK_TEXT(buf_text(&hex), "x000ff0ab");
}

static const struct check_test tests[] = {
    {"sha256 of nothing", sha256_of_nothing},
    {"sha256 of abc", sha256_of_abc},
    {"hmac of a short key", hmac_of_a_short_key},
    {"hmac of a key longer than a block", hmac_of_a_key_longer_than_a_block},
    {"hmac of nothing under nothing", hmac_of_nothing_under_nothing},
    {"hex is lower case and appended", hex_is_lower_case_and_appended},
};
CHECK_MAIN(tests)
