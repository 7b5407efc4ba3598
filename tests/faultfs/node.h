/*
 * node.h - the files of the mount: one node for each inode of the backing directory that the kernel
 * knows.  A node is its number towards the kernel.
 *
 * Locks: `nodes.lock` for the list, counts and paths; what is damaged, held or pending is under the
 * gate of struct fs (fs.h).
 */
#ifndef FAULTFS_NODE_H
#define FAULTFS_NODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "tests/faultfs/table.h"

#define NODE_BUCKETS 1024u

/* A write that no flush has covered. */
struct pending {
    uint64_t sequence;
    uint64_t offset;
    size_t size_bytes;
    uint64_t lied_before; /* flushes of this file that were answered without being done */
    unsigned char *bytes;
};

struct node {
    struct node *next;
    dev_t device;
    ino_t inode;
    uint64_t lookups;
    char *path; /* below the root; the root's own is "." */
    int fd;     /* of the backing file, -1: not opened yet */
    bool unlinked;

    struct table damage; /* struct sector: damage.h */
    struct table stable; /* struct stable_sector: power.h */
    struct table owners; /* who wrote it: wrap.h */
    struct table hit;    /* sectors that a rule has hit: shot_aim.c */
    uint64_t modulus;    /* 0: addresses do not wrap */
    struct event *wrap_event;
    struct pending *pending;
    size_t pending_count, pending_room;
    uint64_t lied_syncs;
};

struct nodes {
    pthread_mutex_t lock;
    int root_fd;
    struct node *root;
    struct node *buckets[NODE_BUCKETS];
};

/* 0 or -errno. */
int nodes_open(struct nodes *nodes, const char *directory) __attribute__((warn_unused_result));
/* The node of a name below a directory, with one more lookup; fills st. */
int node_lookup(struct nodes *nodes, const struct node *parent, const char *name,
                struct node **node, struct stat *st) __attribute__((warn_unused_result));
/* The node of a path as the rules write it, without a lookup of the kernel's, or NULL. */
struct node *node_by_path(struct nodes *nodes, const char *path);
char *node_path(struct nodes *nodes, const struct node *node);            /* to be freed */
char *node_child(struct nodes *nodes, const struct node *, const char *); /* to be freed */
int node_stat(struct nodes *nodes, struct node *node, struct stat *st)
    __attribute__((warn_unused_result));
int node_open(struct nodes *nodes, struct node *node) __attribute__((warn_unused_result));
void node_forget(struct nodes *nodes, struct node *node, uint64_t count);
void nodes_renamed(struct nodes *nodes, const char *from, const char *to);
void nodes_unlinked(struct nodes *nodes, const char *path);

#endif
