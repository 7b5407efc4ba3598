/*
 * syspage_boot.c - the boot page (9, primary file): which database this is, and where recovery
 * starts.
 *
 * Invariant: the fields stand where SQL Server 2017 (dbi_version 869) has them; the name is UTF-16,
 * cut at a whole character, filled up with 0x20 bytes as in real files.  What it does not do:
 * decide when a checkpoint is complete.
 */
#include "verify/syspage.h"

#include <string.h>

#include "verify/syspage_build.h"

#define BOOT_PAGE_NO           9
#define BOOT_ROW_BYTES         1444 /* reference files: freeData 1540 */
#define BOOT_OFFSET_VERSION    0x64
#define BOOT_OFFSET_CREATED    0x66
#define BOOT_OFFSET_NAME       0x94
#define BOOT_NAME_BYTES        256
#define BOOT_OFFSET_DBID       0x198
#define BOOT_OFFSET_CHECKPOINT 0x1BC
#define BOOT_DBI_VERSION       869 /* SQL Server 2017 */
#define UTF_REPLACEMENT        0xFFFDu

/* The next character of a UTF-8 string; what is not UTF-8 becomes U+FFFD, one for each byte. */
static uint32_t utf8_next(const char **text)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const uint8_t *p = (const uint8_t *)*text;
    unsigned more = p[0] >= 0xF0 ? 3 : p[0] >= 0xE0 ? 2 : p[0] >= 0xC0 ? 1 : 0;
    uint32_t c = more == 0 ? p[0] : p[0] & (0x3Fu >> more);

    *text += 1;
    if (p[0] < 0x80)
        return c;
    for (unsigned i = 1; i <= more; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return UTF_REPLACEMENT;
        c = c << 6 | (p[i] & 0x3F);
    }
    if (more == 0 || p[0] > 0xF4 || c < least[more] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
        return UTF_REPLACEMENT;
    *text += more;
    return c;
}

static size_t utf16_put(uint8_t *at, size_t room_bytes, uint32_t c)
{
    size_t need = c < 0x10000 ? 2 : 4;

    if (need > room_bytes)
        return 0;
    if (need == 2) {
        syspage_put_u16(at, (uint16_t)c);
    } else {
        syspage_put_u16(at, (uint16_t)(0xD800 + ((c - 0x10000) >> 10)));
        syspage_put_u16(at + 2, (uint16_t)(0xDC00 + ((c - 0x10000) & 0x3FF)));
    }
    return need;
}

static void put_name(uint8_t *field, const char *name)
{
    size_t used = 0;
    size_t put = 1;

    memset(field, ' ', BOOT_NAME_BYTES);
    while (*name != '\0' && put > 0) {
        put = utf16_put(field + used, BOOT_NAME_BYTES - used, utf8_next(&name));
        used += put;
    }
}

void syspage_build_boot(void *page, const struct file_mark *mark, const char *database_name)
{
    uint8_t *bytes = page;

    syspage_begin(page, PAGE_TYPE_BOOT, BOOT_PAGE_NO, mark->file_id);
    uint8_t *row = syspage_add_row(page, BOOT_ROW_BYTES);
    syspage_put_u16(row + 2, BOOT_ROW_BYTES);
    syspage_put_u16(bytes + BOOT_OFFSET_VERSION, BOOT_DBI_VERSION);
    syspage_put_u16(bytes + BOOT_OFFSET_CREATED, BOOT_DBI_VERSION);
    put_name(bytes + BOOT_OFFSET_NAME, database_name);
    syspage_put_u16(bytes + BOOT_OFFSET_DBID, mark->database_id);
}

void boot_set_checkpoint(void *boot_page, struct lsn lsn)
{
    uint8_t *at = (uint8_t *)boot_page + BOOT_OFFSET_CHECKPOINT;

    syspage_put_u32(at, lsn.fseq);
    syspage_put_u32(at + 4, lsn.block);
    syspage_put_u16(at + 8, lsn.slot);
}

struct lsn boot_get_checkpoint(const void *boot_page)
{
    const uint8_t *at = (const uint8_t *)boot_page + BOOT_OFFSET_CHECKPOINT;
    struct lsn lsn;

    memcpy(&lsn.fseq, at, sizeof(lsn.fseq));
    memcpy(&lsn.block, at + 4, sizeof(lsn.block));
    memcpy(&lsn.slot, at + 8, sizeof(lsn.slot));
    return lsn;
}
