/* wal_space.c - the arithmetic of log space; see wal_space.h. */
#include "sim/wal_space.h"

#include "sim/wal.h"

uint64_t wal_vlf_usable_bytes(const struct vlf_header *vlf)
{
    uint64_t lost = VLF_HEADER_BYTES + LOG_BLOCK_BYTES_MAX;
    return vlf->size_bytes > lost ? vlf->size_bytes - lost : 0;
}

void wal_space_add(struct wal_space *space, const struct vlf_header *vlfs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t usable = wal_vlf_usable_bytes(&vlfs[i]);
        space->capacity_bytes += usable;
        if (usable > space->largest_bytes)
            space->largest_bytes = usable;
    }
    space->usable_bytes = space->capacity_bytes - space->largest_bytes;
}

bool wal_space_add_file(struct wal_space *space, uint64_t file_bytes)
{
    struct vlf_header vlfs[VLF_MAX];
    size_t count = vlf_layout(file_bytes, vlfs);
    wal_space_add(space, vlfs, count);
    return count > 0;
}

uint64_t wal_space_transaction_max(uint64_t usable_bytes)
{
    return usable_bytes > WAL_HEADROOM_BYTES ? (usable_bytes - WAL_HEADROOM_BYTES) / 2 : 0;
}

uint64_t wal_log_transaction_max(uint64_t file_bytes)
{
    struct wal_space space = {0};
    wal_space_add_file(&space, file_bytes);
    return wal_space_transaction_max(space.usable_bytes);
}

/* A record costs ceil((c + payload) / room) sectors: at most one sector more than its share of the
 * sum, so that the average record and one sector each bound every way to spread the payload.  A
 * change record carries at least its head, which may come on top of the payload. */
uint64_t wal_transaction_need(uint64_t payload_bytes, uint64_t records, size_t sector_bytes)
{
    if (records == 0)
        return 0;
    uint64_t average = (payload_bytes + records - 1) / records + sizeof(struct log_page_change);
    return records * (log_record_cost((size_t)average, sector_bytes) + sector_bytes);
}
