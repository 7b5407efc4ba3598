/* one_checkpoint.c - see one_checkpoint.h. */
#include "sim/one_checkpoint.h"

struct one_checkpoint {
    bool done;
};

static size_t checkpoint_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct one_checkpoint);
}

static void checkpoint_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    (void)settings;
    (void)seed;
    (void)actor_index;
    ((struct one_checkpoint *)state)->done = false;
}

static void checkpoint_next(void *state, const struct pattern_view *view, struct op *out)
{
    (void)view;
    struct one_checkpoint *one = state;
    *out = (struct op){.kind = one->done ? OP_END : OP_CHECKPOINT};
    one->done = true;
}

const struct pattern pattern_one_checkpoint = {
    .name = "Checkpoint",
    .help = "the checkpoint at the end of a phase",
    .per_database = true,
    .state_size = checkpoint_state_size,
    .init = checkpoint_init,
    .next = checkpoint_next,
};
