/*
 * iov.h - the arithmetic of scatter/gather lists, in one place.
 *
 * Positions count bytes from the start of the list.  Pure; any thread; nothing is allocated.
 */
#ifndef SIM_IOV_H
#define SIM_IOV_H

#include <stddef.h>
#include <sys/uio.h>

size_t iov_bytes(const struct iovec *iov, unsigned count);
/* The part [from, from + size_bytes) as a list of its own (out has room for count); its length.
 * The part must lie inside the list. */
unsigned iov_slice(struct iovec *out, const struct iovec *iov, unsigned count, size_t from,
                   size_t size_bytes);
/* Copy out of and into the memory that the list describes. */
void iov_copy_from(void *to, const struct iovec *iov, unsigned count, size_t from,
                   size_t size_bytes);
void iov_copy_to(const struct iovec *iov, unsigned count, size_t from, const void *data,
                 size_t size_bytes);

#endif
