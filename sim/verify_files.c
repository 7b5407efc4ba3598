/*
 * verify_files.c - opening and reading the files of an offline check; see verify_files.h.
 *
 * What a file is, its content says: our mark, SQL Server's file header, a VLF header behind it.
 * Only where the VLF header itself is damaged does the name (.ldf, .ldx) decide.
 */
#include "sim/verify_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/boot_id.h"
#include "sim/exit_code.h"
#include "sim/os_errors.h"
#include "verify/vlf.h"

#define BUFFER_ALIGN 4096

const char *verify_count_name(enum verify_count count)
{
    static const char *const names[] = {
#define VERIFY_COUNT(name, text) #name,
#include "sim/verify_counts.def"
#undef VERIFY_COUNT
    };
    return names[count];
}

const char *verify_count_text(enum verify_count count)
{
    static const char *const texts[] = {
#define VERIFY_COUNT(name, text) text,
#include "sim/verify_counts.def"
#undef VERIFY_COUNT
    };
    return texts[count];
}

static bool is_tempdb(const struct verify_file *file)
{
    return file->ours && file->file.mark.database_id == DATABASE_ID_TEMPDB;
}

bool verify_is_unspecified(const struct verify_set *set, const struct verify_file *file)
{
    bool ended = set->ledger && set->clean && set->believed;
    return is_tempdb(file) && !file->is_log && !ended;
}

/* ---- errors ---- */

static int refuse(struct verify_set *set, int exit_code, int error, const char *path,
                  const char *what)
{
    snprintf(set->message, sizeof set->message, "%.400s: %.600s", path, what);
    set->exit_code = exit_code;
    return error;
}

/* ---- opening ---- */

static bool has_extension(const char *path, const char *a, const char *b)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcasecmp(dot + 1, a) == 0 || strcasecmp(dot + 1, b) == 0);
}

static int foreign_fd(const char *path, bool *direct)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_DIRECT | O_NONBLOCK);
    *direct = fd >= 0;
    if (fd < 0 && errno == EINVAL)
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

static int open_foreign(struct verify_set *set, struct verify_file *file, const char *path)
{
    struct stat st;
    int fd = foreign_fd(path, &file->file.direct);
    if (fd < 0)
        return refuse(set, EXIT_CODE_USAGE, fd, path, strerror(-fd));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return refuse(set, EXIT_CODE_USAGE, -EINVAL, path, "not a regular file");
    }
    file->file.path = strdup(path);
    file->file.target.fd = fd;
    file->file.target.align_bytes = BUFFER_ALIGN;
    file->file.target.memory_align_bytes = BUFFER_ALIGN;
    atomic_store(&file->file.target.size_bytes, (uint64_t)st.st_size / BUFFER_ALIGN * BUFFER_ALIGN);
    file->file.device = st.st_dev;
    file->file.inode = st.st_ino;
    file->size_bytes = (uint64_t)st.st_size;
    file->open = true;
    return file->file.path ? 0 : -ENOMEM;
}

static int attach(struct verify_set *set, struct verify_file *file)
{
    return set->engine->ops->attach(set->engine, &file->file.target);
}

static void close_foreign(struct verify_set *set, struct verify_file *file)
{
    set->engine->ops->detach(set->engine, &file->file.target);
    close(file->file.target.fd);
    free(file->file.path);
    memset(&file->file, 0, sizeof file->file);
    file->open = false;
}

/* What io.c takes for granted; a file that was cut may end anywhere. */
static bool can_read(struct verify_file *file, uint64_t offset, size_t size_bytes)
{
    const struct io_target *target = &file->file.target;
    uint64_t end = atomic_load(&file->file.target.size_bytes);
    return size_bytes && offset % target->align_bytes == 0 &&
           size_bytes % target->align_bytes == 0 && offset <= end && size_bytes <= end - offset;
}

