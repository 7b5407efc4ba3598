/*
 * fuzz_ledger.c - arbitrary bytes as a ledger file.
 *
 * Input: the bytes of the file, zeros at the end left out: byte 0 and 1 (u16) say how many KiB of
 * zeros follow them.  Beyond memory safety: what ledger_validate accepts ledger_open accepts too,
 * and then every path ends, every entry lies in the mapping and every view is ordered.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "verify/ledger.h"
#include "verify/syspage.h"

#define ZEROS_KIB_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_file(const struct ledger *ledger, const struct ledger_file *row)
{
    assert(strnlen(row->path, LEDGER_PATH_BYTES) < LEDGER_PATH_BYTES);
    if (row->kind == FILE_KIND_LOG || row->kind == FILE_KIND_BACKUP)
        return; /* no entries */
    for (uint32_t page_no = 0; page_no < row->capacity_pages; page_no++) {
        struct ledger_view view = ledger_view(ledger, row->uid, page_no);
        assert(view.durable <= view.acked && view.acked <= view.issued);
        assert(view.state <= LEDGER_QUARANTINED);
    }
    struct ledger_count count = ledger_count(ledger, row->uid);
    assert(count.seen <= count.written && count.written <= row->capacity_pages);
}

static void walk(struct ledger *ledger)
{
    for (uint32_t uid = 1; uid <= ledger_header_of(ledger)->file_count; uid++)
        walk_file(ledger, ledger_file_at(ledger, (uint16_t)uid));
    assert(!ledger_file_at(ledger, (uint16_t)(ledger_header_of(ledger)->file_count + 1)));
}

static void open_and_walk(const uint8_t *image, size_t size_bytes, int validated)
{
    struct ledger *ledger = NULL;
    const char *reason = NULL;
    char path[64];

    int fd = memfd_create("ledger", MFD_CLOEXEC);
    assert(fd >= 0 && write(fd, image, size_bytes) == (ssize_t)size_bytes);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    int opened = ledger_open(&ledger, path, false, &reason);
    assert(opened == validated && (opened == 0) == !reason);
    if (opened == 0)
        walk(ledger);
    ledger_close(ledger, false);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint16_t zeros_kib;
    const char *reason = NULL;

    if (size < sizeof(zeros_kib))
        return 0;
    memcpy(&zeros_kib, data, sizeof(zeros_kib));
    size_t bytes = size - sizeof(zeros_kib);
    size_t size_bytes = bytes + (size_t)(zeros_kib % (ZEROS_KIB_MAX + 1)) * 1024;
    uint8_t *image = calloc(1, size_bytes + 1);
    assert(image);
    memcpy(image, data + sizeof(zeros_kib), bytes);
    int rc = ledger_validate(image, size_bytes, &reason);
    assert(rc == 0 || (rc == -EBADMSG && reason));
    open_and_walk(image, size_bytes, rc);
    free(image);
    return 0;
}
