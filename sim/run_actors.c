/*
 * run_actors.c - see run_actors.h.
 *
 * Actors are given to the workers in turn.  A pattern with a rate gets one process of arrivals for
 * all its actors, which are its slots.
 */
#include "sim/run_actors.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/run_loop.h"

#define THOUSANDTHS 1000.0

int run_actor_add(struct run *run, const struct profile *profile, const struct pattern *pattern,
                  unsigned kind_index, struct database *database, struct actor **out)
{
    if (run->actor_count == run->actor_capacity) {
        unsigned capacity = run->actor_capacity ? 2 * run->actor_capacity : 64;
        struct actor **grown = realloc(run->actors, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        run->actors = grown;
        run->actor_capacity = capacity;
    }
    struct actor *actor = calloc(1, sizeof *actor);
    if (!actor)
        return -ENOMEM;
    struct worker *worker = &run->workers[run->actor_count % run->worker_count];
    int error =
        actor_init(actor, run, profile, pattern, worker, run->actor_count, kind_index, database);
    run->actors[run->actor_count++] = actor; /* half-built ones are freed with the rest */
    *out = actor;
    return error;
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

/* NULL in *out: a closed loop. */
static int arrivals_make(struct run *run, const struct run_load *load,
                         const struct pattern *pattern, struct arrivals **out)
{
    struct pattern_rate rate = rate_of(load->profile, pattern);
    *out = NULL;
    if (rate.per_second == 0)
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
        .fixed = run->settings->arrivals == CONFIG_ARRIVALS_FIXED,
        .seed = run->config.plan->seed,
        .process = run->arrivals_count,
        .start_ns = load->start_ns,
    };
    arrivals_init(arrivals, pattern->name, (double)rate.data_ios / THOUSANDTHS, &config);
    arrivals->rated = load->rated;
    run->arrivals[run->arrivals_count++] = arrivals;
    *out = arrivals;
    return 0;
}

static int add_users(struct run *run, const struct run_load *load, const struct pattern *pattern)
{
    struct arrivals *arrivals;
    int64_t count = pattern->user_count(settings_of(load->profile, pattern), run->worker_count);
    int error = count ? arrivals_make(run, load, pattern, &arrivals) : 0;
    for (int64_t i = 0; i < count && !error; i++) {
        struct actor *actor;
        error = run_actor_add(run, load->profile, pattern, (unsigned)i, NULL, &actor);
        if (!error)
            actor->arrivals = arrivals;
    }
    return error;
}

int run_actors_of_load(struct run *run, const struct run_load *load)
{
    int error = 0;
    for (size_t i = 0; i < patterns_count && !error; i++)
        error = patterns[i]->per_database ? run_actors_per_database(run, patterns[i])
                                          : add_users(run, load, patterns[i]);
    return error;
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
