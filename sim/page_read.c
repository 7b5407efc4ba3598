/* page_read.c - judging and re-reading; see page_read.h. */
#include "sim/page_read.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/os_errors.h"
#include "sim/page_fault.h"
#include "verify/check.h"

#define READER_PAGES         6
#define PATIENT_FINDINGS_MAX 16 /* from then on re-reads follow without pauses */

int page_reader_init(struct page_reader *reader, struct run *run, struct task *task,
                     const char *actor)
{
    memset(reader, 0, sizeof *reader);
    reader->run = run;
    reader->task = task;
    reader->actor = actor;
    reader->memory = aligned_alloc(4096, READER_PAGES * PAGE_BYTES);
    if (!reader->memory)
        return -ENOMEM;
    reader->first_image = reader->memory;
    reader->expected = reader->memory + PAGE_BYTES;
    reader->system_acked = reader->memory + 2 * PAGE_BYTES;
    reader->system_issued = reader->memory + 3 * PAGE_BYTES;
    reader->spares[0] = reader->memory + 4 * PAGE_BYTES;
    reader->spares[1] = reader->memory + 5 * PAGE_BYTES;
    return 0;
}

void page_reader_free(struct page_reader *reader)
{
    free(reader->memory);
    reader->memory = NULL;
}

/* ---- judging ---- */

struct expectation page_expectation(struct page_reader *reader, struct data_file *file,
                                    uint32_t page_no, struct ledger_view owed)
{
    const struct file_mark *identity = data_file_identity(file);
    struct expectation expect = {
        .run = &reader->run->identity,
        .file_uid = identity->file_uid,
        .incarnation = identity->incarnation,
        .file_id = identity->file_id,
        .page_no = page_no,
        .owed = owed,
        .created_by_us = file->file.created_by_us,
        .kind = syspage_kind(page_no, file->primary),
    };
    if (expect.kind != SYSPAGE_NONE && expect.kind != SYSPAGE_RESERVED) {
        struct syspage_images images = {.acked = reader->system_acked,
                                        .issued = reader->system_issued};
        syspage_images_copy(file, page_no, &images);
        expect.system_image = images.has_acked ? images.acked : NULL;
        expect.system_issued = images.has_issued ? images.issued : NULL;
    } else {
        expect.kind = SYSPAGE_NONE; /* reserved pages are never written and must stay zero */
    }
    return expect;
}

/* How long was it on the device without anybody looking?  A snapshot has images of earlier writes.
 */
static void first_check(const struct run *run, struct data_file *file, const uint8_t *image,
                        enum syspage_kind kind)
{
    const struct page_stamp *stamp = page_stamp_of(image);
    if (kind != SYSPAGE_NONE || file->snapshot_of || stamp->magic != PAGE_STAMP_MAGIC ||
        stamp->write_time_ns < run->session_start_ns)
        return;
    uint64_t now_ns = clock_realtime_ns(run->clock);
    coverage_first_check(&file->coverage,
                         now_ns > stamp->write_time_ns ? now_ns - stamp->write_time_ns : 0);
}

enum page_judgement page_judge(struct page_reader *reader, struct data_file *file, uint32_t page_no,
                               const uint8_t *image, struct ledger_view before)
{
    struct counters *counters = &reader->task->worker->stats.counters;
    struct ledger *ledger = reader->run->ledger;
    uint16_t uid = file->file.mark.file_uid;
    struct expectation expect = page_expectation(reader, file, page_no, before);
    if (CHECKED(overlap) && !ledger_same_quiet(before, ledger_view(ledger, uid, page_no))) {
        relaxed_add(&counters->overlapped_reads, 1);
        return PAGE_NOT_JUDGED;
    }
    if (before.state == LEDGER_QUARANTINED)
        return PAGE_JUDGED_RIGHT; /* its finding stands: not judged again, not counted */
    if (CHECKED(page_judged) && !explain_is_right(image, &expect))
        return PAGE_JUDGED_WRONG;
    relaxed_add(&counters->pages_verified, 1);
    if (!before.seen)
        first_check(reader->run, file, image, expect.kind);
    ledger_seen(ledger, uid, page_no, before.epoch);
    return PAGE_JUDGED_RIGHT;
}

