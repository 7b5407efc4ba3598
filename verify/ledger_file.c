/*
 * ledger_file.c - the mapped file: layout, creation, validation, clean mark.
 *
 *   0       struct ledger_header, one 4 KiB page
 *   4096    struct ledger_file [file_count]
 *   then    the entries of each data file in the order of the table, each area from a multiple of
 *           4 KiB; log files have none
 *
 * Invariants: the table determines the layout and the size of the file, so validation computes both
 * again and accepts nothing else; areas can then neither overlap nor reach out.  Every pair of
 * words is a possible entry (ledger_entry.c), so memory is safe with any; that they are the ones
 * that were closed, the hash in a clean header says.  Bytes that nobody wrote
 * are zero.  The file is not marked clean on disk before its entries are there. What it does not
 * do: reserve the space of the entries (the file is sparse; where its file system is full, touching
 * a new entry raises SIGBUS), or believe: that is the caller's, with ledger_believed.
 */
#include "verify/ledger.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verify/checksum.h"
#include "verify/ledger_map.h"
#include "verify/syspage.h"

#define MAP_PAGE_BYTES 4096ull
#define TABLE_OFFSET   MAP_PAGE_BYTES
#define BOOT_ID_BYTES  16

static_assert(sizeof(struct ledger_header) == 88 && sizeof(struct ledger_header) <= MAP_PAGE_BYTES,
              "the header is one page");
static_assert(offsetof(struct ledger_header, run_id) == 16, "run id");
static_assert(offsetof(struct ledger_header, seed) == 48, "seed");
static_assert(offsetof(struct ledger_header, file_count) == 72, "file count");
static_assert(offsetof(struct ledger_header, content_xxh3) == 80, "hash of the content");
static_assert(sizeof(struct ledger_file) == 576, "row of the file table");
static_assert(offsetof(struct ledger_file, entries_offset) == 40, "entries offset");
static_assert(offsetof(struct ledger_file, path) == 64, "path");

static uint64_t round_up(uint64_t size_bytes)
{
    return (size_bytes + MAP_PAGE_BYTES - 1) / MAP_PAGE_BYTES * MAP_PAGE_BYTES;
}

static uint64_t table_end(size_t file_count)
{
    return round_up(TABLE_OFFSET + file_count * sizeof(struct ledger_file));
}

/* Are its pages judged one by one? */
static bool has_entries(uint32_t kind)
{
    return kind == FILE_KIND_DATA || kind == FILE_KIND_SNAPSHOT;
}

/* Bytes of entries of a file; no overflow: at most 2^36 + 2^12. */
static uint64_t area_bytes(uint32_t kind, uint32_t capacity_pages)
{
    return !has_entries(kind) ? 0
                              : round_up((uint64_t)capacity_pages * sizeof(struct ledger_entry));
}

static struct ledger_file *table_of(const uint8_t *map)
{
    return (struct ledger_file *)(uintptr_t)(map + TABLE_OFFSET);
}

/* NULL, or what contradicts. */
static const char *header_fault(const struct ledger_header *header, size_t size_bytes)
{
    if (header->magic != LEDGER_MAGIC)
        return "not a ledger (magic)";
    if (header->version != LEDGER_VERSION)
        return "unknown ledger version";
    if (header->clean > 1)
        return "clean mark is neither 0 nor 1";
    if (header->compressible > PAGE_COMPRESSIBLE_MAX)
        return "compressible share above 100 %";
    if (header->phase > LEDGER_PHASE_SETTLED)
        return "unknown phase";
    if (header->file_count == 0 || header->file_count > LEDGER_FILES_MAX)
        return "impossible number of files";
    if (table_end(header->file_count) > size_bytes)
        return "the file table does not fit into the file";
    return NULL;
}

static const char *row_fault(const struct ledger_file *row, size_t index, uint64_t area_offset)
{
    bool paged = has_entries(row->kind);

    if (row->uid != index + 1)
        return "file uid is not its place in the table";
    if (row->kind > FILE_KIND_SNAPSHOT)
        return "unknown kind of file";
    if (row->path[0] == '\0' || !memchr(row->path, '\0', sizeof(row->path)))
        return "file path is empty or has no end";
    if (row->entries_offset != (paged ? area_offset : 0))
        return "entries do not stand where the table puts them";
    if (paged && row->capacity_pages == 0)
        return "data file without entries";
    if (paged && (row->size_pages_acked > row->capacity_pages ||
                  row->size_pages_issued > row->capacity_pages))
        return "data file is larger than its entries";
    return NULL;
}

/* Of an image of at least one page. */
static uint64_t content_hash(const uint8_t *image, size_t size_bytes)
{
    _Alignas(8) uint8_t head[MAP_PAGE_BYTES];
    struct ledger_header *header = (void *)head;

    memcpy(head, image, sizeof(head));
    header->clean = 0;
    header->content_xxh3 = 0;
    return xxh3_64_joined(head, sizeof(head), image + sizeof(head), size_bytes - sizeof(head));
}

