/* program_check.h - parts of workload_check, one a file; check_order also serves readers, who know the file */
#pragma once

#include "workload/program.h"

/* "op 12 \"name\"". The caller frees it. */
char *check_op_label(const Program *program, uint32_t op);
/* "program \"name\"" or "program 3". The caller frees it. */
char *check_program_label(const Workload *workload, uint32_t program);

/* Deps in range and no circle of waiting, stream order included. */
gboolean check_order(const Workload *workload, uint32_t program, GError **error);
/* Every member of every group issues the same collectives; split sizes and roots fit. Numbers them. */
gboolean check_collectives(Workload *workload, GError **error);
/* Every send has its recv. */
gboolean check_messages(const Workload *workload, GError **error);