static int read_raw(struct verify_set *set, struct verify_file *file, uint64_t offset, void *buf,
                    size_t size_bytes)
{
    if (!can_read(file, offset, size_bytes))
        return -ENODATA;
    struct iovec iov = {buf, size_bytes};
    struct io_req req = {.op = IO_READ,
                         .stream = STREAM_audit_read,
                         .target = &file->file.target,
                         .offset = offset,
                         .iov = &iov,
                         .iov_count = 1};
    return io_run(&set->io, &req);
}

static bool vlf_follows(struct verify_set *set, struct verify_file *file)
{
    struct vlf_header vlf;
    if (file->size_bytes < 2 * PAGE_BYTES ||
        read_raw(set, file, PAGE_BYTES, set->buffer, PAGE_BYTES))
        return false;
    return vlf_header_parse(set->buffer, PAGE_BYTES, &vlf) == 0;
}

static void facts_from_mark(struct verify_file *file)
{
    const struct file_mark *mark = &file->file.mark;
    file->ours = true;
    file->is_log = mark->kind == FILE_KIND_LOG;
    file->is_backup = mark->kind == FILE_KIND_BACKUP;
    file->file_id = mark->file_id;
    file->primary = mark->kind == FILE_KIND_DATA && mark->file_id == 1;
}

/* Ours: again through file.c, which locks it. The descriptor of the first look is closed. */
static int reopen_own(struct verify_set *set, struct verify_file *file, const char *path)
{
    char message[FILE_MESSAGE_MAX];
    uint64_t size_bytes = file->size_bytes;
    bool direct = file->file.direct;
    close_foreign(set, file);
    int error = file_open_own(&file->file, path, false, direct, message);
    if (error) { /* the message names the path */
        snprintf(set->message, sizeof set->message, "%s", message);
        set->exit_code = EXIT_CODE_USAGE;
        return error;
    }
    file->size_bytes = size_bytes;
    file->open = true;
    atomic_store(&file->file.target.size_bytes, size_bytes / BUFFER_ALIGN * BUFFER_ALIGN);
    facts_from_mark(file);
    return attach(set, file);
}

static int classify(struct verify_set *set, struct verify_file *file, const char *path)
{
    struct file_mark mark;
    struct file_header_info info;
    /* A snapshot is one page long between two passes. */
    int marked = -ENODATA;
    if (file->size_bytes >= PAGE_BYTES) {
        int error = verify_read(set, file, 0, set->buffer, PAGE_BYTES);
        if (error)
            return refuse(set, EXIT_CODE_INCOMPLETE, error, path, strerror(-error));
        marked = file_mark_read(set->buffer, &mark);
    }
    if (marked == 0 && mark.kind == FILE_KIND_SNAPSHOT)
        return refuse(set, EXIT_CODE_USAGE, -EINVAL, path,
                      "a snapshot of a DBCC CHECKDB, left by a run that was killed: it holds pages "
                      "as they once were and is worth nothing now; pagestorm clean removes it");
    if (file->size_bytes < 2 * PAGE_BYTES) /* the ledger knows what it was */
        return set->ledger ? 0
                           : refuse(set, EXIT_CODE_USAGE, -EINVAL, path,
                                    "too short for a database or log file");
    if (marked == 0)
        return reopen_own(set, file, path);
    const struct page_header *header = page_header_of(set->buffer);
    bool named_log = has_extension(path, "ldf", "ldx");
    bool named_data = has_extension(path, "mdf", "ndf") || has_extension(path, "mdx", "ndx");
    bool is_header = file_header_read(set->buffer, &info);
    bool looks = header->header_version == 1 && header->type == PAGE_TYPE_FILE_HEADER;
    if (!is_header && !looks && !named_log && !named_data)
        return refuse(set, EXIT_CODE_USAGE, -EINVAL, path,
                      "neither a database nor a log file: page 0 is not a file header");
    file->file_id = is_header ? info.file_id : header->file_id;
    file->header_pages = is_header ? info.size_pages : 0;
    file->is_log = vlf_follows(set, file) || named_log;
    file->primary = !file->is_log && file->file_id == 1;
    return 0;
}

