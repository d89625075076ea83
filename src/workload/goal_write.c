/* goal_write.c - a workload as GOAL text: calc, send and recv of each rank, and who waits for whom
 *
 * Each op has a label, and the edges follow all ops of a rank, so that an op may wait for one further down. */
#include "workload/goal.h"

#include "base/error.h"
#include "workload/trace_writer.h"

typedef enum {
    LOST_COLLECTIVE,
    LOST_ROUNDED,
    LOST_UNTIMED,
    LOST_OTHER,
    LOST_SIGNAL,
    LOST_CPU,
    LOST_NAME,
    LOST_STREAM,
    LOST_START,
    LOST_KINDS
} Lost;

static const char *const lost_texts[LOST_KINDS] = {
    "collectives became calc of their recorded time, or of 0: GOAL has none",
    "durations were rounded to whole nanoseconds",
    "ops without a recorded time became calc 0",
    "ops of host work, copies, memory and markers became calc",
    "signals became messages of 0 bytes",
    "streams share the last CPU: there are at most 256",
    "ops lost their name",
    "streams lost their name",
    "ranks lost their recorded start",
};

typedef struct {
    const Workload *workload;
    const Program *program;
    const char *path;
    uint32_t rank;
    GString *out;
    uint64_t lost[LOST_KINDS];
} Writer;

static uint32_t
cpu_of(Writer *writer, const Op *op)
{
    if (op->cpu != CPU_NONE)
        return op->cpu;
    if (op->stream == INDEX_NONE || op->kind == OP_SEND || op->kind == OP_RECV)
        return 0;
    return MIN(op->stream, UINT8_MAX);
}

static void
put_calc(Writer *writer, const Op *op)
{
    SimTime time = MAX(op->duration_ps, 0);
    if (op->kind == OP_COLLECTIVE)
        writer->lost[LOST_COLLECTIVE]++;
    else if (op->kind != OP_COMPUTE)
        writer->lost[LOST_OTHER]++;
    if (op->duration_ps < 0 && (op->kind == OP_COMPUTE || op->kind == OP_COPY))
        writer->lost[LOST_UNTIMED]++;
    writer->lost[LOST_ROUNDED] += time % PS_PER_NS != 0;
    g_string_append_printf(writer->out, "calc %" G_GINT64_FORMAT,
                           (gint64)(time / PS_PER_NS + (time % PS_PER_NS >= PS_PER_NS / 2)));
}

/* FALSE with an error where a rank tells itself something. */
static gboolean
put_message(Writer *writer, uint32_t index, const Op *op, GError **error)
{
    uint32_t peer = workload_peer(writer->workload, op, writer->rank);
    if (peer == writer->rank)
        return error_input(error,
                           "%s: rank %u, op %u \"%s\" is a signal of the rank to itself; GOAL has messages between "
                           "ranks alone",
                           writer->path, writer->rank, index, program_op_name(writer->program, index));
    gboolean sends = op->kind == OP_SEND;
    writer->lost[LOST_SIGNAL] += op->signal;
    g_string_append_printf(writer->out, "%s %" G_GUINT64_FORMAT "b %s ", sends ? "send" : "recv",
                           op->signal ? 0 : op->bytes, sends ? "to" : "from");
    if (peer == INDEX_NONE)
        g_string_append(writer->out, "-1");
    else
        g_string_append_printf(writer->out, "%u", peer);
    if (op->tag == TAG_ANY)
        g_string_append(writer->out, " tag -1");
    else if (op->tag != 0)
        g_string_append_printf(writer->out, " tag %" G_GUINT64_FORMAT, op->tag);
    return TRUE;
}

