/*
 * node.c - see node.h.
 *
 * A node stays as long as the mount: what its sectors owe must outlive the kernel's forgetting, and
 * the number of files is small.  Only the node of an inode that is gone is taken out of the list,
 * so that a file that gets the same number begins without its past.
 */
#include "tests/faultfs/node.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/faultfs/memory.h"

static struct node *find(struct nodes *nodes, dev_t device, ino_t inode)
{
    struct node *node = nodes->buckets[inode % NODE_BUCKETS];
    while (node && !(node->device == device && node->inode == inode && !node->unlinked))
        node = node->next;
    return node;
}

static struct node *add(struct nodes *nodes, const struct stat *st, const char *path)
{
    struct node *node = memory_zeroed(sizeof *node);
    node->device = st->st_dev;
    node->inode = st->st_ino;
    node->path = memory_text("%s", path);
    node->fd = -1;
    node->next = nodes->buckets[st->st_ino % NODE_BUCKETS];
    nodes->buckets[st->st_ino % NODE_BUCKETS] = node;
    return node;
}

int nodes_open(struct nodes *nodes, const char *directory)
{
    struct stat st;
    *nodes = (struct nodes){.root_fd = open(directory, O_DIRECTORY | O_CLOEXEC)};
    if (nodes->root_fd < 0 || fstat(nodes->root_fd, &st) < 0)
        return -errno;
    pthread_mutex_init(&nodes->lock, NULL);
    nodes->root = add(nodes, &st, ".");
    return 0;
}

static char *child_path(const struct node *parent, const char *name)
{
    return strcmp(parent->path, ".") == 0 ? memory_text("%s", name)
                                          : memory_text("%s/%s", parent->path, name);
}

/* The node of a path, with the lock held. */
static int reach(struct nodes *nodes, const char *path, struct node **node, struct stat *st)
{
    if (fstatat(nodes->root_fd, path, st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    *node = find(nodes, st->st_dev, st->st_ino);
    if (!*node)
        *node = add(nodes, st, path);
    return 0;
}

int node_lookup(struct nodes *nodes, const struct node *parent, const char *name,
                struct node **node, struct stat *st)
{
    pthread_mutex_lock(&nodes->lock);
    char *path = child_path(parent, name);
    int rc = reach(nodes, path, node, st);
    if (rc == 0)
        (*node)->lookups++;
    free(path);
    pthread_mutex_unlock(&nodes->lock);
    return rc;
}

struct node *node_by_path(struct nodes *nodes, const char *path)
{
    struct stat st;
    struct node *node = NULL;
    pthread_mutex_lock(&nodes->lock);
    int rc = reach(nodes, path, &node, &st);
    pthread_mutex_unlock(&nodes->lock);
    return rc == 0 && node_open(nodes, node) == 0 ? node : NULL;
}

char *node_path(struct nodes *nodes, const struct node *node)
{
    pthread_mutex_lock(&nodes->lock);
    char *path = memory_text("%s", node->path);
    pthread_mutex_unlock(&nodes->lock);
    return path;
}

char *node_child(struct nodes *nodes, const struct node *parent, const char *name)
{
    pthread_mutex_lock(&nodes->lock);
    char *path = child_path(parent, name);
    pthread_mutex_unlock(&nodes->lock);
    return path;
}

int node_stat(struct nodes *nodes, struct node *node, struct stat *st)
{
    if (node->fd >= 0)
        return fstat(node->fd, st) < 0 ? -errno : 0;
    char *path = node_path(nodes, node);
    int rc = fstatat(nodes->root_fd, path, st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
    free(path);
    return rc;
}

int node_open(struct nodes *nodes, struct node *node)
{
    int rc = 0;
    pthread_mutex_lock(&nodes->lock);
    if (node->fd < 0) {
        node->fd = openat(nodes->root_fd, node->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
        if (node->fd < 0)
            rc = -errno;
    }
    pthread_mutex_unlock(&nodes->lock);
    return rc;
}

void node_forget(struct nodes *nodes, struct node *node, uint64_t count)
{
    pthread_mutex_lock(&nodes->lock);
    node->lookups -= count;
    if (node->lookups == 0 && node->unlinked && node->fd >= 0) {
        close(node->fd);
        node->fd = -1;
    }
    pthread_mutex_unlock(&nodes->lock);
}

static void rename_one(struct node *node, const char *from, const char *to)
{
    size_t length = strlen(from);
    if (strncmp(node->path, from, length) != 0 ||
        (node->path[length] != 0 && node->path[length] != '/'))
        return;
    char *path = memory_text("%s%s", to, node->path + length);
    free(node->path);
    node->path = path;
}

void nodes_renamed(struct nodes *nodes, const char *from, const char *to)
{
    pthread_mutex_lock(&nodes->lock);
    for (unsigned i = 0; i < NODE_BUCKETS; i++)
        for (struct node *node = nodes->buckets[i]; node; node = node->next)
            if (!node->unlinked)
                rename_one(node, from, to);
    pthread_mutex_unlock(&nodes->lock);
}

/* A second link keeps the file: its inode is found by that name again. */
void nodes_unlinked(struct nodes *nodes, const char *path)
{
    pthread_mutex_lock(&nodes->lock);
    for (unsigned i = 0; i < NODE_BUCKETS; i++)
        for (struct node *node = nodes->buckets[i]; node; node = node->next)
            node->unlinked = node->unlinked || strcmp(node->path, path) == 0;
    pthread_mutex_unlock(&nodes->lock);
}