/* ---- one read ---- */

static void read_done(struct io_req *req)
{
    struct page_reader *reader = req->context;
    reader->in_flight = false;
    task_wake(reader->task);
}

static void cold_close(struct page_reader *reader)
{
    struct io_engine *engine = reader->task->worker->io.engine;
    engine->ops->detach(engine, &reader->cold_target);
    close(reader->cold_target.fd);
    reader->cold = false;
}

/* Past the page cache where that is possible: what it remembers proves nothing of the device. */
static int cold_descriptor(const struct file *file)
{
    int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
    int fd = open(file->path, flags | O_DIRECT);
    return fd < 0 && !file->direct ? open(file->path, flags) : fd;
}

/* A descriptor of its own, so that what this process or the kernel remembers of the file is not
 * asked. */
static bool cold_open(struct page_reader *reader)
{
    struct file *file = &reader->file->file;
    int fd = cold_descriptor(file);
    if (fd < 0)
        return false;
    if (reader->attempt >= REREADS_COLD)
        posix_fadvise(fd, (off_t)reader->page_no * PAGE_BYTES, PAGE_BYTES, POSIX_FADV_DONTNEED);
    reader->cold_target.fd = fd;
    reader->cold_target.uid = file->target.uid;
    reader->cold_target.align_bytes = file->target.align_bytes;
    reader->cold_target.memory_align_bytes = file->target.memory_align_bytes;
    atomic_store(&reader->cold_target.size_bytes, atomic_load(&file->target.size_bytes));
    struct io_engine *engine = reader->task->worker->io.engine;
    if (engine->ops->attach(engine, &reader->cold_target)) {
        close(fd);
        return false;
    }
    reader->cold = true;
    return true;
}

uint8_t *page_read_buffer(struct page_reader *reader)
{
    return reader->attempt == 0 ? reader->target : reader->spares[reader->attempt % 2];
}

const uint8_t *page_read_last_bad(const struct page_reader *reader)
{
    return reader->bad_attempt ? reader->spares[reader->bad_attempt % 2] : NULL;
}

/* One request of the present read; what it reads, and whereto, is set. */
static void request_send(struct page_reader *reader)
{
    struct io_req *req = &reader->req;
    req->op = IO_READ;
    req->stream = reader->stream;
    req->target = reader->cold ? &reader->cold_target : &reader->file->file.target;
    req->done = read_done;
    req->context = reader;
    reader->in_flight = true;
    io_submit(&reader->task->worker->io, req);
}

static void read_submit(struct page_reader *reader)
{
    struct file *file = &reader->file->file;
    uint8_t *buffer = page_read_buffer(reader);
    struct io_req *req = &reader->req;
    reader->serial = worker_read_serials(reader->task->worker, 1);
    poison_fill(buffer, PAGE_BYTES, reader->serial);
    reader->before = ledger_view(reader->run->ledger, file->mark.file_uid, reader->page_no);
    reader->iov = (struct iovec){buffer, PAGE_BYTES};
    memset(req, 0, offsetof(struct io_req, resume_iov));
    req->offset = (uint64_t)reader->page_no * PAGE_BYTES;
    req->iov = &reader->iov;
    req->iov_count = 1;
    if (reader->lateness_ns && reader->attempt == 0)
        req->due_ns = clock_now_ns(reader->run->clock) - reader->lateness_ns;
    request_send(reader);
}

static void reader_begin(struct page_reader *reader, struct data_file *file, uint32_t page_no,
                         uint8_t *target, enum stream stream)
{
    reader->file = file;
    reader->page_no = page_no;
    reader->target = target;
    reader->stream = stream;
    reader->attempt = reader->agreed = reader->bad_attempt = 0;
    reader->first_error = 0;
    reader->sectors = (struct page_sectors){0};
    reader->resume_ns = 0;
    reader->sight = 0;
    reader->in_flight = false;
}