static void report_cut(struct verify_set *set, struct verify_file *file, uint64_t owed,
                       const char *who)
{
    struct finding finding = {.verdict = VERDICT_truncated_file,
                              .offset = file->size_bytes,
                              .size_bytes = owed - file->size_bytes};
    snprintf(finding.detail, sizeof finding.detail, "the file has %llu bytes, %llu were %s",
             (unsigned long long)file->size_bytes, (unsigned long long)owed, who);
    verify_report(set, file, &finding);
    file->cut = true;
}

/* Without a ledger the mark says how long a file of ours was made. */
static void check_marked_size(struct verify_set *set, struct verify_file *file)
{
    uint64_t marked = (uint64_t)file->file.mark.size_pages * PAGE_BYTES;
    if (!set->ledger && file->ours && file->size_bytes < marked)
        report_cut(set, file, marked, "made");
}

static int open_file(struct verify_set *set, struct verify_file *file, const char *path)
{
    int error = open_foreign(set, file, path);
    if (!error)
        error = attach(set, file);
    if (!error)
        error = classify(set, file, path);
    file->page_count = (uint32_t)(file->size_bytes / PAGE_BYTES);
    if (!error)
        check_marked_size(set, file);
    return error;
}

static int open_files(struct verify_set *set, const char *const *paths, size_t count)
{
    set->files = calloc(count, sizeof *set->files);
    if (!set->files)
        return refuse(set, EXIT_CODE_INCOMPLETE, -ENOMEM, paths[0], "no memory");
    for (size_t i = 0; i < count; i++) {
        set->count = i + 1;
        int error = open_file(set, &set->files[i], paths[i]);
        if (error)
            return error;
    }
    return 0;
}

/* ---- a run directory ---- */

bool verify_is_run_dir(const char *path)
{
    char ledger[4096];
    struct stat st;
    int length = snprintf(ledger, sizeof ledger, "%s/" LEDGER_FILE_NAME, path);
    return length > 0 && (size_t)length < sizeof ledger && stat(ledger, &st) == 0 &&
           S_ISREG(st.st_mode);
}

/* A ledger gets its magic last: without it the run was killed while it made the ledger. */
static bool ledger_is_unfinished(const char *path)
{
    static const uint8_t zeros[sizeof(uint64_t)];
    uint8_t magic[sizeof zeros] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = pread(fd, magic, sizeof magic, 0);
    close(fd);
    return n >= 0 && memcmp(magic, zeros, sizeof zeros) == 0;
}

static int refuse_unfinished(struct verify_set *set, const char *advice)
{
    char what[256];
    snprintf(what, sizeof what,
             "the run ended while it was creating its files: there is nothing to verify. %s",
             advice);
    return refuse(set, EXIT_CODE_INCOMPLETE, -ENODATA, set->path, what);
}

static int refuse_ledger(struct verify_set *set, int error, const char *path, const char *reason)
{
    if (!reason || strcmp(reason, LEDGER_REASON_DAMAGED) != 0)
        return refuse(set, EXIT_CODE_USAGE, error, path, reason ? reason : strerror(-error));
    return refuse(set, EXIT_CODE_INCOMPLETE, error, path,
                  LEDGER_REASON_DAMAGED ": nothing is judged by it; name the files to have them "
                                        "checked for themselves");
}

static int open_ledger(struct verify_set *set)
{
    char path[4096];
    uint8_t boot_id[BOOT_ID_BYTES];
    const char *reason = NULL;
    snprintf(path, sizeof path, "%s/" LEDGER_FILE_NAME, set->path);
    int error = ledger_open(&set->ledger, path, false, &reason);
    if (error && ledger_is_unfinished(path))
        return refuse_unfinished(set, "The next run with the same files replaces them");
    if (error)
        return refuse_ledger(set, error, path, reason);
    boot_id_read(boot_id);
    set->same_boot = memcmp(ledger_header_of(set->ledger)->boot_id, boot_id, BOOT_ID_BYTES) == 0;
    set->believed = ledger_believed(set->ledger, boot_id);
    set->clean = ledger_header_of(set->ledger)->clean != 0;
    return 0;
}

