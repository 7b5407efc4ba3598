/* recovery_target.c - see recovery_target.h. */
#include "sim/recovery_target.h"

#include <assert.h>

#define NS_PER_SECOND 1e9

void recovery_target_init(struct recovery_target *target, uint64_t target_ns, uint64_t now_ns)
{
    assert(target_ns > 0);
    *target = (struct recovery_target){.target_ns = target_ns, .seen_ns = now_ns};
}

uint64_t recovery_target_look(struct recovery_target *target, uint64_t now_ns, uint64_t entered)
{
    if (now_ns > target->seen_ns) {
        double passed = (double)(now_ns - target->seen_ns);
        double constant = (double)target->target_ns / RECOVERY_TARGET_SHARE;
        double sample = (double)(entered - target->entered) / (passed / NS_PER_SECOND);
        target->per_second += (sample - target->per_second) * passed / (passed + constant);
        target->seen_ns = now_ns;
        target->entered = entered;
    }
    return (uint64_t)(target->per_second * ((double)target->target_ns / NS_PER_SECOND));
}
