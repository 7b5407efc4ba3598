/*
 * finding_hook.c - see finding_hook.h.
 *
 * Invariants: the mutex is never held over a system call that may wait; only the thread of the
 * hooks starts, signals and reaps commands, and it reaps no process but those.
 */
#include "sim/finding_hook.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIGHTS_MAX     256 /* first sights whose finding is still to come */
#define REAP_EVERY_NS  50000000ull
#define VARIABLES_MAX  24
#define VARIABLE_BYTES 1024

struct running {
    pid_t pid;
    unsigned number;
};

struct sight {
    uint16_t file_uid;
    uint64_t offset;
    unsigned number; /* of its command */
};

struct hook {
    struct hook_config config;
    char result_dir[PATH_MAX]; /* absolute */
    pthread_mutex_t lock;
    pthread_cond_t posted;
    pthread_t thread;
    struct hook_event queue[HOOK_QUEUE_MAX]; /* a ring */
    unsigned first, waiting;
    unsigned posts;         /* numbers given */
    _Atomic unsigned begun; /* the highest number that was dealt with: they are in order */
    uint64_t dropped;       /* the queue was full */
    bool fired[VERDICT_COUNT];
    struct sight sights[SIGHTS_MAX]; /* a ring */
    unsigned sight_count;
    bool ending;
    /* the thread's own */
    struct running running[HOOK_RUNNING_MAX];
    unsigned running_count;
    int log_fd;
};

/* ---- the log ---- */

static void utc_text(uint64_t realtime_ns, char out[40])
{
    time_t seconds = (time_t)(realtime_ns / NS_PER_S);
    struct tm broken;
    char text[24] = "?";
    if (gmtime_r(&seconds, &broken))
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &broken);
    snprintf(out, 40, "%s.%06uZ", text, (unsigned)(realtime_ns % NS_PER_S / 1000));
}

static uint64_t realtime_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* One line; commands append to the same file. */
static void log_line(const struct hook *hook, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void log_line(const struct hook *hook, const char *format, ...)
{
    char line[1024], when[40];
    va_list arguments;
    utc_text(realtime_ns(), when);
    int used = snprintf(line, sizeof line, "%s pagestorm: ", when);
    va_start(arguments, format);
    vsnprintf(line + used, sizeof line - (size_t)used - 1, format, arguments);
    va_end(arguments);
    size_t length = strlen(line);
    line[length++] = '\n';
    (void)!write(hook->log_fd, line, length);
}

/* ---- the environment ---- */

struct variables {
    char text[VARIABLES_MAX][VARIABLE_BYTES];
    unsigned count;
};

static void set(struct variables *v, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void set(struct variables *v, const char *name, const char *format, ...)
{
    va_list arguments;
    int used = snprintf(v->text[v->count], VARIABLE_BYTES, "PAGESTORM_%s=", name);
    va_start(arguments, format);
    vsnprintf(v->text[v->count++] + used, VARIABLE_BYTES - (size_t)used, format, arguments);
    va_end(arguments);
}

/* Empty where nobody knows. */
static void set_device(struct variables *v, const struct hook *hook, const struct hook_event *event)
{
    struct disk_place place = {.step_count = 0};
    if (event->stall && hook->config.map)
        disk_map_place(hook->config.map, hook->config.sysfs, event->file_uid, event->offset,
                       event->size_bytes, &place);
    else if (!event->stall && hook->config.sysfs && event->file[0] == '/')
        disk_place_look(&place, hook->config.sysfs, event->file, event->offset, event->size_bytes);
    const struct disk_step *disk = disk_place_bottom(&place);
    if (!disk) {
        set(v, "DEVICE", "%s", "");
        set(v, "DEVICE_OFFSET", "%s", "");
        set(v, "LBA", "%s", "");
        set(v, "SECTOR_BYTES", "%s", "");
        return;
    }
    set(v, "DEVICE", "/dev/%s", disk->name);
    set(v, "DEVICE_OFFSET", "%" PRIu64, disk->offset);
    set(v, "LBA", "%" PRIu64, disk->offset / disk->sector_bytes);
    set(v, "SECTOR_BYTES", "%" PRIu32, disk->sector_bytes);
}

static void hook_variables(struct variables *v, const struct hook *hook,
                           const struct hook_event *event)
{
    const struct verdict_info *info = verdict_info(event->verdict);
    char when[40], run_id[2 * RUN_ID_BYTES + 1];
    utc_text(event->seen_ns, when);
    for (unsigned i = 0; i < RUN_ID_BYTES; i++)
        snprintf(run_id + 2 * (size_t)i, 3, "%02x", hook->config.run_id[i]);
    v->count = 0;
    set(v, "EVENT", "%s", event->stall ? "stall" : "finding");
    set(v, "CLASS", "%s", info->name);
    set(v, "FIRST_SIGHT", "%d", event->first_sight);
    set(v, "SEVERITY", "%s", severity_name(info->severity));
    set(v, "SQL_ERROR", "%d", info->sql_error);
    set(v, "FILE", "%s", event->file);
    if (event->has_page)
        set(v, "PAGE", "%" PRIu32, event->page_no);
    else
        set(v, "PAGE", "%s", "");
    set(v, "OFFSET", "%" PRIu64, event->offset);
    set(v, "SIZE_BYTES", "%" PRIu64, event->size_bytes);
    set_device(v, hook, event);
    set(v, "TIME", "%s", when);
    set(v, "TIME_NS", "%" PRIu64, event->seen_ns);
    set(v, "AGE_MS", "%" PRIu64, (uint64_t)(event->age_ns / NS_PER_MS));
    set(v, "DETAIL", "%s", event->detail);
    set(v, "RUN_ID", "%s", run_id);
    set(v, "RESULT_DIR", "%s", hook->result_dir);
    set(v, "PID", "%d", (int)getpid());
}

/* What this process was given, and ours; only the array is allocated. */
static char **environment_make(struct variables *v)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **all = malloc((count + v->count + 1) * sizeof *all);
    if (!all)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "PAGESTORM_", 10) != 0)
            all[used++] = environ[i];
    for (unsigned i = 0; i < v->count; i++)
        all[used++] = v->text[i];
    all[used] = NULL;
    return all;
}

