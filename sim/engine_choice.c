/* engine_choice.c - see engine_choice.h. */
#include "sim/engine_choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

struct candidate {
    enum config_engine named;
    const struct io_engine_ops *ops;
    const char *what;
    bool automatic;
};

/* auto takes the first that works. */
static const struct candidate candidates[] = {
    {CONFIG_ENGINE_URING, &engine_uring, "io_uring", true},
    {CONFIG_ENGINE_AIO, &engine_aio, "native AIO, as SQL Server on Linux uses", true},
    {CONFIG_ENGINE_SYNC, &engine_sync, "blocking calls, helper threads", true},
    {CONFIG_ENGINE_MEM, &engine_mem,
     "a modelled device under a virtual clock: the same seed gives the same run; it says nothing "
     "of this storage",
     false},
};
#define CANDIDATES (sizeof candidates / sizeof candidates[0])

/* ---- what the system says ---- */

static int64_t read_number(const char *path)
{
    int64_t value = -1;
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%" SCNd64, &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

static int64_t read_limit(int resource)
{
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)resource, &limit) || limit.rlim_cur > INT64_MAX)
        return -1;
    return (int64_t)limit.rlim_cur;
}

void engine_system_read(struct engine_system *out)
{
    out->io_uring_disabled = read_number("/proc/sys/kernel/io_uring_disabled");
    out->aio_nr = read_number("/proc/sys/fs/aio-nr");
    out->aio_max_nr = read_number("/proc/sys/fs/aio-max-nr");
    out->open_files_max = read_limit(RLIMIT_NOFILE);
    out->locked_memory_bytes = read_limit(RLIMIT_MEMLOCK);
}

/* ---- why not ---- */

struct reason {
    char why[ENGINE_TEXT_MAX / 2], remedy[ENGINE_TEXT_MAX / 2];
};

#define REASON(reason, ...)  snprintf((reason)->why, sizeof(reason)->why, __VA_ARGS__)
#define REMEDY(reason, text) snprintf((reason)->remedy, sizeof(reason)->remedy, "%s", text)

static void uring_forbidden(const struct engine_system *system, struct reason *reason)
{
    if (system->io_uring_disabled > 0) {
        REASON(reason, "io_uring is switched off here (kernel.io_uring_disabled=%" PRId64 "%s)",
               system->io_uring_disabled,
               system->io_uring_disabled == 1
                   ? ": root and the group of kernel.io_uring_group may use it"
                   : "");
        REMEDY(reason, "Use --engine aio, or let an administrator set "
                       "kernel.io_uring_disabled=0 with sysctl");
        return;
    }
    REASON(reason, "io_uring is forbidden here by a security policy (a container's seccomp filter, "
                   "SELinux)");
    REMEDY(reason, "Use --engine aio, or start the container with a profile that allows io_uring");
}

static void uring_reason(int error, const struct engine_system *system, struct reason *reason)
{
    switch (-error) {
    case EPERM:
    case EACCES:
        uring_forbidden(system, reason);
        break;
    case ENOSYS:
    case EINVAL:
        REASON(reason, "this kernel has no io_uring, or one older than that of Linux 5.11");
        REMEDY(reason, "Use --engine aio");
        break;
    case ENOMEM:
        REASON(reason, "the kernel gives no memory for the rings (before Linux 5.12 they count "
                       "against ulimit -l)");
        REMEDY(reason, "Raise ulimit -l (LimitMEMLOCK= of a systemd unit), or use --engine aio");
        break;
    default:
        break;
    }
}

static void aio_reason(int error, const struct engine_system *system, struct reason *reason)
{
    switch (-error) {
    case EAGAIN:
        REASON(reason,
               "the system's limit of outstanding asynchronous I/Os is reached "
               "(fs.aio-max-nr=%" PRId64 ", in use fs.aio-nr=%" PRId64 ")",
               system->aio_max_nr, system->aio_nr);
        REMEDY(reason, "Raise it: sysctl -w fs.aio-max-nr=1048576; or set QueueDepth or CPUCount "
                       "lower, or use --engine sync");
        break;
    case ENOSYS:
    case EPERM:
        REASON(reason, "this kernel has no native AIO, or a security policy forbids it");
        REMEDY(reason, "Use --engine sync");
        break;
    default:
        break;
    }
}

