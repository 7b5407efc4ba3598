/*
 * page_fill.c - the body generator, and the building of a page image up to the seal.
 *
 * Body version 1, the whole algorithm (all arithmetic modulo 2^64, words little-endian):
 *   key     = XXH3-64 of 16 bytes (page u32, file uid u16, zero u16, generation u64), seed body_key
 *   x(n)    = (key | 1) + n * 0x3C6EF372FE94F82A
 *   word(n) = (low half of x(n)) * (high half of x(n)) XOR (x(n) << 20)
 * Word n of the page, at offset 8 n, is word(n) wherever nothing else stands (header, stamps, end
 * of the row).  Compressible share c (0..10000): the body words of sector s are w = first..last-1
 * of its 64 (24..63 in sector 0, 2..59 in sector 15, else 2..63); with B(s) the number of body
 * words in the sectors before s, the first floor(B(s+1) c / 10000) - floor(B(s) c / 10000) of them
 * are all word(1024 + s).
 *
 * Invariants: frozen with PAGE_BODY_VERSION (golden vectors in tests/golden/page_format.py); every
 * sector can be made alone.  x(n) is odd, so the low half of a word is a bijection of the high half
 * of x(n) and no byte position is biased.  What it does not do: write time, LSN and checksums,
 * which are page_seal's.
 */
#include "verify/page.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "verify/checksum.h"

#define BODY_STEP         0x3C6EF372FE94F82Aull /* twice the golden ratio: odd keys stay odd */
#define BODY_SHIFT        20
#define BODY_BATCH        4 /* words: body_words makes that many at a time */
#define WORD_BYTES        8
#define SECTOR_WORDS      (PAGE_SECTOR_BYTES / WORD_BYTES)
#define PAGE_WORDS        (PAGE_BYTES / WORD_BYTES)
#define FIRST_WORD_PAGE   (PAGE_BODY_OFFSET / WORD_BYTES) /* its first half is the stamp's */
#define FIRST_WORD        (SECTOR_STAMP_BYTES / WORD_BYTES)
#define LAST_SECTOR       (PAGE_SECTORS - 1)
#define LAST_SECTOR_WORDS 60 /* the last of them holds the last byte of the body */

/* What a data page of ours says to tools that read SQL Server's: a heap (idInd 256) with an
 * allocation unit of its own ("PS"). */
#define DATA_INDEX_ID  256
#define DATA_OBJECT_ID 0x5350
#define ROW_STATUS     0x10 /* null bitmap, no variable-length columns */
#define ROW_FIXED_END  (PAGE_ROW_BYTES - 3)
#define ROW_COLUMNS    1

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "structs are the on-disk form");
static_assert(PAGE_BODY_END == PAGE_HEADER_BYTES + ROW_FIXED_END, "the null bitmap ends the row");
static_assert(PAGE_BODY_END - LAST_SECTOR * PAGE_SECTOR_BYTES <= LAST_SECTOR_WORDS * WORD_BYTES &&
                  PAGE_BODY_END - LAST_SECTOR * PAGE_SECTOR_BYTES >
                      (LAST_SECTOR_WORDS - 1) * WORD_BYTES,
              "the body ends in the last word of sector 15");
static_assert(LAST_SECTOR_WORDS % BODY_BATCH == 0 && FIRST_WORD_PAGE % BODY_BATCH == 0,
              "whole batches");

/* Everything that the sectors of one image share. */
struct page_source {
    uint64_t first; /* x(0) */
    uint16_t compressible;
    struct sector_stamper stamper;
};

static struct page_source source_make(const struct run_identity *run,
                                      const struct page_identity *id)
{
    struct {
        uint32_t page_no;
        uint16_t file_uid;
        uint16_t zero;
        uint64_t generation;
    } name = {id->page_no, id->file_uid, 0, id->generation};
    static_assert(sizeof(name) == 16, "no padding is hashed");

    return (struct page_source){
        .first = xxh3_64_seeded(&name, sizeof(name), run->body_key) | 1,
        .compressible = run->compressible,
        .stamper = sector_stamper_make(id->page_no, id->file_uid, run->run_tag, id->generation),
    };
}

