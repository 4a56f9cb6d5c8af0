/* What every transport shares: finding a header. */
#include "core/net/transport.h"

#include <strings.h>

const char *http_header(const struct http_response *response, const char *name)
{
    for (size_t i = 0; i < response->header_count; i++)
        if (strcasecmp(response->headers[i].name, name) == 0)
            return response->headers[i].value;
    return NULL;
}