static const char *image_fault(const uint8_t *image, size_t size_bytes)
{
    const struct ledger_header *header = (const void *)image;

    if (size_bytes < MAP_PAGE_BYTES)
        return "shorter than its header";
    const char *fault = header_fault(header, size_bytes);
    if (fault)
        return fault;
    uint64_t end = table_end(header->file_count);
    for (size_t i = 0; i < header->file_count; i++) {
        const struct ledger_file *row = &table_of(image)[i];
        fault = row_fault(row, i, end);
        if (fault)
            return fault;
        end += area_bytes(row->kind, row->capacity_pages);
    }
    if (end != size_bytes)
        return "file size is not what the table makes it";
    if (header->clean && header->content_xxh3 != content_hash(image, size_bytes))
        return LEDGER_REASON_DAMAGED;
    return NULL;
}

int ledger_validate(const void *image, size_t size_bytes, const char **reason)
{
    assert((uintptr_t)image % _Alignof(struct ledger_header) == 0);
    *reason = image_fault(image, size_bytes);
    return *reason ? -EBADMSG : 0;
}

/* End of what the sparse file holds of an area: holes were never changed.  Scans need not read
 * them. */
static uint32_t touched_pages(int fd, const struct ledger_file *row)
{
    off_t start = (off_t)row->entries_offset;
    off_t end = start + (off_t)area_bytes(row->kind, row->capacity_pages);
    off_t last = start;

    for (off_t data = lseek(fd, start, SEEK_DATA); data != -1 && data < end;
         data = lseek(fd, last, SEEK_DATA)) {
        last = lseek(fd, data, SEEK_HOLE);
        if (last == -1)
            return row->capacity_pages;
        if (last >= end)
            return row->capacity_pages;
    }
    uint64_t pages = (uint64_t)(last - start) / sizeof(struct ledger_entry);
    return pages < row->capacity_pages ? (uint32_t)pages : row->capacity_pages;
}

static void areas_init(struct ledger *ledger, int fd)
{
    for (size_t i = 0; i < ledger->file_count; i++) {
        struct ledger_file *row = &table_of(ledger->map)[i];
        struct ledger_area *area = &ledger->areas[i];

        if (!has_entries(row->kind))
            continue;
        area->entries = (struct ledger_entry *)(uintptr_t)(ledger->map + row->entries_offset);
        area->capacity_pages = row->capacity_pages;
        atomic_store(&area->touched_pages, touched_pages(fd, row));
    }
}

/* Map size_bytes of fd; the number of files is not known before. */
static int map_file(int fd, size_t size_bytes, bool writable, uint8_t **out)
{
    int protection = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    void *map = mmap(NULL, size_bytes, protection, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED)
        return -errno;
    *out = map;
    return 0;
}

/* Takes the mapping over, also when it fails. */
static int ledger_wrap(struct ledger **out, uint8_t *map, size_t size_bytes, bool writable, int fd)
{
    const struct ledger_header *header = (const void *)map;
    size_t count = header->file_count;
    struct ledger *ledger = calloc(1, sizeof(*ledger) + count * sizeof(ledger->areas[0]));

    struct write_order *order = ledger && writable ? write_order_create() : NULL;
    if (!ledger || (writable && !order)) {
        free(ledger);
        munmap(map, size_bytes);
        return -ENOMEM;
    }
    ledger->order = order;
    ledger->map = map;
    ledger->size_bytes = size_bytes;
    ledger->writable = writable;
    ledger->was_clean = header->clean == 1;
    ledger->file_count = count;
    areas_init(ledger, fd);
    *out = ledger;
    return 0;
}

static int spec_check(const struct ledger_file_spec *spec)
{
    if (!spec->path || spec->path[0] == '\0')
        return -EINVAL;
    if (spec->kind > FILE_KIND_SNAPSHOT)
        return -EINVAL;
    if (has_entries(spec->kind) && spec->capacity_pages == 0)
        return -EINVAL;
    return strnlen(spec->path, LEDGER_PATH_BYTES) < LEDGER_PATH_BYTES ? 0 : -ENAMETOOLONG;
}

/* Size of the ledger, or -errno. */
static int64_t specs_size(const struct ledger_file_spec *specs, size_t count)
{
    if (count == 0 || count > LEDGER_FILES_MAX)
        return -EINVAL;
    uint64_t size_bytes = table_end(count);
    for (size_t i = 0; i < count; i++) {
        int rc = spec_check(&specs[i]);
        if (rc < 0)
            return rc;
        size_bytes += area_bytes(specs[i].kind, specs[i].capacity_pages);
    }
    return (int64_t)size_bytes;
}

static void table_fill(uint8_t *map, const struct ledger_file_spec *specs, size_t count)
{
    uint64_t offset = table_end(count);

    for (size_t i = 0; i < count; i++) {
        struct ledger_file *row = &table_of(map)[i];
        uint64_t bytes = area_bytes(specs[i].kind, specs[i].capacity_pages);

        row->uid = (uint16_t)(i + 1);
        row->incarnation = specs[i].incarnation;
        row->file_id = specs[i].file_id;
        row->database_id = specs[i].database_id;
        row->kind = specs[i].kind;
        row->capacity_pages = specs[i].capacity_pages;
        row->entries_offset = bytes > 0 ? offset : 0;
        memcpy(row->path, specs[i].path, strlen(specs[i].path));
        offset += bytes;
    }
}