static uint64_t body_word(uint64_t x)
{
    return (x & UINT32_MAX) * (x >> 32) ^ x << BODY_SHIFT;
}

/* count (a multiple of BODY_BATCH) words at out, the first from x.  The compilers find the 32-bit
 * multiplication of the vector unit only when told. */
#ifdef __SSE2__
static inline __m128i body_pair(__m128i x)
{
    __m128i product = _mm_mul_epu32(x, _mm_srli_epi64(x, 32));
    return _mm_xor_si128(product, _mm_slli_epi64(x, BODY_SHIFT));
}

static void body_words(uint8_t *out, uint64_t x, unsigned count)
{
    const __m128i pair_step = _mm_set1_epi64x((long long)(2 * BODY_STEP));
    const __m128i batch_step = _mm_set1_epi64x((long long)(BODY_BATCH * BODY_STEP));
    __m128i a = _mm_set_epi64x((long long)(x + BODY_STEP), (long long)x);
    __m128i b = _mm_add_epi64(a, pair_step);

    for (unsigned i = 0; i < count; i += BODY_BATCH) {
        __m128i *at = (__m128i *)(out + (size_t)i * WORD_BYTES);
        _mm_storeu_si128(at, body_pair(a));
        _mm_storeu_si128(at + 1, body_pair(b));
        a = _mm_add_epi64(a, batch_step);
        b = _mm_add_epi64(b, batch_step);
    }
}
#else
static void body_words(uint8_t *out, uint64_t x, unsigned count)
{
    for (unsigned i = 0; i < count; i++, x += BODY_STEP) {
        uint64_t word = body_word(x);
        memcpy(out + (size_t)i * WORD_BYTES, &word, sizeof(word));
    }
}
#endif

/* Body words of a sector. */
static unsigned first_word(unsigned sector)
{
    return sector == 0 ? FIRST_WORD_PAGE : FIRST_WORD;
}

static unsigned end_word(unsigned sector)
{
    return sector == LAST_SECTOR ? LAST_SECTOR_WORDS : SECTOR_WORDS;
}

/* Cumulated, so that a small share is not rounded away in every sector. */
static unsigned compressible_words(unsigned sector, unsigned share)
{
    const unsigned first_count = SECTOR_WORDS - FIRST_WORD_PAGE;
    const unsigned count = SECTOR_WORDS - FIRST_WORD;
    unsigned before = sector == 0 ? 0 : first_count + (sector - 1) * count;
    unsigned after = before + end_word(sector) - first_word(sector);

    return after * share / PAGE_COMPRESSIBLE_MAX - before * share / PAGE_COMPRESSIBLE_MAX;
}

static void flatten(uint8_t *sector_buf, const struct page_source *source, unsigned sector)
{
    uint64_t word = body_word(source->first + (PAGE_WORDS + sector) * BODY_STEP);
    unsigned first = first_word(sector);
    unsigned end = first + compressible_words(sector, source->compressible);

    for (unsigned w = first; w < end; w++)
        memcpy(sector_buf + (size_t)w * WORD_BYTES, &word, sizeof(word));
}

/* What follows the body in sector 15: end of the row, free space, slot array. */
static void end_of_page(uint8_t *sector_buf)
{
    const size_t row_end = PAGE_BODY_END - LAST_SECTOR * PAGE_SECTOR_BYTES;
    const uint16_t columns = ROW_COLUMNS;
    const uint16_t slot = PAGE_HEADER_BYTES;

    memset(sector_buf + row_end, 0, PAGE_SECTOR_BYTES - row_end);
    memcpy(sector_buf + row_end, &columns, sizeof(columns));
    memcpy(sector_buf + PAGE_SECTOR_BYTES - sizeof(slot), &slot, sizeof(slot));
}

