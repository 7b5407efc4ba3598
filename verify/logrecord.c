/*
 * logrecord.c - the records of a checked log block.
 *
 * Works on the unstamped image that log_block_check made and on the info it filled, which bound
 * every offset used here.  Versions 3 to 5 (2005 to 2022) share one record start; version 2 (2000)
 * has a shorter one, of which only the operation is known.
 */
#include "verify/logblk.h"

#include <string.h>

#define VERSION_2000      2
#define RECORD_2000_OP_AT 0x0E
#define RECORD_2000_START 0x10

static void read_start(const uint8_t *at, struct log_record_view *out)
{
    struct log_record_start start;
    memcpy(&start, at, sizeof(start));
    out->op = start.op;
    out->xact_id = (uint64_t)start.xact_id_high << 32 | start.xact_id_low;
    out->previous = (struct lsn){start.previous_fseq, start.previous_block, start.previous_slot};
}

bool log_record_at(const uint8_t *unstamped, const struct log_block_info *info, unsigned index,
                   struct log_record_view *out)
{
    struct log_block_header header;
    if (index >= info->record_count)
        return false;
    memcpy(&header, unstamped, sizeof(header));
    size_t offset = log_record_offset(unstamped, info->used_bytes, index);
    size_t end = index + 1 < info->record_count
                     ? log_record_offset(unstamped, info->used_bytes, index + 1)
                     : info->used_bytes - info->record_count * sizeof(uint16_t);
    bool old = header.version <= VERSION_2000;
    size_t start_bytes = old ? RECORD_2000_START : LOG_RECORD_START_BYTES;
    if (end > info->size_bytes || end < offset || end - offset < start_bytes)
        return false;
    *out = (struct log_record_view){
        .lsn = {info->fseq, info->block, (uint16_t)(header.slot + index)},
        .payload = unstamped + offset + start_bytes,
        .payload_bytes = end - offset - start_bytes,
    };
    if (old)
        out->op = unstamped[offset + RECORD_2000_OP_AT];
    else
        read_start(unstamped + offset, out);
    return true;
}

bool log_record_change(const struct log_record_view *record, struct log_page_change *out)
{
    bool changes =
        record->op == LOG_OP_FORMAT || record->op == LOG_OP_MODIFY || record->op == LOG_OP_SET_BITS;
    if (!changes || record->payload_bytes < sizeof(*out))
        return false;
    memcpy(out, record->payload, sizeof(*out));
    return out->magic == LOG_CHANGE_MAGIC;
}
