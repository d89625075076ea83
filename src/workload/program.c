/* program.c - building workloads: programs, groups, meshes */
#include "workload/program.h"

#include <assert.h>
#include <string.h>

static void
program_free(void *data)
{
    Program *program = data;
    g_free(program->name);
    g_array_unref(program->ops);
    g_array_unref(program->deps);
    g_ptr_array_unref(program->streams);
    g_array_unref(program->exclusive);
    g_string_free(program->texts, TRUE);
    g_free(program);
}

static void
instance_free(void *data)
{
    g_array_unref(data);
}

static void
group_free(void *data)
{
    Group *group = data;
    g_free(group->name);
    g_array_unref(group->instance_of_rank);
    g_array_unref(group->member_of_rank);
    g_ptr_array_unref(group->instances);
    g_free(group);
}

Workload *
workload_new(uint32_t n_ranks)
{
    Workload *workload = g_new0(Workload, 1);
    workload->n_ranks = n_ranks;
    workload->programs = g_ptr_array_new_with_free_func(program_free);
    workload->program_of_rank = g_new(uint32_t, n_ranks);
    for (uint32_t rank = 0; rank < n_ranks; rank++)
        workload->program_of_rank[rank] = INDEX_NONE;
    workload->groups = g_ptr_array_new_with_free_func(group_free);
    workload->splits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    workload->notes = g_ptr_array_new_with_free_func(g_free);
    return workload;
}

void
workload_free(Workload *workload)
{
    if (workload == NULL)
        return;
    g_ptr_array_unref(workload->programs);
    g_free(workload->program_of_rank);
    g_ptr_array_unref(workload->groups);
    g_array_unref(workload->splits);
    g_free(workload->start_ps);
    g_free(workload->description);
    g_ptr_array_unref(workload->notes);
    g_free(workload);
}

uint32_t
workload_add_program(Workload *workload, gboolean dag)
{
    Program *program = g_new0(Program, 1);
    program->dag = dag;
    program->ops = g_array_new(FALSE, FALSE, sizeof(Op));
    program->deps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    program->streams = g_ptr_array_new_with_free_func(g_free);
    program->exclusive = g_array_new(FALSE, FALSE, sizeof(gboolean));
    program->texts = g_string_new(NULL);
    g_ptr_array_add(workload->programs, program);
    return workload->programs->len - 1;
}

Program *
workload_program(const Workload *workload, uint32_t index)
{
    assert(index < workload->programs->len);
    return g_ptr_array_index(workload->programs, index);
}

static GArray *
none_of_rank(uint32_t n_ranks)
{
    GArray *array = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), n_ranks);
    g_array_set_size(array, n_ranks);
    memset(array->data, 0xff, (size_t)n_ranks * sizeof(uint32_t)); /* INDEX_NONE */
    return array;
}

static Group *
group_new(Workload *workload, const char *name)
{
    Group *group = g_new0(Group, 1);
    group->name = g_strdup(name);
    group->instance_of_rank = none_of_rank(workload->n_ranks);
    group->member_of_rank = none_of_rank(workload->n_ranks);
    group->instances = g_ptr_array_new_with_free_func(instance_free);
    g_ptr_array_add(workload->groups, group);
    return group;
}

static void
add_instance(Group *group, const uint32_t *ranks, uint32_t n)
{
    GArray *members = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), n);
    g_array_append_vals(members, ranks, n);
    for (uint32_t i = 0; i < n; i++) {
        assert(ranks[i] < group->instance_of_rank->len);
        g_array_index(group->instance_of_rank, uint32_t, ranks[i]) = group->instances->len;
        g_array_index(group->member_of_rank, uint32_t, ranks[i]) = i;
    }
    g_ptr_array_add(group->instances, members);
}

uint32_t
workload_add_group(Workload *workload, const char *name, const uint32_t *ranks, uint32_t n)
{
    add_instance(group_new(workload, name), ranks, n);
    return workload->groups->len - 1;
}

void
workload_add_instance(Workload *workload, uint32_t group, const uint32_t *ranks, uint32_t n)
{
    add_instance(g_ptr_array_index(workload->groups, group), ranks, n);
}

