/* table.c - see table.h. */
#include "tests/faultfs/table.h"

#include <stdlib.h>
#include <string.h>

#include "tests/faultfs/memory.h"

void *table_get(const struct table *table, uint64_t sector)
{
    uint64_t row = sector / TABLE_ROW;
    if (row >= table->row_count || !table->rows[row])
        return NULL;
    return table->rows[row][sector % TABLE_ROW];
}

static void grow(struct table *table, uint64_t rows)
{
    uint64_t count = table->row_count ? table->row_count : 16;
    while (count < rows)
        count *= 2;
    table->rows = memory_resize(table->rows, count * sizeof *table->rows);
    memset(table->rows + table->row_count, 0, (count - table->row_count) * sizeof *table->rows);
    table->row_count = count;
}

void table_set(struct table *table, uint64_t sector, void *entry)
{
    uint64_t row = sector / TABLE_ROW;
    if (!entry && !table_get(table, sector))
        return;
    if (row >= table->row_count)
        grow(table, row + 1);
    if (!table->rows[row])
        table->rows[row] = memory_zeroed(TABLE_ROW * sizeof **table->rows);
    void **slot = &table->rows[row][sector % TABLE_ROW];
    table->used += !*slot && entry;
    table->used -= *slot && !entry;
    *slot = entry;
}

uint64_t table_next(const struct table *table, uint64_t from, uint64_t end)
{
    if (!table->used)
        return TABLE_NOTHING;
    for (uint64_t sector = from; sector < end;) {
        uint64_t row = sector / TABLE_ROW;
        if (row >= table->row_count)
            return TABLE_NOTHING;
        if (!table->rows[row])
            sector = (row + 1) * TABLE_ROW;
        else if (table->rows[row][sector % TABLE_ROW])
            return sector;
        else
            sector++;
    }
    return TABLE_NOTHING;
}

void table_free(struct table *table)
{
    for (uint64_t row = 0; row < table->row_count; row++)
        free(table->rows[row]);
    free(table->rows);
    *table = (struct table){0};
}
