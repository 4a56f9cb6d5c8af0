/* One provider of credentials on a virtual clock and a scripted transport, with a home folder of
 * its own, whose .aws the test fills. */
#ifndef DDBFS_TESTS_UNIT_PROVIDER_SCENE_H
#define DDBFS_TESTS_UNIT_PROVIDER_SCENE_H

#include "core/aws/credentials.h"
#include "tests/unit/script_transport.h"
#include "tests/unit/virtual_clock.h"

#define WALL_MS 1792000000000 /* 2026-10-14T17:46:40Z */
#define MINUTE_MS 60000

typedef struct credentials_provider *provider_new_fn(const struct credentials_context *context);

struct scene {
    char folder[64];
    struct virtual_clock clock;
    struct loop *loop;
    struct script *script;
    struct log log;
    struct buf lines; /* of the log */
    struct profiles profiles;
    struct aws_settings settings;
    struct credentials_context context;
    provider_new_fn *make;
    struct credentials_provider *provider;
    struct credentials_request *get; /* while a question is under way */
    int answers;
    enum credentials_found found;
    char key[64], secret[64], token[64], account[64], method[64], origin[128];
    int64_t expires_ms;
    struct error err;
    const char *file; /* of .aws, which becomes … */
    const char *then; /* … this while a request is under way; NULL: it is removed */
};

/* CONFIG is ~/.aws/config, and its [profile p] the one in force. */
void open_scene(struct scene *scene, provider_new_fn *make, const char *config);
void scene_clean_up(struct scene *scene);

/* Files below .aws. WANT is NULL for one that is not there. */
void write_file(const struct scene *scene, const char *name, const char *text);
void remove_file(const struct scene *scene, const char *name);
void check_file(const struct scene *scene, const char *name, const char *want);

/* After so many milliseconds, while the loop runs: the file changes, or the loop stops. */
void change_file_after(struct scene *scene, int64_t after_ms, const char *file, const char *then);
void run_for(struct scene *scene, int64_t ms);

/* Asks PROVIDER, and does not wait; false when memory ran out. */
bool scene_begin(struct scene *scene, struct credentials_provider *provider);

/* The same of the scene's own, which has memory. */
void start(struct scene *scene);
void call_off(struct scene *scene);
void ask(struct scene *scene);
void check_found(struct scene *scene, const char *key);
void check_failed(struct scene *scene, enum error_kind kind, const char *why);
void check_sent(const struct scene *scene, size_t count);

/* The next question is one of another process. */
void another_process(struct scene *scene);

/* Writing fails from here on, as on a disk that is full, and works again. */
void fill_disk(bool full);

#endif
