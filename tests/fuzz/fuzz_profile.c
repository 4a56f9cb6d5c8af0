/* Fuzzing of the profile files: any text is one, or has an error that names its line, in either
 * dialect; and every question of it has an answer inside of the text. */
#include <stdint.h>
#include <stdlib.h>

#include "core/aws/profiles.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void require_inside(const struct profile_file *file, struct span value)
{
    const char *end = file->ini.text.data + file->ini.text.size;
    require(value.data >= file->ini.text.data && value.data + value.size <= end);
}

static void ask(const struct profile_file *file, const char *profile)
{
    static const char *const keys[] = {"region", "aws_access_key_id", "A", ""};
    struct span value;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (profile_get(file, profile, keys[i], &value)) {
            require(profile_has(file, profile));
            require_inside(file, value);
        }
        if (profile_get_nested(file, "services", profile, "dynamodb", keys[i], &value))
            require_inside(file, value);
    }
}

static void parse(enum profile_dialect dialect, struct span text)
{
    static const char path[] = "fuzz.ini";
    CLEAN_UP(profile_clean_up) struct profile_file file = {0};
    struct error err = {0};
    if (!profile_parse(&file, dialect, text, path, &err)) {
        require(err.kind == ERROR_DENIED && strncmp(err.text, path, strlen(path)) == 0);
        return;
    }
    ask(&file, "default");
    ask(&file, "a b");
    ask(&file, "x");
}

static void list_names(enum profile_dialect dialect, struct span text)
{
    CLEAN_UP(buf_clean_up) struct buf out = {0};
    struct profiles profiles = {0};
    if (profile_parse(&profiles.config, dialect, text, "fuzz.ini", NULL))
        profiles_names(&profiles, &out);
    require(!out.failed);
    profiles_clean_up(&profiles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = span_of((const char *)data, size);
    parse(PROFILE_CONFIG, text);
    parse(PROFILE_CREDENTIALS, text);
    list_names(PROFILE_CONFIG, text);
    return 0;
}
