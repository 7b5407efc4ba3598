/*
 * fuzz_page.c - everything in verify/ that judges 8 KiB from anywhere: no crash, no read outside.
 *
 * The input is cut or padded with zeros to one page in a heap block of exactly 8 KiB, so that the
 * address sanitizer sees each byte beyond it.  Corpus: tests/golden/page_format.py --corpus.
 */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "verify/page.h"
#include "verify/syspage.h"
#include "verify/torn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void judge_data_page(const uint8_t *page)
{
    enum page_check check = page_check(page);

    /* What is whole has a header that may be believed. */
    assert(check != PAGE_OK || page_header_crc_ok(page));
    for (unsigned sector = 0; sector < PAGE_SECTORS; sector++) {
        struct sector_identity identity;
        if (sector_stamp_read(page + sector * PAGE_SECTOR_BYTES, &identity))
            assert(identity.sector < PAGE_SECTORS && identity.generation_low >> 48 == 0);
    }
}

static void judge_file_header(const uint8_t *page)
{
    struct file_mark mark;
    struct file_header_info info;
    int err = file_mark_read(page, &mark);
    bool header = file_header_read(page, &info);

    assert(err == 0 || err == -ENOENT || err == -EINVAL || err == -EBADMSG);
    /* Ours or foreign, a header that is sound can be read. */
    assert((err != 0 && err != -ENOENT) || header);
    assert(err != 0 || (mark.size_pages == info.size_pages && mark.file_id == info.file_id));
}

static void judge_torn_bits(uint8_t *page)
{
    if (torn_check(page)) {
        unsigned pattern = page_header_of(page)->torn_bits & 3;
        torn_restore(page);
        torn_protect(page, pattern);
        assert(torn_check(page));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *page = calloc(1, PAGE_BYTES);

    if (page == NULL)
        return 0;
    memcpy(page, data, size < PAGE_BYTES ? size : PAGE_BYTES);
    judge_data_page(page);
    judge_file_header(page);
    judge_torn_bits(page);
    free(page);
    return 0;
}