static gboolean
put_op(Writer *writer, uint32_t index, GError **error)
{
    const Op *op = &g_array_index(writer->program->ops, Op, index);
    gboolean talks = op->kind == OP_SEND || op->kind == OP_RECV;
    g_string_append_printf(writer->out, "l%u: ", index + 1);
    if (talks && !put_message(writer, index, op, error))
        return FALSE;
    if (!talks)
        put_calc(writer, op);
    if (cpu_of(writer, op) != 0)
        g_string_append_printf(writer->out, " cpu %u", cpu_of(writer, op));
    if (op->nic != 0)
        g_string_append_printf(writer->out, " nic %u", op->nic);
    g_string_append_c(writer->out, '\n');
    writer->lost[LOST_NAME] += program_op_name(writer->program, index)[0] != '\0';
    return TRUE;
}

/* Edges of an op; before is the op before it on its stream, INDEX_NONE = none. */
static void
put_edges(Writer *writer, uint32_t index, uint32_t before)
{
    const Op *op = &g_array_index(writer->program->ops, Op, index);
    gboolean named = before == INDEX_NONE;
    for (uint32_t d = 0; d < op->n_deps; d++) {
        uint32_t dep = g_array_index(writer->program->deps, uint32_t, op->first_dep + d);
        gboolean begun = d >= op->n_deps - op->n_begun;
        named = named || (dep == before && !begun);
        g_string_append_printf(writer->out, "l%u %s l%u\n", index + 1, begun ? "irequires" : "requires", dep + 1);
    }
    if (!named)
        g_string_append_printf(writer->out, "l%u requires l%u\n", index + 1, before + 1);
}

static gboolean
put_rank(Writer *writer, GError **error)
{
    const Program *program = writer->program =
        workload_program(writer->workload, writer->workload->program_of_rank[writer->rank]);
    g_autofree uint32_t *last = g_new(uint32_t, program->streams->len + 1);
    for (uint32_t s = 0; s < program->streams->len; s++) {
        const char *name = g_ptr_array_index(program->streams, s);
        last[s] = INDEX_NONE;
        writer->lost[LOST_STREAM] += !g_str_has_prefix(name, "cpu ");
        writer->lost[LOST_CPU] += s > UINT8_MAX && !g_str_has_prefix(name, "cpu ");
    }
    g_string_append_printf(writer->out, "\nrank %u {\n", writer->rank);
    for (uint32_t i = 0; i < program->ops->len; i++)
        if (!put_op(writer, i, error))
            return FALSE;
    for (uint32_t i = 0; i < program->ops->len; i++) {
        uint32_t stream = g_array_index(program->ops, Op, i).stream;
        gboolean ordered = !program->dag && stream != INDEX_NONE;
        put_edges(writer, i, ordered ? last[stream] : INDEX_NONE);
        if (ordered)
            last[stream] = i;
    }
    g_string_append(writer->out, "}\n");
    return TRUE;
}

static gboolean
write_goal(const Workload *workload, const char *path, GPtrArray *notes, GError **error)
{
    g_autoptr(GString) out = g_string_new(NULL);
    Writer writer = {.workload = workload, .path = path, .out = out};
    g_string_append_printf(out, "num_ranks %u\n", workload->n_ranks);
    for (writer.rank = 0; writer.rank < workload->n_ranks; writer.rank++) {
        if (!put_rank(&writer, error))
            return FALSE;
        writer.lost[LOST_START] += workload->start_ps != NULL && workload->start_ps[writer.rank] != 0;
    }
    g_autoptr(GError) wrong = NULL;
    if (!g_file_set_contents(path, out->str, (gssize)out->len, &wrong))
        return error_input(error, "%s: cannot be written: %s", path, wrong->message);
    for (uint32_t i = 0; i < LOST_KINDS; i++)
        if (writer.lost[i] > 0)
            g_ptr_array_add(notes, g_strdup_printf("%" G_GUINT64_FORMAT " %s", writer.lost[i], lost_texts[i]));
    return TRUE;
}

const TraceWriter writer_goal = {"goal", "GOAL schedule text: messages and calc; no collectives", write_goal, FALSE};
