/* Inputs that wrap another: decompressed, or compared with a checksum. */
#include <stdlib.h>

#include "core/base/crypto.h"
#include "core/import/input.h"
#include "core/item/value.h"
#include "core/net/gzip.h"

struct wrapped_input {
    struct input base;
    struct input *inner; /* owned */
    struct buf packed;   /* of input_unpack: bytes of INNER, used up to USED */
    size_t used;
    struct gzip_stream *stream; /* owned; NULL: the bytes are not compressed */
    bool in_member, has_begun, has_ended;
    struct digest *digest; /* owned; of input_verify */
    struct buf expected;   /* the 16 bytes of the checksum */
};

static void wrapped_input_close(struct input *input)
{
    struct wrapped_input *wrapped = (struct wrapped_input *)input;
    input_close(wrapped->inner);
    buf_clean_up(&wrapped->packed);
    buf_clean_up(&wrapped->expected);
    gzip_stream_destroy(wrapped->stream);
    digest_free(wrapped->digest);
    free(wrapped);
}

/* Takes over INNER. NULL with ERR filled. */
static struct wrapped_input *wrapped_input_new(const struct input_ops *ops, struct input *inner,
                                               struct error *err)
{
    struct wrapped_input *wrapped = calloc(1, sizeof *wrapped);
    char *name = strdup(inner->name);
    if (!wrapped || !name) {
        free(wrapped);
        free(name);
        input_close(inner);
        error_no_memory(err);
        return NULL;
    }
    wrapped->base = (struct input){ops, name, inner->size, inner->position, inner->modified_ms};
    wrapped->inner = inner;
    return wrapped;
}

/* gzip. */

/* Reads further bytes of INNER behind those that are not used yet. */
static bool unpacking_fill(struct wrapped_input *wrapped, struct error *err)
{
    struct buf *packed = &wrapped->packed;
    size_t left = packed->size - wrapped->used;
    if (left > 0)
        memmove(packed->data, packed->data + wrapped->used, left);
    buf_truncate(packed, left);
    wrapped->used = 0;
    bool ok = input_read(wrapped->inner, packed, err);
    wrapped->has_ended = ok && packed->size == left;
    wrapped->base.position = wrapped->inner->position;
    return ok;
}

/* Whether a member begins here. Reads until two bytes are there, or the end. */
static bool unpacking_find_member(struct wrapped_input *wrapped, bool *begins, struct error *err)
{
    struct buf *packed = &wrapped->packed;
    while (packed->size - wrapped->used < 2 && !wrapped->has_ended)
        if (!unpacking_fill(wrapped, err))
            return false;
    *begins = packed->size - wrapped->used >= 2 &&
              memcmp(packed->data + wrapped->used, "\x1f\x8b", 2) == 0;
    return true;
}

static bool unpacking_pass(struct wrapped_input *wrapped, struct buf *out, struct error *err)
{
    if (wrapped->used == wrapped->packed.size && !wrapped->has_ended &&
        !unpacking_fill(wrapped, err))
        return false;
    buf_add_span(out, span_from(buf_span(&wrapped->packed), wrapped->used));
    wrapped->used = wrapped->packed.size;
    return !out->failed || error_no_memory(err);
}