/* ---- commands ---- */

static int spawn(const struct hook *hook, const char *command, char **environment, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    char shell[] = "sh", option[] = "-c";
    char *arguments[] = {shell, option, (char *)(uintptr_t)command, NULL};
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, hook->log_fd, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, hook->log_fd, STDERR_FILENO);
    posix_spawnattr_setpgroup(&attributes,
                              0); /* Ctrl-C is for the run, and the group can be ended */
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(pid, "/bin/sh", &files, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static void start(struct hook *hook, const struct hook_event *event, unsigned number)
{
    static const char *const names[] = {"--on-finding", "--on-stall"};
    const char *command = event->stall ? hook->config.on_stall : hook->config.on_finding;
    struct variables *v = malloc(sizeof *v);
    char **environment = NULL;
    pid_t pid = 0;
    int error = ENOMEM;
    if (v) {
        hook_variables(v, hook, event);
        environment = environment_make(v);
    }
    if (environment)
        error = spawn(hook, command, environment, &pid);
    free(environment);
    free(v);
    const char *class = verdict_info(event->verdict)->name;
    if (error) {
        log_line(hook, "%s %u could not be started for %s: %s", names[event->stall], number, class,
                 strerror(error));
        return;
    }
    hook->running[hook->running_count++] = (struct running){pid, number};
    log_line(hook, "%s %u started as process %d for %s, %s byte offset %" PRIu64,
             names[event->stall], number, (int)pid, class, event->file, event->offset);
}

static void reap(struct hook *hook)
{
    for (unsigned i = 0; i < hook->running_count;) {
        int status;
        pid_t got = waitpid(hook->running[i].pid, &status, WNOHANG);
        if (got == 0) {
            i++;
            continue;
        }
        if (got > 0 && WIFEXITED(status))
            log_line(hook, "command %u ended with exit code %d", hook->running[i].number,
                     WEXITSTATUS(status));
        else if (got > 0)
            log_line(hook, "command %u ended by signal %d", hook->running[i].number,
                     WTERMSIG(status));
        hook->running[i] = hook->running[--hook->running_count];
    }
}

static void nap(uint64_t ns)
{
    struct timespec left = {.tv_nsec = (long)ns};
    nanosleep(&left, NULL);
}

/* True when none is left. */
static bool wait_for_all(struct hook *hook, unsigned seconds)
{
    for (uint64_t waited = 0; waited < seconds * NS_PER_S; waited += REAP_EVERY_NS) {
        reap(hook);
        if (!hook->running_count)
            return true;
        nap(REAP_EVERY_NS);
    }
    return false;
}

static void signal_all(struct hook *hook, int number, const char *text)
{
    for (unsigned i = 0; i < hook->running_count; i++) {
        log_line(hook, "command %u still runs: %s", hook->running[i].number, text);
        kill(-hook->running[i].pid, number);
    }
}

static void end_all(struct hook *hook)
{
    if (wait_for_all(hook, HOOK_GRACE_S))
        return;
    signal_all(hook, SIGTERM, "SIGTERM, the run has ended");
    if (wait_for_all(hook, HOOK_KILL_S))
        return;
    signal_all(hook, SIGKILL, "SIGKILL");
    (void)wait_for_all(hook, HOOK_KILL_S);
}

/* ---- the thread ---- */

static void deadline(struct timespec *out)
{
    clock_gettime(CLOCK_MONOTONIC, out);
    uint64_t ns = (uint64_t)out->tv_nsec + REAP_EVERY_NS;
    out->tv_sec += (time_t)(ns / NS_PER_S);
    out->tv_nsec = (long)(ns % NS_PER_S);
}

/* The next event; false: none now (commands are to be reaped), or the end. */
static bool take(struct hook *hook, struct hook_event *event, unsigned *number, bool *end)
{
    struct timespec until;
    bool full = hook->running_count == HOOK_RUNNING_MAX;
    pthread_mutex_lock(&hook->lock);
    deadline(&until);
    if (hook->running_count && (full || (!hook->waiting && !hook->ending)))
        pthread_cond_timedwait(&hook->posted, &hook->lock, &until);
    while (!hook->running_count && !hook->waiting && !hook->ending)
        pthread_cond_wait(&hook->posted, &hook->lock);
    bool got = hook->waiting && !full;
    if (got) {
        *event = hook->queue[hook->first];
        *number = hook->posts - hook->waiting + 1;
        hook->first = (hook->first + 1) % HOOK_QUEUE_MAX;
        hook->waiting--;
    }
    *end = hook->ending && !got && (!hook->waiting || full);
    pthread_mutex_unlock(&hook->lock);
    return got;
}

static void *hook_thread(void *context)
{
    struct hook *hook = context;
    struct hook_event event;
    unsigned number = 0;
    bool end = false;
    while (!end) {
        if (take(hook, &event, &number, &end)) {
            start(hook, &event, number);
            atomic_store(&hook->begun, number);
        }
        reap(hook);
    }
    end_all(hook);
    return NULL;
}

/* ---- begin and end ---- */

static int open_log(const char *result_dir)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/" HOOK_LOG_NAME, result_dir);
    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    return fd < 0 ? -errno : fd;
}

