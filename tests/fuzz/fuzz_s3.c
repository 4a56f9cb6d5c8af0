/* Fuzzing of the responses of S3: any status, headers and body are a part of an object, or an
 * error. The input is a character that chooses the status, lines of headers, an empty line, and the
 * body.
 */
#include <stdint.h>
#include <stdlib.h>

#include "core/aws/credentials_providers.h"
#include "core/aws/s3_object.h"
#include "tests/unit/provider_scene.h"

enum { ATTEMPTS = 8, DEADLINE_MS = 10000 };

struct part_call {
    struct scene *scene;
    int done;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void part_on_done(void *arg, const struct s3_part *part, const struct error *err)
{
    struct part_call *call = arg;
    call->done++;
    require(!part == (err != NULL));
    require(!err || (err->kind != ERROR_NONE && err->text[0] && !strpbrk(err->text, "\x1b\r\n")));
    require(!part || (part->size >= part->bytes.size && part->version));
    loop_stop(call->scene->loop);
}

/* A client, and a script of equal responses, of its own: nothing is left of an earlier input. */
static void s3_read(struct scene *scene, int status, const char *headers, struct span body)
{
    struct part_call call = {.scene = scene};
    struct script *script = script_new(scene->loop);
    struct aws_session_parts parts = {
        .loop = scene->loop, .transport = script_transport(script), .log = &scene->log};
    struct aws_session *session = aws_session_new(&scene->settings, &parts);
    struct s3_client *client = s3_client_new(session, DEADLINE_MS);
    for (int i = 0; i < ATTEMPTS; i++)
        script_answer_bytes(script, status, headers, body);
    require(s3_part_read(client, "bucket", "k", 0, NULL, part_on_done, &call));
    require(loop_run(scene->loop) && call.done == 1);
    s3_client_destroy(client);
    aws_session_destroy(session);
    script_destroy(script);
    buf_truncate(&scene->lines, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = {200, 206, 301, 400, 403, 404, 412, 416, 500, 503};
    static const char config[] =
        "[profile p]\nregion = eu-west-1\naws_access_key_id = A\naws_secret_access_key = B\n";
    static struct scene scene;
    CLEAN_UP(buf_clean_up) struct buf headers = {0};
    if (!scene.loop)
        open_scene(&scene, credentials_config_file_new, config);
    if (size == 0)
        return 0;
    struct span body = span_of((const char *)data + 1, size - 1);
    const char *mark = body.size > 0 ? memmem(body.data, body.size, "\n\n", 2) : NULL;
    size_t used = mark ? (size_t)(mark - body.data) : 0;
    buf_add_span(&headers, span_of(body.data, used));
    s3_read(&scene, statuses[data[0] % 10], buf_text(&headers),
            span_from(body, mark ? used + 2 : 0));
    return 0;
}
