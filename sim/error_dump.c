/*
 * error_dump.c - see error_dump.h.
 *
 * The three checksums are SQLIOSim's: Expected stood in the page that was written, Received in the
 * page as it was read, Calculated is over the page as it was read; which of them agree says what
 * kind of damage it is.
 */
#include "sim/error_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/evidence_image.h"
#include "verify/checksum.h"

#define STEM          "SqlSimErrorDump"
#define SUFFIX        ".txt"
#define DIGITS_MIN    5
#define HEX_BYTES     16 /* of a line */
#define RANGE_BYTES   16 /* shown of a range that differs */
#define TIME_TEXT_MAX 80

struct dump {
    FILE *out;
    struct ledger *ledger;
    const struct finding *finding;
    const uint8_t *written, *read; /* NULL: there is none */
    size_t size_bytes;
    size_t compared_from; /* what stands before is known to the writer alone */
    bool is_page;
};

/* ---- what happened ---- */

static void write_time(FILE *out, const char *what, uint64_t realtime_ns)
{
    char utc[TIME_TEXT_MAX], local[TIME_TEXT_MAX];
    evidence_time_text(realtime_ns, true, utc, sizeof utc);
    evidence_time_text(realtime_ns, false, local, sizeof local);
    fprintf(out, "%-17s%s (local time %s)\n", what, utc, local);
}

static void write_event(const struct dump *dump, unsigned number)
{
    const struct finding *finding = dump->finding;
    const struct verdict_info *info = verdict_info(finding->verdict);
    char line[FINDING_FILE_MAX + FINDING_DETAIL_MAX];
    finding_line(finding, line, sizeof line);
    fprintf(dump->out, "Error dump       %u, of event %u, class %s\n", number, finding->number,
            info->name);
    fprintf(dump->out, "What happened    %s\n", line);
    fprintf(dump->out, "Meaning          %s\n", info->sentence);
    fprintf(dump->out, "File             %s (file uid %u)\n", finding->file, finding->file_uid);
    if (finding->has_page)
        fprintf(dump->out, "Page             %" PRIu32 " (0x%08" PRIx32 ")\n", finding->page_no,
                finding->page_no);
    fprintf(dump->out, "Offset           %" PRIu64 " (0x%" PRIx64 "), %" PRIu64 " bytes\n",
            finding->offset, finding->offset, finding->size_bytes);
    fprintf(dump->out, "Found by         %s\n", finding->actor[0] ? finding->actor : "the run");
    write_time(dump->out, "Found", finding->found_ns);
    if (finding->has_page && dump->ledger && finding->why.generation_expected)
        write_time(dump->out, "Written (to 8 s)",
                   ledger_header_of(dump->ledger)->session_start_ns +
                       finding->written_s * NS_PER_S);
    fprintf(dump->out, "Re-reads         %u", finding->retries);
    if (finding->retries)
        fprintf(dump->out, ", %u of them with the same wrong content, %s", finding->agreed,
                finding->healed ? "the last one was right" : "none was right");
    fputc('\n', dump->out);
}

/* ---- checksums ---- */

static const char *reading_of(bool same_stored, bool same_calculated)
{
    if (same_stored && same_calculated)
        return "all agree: what differs cancels out in this checksum, or lies beyond it";
    if (same_stored)
        return "the header is the expected one and the content is damaged (torn, decayed, "
               "partly written)";
    if (same_calculated)
        return "the page is whole, and not the one that was expected: an older version of it "
               "(lost write, stale read) or another page";
    return "header and content are damaged, or these are not this program's bytes";
}

static uint32_t stored_checksum(const uint8_t *page)
{
    return page_header_of(page)->torn_bits;
}

static void write_checksums(const struct dump *dump)
{
    FILE *out = dump->out;
    bool knows = dump->written && dump->compared_from == 0;
    if (!dump->read || !dump->is_page)
        return;
    uint32_t received = stored_checksum(dump->read);
    uint32_t calculated = sector_fold(dump->read, PAGE_BYTES, PAGE_OFFSET_TORN_BITS);
    fputs("\nChecksums\n", out);
    if (knows)
        fprintf(out, "  Expected       0x%08" PRIx32 "  in the page that was written\n",
                stored_checksum(dump->written));
    else
        fputs(
            "  Expected       not known: the last image that was written is no longer in memory\n",
            out);
    fprintf(out, "  Received       0x%08" PRIx32 "  in the page as it was read\n", received);
    fprintf(out, "  Calculated     0x%08" PRIx32 "  over the page as it was read\n", calculated);
    fprintf(
        out, "  That is to say %s\n",
        reading_of(knows && stored_checksum(dump->written) == received, calculated == received));
}

/* ---- header ---- */

static void write_field(const struct dump *dump, const char *name, uint64_t written, uint64_t read)
{
    char text[64] = "-";
    if (dump->written)
        snprintf(text, sizeof text, "0x%" PRIx64 " (%" PRIu64 ")", written, written);
    fprintf(dump->out, "  %-14s %-38s 0x%" PRIx64 " (%" PRIu64 ")%s\n", name, text, read, read,
            dump->written && written != read ? "  differs" : "");
}

static const uint8_t zero_page[PAGE_BYTES];

