#include "base/suggest.h"
#include "support.h"

START_TEST(the_nearest_word_is_found_within_a_third)
{
    static const char *const words[] = {"ring", "halving_doubling", "binomial", "direct", "pairwise", "rinse"};
    static const struct {
        const char *text, *nearest;
    } cases[] = {
        {"ring", "ring"},        {"rng", "ring"},
        {"rin", "ring"},         {"halving-doubling", "halving_doubling"},
        {"binomal", "binomial"}, {"dorict", "direct"},
        {"xyz", NULL},           {"", NULL},
        {"pair", NULL}, /* four letters short of pairwise; a third of 4 plus one is 2 */
        {"rinxe", "rinse"},      {"a very long text indeed", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_pstr_eq(suggest_nearest(cases[i].text, words, G_N_ELEMENTS(words)), cases[i].nearest);
    ck_assert_ptr_null(suggest_nearest("ring", words, 0));
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("suggest");
    TCase *tc = tcase_create("suggest");
    tcase_add_test(tc, the_nearest_word_is_found_within_a_third);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
