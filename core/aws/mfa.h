/* Codes of MFA devices that roles are assumed with: typed by whoever is there before they are
 * needed, since nothing may wait for a person once requests are under way. */
#ifndef DDBFS_CORE_AWS_MFA_H
#define DDBFS_CORE_AWS_MFA_H

#include "core/aws/credentials.h"

enum mfa_asked {
    MFA_TYPED,  /* CODE has what was typed: a secret */
    MFA_NOBODY, /* there is nobody to ask */
    MFA_FAILED, /* ERR says why there is none */
};

/* Asks for a code of the device SERIAL. It may wait for as long as it takes. */
typedef enum mfa_asked mfa_ask_fn(void *arg, const char *serial, struct buf *code,
                                  struct error *err);

/* Codes that were typed and not used yet; {0} are none. */
struct mfa_codes {
    struct mfa_code *first; /* owned */
};

void mfa_codes_clean_up(struct mfa_codes *codes);

/* Asks for the codes that the role of CONTEXT's profile, if it has one, can't be assumed without:
 * none where the AWS CLI's cache has a session that was made with one. The context's profiles may
 * be without their secrets. False with ERR filled; where there is nobody, no code is an answer,
 * too. */
bool mfa_codes_request(struct mfa_codes *codes, const struct credentials_context *context,
                       mfa_ask_fn *ask, void *arg, struct error *err);

/* Takes one of the device SERIAL out into OUT, a secret; each is good once. False when there is
 * none. */
bool mfa_codes_take(struct mfa_codes *codes, const char *serial, struct buf *out);

#endif
