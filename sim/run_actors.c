/*
 * run_actors.c - see run_actors.h.
 *
 * Actors are given to the workers in turn.  A pattern with a rate gets one process of arrivals for
 * all its actors, which are its slots.
 */
#include "sim/run_actors.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/run_actor_rows.h"
#include "sim/run_loop.h"

#define THOUSANDTHS   1000.0

#define REAP_AFTER_NS NS_PER_S /* a wake-up that was on its way has arrived */

static int make_room(struct run *run)
{
    int error = 0;
    if (run->actor_count < run->actor_capacity)
        return 0;
    unsigned capacity = run->actor_capacity ? 2 * run->actor_capacity : 64;
    pthread_mutex_lock(&run->actors_lock);
    struct actor **grown = realloc(run->actors, capacity * sizeof *grown);
    if (grown) {
        run->actors = grown;
        run->actor_capacity = capacity;
    } else {
        error = -ENOMEM;
    }
    pthread_mutex_unlock(&run->actors_lock);
    return error;
}

static void list_add(struct run *run, struct actor *actor)
{
    pthread_mutex_lock(&run->actors_lock);
    run->actors[run->actor_count++] = actor;
    pthread_mutex_unlock(&run->actors_lock);
}

int run_actor_add(struct run *run, const struct profile *profile, const struct pattern *pattern,
                  unsigned kind_index, struct database *database, struct actor **out)
{
    int error = make_room(run);
    if (error)
        return error;
    struct actor *actor = calloc(1, sizeof *actor);
    if (!actor)
        return -ENOMEM;
    unsigned serial = run->actors_made++;
    struct worker *worker = &run->workers[serial % run->worker_count];
    error = actor_init(actor, run, profile, pattern, worker, serial, kind_index, database);
    int64_t row = run_actor_row(run->actor_rows, pattern, actor->name, kind_index);
    actor->number = row < 0 ? 0 : (unsigned)row;
    list_add(run, actor); /* half-built ones are freed with the rest */
    *out = actor;
    return row < 0 ? (int)row : error;
}

int run_actors_per_database(struct run *run, const struct pattern *pattern)
{
    int error = 0;
    struct actor *actor;
    for (unsigned i = 0; i < run->database_count && !error; i++)
        error = run_actor_add(run, run->config.profile, pattern, i, &run->databases[i], &actor);
    return error;
}

/* ---- a load ---- */

static const void *settings_of(const struct profile *profile, const struct pattern *pattern)
{
    return pattern->section ? profile_section(profile, pattern->section->name) : NULL;
}

static struct pattern_rate rate_of(const struct profile *profile, const struct pattern *pattern)
{
    if (!pattern->rate)
        return (struct pattern_rate){0};
    return pattern->rate(settings_of(profile, pattern));
}

double run_load_ios(const struct profile *profile)
{
    double ios = 0;
    for (size_t i = 0; i < patterns_count; i++) {
        struct pattern_rate rate = rate_of(profile, patterns[i]);
        ios += (double)rate.per_second / THOUSANDTHS * (double)rate.data_ios / THOUSANDTHS;
    }
    return ios;
}

bool run_pattern_has_rate(const struct profile *profile, const struct pattern *pattern)
{
    return rate_of(profile, pattern).per_second > 0;
}

int64_t run_pattern_share(const struct profile *profile, const struct pattern *pattern)
{
    return pattern->section ? pattern_share(pattern, settings_of(profile, pattern)) : 0;
}

/* NULL in *out: a closed loop. */
static int arrivals_make(struct run *run, const struct run_load *load,
                         const struct pattern *pattern, struct arrivals **out)
{
    struct pattern_rate rate = rate_of(load->profile, pattern);
    *out = NULL;
    if (rate.per_second == 0 || load->closed)
        return 0;
    struct arrivals **grown =
        realloc(run->arrivals, (run->arrivals_count + 1) * sizeof *run->arrivals);
    if (!grown)
        return -ENOMEM;
    run->arrivals = grown;
    struct arrivals *arrivals = calloc(1, sizeof *arrivals);
    if (!arrivals)
        return -ENOMEM;
    struct arrivals_config config = {
        .per_second = (double)rate.per_second / THOUSANDTHS * load->scale,
        .fixed = load->settings->arrivals == CONFIG_ARRIVALS_FIXED,
        .seed = run->config.plan->seed,
        .process = run->arrivals_made++,
        .start_ns = load->start_ns,
    };
    arrivals_init(arrivals, pattern->name, (double)rate.data_ios / THOUSANDTHS, &config);
    run->arrivals[run->arrivals_count++] = arrivals;
    *out = arrivals;
    return 0;
}

