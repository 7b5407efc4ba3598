/* page_change.c - see page_change.h. */
#include "sim/page_change.h"

#include <assert.h>

#include "verify/syspage_hash.h"

static uint32_t payload_of(uint32_t log_bytes)
{
    uint32_t smallest = sizeof(struct log_page_change);
    return log_bytes < smallest ? smallest : log_bytes;
}

static unsigned split(uint32_t log_bytes, uint32_t parts[2])
{
    uint32_t payload = payload_of(log_bytes);
    if (payload <= LOG_RECORD_BYTES_MAX) {
        parts[0] = payload;
        return 1;
    }
    parts[0] = LOG_RECORD_BYTES_MAX;
    parts[1] = payload_of(payload - LOG_RECORD_BYTES_MAX);
    return 2;
}

uint64_t page_change_cost(uint32_t log_bytes, size_t sector_bytes)
{
    uint32_t parts[2];
    unsigned count = split(log_bytes, parts);
    uint64_t cost = 0;
    for (unsigned i = 0; i < count; i++)
        cost += log_record_cost(parts[i], sector_bytes);
    return cost;
}

static struct log_page_change change_of(const struct page_identity *first, uint32_t page_count)
{
    return (struct log_page_change){
        .magic = LOG_CHANGE_MAGIC,
        .file_uid = first->file_uid,
        .incarnation = first->incarnation,
        .page_no = first->page_no,
        .page_count = page_count,
        .generation = first->generation,
    };
}

struct log_record syspage_change_record(struct syspage_change *change,
                                        const struct page_identity *identity, const void *before,
                                        const void *after)
{
    size_t bytes = syspage_delta_make(before, after, change->delta, sizeof change->delta);
    assert(bytes <= sizeof change->delta); /* its makers change no more in one go */
    change->change = change_of(identity, 1);
    change->change.image_xxh3 = syspage_content_xxh3(after);
    bytes += sizeof change->change;
    return (struct log_record){
        .op = LOG_OP_SET_BITS, .head = change, .head_bytes = bytes, .payload_bytes = bytes};
}

int page_change_log(struct wal *wal, struct xact *xact, const struct page_identity *identity,
                    uint32_t log_bytes, struct lsn *lsn, struct task *task)
{
    struct log_page_change change = change_of(identity, 1);
    uint32_t parts[2];
    unsigned count = split(log_bytes, parts);
    struct log_record records[2];
    for (unsigned i = 0; i < count; i++)
        records[i] = (struct log_record){.op = LOG_OP_MODIFY,
                                         .xact_id = xact->id,
                                         .previous = xact->last,
                                         .head = &change,
                                         .head_bytes = sizeof change,
                                         .payload_bytes = parts[i]};
    return wal_append(wal, xact, records, count, lsn, task);
}

int page_format_log(struct wal *wal, struct xact *xact, const struct page_identity *first,
                    uint32_t page_count, struct lsn *lsn, struct task *task)
{
    struct log_page_change change = change_of(first, page_count);
    struct log_record record = {.op = LOG_OP_FORMAT,
                                .xact_id = xact->id,
                                .previous = xact->last,
                                .head = &change,
                                .head_bytes = sizeof change,
                                .payload_bytes = sizeof change};
    return wal_append(wal, xact, &record, 1, lsn, task);
}

int log_mark(struct wal *wal, struct xact *xact, enum log_op op, struct lsn *lsn, struct task *task)
{
    uint8_t payload[LOG_MARK_BYTES] = "PSMK";
    struct log_record record = {.op = op,
                                .xact_id = xact ? xact->id : 0,
                                .previous = xact ? xact->last : (struct lsn){0},
                                .head = payload,
                                .head_bytes = sizeof payload,
                                .payload_bytes = sizeof payload};
    return wal_append(wal, xact, &record, 1, lsn, task);
}
