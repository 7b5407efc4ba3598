/* restore.c - see restore.h. */
#include "sim/restore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/alloc.h"
#include "verify/checksum.h"

#define MEMORY_ALIGN_BYTES 4096
#define PAGES_AT_ONCE      (BACKUP_TRANSFER_BYTES_MAX / PAGE_BYTES)

/* A backup that was found in a source. */
struct found {
    struct backup_set set;
    size_t source;
};

struct restoring {
    struct restore *r;
    struct backup_checker checker;
    struct found *found;
    size_t found_count, found_capacity;
    size_t full; /* index of the full backup */
    struct redo redo;
    uint64_t *hashes[REDO_FILES_MAX]; /* of each page that was written; of zeros: 0 */
    uint32_t sizes[REDO_FILES_MAX];   /* pages of each file */
    uint8_t *pages;                   /* PAGES_AT_ONCE */
};

__attribute__((format(printf, 2, 3))) static int refuse(struct restore *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->message, sizeof r->message, format, arguments);
    va_end(arguments);
    r->refused = true;
    return -EINVAL;
}

/* ---- which backups ---- */

static int found_add(struct restoring *x, const struct backup_set *set, size_t source)
{
    if (x->found_count == x->found_capacity) {
        size_t capacity = 2 * x->found_capacity + 16;
        struct found *grown = realloc(x->found, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        x->found = grown;
        x->found_capacity = capacity;
    }
    x->found[x->found_count++] = (struct found){*set, source};
    return 0;
}

/* All complete backups of a source. */
static int source_load(struct restoring *x, size_t source)
{
    uint64_t offset = BACKUP_FIRST_OFFSET;
    uint32_t previous = 0;
    int error = 0;
    x->checker.file = x->r->sources[source];
    while (!error) {
        struct backup_set set;
        error = backup_checker_load(&x->checker, offset, previous, &set);
        if (error)
            break;
        previous = set.header.meta.number;
        offset = backup_set_end(&set);
        error = found_add(x, &set, source);
        if (error)
            backup_set_free(&set);
    }
    return error == -ENOENT || error == -EINPROGRESS ? 0 : error;
}

static int by_number(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    uint32_t x = a->set.header.meta.number, y = b->set.header.meta.number;
    return x < y ? -1 : x > y;
}

static bool same_database(const struct backup_header *a, const struct backup_header *b)
{
    return memcmp(a->meta.run_id, b->meta.run_id, sizeof a->meta.run_id) == 0 &&
           a->meta.database_id == b->meta.database_id;
}

static int choose(struct restoring *x)
{
    struct restore *r = x->r;
    bool any = false;
    if (x->found_count)
        qsort(x->found, x->found_count, sizeof *x->found, by_number);
    for (size_t i = 0; i < x->found_count; i++) {
        const struct backup_header *header = &x->found[i].set.header;
        if (!same_database(header, &x->found[0].set.header))
            return refuse(r, "these are backups of more than one database; name those of one");
        if (header->kind != BACKUP_FULL)
            continue;
        any = true;
        x->full = i;
    }
    if (!any)
        return refuse(r, "there is no complete full backup among these files");
    r->end_position = x->found[x->full].set.header.end_position;
    return 0;
}

/* Does it carry the log on?  A gap is SQL Server's 4305. */
static int follows(struct restoring *x, const struct backup_header *log, bool *out)
{
    *out = log->kind == BACKUP_LOG && log->end_position > x->r->end_position;
    if (*out && log->first_position > x->r->end_position)
        return refuse(
            x->r,
            "log backup %u begins behind the end of the one before it (SQL Server: 4305): "
            "a log backup is missing",
            log->meta.number);
    return 0;
}

/* ---- the log ---- */

static int record_seen(void *context, const struct log_record_view *record)
{
    struct restoring *x = context;
    return redo_note(&x->redo, record);
}

static int log_read(struct restoring *x, struct found *found)
{
    int error = 0;
    x->checker.file = x->r->sources[found->source];
    x->checker.on_record = record_seen;
    x->checker.context = x;
    x->checker.chain_known = false;
    for (size_t i = 0; i < found->set.count && !error; i++)
        if (found->set.blocks[i].kind == BACKUP_BLOCK_LOG)
            error = backup_checker_block(&x->checker, &found->set, &found->set.blocks[i]);
    x->checker.on_record = NULL;
    return error;
}

static int redo_files(struct restoring *x)
{
    const struct backup_header *header = &x->found[x->full].set.header;
    struct run_identity run =
        run_identity_make(header->meta.run_id, header->seed, (uint16_t)header->compressible);
    redo_init(&x->redo, &run, header->database);
    for (uint32_t i = 0; i < header->meta.count; i++) {
        const struct backup_file_row *row = &header->files[i];
        struct file_mark mark = {.file_uid = row->uid,
                                 .incarnation = row->incarnation,
                                 .file_id = row->file_id,
                                 .database_id = header->meta.database_id,
                                 .kind = FILE_KIND_DATA,
                                 .size_pages = row->size_pages,
                                 .sector_bytes = row->sector_bytes,
                                 .seed = header->seed,
                                 .compressible = (uint16_t)header->compressible};
        memcpy(mark.run_id, header->meta.run_id, sizeof mark.run_id);
        if (row->sector_bytes != 512 && row->sector_bytes != 4096)
            return refuse(x->r, "the backup names a sector size of %u bytes", row->sector_bytes);
        if (!redo_add_file(&x->redo, &mark, row->primary))
            return -ENOMEM;
    }
    return 0;
}

/* A file may have grown since the full backup. */
static void sizes_note(struct restoring *x, const struct backup_header *header)
{
    for (uint32_t i = 0; i < header->meta.count; i++)
        for (size_t j = 0; j < x->redo.file_count; j++)
            if (x->redo.files[j].mark.file_uid == header->files[i].uid &&
                x->sizes[j] < header->files[i].size_pages)
                x->sizes[j] = header->files[i].size_pages;
}

static int all_log(struct restoring *x)
{
    int error = redo_files(x);
    if (!error)
        error = log_read(x, &x->found[x->full]);
    for (size_t i = x->full + 1; i < x->found_count && !error; i++) {
        bool next = false;
        error = follows(x, &x->found[i].set.header, &next);
        if (error || !next)
            continue;
        error = log_read(x, &x->found[i]);
        sizes_note(x, &x->found[i].set.header);
        x->r->end_position = x->found[i].set.header.end_position;
        x->r->log_backups++;
    }
    redo_prepare(&x->redo);
    x->r->log_records = x->redo.records;
    return error;
}

/* ---- the files ---- */

static bool name_is_safe(const char *name)
{
    return name[0] && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int target_create(struct restoring *x, size_t index)
{
    struct restore *r = x->r;
    const struct backup_file_row *row = &x->found[x->full].set.header.files[index];
    struct redo_file *file = &x->redo.files[index];
    if (!name_is_safe(row->name))
        return refuse(r, "the backup names a file that is no file name");
    uint32_t pages = x->sizes[index]; /* what a log backup said of it */
    pages = row->size_pages > pages ? row->size_pages : pages;
    pages = file->page_count > pages ? file->page_count : pages;
    x->sizes[index] = pages;
    x->hashes[index] = calloc(pages, sizeof *x->hashes[index]);
    if (!x->hashes[index])
        return -ENOMEM;
    char *path = alloc_printf("%s/%s%s", r->directory, r->prefix, row->name);
    struct file_mark mark = file->mark;
    r->how.path = path;
    r->how.sparse = row->sparse;
    r->how.forced_sector_bytes = row->sector_bytes;
    r->message[0] = 0;
    int error = file_create(&r->targets[index], &r->how, &mark, pages, r->message);
    free(path);
    if (error)
        return error;
    r->target_count = (unsigned)index + 1;
    return r->io->engine->ops->attach(r->io->engine, &r->targets[index].target);
}

static int transfer(struct restoring *x, size_t index, enum io_op op, uint32_t page_no,
                    uint32_t count)
{
    struct iovec iov = {x->pages, (size_t)count * PAGE_BYTES};
    struct io_req req = {.op = op,
                         .stream = op == IO_READ ? STREAM_backup_read : STREAM_restore_write,
                         .target = &x->r->targets[index].target,
                         .offset = (uint64_t)page_no * PAGE_BYTES,
                         .iov = &iov,
                         .iov_count = 1};
    int error = io_run(x->r->io, &req);
    if (error)
        snprintf(x->r->message, sizeof x->r->message, "%s: %s the restored file failed: %s",
                 x->r->targets[index].path, op == IO_READ ? "reading" : "writing",
                 strerror(-error));
    return error;
}

/* Redo the pages in x->pages; *any: is there anything but zeros? */
static int redo_pages(struct restoring *x, size_t index, uint32_t first, uint32_t count, bool *any)
{
    struct redo_file *file = &x->redo.files[index];
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *page = x->pages + (size_t)i * PAGE_BYTES;
        enum redo_result result = redo_page(&x->redo, file, first + i, page, x->r->now_ns);
        if (result == REDO_IMPOSSIBLE) {
            struct finding finding = {.verdict = VERDICT_page_ahead_of_log,
                                      .has_page = true,
                                      .page_no = first + i,
                                      .offset = (uint64_t)(first + i) * PAGE_BYTES,
                                      .size_bytes = PAGE_BYTES,
                                      .file_uid = file->mark.file_uid};
            snprintf(finding.file, sizeof finding.file, "%s", x->r->targets[index].path);
            snprintf(finding.actor, sizeof finding.actor, "%s", x->r->actor);
            snprintf(finding.detail, sizeof finding.detail,
                     "the log cannot be redone on the page of the backup (SQL Server: 3456)");
            finding_report(x->r->findings, &finding, NULL);
            return -EBADMSG;
        }
        x->r->redone += result == REDO_CHANGED;
        bool zero = page_is_zero(page, PAGE_BYTES);
        x->hashes[index][first + i] = zero ? 0 : xxh3_64(page, PAGE_BYTES);
        *any |= !zero;
    }
    return 0;
}

static int pages_put(struct restoring *x, size_t index, uint32_t first, uint32_t count)
{
    bool any = false;
    int error = redo_pages(x, index, first, count, &any);
    if (error || !any) /* the file reads as zeros where nothing was written */
        return error;
    x->r->pages += count;
    x->r->bytes += (uint64_t)count * PAGE_BYTES;
    return transfer(x, index, IO_WRITE, first, count);
}

/* Pages that the backup has not: those that were allocated while it ran. */
static int gap_put(struct restoring *x, size_t index, uint32_t from, uint32_t to)
{
    int error = 0;
    while (from < to && !error) {
        uint32_t count = to - from < PAGES_AT_ONCE ? to - from : PAGES_AT_ONCE;
        memset(x->pages, 0, (size_t)count * PAGE_BYTES);
        error = pages_put(x, index, from, count);
        if (!error)
            error = tick_done(x->r->tick, (uint64_t)count * PAGE_BYTES);
        from += count;
    }
    return error;
}

static int file_put(struct restoring *x, size_t index)
{
    struct found *full = &x->found[x->full];
    uint16_t uid = x->redo.files[index].mark.file_uid;
    uint32_t next = 0;
    int error = 0;
    x->checker.file = x->r->sources[full->source];
    for (size_t i = 0; i < full->set.count && !error; i++) {
        const struct backup_block *block = &full->set.blocks[i];
        if (block->kind != BACKUP_BLOCK_PAGES || block->file_uid != uid)
            continue;
        if (block->first < next || block->first + block->count > x->sizes[index])
            return refuse(x->r, "block %" PRIu64 " of the backup lies outside its file",
                          block->sequence);
        error = gap_put(x, index, next, block->first);
        if (!error)
            error = backup_checker_block(&x->checker, &full->set, block);
        if (error)
            break;
        memcpy(x->pages, x->checker.content, block->bytes);
        error = pages_put(x, index, block->first, block->count);
        next = block->first + block->count;
    }
    return error ? error : gap_put(x, index, next, x->sizes[index]);
}

static int flush(struct restoring *x, size_t index)
{
    struct file *file = &x->r->targets[index];
    struct io_req req = {.op = IO_FLUSH, .stream = STREAM_data_flush, .target = &file->target};
    int error = file->target.dsync ? 0 : io_run(x->r->io, &req);
    if (error)
        snprintf(x->r->message, sizeof x->r->message, "%s: flushing the restored file failed: %s",
                 file->path, strerror(-error));
    return error;
}

/* ---- read back ---- */

static void report_page(struct restoring *x, size_t index, uint32_t page_no, const uint8_t *page,
                        const char *text)
{
    struct file *file = &x->r->targets[index];
    struct finding finding = {.verdict =
                                  page_is_zero(page, PAGE_BYTES) ? VERDICT_zeroed : VERDICT_garbage,
                              .has_page = true,
                              .page_no = page_no,
                              .offset = (uint64_t)page_no * PAGE_BYTES,
                              .size_bytes = PAGE_BYTES,
                              .file_uid = file->mark.file_uid};
    if (page_check(page) == PAGE_OK && page_stamp_of(page)->page_no != page_no)
        finding.verdict = VERDICT_misdirected_write;
    else if (page_check(page) == PAGE_OK)
        finding.verdict = VERDICT_lost_write;
    snprintf(finding.file, sizeof finding.file, "%s", file->path);
    snprintf(finding.actor, sizeof finding.actor, "%s", x->r->actor);
    snprintf(finding.detail, sizeof finding.detail, "%s", text);
    finding_report(x->r->findings, &finding, NULL);
    x->r->damaged++;
}

static void page_compare(struct restoring *x, size_t index, uint32_t page_no, const uint8_t *page)
{
    struct restore *r = x->r;
    char text[FINDING_DETAIL_MAX] = "the restored page is not the one that was written";
    uint64_t hash = page_is_zero(page, PAGE_BYTES) ? 0 : xxh3_64(page, PAGE_BYTES);
    bool right = hash == x->hashes[index][page_no];
    if (right && r->judge)
        right = r->judge(r->context, x->redo.files[index].mark.file_uid, page_no, page, text);
    if (!right)
        report_page(x, index, page_no, page, text);
}

static int file_compare(struct restoring *x, size_t index)
{
    uint32_t size = x->sizes[index];
    for (uint32_t first = 0; first < size;) {
        uint32_t count = size - first < PAGES_AT_ONCE ? size - first : PAGES_AT_ONCE;
        int error = transfer(x, index, IO_READ, first, count);
        for (uint32_t i = 0; i < count && !error; i++)
            page_compare(x, index, first + i, x->pages + (size_t)i * PAGE_BYTES);
        if (!error)
            error = tick_done(x->r->tick, (uint64_t)count * PAGE_BYTES);
        if (error)
            return error;
        first += count;
    }
    return 0;
}

/* ---- all of it ---- */

static int files_restore(struct restoring *x)
{
    size_t count = x->redo.file_count;
    int error = 0;
    for (size_t i = 0; i < count && !error; i++)
        error = target_create(x, i);
    for (size_t i = 0; i < count && !error; i++)
        error = file_put(x, i);
    for (size_t i = 0; i < count && !error; i++)
        error = flush(x, i);
    for (size_t i = 0; i < count && !error; i++)
        error = file_compare(x, i);
    return error ? error : x->r->damaged ? -EBADMSG : 0;
}

static void restoring_free(struct restoring *x)
{
    for (size_t i = 0; i < x->found_count; i++)
        backup_set_free(&x->found[i].set);
    for (size_t i = 0; i < REDO_FILES_MAX; i++)
        free(x->hashes[i]);
    free(x->found);
    free(x->pages);
    redo_free(&x->redo);
    backup_checker_free(&x->checker);
    free(x);
}

int restore_run(struct restore *r)
{
    struct restoring *x = calloc(1, sizeof *x);
    if (!x)
        return -ENOMEM;
    x->r = r;
    x->checker = (struct backup_checker){
        .io = r->io, .findings = r->findings, .actor = r->actor, .tick = r->tick};
    x->pages = aligned_alloc(MEMORY_ALIGN_BYTES, BACKUP_TRANSFER_BYTES_MAX);
    int error = x->pages ? backup_checker_init(&x->checker) : -ENOMEM;
    for (size_t i = 0; i < r->source_count && !error; i++)
        error = source_load(x, i);
    if (!error)
        error = choose(x);
    if (!error)
        error = all_log(x);
    if (!error)
        error = files_restore(x);
    r->damaged += x->checker.counts.damaged;
    restoring_free(x);
    return error;
}

void restore_close(struct restore *r, bool keep)
{
    char message[FILE_MESSAGE_MAX];
    for (unsigned i = 0; i < r->target_count; i++) {
        struct file *file = &r->targets[i];
        char *path = alloc_text(file->path);
        uint8_t run_id[RUN_ID_BYTES];
        memcpy(run_id, file->mark.run_id, sizeof run_id);
        r->io->engine->ops->detach(r->io->engine, &file->target);
        file_close(file);
        if (!keep)
            (void)!file_delete_own(path, run_id, message);
        free(path);
    }
    r->target_count = 0;
}
