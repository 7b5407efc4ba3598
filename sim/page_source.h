/* page_source.h - pages of the files in question, for who looks at them at the end.  One thread. */
#ifndef SIM_PAGE_SOURCE_H
#define SIM_PAGE_SOURCE_H

#include <stdint.h>

struct page_source {
    /* Reads one page (aligned); 0 or -errno. */
    int (*read)(void *context, uint16_t file_uid, uint32_t page_no, void *page);
    uint32_t (*pages)(void *context, uint16_t file_uid); /* of the file; 0: there is none */
    void *context;
};

#endif
