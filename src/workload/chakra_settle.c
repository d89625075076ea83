/* chakra_settle.c - what is known only when the programs of all ranks stand: equal programs, times of collectives */
#include "workload/chakra_trace.h"

#include "base/sim_time.h"

#include <string.h>

/* What one op is, as plain words: a struct's padding has no value. */
static void
digest_op(GChecksum *sum, const Op *op)
{
    uint64_t flops, moved;
    memcpy(&flops, &op->flops, sizeof flops);
    memcpy(&moved, &op->bytes_moved, sizeof moved);
    const uint64_t words[] = {
        op->kind,    op->stream,    op->name,          op->n_deps, (uint64_t)op->duration_ps, flops,
        moved,       op->bytes,     op->group,         op->root,   (uint64_t)op->collective,  op->tag,
        op->n_begun, op->peer_form, (uint64_t)op->peer};
    g_checksum_update(sum, (const guchar *)words, sizeof words);
}

char *
chakra_program_digest(const Program *program)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (uint32_t i = 0; i < program->ops->len; i++)
        digest_op(sum, &g_array_index(program->ops, Op, i));
    g_checksum_update(sum, (const guchar *)program->deps->data, (gssize)(program->deps->len * sizeof(uint32_t)));
    g_checksum_update(sum, (const guchar *)program->texts->str, (gssize)program->texts->len);
    for (uint32_t i = 0; i < program->streams->len; i++) {
        const char *name = g_ptr_array_index(program->streams, i);
        g_checksum_update(sum, (const guchar *)name, (gssize)strlen(name) + 1);
    }
    return g_strdup(g_checksum_get_string(sum));
}

/* One collective over its members. */
typedef struct {
    SimTime least;    /* of the recorded durations, SIM_TIME_MAX = none */
    const char *name; /* of one member's op */
    gboolean named_otherwise;
} Collective;

/* Every group has one instance here, so (group, seq) names a collective. */
static Collective *
collective_of(GHashTable *collectives, const Op *op)
{
    gint64 key = (gint64)((uint64_t)op->group << 32 | op->seq);
    Collective *found = g_hash_table_lookup(collectives, &key);
    if (found == NULL) {
        found = g_new0(Collective, 1);
        found->least = SIM_TIME_MAX;
        g_hash_table_insert(collectives, g_memdup2(&key, sizeof key), found);
    }
    return found;
}

/* Gathers into collectives; how many are named differently by their members. */
static uint32_t
survey(GHashTable *collectives, const Program *program)
{
    uint32_t differing = 0;
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        if (op->kind != OP_COLLECTIVE)
            continue;
        Collective *collective = collective_of(collectives, op);
        const char *name = program_op_name(program, i);
        if (op->duration_ps >= 0)
            collective->least = MIN(collective->least, op->duration_ps);
        if (collective->name == NULL)
            collective->name = name;
        if (!collective->named_otherwise && strcmp(collective->name, name) != 0) {
            collective->named_otherwise = TRUE;
            differing++;
        }
    }
    return differing;
}

void
chakra_settle_collectives(Workload *workload)
{
    g_autoptr(GHashTable) collectives = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    uint32_t differing = 0;
    for (uint32_t p = 0; p < workload->programs->len; p++)
        differing += survey(collectives, workload_program(workload, p));
    for (uint32_t p = 0; p < workload->programs->len; p++) {
        GArray *ops = workload_program(workload, p)->ops;
        for (uint32_t i = 0; i < ops->len; i++) {
            Op *op = &g_array_index(ops, Op, i);
            if (op->kind == OP_COLLECTIVE && op->duration_ps >= 0)
                op->duration_ps = collective_of(collectives, op)->least;
        }
    }
    if (differing > 0)
        workload_note(workload,
                      "%u collectives have other names on other ranks; they are matched by the order of their node ids",
                      differing);
}
