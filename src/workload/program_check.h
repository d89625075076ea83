/* program_check.h - parts of workload_check, one a file; check_order also serves readers, who know the file */
#pragma once

#include "base/problems.h"
#include "workload/program.h"

/* Where checks put what is wrong: the first problem into *error, or all of them as texts. */
typedef struct {
    GPtrArray *all; /* of char *; NULL = stop at the first */
    GError **error;
} Problems;

enum { CHECK_PROBLEMS_MOST = 100000 }; /* a node of every rank may have one */

/* Takes wrong. FALSE where the search should stop. */
gboolean problems_add(Problems *problems, GError *wrong);

/* "op 12 \"name\"". The caller frees it. */
char *check_op_label(const Program *program, uint32_t op);
/* "program \"name\"" or "program 3". The caller frees it. */
char *check_program_label(const Workload *workload, uint32_t program);

/* Deps in range and no circle of waiting, stream order included. */
gboolean check_order(const Workload *workload, uint32_t program, GError **error);
/* Drops deps until there is no circle: where nothing can start, the op of lowest index no longer waits for what has
 * not. How many were dropped. Deps must be in range. */
uint32_t program_break_circles(Program *program);
/* Every member of every group issues the same collectives; split sizes and roots fit. Numbers them. */
gboolean check_collectives(Workload *workload, Problems *problems);
/* Every send has its recv. */
gboolean check_messages(const Workload *workload, Problems *problems);