static void sector_one_up(uint8_t *sector_buf, const struct page_source *source, unsigned sector)
{
    unsigned n = sector * SECTOR_WORDS;

    body_words(sector_buf, source->first + n * BODY_STEP, end_word(sector));
    if (source->compressible > 0)
        flatten(sector_buf, source, sector);
    sector_stamper_write(&source->stamper, sector_buf, sector);
    if (sector == LAST_SECTOR)
        end_of_page(sector_buf);
}

/* The word that the stamp and the body share is made first and its stamp half put back. */
static void sector_zero(uint8_t *sector_buf, const struct page_source *source)
{
    const size_t word_at = FIRST_WORD_PAGE * WORD_BYTES;
    uint8_t kept[PAGE_BODY_OFFSET % WORD_BYTES];

    memcpy(kept, sector_buf + word_at, sizeof(kept));
    body_words(sector_buf + word_at, source->first + FIRST_WORD_PAGE * BODY_STEP,
               SECTOR_WORDS - FIRST_WORD_PAGE);
    if (source->compressible > 0)
        flatten(sector_buf, source, 0);
    memcpy(sector_buf + word_at, kept, sizeof(kept));
}

static void sql_header(struct page_header *header, const struct page_identity *id)
{
    *header = (struct page_header){
        .header_version = 1,
        .type = PAGE_TYPE_DATA,
        .flags = PAGE_FLAG_CHECKSUM,
        .index_id = DATA_INDEX_ID,
        .pminlen = ROW_FIXED_END,
        .slot_count = 1,
        .object_id = DATA_OBJECT_ID,
        .free_count = PAGE_BYTES - PAGE_HEADER_BYTES - sizeof(uint16_t) - PAGE_ROW_BYTES,
        .free_data = PAGE_HEADER_BYTES + PAGE_ROW_BYTES,
        .page_no = id->page_no,
        .file_id = id->file_id,
    };
}

static void row_start(uint8_t *page)
{
    const uint16_t fixed_end = ROW_FIXED_END;

    page[PAGE_HEADER_BYTES] = ROW_STATUS;
    page[PAGE_HEADER_BYTES + 1] = 0;
    memcpy(page + PAGE_HEADER_BYTES + 2, &fixed_end, sizeof(fixed_end));
}

static void stamp_identity(struct page_stamp *stamp, const struct run_identity *run,
                           const struct page_identity *id, uint16_t actor)
{
    *stamp = (struct page_stamp){
        .magic = PAGE_STAMP_MAGIC,
        .format_version = PAGE_FORMAT_VERSION,
        .body_version = PAGE_BODY_VERSION,
        .compressible = run->compressible,
        .file_uid = id->file_uid,
        .incarnation = id->incarnation,
        .page_no = id->page_no,
        .generation = id->generation,
        .body_seed = run->body_key,
        .actor = actor % PAGE_ACTOR_MODULUS,
    };
    memcpy(stamp->run_id, run->run_id, RUN_ID_BYTES);
}

void page_fill(void *page, const struct run_identity *run, const struct page_identity *id,
               uint16_t actor)
{
    const struct page_source source = source_make(run, id);
    uint8_t *bytes = page;

    sector_zero(bytes, &source);
    for (unsigned sector = 1; sector < PAGE_SECTORS; sector++)
        sector_one_up(bytes + (size_t)sector * PAGE_SECTOR_BYTES, &source, sector);
    sql_header(page, id);
    row_start(bytes);
    stamp_identity((struct page_stamp *)(bytes + PAGE_STAMP_OFFSET), run, id, actor);
}

void page_regenerate_sector(void *sector_buf, const struct run_identity *run,
                            const struct page_identity *id, unsigned sector)
{
    const struct page_source source = source_make(run, id);

    assert(sector < PAGE_SECTORS);
    if (sector == 0)
        sector_zero(sector_buf, &source);
    else
        sector_one_up(sector_buf, &source, sector);
}