/* A device may get another number when the machine is started again; an inode keeps its own. */
static bool is_other_inode(const struct verify_set *set, const struct verify_file *file)
{
    const struct ledger_file *row = file->row;
    if (row->inode && file->file.inode != row->inode)
        return true;
    return set->same_boot && row->device && file->file.device != row->device;
}

/* A write in flight may have made it longer than was acknowledged. */
static void check_excess(struct verify_set *set, struct verify_file *file)
{
    const struct ledger_file *row = file->row;
    uint32_t pages = row->size_pages_acked > row->size_pages_issued ? row->size_pages_acked
                                                                    : row->size_pages_issued;
    uint64_t owed = (uint64_t)pages * PAGE_BYTES;
    if (!set->believed || file->size_bytes <= owed)
        return;
    struct finding finding = {
        .verdict = VERDICT_foreign_write, .offset = owed, .size_bytes = file->size_bytes - owed};
    snprintf(finding.detail, sizeof finding.detail,
             "the file has %llu bytes, the run gave it %llu; only those are checked",
             (unsigned long long)file->size_bytes, (unsigned long long)owed);
    verify_report(set, file, &finding);
    file->page_count = pages;
    atomic_store(&file->file.target.size_bytes, owed);
}

/* The file of a row: is it the one that was written, and as long? */
static void check_row(struct verify_set *set, struct verify_file *file)
{
    const struct file_mark *mark = &file->file.mark;
    const struct ledger_file *row = file->row;
    bool same = file->ours && mark->file_uid == row->uid && mark->incarnation == row->incarnation &&
                (uint32_t)mark->kind == row->kind &&
                memcmp(mark->run_id, ledger_header_of(set->ledger)->run_id, RUN_ID_BYTES) == 0;
    struct finding finding = {.verdict = VERDICT_file_replaced};
    if (file->ours && !same) {
        snprintf(finding.detail, sizeof finding.detail,
                 "the file under this name carries the mark of another run or file");
        verify_report(set, file, &finding);
        file->row = NULL;
        return;
    }
    uint64_t owed = (uint64_t)row->size_pages_acked * PAGE_BYTES;
    file->other_inode = is_other_inode(set, file);
    if (file->size_bytes < owed)
        report_cut(set, file, owed, "acknowledged");
    else
        check_excess(set, file);
}

static void take_row(struct verify_set *set, struct verify_file *file, struct ledger_file *row)
{
    file->row = row;
    if (!file->ours) { /* page 0 is damaged, or the file is another one: the ledger says what it was
                        */
        file->is_log = row->kind == FILE_KIND_LOG;
        file->is_backup = row->kind == FILE_KIND_BACKUP;
        file->file_id = row->file_id;
        file->primary = row->kind == FILE_KIND_DATA && row->file_id == 1;
        memcpy(file->file.mark.run_id, ledger_header_of(set->ledger)->run_id, RUN_ID_BYTES);
        file->file.mark.file_uid = row->uid;
        file->file.mark.incarnation = row->incarnation;
        file->file.mark.file_id = row->file_id;
        file->file.mark.database_id = row->database_id;
        file->file.mark.seed = ledger_header_of(set->ledger)->seed;
        file->file.mark.compressible = ledger_header_of(set->ledger)->compressible;
    }
    check_row(set, file);
    if (file->row)
        file->ours = true;
}

static bool of_other_run(const struct verify_set *set, const struct verify_file *file)
{
    const struct ledger_header *header = ledger_header_of(set->ledger);
    return file->ours && memcmp(file->file.mark.run_id, header->run_id, RUN_ID_BYTES) != 0;
}

/* One file of many is a file replaced; all of them: the files were used again. */
static int check_same_run(struct verify_set *set)
{
    char what[256], id[2 * RUN_ID_BYTES + 1];
    for (size_t i = 0; i < set->count; i++)
        if (!of_other_run(set, &set->files[i]))
            return 0;
    for (size_t i = 0; i < RUN_ID_BYTES; i++)
        snprintf(id + 2 * i, 3, "%02x", set->files[0].file.mark.run_id[i]);
    snprintf(what, sizeof what,
             "these files belong to a later run (id %s): nothing was compared with this run's "
             "ledger",
             id);
    return refuse(set, EXIT_CODE_INCOMPLETE, -ESTALE, set->path, what);
}

