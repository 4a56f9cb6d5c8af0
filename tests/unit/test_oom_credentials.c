/* Memory that runs out, at every point, while credentials are looked for: each question ends once,
 * or does not begin; nothing crashes, nothing leaks; the answer is "out of memory" or the right
 * one.
 */
#include "core/aws/credentials_providers.h"
#include "tests/unit/check.h"
#include "tests/unit/oom.h"
#include "tests/unit/provider_scene.h"

#define KEYS                                                                                       \
    "{\"Version\":1,\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"S1\",\"Token\":\"T1\","        \
    "\"SessionToken\":\"T1\",\"Expiration\":\"2026-10-14T23:46:40Z\",\"AccountId\":\"1234\"}"

/* The script works on its own account. */
static struct transport_ops pausing;
static const struct transport_ops *script_ops;

static struct transfer *send_paused(struct transport *transport, const struct http_request *request,
                                    transport_done_fn *done, void *arg)
{
    fault.paused = true;
    struct transfer *transfer = script_ops->send(transport, request, done, arg);
    fault.paused = false;
    return transfer;
}

static void open_paused(struct scene *scene, provider_new_fn *make, const char *config)
{
    open_scene(scene, make, config);
    struct transport *transport = script_transport(scene->script);
    script_ops = transport->ops;
    pausing = *script_ops;
    pausing.send = send_paused;
    transport->ops = &pausing;
}

/* Asks once with the fault. A scene keeps what it was told, which takes no memory. */
static bool ask_with_fault(struct scene *scene, unsigned long n, bool for_good,
                           enum credentials_found want)
{
    arm(n, for_good);
    struct credentials_provider *provider = scene->make(&scene->context);
    bool begun = provider && scene_begin(scene, provider);
    if (begun)
        loop_run(scene->loop);
    bool hit = disarm();
    if (provider)
        credentials_provider_destroy(provider);
    CHECK_INT(scene->answers, begun ? 1 : 0);
    if (begun && scene->found != want && scene->err.kind != ERROR_NO_MEMORY)
        CHECK_FAIL("allocation %lu: %d, %s", n, (int)scene->found, scene->err.text);
    if (begun && scene->found == CREDENTIALS_FOUND) {
        CHECK_TEXT(scene->key, "ASIA1");
        CHECK_TEXT(scene->secret, "S1");
        CHECK_TEXT(scene->token, "T1");
    }
    return hit;
}

static bool ask_container(unsigned long n, bool for_good)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost/x", 1);
    setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "Bearer of-the-container", 1);
    open_paused(&scene, credentials_container_new, "[profile p]\nregion = r-1\n");
    for (int i = 0; i < 3; i++)
        script_answer(scene.script, 200, "", KEYS);
    return ask_with_fault(&scene, n, for_good, CREDENTIALS_FOUND);
}

static void a_container(void)
{
    try_all(ask_container);
}

static bool ask_machine(unsigned long n, bool for_good)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    unsetenv("AWS_EC2_METADATA_DISABLED");
    open_paused(&scene, credentials_machine_new, "[profile p]\nregion = r-1\n");
    script_answer(scene.script, 200, "", "TOKEN");
    script_answer(scene.script, 200, "", "the-role");
    script_answer(scene.script, 200, "", KEYS);
    return ask_with_fault(&scene, n, for_good, CREDENTIALS_FOUND);
}

static void a_machine(void)
{
    try_all(ask_machine);
}

static bool ask_region(unsigned long n, bool for_good)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    unsetenv("AWS_EC2_METADATA_DISABLED");
    open_paused(&scene, credentials_region_new, "[profile p]\noutput = json\n");
    script_answer(scene.script, 200, "", "TOKEN");
    script_answer(scene.script, 200, "", "eu-north-1b");
    bool hit = ask_with_fault(&scene, n, for_good, CREDENTIALS_ABSENT);
    CHECK(!scene.settings.region || strcmp(scene.settings.region, "eu-north-1") == 0);
    return hit;
}

static void a_region(void)
{
    unsetenv("AWS_REGION");
    unsetenv("AWS_DEFAULT_REGION");
    try_all(ask_region);
}

static bool ask_program(unsigned long n, bool for_good)
{
    CLEAN_UP(scene_clean_up) struct scene scene;
    open_paused(&scene, credentials_process_new,
                "[profile p]\nregion = r-1\n"
                "credential_process = sh -c 'cat \"$HOME/.aws/printed\"'\n");
    scene.clock.clock.skip_ms = NULL; /* the program is waited for */
    write_file(&scene, "printed", KEYS);
    return ask_with_fault(&scene, n, for_good, CREDENTIALS_FOUND);
}

static void a_program(void)
{
    try_all(ask_program);
}

static const struct check_test tests[] = {
    {"a container", a_container},
    {"a machine", a_machine},
    {"a region", a_region},
    {"a program", a_program},
};
CHECK_MAIN(tests)