static void write_header(const struct dump *dump)
{
    if (!dump->read || !dump->is_page)
        return;
    const uint8_t *written = dump->written ? dump->written : zero_page;
    const struct page_header *w = page_header_of(written), *r = page_header_of(dump->read);
    const struct page_stamp *ws = page_stamp_of(written), *rs = page_stamp_of(dump->read);
    fprintf(dump->out, "\nPage header\n  %-14s %-38s %s\n", "", "written", "read");
#define FIELD(name, member) write_field(dump, name, w->member, r->member)
    FIELD("PageId", page_no);
    FIELD("FileId", file_id);
    FIELD("Type", type);
    FIELD("Flags", flags);
    FIELD("LSN log file", lsn_fseq);
    FIELD("LSN block", lsn_block);
    FIELD("LSN record", lsn_slot);
    FIELD("Checksum", torn_bits);
#undef FIELD
    if (ws->magic != PAGE_STAMP_MAGIC && rs->magic != PAGE_STAMP_MAGIC)
        return; /* a system page, or strange bytes */
#define FIELD(name, member) write_field(dump, name, ws->member, rs->member)
    FIELD("Stamp", magic);
    FIELD("Stamp page", page_no);
    FIELD("Stamp file uid", file_uid);
    FIELD("Generation", generation);
    FIELD("Timestamp (ns)", write_time_ns);
    FIELD("Actor", actor);
#undef FIELD
    if (rs->magic == PAGE_STAMP_MAGIC && page_header_crc_ok(dump->read))
        write_time(dump->out, "  Read: written", rs->write_time_ns);
    if (dump->compared_from)
        fputs("  LSN, checksum and time of the written page are known to its writer only\n",
              dump->out);
}

/* ---- differences ---- */

static void write_bytes(FILE *out, const uint8_t *bytes, size_t count)
{
    size_t shown = count < RANGE_BYTES ? count : RANGE_BYTES;
    for (size_t i = 0; i < shown; i++)
        fprintf(out, " %02x", bytes[i]);
    if (shown < count)
        fputs(" ...", out);
}

static void write_range(const struct dump *dump, size_t from, size_t to)
{
    fprintf(dump->out, "  0x%04zx-0x%04zx (%zu bytes)\n    expected", from, to - 1, to - from);
    write_bytes(dump->out, dump->written + from, to - from);
    fputs("\n    received", dump->out);
    write_bytes(dump->out, dump->read + from, to - from);
    fputc('\n', dump->out);
}

static bool differs(const struct dump *dump, size_t at)
{
    return dump->written[at] != dump->read[at];
}

static void write_differences(const struct dump *dump)
{
    size_t bytes = 0, ranges = 0;
    if (!dump->written || !dump->read)
        return;
    fputs("\nDifferences\n", dump->out);
    if (dump->compared_from)
        fprintf(dump->out, "  (the first %zu bytes are not compared)\n", dump->compared_from);
    for (size_t at = dump->compared_from; at < dump->size_bytes; at++) {
        size_t from = at;
        while (at < dump->size_bytes && differs(dump, at))
            at++;
        if (at == from)
            continue;
        bytes += at - from;
        if (ranges++ < ERROR_DUMP_RANGES_MAX)
            write_range(dump, from, at);
    }
    if (ranges > ERROR_DUMP_RANGES_MAX)
        fprintf(dump->out, "  ... and %zu ranges more\n", ranges - ERROR_DUMP_RANGES_MAX);
    fprintf(dump->out, "  %zu bytes differ, in %zu ranges\n", bytes, ranges);
}

/* ---- images ---- */

static void write_image(const struct dump *dump, const char *title, const uint8_t *image)
{
    size_t shown =
        dump->size_bytes < ERROR_DUMP_IMAGE_MAX ? dump->size_bytes : ERROR_DUMP_IMAGE_MAX;
    fprintf(dump->out, "\n%s\n", title);
    if (!image) {
        fputs("  there is none\n", dump->out);
        return;
    }
    for (size_t at = 0; at < shown; at += HEX_BYTES)
        evidence_hex_line(dump->out, image, at, shown - at < HEX_BYTES ? shown - at : HEX_BYTES);
    if (shown < dump->size_bytes)
        fprintf(dump->out, "... %zu more bytes\n", dump->size_bytes - shown);
}

/* ---- the file ---- */

static void write_all(const struct dump *dump, unsigned number)
{
    write_event(dump, number);
    write_checksums(dump);
    write_header(dump);
    write_differences(dump);
    write_image(dump, "Write image (the last one that was acknowledged)", dump->written);
    write_image(dump, "Read image (the first read)", dump->read);
}

static int write_file(const char *path, const struct dump *dump, unsigned number)
{
    struct dump filled = *dump;
    int error = 0;
    filled.out = fopen(path, "wxe");
    if (!filled.out)
        return -errno;
    write_all(&filled, number);
    if (fflush(filled.out) || ferror(filled.out) || fsync(fileno(filled.out)))
        error = errno ? -errno : -EIO;
    if (fclose(filled.out) && !error)
        error = -errno;
    if (error)
        unlink(path);
    return error;
}

int error_dump_write(const char *directory, unsigned number, struct ledger *ledger,
                     const struct finding *finding, const struct finding_images *images,
                     char name[FINDING_DUMP_MAX])
{
    uint8_t expected[PAGE_BYTES];
    struct dump dump = {.ledger = ledger,
                        .finding = finding,
                        .read = images->read_image,
                        .size_bytes = images->size_bytes,
                        .is_page = finding->has_page && images->size_bytes == PAGE_BYTES};
    char *path;
    if (!dump.is_page)
        dump.written = images->expected_image;
    else if (evidence_expected(ledger, finding, images, expected, &dump.compared_from))
        dump.written = expected;
    snprintf(name, FINDING_DUMP_MAX, STEM "%0*u" SUFFIX, DIGITS_MIN, number);
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return -ENOMEM;
    int error = write_file(path, &dump, number);
    free(path);
    return error;
}

bool error_dump_is_name(const char *name)
{
    if (strncmp(name, STEM, strlen(STEM)) != 0)
        return false;
    name += strlen(STEM);
    size_t digits = strspn(name, "0123456789");
    return digits >= DIGITS_MIN && strcmp(name + digits, SUFFIX) == 0;
}
