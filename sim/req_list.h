/*
 * req_list.h - requests in a line, linked by next: what an engine queues, and hands over in reap().
 *
 * Owns nothing; the engine's lock or thread guards it.
 */
#ifndef SIM_REQ_LIST_H
#define SIM_REQ_LIST_H

#include "sim/io.h"

struct req_list {
    struct io_req *head, *tail;
    unsigned count;
};

static inline void req_list_append(struct req_list *list, struct io_req *req)
{
    req->next = NULL;
    if (list->tail)
        list->tail->next = req;
    else
        list->head = req;
    list->tail = req;
    list->count++;
}

/* The first of at least one. */
static inline struct io_req *req_list_pop(struct req_list *list)
{
    struct io_req *req = list->head;
    list->head = req->next;
    if (list->head == NULL)
        list->tail = NULL;
    list->count--;
    return req;
}

#endif
