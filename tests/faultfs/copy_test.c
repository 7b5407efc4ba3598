/*
 * copy_test.c - without rules the file system is a plain copy: random operations in it, each read
 * compared with a copy in memory.
 *
 *   faultfs_copy DIRECTORY OPERATIONS SEED THREADS BACKING
 *
 * Each thread has a file of its own, opened with O_DIRECT or through the page cache in turn.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_BYTES (1u << 20)
#define BLOCK      512u
#define RUN_BYTES  (64u << 10)

struct copy {
    const char *directory;
    unsigned number;
    uint64_t operations, done, random;
    char path[256];
    int fd;
    unsigned flags;
    size_t size;
    unsigned char *bytes, *buffer;
};

static uint64_t next(struct copy *copy)
{
    copy->random = copy->random * 6364136223846793005u + 1442695040888963407u;
    return copy->random >> 33;
}

static void demand(const struct copy *copy, int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: operation %ju: %s: %s\n", copy->path, (uintmax_t)copy->done, what,
            strerror(errno));
    exit(1);
}

static void open_again(struct copy *copy, unsigned flags)
{
    if (copy->fd >= 0)
        demand(copy, close(copy->fd) == 0, "close");
    copy->flags = flags;
    copy->fd = open(copy->path, O_RDWR | O_CREAT | (int)flags, 0600);
    demand(copy, copy->fd >= 0, "open");
}

static void rename_it(struct copy *copy)
{
    char to[sizeof copy->path + 8];
    snprintf(to, sizeof to, "%s/file%u.%u", copy->directory, copy->number,
             (unsigned)(next(copy) % 4));
    demand(copy, rename(copy->path, to) == 0, "rename");
    snprintf(copy->path, sizeof copy->path, "%s", to);
}

/* A piece in blocks; with O_DIRECT only these are allowed. */
static size_t piece(struct copy *copy, uint64_t *offset)
{
    uint64_t blocks = 1 + next(copy) % (next(copy) % 4 ? 16 : RUN_BYTES / BLOCK);
    *offset = next(copy) % (FILE_BYTES / BLOCK - blocks) * BLOCK;
    if (copy->flags & O_DIRECT)
        return blocks * BLOCK;
    *offset += next(copy) % BLOCK;
    return blocks * BLOCK - next(copy) % BLOCK;
}

static void read_piece(struct copy *copy)
{
    uint64_t offset;
    size_t size = piece(copy, &offset);
    size_t wanted = offset >= copy->size ? 0 : copy->size - offset;
    if (wanted > size)
        wanted = size;
    ssize_t n = pread(copy->fd, copy->buffer, size, (off_t)offset);
    demand(copy, n == (ssize_t)wanted, "length of a read");
    demand(copy, memcmp(copy->buffer, copy->bytes + offset, wanted) == 0, "content of a read");
}

static void write_piece(struct copy *copy)
{
    uint64_t offset;
    size_t size = piece(copy, &offset);
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = next(copy) << 31 ^ next(copy);
        memcpy(copy->buffer + i, &word, sizeof word); /* the buffer has room behind */
    }
    demand(copy, pwrite(copy->fd, copy->buffer, size, (off_t)offset) == (ssize_t)size, "write");
    memcpy(copy->bytes + offset, copy->buffer, size);
    if (copy->size < offset + size)
        copy->size = offset + size;
}

static void resize(struct copy *copy)
{
    size_t size = next(copy) % (FILE_BYTES / BLOCK) * BLOCK;
    demand(copy, ftruncate(copy->fd, (off_t)size) == 0, "truncate");
    if (size < copy->size)
        memset(copy->bytes + size, 0, copy->size - size);
    copy->size = size;
}

static void punch(struct copy *copy)
{
    uint64_t offset = next(copy) % (FILE_BYTES / 4096 / 2) * 4096, size = 4 * 4096;
    demand(copy,
           fallocate(copy->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
                     (off_t)size) == 0,
           "punch hole");
    memset(copy->bytes + offset, 0, size);
}

static void check_size(struct copy *copy)
{
    struct stat st;
    demand(copy, stat(copy->path, &st) == 0 && (size_t)st.st_size == copy->size, "size");
}

static void *work(void *argument)
{
    struct copy *copy = argument;
    snprintf(copy->path, sizeof copy->path, "%s/file%u.0", copy->directory, copy->number);
    open_again(copy, copy->number % 2 ? O_DIRECT : 0);
    for (copy->done = 0; copy->done < copy->operations; copy->done++) {
        uint64_t what = next(copy) % 1000;
        if (what < 480)
            read_piece(copy);
        else if (what < 960)
            write_piece(copy);
        else if (what < 975)
            demand(copy, (what & 1 ? fsync : fdatasync)(copy->fd) == 0, "flush");
        else if (what < 980)
            resize(copy);
        else if (what < 985)
            punch(copy);
        else if (what < 990)
            rename_it(copy);
        else if (what < 995)
            check_size(copy);
        else
            open_again(copy, (copy->flags ^ O_DIRECT) | (what & 1 ? O_DSYNC : 0));
        copy->flags &= O_DIRECT;
    }
    demand(copy, close(copy->fd) == 0, "close");
    return NULL;
}

/* The content by another way in, the backing directory, at the end. */
static void compare(const struct copy *copy, const char *path)
{
    unsigned char *found = calloc(1, FILE_BYTES + RUN_BYTES);
    int fd = open(path, O_RDONLY);
    demand(copy, found && fd >= 0, "open at the end");
    ssize_t n = read(fd, found, FILE_BYTES + RUN_BYTES);
    demand(copy, n == (ssize_t)copy->size && memcmp(found, copy->bytes, copy->size) == 0,
           "content at the end");
    close(fd);
    free(found);
}

static void begin(struct copy *copy, char **argv, unsigned number, unsigned threads)
{
    *copy = (struct copy){.directory = argv[1], .number = number, .fd = -1};
    copy->operations = strtoull(argv[2], NULL, 10) / threads;
    copy->random = strtoull(argv[3], NULL, 10) * 1000 + number;
    copy->bytes = calloc(1, FILE_BYTES + RUN_BYTES);
    if (!copy->bytes || posix_memalign((void **)&copy->buffer, 4096, 2 * RUN_BYTES) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    unsigned threads = argc == 6 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
    if (threads == 0 || threads > 16) {
        fprintf(stderr, "usage: faultfs_copy DIRECTORY OPERATIONS SEED THREADS BACKING\n");
        return 2;
    }
    struct copy copies[16];
    pthread_t ids[16];
    for (unsigned i = 0; i < threads; i++) {
        begin(&copies[i], argv, i, threads);
        if (pthread_create(&ids[i], NULL, work, &copies[i]) != 0)
            return 1;
    }
    for (unsigned i = 0; i < threads; i++) {
        char backing[512];
        pthread_join(ids[i], NULL);
        snprintf(backing, sizeof backing, "%s%s", argv[5],
                 copies[i].path + strlen(copies[i].directory));
        compare(&copies[i], backing);
        free(copies[i].bytes);
        free(copies[i].buffer);
    }
    printf("%s operations in %u threads, each read as it must be\n", argv[2], threads);
    return 0;
}
