/* AWS's documents over cJSON. Its traps (docs/adr/0004) are closed here: case matters, a document
 * has an end, a text with \u0000 is no text, numbers are whole, and numbers that are only passed on
 * keep their digits. */
#include "core/aws/document.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/wiped.h"

/* cJSON fails in the same way for invalid text and when memory runs out. */
static bool ran_out;

static void *document_allocate(size_t size)
{
    void *memory = wiped_alloc(size);
    ran_out = ran_out || !memory;
    return memory;
}

/* Documents contain tokens and keys. The hooks are for the whole process; cJSON has no other user.
 * With hooks, cJSON grows a buffer by moving it, and frees (so wipes) the old one. */
static void document_set_memory(void)
{
    static cJSON_Hooks hooks = {document_allocate, wiped_free};
    cJSON_InitHooks(&hooks);
}

/* A document is a cJSON object; the struct has no other members. */
static cJSON *document_object_of(const struct document *document)
{
    return (cJSON *)(uintptr_t)document;
}

void document_free(struct document *document)
{
    cJSON_Delete(document_object_of(document));
}

void document_clean_up(struct document **document)
{
    document_free(*document);
}

struct document *document_new(void)
{
    document_set_memory();
    return (struct document *)cJSON_CreateObject();
}

/* Reading. */

/* cJSON cuts a text at \u0000 without an error, so such a text is refused. */
static bool document_has_zero(struct span text)
{
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '\0' || span_starts(span_from(text, i), SPAN_LITERAL("\\u0000")))
            return true;
        i += text.data[i] == '\\'; /* and the escaped character, which may be another \ */
    }
    return false;
}

/* Removes the next number from REST, and all text before it. In text that cJSON has read, digits
 * and minus signs outside of strings begin a number, and cJSON reads all of these characters as
 * one. */
static struct span document_take_number(struct span *rest)
{
    size_t at = 0, end;
    for (bool quoted = false; at < rest->size; at++) {
        char c = rest->data[at];
        if (quoted && c == '\\')
            at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '-' || (c >= '0' && c <= '9')))
            break;
    }
    for (end = at; end < rest->size && memchr("0123456789+-eE.", rest->data[end], 15);)
        end++;
    struct span number = at < rest->size ? span_of(rest->data + at, end - at) : span_text("");
    *rest = span_from(*rest, at < rest->size ? end : rest->size);
    return number;
}

/* cJSON stores a number as a double, which cannot hold 9007199254740993 and 1e400. So the digits
 * are stored in the node, where cJSON frees them, and document_write prints them. REST begins with
 * the text of NODE and its siblings. False when memory ran out. */
static bool document_store_digits(cJSON *node, struct span *rest)
{
    for (; node; node = node->next) {
        if (cJSON_IsNumber(node)) {
            struct span digits = document_take_number(rest);
            char *copy = document_allocate(digits.size + 1);
            if (!copy)
                return false;
            memcpy(copy, digits.data, digits.size);
            copy[digits.size] = '\0';
            node->valuestring = copy;
        }
        if (!document_store_digits(node->child, rest))
            return false;
    }
    return true;
}

struct document *document_parse(struct span text, const char *what, struct error *err)
{
    const char *end = NULL;
    cJSON *object = NULL;
    document_set_memory();
    ran_out = false;
    if (text.size > 0 && !document_has_zero(text))
        object = cJSON_ParseWithLengthOpts(text.data, text.size, &end, false);
    for (; object && end < text.data + text.size && memchr(" \t\r\n", *end, 4); end++) {
    }
    if (object && cJSON_IsObject(object) && end == text.data + text.size) {
        if (document_store_digits(object->child, &text))
            return (struct document *)object;
        error_no_memory(err);
    } else if (ran_out) {
        error_no_memory(err);
    } else {
        error_set(err, ERROR_BAD_ANSWER, "%s is no JSON object", what);
    }
    cJSON_Delete(object);
    return NULL;
}

