/* Asking whoever sits at the terminal for a code of an MFA device. */
#ifndef DDBFS_FS_CLI_CODE_PROMPT_H
#define DDBFS_FS_CLI_CODE_PROMPT_H

#include "core/sources.h"

/* On the terminal that controls this process, wherever its standard streams go; what is typed is
 * not shown. ARG is not used. */
mfa_prompt_fn code_prompt;

#endif