int run_actors_of_pattern(struct run *run, const struct run_load *load,
                          const struct pattern *pattern)
{
    struct arrivals *arrivals = NULL;
    int64_t count = plan_users(run->config.plan, pattern, settings_of(load->profile, pattern));
    int64_t share = run_pattern_share(load->profile, pattern);
    int error = count ? arrivals_make(run, load, pattern, &arrivals) : 0;
    for (int64_t i = 0; i < count && !error; i++) {
        struct actor *actor;
        error = run_actor_add(run, load->profile, pattern, (unsigned)i, NULL, &actor);
        if (error)
            break;
        actor->arrivals = arrivals;
        actor->settings = load->settings;
        actor->database_only = load->database;
        if (share && !share_join(load->gate, pattern, (uint64_t)share, &actor->share))
            return -E2BIG;
    }
    return error;
}

bool run_pattern_is_of_users(const struct pattern *pattern)
{
    return !pattern->per_database && !pattern->service;
}

int run_actors_of_load(struct run *run, const struct run_load *load)
{
    int error = 0;
    for (size_t i = 0; i < patterns_count && !error; i++)
        error = patterns[i]->per_database ? run_actors_per_database(run, patterns[i])
                                          : run_actors_of_pattern(run, load, patterns[i]);
    return error;
}

void run_actors_retire(struct run *run, const struct pattern *pattern, unsigned end)
{
    for (unsigned i = 0; i < end; i++) {
        struct actor *actor = run->actors[i];
        if (actor->pattern != pattern || atomic_load(&actor->leaving))
            continue;
        atomic_store(&actor->leaving, true);
        if (actor->arrivals)
            actor->arrivals->retired = true;
        if (atomic_load(&actor->sleeping))
            task_wake(&actor->task);
    }
}

/* ---- their time ---- */

/* Users first: a service ends when there is none. */
void run_actors_start(struct run *run, unsigned first)
{
    for (int service = 0; service <= 1; service++)
        for (unsigned i = first; i < run->actor_count; i++)
            if (run->actors[i]->service == (bool)service)
                run_task_started(run, !service);
    for (unsigned i = first; i < run->actor_count; i++)
        task_start(&run->actors[i]->task);
}

static void row_settle(struct run *run, struct actor *actor)
{
    if (actor->number < run->actor_rows->count)
        run->actor_rows->list[actor->number].ops += actor->ops;
    actor->ops = 0;
}

void run_actors_settle(struct run *run)
{
    for (unsigned i = 0; i < run->actor_count; i++)
        row_settle(run, run->actors[i]);
}

void run_actors_free(struct run *run, unsigned first)
{
    if (run->stuck) /* a request that never ended may use them */
        return;
    for (unsigned i = first; i < run->actor_count; i++) /* there may be thousands of cycles */
        actor_free(run->actors[i]);
}

void run_actors_run(struct run *run, unsigned first)
{
    run_actors_start(run, first);
    run_wait(run);
    run_actors_free(run, first);
}

/* ---- forgetting ---- */

/* The first look at one that has ended begins its time. */
static bool may_be_freed(struct run *run, struct actor *actor)
{
    if (!atomic_load(&actor->ended) || atomic_load(&actor->task.wait_list))
        return false;
    uint64_t now = clock_now_ns(run->clock) + 1; /* 0 = not seen */
    if (actor->ended_seen_ns == 0)
        actor->ended_seen_ns = now;
    return now - actor->ended_seen_ns >= REAP_AFTER_NS;
}

static void arrivals_reap(struct run *run)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < run->arrivals_count; i++) {
        bool used = false;
        for (unsigned a = 0; a < run->actor_count && !used; a++)
            used = run->actors[a]->arrivals == run->arrivals[i];
        if (used) {
            run->arrivals[kept++] = run->arrivals[i];
        } else {
            arrivals_free(run->arrivals[i]);
            free(run->arrivals[i]);
        }
    }
    run->arrivals_count = kept;
}

void run_actors_reap(struct run *run)
{
    unsigned kept = 0;
    if (run->stuck)
        return;
    pthread_mutex_lock(&run->actors_lock);
    for (unsigned i = 0; i < run->actor_count; i++) {
        struct actor *actor = run->actors[i];
        if (!may_be_freed(run, actor)) {
            run->actors[kept++] = actor;
            continue;
        }
        row_settle(run, actor);
        actor_free(actor);
        free(actor);
    }
    run->actor_count = kept;
    pthread_mutex_unlock(&run->actors_lock);
    arrivals_reap(run);
}

void run_actors_drop(struct run *run)
{
    for (unsigned i = 0; i < run->actor_count; i++) {
        actor_free(run->actors[i]);
        free(run->actors[i]);
    }
    run->actor_count = 0;
    arrivals_reap(run);
    free(run->arrivals);
    free(run->actors);
    if (run->actor_rows)
        run_actor_rows_free(run->actor_rows);
    free(run->actor_rows);
}