void page_read_start(struct page_reader *reader, struct data_file *file, uint32_t page_no,
                     uint8_t *target, enum stream stream)
{
    reader_begin(reader, file, page_no, target, stream);
    read_submit(reader);
}

/* ---- the ladder ---- */

/* True: the page is read again only when the user's command is started. */
static bool is_held(struct page_reader *reader)
{
    if (!reader->sight)
        return false;
    uint64_t now = clock_now_ns(reader->run->clock);
    if (now >= reader->sight_until_ns ||
        finding_sight_told(&reader->run->findings, reader->sight)) {
        reader->sight = 0;
        return false;
    }
    reader->resume_ns = now + SIGHT_LOOK_NS;
    task_sleep_until(reader->task, reader->resume_ns);
    return true;
}

/* Under a virtual clock no command's start can be waited for. */
static void sighted(struct page_reader *reader)
{
    reader->sight = page_fault_sighted(reader);
    if (reader->run->clock->is_virtual)
        reader->sight = 0;
    reader->sight_until_ns = clock_now_ns(reader->run->clock) + SIGHT_HOLD_NS;
}

static void first_failure(struct page_reader *reader, const uint8_t *image, int error)
{
    memset(&reader->first_why, 0, sizeof reader->first_why);
    reader->first_error = error;
    reader->first_before = reader->before;
    reader->first_ns = clock_now_ns(reader->run->clock);
    memcpy(reader->first_image, image, PAGE_BYTES);
    if (error)
        return;
    struct expectation expect =
        page_expectation(reader, reader->file, reader->page_no, reader->before);
    explain(image, reader->serial, &expect, &reader->first_why);
}

void page_read_continue(struct page_reader *reader, struct data_file *file, uint32_t page_no,
                        uint8_t *image, enum stream stream, uint64_t serial,
                        struct ledger_view before, int error)
{
    reader_begin(reader, file, page_no, image, stream);
    reader->serial = serial;
    reader->before = before;
    first_failure(reader, image, error);
    sighted(reader);
    reader->attempt = 1;
    relaxed_add(&reader->task->worker->stats.counters.read_retries, 1);
    if (!is_held(reader))
        read_submit(reader);
}

/* Where many pages are wrong, waiting for each would take the night. */
static bool is_patient(struct page_reader *reader)
{
    return findings_count(&reader->run->findings, SEVERITY_INTEGRITY) < PATIENT_FINDINGS_MAX;
}

/* The next rung: at once, after a pause, through a fresh descriptor; false at the end. */
static bool reread(struct page_reader *reader)
{
    if (reader->attempt >= REREADS_COLD)
        return false;
    if (run_stopping(reader->run) && reader->attempt >= REREADS_AT_ONCE)
        return false;
    reader->attempt++;
    relaxed_add(&reader->task->worker->stats.counters.read_retries, 1);
    if (reader->attempt >= REREADS_FRESH) {
        if (!cold_open(reader))
            return false;
    } else if (reader->attempt > REREADS_AT_ONCE && is_patient(reader)) {
        unsigned shift = reader->attempt - REREADS_AT_ONCE - 1; /* 1, 2, 4 ... ms, 2 s in all */
        uint64_t now = clock_now_ns(reader->run->clock);
        reader->resume_ns = now + (NS_PER_MS << (shift > 9 ? 9 : shift));
        task_sleep_until(reader->task, reader->resume_ns);
        return true;
    }
    if (!is_held(reader))
        read_submit(reader);
    return true;
}

/* A later read is right.  Where the page was written again meanwhile that says nothing of the first
 * one: what it proved keeps its name.  An error of the system is over. */
