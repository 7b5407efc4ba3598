/*
 * run_slots.c - see run_slots.h.
 *
 * Invariants: services are made once, with the first slot of a part, and end after the last user;
 * while a part has further slots the coordinator counts as a user (run->held).  A judged slot goes
 * through PHASE_rated_warm_up and PHASE_rated, any other is PHASE_stress; the same actors and the
 * same sequence of arrivals go through warm-up and judged part.
 */
#include "sim/run_slots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/load_steps.h"
#include "patterns/backup_user.h"
#include "sim/run_actors.h"
#include "sim/run_loop.h"
#include "sim/run_until.h"

/* ---- shares ---- */

/* NULL: no memory. */
static struct share_gate *gate_add(struct run_slots *slots)
{
    struct share_gate **grown =
        realloc(slots->gates, (slots->gate_count + 1) * sizeof(struct share_gate *));
    if (!grown)
        return NULL;
    slots->gates = grown;
    struct share_gate *gate = share_gate_create();
    if (gate)
        grown[slots->gate_count++] = gate;
    return gate;
}

static void gates_free(struct run_slots *slots)
{
    for (unsigned i = 0; i < slots->gate_count; i++)
        share_gate_free(slots->gates[i]);
    free(slots->gates);
    slots->gates = NULL;
    slots->gate_count = 0;
}

/* ---- making ---- */