static void any_reason(int error, const struct engine_system *system, struct reason *reason)
{
    if (error == -EMFILE) {
        REASON(reason, "too many open files (ulimit -n is %" PRId64 ")", system->open_files_max);
        REMEDY(reason, "Raise ulimit -n (LimitNOFILE= of a systemd unit)");
    } else {
        REASON(reason, "%s", strerror(-error));
        REMEDY(reason, "Try another --engine: auto, aio or sync");
    }
}

static void find_reason(const struct io_engine_ops *ops, int error,
                        const struct engine_system *system, struct reason *reason)
{
    *reason = (struct reason){0};
    if (ops == &engine_uring)
        uring_reason(error, system, reason);
    else if (ops == &engine_aio)
        aio_reason(error, system, reason);
    if (!reason->why[0])
        any_reason(error, system, reason);
}

void engine_refusal(const struct io_engine_ops *ops, int error, const struct engine_system *system,
                    char text[ENGINE_TEXT_MAX])
{
    struct reason reason;
    find_reason(ops, error, system, &reason);
    snprintf(text, ENGINE_TEXT_MAX, "%s. %s", reason.why, reason.remedy);
}

bool engine_memory_note(const struct io_engine *engine, uint64_t memory_bytes,
                        const struct engine_system *system, char text[ENGINE_TEXT_MAX])
{
    uint64_t mib = 1024 * 1024, got = engine->memory_registered_bytes;
    if (!engine->wants_memory || got >= memory_bytes)
        return false;
    snprintf(
        text, ENGINE_TEXT_MAX,
        "%" PRIu64 " of %" PRIu64 " MiB of the buffer pool are registered with io_uring by each "
        "worker (ulimit -l is %" PRId64 " MiB for all): every I/O elsewhere costs a little more "
        "CPU. Remedy: ulimit -l unlimited (LimitMEMLOCK=infinity of a systemd unit)",
        got / mib, memory_bytes / mib, system->locked_memory_bytes / (int64_t)mib);
    return true;
}

/* ---- the choice ---- */

static int choose_named(const struct candidate *c, int (*try_create)(const struct io_engine_ops *),
                        const struct engine_system *system, struct engine_choice *out)
{
    int error = c->ops == &engine_mem ? 0 : try_create(c->ops);
    *out = (struct engine_choice){.ops = c->ops, .is_model = c->ops == &engine_mem};
    if (error)
        engine_refusal(c->ops, error, system, out->text);
    else
        snprintf(out->text, sizeof out->text, "%s (%s)", c->ops->name, c->what);
    return error;
}

static int choose_first(int (*try_create)(const struct io_engine_ops *),
                        const struct engine_system *system, struct engine_choice *out)
{
    char why[ENGINE_TEXT_MAX] = "";
    int error = -ENOSYS;
    for (size_t i = 0; i < CANDIDATES && error; i++) {
        const struct candidate *c = &candidates[i];
        struct reason reason;
        if (!c->automatic)
            continue;
        error = choose_named(c, try_create, system, out);
        if (!error)
            break;
        find_reason(c->ops, error, system, &reason);
        size_t used = strlen(why);
        snprintf(why + used, sizeof why - used, "%s%s", used ? "; " : "", reason.why);
    }
    if (!error && why[0]) {
        size_t used = strlen(out->text) - 1; /* before the bracket */
        snprintf(out->text + used, sizeof out->text - used, "; auto: %s)", why);
    }
    return error;
}

int engine_choose_from(enum config_engine wanted, int (*try_create)(const struct io_engine_ops *),
                       const struct engine_system *system, struct engine_choice *out)
{
    for (size_t i = 0; i < CANDIDATES; i++)
        if (candidates[i].named == wanted)
            return choose_named(&candidates[i], try_create, system, out);
    return choose_first(try_create, system, out);
}

static int try_really(const struct io_engine_ops *ops)
{
    struct clock clock;
    struct io_engine *engine;
    clock_init_real(&clock);
    struct io_engine_config config = {.clock = &clock, .depth = 1};
    int error = ops->create(&engine, &config);
    if (!error)
        ops->destroy(engine);
    return error;
}

int engine_choose(enum config_engine wanted, struct engine_choice *out)
{
    struct engine_system system;
    engine_system_read(&system);
    return engine_choose_from(wanted, try_really, &system, out);
}
