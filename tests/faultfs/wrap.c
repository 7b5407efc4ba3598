/* wrap.c - see wrap.h. */
#include "tests/faultfs/wrap.h"

#include "tests/faultfs/truth.h"

size_t wrap_piece(const struct node *node, uint64_t offset, size_t size_bytes)
{
    uint64_t left = node->modulus - offset % node->modulus;
    return size_bytes < left ? size_bytes : (size_t)left;
}

/* The owner is kept in the pointer itself: its sector number and one. */
void wrap_written(struct node *node, uint64_t offset, size_t size_bytes)
{
    uint64_t first = offset / SECTOR_BYTES, end = (offset + size_bytes) / SECTOR_BYTES;
    for (uint64_t i = first; i < end; i++) {
        uint64_t place = i % (node->modulus / SECTOR_BYTES);
        table_set(&node->owners, place, (void *)(uintptr_t)(i + 1));
    }
}

void wrap_read(struct node *node, uint64_t offset, size_t size_bytes)
{
    uint64_t first = offset / SECTOR_BYTES, end = (offset + size_bytes) / SECTOR_BYTES;
    for (uint64_t i = first; i < end; i++) {
        uint64_t place = i % (node->modulus / SECTOR_BYTES);
        uint64_t owner = (uintptr_t)table_get(&node->owners, place);
        if ((owner ? owner - 1 : place) == i)
            continue;
        place_read(&node->wrap_event->places[0], truth_now());
        return;
    }
}