static bool killed_in_creation(const struct verify_set *set)
{
    const struct ledger_header *header = ledger_header_of(set->ledger);
    return header->phase == LEDGER_PHASE_CREATING;
}

/* Snapshots stand behind the others in the table: what a killed run left of them is worth nothing.
 */
static size_t files_to_check(const struct verify_set *set)
{
    size_t count = ledger_header_of(set->ledger)->file_count;
    while (count && ledger_file_at(set->ledger, (uint16_t)count)->kind == FILE_KIND_SNAPSHOT)
        count--;
    return count;
}

static int open_run_dir(struct verify_set *set, const char *path)
{
    set->path = path;
    int error = open_ledger(set);
    if (error)
        return error;
    if (killed_in_creation(set))
        return refuse_unfinished(set, "Remove them with `pagestorm clean` and run again");
    size_t count = files_to_check(set);
    const char **paths = calloc(count, sizeof *paths);
    if (!paths)
        return refuse(set, EXIT_CODE_INCOMPLETE, -ENOMEM, path, "no memory");
    for (size_t i = 0; i < count; i++)
        paths[i] = ledger_file_at(set->ledger, (uint16_t)(i + 1))->path;
    error = open_files(set, paths, count);
    if (!error)
        error = check_same_run(set);
    for (size_t i = 0; i < count && !error; i++)
        take_row(set, &set->files[i], ledger_file_at(set->ledger, (uint16_t)(i + 1)));
    free(paths);
    return error;
}

/* ---- life ---- */

static int io_make(struct verify_set *set)
{
    clock_init_real(&set->clock);
    set->stats = calloc(1, sizeof *set->stats);
    set->buffer = aligned_alloc(BUFFER_ALIGN, (size_t)VERIFY_CHUNK_PAGES * PAGE_BYTES);
    if (!set->stats || !set->buffer)
        return -ENOMEM;
    struct io_engine_config config = {.clock = &set->clock, .depth = 1};
    int error = engine_sync.create(&set->engine, &config);
    if (!error)
        io_init(&set->io, set->engine, &set->clock, set->stats, &set->phase);
    return error;
}

int verify_set_open(struct verify_set *set, const char *const *paths, size_t count, bool run_dir,
                    struct findings *findings)
{
    memset(set, 0, sizeof *set);
    set->findings = findings;
    int error = io_make(set);
    if (error)
        return refuse(set, EXIT_CODE_INCOMPLETE, error, paths[0], strerror(-error));
    findings->clock = &set->clock;
    return run_dir ? open_run_dir(set, paths[0]) : open_files(set, paths, count);
}

static void free_file(struct verify_set *set, struct verify_file *file)
{
    free(file->logged);
    free(file->settled);
    free(file->log.images);
    free(file->log.checkpoints);
    if (!file->open)
        return;
    set->engine->ops->detach(set->engine, &file->file.target);
    if (file->file.mark.sector_bytes) { /* opened by file.c */
        file_close(&file->file);
        return;
    }
    close(file->file.target.fd);
    free(file->file.path);
}

void verify_set_close(struct verify_set *set)
{
    for (size_t i = 0; i < set->count && set->files; i++)
        free_file(set, &set->files[i]);
    free(set->files);
    ledger_close(set->ledger, false);
    if (set->engine)
        set->engine->ops->destroy(set->engine);
    free(set->stats);
    free(set->buffer);
    memset(set, 0, sizeof *set);
}

/* ---- reading and reporting ---- */

static void report_retry(struct verify_set *set, struct verify_file *file, uint64_t offset,
                         size_t size_bytes, int error, unsigned retries)
{
    struct finding finding = {.verdict = VERDICT_read_retry,
                              .offset = offset,
                              .size_bytes = size_bytes,
                              .retries = retries,
                              .healed = true,
                              .error = -error};
    verify_report(set, file, &finding);
}

