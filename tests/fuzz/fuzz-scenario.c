/* fuzz-scenario.c - any bytes as a scenario: read and printed again, or refused */
#include "config.h"

#include "fuzz.h"
#include "scenario/scenario.h"

#include <string.h>

/* Set on top, so that the tree is written anew. */
static const char *const sets[] = {"seed=3", NULL};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    const char *path = fuzz_file(data, size);
    g_autoptr(Scenario) scenario = scenario_read(path, NULL, &error);
    fuzz_check(scenario != NULL, error);
    if (scenario == NULL)
        return 0;
    g_autoptr(Scenario) set = scenario_read(path, sets, NULL);
    if (set == NULL || set->seed != 3)
        abort();
    g_autofree char *printed = yaml_tree_print(set->tree);
    g_autoptr(Scenario) again = scenario_read(fuzz_file((const uint8_t *)printed, strlen(printed)), NULL, &error);
    if (again == NULL || again->n_jobs != scenario->n_jobs || again->n_faults != scenario->n_faults)
        abort();
    return 0;
}