/* The last one of its name, as in other tools. */
static cJSON *document_find_member(const cJSON *object, const char *name)
{
    cJSON *found = NULL;
    if (cJSON_IsObject(object))
        for (cJSON *node = object->child; node; node = node->next)
            if (strcmp(node->string, name) == 0)
                found = node;
    return found;
}

/* The object with the member of PATH's last name, which NAME gets; NULL without such an object. */
static cJSON *document_find_object(const struct document *document, const char *path,
                                   const char **name)
{
    cJSON *object = document_object_of(document);
    for (const char *dot; object && (dot = strchr(path, '.')); path = dot + 1) {
        char step[64] = "";
        if ((size_t)(dot - path) >= sizeof step)
            return NULL;
        memcpy(step, path, (size_t)(dot - path));
        object = document_find_member(object, step);
    }
    *name = path;
    return object;
}

static const cJSON *document_find(const struct document *document, const char *path)
{
    const char *name;
    const cJSON *object = document_find_object(document, path, &name);
    return object ? document_find_member(object, name) : NULL;
}

const char *document_text(const struct document *document, const char *path)
{
    return cJSON_GetStringValue(document_find(document, path));
}

const char *document_word(const struct document *document, const char *path)
{
    const char *text = document_text(document, path);
    for (const char *at = text; at && *at; at++)
        if (*at <= ' ' || *at > '~')
            return NULL;
    return text && *text ? text : NULL;
}

bool document_number(const struct document *document, const char *path, int64_t *out)
{
    static const double largest = 9007199254740992.0; /* 2^53: doubles count by ones up to here */
    const cJSON *node = document_find(document, path);
    if (!cJSON_IsNumber(node) || !(node->valuedouble >= -largest && node->valuedouble <= largest) ||
        (double)(int64_t)node->valuedouble != node->valuedouble)
        return false;
    *out = (int64_t)node->valuedouble;
    return true;
}

bool document_has(const struct document *document, const char *path)
{
    const cJSON *node = document_find(document, path);
    return node && !cJSON_IsNull(node);
}

/* Writing. */

static void document_remove_all(cJSON *object, const char *name)
{
    for (cJSON *old; (old = document_find_member(object, name));)
        cJSON_Delete(cJSON_DetachItemViaPointer(object, old));
}

/* Takes VALUE over, in case of failure too. */
static bool document_set(cJSON *object, const char *name, cJSON *value)
{
    if (value && cJSON_IsObject(object)) {
        document_remove_all(object, name);
        if (cJSON_AddItemToObject(object, name, value))
            return true;
    }
    cJSON_Delete(value);
    return false;
}

bool document_set_text(struct document *document, const char *path, const char *text)
{
    const char *name;
    cJSON *object = document_find_object(document, path, &name);
    return object && document_set(object, name, cJSON_CreateString(text));
}

bool document_set_object(struct document *document, const char *name)
{
    cJSON *object = document_object_of(document);
    return cJSON_IsObject(document_find_member(object, name)) ||
           document_set(object, name, cJSON_CreateObject());
}

void document_remove(struct document *document, const char *name)
{
    document_remove_all(document_object_of(document), name);
}

/* Makes numbers print their digits, or makes them numbers again. */
static void document_show_digits(cJSON *node, bool shown)
{
    for (; node; node = node->next) {
        if ((node->type & 0xff) == (shown ? cJSON_Number : cJSON_Raw) && node->valuestring)
            node->type = shown ? cJSON_Raw : cJSON_Number;
        document_show_digits(node->child, shown);
    }
}

void document_write(struct buf *out, const struct document *document)
{
    cJSON *object = document_object_of(document);
    document_show_digits(object->child, true);
    char *text = cJSON_PrintUnformatted(object);
    document_show_digits(object->child, false);
    if (!text) {
        out->failed = true;
        return;
    }
    buf_add_text(out, text);
    cJSON_free(text);
}