static void header_fill(struct ledger_header *header, const struct run_identity *run, uint64_t seed,
                        uint64_t session_start_ns, const uint8_t boot_id[BOOT_ID_BYTES],
                        size_t count)
{
    header->version = LEDGER_VERSION;
    memcpy(header->run_id, run->run_id, RUN_ID_BYTES);
    memcpy(header->boot_id, boot_id, BOOT_ID_BYTES);
    header->seed = seed;
    header->session = 1;
    header->session_start_ns = session_start_ns;
    header->file_count = (uint32_t)count;
    header->compressible = run->compressible;
    header->phase = LEDGER_PHASE_CREATING;
    header->magic = LEDGER_MAGIC;
}

/* All blocks now, 0.2 % of the data: a full disk shows here, not as SIGBUS in the run. */
static int file_make(int fd, size_t size_bytes, uint8_t **map)
{
    int rc = posix_fallocate(fd, 0, (off_t)size_bytes);
    if (rc != 0)
        return -rc;
    return map_file(fd, size_bytes, true, map);
}

int ledger_create(struct ledger **out, const char *path, const struct run_identity *run,
                  uint64_t seed, uint64_t session_start_ns, const uint8_t boot_id[BOOT_ID_BYTES],
                  const struct ledger_file_spec *specs, size_t count)
{
    uint8_t *map = NULL;
    int64_t size = specs_size(specs, count);

    if (size < 0)
        return (int)size;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return -errno;
    int rc = file_make(fd, (size_t)size, &map);
    if (rc == 0) {
        assert(map);
        table_fill(map, specs, count);
        header_fill((struct ledger_header *)(uintptr_t)map, run, seed, session_start_ns, boot_id,
                    count);
        rc = ledger_wrap(out, map, (size_t)size, true, fd);
    }
    if (rc < 0)
        unlink(path);
    close(fd);
    return rc;
}

/* A clean mark of the last session must not stand on disk beside entries of this one. */
static int mark_open(struct ledger *ledger)
{
    assert(ledger);
    ledger_header_of(ledger)->clean = 0;
    return msync(ledger->map, MAP_PAGE_BYTES, MS_SYNC) < 0 ? -errno : 0;
}

static int open_mapped(struct ledger **out, int fd, bool writable, const char **reason)
{
    uint8_t *map = NULL;
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || st.st_size < (off_t)MAP_PAGE_BYTES) {
        *reason = S_ISREG(st.st_mode) ? "shorter than its header" : "not a regular file";
        return -EBADMSG;
    }
    int rc = map_file(fd, (size_t)st.st_size, writable, &map);
    if (rc < 0)
        return rc;
    assert(map);
    rc = ledger_validate(map, (size_t)st.st_size, reason);
    if (rc < 0) {
        munmap(map, (size_t)st.st_size);
        return rc;
    }
    return ledger_wrap(out, map, (size_t)st.st_size, writable, fd);
}

int ledger_open(struct ledger **out, const char *path, bool writable, const char **reason)
{
    struct ledger *ledger = NULL;

    *reason = NULL;
    /* O_NONBLOCK: a FIFO must not hang the check that it is a file. */
    int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    int rc = open_mapped(&ledger, fd, writable, reason);
    close(fd);
    if (rc == 0 && writable)
        rc = mark_open(ledger);
    if (rc < 0) {
        ledger_close(ledger, false);
        return rc;
    }
    *out = ledger;
    return 0;
}

void ledger_close(struct ledger *ledger, bool clean)
{
    if (!ledger)
        return;
    if (ledger->writable && clean && msync(ledger->map, ledger->size_bytes, MS_SYNC) == 0) {
        ledger_header_of(ledger)->content_xxh3 = content_hash(ledger->map, ledger->size_bytes);
        ledger_header_of(ledger)->clean = 1;
        msync(ledger->map, MAP_PAGE_BYTES, MS_SYNC);
    }
    munmap(ledger->map, ledger->size_bytes);
    write_order_free(ledger->order);
    free(ledger);
}

struct ledger_header *ledger_header_of(struct ledger *ledger)
{
    return (struct ledger_header *)(uintptr_t)ledger->map;
}

struct ledger_file *ledger_file_at(struct ledger *ledger, uint16_t uid)
{
    if (uid == 0 || uid > ledger->file_count)
        return NULL;
    return &table_of(ledger->map)[uid - 1];
}

bool ledger_believed(const struct ledger *ledger, const uint8_t boot_id[BOOT_ID_BYTES])
{
    const struct ledger_header *header = (const void *)ledger->map;
    return ledger->was_clean || memcmp(header->boot_id, boot_id, BOOT_ID_BYTES) == 0;
}
