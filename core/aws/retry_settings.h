/* How a user wants requests tried again, as the AWS CLI reads it: AWS_MAX_ATTEMPTS or the profile's
 * max_attempts; AWS_RETRY_MODE or its retry_mode. */
#ifndef DDBFS_CORE_AWS_RETRY_SETTINGS_H
#define DDBFS_CORE_AWS_RETRY_SETTINGS_H

#include "core/aws/profiles.h"

/* ATTEMPTS gets how often a request may be sent; 0 where nobody says. The mode is only checked: all
 * three that the CLI knows are the standard one here. False with ERR filled where the CLI refuses,
 * too. */
bool retry_settings_read(const struct profiles *profiles, const char *profile, unsigned *attempts,
                         struct error *err);

#endif
