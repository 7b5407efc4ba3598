/* sweep.c - see sweep.h. */
#include "patterns/sweep.h"

void sweep_init(struct sweep *sweep, uint64_t seed, uint64_t purpose, unsigned index)
{
    *sweep = (struct sweep){.placed = false};
    rng_split(&sweep->rng, seed, purpose, index);
}

static uint64_t all_pages(const struct pattern_view *view)
{
    uint64_t total_pages = 0;

    for (unsigned i = 0; i < view->file_count; i++)
        total_pages += view->files[i].size_pages;
    return total_pages;
}

static void place(struct sweep *sweep, const struct pattern_view *view, uint64_t total_pages)
{
    uint64_t at = rng_below(&sweep->rng, total_pages);

    sweep->file = 0;
    while (at >= view->files[sweep->file].size_pages)
        at -= view->files[sweep->file++].size_pages;
    sweep->page = (uint32_t)at;
    sweep->began_ns = view->now_ns;
    sweep->placed = true;
}

/* When the page after taken_pages of total_pages is due. */
static uint64_t due_ns(const struct sweep *sweep, uint64_t period_ns, uint64_t total_pages)
{
    const double part = (double)sweep->taken_pages / (double)total_pages;

    return sweep->began_ns + (uint64_t)((double)period_ns * part);
}

static void next_round(struct sweep *sweep, uint64_t now_ns, uint64_t period_ns)
{
    const uint64_t due = sweep->began_ns + period_ns;

    sweep->began_ns = due > now_ns ? due : now_ns;
    sweep->taken_pages = 0;
}

/* The files may have changed since the last call; there are pages. */
static void step_into_file(struct sweep *sweep, const struct pattern_view *view)
{
    while (sweep->file >= view->file_count || sweep->page >= view->files[sweep->file].size_pages) {
        sweep->file = sweep->file + 1 < view->file_count ? sweep->file + 1 : 0;
        sweep->page = 0;
    }
}

bool sweep_take(struct sweep *sweep, const struct pattern_view *view, uint64_t period_ns,
                uint32_t slice_pages, struct op *out)
{
    const uint64_t total_pages = all_pages(view);

    if (total_pages == 0)
        return false;
    if (!sweep->placed)
        place(sweep, view, total_pages);
    if (sweep->taken_pages >= total_pages)
        next_round(sweep, view->now_ns, period_ns);

    const uint64_t due = due_ns(sweep, period_ns, total_pages);

    if (due > view->now_ns) {
        *out = (struct op){.kind = OP_THINK, .think_ns = (int64_t)(due - view->now_ns)};
        return true;
    }
    step_into_file(sweep, view);
    const uint32_t room = view->files[sweep->file].size_pages - sweep->page;
    const uint64_t left = total_pages - sweep->taken_pages;
    const uint32_t most = room < left ? room : (uint32_t)left;

    out->file = sweep->file;
    out->first_page = sweep->page;
    out->page_count = slice_pages < most ? slice_pages : most;
    sweep->page += out->page_count;
    sweep->taken_pages += out->page_count;
    return true;
}