static enum page_read_result healed(struct page_reader *reader)
{
    bool same_write = reader->before.epoch == reader->first_before.epoch;
    memcpy(reader->target, page_read_buffer(reader), PAGE_BYTES);
    page_fault_report(reader, reader->first_error || same_write);
    return PAGE_READ_RIGHT;
}

/* Overlapped by a write: the caller reads again.  What the first read proved is told now. */
static enum page_read_result overlapped(struct page_reader *reader)
{
    if (reader->attempt)
        page_fault_report(reader, reader->first_error != 0);
    return PAGE_READ_OVERLAPPED;
}

/* ---- the sectors of a page that stays unreadable ---- */

static bool sectors_next(struct page_reader *reader)
{
    memset(&reader->req, 0, offsetof(struct io_req, resume_iov));
    if (!page_sectors_next(&reader->sectors, &reader->req, reader->page_no))
        return false;
    request_send(reader);
    return true;
}

/* Reading bad sectors can take a device seconds each. */
static bool sectors_begin(struct page_reader *reader)
{
    if (!reader->first_error || os_error_is_device_gone(reader->first_error) ||
        run_stopping(reader->run) || !is_patient(reader) || page_fault_is_final(reader))
        return false;
    page_sectors_begin(&reader->sectors, &reader->file->file.target, reader->spares[0],
                       worker_read_serials(reader->task->worker, 1));
    return sectors_next(reader);
}

static enum page_read_result sectors_step(struct page_reader *reader)
{
    page_sectors_done(&reader->sectors, reader->req.result);
    if (sectors_next(reader))
        return PAGE_READ_WAIT;
    page_fault_report(reader, false);
    return PAGE_READ_WRONG;
}

/* ---- the steps ---- */

/* What a bad read adds to what is known. */
static void note_bad(struct page_reader *reader, const uint8_t *image, int error)
{
    bool is_first = reader->attempt == 0 || (!error && reader->first_error);
    if (is_first) { /* it can be read again, and now it is wrong */
        first_failure(reader, image, error);
        reader->agreed = 0;
    } else if (!error && memcmp(image, reader->first_image, PAGE_BYTES) == 0) {
        reader->agreed++;
    }
    if (reader->attempt == 0)
        sighted(reader);
    else if (!error)
        reader->bad_attempt = reader->attempt;
}

/* The read completed: right, overlapped, or one more rung. */
static enum page_read_result settle(struct page_reader *reader)
{
    int error = reader->req.result;
    uint8_t *image = page_read_buffer(reader);
    if (reader->cold)
        cold_close(reader);
    enum page_judgement judged = PAGE_JUDGED_WRONG;
    if (!error)
        judged = page_judge(reader, reader->file, reader->page_no, image, reader->before);
    if (judged == PAGE_NOT_JUDGED)
        return overlapped(reader);
    if (judged == PAGE_JUDGED_RIGHT)
        return reader->attempt ? healed(reader) : PAGE_READ_RIGHT;
    note_bad(reader, image, error);
    if (reader->before.state == LEDGER_QUARANTINED) /* its finding stands: no ladder again */
        return PAGE_READ_WRONG;
    if (!page_fault_is_final(reader) && reread(reader))
        return PAGE_READ_WAIT;
    if (sectors_begin(reader))
        return PAGE_READ_WAIT;
    page_fault_report(reader, false);
    return PAGE_READ_WRONG;
}

enum page_read_result page_read_step(struct page_reader *reader)
{
    if (reader->in_flight)
        return PAGE_READ_WAIT;
    if (reader->resume_ns) {
        if (clock_now_ns(reader->run->clock) < reader->resume_ns) {
            task_sleep_until(reader->task, reader->resume_ns);
            return PAGE_READ_WAIT;
        }
        reader->resume_ns = 0;
        if (!is_held(reader))
            read_submit(reader);
        return PAGE_READ_WAIT;
    }
    return reader->sectors.unit_bytes ? sectors_step(reader) : settle(reader);
}
