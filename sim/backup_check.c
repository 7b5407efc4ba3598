/* backup_check.c - see backup_check.h. */
#include "sim/backup_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/backup_damage.h"

#define MEMORY_ALIGN_BYTES 4096

int backup_checker_init(struct backup_checker *c)
{
    memset(&c->counts, 0, sizeof c->counts);
    c->memory = aligned_alloc(MEMORY_ALIGN_BYTES, BACKUP_TRANSFER_BYTES_MAX + BACKUP_META_BYTES);
    c->scratch = malloc(LOG_BLOCK_BYTES_MAX);
    if (!c->memory || !c->scratch)
        return -ENOMEM;
    c->content = c->memory;
    c->meta = c->memory + BACKUP_TRANSFER_BYTES_MAX;
    return 0;
}

void backup_checker_free(struct backup_checker *c)
{
    free(c->memory);
    free(c->scratch);
    c->memory = c->scratch = NULL;
}

/* ---- reading and reporting ---- */

static int read_once(struct backup_checker *c, uint64_t offset, void *buf, size_t size_bytes)
{
    const struct io_target *target = &c->file->target;
    uint64_t end = atomic_load(&c->file->target.size_bytes);
    if (offset > end || size_bytes > end - offset)
        return -ENODATA;
    if (offset % target->align_bytes || size_bytes % target->align_bytes)
        return -EINVAL;
    struct iovec iov = {buf, size_bytes};
    poison_fill(buf, size_bytes, ++c->serial);
    struct io_req req = {.op = IO_READ,
                         .stream = STREAM_backup_read,
                         .target = &c->file->target,
                         .offset = offset,
                         .iov = &iov,
                         .iov_count = 1};
    return io_run(c->io, &req);
}

static void report(struct backup_checker *c, struct finding *finding,
                   const struct finding_images *images)
{
    finding->file_uid = c->file->mark.file_uid;
    snprintf(finding->file, sizeof finding->file, "%s", c->file->path);
    snprintf(finding->actor, sizeof finding->actor, "%s", c->actor);
    finding_report(c->findings, finding, images);
}

/* A success after a failure is SQL Server's 825. */
static int read_again(struct backup_checker *c, uint64_t offset, void *buf, size_t size_bytes)
{
    int first = read_once(c, offset, buf, size_bytes), error = first;
    struct finding finding = {.offset = offset, .size_bytes = size_bytes, .error = -first};
    while (error && error != -ENODATA && finding.retries < BACKUP_REREADS_MAX) {
        finding.retries++;
        error = read_once(c, offset, buf, size_bytes);
    }
    if (!first || c->io->abandoned)
        return error;
    finding.verdict = !error              ? VERDICT_read_retry
                      : error == -ENODATA ? VERDICT_truncated_file
                                          : VERDICT_unreadable;
    finding.healed = !error;
    snprintf(finding.detail, sizeof finding.detail, "the backup %s here",
             error == -ENODATA ? "ends" : "could not be read");
    report(c, &finding, NULL);
    return error;
}

/* Of what a later read showed right. */
static enum verdict healed_verdict(enum verdict verdict)
{
    enum verdict healed = explain_after_rereads(&(struct explanation){.verdict = verdict}, true);
    bool kept = healed == verdict && verdict != VERDICT_bytes_not_read;
    return kept ? VERDICT_transient_damage : healed;
}

/* image: the page or sector that is wrong, or NULL. */
static void report_damage(struct backup_checker *c, const struct backup_damage *damage,
                          uint64_t offset, bool healed, const uint8_t *image)
{
    struct finding finding = {.verdict = healed ? healed_verdict(damage->verdict) : damage->verdict,
                              .offset = offset + damage->at,
                              .size_bytes = damage->size_bytes - damage->at % PAGE_BYTES,
                              .why = damage->why,
                              .retries = BACKUP_REREADS_MAX,
                              .agreed = healed ? 0 : BACKUP_REREADS_MAX,
                              .healed = healed};
    struct finding_images images = {.read_image = image,
                                    .size_bytes = damage->has_page ? PAGE_BYTES : LOG_SECTOR_BYTES};
    if (damage->has_page)
        snprintf(finding.detail, sizeof finding.detail,
                 "%s; page %u of the database is wrong in it; the backup is not to be restored "
                 "(SQL Server: 3183)",
                 damage->text, damage->page_no);
    else
        snprintf(finding.detail, sizeof finding.detail,
                 "%s; the backup is not to be restored (SQL Server: 3203)", damage->text);
    report(c, &finding, image ? &images : NULL);
    c->counts.damaged += !healed;
}

