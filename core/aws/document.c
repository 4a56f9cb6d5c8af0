/* AWS's documents over cJSON. Its traps (docs/adr/0004) are closed here: case is minded, a document
 * has an end, a text that holds \u0000 is no text, and numbers are whole or none. */
#include "core/aws/document.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* A document is a cJSON object; the struct has no other inside. */
static cJSON *object_of(const struct document *document)
{
    return (cJSON *)(uintptr_t)document;
}

static void wipe(const cJSON *node)
{
    for (; node; node = node->next) {
        if (cJSON_IsString(node) && node->valuestring)
            explicit_bzero(node->valuestring, strlen(node->valuestring));
        wipe(node->child);
    }
}

void document_free(struct document *document)
{
    wipe(object_of(document));
    cJSON_Delete(object_of(document));
}

struct document *document_new(void)
{
    return (struct document *)cJSON_CreateObject();
}

static bool is_blank(struct span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!memchr(" \t\r\n", text.data[i], 4))
            return false;
    return true;
}

/* cJSON ends a text at \u0000 and says nothing: what it would cut is refused. */
static bool has_zero(struct span text)
{
    return memchr(text.data, '\0', text.size) || memmem(text.data, text.size, "\\u0000", 6);
}

struct document *document_parse(struct span text, const char *what, struct error *err)
{
    const char *end = NULL;
    cJSON *object = NULL;
    if (text.size > 0 && !has_zero(text))
        object = cJSON_ParseWithLengthOpts(text.data, text.size, &end, false);
    if (object && cJSON_IsObject(object) && is_blank(span_from(text, (size_t)(end - text.data))))
        return (struct document *)object;
    document_free((struct document *)object);
    error_set(err, ERROR_BAD_ANSWER, "%s is no JSON object", what);
    return NULL;
}

static const cJSON *find(const struct document *document, const char *path)
{
    const cJSON *node = object_of(document);
    char name[64];
    while (node && *path) {
        size_t size = strcspn(path, ".");
        if (size >= sizeof name)
            return NULL;
        memcpy(name, path, size);
        name[size] = '\0';
        path += size + (path[size] == '.');
        node = cJSON_GetObjectItemCaseSensitive(node, name);
    }
    return node;
}

const char *document_text(const struct document *document, const char *path)
{
    return cJSON_GetStringValue(find(document, path));
}

bool document_number(const struct document *document, const char *path, int64_t *out)
{
    static const double largest = 9007199254740992.0; /* 2^53: doubles count by ones up to here */
    const cJSON *node = find(document, path);
    if (!cJSON_IsNumber(node) || !(node->valuedouble >= -largest && node->valuedouble <= largest) ||
        (double)(int64_t)node->valuedouble != node->valuedouble)
        return false;
    *out = (int64_t)node->valuedouble;
    return true;
}

bool document_has(const struct document *document, const char *path)
{
    const cJSON *node = find(document, path);
    return node && !cJSON_IsNull(node);
}

bool document_set_text(struct document *document, const char *name, const char *text)
{
    cJSON *object = object_of(document), *value = cJSON_CreateString(text);
    if (!value)
        return false;
    cJSON *old = cJSON_GetObjectItemCaseSensitive(object, name);
    if (cJSON_IsString(old))
        explicit_bzero(old->valuestring, strlen(old->valuestring));
    if (old ? cJSON_ReplaceItemInObjectCaseSensitive(object, name, value)
            : cJSON_AddItemToObject(object, name, value))
        return true;
    cJSON_Delete(value);
    return false;
}

void document_write(struct buf *out, const struct document *document)
{
    char *text = cJSON_PrintUnformatted(object_of(document));
    if (!text) {
        out->failed = true;
        return;
    }
    buf_add_text(out, text);
    explicit_bzero(text, strlen(text));
    cJSON_free(text);
}