int verify_read(struct verify_set *set, struct verify_file *file, uint64_t offset, void *buf,
                size_t size_bytes)
{
    int first = read_raw(set, file, offset, buf, size_bytes), error = first;
    unsigned retries = 0;
    while (error && error != -ENODATA && !os_error_is_device_gone(error) &&
           retries < VERIFY_RETRIES_MAX) {
        retries++;
        file->counts[VERIFY_COUNT_read_retries]++;
        error = read_raw(set, file, offset, buf, size_bytes);
    }
    if (first && !error)
        report_retry(set, file, offset, size_bytes, first, retries);
    return error;
}

/* Whoever put another file there answers for what is in it: one event for all of it. */
static void blame_replacement(const struct verify_file *file, struct finding *finding)
{
    enum verdict found = finding->verdict;
    *finding = (struct finding){.verdict = VERDICT_file_replaced};
    snprintf(finding->detail, sizeof finding->detail,
             "the file has inode %llu, the run wrote inode %llu, and its content differs (first: "
             "%s)",
             (unsigned long long)file->file.inode, (unsigned long long)file->row->inode,
             verdict_info(found)->name);
}

void verify_report(struct verify_set *set, struct verify_file *file, struct finding *finding)
{
    if (file->other_inode && verdict_info(finding->verdict)->severity == SEVERITY_INTEGRITY)
        blame_replacement(file, finding);
    size_t index = (size_t)(file - set->files);
    /* Without a ledger two files may carry the same uid: the place in the set tells them apart. */
    finding->file_uid = file->row ? file->row->uid : (uint16_t)(index + 1);
    snprintf(finding->file, sizeof finding->file, "%s", file->file.path ? file->file.path : "?");
    snprintf(finding->actor, sizeof finding->actor, "verify");
    finding_report(set->findings, finding, NULL);
}

void verify_report_page(struct verify_set *set, struct verify_file *file, uint32_t page_no,
                        enum verdict verdict, const char *detail)
{
    struct finding finding = {.verdict = verdict,
                              .has_page = true,
                              .page_no = page_no,
                              .offset = (uint64_t)page_no * PAGE_BYTES,
                              .size_bytes = PAGE_BYTES};
    if (detail)
        snprintf(finding.detail, sizeof finding.detail, "%s", detail);
    verify_report(set, file, &finding);
}

/* ---- who belongs to whom ---- */

static bool same_run(const struct verify_file *a, const struct verify_file *b)
{
    return a->ours && b->ours &&
           memcmp(a->file.mark.run_id, b->file.mark.run_id, RUN_ID_BYTES) == 0;
}

struct verify_file *verify_log_next(struct verify_set *set, const struct verify_file *file,
                                    struct verify_file *after)
{
    for (size_t i = after ? (size_t)(after - set->files) + 1 : 0; i < set->count; i++) {
        struct verify_file *log = &set->files[i];
        if (log->is_log && same_run(log, file) &&
            log->file.mark.database_id == file->file.mark.database_id)
            return log;
    }
    return NULL;
}

struct verify_file *verify_log_first(struct verify_set *set, const struct verify_file *file,
                                     bool *complete)
{
    struct verify_file *first = NULL, *log = NULL;
    size_t count = 0;
    while ((log = verify_log_next(set, file, log))) {
        if (!first || log->file.mark.file_uid < first->file.mark.file_uid)
            first = log;
        count++;
    }
    *complete = first && (first->row || first->file.mark.log_count <= count);
    return first;
}

struct verify_file *verify_log_of(struct verify_set *set, const struct verify_file *file)
{
    bool complete;
    struct verify_file *first = verify_log_first(set, file, &complete);
    return complete ? first : NULL;
}

struct verify_file *verify_data_by_uid(struct verify_set *set, const struct verify_file *log,
                                       uint16_t uid)
{
    for (size_t i = 0; i < set->count; i++) {
        struct verify_file *file = &set->files[i];
        if (!file->is_log && !file->is_backup && same_run(file, log) &&
            file->file.mark.file_uid == uid)
            return file;
    }
    return NULL;
}