/* Decompresses until bytes come, or INNER ends. */
static bool unpacking_inflate(struct wrapped_input *wrapped, struct buf *out, struct error *err)
{
    const char *name = wrapped->base.name;
    size_t before = out->size;
    while (out->size == before) {
        bool begins = true;
        if (!wrapped->in_member && !unpacking_find_member(wrapped, &begins, err))
            return false;
        if (!begins && wrapped->has_ended && wrapped->used == wrapped->packed.size)
            return true;
        if (!begins)
            return error_set(err, ERROR_INVALID,
                             "%s has other bytes behind its compressed data; the file is damaged; "
                             "copy it again",
                             name);
        wrapped->in_member = true;
        if (wrapped->used == wrapped->packed.size && !unpacking_fill(wrapped, err))
            return false;
        if (wrapped->has_ended && wrapped->used == wrapped->packed.size)
            return error_set(
                err, ERROR_INVALID,
                "%s ends too early; the compressed data is cut off; copy the file again", name);
        struct span data = span_from(buf_span(&wrapped->packed), wrapped->used);
        enum gzip_result result = gzip_stream_add(wrapped->stream, &data, INPUT_CHUNK, out);
        wrapped->used = wrapped->packed.size - data.size;
        if (result == GZIP_NO_MEMORY)
            return error_no_memory(err);
        if (result == GZIP_DAMAGED)
            return error_set(err, ERROR_INVALID,
                             "%s is damaged: it can't be decompressed; copy the file again", name);
        wrapped->in_member = result != GZIP_WHOLE;
    }
    return true;
}

static bool unpacking_read(struct input *input, struct buf *out, struct error *err)
{
    struct wrapped_input *wrapped = (struct wrapped_input *)input;
    bool begins = false;
    if (!wrapped->has_begun && !unpacking_find_member(wrapped, &begins, err))
        return false;
    if (begins && !(wrapped->stream = gzip_stream_new()))
        return error_no_memory(err);
    wrapped->has_begun = true;
    return wrapped->stream ? unpacking_inflate(wrapped, out, err)
                           : unpacking_pass(wrapped, out, err);
}

struct input *input_unpack(struct input *inner, struct error *err)
{
    static const struct input_ops ops = {unpacking_read, wrapped_input_close};
    struct wrapped_input *wrapped = wrapped_input_new(&ops, inner, err);
    return wrapped ? &wrapped->base : NULL;
}

/* Checksums. */

static bool verifying_end(struct wrapped_input *wrapped, struct error *err)
{
    uint8_t found[DIGEST_MD5_SIZE];
    struct buf *expected = &wrapped->expected;
    CLEAN_UP(buf_clean_up) struct buf is = {0}, stated = {0};
    if (wrapped->has_ended)
        return true;
    wrapped->has_ended = true;
    if (!digest_end(wrapped->digest, found))
        return error_no_memory(err);
    if (memcmp(found, expected->data, sizeof found) == 0)
        return true;
    base64_write(&is, span_of((const char *)found, sizeof found));
    base64_write(&stated, buf_span(expected));
    return error_set(err, ERROR_INVALID,
                     "%s has the MD5 checksum %s, and not %s as stated for it; the file is damaged "
                     "or of another export; copy it again",
                     wrapped->base.name, buf_text(&is), buf_text(&stated));
}

static bool verifying_read(struct input *input, struct buf *out, struct error *err)
{
    struct wrapped_input *wrapped = (struct wrapped_input *)input;
    size_t before = out->size;
    if (!input_read(wrapped->inner, out, err))
        return false;
    input->position = wrapped->inner->position;
    if (out->size == before)
        return verifying_end(wrapped, err);
    return digest_add(wrapped->digest, span_from(buf_span(out), before)) || error_no_memory(err);
}

struct input *input_verify(struct input *inner, struct span base64, struct error *err)
{
    static const struct input_ops ops = {verifying_read, wrapped_input_close};
    struct wrapped_input *wrapped = wrapped_input_new(&ops, inner, err);
    if (!wrapped)
        return NULL;
    bool ok = base64_read(base64, &wrapped->expected) && wrapped->expected.size == DIGEST_MD5_SIZE;
    wrapped->digest = ok ? digest_begin_md5() : NULL;
    if (wrapped->digest)
        return &wrapped->base;
    if (wrapped->expected.failed || ok)
        error_no_memory(err);
    else
        error_set(err, ERROR_INVALID, "the checksum of %s is no MD5 in base64: %.*s",
                  wrapped->base.name, (int)(base64.size < 80 ? base64.size : 80), base64.data);
    input_close(&wrapped->base);
    return NULL;
}
