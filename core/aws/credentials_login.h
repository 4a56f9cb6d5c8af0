/* Credentials of sessions that `aws login` has opened: profiles with login_session. */
#ifndef DDBFS_CORE_AWS_CREDENTIALS_LOGIN_H
#define DDBFS_CORE_AWS_CREDENTIALS_LOGIN_H

#include "core/aws/credentials.h"

enum { LOGIN_EARLY_MS = 5 * 60 * 1000 }; /* with no more left than this, they are refreshed */

/* Its file is read anew for each question, so that `aws login` in another terminal helps at once,
 * and written back with what a refresh gave. */
struct credentials_provider *credentials_login_new(const struct credentials_context *context);

#endif
