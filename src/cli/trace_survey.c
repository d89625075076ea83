#include "cli/trace_survey.h"

#include "base/units.h"
#include "cli/table.h"
#include "workload/kineto.h"

#include <inttypes.h>

static char *
or_none(int64_t number)
{
    return number >= 0 ? g_strdup_printf("%" PRId64, number) : g_strdup("-");
}

static char *
time_text(double ns)
{
    return ns < (double)(SIM_TIME_MAX / PS_PER_NS) ? units_format_time((SimTime)ns * PS_PER_NS)
                                                   : g_strdup_printf("%.3g s", ns / 1e9);
}

static char *
share_text(double part, double whole)
{
    return whole > 0 ? g_strdup_printf("%.1f %%", 100 * part / whole) : g_strdup("-");
}

static void
add_counts(Table *table, const KinetoSurvey *survey)
{
    g_autofree char *base = g_path_get_basename(survey->source);
    table_add(table, "%s", base);
    table_take(table, or_none(survey->rank));
    table_take(table, or_none(survey->world_size));
    table_add(table, "%" PRIu64, survey->n_events);
    table_add(table, "%" PRIu64, survey->n_kernels);
    table_take(table, time_text((double)survey->kernel_ns));
    table_add(table, "%" PRIu64, survey->n_nccl);
    table_take(table, time_text((double)survey->nccl_ns));
    table_add(table, "%" PRIu64, survey->n_unlaunched);
    table_add(table, "%" PRIu64 " of %" PRIu64, survey->n_flows_whole, survey->n_flows);
    table_add(table, "%" PRIu64, survey->n_comms);
    table_add(table, "%u", survey->steps->len);
    double span_ns = (double)survey->last_ns - (double)survey->first_ns;
    table_take(table, time_text(span_ns));
    table_take(table, share_text((double)survey->kernel_ns - (double)survey->nccl_ns, span_ns));
    table_take(table, share_text((double)survey->nccl_ns, span_ns));
}

static void
add_collectives(Table *table, const KinetoSurvey *survey)
{
    g_autofree char *base = g_path_get_basename(survey->source);
    for (guint i = 0; i < survey->collectives->len; i++) {
        const KinetoCount *row = &g_array_index(survey->collectives, KinetoCount, i);
        table_add(table, "%s", base);
        table_add(table, "%s", row->name);
        table_add(table, "%u", row->count);
        table_add(table, "%" PRIu64, row->in_bytes);
        table_add(table, "%" PRIu64, row->out_bytes);
    }
}

static void
add_copies(Table *table, const KinetoSurvey *survey)
{
    g_autofree char *base = g_path_get_basename(survey->source);
    for (guint i = 0; i < survey->copies->len; i++) {
        const KinetoCount *row = &g_array_index(survey->copies, KinetoCount, i);
        table_add(table, "%s", base);
        table_add(table, "%s", row->name);
        table_add(table, "%u", row->count);
        table_add(table, "%" PRIu64, row->in_bytes);
    }
}

void
trace_survey_print(const GPtrArray *surveys, FILE *out)
{
    g_autoptr(Table) counts =
        table_new("file|>rank|>of|>events|>kernels|>time|>NCCL|>time|>without launch|>whole flows|"
                  ">record_param_comms|>steps|>span|>other kernels/span|>NCCL/span");
    g_autoptr(Table) collectives = table_new("file|collective|>NCCL kernels|>bytes in|>bytes out");
    g_autoptr(Table) copies = table_new("file|copies and fills|>count|>bytes");
    for (guint i = 0; i < surveys->len; i++) {
        add_counts(counts, g_ptr_array_index(surveys, i));
        add_collectives(collectives, g_ptr_array_index(surveys, i));
        add_copies(copies, g_ptr_array_index(surveys, i));
    }
    table_print(counts, out);
    fputc('\n', out);
    table_print(collectives, out);
    fputc('\n', out);
    table_print(copies, out);
}
