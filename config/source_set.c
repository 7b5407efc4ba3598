/* source_set.c - the front end of --set Section.Key=value. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "config/source.h"

int source_set_option(struct profile *profile, const char *setting)
{
    const struct opt_where where = {.source = "--set"};
    char *copy = alloc_text(setting);
    char *equals = strchr(copy, '=');
    char *point = strchr(copy, '.');
    int rc;

    if (equals == NULL || point == NULL || point == copy || point + 1 >= equals) {
        char quoted[OPT_TEXT_MAX / 4];
        diag_quote(setting, quoted, sizeof(quoted));
        profile_diag(profile, DIAG_ERROR, where,
                     "%s: must be of the form Section.Key=value, e.g. RandomUser.UserCount=4",
                     quoted);
        free(copy);
        return -EINVAL;
    }
    *point = '\0';
    *equals = '\0';
    rc = profile_set(profile, copy, point + 1, equals + 1, where);
    free(copy);
    return rc;
}
