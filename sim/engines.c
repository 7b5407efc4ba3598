/* engines.c - the list of engines, expanded from engines.def. */
#include <string.h>

#include "sim/io.h"

const struct io_engine_ops *const io_engines[] = {
#define ENGINE(name) &engine_##name,
#include "sim/engines.def"
#undef ENGINE
};
const size_t io_engines_count = sizeof(io_engines) / sizeof(io_engines[0]);

const struct io_engine_ops *io_engine_by_name(const char *name)
{
    for (size_t i = 0; i < io_engines_count; i++) {
        if (strcmp(io_engines[i]->name, name) == 0)
            return io_engines[i];
    }
    return NULL;
}
