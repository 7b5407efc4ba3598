/*
 * engine_uring.c - io_uring: submit fills entries of the ring, reap is one system call for all.
 *
 * What a kernel lacks is done without, step by step: completions deferred to the owner and one
 * issuer (6.1), no interrupting of the owner (5.19), registered files, registered buffers.  Waits
 * with a deadline are needed (5.11); what is older has libaio.
 *
 * Invariants: the ring belongs to the thread that enters it first; until then it is disabled, so
 * that one thread can create what another will use.  A thread that follows gets a new ring.  It
 * holds as many completions as there can be, so none overflows.  An entry points at its request;
 * the one that waits for wake() points at the engine.  Only woken, waiting and wake_fd are touched
 * by other threads.
 *
 * What it does not do: cancel, poll the device, or use more memory than RLIMIT_MEMLOCK allows.
 */
#include <assert.h>
#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/affinity.h"
#include "sim/engine_memory.h"
#include "sim/engine_without.h"
#include "sim/req_list.h"

#define ENTRIES_MAX    4096 /* of the ring; beyond that they are handed over in between */
#define FILE_SLOTS_MAX 1024 /* the usual RLIMIT_NOFILE: a slot has the number of its descriptor */
#define RETRY_NS       NS_PER_MS /* when the kernel has no memory for a request */

struct uring_engine {
    struct io_engine base;
    struct io_uring ring;
    struct engine_without without;
    unsigned flags;          /* of the ring, that this kernel took */
    struct cpu_list cpus;    /* IOAffinity: of the kernel's threads that do what would block */
    unsigned char *in_table; /* by descriptor: is it registered? */
    unsigned file_slots;
    struct iovec pieces[ENGINE_PIECES_MAX]; /* of memory, registered under their index */
    unsigned piece_count;
    int wake_fd;
    uint64_t wake_value; /* read from wake_fd by the ring */
    bool wake_armed;
    _Atomic bool woken;   /* somebody called wake() since the last wait ended for it */
    _Atomic bool waiting; /* the owner may be asleep: woken must be followed by wake_fd */
};

struct completions {
    struct req_list list;
    uint64_t now_ns; /* of the first one that is taken at a time */
};

static struct uring_engine *uring_of(struct io_engine *engine)
{
    return (struct uring_engine *)engine;
}

/* ---- the ring ---- */

static const unsigned flag_sets[] = {
#if defined(IORING_SETUP_SINGLE_ISSUER) && defined(IORING_SETUP_DEFER_TASKRUN)
    IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
        IORING_SETUP_R_DISABLED,
#endif
#if defined(IORING_SETUP_COOP_TASKRUN) && defined(IORING_SETUP_TASKRUN_FLAG)
    IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,
#endif
    0,
};

static bool is_allowed(const struct uring_engine *uring, unsigned flags)
{
    bool disabled = flags & IORING_SETUP_R_DISABLED; /* only with a single issuer */
    if (flags && disabled)
        return !uring->without.single_issuer;
    return !flags || !uring->without.coop_taskrun;
}

static int ring_open(struct uring_engine *uring)
{
    unsigned entries = uring->base.depth + 1 < ENTRIES_MAX ? uring->base.depth + 1 : ENTRIES_MAX;
    int r = -EINVAL;
    for (size_t i = 0; i < sizeof flag_sets / sizeof *flag_sets && r == -EINVAL; i++) {
        if (!is_allowed(uring, flag_sets[i]))
            continue;
        struct io_uring_params params = {
            .flags = flag_sets[i] | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP,
            .cq_entries = 2 * (uring->base.depth + 1),
        };
        r = io_uring_queue_init_params(entries, &uring->ring, &params);
        uring->flags = flag_sets[i];
    }
    if (r == 0 && !(uring->ring.features & IORING_FEAT_EXT_ARG)) {
        io_uring_queue_exit(&uring->ring);
        r = -ENOSYS; /* older than 5.11 */
    }
    return r;
}