static struct run_slot *slot_add(struct run_slots *slots)
{
    struct run_slot *grown = realloc(slots->list, (slots->count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    slots->list = grown;
    struct run_slot *slot = &grown[slots->count++];
    *slot = (struct run_slot){.scale = 1, .database = SLOT_EVERY_DATABASE};
    return slot;
}

/* Need: all rates together, so that their data I/Os are what was asked for. */
static double need_scale(const struct run *run, const struct profile *profile)
{
    double ios = run_load_ios(profile);
    int64_t need = run->settings->need_iops;
    return need > 0 && ios > 0 ? (double)need / ios : 1;
}

/* Load=: of all phases, where there is no rated phase, which it has steps for. */
static double main_load(const struct run *run)
{
    struct load_steps steps;
    char why[OPT_TEXT_MAX];
    bool of_main = run->settings->rated_duration_ns == 0 &&
                   load_steps_parse(run->settings->load, &steps, why) == 0 && steps.count == 1;
    return of_main ? steps.list[0].factor : 1;
}

/* One slot a step of Load=; each has its share of the warm-up. */
static int rated_add(struct run *run, struct run_slots *slots)
{
    const struct profile *profile = profile_rated(run->config.profile);
    struct load_steps steps;
    char why[OPT_TEXT_MAX];
    if (!profile || run->settings->rated_duration_ns == 0)
        return 0;
    if (load_steps_parse(run->settings->load, &steps, why)) /* checked with the settings */
        return -EINVAL;
    unsigned count = steps.count ? steps.count : 1;
    for (unsigned i = 0; i < count; i++) {
        struct run_slot *slot = slot_add(slots);
        if (!slot)
            return -ENOMEM;
        if (steps.count)
            load_step_text(&steps.list[i], slot->name, sizeof slot->name);
        slot->profile = profile;
        slot->settings = run->settings;
        slot->closed = steps.count && steps.list[i].max;
        slot->rated = !slot->closed;
        slot->warm_up_ns = slot->rated ? (uint64_t)run->settings->rated_warm_up_ns / count : 0;
        slot->length_ns = slot->warm_up_ns + (uint64_t)run->settings->rated_duration_ns;
        slot->scale = need_scale(run, profile) * (steps.count ? steps.list[i].factor : 1);
    }
    return 0;
}

static unsigned databases_of(const struct plan *plan)
{
    return plan->database_count ? plan->database_count : 1;
}

static bool is_repeated(const struct phase_settings *phase, const struct plan *plan)
{
    return phase_databases(phase) == PHASE_DATABASES_EACH && databases_of(plan) > 1;
}

static int phase_add(struct run *run, struct run_slots *slots, size_t index, unsigned database)
{
    const struct profile *profile = run->config.profile;
    const struct phase_settings *phase = profile_phase(profile, index);
    int64_t only = phase_databases(phase);
    struct run_slot *slot = slot_add(slots);
    char of[SLOT_NAME_MAX / 4] = "";
    if (!slot)
        return -ENOMEM;
    if (is_repeated(phase, run->config.plan)) {
        only = (int64_t)database + 1;
        snprintf(of, sizeof of, ", database %u", database + 1);
    }
    if (phase->name)
        snprintf(slot->name, sizeof slot->name, "%s%s", phase->name, of);
    else
        snprintf(slot->name, sizeof slot->name, "Phase%u%s", phase->number, of);
    slot->profile = profile_phase_profile(profile, index);
    slot->settings = profile_config(slot->profile);
    slot->phase = phase;
    slot->phase_index = index;
    slot->length_ns = (uint64_t)phase->duration_ns;
    slot->awaits = phase->until != NULL;
    slot->least_ns = (uint64_t)phase->duration_min_ns;
    slot->rated = phase->rated;
    slot->warm_up_ns = phase->rated ? (uint64_t)phase->warm_up_ns : 0;
    slot->scale =
        need_scale(run, profile) * main_load(run) * (double)phase->load / PHASE_LOAD_WHOLE;
    slot->database = only > 0 ? (int)only - 1 : SLOT_EVERY_DATABASE;
    return 0;
}

static int main_add(struct run *run, struct run_slots *slots)
{
    const struct profile *profile = run->config.profile;
    const struct plan *plan = run->config.plan;
    int error = 0;
    slots->main_first = slots->count;
    for (size_t i = 0; i < profile_phase_count(profile) && !error; i++) {
        unsigned times = is_repeated(profile_phase(profile, i), plan) ? databases_of(plan) : 1;
        for (unsigned d = 0; d < times && !error; d++)
            error = phase_add(run, slots, i, d);
    }
    if (error || profile_phase_count(profile) > 0)
        return error;
    struct run_slot *slot = slot_add(slots);
    if (!slot)
        return -ENOMEM;
    slot->profile = profile;
    slot->settings = run->settings;
    slot->length_ns = plan->test_cycle_ns;
    return 0;
}

int run_slots_make(struct run *run)
{
    struct run_slots *slots = run->slots = calloc(1, sizeof *run->slots);
    if (!slots)
        return -ENOMEM;
    int error = rated_add(run, slots);
    if (!error)
        error = main_add(run, slots);
    return error ? error : slot_meter_make(run, &slots->meter);
}

void run_slots_free(struct run *run)
{
    struct run_slots *slots = run->slots;
    if (!slots)
        return;
    for (unsigned i = 0; i < slots->count; i++)
        slot_facts_free(&slots->list[i].facts);
    slot_meter_free(slots->meter);
    gates_free(slots);
    free(slots->list);
    free(slots);
    run->slots = NULL;
}

const struct run_slot *run_slot_now(const struct run *run)
{
    const struct run_slots *slots = run->slots;
    if (!slots || !slots->going)
        return NULL;
    const struct run_slot *slot =
        &slots->list[atomic_load(&((struct run_slots *)(uintptr_t)slots)->now)];
    return slot->name[0] ? slot : NULL;
}

uint64_t run_slots_length_ns(const struct run_slots *slots, unsigned first, unsigned end)
{
    uint64_t sum_ns = 0;
    for (unsigned i = first; i < end; i++)
        sum_ns += slots->list[i].length_ns;
    return sum_ns;
}

uint64_t run_slots_rated_ns_max(const struct run_slots *slots)
{
    uint64_t longest_ns = 0;
    for (unsigned i = 0; i < slots->count; i++) {
        const struct run_slot *slot = &slots->list[i];
        uint64_t ns = slot->length_ns - slot->warm_up_ns;
        longest_ns = slot->rated && ns > longest_ns ? ns : longest_ns;
    }
    return longest_ns;
}

/* ---- the actors of a slot ---- */

static struct run_load load_of(const struct run_slot *slot, uint64_t start_ns,
                               struct share_gate *gate)
{
    return (struct run_load){.profile = slot->profile,
                             .settings = slot->settings,
                             .start_ns = start_ns,
                             .scale = slot->scale,
                             .closed = slot->closed,
                             .database = slot->database,
                             .gate = gate};
}

static bool same_row(const struct opt *opt, const void *a, const void *b)
{
    char left[OPT_STRING_MAX + 1], right[OPT_STRING_MAX + 1];
    opt_get(opt, a, left, sizeof left);
    opt_get(opt, b, right, sizeof right);
    return strcmp(left, right) == 0;
}

/* flags: only rows with one of them; 0 = all. */
static bool same_section(const struct opt_section *section, const struct run_slot *a,
                         const struct run_slot *b, unsigned flags)
{
    const void *left = profile_section(a->profile, section->name);
    const void *right = profile_section(b->profile, section->name);
    for (size_t i = 0; i < section->count; i++)
        if ((flags == 0 || (section->opts[i].flags & flags)) &&
            !same_row(&section->opts[i], left, right))
            return false;
    return true;
}

/* Do the users of a pattern have the same settings? */
static bool same_settings(const struct pattern *pattern, const struct run_slot *a,
                          const struct run_slot *b)
{
    bool rated =
        run_pattern_has_rate(a->profile, pattern) || run_pattern_has_rate(b->profile, pattern);
    if (rated && (a->scale < b->scale || a->scale > b->scale || a->closed != b->closed))
        return false;
    if (a->database != b->database)
        return false;
    return same_section(&config_section, a, b, OPT_PHASE) &&
           (!pattern->section || same_section(pattern->section, a, b, 0));
}

static bool has_share(const struct pattern *pattern, const struct run_slot *a,
                      const struct run_slot *b)
{
    return run_pattern_share(a->profile, pattern) || run_pattern_share(b->profile, pattern);
}

/* Do the users of a pattern go on as they are?  All that have a share change together. */
static bool same_users(const struct pattern *pattern, const struct run_slot *a,
                       const struct run_slot *b)
{
    bool same = same_settings(pattern, a, b);
    for (size_t i = 0; i < patterns_count && same && has_share(pattern, a, b); i++)
        if (run_pattern_is_of_users(patterns[i]) && has_share(patterns[i], a, b))
            same = same_settings(patterns[i], a, b);
    return same;
}

/* Does anybody back up the log in this slot? */
static bool backs_logs_up(const struct run_slot *slot)
{
    const struct backup_user_settings *backup = profile_section(slot->profile, "BackupUser");
    return backup->user_count > 0 && backup->log_interval_ns > 0;
}

/* Whom it waits for: of patterns that change, those from index first on. */
static void users_await(struct run *run, const struct run_slot *from, const struct run_slot *to,
                        unsigned first)
{
    run_until_begin(run, to);
    atomic_store(&run->logs_backed_up, backs_logs_up(to));
    for (size_t i = 0; i < patterns_count; i++)
        if (run_pattern_is_of_users(patterns[i]))
            run_until_actors(run, to, patterns[i],
                             from && same_users(patterns[i], from, to) ? 0 : first);
}

/* The new ones begin before the old ones are told to end. */
static int users_change(struct run *run, const struct run_slot *from, const struct run_slot *to)
{
    struct share_gate *gate = gate_add(run->slots);
    struct run_load load = load_of(to, clock_now_ns(run->clock), gate);
    int error = gate ? 0 : -ENOMEM;
    run_actors_reap(run);
    unsigned first = run->actor_count;
    for (size_t i = 0; i < patterns_count && !error; i++)
        if (run_pattern_is_of_users(patterns[i]) && !same_users(patterns[i], from, to))
            error = run_actors_of_pattern(run, &load, patterns[i]);
    if (error)
        return error;
    users_await(run, from, to, first);
    run_actors_start(run, first);
    for (size_t i = 0; i < patterns_count; i++)
        if (run_pattern_is_of_users(patterns[i]) && !same_users(patterns[i], from, to))
            run_actors_retire(run, patterns[i], first);
    return 0;
}

/* ---- going through ---- */

static void tell(const struct run *run, unsigned first, unsigned end, unsigned i)
{
    const struct run_slot *slot = &run->slots->list[i];
    char until[PHASE_UNTIL_TEXT_MAX] = "";
    if (slot->phase)
        phase_until_text(slot->phase, until);
    if (slot->name[0])
        run_say(run, "Phase %u of %u begins: %s, %s%.0f s%s%s", i - first + 1, end - first,
                slot->name, slot->awaits ? "at most " : "",
                (double)slot->length_ns / (double)NS_PER_S, until, slot->rated ? ", judged" : "");
}

static enum phase phase_at_begin(const struct run_slot *slot)
{
    if (!slot->rated)
        return PHASE_stress;
    return slot->warm_up_ns ? PHASE_rated_warm_up : PHASE_rated;
}

/* SQL Server's CHECKPOINT: what the slot before left dirty is not the next one's. */
static void ask_for_checkpoints(struct run *run)
{
    for (unsigned i = 0; i < run->database_count; i++)
        (void)checkpoint_ask(&run->databases[i]);
}

/* From one slot to the next while everybody is at work. */
static int slot_change(struct run *run, unsigned i, uint64_t start_ns)
{
    struct run_slots *slots = run->slots;
    const struct run_slot *slot = &slots->list[i];
    atomic_store(&slots->now, i);
    slots->begun_ns = start_ns;
    slots->end_ns = start_ns + slot->length_ns;
    run_phase_follows(run, phase_at_begin(slot));
    ask_for_checkpoints(run);
    return users_change(run, &slots->list[i - 1], slot);
}

/* The slot has begun: until its end.  last: its actors end by themselves. */
static int slot_measure(struct run *run, struct run_slot *slot, uint64_t start_ns, bool last)
{
    if (slot->rated && slot->warm_up_ns) {
        run_wait_until(run, start_ns + slot->warm_up_ns);
        if (run_stopping(run) || run->stuck) {
            slot->facts.ended = SLOT_END_STOP;
            return 0;
        }
        run_phase_follows(run, PHASE_rated);
    }
    int error = slot_measure_begin(run, slot);
    if (last && !run->held) {
        run_wait(run);
        slot->facts.ended = run_stopping(run) || run->stuck ? SLOT_END_STOP : SLOT_END_TIME;
    } else {
        run_until_wait(run, slot, start_ns);
    }
    slot_measure_end(run, slot);
    return error;
}

static int slots_begin(struct run *run, unsigned first, unsigned end, uint64_t start_ns)
{
    struct run_slots *slots = run->slots;
    struct run_slot *slot = &slots->list[first];
    struct share_gate *gate = gate_add(slots);
    struct run_load load = load_of(slot, start_ns, gate);
    int error = gate ? 0 : -ENOMEM;
    run_actors_reap(run);
    unsigned actors = run->actor_count;
    if (!error)
        error = run_actors_of_load(run, &load);
    if (error)
        return error;
    atomic_store(&slots->now, first);
    slots->begun_ns = start_ns;
    slots->end_ns = start_ns + slot->length_ns;
    slots->going = true;
    run->held = end - first > 1 || slot->awaits;
    run_phase_begin(run, phase_at_begin(slot), 0);
    run->phase_deadline_ns = start_ns + run_slots_length_ns(slots, first, end);
    users_await(run, NULL, slot, actors);
    if (run->held)
        run_task_started(run, true);
    run_actors_start(run, actors);
    return 0;
}

/* All end: of their own when it is time, or because the run stops. */
static int slots_end(struct run *run)
{
    if (run->held) {
        run->held = false;
        run_task_ended(run, true);
    }
    run_wait(run);
    int error = slot_measure_finish(run);
    run_phase_end(run);
    run->slots->going = false;
    for (unsigned i = 0; i < run->arrivals_count; i++) /* until they are forgotten */
        run->arrivals[i]->retired = true;
    run_actors_free(run, 0);
    if (!run->stuck) /* else a task may still stand in line */
        gates_free(run->slots);
    return error;
}

/* Where the slot ended; what was left of its length is taken from the part. */
static uint64_t slot_over_ns(struct run *run, const struct run_slot *slot, uint64_t start_ns)
{
    uint64_t end_ns = start_ns + slot->length_ns, now_ns = clock_now_ns(run->clock);
    if (slot->facts.ended != SLOT_END_USERS || now_ns >= end_ns)
        return end_ns;
    run->slots->end_ns = now_ns;
    run_until_ended_early(run, end_ns - now_ns);
    return now_ns;
}

static int slots_go(struct run *run, unsigned first, unsigned end)
{
    struct run_slots *slots = run->slots;
    uint64_t start_ns = clock_now_ns(run->clock);
    if (first == end)
        return 0;
    int error = slots_begin(run, first, end, start_ns);
    if (error)
        return error;
    for (unsigned i = first; i < end && !error && !run_stopping(run) && !run->stuck; i++) {
        if (i > first)
            error = slot_change(run, i, start_ns);
        tell(run, first, end, i);
        if (!error)
            error = slot_measure(run, &slots->list[i], start_ns, i + 1 == end);
        start_ns = slot_over_ns(run, &slots->list[i], start_ns);
    }
    if (error)
        run_stop(run, RUN_STOP_ERROR);
    int last = slots_end(run);
    return error ? error : last;
}

int run_slots_rated(struct run *run)
{
    return slots_go(run, 0, run->slots->main_first);
}

int run_slots_main(struct run *run)
{
    return slots_go(run, run->slots->main_first, run->slots->count);
}