/* ---- meta pages ---- */

static int meta_read(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
    return read_again(context, offset, buf, size_bytes);
}

static int load_once(struct backup_checker *c, uint64_t offset, uint32_t previous,
                     struct backup_set *set)
{
    struct backup_reader reader = {
        .read = meta_read, .context = c, .file_bytes = atomic_load(&c->file->target.size_bytes)};
    return backup_set_load(set, &reader, offset, previous, c->meta);
}

/* The meta page that is wrong lies in c->meta. */
static void report_meta(struct backup_checker *c, const struct backup_set *set, bool healed)
{
    struct backup_damage damage;
    if (set->bad_offset + BACKUP_META_BYTES > atomic_load(&c->file->target.size_bytes)) {
        damage = (struct backup_damage){.verdict = VERDICT_truncated_file,
                                        .size_bytes = BACKUP_META_BYTES,
                                        .text = "the file ends before the backup does"};
    } else {
        backup_damage_of_meta(c->meta, set->bad_offset, set->bad, &damage);
    }
    report_damage(c, &damage, set->bad_offset, healed, NULL);
}

int backup_checker_load(struct backup_checker *c, uint64_t offset, uint32_t previous,
                        struct backup_set *set)
{
    int error = load_once(c, offset, previous, set);
    if (error == -EBADMSG) {
        struct backup_set first = *set;
        uint8_t image[BACKUP_META_BYTES];
        memcpy(image, c->meta, sizeof image);
        error = load_once(c, offset, previous, set);
        if (!error)
            memcpy(c->meta, image, sizeof image);
        report_meta(c, error ? set : &first, !error);
    }
    if (error)
        return error;
    c->identity = run_identity_make(set->header.meta.run_id, set->header.seed,
                                    (uint16_t)set->header.compressible);
    c->chain_known = false;
    return 0;
}

/* ---- blocks ---- */

static int records(struct backup_checker *c, const struct log_block_info *info)
{
    int error = 0;
    for (unsigned i = 1; c->on_record && i < info->record_count && !error; i++) {
        struct log_record_view view;
        if (log_record_at(c->scratch, info, i, &view))
            error = c->on_record(c->context, &view);
    }
    return error;
}

/* The block is what was written; that it is a sound piece of the log's chain was so then, too: a
 * difference is our own fault or that of who wrote the directory. */
static int log_records(struct backup_checker *c, const struct backup_block *block)
{
    int error = 0;
    size_t at = 0;
    uint32_t crc = block->crc;
    if (c->chain_known && crc != c->chain_crc)
        return -EILSEQ;
    while (at < block->bytes && !error) {
        struct log_block_info info;
        uint32_t number = block->count + (uint32_t)(at / LOG_SECTOR_BYTES);
        if (log_block_check(c->content + at, block->bytes - at, block->parity, block->first, number,
                            true, crc, c->scratch, &info) != LOG_BLOCK_OK)
            return -EILSEQ;
        error = records(c, &info);
        crc = info.own_crc;
        at += info.size_bytes;
        c->counts.log_blocks++;
    }
    c->chain_known = true;
    c->chain_crc = crc;
    return error;
}

static void report_chain(struct backup_checker *c, const struct backup_set *set,
                         const struct backup_block *block)
{
    struct backup_damage damage = {.verdict = VERDICT_log_lost, .size_bytes = block->bytes};
    snprintf(damage.text, sizeof damage.text,
             "block %llu of backup %u: its log does not follow the log before it",
             (unsigned long long)block->sequence, set->header.meta.number);
    report_damage(c, &damage, block->offset, false, NULL);
}

