#include "tests/sim/sim_identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/sim/sim_sigv4.h"
#include "tests/sim/sim_tables.h"
#include "tests/sim/sim_world.h"

#define SIM_CONTAINER "http://127.0.0.1:51679/v2/credentials/sim"
#define SIM_CONTAINER_TOKEN "a-token-of-the-container"
#define SIM_MACHINE "http://169.254.169.254/latest/"
#define SIM_MACHINE_TOKEN "AQAEAsimulatedTokenOfTheMachine=="
#define SIM_ROLE "SimulatedRole"

enum sim_source { SIM_SOURCE_VARIABLES, SIM_SOURCE_FILE, SIM_SOURCE_CONTAINER, SIM_SOURCE_MACHINE };

static struct {
    enum sim_source source;
    struct sim_dice dice;
    struct sim_credentials **keys; /* owned; all that were issued */
    size_t count;
    bool knows_account; /* the container states it */
} sim_identity;

static const struct sim_credentials *sim_identity_issue(bool is_session, bool has_account,
                                                        int64_t lasts_ms)
{
    struct sim_credentials *keys = sim_alloc(sizeof *keys);
    unsigned number = (unsigned)sim_identity.count + 1;
    *keys = (struct sim_credentials){
        .access_key_id = sim_printf("%sSIMULATED%07u", is_session ? "ASIA" : "AKIA", number),
        .secret_access_key = sim_printf("wJalrSimulated/K7MDENG+bPxRfiCY%09u", number),
        .session_token = is_session
                             ? sim_printf("IQoJb3JpZ2luX2VjSIM//////////token+of=a=life%u", number)
                             : NULL,
        .account_id = has_account ? SIM_ACCOUNT : NULL,
        .until_ms = lasts_ms ? sim_now_ms() + lasts_ms : INT64_MAX,
    };
    sim_identity.keys = sim_grow(sim_identity.keys, number * sizeof(struct sim_credentials *));
    sim_identity.keys[sim_identity.count++] = keys;
    return keys;
}

/* The start of the program. */

static void sim_identity_set_variables(const struct sim_credentials *keys)
{
    setenv("AWS_ACCESS_KEY_ID", keys->access_key_id, 1);
    setenv("AWS_SECRET_ACCESS_KEY", keys->secret_access_key, 1);
    if (keys->session_token)
        setenv("AWS_SESSION_TOKEN", keys->session_token, 1);
    if (keys->account_id)
        setenv("AWS_ACCOUNT_ID", keys->account_id, 1);
}

static void sim_identity_write_file(const struct sim_credentials *keys)
{
    FILE *file = fopen("credentials", "we");
    if (!file)
        sim_broken("the file of credentials can't be written");
    fprintf(file, "# of a simulated life\n[default]\naws_access_key_id = %s\n",
            keys->access_key_id);
    fprintf(file, "aws_secret_access_key = %s\n", keys->secret_access_key);
    if (keys->session_token)
        fprintf(file, "aws_session_token = %s\n", keys->session_token);
    if (keys->account_id)
        fprintf(file, "aws_account_id = %s\n", keys->account_id);
    if (fclose(file) != 0)
        sim_broken("the file of credentials can't be written");
}

void sim_identity_prepare(const char *folder)
{
    static const char *const names[] = {"variables", "a file", "a container", "the machine"};
    struct sim_dice dice = sim_dice_for("credentials", 0);
    uint32_t kind = sim_dice_below(&dice, 100);
    bool is_session = sim_dice_chance(&dice, 500), has_account = sim_dice_chance(&dice, 300);
    char *config = sim_printf("%s/config", folder), *file = sim_printf("%s/credentials", folder);
    sim_identity.dice = sim_dice_for("keys", 0);
    sim_identity.knows_account = has_account;
    sim_identity.source = kind < 55   ? SIM_SOURCE_VARIABLES
                          : kind < 65 ? SIM_SOURCE_FILE
                          : kind < 82 ? SIM_SOURCE_CONTAINER
                                      : SIM_SOURCE_MACHINE;
    setenv("AWS_REGION", SIM_REGION, 1);
    setenv("AWS_CONFIG_FILE", config, 1);
    setenv("AWS_SHARED_CREDENTIALS_FILE", file, 1);
    if (sim_identity.source != SIM_SOURCE_MACHINE)
        setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
    if (sim_identity.source == SIM_SOURCE_VARIABLES)
        sim_identity_set_variables(sim_identity_issue(is_session, has_account, 0));
    if (sim_identity.source == SIM_SOURCE_FILE)
        sim_identity_write_file(sim_identity_issue(is_session, has_account, 0));
    if (sim_identity.source == SIM_SOURCE_CONTAINER) {
        setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", SIM_CONTAINER, 1);
        setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", SIM_CONTAINER_TOKEN, 1);
    }
    sim_tell("plan", "credentials of %s", names[sim_identity.source]);
    sim_free(config);
    sim_free(file);
}

