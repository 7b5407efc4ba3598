/* run_until.c - see run_until.h. */
#include "sim/run_until.h"

#include "sim/actor.h"
#include "sim/run_loop.h"

const char *run_until_names(const struct run_slot *slot)
{
    return slot->phase && slot->phase->until ? slot->phase->until : "";
}

void run_until_begin(struct run *run, const struct run_slot *slot)
{
    atomic_store(&run->awaited, 0);
    run->slots->until = slot->awaits ? run->slots->until_last + 1 : 0;
    run->slots->until_last += slot->awaits;
}

static bool is_awaited(const struct run *run, const struct run_slot *slot,
                       const struct pattern *pattern)
{
    return slot->awaits && pattern->section &&
           profile_phase_awaits(run->config.profile, slot->phase_index, pattern->section->name);
}

void run_until_actors(struct run *run, const struct run_slot *slot, const struct pattern *pattern,
                      unsigned first)
{
    bool awaited = is_awaited(run, slot, pattern);
    for (unsigned i = first; i < run->actor_count; i++) {
        struct actor *actor = run->actors[i];
        if (actor->pattern != pattern || atomic_load(&actor->leaving) || atomic_load(&actor->ended))
            continue;
        bool was_awaited = atomic_exchange(&actor->until, 0) != 0;
        atomic_store(&actor->through, false);
        if (awaited) {
            atomic_fetch_add(&run->awaited, 1);
            atomic_store(&actor->until, run->slots->until);
        }
        if (was_awaited && atomic_load(&actor->sleeping)) /* it rests: there is work again */
            task_wake(&actor->task);
    }
}

static enum slot_end why_it_ended(const struct run *run, bool through)
{
    if (run_stopping(run) || run->stuck)
        return SLOT_END_STOP;
    return through ? SLOT_END_USERS : SLOT_END_TIME;
}

void run_until_wait(struct run *run, struct run_slot *slot, uint64_t start_ns)
{
    uint64_t end_ns = start_ns + slot->length_ns;
    bool through = false;
    if (slot->awaits)
        through = run_wait_through(run, start_ns + slot->least_ns, end_ns);
    else
        run_wait_until(run, end_ns);
    slot->facts.ended = why_it_ended(run, through);
    if (!slot->awaits || slot->facts.ended == SLOT_END_STOP)
        return;
    double seconds = (double)(clock_now_ns(run->clock) - start_ns) / (double)NS_PER_S;
    if (through)
        run_say(run, "%s ends after %.1f s: done by %s", slot->name, seconds,
                run_until_names(slot));
    else
        run_warn(run,
                 "%s ends after %.1f s, its Duration, and %u of the users that it waits for (%s) "
                 "are not done; a longer Duration lets them end",
                 slot->name, seconds, atomic_load(&run->awaited), run_until_names(slot));
}

void run_until_ended_early(struct run *run, uint64_t early_ns)
{
    run->phase_deadline_ns -= early_ns;
    run_wake_sleepers(run);
}
