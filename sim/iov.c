/* iov.c - the arithmetic of scatter/gather lists. */
#include "sim/iov.h"

#include <assert.h>
#include <string.h>

size_t iov_bytes(const struct iovec *iov, unsigned count)
{
    size_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += iov[i].iov_len;
    return sum;
}

/* Walks the pieces of one part of a list. */
struct walk {
    const struct iovec *iov;
    unsigned left;
    size_t skip;
    size_t bytes;
};

static struct iovec next_piece(struct walk *walk)
{
    while (walk->left > 0 && walk->skip >= walk->iov->iov_len) {
        walk->skip -= walk->iov->iov_len;
        walk->iov++;
        walk->left--;
    }
    assert(walk->left > 0);
    size_t size = walk->iov->iov_len - walk->skip;
    if (size > walk->bytes)
        size = walk->bytes;
    struct iovec piece = {(char *)walk->iov->iov_base + walk->skip, size};
    walk->skip += size;
    walk->bytes -= size;
    return piece;
}

unsigned iov_slice(struct iovec *out, const struct iovec *iov, unsigned count, size_t from,
                   size_t size_bytes)
{
    struct walk walk = {iov, count, from, size_bytes};
    unsigned n = 0;
    while (walk.bytes > 0)
        out[n++] = next_piece(&walk);
    return n;
}

void iov_copy_from(void *to, const struct iovec *iov, unsigned count, size_t from,
                   size_t size_bytes)
{
    struct walk walk = {iov, count, from, size_bytes};
    for (char *at = to; walk.bytes > 0;) {
        struct iovec piece = next_piece(&walk);
        memcpy(at, piece.iov_base, piece.iov_len);
        at += piece.iov_len;
    }
}

void iov_copy_to(const struct iovec *iov, unsigned count, size_t from, const void *data,
                 size_t size_bytes)
{
    struct walk walk = {iov, count, from, size_bytes};
    for (const char *at = data; walk.bytes > 0;) {
        struct iovec piece = next_piece(&walk);
        memcpy(piece.iov_base, at, piece.iov_len);
        at += piece.iov_len;
    }
}