static int content_read(struct backup_checker *c, const struct backup_set *set,
                        const struct backup_block *block)
{
    uint64_t padded = backup_next_offset(&set->header, 0, block->bytes);
    return read_again(c, block->offset, c->content, padded);
}

/* The first sector that the last read did not fill. */
static bool is_not_read(const struct backup_checker *c, const struct backup_block *block,
                        struct backup_damage *out)
{
    for (uint64_t at = 0; at < block->bytes; at += LOG_SECTOR_BYTES) {
        if (!poison_sector(c->content + at, c->serial))
            continue;
        *out = (struct backup_damage){.verdict = VERDICT_bytes_not_read,
                                      .at = at,
                                      .size_bytes = at % PAGE_BYTES + LOG_SECTOR_BYTES};
        snprintf(out->text, sizeof out->text,
                 "block %llu: a read of it succeeded and did not fill the buffer",
                 (unsigned long long)block->sequence);
        return true;
    }
    return false;
}

static void damage_find(struct backup_checker *c, const struct backup_set *set,
                        const struct backup_block *block, struct backup_damage *out)
{
    if (!is_not_read(c, block, out))
        backup_damage_of_block(&set->header, &c->identity, block, c->content, c->scratch, out);
}

/* Where the wrong page or sector begins in the content that was read last. */
static const uint8_t *damage_image(const struct backup_checker *c,
                                   const struct backup_damage *damage)
{
    uint64_t unit = damage->has_page ? PAGE_BYTES : LOG_SECTOR_BYTES;
    return c->content + damage->at / unit * unit;
}

int backup_checker_block(struct backup_checker *c, const struct backup_set *set,
                         const struct backup_block *block)
{
    struct backup_damage damage;
    bool wrong = false, right = false;
    for (unsigned i = 0; i <= BACKUP_REREADS_MAX && !right; i++) {
        if (content_read(c, set, block)) {
            c->chain_known = false;
            c->counts.damaged++;
            return -EBADMSG;
        }
        right = backup_block_is_right(block, c->content);
        if (!right && !wrong)
            damage_find(c, set, block, &damage);
        wrong |= !right;
    }
    if (wrong)
        report_damage(c, &damage, block->offset, right, right ? NULL : damage_image(c, &damage));
    if (!right) {
        c->chain_known = false; /* the next one does not follow the one before */
        return -EBADMSG;
    }
    c->counts.blocks++;
    c->counts.bytes += block->bytes;
    int error = tick_done(c->tick, block->bytes);
    if (block->kind == BACKUP_BLOCK_PAGES) {
        c->counts.pages += block->count;
        return error;
    }
    int chain = log_records(c, block);
    if (chain == -EILSEQ) {
        report_chain(c, set, block);
        return -EBADMSG;
    }
    return error ? error : chain;
}

/* ---- a file ---- */

static int check_set(struct backup_checker *c, const struct backup_set *set)
{
    int error = 0;
    for (size_t i = 0; i < set->count && !error; i++) {
        error = backup_checker_block(c, set, &set->blocks[i]);
        error = error == -EBADMSG ? 0 : error; /* the others are looked at, too */
    }
    return error;
}

int backup_check_file(struct backup_checker *c)
{
    uint64_t offset = BACKUP_FIRST_OFFSET;
    uint32_t previous = 0;
    int error = 0;
    while (!error) {
        struct backup_set set;
        error = backup_checker_load(c, offset, previous, &set);
        if (error == -EINPROGRESS)
            c->counts.incomplete++;
        if (error)
            break;
        c->counts.backups++;
        c->counts.newest = set.header.meta.number;
        error = check_set(c, &set);
        previous = set.header.meta.number;
        offset = backup_set_end(&set);
        backup_set_free(&set);
    }
    bool said = error == -ENOENT || error == -EINPROGRESS || error == -EBADMSG;
    return said ? 0 : error;
}
