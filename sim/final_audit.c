/* final_audit.c - see final_audit.h. */
#include "sim/final_audit.h"

struct final_audit {
    struct audit_cursor *cursor;
};

static size_t audit_state_size(const void *settings)
{
    (void)settings;
    return sizeof(struct final_audit);
}

static void audit_init(void *state, const void *settings, uint64_t seed, unsigned actor_index)
{
    (void)settings;
    (void)seed;
    (void)actor_index;
    ((struct final_audit *)state)->cursor = NULL;
}

static uint32_t chunks_of(const struct pattern_file *file)
{
    return (file->size_pages + AUDIT_PAGES_MAX - 1) / AUDIT_PAGES_MAX;
}

static void audit_next(void *state, const struct pattern_view *view, struct op *out)
{
    struct final_audit *audit = state;
    uint64_t chunk = atomic_fetch_add(&audit->cursor->next_chunk, 1);
    *out = (struct op){.kind = OP_END};
    for (unsigned i = 0; i < view->file_count; i++) {
        uint32_t chunks = chunks_of(&view->files[i]);
        if (chunk < chunks) {
            *out = (struct op){.kind = OP_AUDIT,
                               .file = i,
                               .first_page = (uint32_t)chunk * AUDIT_PAGES_MAX,
                               .page_count = AUDIT_PAGES_MAX};
            return;
        }
        chunk -= chunks;
    }
    uint32_t frame = atomic_fetch_add(&audit->cursor->next_frame, FRAME_CHECK_FRAMES);
    if (frame < audit->cursor->frames)
        *out = (struct op){
            .kind = OP_FRAME_CHECK, .first_page = frame, .page_count = FRAME_CHECK_FRAMES};
}

const struct pattern pattern_final_audit = {
    .name = "AuditPass",
    .help = "reads and verifies every page at the end of a cycle",
    .audits = true,
    .checks = true,
    .state_size = audit_state_size,
    .init = audit_init,
    .next = audit_next,
};

void final_audit_share(struct actor *actor, struct audit_cursor *cursor)
{
    ((struct final_audit *)actor->state)->cursor = cursor;
}
