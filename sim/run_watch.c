/* run_watch.c - see run_watch.h. */
#include "sim/run_watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sim/foreign.h"
#include "sim/run_loop.h"
#include "sim/verdict_rules.h"

_Static_assert(IO_WATCH_MEMBERS_MAX > WORKER_MAX, "each worker is watched, and the coordinator");

/* CLOCK_BOOTTIME against CLOCK_MONOTONIC: reading both takes time. */
#define SUSPEND_NS_MIN NS_PER_S
#define WATCHER        "Display Monitor" /* SQLIOSim's name of who looks */

static struct file *file_by_uid(struct run *run, uint16_t uid)
{
    for (unsigned i = 0; i < run->database_count; i++)
        for (unsigned j = 0; j < run->databases[i].log_count; j++)
            if (run->databases[i].logs[j].mark.file_uid == uid)
                return &run->databases[i].logs[j];
    struct data_file *data = run_file_by_uid(run, uid);
    return data ? &data->file : NULL;
}

static const char *op_name(int op)
{
    static const char *const names[] = {
        [IO_READ] = "read", [IO_WRITE] = "write", [IO_FLUSH] = "flush"};
    return names[op];
}

/* "a write of 65,536 bytes" */
static void what(const struct io_stall *stall, char *out, size_t out_size_bytes)
{
    int used = snprintf(out, out_size_bytes, "a %s", op_name(stall->op));
    if (stall->op != IO_FLUSH)
        snprintf(out + used, out_size_bytes - (size_t)used, " of %s bytes",
                 count_text(stall->size_bytes).text);
}

static struct finding finding_of(enum verdict verdict, const struct file *file,
                                 const struct io_stall *stall)
{
    struct finding finding = {.verdict = verdict,
                              .file_uid = stall->file_uid,
                              .offset = stall->offset,
                              .size_bytes = stall->size_bytes,
                              .age_ns = stall->age_ns,
                              .actor = WATCHER};
    snprintf(finding.file, sizeof finding.file, "%s", file->path);
    return finding;
}

static double seconds(uint64_t ns)
{
    return (double)ns / (double)NS_PER_S;
}

/* ---- stalls ---- */

static void stall_text(const struct io_stall *stall, char *out, size_t out_size_bytes)
{
    char request[64];
    what(stall, request, sizeof request);
    snprintf(out, out_size_bytes, "%s %s %.1f s; at least %s other requests completed meanwhile",
             request, stall->complete ? "took" : "has been outstanding for", seconds(stall->age_ns),
             count_text(stall->meanwhile).text);
}

static void stall_ended(struct run *run, const struct file *file, const struct io_stall *stall,
                        const char *text)
{
    char line[EVENT_TEXT_MAX];
    finding_detail(&run->findings, stall->told, text);
    snprintf(line, sizeof line, "%s (byte offset %" PRIu64 "): %s", file->path, stall->offset,
             text);
    const struct event event = {
        .type = EVENT_WARNING, .user = WATCHER, .place = EVENT_HERE, .text = line};
    run_event(run, &event);
}

static void stall_tell(void *context, struct io_stall *stall)
{
    struct run *run = context;
    struct file *file = file_by_uid(run, stall->file_uid);
    if (!file)
        return;
    struct finding finding = finding_of(VERDICT_stalled_io, file, stall);
    stall_text(stall, finding.detail, sizeof finding.detail);
    if (stall->again) {
        stall_ended(run, file, stall, finding.detail);
        return;
    }
    atomic_fetch_add(&file->target.account.stalled, 1);
    stall->told = finding_report(&run->findings, &finding, NULL);
}

/* SQLIOSim's line. */
static void stalls_summary(struct run *run, unsigned fresh)
{
    char text[80];
    snprintf(text, sizeof text, "%u IO requests are outstanding for more than 15 sec.", fresh);
    const struct event event = {
        .type = EVENT_WARNING, .user = WATCHER, .place = EVENT_HERE, .text = text};
    run_event(run, &event);
}

/* ---- a request that never ends ---- */

/* Nothing is left to do but to wait. */
static bool wants_to_end(const struct run *run)
{
    return run_stopping(run) || run->phase_deadline_ns == UINT64_MAX ||
           clock_now_ns(run->clock) >= run->phase_deadline_ns;
}

static void stuck_tell(void *context, struct io_stall *stall)
{
    struct run *run = context;
    struct file *file = file_by_uid(run, stall->file_uid);
    char request[64];
    if (!file)
        return;
    struct finding finding = finding_of(VERDICT_stuck_io, file, stall);
    what(stall, request, sizeof request);
    snprintf(finding.detail, sizeof finding.detail,
             "%s has been outstanding for %.0f s and the storage gives no answer; the run ends "
             "without it. Look at the kernel's log and the path to this device",
             request, seconds(stall->age_ns));
    finding_report(&run->findings, &finding, NULL);
}