/* A table of empty slots; without one the descriptors themselves are used. */
static void files_register(struct uring_engine *uring)
{
    struct rlimit limit = {0};
    int empty[FILE_SLOTS_MAX];
    if (uring->without.files || getrlimit(RLIMIT_NOFILE, &limit))
        return;
    unsigned slots = limit.rlim_cur < FILE_SLOTS_MAX ? (unsigned)limit.rlim_cur : FILE_SLOTS_MAX;
    memset(empty, 0xff, sizeof empty);
    if (io_uring_register_files(&uring->ring, empty, slots) == 0)
        uring->file_slots = slots;
}

static void buffers_register(struct uring_engine *uring)
{
    unsigned count = uring->piece_count;
    uring->piece_count = 0;
    uring->base.memory_registered_bytes = 0;
    while (count > 0 && io_uring_register_buffers(&uring->ring, uring->pieces, count) != 0)
        count = engine_memory_halve(uring->pieces, count);
    uring->piece_count = count;
    for (unsigned i = 0; i < count; i++)
        uring->base.memory_registered_bytes += uring->pieces[i].iov_len;
}

static void file_put(struct uring_engine *uring, int fd)
{
    uring->in_table[fd] = io_uring_register_files_update(&uring->ring, (unsigned)fd, &fd, 1) == 1;
}

/* What was filled in and not handed over goes into the new ring; slots and pieces are the same. */
static void entries_move(struct uring_engine *uring, const struct io_uring *old)
{
    const struct io_uring_sq *sq = &old->sq;
    unsigned mask = *sq->kring_mask;
    for (unsigned at = *sq->khead; at != sq->sqe_tail; at++) {
        const struct io_uring_sqe *entry = &sq->sqes[at & mask];
        if (entry->user_data == (uintptr_t)uring)
            continue; /* the wake is armed anew */
        struct io_uring_sqe *moved = io_uring_get_sqe(&uring->ring);
        assert(moved);
        *moved = *entry;
    }
}

/* Another thread goes on with an engine whose ring has the first one for its issuer; nothing is in
 * the kernel but perhaps the wait for wake_fd, so that descriptor gets a new file. */
static void ring_renew(struct uring_engine *uring)
{
    struct io_uring old = uring->ring;
    int fresh = eventfd(0, EFD_CLOEXEC);
    int r = fresh < 0 ? -errno : ring_open(uring);
    assert(r == 0); /* it worked a moment ago */
    entries_move(uring, &old);
    io_uring_queue_exit(&old);
    r = dup3(fresh, uring->wake_fd, O_CLOEXEC);
    assert(r >= 0);
    close(fresh);
    uring->wake_armed = false;
    uring->file_slots = 0;
    files_register(uring);
    for (unsigned fd = 0; fd < uring->file_slots; fd++)
        if (uring->in_table[fd])
            file_put(uring, (int)fd);
    buffers_register(uring);
}

/* The kernel said whose the ring is: nobody's yet, or another thread's. */
/* A thread's requests that would block go to threads of the kernel, which can be bound (5.14) from
 * when the kernel knows the thread; giving it a slot for the ring (5.18) makes it known before the
 * first request.  What an older kernel lacks leaves them where it likes. */
static void pin_kernel_threads(struct uring_engine *uring)
{
    if (cpu_list_is_empty(&uring->cpus))
        return;
#ifdef IORING_SETUP_SINGLE_ISSUER /* the header has the slots, too */
    int fd = uring->ring.ring_fd;
    struct io_uring_rsrc_update slot = {.offset = UINT32_MAX, .data = (unsigned)fd};
    if (syscall(__NR_io_uring_register, fd, IORING_REGISTER_RING_FDS, &slot, 1) == 1)
        syscall(__NR_io_uring_register, fd, IORING_UNREGISTER_RING_FDS, &slot, 1);
#endif
    (void)!io_uring_register_iowq_aff(&uring->ring, sizeof uring->cpus,
                                      (const cpu_set_t *)&uring->cpus);
}

