#include "tests/sim/sim_log.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim_life.h"
#include "tests/sim/sim_world.h"

/* A response of the service. */
struct sim_response {
    char *request_id, *table; /* owned; TABLE is "" without one */
    const char *operation;    /* static */
    char *code;               /* owned; "" of a success */
    struct sim_response *next;
};

enum { SIM_RESPONSE_SLOTS = 1 << 12 };
static struct sim_response *responses[SIM_RESPONSE_SLOTS];

static struct sim_response **sim_log_slot(const char *request_id)
{
    unsigned digest = 5381;
    for (const char *at = request_id; *at; at++)
        digest = digest * 33 + (unsigned char)*at;
    return &responses[digest % SIM_RESPONSE_SLOTS];
}

void sim_log_note_response(const char *request_id, const char *operation, const char *table,
                           const char *code)
{
    struct sim_response **slot = sim_log_slot(request_id);
    struct sim_response *response = sim_alloc(sizeof *response);
    *response = (struct sim_response){sim_copy(request_id), sim_copy(table), operation,
                                      sim_copy(code), *slot};
    *slot = response;
}

/* Errors as docs/errors.md has them: who can help. */
static const struct sim_remedy {
    const char *error, *by, *or_by;
} remedies[] = {
    {"ENOENT", "caller", NULL},      {"EOPNOTSUPP", "caller", NULL},
    {"EFBIG", "caller", NULL},       {"ENAMETOOLONG", "human", NULL},
    {"EISDIR", "caller", NULL},      {"ENOTDIR", "caller", NULL},
    {"ELOOP", "caller", NULL},       {"ENOTUNIQ", "human", NULL},
    {"EINVAL", "caller", NULL},      {"EACCES", "human", NULL},
    {"EKEYEXPIRED", "human", NULL},  {"EAGAIN", "retry", NULL},
    {"EDQUOT", "retry", "caller"},   {"ETIMEDOUT", "retry", NULL},
    {"EHOSTUNREACH", "retry", NULL}, {"ECONNREFUSED", "retry", NULL},
    {"ECONNRESET", "retry", NULL},   {"EPROTO", "retry", "human"},
    {"ENODEV", "human", NULL},       {"ENODATA", "human", NULL},
    {"ESTALE", "retry", NULL},       {"EBADMSG", "human", NULL},
    {"EIO", "retry", NULL},          {"EINTR", "caller", NULL},
    {"ENOSPC", "human", NULL},       {"EMFILE", "human", NULL},
    {"ENOMEM", "human", NULL},
};

/* Errors that a code of the service leads to. */
static const struct sim_meaning {
    const char *code, *error, *or_error;
} meanings[] = {
    {"AccessDeniedException", "EACCES", NULL},
    {"UnrecognizedClientException", "EACCES", NULL},
    {"InvalidSignatureException", "EACCES", NULL},
    {"ExpiredTokenException", "EKEYEXPIRED", NULL},
    {"ProvisionedThroughputExceededException", "EAGAIN", NULL},
    {"ThrottlingException", "EAGAIN", NULL},
    {"RequestLimitExceeded", "EAGAIN", NULL},
    {"LimitExceededException", "EAGAIN", NULL},
    {"InternalServerError", "EIO", NULL},
    {"ServiceUnavailableException", "EIO", NULL},
    {"ResourceNotFoundException", "ENODEV", "ENOENT"},
};

static bool sim_log_is_one(const char *text, const char *one, const char *other)
{
    return strcmp(text, one) == 0 || (other && strcmp(text, other) == 0);
}

/* The words of a line, behind the path, which may have blanks. */
struct sim_words {
    char error[24], by[16], operation[40], table[260], code[64], request[64];
};

/* Copies the word behind the last " NAME=" before END; "" without one. */
static void sim_log_read_word(const char *line, const char *end, const char *name, char *out,
                              size_t size)
{
    char mark[32];
    const char *found = NULL;
    snprintf(mark, sizeof mark, " %s=", name);
    for (const char *at = line; (at = strstr(at, mark)) != NULL && at <= end; at++)
        found = at;
    out[0] = '\0';
    if (found)
        snprintf(out, size, "%.*s", (int)strcspn(found + strlen(mark), " :\n"),
                 found + strlen(mark));
}

static void sim_log_check_remedy(const char *line, const struct sim_words *words)
{
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (strcmp(remedies[i].error, words->error) == 0) {
            if (!sim_log_is_one(words->by, remedies[i].by, remedies[i].or_by))
                sim_defect("log", "%s is fixable by %s, not by %s: %s", words->error,
                           remedies[i].by, words->by, line);
            return;
        }
    sim_defect("log", "%s is no error of docs/errors.md: %s", words->error, line);
}

static void sim_log_check_response(const char *line, const struct sim_words *words)
{
    const struct sim_response *response = *sim_log_slot(words->request);
    while (response && strcmp(response->request_id, words->request) != 0)
        response = response->next;
    if (!response)
        sim_defect("log", "the service has sent no response with this request id: %s", line);
    if (words->operation[0] && strcmp(words->operation, response->operation) != 0)
        sim_defect("log", "the request was a %s: %s", response->operation, line);
    if (words->table[0] && response->table[0] && strcmp(words->table, response->table) != 0)
        sim_defect("log", "the request was of table %s: %s", response->table, line);
    if (!words->code[0] || !response->code[0])
        return;
    if (strcmp(words->code, response->code) != 0 && strcmp(words->code, "CRC32CheckFailed") != 0)
        sim_defect("log", "the code of the response was %s: %s", response->code, line);
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(meanings[i].code, words->code) == 0 &&
            !sim_log_is_one(words->error, meanings[i].error, meanings[i].or_error))
            sim_defect("log", "%s means %s: %s", words->code, meanings[i].error, line);
}

void sim_log_check(const char *bytes, size_t size)
{
    struct sim_words words;
    char *line = sim_printf("%.*s", (int)size, bytes);
    const char *end = strstr(line, " fixable_by=");
    if (strncmp(line, "ddbfs: pid=", strlen("ddbfs: pid=")) == 0 && end &&
        !sim_life_options()->is_replay) {
        sim_log_read_word(line, line + strcspn(line, "/"), "errno", words.error,
                          sizeof words.error);
        sim_log_read_word(line, end, "operation", words.operation, sizeof words.operation);
        sim_log_read_word(line, end, "table", words.table, sizeof words.table);
        sim_log_read_word(line, end, "code", words.code, sizeof words.code);
        sim_log_read_word(line, end, "request", words.request, sizeof words.request);
        sim_log_read_word(line, end, "fixable_by", words.by, sizeof words.by);
        if (words.error[0])
            sim_log_check_remedy(line, &words);
        if (words.error[0] && words.request[0])
            sim_log_check_response(line, &words);
    }
    sim_free(line);
}
