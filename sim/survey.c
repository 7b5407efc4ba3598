/* survey.c - see survey.h. */
#include "sim/survey.h"

static bool is_wanted(enum verdict verdict)
{
    return verdict == VERDICT_lost_write || verdict == VERDICT_replayed_write ||
           verdict == VERDICT_misdirected_write || verdict == VERDICT_zeroed ||
           verdict == VERDICT_torn_page;
}

static void look_at(struct run *run, struct page_reader *reader, struct data_file *file,
                    uint32_t page_no, const uint8_t *image)
{
    uint16_t uid = file->file.mark.file_uid;
    struct ledger_view view = ledger_view(run->ledger, uid, page_no);
    if (view.state != LEDGER_QUIET)
        return; /* in doubt, or its event stands */
    struct expectation expect = page_expectation(reader, file, page_no, view);
    if (explain_is_right(image, &expect))
        return;
    struct finding finding = {.file_uid = uid, .has_page = true, .page_no = page_no};
    explain(image, 0, &expect, &finding.why);
    finding.verdict = finding.why.verdict;
    if (is_wanted(finding.verdict))
        finding_sites_add(&run->findings.sites, &finding, ledger_order(run->ledger, uid, page_no),
                          false);
}

static void survey_file(struct run *run, struct page_reader *reader, struct data_file *file,
                        uint8_t *buffer, uint32_t *pages_left)
{
    uint32_t size = file->file.size_pages;
    for (uint32_t first = 0; first<size && * pages_left> 0; first += SURVEY_CHUNK_PAGES) {
        uint32_t count = size - first < SURVEY_CHUNK_PAGES ? size - first : SURVEY_CHUNK_PAGES;
        count = count < *pages_left ? count : *pages_left;
        *pages_left -= count;
        if (run_interrupted(run))
            return;
        struct iovec iov = {buffer, (size_t)count * PAGE_BYTES};
        struct io_req req = {.op = IO_READ,
                             .stream = STREAM_pairing_read,
                             .target = &file->file.target,
                             .offset = (uint64_t)first * PAGE_BYTES,
                             .iov = &iov,
                             .iov_count = 1};
        if (io_run(&run->io, &req) == 0)
            for (uint32_t i = 0; i < count; i++)
                look_at(run, reader, file, first + i, buffer + (size_t)i * PAGE_BYTES);
        run_step_done(run, count);
    }
}

void survey_pages(struct run *run, struct page_reader *reader, uint8_t *buffer, uint32_t pages_max)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < run->file_count; i++)
        pages += run->files[i]->file.size_pages;
    run_step(run, "looking for more pages like the one that ended the run",
             pages < pages_max ? pages : pages_max);
    for (unsigned i = 0; i < run->file_count; i++)
        survey_file(run, reader, run->files[i], buffer, &pages_max);
    run_step(run, NULL, 0);
}