static void take_over(struct uring_engine *uring, int why)
{
    if (why == -EEXIST)
        ring_renew(uring);
    /* io_uring_enable_rings(), which the library of liburing 2.3 lacks */
    long r =
        syscall(__NR_io_uring_register, uring->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    assert(r == 0);
    pin_kernel_threads(uring);
}

/* ---- life ---- */

static void uring_destroy(struct io_engine *engine)
{
    struct uring_engine *uring = uring_of(engine);
    assert(engine->outstanding == 0);
    io_uring_queue_exit(&uring->ring);
    close(uring->wake_fd);
    free(uring->in_table);
    free(uring);
}

static int uring_make(struct uring_engine *uring, const struct io_engine_config *config)
{
    uring->in_table = calloc(FILE_SLOTS_MAX, 1);
    uring->wake_fd = eventfd(0, EFD_CLOEXEC);
    if (!uring->in_table || uring->wake_fd < 0)
        return uring->in_table ? -errno : -ENOMEM;
    int r = ring_open(uring);
    if (r)
        return r;
    files_register(uring);
    if (!uring->without.buffers)
        uring->piece_count = engine_memory_pieces(uring->pieces, config);
    buffers_register(uring);
    return 0;
}

static int uring_create(struct io_engine **out, const struct io_engine_config *config)
{
    *out = NULL;
    if (config->depth == 0 || config->clock->is_virtual) /* real devices have real time */
        return -EINVAL;
    struct uring_engine *uring = calloc(1, sizeof *uring);
    if (!uring)
        return -ENOMEM;
    uring->base = (struct io_engine){
        .ops = &engine_uring, .clock = config->clock, .depth = config->depth, .wants_memory = true};
    uring->wake_fd = -1;
    if (config->cpus)
        uring->cpus = *config->cpus;
    if (config->device)
        uring->without = *(const struct engine_without *)config->device;
    int r = uring_make(uring, config);
    if (r) {
        if (uring->wake_fd >= 0)
            close(uring->wake_fd);
        free(uring->in_table);
        free(uring);
        return r;
    }
    *out = &uring->base;
    return 0;
}

static int uring_attach(struct io_engine *engine, struct io_target *target)
{
    struct uring_engine *uring = uring_of(engine);
    if (target->fd < 0)
        return -EBADF;
    if ((unsigned)target->fd < uring->file_slots)
        file_put(uring, target->fd);
    return 0;
}

static void uring_detach(struct io_engine *engine, struct io_target *target)
{
    struct uring_engine *uring = uring_of(engine);
    int none = -1;
    if ((unsigned)target->fd >= uring->file_slots || !uring->in_table[target->fd])
        return;
    io_uring_register_files_update(&uring->ring, (unsigned)target->fd, &none, 1);
    uring->in_table[target->fd] = false;
}

/* ---- entering the kernel ---- */

static int enter_to_wait(struct uring_engine *uring, uint64_t deadline_ns)
{
    if (deadline_ns == UINT64_MAX)
        return io_uring_submit_and_wait(&uring->ring, 1);
    uint64_t now = clock_now_ns(uring->base.clock);
    uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
    struct __kernel_timespec time = {(int64_t)(left / NS_PER_S), (long long)(left % NS_PER_S)};
    struct io_uring_cqe *cqe;
#ifdef IORING_SETUP_DEFER_TASKRUN /* liburing 2.3 */
    return io_uring_submit_and_wait_timeout(&uring->ring, &cqe, 1, &time, NULL);
#else
    int r = io_uring_submit(&uring->ring);
    return r < 0 ? r : io_uring_wait_cqe_timeout(&uring->ring, &cqe, &time);
#endif
}

static int enter_at_once(struct uring_engine *uring)
{
#ifdef IORING_SETUP_DEFER_TASKRUN
    return io_uring_submit_and_get_events(&uring->ring);
#else
    return io_uring_submit(&uring->ring);
#endif
}

/* Hand over what was filled in, let completions arrive; with wait, until one came or the deadline.
 */
static void enter(struct uring_engine *uring, bool wait, uint64_t deadline_ns)
{
    int r = wait ? enter_to_wait(uring, deadline_ns) : enter_at_once(uring);
    if (r == -EBADFD || r == -EEXIST) {
        take_over(uring, r);
        r = enter_at_once(uring); /* who waits comes again: the wake may have to be armed */
    }
    if (r >= 0 || r == -EINTR || r == -ETIME)
        return;
    assert(r == -EAGAIN || r == -EBUSY || r == -ENOMEM);
    if (io_uring_cq_ready(&uring->ring) > 0)
        return; /* reaping them makes room */
    struct timespec pause = {0, RETRY_NS};
    nanosleep(&pause, NULL);
}

/* Is there anything that only a system call brings forward? */
static bool needs_enter(const struct uring_engine *uring)
{
    unsigned flags = __atomic_load_n(uring->ring.sq.kflags, __ATOMIC_RELAXED);
#ifdef IORING_SQ_TASKRUN
    if (flags & IORING_SQ_TASKRUN)
        return true;
#endif
    return (flags & IORING_SQ_CQ_OVERFLOW) || io_uring_sq_ready(&uring->ring) > 0;
}

static struct io_uring_sqe *next_entry(struct uring_engine *uring)
{
    struct io_uring_sqe *sqe;
    while (!(sqe = io_uring_get_sqe(&uring->ring)))
        enter(uring, false, 0);
    return sqe;
}

/* ---- requests ---- */

/* The registered piece that holds this memory, or -1. */
static int piece_of(const struct uring_engine *uring, const struct iovec *iov)
{
    for (unsigned i = 0; i < uring->piece_count; i++) {
        const struct iovec *piece = &uring->pieces[i];
        size_t at = (size_t)((uintptr_t)iov->iov_base - (uintptr_t)piece->iov_base);
        if (at < piece->iov_len && iov->iov_len <= piece->iov_len - at)
            return (int)i;
    }
    return -1;
}

static void fill_read(const struct uring_engine *uring, struct io_uring_sqe *sqe,
                      const struct io_req *req)
{
    const struct iovec *iov = req->engine_iov;
    int fd = req->target->fd;
    int piece = req->engine_iov_count == 1 ? piece_of(uring, iov) : -1;
    if (req->engine_iov_count > 1)
        io_uring_prep_readv(sqe, fd, iov, req->engine_iov_count, req->engine_offset);
    else if (piece >= 0)
        io_uring_prep_read_fixed(sqe, fd, iov->iov_base, (unsigned)iov->iov_len, req->engine_offset,
                                 piece);
    else
        io_uring_prep_read(sqe, fd, iov->iov_base, (unsigned)iov->iov_len, req->engine_offset);
}

static void fill_write(const struct uring_engine *uring, struct io_uring_sqe *sqe,
                       const struct io_req *req)
{
    const struct iovec *iov = req->engine_iov;
    int fd = req->target->fd;
    int piece = req->engine_iov_count == 1 ? piece_of(uring, iov) : -1;
    if (req->engine_iov_count > 1)
        io_uring_prep_writev(sqe, fd, iov, req->engine_iov_count, req->engine_offset);
    else if (piece >= 0)
        io_uring_prep_write_fixed(sqe, fd, iov->iov_base, (unsigned)iov->iov_len,
                                  req->engine_offset, piece);
    else
        io_uring_prep_write(sqe, fd, iov->iov_base, (unsigned)iov->iov_len, req->engine_offset);
}

static void fill(struct uring_engine *uring, struct io_req *req, unsigned flags)
{
    struct io_uring_sqe *sqe = next_entry(uring);
    int fd = req->target->fd;
    if (req->op == IO_READ)
        fill_read(uring, sqe, req);
    else if (req->op == IO_WRITE)
        fill_write(uring, sqe, req);
    else
        io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
    if ((unsigned)fd < uring->file_slots && uring->in_table[fd])
        flags |= IOSQE_FIXED_FILE; /* its slot has its number */
    io_uring_sqe_set_flags(sqe, flags);
    io_uring_sqe_set_data(sqe, req);
}

static int uring_submit(struct io_engine *engine, struct io_req *req)
{
    struct uring_engine *uring = uring_of(engine);
    if (engine->outstanding >= engine->depth)
        return -EAGAIN;
    engine->outstanding++;
    fill(uring, req, 0);
    return 0;
}

/* ---- completions ---- */

static void complete(struct uring_engine *uring, struct completions *done, struct io_req *req,
                     int result)
{
    if (result == -EINTR || result == -EAGAIN) { /* not done; now by a thread that may block */
        fill(uring, req, IOSQE_ASYNC);
        return;
    }
    if (!done->now_ns)
        done->now_ns = clock_now_ns(uring->base.clock);
    req->engine_result = result;
    req->completed_ns = done->now_ns;
    req_list_append(&done->list, req);
}

static void collect(struct uring_engine *uring, struct completions *done)
{
    struct io_uring_cqe *cqe;
    unsigned head, seen = 0;
    done->now_ns = 0;
    io_uring_for_each_cqe(&uring->ring, head, cqe)
    {
        void *data = io_uring_cqe_get_data(cqe);
        if (data == uring)
            uring->wake_armed = false;
        else
            complete(uring, done, data, cqe->res);
        seen++;
    }
    io_uring_cq_advance(&uring->ring, seen);
}

/* ---- waiting and waking ---- */

static void arm_wake(struct uring_engine *uring)
{
    if (uring->wake_armed)
        return;
    struct io_uring_sqe *sqe = next_entry(uring);
    io_uring_prep_read(sqe, uring->wake_fd, &uring->wake_value, sizeof uring->wake_value, 0);
    io_uring_sqe_set_data(sqe, uring);
    uring->wake_armed = true;
}

/* One at a time: with a larger number a wake-up would count as one of them. */
static void wait_for(struct uring_engine *uring, unsigned min, uint64_t deadline_ns,
                     struct completions *done)
{
    bool late = false;
    atomic_store(&uring->waiting, true);
    while (done->list.count < min && !late && !atomic_load(&uring->woken)) {
        arm_wake(uring);
        enter(uring, true, deadline_ns);
        collect(uring, done);
        late = deadline_ns != UINT64_MAX && done->list.count < min &&
               clock_now_ns(uring->base.clock) >= deadline_ns;
    }
    atomic_store(&uring->waiting, false);
    if (done->list.count < min)
        atomic_store(&uring->woken, false); /* it ended this wait */
}

static int uring_reap(struct io_engine *engine, unsigned min, uint64_t deadline_ns,
                      struct io_req **list)
{
    struct uring_engine *uring = uring_of(engine);
    struct completions done = {.now_ns = 0};
    collect(uring, &done);
    bool waits = done.list.count < min && deadline_ns != 0;
    if (waits)
        wait_for(uring, min, deadline_ns, &done);
    if (waits ? io_uring_sq_ready(&uring->ring) > 0 : needs_enter(uring)) {
        enter(uring, false, 0);
        collect(uring, &done);
    }
    *list = done.list.head;
    engine->outstanding -= done.list.count;
    return (int)done.list.count;
}

/* Who finds woken set knows that somebody else is waking, or that the owner will look. */
static void uring_wake(struct io_engine *engine)
{
    struct uring_engine *uring = uring_of(engine);
    if (atomic_exchange(&uring->woken, true) || !atomic_load(&uring->waiting))
        return;
    static const uint64_t one = 1;
    ssize_t n = write(uring->wake_fd, &one, sizeof one);
    assert(n == sizeof one);
}

const struct io_engine_ops engine_uring = {
    .name = "uring",
    .create = uring_create,
    .attach = uring_attach,
    .submit = uring_submit,
    .reap = uring_reap,
    .wake = uring_wake,
    .detach = uring_detach,
    .destroy = uring_destroy,
};
