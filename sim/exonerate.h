/*
 * exonerate.h - before the storage is blamed for a page: was it another process, or this machine
 * itself, or is the whole device gone?
 *
 * Asked for each finding of severity integrity and io_error before it is recorded (findings.h,
 * consider).  A file that
 * another process wrote to makes it foreign_write.  Otherwise the page is judged a second time by
 * another routine: the owed image is built anew and compared byte by byte with what was read.  If
 * they are the same, or if the image that was wrong and the one that was right are the same bytes,
 * memory or a CPU of this machine erred: memory_changed.  An I/O error (EIO) in a file of which
 * neither the first nor the last page can be read is device_gone, and the run ends.
 *
 * Threads: any.  Cost: of findings only.
 */
#ifndef SIM_EXONERATE_H
#define SIM_EXONERATE_H

struct finding;
struct finding_images;

/* Give the event its right name and words.  run: struct run; images may be NULL. */
void exonerate(void *run, struct finding *event, const struct finding_images *images);

#endif