/* Told at once; without it the run ends when nothing else is left to be done. */
static void look_for_stuck(struct run *run)
{
    if (run->stuck || run->watch.oldest_age_ns < IO_STUCK_NS)
        return;
    if (!run->stuck_told)
        io_watch_each(&run->watch, clock_now_ns(run->clock), IO_STUCK_NS, stuck_tell, run);
    run->stuck_told = true;
    if (!wants_to_end(run))
        return;
    run->stuck = true;
    run_stop(run, RUN_STOP_ERROR);
}

/* ---- the machine ---- */

static uint64_t read_clock_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* How long the system was suspended since it was started: CLOCK_MONOTONIC stands still then. */
static uint64_t suspended_ns(void)
{
    uint64_t monotonic = read_clock_ns(CLOCK_MONOTONIC), boot = read_clock_ns(CLOCK_BOOTTIME);
    return boot > monotonic ? boot - monotonic : 0;
}

static void pause_report(struct run *run, uint64_t length_ns, const char *why)
{
    struct finding finding = {.verdict = VERDICT_host_pause, .actor = WATCHER};
    snprintf(finding.file, sizeof finding.file, "this machine");
    snprintf(finding.detail, sizeof finding.detail,
             "%.1f s %s; requests of that time are not called slow for it, but their latencies "
             "contain it",
             seconds(length_ns), why);
    finding_report(&run->findings, &finding, NULL);
}

static void look_for_suspend(struct run *run)
{
    uint64_t now = suspended_ns();
    if (now >= run->suspended_ns + SUSPEND_NS_MIN)
        pause_report(run, now - run->suspended_ns, "of suspend");
    run->suspended_ns = now;
}

void run_watch_paused(struct run *run, uint64_t from_ns, uint64_t length_ns)
{
    io_watch_pause(&run->watch, from_ns, length_ns);
    pause_report(run, length_ns,
                 "in which nothing of this process ran (stopped, or the machine was halted)");
}

/* Before requests are called slow. */
static void look_for_pauses(struct run *run)
{
    struct host_pause pause;
    while (host_pulse_take(&run->pulse, &pause))
        run_watch_paused(run, pause.from_ns, pause.length_ns);
    if (!run->config.virtual_clock)
        look_for_suspend(run);
}

/* ---- short transfers ---- */

static void shorts_tell(struct run *run, struct file *file)
{
    struct io_account *account = &file->target.account;
    uint64_t count = atomic_load(&account->shorts);
    struct finding finding = {
        .verdict = VERDICT_short_io,
        .file_uid = file->mark.file_uid,
        .offset = atomic_load_explicit(&account->short_offset, memory_order_relaxed),
        .size_bytes = atomic_load_explicit(&account->short_bytes, memory_order_relaxed),
        .actor = WATCHER,
    };
    if (count == account->shorts_told)
        return;
    snprintf(finding.file, sizeof finding.file, "%s", file->path);
    snprintf(finding.detail, sizeof finding.detail,
             "of a request of %s bytes the system transferred less than asked; the rest went "
             "through with a further request",
             count_text(finding.size_bytes).text);
    for (; account->shorts_told < count; account->shorts_told++)
        finding_report(&run->findings, &finding, NULL);
}

static void look_for_shorts(struct run *run)
{
    for (unsigned i = 0; i < run->database_count; i++)
        for (unsigned j = 0; j < run->databases[i].log_count; j++)
            shorts_tell(run, &run->databases[i].logs[j]);
    for (unsigned i = 0; i < run->file_count; i++)
        shorts_tell(run, &run->files[i]->file);
}

/* ---- the watch ---- */

int run_watch_make(struct run *run)
{
    io_watch_init(&run->watch);
    run->watch.stall = stall_tell;
    run->watch.context = run;
    if (!run->config.virtual_clock)
        run->suspended_ns = suspended_ns();
    int error = run->config.virtual_clock ? 0 : host_pulse_start(&run->pulse);
    if (error)
        return error;
    run->io.waiting = run_io_waits;
    run->io.waiting_context = run;
    error = io_watch_join(&run->watch, &run->io);
    for (unsigned i = 0; i < run->worker_count && !error; i++)
        error = io_watch_join(&run->watch, &run->workers[i].io);
    return error;
}

void run_watch_free(struct run *run)
{
    host_pulse_stop(&run->pulse);
    io_watch_free(&run->watch);
}

void run_watch_look(struct run *run)
{
    uint64_t now = clock_now_ns(run->clock);
    run->watch_next_ns = now + RUN_WATCH_INTERVAL_NS;
    look_for_pauses(run);
    unsigned fresh = io_watch_tick(&run->watch, now);
    if (fresh)
        stalls_summary(run, fresh);
    look_for_shorts(run);
    look_for_stuck(run);
    foreign_look(run);
}

void run_watch_tick(struct run *run)
{
    if (clock_now_ns(run->clock) >= run->watch_next_ns)
        run_watch_look(run);
}
