#include "fs/mount/rooted.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/base/buf.h"

char *rooted(const char *file)
{
    struct buf path = {0};
    char *folder = file[0] == '/' ? NULL : getcwd(NULL, 0);
    if (folder)
        buf_printf(&path, "%s/", folder);
    buf_add_text(&path, file);
    if (path.failed || (file[0] != '/' && !folder))
        buf_clean_up(&path);
    free(folder);
    return path.size > 0 ? buf_steal(&path, NULL) : NULL;
}

/* What begins with ~ or $ is put in later, and an empty value means something of its own. */
static bool rooted_is_relative(const char *value)
{
    return value && *value && !strchr("/~$", *value);
}

void rooted_variables(void)
{
    static const char *const names[] = {
        "AWS_CONFIG_FILE",
        "AWS_SHARED_CREDENTIALS_FILE",
        "AWS_LOGIN_CACHE_DIRECTORY",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
        "AWS_CA_BUNDLE",
        "REQUESTS_CA_BUNDLE",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        char *path = rooted_is_relative(value) ? rooted(value) : NULL;
        if (path)
            setenv(names[i], path, 1);
        free(path);
    }
}