const struct sim_credentials *sim_identity_of(const struct sim_request *request)
{
    const char *text = sim_request_header(request, "authorization");
    const char *id = text ? strstr(text, "Credential=") : NULL;
    size_t size = id ? strcspn(id + strlen("Credential="), "/") : 0;
    for (size_t i = 0; i < sim_identity.count && id; i++) {
        const char *own = sim_identity.keys[i]->access_key_id;
        if (strlen(own) == size && strncmp(own, id + strlen("Credential="), size) == 0)
            return sim_identity.keys[i];
    }
    return NULL;
}

/* The services. */

bool sim_identity_has(const char *url)
{
    return strncmp(url, SIM_MACHINE, strlen(SIM_MACHINE)) == 0 || strcmp(url, SIM_CONTAINER) == 0;
}

static void sim_identity_reply(struct sim_answer *out, const char *type, char *body)
{
    out->status = 200;
    out->body = body;
    out->size = strlen(body);
    out->headers = sim_alloc(2 * sizeof *out->headers);
    out->headers[out->header_count++] = sim_printf("Content-Type: %s", type);
    out->headers[out->header_count++] = sim_printf("Content-Length: %zu", out->size);
}

/* The document of both services. Keys last for a quarter of an hour or more: they are refreshed
 * early. */
static char *sim_identity_write_keys(bool has_account)
{
    char until[32];
    int64_t lasts_ms = sim_dice_between(&sim_identity.dice, 16, 60) * 60 * 1000;
    const struct sim_credentials *keys = sim_identity_issue(true, has_account, lasts_ms);
    time_t seconds = (time_t)((sim_service_wall_ms() + lasts_ms) / 1000);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    strftime(until, sizeof until, "%Y-%m-%dT%H:%M:%SZ", &parts);
    sim_tell("identity", "issues keys for %lld s", (long long)(lasts_ms / 1000));
    return sim_printf("{\"Code\":\"Success\",\"Type\":\"AWS-HMAC\",\"AccessKeyId\":\"%s\","
                      "\"SecretAccessKey\":\"%s\",\"Token\":\"%s\",\"Expiration\":\"%s\"%s}",
                      keys->access_key_id, keys->secret_access_key, keys->session_token, until,
                      has_account ? ",\"AccountId\":\"" SIM_ACCOUNT "\"" : "");
}

static void sim_identity_answer_container(const struct sim_request *request, struct sim_answer *out)
{
    const char *token = sim_request_header(request, "authorization");
    if (strcmp(request->method, "GET") != 0 || !token || strcmp(token, SIM_CONTAINER_TOKEN) != 0)
        sim_defect("identity", "the container's endpoint refuses %s %s", request->method,
                   request->url);
    sim_identity_reply(out, "application/json",
                       sim_identity_write_keys(sim_identity.knows_account));
}

/* A token or a role's name that has lost its end on the way leads to such a request. */
static void sim_identity_refuse(const struct sim_request *request, struct sim_answer *out)
{
    if (!sim_causes_had(SIM_FAULT_TRUNCATED))
        sim_defect("identity", "the metadata service refuses %s %s", request->method, request->url);
    sim_identity_reply(out, "text/html", sim_copy("<html>Unauthorized</html>"));
    out->status = sim_request_header(request, "x-aws-ec2-metadata-token") ? 401 : 404;
    out->fault = SIM_FAULT_TRUNCATED;
    out->error = EACCES;
}

static void sim_identity_answer_machine(const struct sim_request *request, struct sim_answer *out)
{
    const char *path = request->url + strlen(SIM_MACHINE);
    const char *token = sim_request_header(request, "x-aws-ec2-metadata-token");
    bool has_token = token && strcmp(token, SIM_MACHINE_TOKEN) == 0;
    if (strcmp(path, "api/token") == 0 && strcmp(request->method, "PUT") == 0 &&
        sim_request_header(request, "x-aws-ec2-metadata-token-ttl-seconds"))
        sim_identity_reply(out, "text/plain", sim_copy(SIM_MACHINE_TOKEN));
    else if (has_token && strcmp(path, "meta-data/iam/security-credentials/") == 0)
        sim_identity_reply(out, "text/plain", sim_copy(SIM_ROLE));
    else if (has_token && strcmp(path, "meta-data/iam/security-credentials/" SIM_ROLE) == 0)
        sim_identity_reply(out, "text/plain", sim_identity_write_keys(false));
    else
        sim_identity_refuse(request, out);
}

void sim_identity_answer(const struct sim_request *request, struct sim_answer *out)
{
    *out = (struct sim_answer){.fault = SIM_FAULTS, .operation = ""};
    if (sim_causes_strike_at(SIM_FAULT_SERVER_ERROR, request->number, "a service of the machine")) {
        sim_identity_reply(out, "text/html", sim_copy("<html>Internal Server Error</html>"));
        out->status = 500;
        out->fault = SIM_FAULT_SERVER_ERROR;
        out->error = EACCES;
    } else if (strcmp(request->url, SIM_CONTAINER) == 0) {
        sim_identity_answer_container(request, out);
    } else {
        sim_identity_answer_machine(request, out);
    }
}