/* Signals are for the other threads. */
static int thread_start(struct hook *hook)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&hook->thread, NULL, hook_thread, hook);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

int hook_begin(struct hook **out, const struct hook_config *config)
{
    pthread_condattr_t attributes;
    *out = NULL;
    if (!config->on_finding && !config->on_stall)
        return 0;
    struct hook *hook = calloc(1, sizeof *hook);
    if (!hook)
        return -ENOMEM;
    hook->config = *config;
    if (!realpath(config->result_dir, hook->result_dir))
        snprintf(hook->result_dir, sizeof hook->result_dir, "%s", config->result_dir);
    hook->log_fd = open_log(config->result_dir);
    if (hook->log_fd < 0) {
        int error = hook->log_fd;
        free(hook);
        return error;
    }
    pthread_mutex_init(&hook->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&hook->posted, &attributes);
    pthread_condattr_destroy(&attributes);
    int error = thread_start(hook);
    if (!error) {
        *out = hook;
        return 0;
    }
    close(hook->log_fd);
    pthread_cond_destroy(&hook->posted);
    pthread_mutex_destroy(&hook->lock);
    free(hook);
    return error;
}

void hook_end(struct hook *hook)
{
    if (!hook)
        return;
    pthread_mutex_lock(&hook->lock);
    hook->ending = true;
    pthread_cond_signal(&hook->posted);
    pthread_mutex_unlock(&hook->lock);
    pthread_join(hook->thread, NULL);
    if (hook->dropped)
        log_line(hook, "%" PRIu64 " events more came while %d waited: no command for them",
                 hook->dropped, HOOK_QUEUE_MAX);
    close(hook->log_fd);
    pthread_cond_destroy(&hook->posted);
    pthread_mutex_destroy(&hook->lock);
    free(hook);
}

/* ---- posting ---- */

static const struct sight *find_sight(const struct hook *hook, const struct hook_event *event)
{
    unsigned kept = hook->sight_count < SIGHTS_MAX ? hook->sight_count : SIGHTS_MAX;
    for (unsigned i = 0; i < kept; i++)
        if (hook->sights[i].file_uid == event->file_uid && hook->sights[i].offset == event->offset)
            return &hook->sights[i];
    return NULL;
}

/* Does this one start a command?  Under the lock. */
static bool wants(struct hook *hook, const struct hook_event *event)
{
    if (event->stall ? !hook->config.on_stall : !hook->config.on_finding)
        return false;
    return !hook->ending && (hook->config.every || !hook->fired[event->verdict]);
}

/* Under the lock. */
static unsigned enqueue(struct hook *hook, const struct hook_event *event)
{
    if (hook->waiting == HOOK_QUEUE_MAX) {
        hook->dropped++;
        return 0;
    }
    hook->queue[(hook->first + hook->waiting++) % HOOK_QUEUE_MAX] = *event;
    pthread_cond_signal(&hook->posted);
    return ++hook->posts;
}

unsigned hook_post(struct hook *hook, const struct hook_event *event)
{
    unsigned number = 0;
    pthread_mutex_lock(&hook->lock);
    const struct sight *known = event->stall ? NULL : find_sight(hook, event);
    if (known) {
        number = known->number; /* another reader of the page, or the finding of that sight */
    } else if (wants(hook, event)) {
        hook->fired[event->verdict] = true;
        number = enqueue(hook, event);
        if (event->first_sight)
            hook->sights[hook->sight_count++ % SIGHTS_MAX] =
                (struct sight){event->file_uid, event->offset, number};
    }
    pthread_mutex_unlock(&hook->lock);
    return number;
}

bool hook_begun(const struct hook *hook, unsigned number)
{
    return atomic_load(&((struct hook *)(uintptr_t)hook)->begun) >= number;
}
