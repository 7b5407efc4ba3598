/*
 * evidence.c - what an event looked like, as a text and images; see evidence.h.
 *
 * The text says what was known and what was read, in the words of the field; the images follow in
 * hex, so that it can be handed on as it is.  Fields that only the writer knew are left out of the
 * comparison when nothing tells them (evidence_image.h), and the text says so.
 */
#include "sim/evidence.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/paths.h"
#include "sim/evidence_image.h"
#include "sim/evidence_where.h"
#include "sim/finding_sql.h"
#include "verify/ledger.h"

#define NAME_FILE_CHARS     60 /* of the file's name in the evidence's name */
#define HEX_BYTES           16 /* of a line */
#define TIME_TEXT_BYTES     64
#define EVIDENCE_SUFFIX_MAX 16 /* "-expected.bin" */

/* ---- names ---- */

/* NNNNN-class-file-page, without characters that a shell or another system would mind. */
static void stem_make(const struct finding *finding, char *out, size_t out_size_bytes)
{
    char file[NAME_FILE_CHARS + 1];
    snprintf(file, sizeof file, "%.*s", NAME_FILE_CHARS, path_last_name(finding->file));
    for (char *c = file; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_' && *c != '-')
            *c = '_';
    const char *class = verdict_info(finding->verdict)->name;
    if (finding->has_page)
        snprintf(out, out_size_bytes, "%05u-%s-%s-%" PRIu32, finding->number, class, file,
                 finding->page_no);
    else
        snprintf(out, out_size_bytes, "%05u-%s-%s-at-%" PRIu64, finding->number, class, file,
                 finding->offset);
}

/* ---- the facts ---- */

static void write_place(FILE *out, const struct finding *finding)
{
    const struct verdict_info *info = verdict_info(finding->verdict);
    fprintf(out, "pagestorm evidence 1\n\nevent            %u\n", finding->number);
    fprintf(out, "class            %s (severity %s, blame %s", info->name,
            severity_name(info->severity), blame_name(info->blame));
    fprintf(out, info->sql_error ? ", SQL Server %d)\n" : ")\n", info->sql_error);
    fprintf(out, "meaning          %s\n", info->sentence);
    fprintf(out, "file             %s (file uid %u)\n", finding->file, finding->file_uid);
    if (finding->has_page)
        fprintf(out, "page             %" PRIu32 "\n", finding->page_no);
    fprintf(out, "offset           byte %" PRIu64 " of the file, %" PRIu64 " bytes\n",
            finding->offset, finding->size_bytes);
}

static void write_times(FILE *out, struct ledger *ledger, const struct finding *finding)
{
    char utc[TIME_TEXT_BYTES], local[TIME_TEXT_BYTES];
    evidence_time_text(finding->found_ns, true, utc, sizeof utc);
    evidence_time_text(finding->found_ns, false, local, sizeof local);
    fprintf(out, "found            %s (local %s) by %s\n", utc, local,
            finding->actor[0] ? finding->actor : "the coordinator");
    if (!finding->has_page || !ledger || !finding->why.generation_expected)
        return;
    uint64_t start_ns = ledger_header_of(ledger)->session_start_ns;
    evidence_time_text(start_ns + finding->written_s * NS_PER_S, true, utc, sizeof utc);
    fprintf(out, "last good write  %s, to 8 s, of a change by actor %u\n", utc, finding->writer);
}

static void write_origin(FILE *out, const struct finding *finding)
{
    const struct explanation *why = &finding->why;
    if (why->has_origin)
        fprintf(out, "origin           %spage %" PRIu32 " of file uid %u, generation %" PRIu64 "\n",
                why->origin_other_run ? "of another run: " : "", why->origin_page_no,
                why->origin_file_uid, why->origin_generation);
    if (finding->paired)
        fprintf(out, "other end        %s page %" PRIu32 ", generation %" PRIu64 "\n",
                finding->other_file, finding->other_page_no, finding->other_generation);
    if (why->damaged_bits)
        fprintf(out, "damaged bits     %u\n", why->damaged_bits);
    if (why->damaged_bits && why->first_bad_offset >= 0)
        fprintf(out, "first bad byte   %d of the page\n", why->first_bad_offset);
}

/* The letters that occur, once each. */
static void write_sectors(FILE *out, const char *sectors)
{
    char told[PAGE_SECTORS + 1] = "";
    size_t count = 0;
    if (!sectors[0])
        return;
    fprintf(out, "sectors          %s (16 of 512 bytes)\n", sectors);
    for (const char *c = sectors; *c; c++) {
        if (memchr(told, *c, count))
            continue;
        told[count++] = *c;
        fprintf(out, "                 %c = %s\n", *c, sector_state_text((enum sector_state) * c));
    }
}

static void write_looks(FILE *out, const struct finding *finding)
{
    if (finding->error)
        fprintf(out, "error            %d, %s\n", finding->error, strerror(finding->error));
    fprintf(out, "re-reads         %u", finding->retries);
    if (finding->retries)
        fprintf(out, ", %u of them with the same wrong content, %s", finding->agreed,
                finding->healed ? "the last one was right" : "none was right");
    fprintf(out, "\n");
    if (finding->heal_ns)
        fprintf(out, "right after      %.3f ms\n", (double)finding->heal_ns / NS_PER_MS);
    if (finding->detail[0])
        fprintf(out, "detail           %s\n", finding->detail);
}

/* In a paragraph of its own: it may be copied. */
static void write_sql(FILE *out, const struct finding *finding)
{
    char text[FINDING_SQL_TEXT_MAX];
    finding_sql_text(finding, text);
    if (text[0])
        fprintf(out, "\nSQL Server would have written:\n%s\n", text);
}

static void write_facts(FILE *out, const struct evidence_sources *sources,
                        const struct finding *finding)
{
    write_place(out, finding);
    evidence_write_place(out, finding, sources->place);
    if (finding->why.generation_expected || finding->why.generation_found)
        fprintf(out,
                "generation       %" PRIu64 " expected, %" PRIu64
                " found (0: none could be read)\n",
                finding->why.generation_expected, finding->why.generation_found);
    write_times(out, sources->ledger, finding);
    write_origin(out, finding);
    write_sectors(out, finding->why.sectors);
    write_looks(out, finding);
    write_sql(out, finding);
    evidence_write_history(out, finding, sources->clock, sources->histories);
}

/* ---- images ---- */

static void write_hex(FILE *out, const char *title, const void *image, size_t size_bytes)
{
    const uint8_t *bytes = image;
    size_t shown = size_bytes < EVIDENCE_BYTES_MAX ? size_bytes : EVIDENCE_BYTES_MAX;
    fprintf(out, "\n%s (%zu bytes)\n", title, size_bytes);
    for (size_t at = 0; at < shown; at += HEX_BYTES)
        evidence_hex_line(out, bytes, at, shown - at < HEX_BYTES ? shown - at : HEX_BYTES);
    if (shown < size_bytes)
        fprintf(out, "... %zu more bytes: see the .bin file\n", size_bytes - shown);
}

static void write_difference_line(FILE *out, const uint8_t *read, const uint8_t *other, size_t at,
                                  size_t count)
{
    fprintf(out, "%04zx ", at);
    for (size_t i = 0; i < count; i++)
        fprintf(out, read[at + i] == other[at + i] ? " .." : " %02x",
                (unsigned)(read[at + i] ^ other[at + i]));
    fprintf(out, "\n");
}

/* Lines of read XOR other, from byte `from` on. */
static void write_differences(FILE *out, const char *title, const uint8_t *read,
                              const uint8_t *other, size_t from, size_t size_bytes)
{
    size_t different = 0, lines = 0, left_out = 0;
    for (size_t at = from; at < size_bytes; at++)
        different += read[at] != other[at];
    fprintf(out, "\n%s: %zu bytes differ\n", title, different);
    for (size_t at = from; at < size_bytes; at += HEX_BYTES) {
        size_t count = size_bytes - at < HEX_BYTES ? size_bytes - at : HEX_BYTES;
        if (memcmp(read + at, other + at, count) == 0)
            continue;
        if (lines++ < EVIDENCE_LINES_MAX)
            write_difference_line(out, read, other, at, count);
        else
            left_out++;
    }
    if (left_out)
        fprintf(out, "... %zu more lines differ\n", left_out);
}

/* What all parts of an event's evidence are made from. */
struct images {
    const struct finding_images *given;
    bool has_expected;
    size_t compared_from;
    uint8_t expected[PAGE_BYTES];
};

static void write_expected(FILE *out, const struct images *images)
{
    size_t from = images->compared_from;
    if (!images->has_expected)
        return;
    if (from)
        fprintf(out,
                "\nThe LSN, write time and checksums of the expected image are known to its "
                "writer only:\nthey are left blank, and bytes 0-%zu are not compared.\n",
                from - 1);
    write_hex(out, "expected image", images->expected, PAGE_BYTES);
    if (images->given->read_image)
        write_differences(out, "expected XOR read", images->given->read_image, images->expected,
                          from, PAGE_BYTES);
}

static void write_images(FILE *out, const struct images *images)
{
    const struct finding_images *given = images->given;
    if (!given)
        return;
    if (given->read_image)
        write_hex(out, "image as it was read first", given->read_image, given->size_bytes);
    if (given->read_image && given->last_image)
        write_differences(out, "first read XOR last wrong read", given->read_image,
                          given->last_image, 0, given->size_bytes);
    if (given->read_image && given->good_image)
        write_differences(out, "first read XOR the right one", given->read_image, given->good_image,
                          0, given->size_bytes);
    write_expected(out, images);
}

/* ---- files ---- */

static int directory_open(const char *directory)
{
    if (mkdir(directory, 0755) && errno != EEXIST)
        return -errno;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int file_open(int directory, const char *name)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    return fd < 0 ? -errno : fd;
}

/* Everything through the stream reached the disk? Closes it. */
static int stream_finish(FILE *out)
{
    int error = 0;
    if (fflush(out) || ferror(out))
        error = errno ? -errno : -EIO;
    else if (fsync(fileno(out)))
        error = -errno;
    if (fclose(out) && !error)
        error = -errno;
    return error;
}

static int stream_open(int directory, const char *name, FILE **out)
{
    int fd = file_open(directory, name);
    if (fd < 0)
        return fd;
    *out = fdopen(fd, "w");
    if (*out)
        return 0;
    close(fd);
    return -ENOMEM;
}

static int text_write(int directory, const char *name, const struct evidence_sources *sources,
                      const struct finding *finding, const struct images *images)
{
    FILE *out = NULL;
    int error = stream_open(directory, name, &out);
    if (error)
        return error;
    write_facts(out, sources, finding);
    write_images(out, images);
    return stream_finish(out);
}

static int image_write(int directory, const char *name, const void *image, size_t size_bytes)
{
    FILE *out = NULL;
    int error = stream_open(directory, name, &out);
    if (error)
        return error;
    fwrite(image, 1, size_bytes, out);
    return stream_finish(out);
}

struct image_file {
    const char *suffix;
    const void *image; /* NULL: there is none */
    size_t size_bytes;
};

#define IMAGE_FILES 4

/* What goes into files of their own: .bin first, then those that differ in kind. */
static void image_files(const struct images *images, struct image_file out[IMAGE_FILES])
{
    static const struct finding_images none = {.size_bytes = 0};
    const struct finding_images *given = images->given ? images->given : &none;
    out[0] = (struct image_file){".bin", given->read_image, given->size_bytes};
    out[1] = (struct image_file){"-last.bin", given->last_image, given->size_bytes};
    out[2] = (struct image_file){"-good.bin", given->good_image, given->size_bytes};
    out[3] = (struct image_file){"-expected.bin", images->has_expected ? images->expected : NULL,
                                 PAGE_BYTES};
}

static void name_of(char name[FINDING_EVIDENCE_MAX], const char *stem, const char *suffix)
{
    snprintf(name, FINDING_EVIDENCE_MAX, "%.*s%s", FINDING_EVIDENCE_MAX - EVIDENCE_SUFFIX_MAX - 1,
             stem, suffix);
}

static void files_remove(int directory, const char *stem, const struct image_file *files)
{
    char name[FINDING_EVIDENCE_MAX];
    for (unsigned i = 0; i < IMAGE_FILES; i++) {
        name_of(name, stem, files[i].suffix);
        if (files[i].image)
            unlinkat(directory, name, 0);
    }
    name_of(name, stem, ".txt");
    unlinkat(directory, name, 0);
}

static int files_write(int directory, const char *stem, const struct evidence_sources *sources,
                       struct finding *finding, const struct images *images)
{
    char name[FINDING_EVIDENCE_MAX];
    struct image_file files[IMAGE_FILES];
    int error = 0;
    image_files(images, files);
    for (unsigned i = 0; i < IMAGE_FILES && !error; i++) {
        name_of(name, stem, files[i].suffix);
        if (files[i].image)
            error = image_write(directory, name, files[i].image, files[i].size_bytes);
    }
    name_of(finding->evidence, stem, ".txt");
    if (!error)
        error = text_write(directory, finding->evidence, sources, finding, images);
    if (!error && fsync(directory))
        error = -errno;
    if (error)
        files_remove(directory, stem, files);
    return error;
}

int evidence_write(const struct evidence_sources *sources, struct finding *finding,
                   const struct finding_images *images)
{
    char stem[FINDING_EVIDENCE_MAX - EVIDENCE_SUFFIX_MAX];
    struct images all = {.given = images};
    stem_make(finding, stem, sizeof stem);
    all.has_expected = images && evidence_expected(sources->ledger, finding, images, all.expected,
                                                   &all.compared_from);
    int fd = directory_open(sources->directory);
    if (fd < 0)
        return fd;
    int error = files_write(fd, stem, sources, finding, &all);
    close(fd);
    return error;
}
