/* run_actor_rows.c - see run_actor_rows.h. */
#include "sim/run_actor_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct actor_kind {
    const struct pattern *pattern;
    unsigned *numbers; /* by index of the pattern's actor */
    unsigned count, capacity;
};

static struct actor_kind *kind_of(struct run_actor_rows *rows, const struct pattern *pattern)
{
    for (unsigned i = 0; i < rows->kind_count; i++)
        if (rows->kinds[i].pattern == pattern)
            return &rows->kinds[i];
    struct actor_kind *grown = realloc(rows->kinds, (rows->kind_count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    rows->kinds = grown;
    grown[rows->kind_count] = (struct actor_kind){.pattern = pattern};
    return &grown[rows->kind_count++];
}

static int make_room(struct run_actor_rows *rows, struct actor_kind *kind)
{
    if (rows->count == rows->capacity) {
        unsigned capacity = rows->capacity ? 2 * rows->capacity : 64;
        struct actor_row *grown = realloc(rows->list, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        rows->list = grown;
        rows->capacity = capacity;
    }
    if (kind->count == kind->capacity) {
        unsigned capacity = kind->capacity ? 2 * kind->capacity : 16;
        unsigned *grown = realloc(kind->numbers, capacity * sizeof *grown);
        if (!grown)
            return -ENOMEM;
        kind->numbers = grown;
        kind->capacity = capacity;
    }
    return 0;
}

int64_t run_actor_row(struct run_actor_rows *rows, const struct pattern *pattern, const char *name,
                      unsigned kind_index)
{
    struct actor_kind *kind = kind_of(rows, pattern);
    if (!kind)
        return -ENOMEM;
    while (kind->count <= kind_index) {
        if (make_room(rows, kind))
            return -ENOMEM;
        struct actor_row *row = &rows->list[rows->count];
        *row = (struct actor_row){.pattern = pattern};
        snprintf(row->name, sizeof row->name, "%s", name);
        kind->numbers[kind->count++] = rows->count++;
    }
    return kind->numbers[kind_index];
}

void run_actor_rows_free(struct run_actor_rows *rows)
{
    for (unsigned i = 0; i < rows->kind_count; i++)
        free(rows->kinds[i].numbers);
    free(rows->kinds);
    free(rows->list);
    *rows = (struct run_actor_rows){.list = NULL};
}
