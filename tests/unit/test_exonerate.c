/*
 * The second judgement: a finding about bytes that are the owed ones, or that were wrong and right
 * in turn, is this machine's memory; one about other bytes stays the storage's.
 */
#include "tests/core_fixture.h"

#include "sim/exonerate.h"

#define PAGE_NO    100
#define GENERATION 5

struct bench {
    struct core core;
    uint8_t page[PAGE_BYTES], later[PAGE_BYTES];
    struct finding event;
    struct finding_images images;
};

/* A finding about the page as its writer sealed it. */
static struct bench *begin(void)
{
    struct bench *b = calloc(1, sizeof *b);
    struct sim_options options = {.pool_bytes = 16 * PAGE_BYTES};
    core_begin(&b->core, &options);
    const struct file_mark *mark = &b->core.data->file.mark;
    struct page_identity identity = {mark->file_uid, mark->incarnation, mark->file_id, PAGE_NO,
                                     GENERATION};
    page_fill(b->page, &b->core.run->identity, &identity, 7);
    page_seal(b->page, (struct lsn){3, 4, 5}, 123456789);
    memcpy(b->later, b->page, PAGE_BYTES);
    b->event =
        (struct finding){.verdict = VERDICT_garbage,
                         .file_uid = CORE_DATA_UID,
                         .has_page = true,
                         .page_no = PAGE_NO,
                         .writer = 7,
                         .why = {.verdict = VERDICT_garbage, .generation_expected = GENERATION}};
    b->images = (struct finding_images){.read_image = b->page, .size_bytes = PAGE_BYTES};
    return b;
}

static void end(struct bench *b)
{
    core_end(&b->core);
    free(b);
}

static void bytes_that_are_the_owed_ones_are_not_the_storages_fault(void **state)
{
    (void)state;
    struct bench *b = begin();
    exonerate(b->core.run, &b->event, &b->images);
    assert_int_equal(b->event.verdict, VERDICT_memory_changed);
    assert_non_null(strstr(b->event.detail, "second routine"));
    end(b);
}

/* Each byte counts: header, stamp, its reserved part, body, slot array. */
static void one_other_bit_stays_the_storages_fault(void **state)
{
    static const unsigned offsets[] = {0, 0x20, 0x3C, 0x40, 0x64, 0xA8, 512, 5000, 8191};
    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        struct bench *b = begin();
        b->page[offsets[i]] ^= 0x10;
        exonerate(b->core.run, &b->event, &b->images);
        assert_int_equal(b->event.verdict, VERDICT_garbage);
        end(b);
    }
}

static void an_older_generation_stays_the_storages_fault(void **state)
{
    (void)state;
    struct bench *b = begin();
    b->event.why.generation_expected = GENERATION + 1;
    exonerate(b->core.run, &b->event, &b->images);
    assert_int_equal(b->event.verdict, VERDICT_garbage);
    end(b);
}

/* The image is not the owed one, so that only the comparison of the two reads speaks. */
static void the_same_bytes_wrong_and_then_right_are_memory(void **state)
{
    (void)state;
    struct bench *b = begin();
    b->event.verdict = VERDICT_transient_damage;
    b->event.healed = true;
    b->page[5000] ^= 1;
    b->later[5000] ^= 1;
    b->images.good_image = b->later;
    exonerate(b->core.run, &b->event, &b->images);
    assert_int_equal(b->event.verdict, VERDICT_memory_changed);
    end(b);
}

static void damage_that_a_re_read_healed_stays_transient_damage(void **state)
{
    (void)state;
    struct bench *b = begin();
    b->event.verdict = VERDICT_transient_damage;
    b->event.healed = true;
    b->page[5000] ^= 1;
    b->images.good_image = b->later;
    exonerate(b->core.run, &b->event, &b->images);
    assert_int_equal(b->event.verdict, VERDICT_transient_damage);
    end(b);
}

/* Through the list: what is counted, and what decides the verdict, has the right name. */
static void the_list_records_it_under_its_right_name(void **state)
{
    (void)state;
    struct bench *b = begin();
    struct findings *findings = &b->core.run->findings;
    finding_report(findings, &b->event, &b->images);
    assert_int_equal(findings->by_verdict[VERDICT_garbage], 0);
    assert_int_equal(findings->by_verdict[VERDICT_memory_changed], 1);
    assert_int_equal(verdict_info(findings->list[0].verdict)->blame, BLAME_MEMORY);
    end(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_that_are_the_owed_ones_are_not_the_storages_fault),
        cmocka_unit_test(one_other_bit_stays_the_storages_fault),
        cmocka_unit_test(an_older_generation_stays_the_storages_fault),
        cmocka_unit_test(the_same_bytes_wrong_and_then_right_are_memory),
        cmocka_unit_test(damage_that_a_re_read_healed_stays_transient_damage),
        cmocka_unit_test(the_list_records_it_under_its_right_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
