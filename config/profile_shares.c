/*
 * profile_shares.c - what the keys Share of all user sections have to do with each other: a share
 * is held in a closed loop, and all of them together are the whole.
 */
#include <inttypes.h>
#include <string.h>

#include "config/profile_private.h"

#define SHARES_WHOLE    10000 /* hundredths of a percent */
#define SHARES_PER_CENT 100.0

static int64_t number_of(const struct section_state *state, const char *key)
{
    const struct opt *opt = opt_find(state->section, key);
    int64_t number = 0;

    if (opt != NULL && opt->size_bytes == sizeof(number)) {
        memcpy(&number, (const char *)state->settings + opt->offset, sizeof(number));
    }
    return number;
}

static struct opt_where where_of(const struct section_state *state, struct opt_where fallback)
{
    return profile_place_of(state->section, state->keys, "Share", fallback);
}

void profile_shares_check(struct profile *profile, const struct profile *settings,
                          const char *heading, struct opt_where where)
{
    int64_t sum = 0;

    for (size_t i = 0; i < settings->section_count; i++) {
        const struct section_state *state = &settings->sections[i];
        int64_t share = number_of(state, "Share");
        if (share == 0) {
            continue;
        }
        where = where_of(state, where);
        if (number_of(state, "RatePerSecond") != 0) {
            profile_diag(profile, DIAG_ERROR, where,
                         "%s[%s] Share and RatePerSecond: requests that arrive by a rate cannot be "
                         "held to a share; set one of them to 0",
                         heading, state->section->name);
        }
        bool counted = opt_find(state->section, "UserCount") != NULL;
        sum += !counted || number_of(state, "UserCount") != 0 ? share : 0;
    }
    if (sum != 0 && sum != SHARES_WHOLE) {
        profile_diag(profile, DIAG_WARNING, where,
                     "%sthe Shares of all users add up to %g %%: they are held in that proportion",
                     heading, (double)sum / SHARES_PER_CENT);
    }
}