uint32_t
workload_add_mesh(Workload *workload, const char *const *axes, const uint32_t *sizes, uint32_t n_axes)
{
    uint32_t first = workload->groups->len, stride = 1;
    for (uint32_t axis = 0; axis < n_axes; axis++) {
        uint32_t size = sizes[axis];
        Group *group = group_new(workload, axes[axis]);
        g_autofree uint32_t *members = g_new(uint32_t, size);
        for (uint32_t outer = 0; outer < workload->n_ranks / (stride * size); outer++) {
            for (uint32_t inner = 0; inner < stride; inner++) {
                for (uint32_t i = 0; i < size; i++)
                    members[i] = (outer * size + i) * stride + inner;
                add_instance(group, members, size);
            }
        }
        stride *= size;
    }
    assert(stride == workload->n_ranks);
    return first;
}

uint32_t
workload_find_group(const Workload *workload, const char *name)
{
    for (uint32_t i = 0; i < workload->groups->len; i++) {
        const Group *group = g_ptr_array_index(workload->groups, i);
        if (strcmp(group->name, name) == 0)
            return i;
    }
    return INDEX_NONE;
}

const uint32_t *
workload_members(const Workload *workload, uint32_t group, uint32_t rank, uint32_t *n_members)
{
    const Group *g = g_ptr_array_index(workload->groups, group);
    uint32_t instance = g_array_index(g->instance_of_rank, uint32_t, rank);
    if (instance == INDEX_NONE) {
        *n_members = 0;
        return NULL;
    }
    const GArray *members = g_ptr_array_index(g->instances, instance);
    *n_members = members->len;
    return (const uint32_t *)(const void *)members->data;
}

uint32_t
workload_add_splits(Workload *workload, const uint64_t *bytes, uint32_t n)
{
    uint32_t offset = workload->splits->len;
    g_array_append_vals(workload->splits, bytes, n);
    return offset;
}

void
workload_note(Workload *workload, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(workload->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

uint32_t
workload_peer(const Workload *workload, const Op *op, uint32_t rank)
{
    if (op->peer_form == PEER_ANY)
        return INDEX_NONE;
    if (op->peer_form == PEER_RANK)
        return op->peer < 0 ? INDEX_NONE : (uint32_t)op->peer;

    uint32_t n = 0;
    const uint32_t *members = workload_members(workload, op->group, rank, &n);
    if (members == NULL)
        return INDEX_NONE;
    const Group *group = g_ptr_array_index(workload->groups, op->group);
    int64_t member = g_array_index(group->member_of_rank, uint32_t, rank);
    return members[((member + op->peer) % n + n) % n];
}

uint32_t
program_add_stream(Program *program, const char *name, gboolean exclusive)
{
    g_ptr_array_add(program->streams, g_strdup(name));
    g_array_append_val(program->exclusive, exclusive);
    return program->streams->len - 1;
}

uint32_t
program_add_op(Program *program, Op op, const char *name, const uint32_t *deps, uint32_t n_deps)
{
    op.name = (uint32_t)program->texts->len;
    g_string_append_len(program->texts, name, (gssize)strlen(name) + 1);
    op.first_dep = program->deps->len;
    op.n_deps = n_deps;
    if (n_deps > 0)
        g_array_append_vals(program->deps, deps, n_deps);
    g_array_append_val(program->ops, op);
    return program->ops->len - 1;
}

Op
op_default(OpKind kind)
{
    return (Op){.kind = kind, .stream = INDEX_NONE, .duration_ps = -1, .group = INDEX_NONE, .splits = INDEX_NONE, .cpu = CPU_NONE};
}

const char *
program_op_name(const Program *program, uint32_t op)
{
    return program->texts->str + g_array_index(program->ops, Op, op).name;
}

const char *
op_kind_name(OpKind kind)
{
    static const char *const names[] = {"compute", "host",  "collective", "send",  "recv",
                                        "copy",    "alloc", "free",       "marker"};
    assert(kind < G_N_ELEMENTS(names));
    return names[kind];
}
