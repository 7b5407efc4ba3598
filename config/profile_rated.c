/*
 * profile_rated.c - whose settings the actors of the rated phase have.
 *
 * Invariant: the rated settings are complete and finished, as those of any profile, and hold no
 * files: these are the run's.
 */
#include <assert.h>
#include <stdlib.h>

#include "config/alloc.h"
#include "config/preset.h"
#include "config/profile_private.h"

struct profile *profile_create_like(const struct profile *profile)
{
    size_t count = profile_actor_section_count(profile);
    const struct opt_section **sections = alloc_zeroed(count + 1, sizeof(*sections));

    for (size_t i = 0; i < count; i++) {
        sections[i] = profile->sections[1 + i].section;
    }
    struct profile *like = profile_create(sections, count);
    free(sections);
    return like;
}

void profile_rate_by(struct profile *profile, const struct preset *preset)
{
    struct profile *rated = profile_create_like(profile);
    int rc = preset_apply(preset, rated);

    assert(rc == 0);
    rc = profile_finish(rated);
    assert(rc == 0 && profile->rated == NULL);
    profile->rated = rated;
}

void profile_rate_by_itself(struct profile *profile)
{
    assert(profile->rated == NULL);
    profile->rated = profile;
}

const struct profile *profile_rated(const struct profile *profile)
{
    return profile->rated;
}
