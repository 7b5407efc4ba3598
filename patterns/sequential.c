/* sequential.c - see sequential.h. */
#include "patterns/sequential.h"

void sequential_init(struct sequential *seq, uint64_t seed, uint64_t purpose, unsigned index)
{
    *seq = (struct sequential){.placed = false};
    rng_split(&seq->rng, seed, purpose, index);
}

bool sequential_pause_due(struct sequential *seq, int64_t delay_after_cycles)
{
    if (delay_after_cycles == 0 || seq->cycles < delay_after_cycles)
        return false;
    seq->cycles = 0;
    return true;
}

uint32_t sequential_draw_pages(struct sequential *seq, int64_t pages_min, int64_t pages_max)
{
    const int64_t pages = rng_range(&seq->rng, pages_min, pages_max);

    return pages > 1 ? (uint32_t)pages : 1;
}

uint64_t sequential_all_pages(const struct pattern_view *view)
{
    uint64_t total_pages = 0;

    for (unsigned i = 0; i < view->file_count; i++)
        total_pages += view->files[i].size_pages;
    return total_pages;
}

static void place(struct sequential *seq, const struct pattern_view *view, uint32_t grain)
{
    const uint64_t total_pages = sequential_all_pages(view);

    if (total_pages == 0)
        return;
    uint64_t at = rng_below(&seq->rng, total_pages);

    seq->file = 0;
    while (at >= view->files[seq->file].size_pages)
        at -= view->files[seq->file++].size_pages;
    seq->page = (uint32_t)(at / grain * grain);
    seq->placed = true;
}

/* Make (file, page) a page that exists, going on to the next file at the end of one, or where one
 * has shrunk; false if no file has pages. */
static bool step_into_file(struct sequential *seq, const struct pattern_view *view)
{
    for (unsigned i = 0; i <= view->file_count; i++) {
        if (seq->file < view->file_count && seq->page < view->files[seq->file].size_pages)
            return true;
        seq->file = seq->file + 1 < view->file_count ? seq->file + 1 : 0;
        seq->page = 0;
    }
    return false;
}

bool sequential_take(struct sequential *seq, const struct pattern_view *view, uint32_t cycle_pages,
                     uint32_t grain, struct op *out)
{
    if (!seq->placed)
        place(seq, view, grain);
    if (!step_into_file(seq, view))
        return false;
    if (seq->cycle_left == 0)
        seq->cycle_left = cycle_pages;

    const uint32_t room = view->files[seq->file].size_pages - seq->page;
    const uint32_t count = seq->cycle_left < room ? seq->cycle_left : room;

    out->file = seq->file;
    out->first_page = seq->page;
    out->page_count = count;
    seq->page += count;
    seq->cycle_left -= count;
    if (seq->cycle_left == 0)
        seq->cycles++;
    return true;
}
