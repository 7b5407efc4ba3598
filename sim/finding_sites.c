/* finding_sites.c - see finding_sites.h. */
#include "sim/finding_sites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/findings.h"

int finding_sites_init(struct finding_sites *sites)
{
    memset(sites, 0, sizeof *sites);
    sites->list = calloc(FINDING_SITES_MAX, sizeof *sites->list);
    return sites->list ? 0 : -ENOMEM;
}

void finding_sites_free(struct finding_sites *sites)
{
    free(sites->list);
    memset(sites, 0, sizeof *sites);
}

void finding_sites_add(struct finding_sites *sites, const struct finding *finding,
                       struct page_order order, bool counted)
{
    const struct explanation *why = &finding->why;
    if (!finding->has_page || finding->healed ||
        verdict_info(finding->verdict)->severity != SEVERITY_INTEGRITY)
        return;
    if (sites->count == FINDING_SITES_MAX) {
        sites->beyond[finding->verdict] += counted;
        return;
    }
    sites->list[sites->count++] = (struct finding_site){
        .written = order.written,
        .found_written_ns = why->found_written_ns,
        .number = finding->number,
        .page_no = finding->page_no,
        .origin_page_no = why->origin_page_no,
        .file_uid = finding->file_uid,
        .origin_file_uid = why->origin_file_uid,
        .verdict = (uint8_t)finding->verdict,
        .has_origin = why->has_origin && !why->origin_other_run,
        .all_zero = strspn(why->sectors, "z") == PAGE_SECTORS,
        .none_newest = why->sectors[0] && !strchr(why->sectors, SECTOR_NEW),
        .counted = counted,
    };
}
