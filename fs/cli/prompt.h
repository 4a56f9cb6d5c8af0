/* Requests to the user at the terminal that controls this process, wherever the standard streams
 * lead: a code, or a confirmation. */
#ifndef DDBFS_FS_CLI_PROMPT_H
#define DDBFS_FS_CLI_PROMPT_H

#include "core/sources.h"

/* Reads a code of an MFA device; the terminal does not show it. ARG is not used. */
mfa_prompt_fn prompt_for_code;

enum prompt_consent {
    PROMPT_AGREED,
    PROMPT_REFUSED,     /* any line but "y" */
    PROMPT_NO_TERMINAL, /* as in a script */
};

/* Prints QUESTION as it is, and reads a line. */
enum prompt_consent prompt_for_consent(const char *question);

#endif
