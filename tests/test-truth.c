/* test-truth.c - the network models beside closed forms, theory and other simulators: short in make check, whole and
 * written into doc/truth.md by make truth */
#include "truth.h"

int
main(void)
{
    Suite *suite = suite_create("truth");
    suite_add_tcase(suite, truth_forms());
    suite_add_tcase(suite, truth_queueing());
    suite_add_tcase(suite, truth_dcqcn());
    suite_add_tcase(suite, truth_long_link());
    suite_add_tcase(suite, truth_two_way());
    suite_add_tcase(suite, truth_fat_trees());
    return support_main(suite);
}
