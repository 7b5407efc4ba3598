/*
 * finding_line.c - an event as one line for people.
 *
 * The line is built from what the event holds, never from its class, so that a new class needs
 * nothing here: name, place, generations, origin, other end, error, damage, re-reads, SQL Server's
 * number for the same thing.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/findings.h"

struct line {
    char *out;
    size_t size_bytes, used;
    unsigned facts;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *line, const char *format, ...)
{
    if (line->used + 1 >= line->size_bytes)
        return;
    va_list arguments;
    va_start(arguments, format);
    int length =
        vsnprintf(line->out + line->used, line->size_bytes - line->used, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->used += (size_t)length;
    if (line->used >= line->size_bytes)
        line->used = line->size_bytes - 1;
}

/* ": " before the first fact, "; " before the others. */
static void fact(struct line *line)
{
    add(line, "%s", line->facts++ ? "; " : ": ");
}

static void add_name(struct line *line, enum verdict verdict)
{
    for (const char *c = verdict_info(verdict)->name; *c; c++)
        add(line, "%c", *c == '_' ? ' ' : toupper((unsigned char)*c));
}

static void add_place(struct line *line, const struct finding *finding)
{
    add(line, " %s", finding->file);
    if (finding->has_page)
        add(line, " page %" PRIu32, finding->page_no);
    if (finding->has_page || finding->offset)
        add(line, " (byte offset %" PRIu64 ")", finding->offset);
}

static void add_content(struct line *line, const struct finding *finding)
{
    const struct explanation *why = &finding->why;
    if (why->generation_found && why->generation_found != why->generation_expected) {
        fact(line);
        add(line, "generation %" PRIu64 " read, %" PRIu64 " was acknowledged",
            why->generation_found, why->generation_expected);
    }
    if (why->has_origin) {
        fact(line);
        add(line, "the content is %spage %" PRIu32 " of file uid %u, generation %" PRIu64,
            why->origin_other_run ? "another run's " : "", why->origin_page_no,
            why->origin_file_uid, why->origin_generation);
    }
    if (why->has_shift && why->shift_bytes % PAGE_BYTES != 0) {
        fact(line);
        add(line, "it stands %" PRId64 " bytes %s its own place",
            why->shift_bytes < 0 ? -why->shift_bytes : why->shift_bytes,
            why->shift_bytes < 0 ? "before" : "behind");
    }
    if (why->origin_is_log) {
        fact(line);
        add(line, "the content is a log block, VLF sequence %" PRIu32 ", block %" PRIu32,
            why->origin_fseq, why->origin_block);
    }
    if (why->damaged_bits) {
        fact(line);
        add(line, "%u bit%s differ%s", why->damaged_bits, why->damaged_bits == 1 ? "" : "s",
            why->damaged_bits == 1 ? "s" : "");
        if (why->first_bad_offset >= 0)
            add(line, " from byte %d of the page on", why->first_bad_offset);
    }
}

static void add_other_end(struct line *line, const struct finding *finding)
{
    if (!finding->paired)
        return;
    fact(line);
    add(line, "the other end is %s page %" PRIu32, finding->other_file, finding->other_page_no);
}

static void add_looks(struct line *line, const struct finding *finding)
{
    if (!finding->retries)
        return;
    fact(line);
    if (finding->healed)
        add(line, "re-read %u was right", finding->retries);
    else
        add(line, "%u re-read%s, none right", finding->retries, finding->retries == 1 ? "" : "s");
}

void finding_line(const struct finding *finding, char *out, size_t out_size_bytes)
{
    const struct verdict_info *info = verdict_info(finding->verdict);
    struct line line = {.out = out, .size_bytes = out_size_bytes};
    if (out_size_bytes == 0)
        return;
    out[0] = '\0';
    add_name(&line, finding->verdict);
    add_place(&line, finding);
    add_content(&line, finding);
    add_other_end(&line, finding);
    add_looks(&line, finding);
    /* The generations and the system's words need no second telling. */
    if (finding->detail[0] &&
        !(finding->why.generation_found && !finding->error &&
          finding->why.generation_found != finding->why.generation_expected)) {
        fact(&line);
        add(&line, "%s", finding->detail);
    }
    if (!line.facts) {
        fact(&line);
        add(&line, "%s", info->sentence);
    }
    if (info->sql_error)
        add(&line, " (SQL Server: %d)", info->sql_error);
}
