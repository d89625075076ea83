/* chakra_write.c - writes a workload as Chakra execution traces, schema 0.0.4: one file a rank, and one of its groups
 *
 * A node is an op, its id the op's index. The order of a stream, in the stream form, becomes data dependencies. What
 * the schema has no place for is counted, and put into words at the end. */
#include "base/error.h"
#include "workload/chakra_trace.h"
#include "workload/trace_writer.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Fields of an attribute's value. */
enum { INT32_VAL = 7, INT64_VAL = 9, BOOL_VAL = 27, STRING_VAL = 29 };

/* What a trace cannot hold. */
typedef enum {
    LOST_TIME,
    LOST_FIGURE,
    LOST_MEMORY,
    LOST_SPLITS,
    LOST_ROOT,
    LOST_SIGNAL,
    LOST_BEGUN,
    LOST_HOST,
    LOST_STREAM,
    LOST_START,
    LOST_SHARE,
    LOST_KINDS
} Lost;

static const char *const lost_texts[LOST_KINDS] = {
    "durations were rounded to whole microseconds, those above 0 to 1 at least",
    "numbers of operations or bytes moved were rounded to whole numbers",
    "ops of memory accounting became nodes without effect",
    "all-to-alls with splits became even ones",
    "collectives lost their root",
    "signals became messages of 0 bytes",
    "ops that waited for another to begin wait for its end",
    "ops lost the CPU or NIC of their host",
    "streams were put together: a rank computes one op at a time, and does one of host work",
    "ranks lost their recorded start",
    "all-gathers lost bytes that their members do not share evenly",
};

typedef struct {
    const Workload *workload;
    const Program *program;
    const char *path; /* the pattern, for errors */
    uint32_t rank;
    gboolean keeps_names; /* of groups: all are ids already */
    GArray *first_id;     /* of uint32_t, a group: the id of its first instance where names are not kept */
    gboolean *group_used; /* a group of all ranks is none of the file's */
    GString *node, *attribute, *packed;
    uint64_t lost[LOST_KINDS];
} Writer;

static void
put_varint(GString *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        g_string_append_c(out, (char)(value | 0x80));
    g_string_append_c(out, (char)value);
}

static void
put_number(GString *out, uint32_t field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static void
put_bytes(GString *out, uint32_t field, const char *bytes, size_t length)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, length);
    g_string_append_len(out, bytes, (gssize)length);
}

static void
put_attribute(Writer *writer, const char *name, uint32_t field, uint64_t value)
{
    g_string_truncate(writer->attribute, 0);
    put_bytes(writer->attribute, 1, name, strlen(name));
    put_number(writer->attribute, field, value);
    put_bytes(writer->node, 10, writer->attribute->str, writer->attribute->len);
}

static void
put_text(Writer *writer, const char *name, const char *text)
{
    g_string_truncate(writer->attribute, 0);
    put_bytes(writer->attribute, 1, name, strlen(name));
    put_bytes(writer->attribute, STRING_VAL, text, strlen(text));
    put_bytes(writer->node, 10, writer->attribute->str, writer->attribute->len);
}

/* A figure of the roofline, which the schema holds as int64. */
static void
put_figure(Writer *writer, const char *name, double value)
{
    if (value <= 0)
        return;
    double whole = MIN(floor(value + 0.5), 9.2e18);
    writer->lost[LOST_FIGURE] += whole < value || whole > value;
    put_attribute(writer, name, INT64_VAL, (uint64_t)whole);
}

static void
put_duration(Writer *writer, SimTime duration)
{
    if (duration <= 0)
        return;
    writer->lost[LOST_TIME] += duration % PS_PER_US != 0;
    put_number(writer->node, 7, MAX((uint64_t)duration / PS_PER_US + (duration % PS_PER_US >= PS_PER_US / 2), 1));
}

/* Is the group one instance of all ranks in their order? Then a trace need not name it. */
static gboolean
is_all(const Workload *workload, const Group *group)
{
    const GArray *ranks = group->instances->len == 1 ? g_ptr_array_index(group->instances, 0) : NULL;
    if (ranks == NULL || ranks->len != workload->n_ranks)
        return FALSE;
    for (uint32_t i = 0; i < ranks->len; i++) {
        if (g_array_index(ranks, uint32_t, i) != i)
            return FALSE;
    }
    return TRUE;
}

/* Is the name a decimal id above 0, as the file of groups wants it? */
static gboolean
is_id(const char *name)
{
    return name[0] >= '1' && name[0] <= '9' && strspn(name, "0123456789") == strlen(name) && strlen(name) < 10;
}

/* Names are kept where each is an id of one instance; else instances are numbered from 1. */
static void
number_groups(Writer *writer)
{
    const GPtrArray *groups = writer->workload->groups;
    uint32_t id = 1;
    writer->keeps_names = TRUE;
    for (uint32_t i = 0; i < groups->len; i++) {
        const Group *group = g_ptr_array_index(groups, i);
        gboolean all = is_all(writer->workload, group);
        g_array_append_val(writer->first_id, id);
        writer->group_used[i] = !all || is_id(group->name);
        if (!all)
            id += group->instances->len;
        else if (writer->group_used[i])
            id++;
        if (writer->group_used[i] && (group->instances->len != 1 || !is_id(group->name)))
            writer->keeps_names = FALSE;
    }
}

/* The id of an instance of a group; the caller frees it. */
static char *
group_id(const Writer *writer, uint32_t index, uint32_t instance)
{
    const Group *group = g_ptr_array_index(writer->workload->groups, index);
    if (writer->keeps_names)
        return g_strdup(group->name);
    return g_strdup_printf("%u", g_array_index(writer->first_id, uint32_t, index) + instance);
}

static void
put_collective(Writer *writer, const Op *op)
{
    static const uint8_t types[COLLECTIVE_KINDS] = {
        [COLLECTIVE_ALL_REDUCE] = 0, [COLLECTIVE_REDUCE] = 1,     [COLLECTIVE_ALL_GATHER] = 2,
        [COLLECTIVE_BROADCAST] = 5,  [COLLECTIVE_ALL_TO_ALL] = 6, [COLLECTIVE_REDUCE_SCATTER] = 7,
        [COLLECTIVE_BARRIER] = 9};
    uint32_t n;
    uint64_t bytes = op->bytes;
    workload_members(writer->workload, op->group, writer->rank, &n);
    if (op->collective == COLLECTIVE_ALL_GATHER) { /* the schema counts what each contributes */
        writer->lost[LOST_SHARE] += bytes % n != 0;
        bytes /= n;
    }
    writer->lost[LOST_SPLITS] += op->splits != INDEX_NONE;
    writer->lost[LOST_ROOT] += op->root != 0;
    put_attribute(writer, "comm_type", INT64_VAL, types[op->collective]);
    put_attribute(writer, "comm_size", INT64_VAL, bytes);
    if (!writer->group_used[op->group])
        return;
    const Group *group = g_ptr_array_index(writer->workload->groups, op->group);
    g_autofree char *id = group_id(writer, op->group, g_array_index(group->instance_of_rank, uint32_t, writer->rank));
    put_text(writer, "pg_name", id);
}

static gboolean
put_message(Writer *writer, uint32_t index, const Op *op, GError **error)
{
    uint32_t peer = workload_peer(writer->workload, op, writer->rank);
    if (peer == INDEX_NONE)
        return error_input(error,
                           "%s: rank %u, op %u \"%s\" receives from any rank; a Chakra trace names the sender of each "
                           "message",
                           writer->path, writer->rank, index, program_op_name(writer->program, index));
    gboolean sends = op->kind == OP_SEND;
    if (op->tag > INT64_MAX)
        return error_input(error, "%s: rank %u, op %u \"%s\" has %s; a Chakra trace holds tags below 2^63",
                           writer->path, writer->rank, index, program_op_name(writer->program, index),
                           op->tag == TAG_ANY ? "any tag" : "a larger tag");
    writer->lost[LOST_SIGNAL] += op->signal;
    put_attribute(writer, "comm_src", INT32_VAL, sends ? writer->rank : peer);
    put_attribute(writer, "comm_dst", INT32_VAL, sends ? peer : writer->rank);
    put_attribute(writer, "comm_size", INT64_VAL, op->bytes);
    put_attribute(writer, "comm_tag", op->tag <= INT32_MAX ? INT32_VAL : INT64_VAL, op->tag);
    return TRUE;
}

static uint32_t
type_of(OpKind kind)
{
    static const uint8_t types[] = {
        [OP_COMPUTE] = CHAKRA_COMP,   [OP_HOST] = CHAKRA_COMP,     [OP_COLLECTIVE] = CHAKRA_COLL,
        [OP_SEND] = CHAKRA_SEND,      [OP_RECV] = CHAKRA_RECV,     [OP_COPY] = CHAKRA_MEM_LOAD,
        [OP_ALLOC] = CHAKRA_METADATA, [OP_FREE] = CHAKRA_METADATA, [OP_MARKER] = CHAKRA_METADATA};
    return types[kind];
}

/* Dependencies; before is the op before it on its stream, INDEX_NONE = none. */
static void
put_deps(Writer *writer, const Op *op, uint32_t before)
{
    g_string_truncate(writer->packed, 0);
    gboolean named = before == INDEX_NONE;
    writer->lost[LOST_BEGUN] += op->n_begun > 0;
    writer->lost[LOST_HOST] += (op->cpu != CPU_NONE && op->cpu != 0) || op->nic != 0;
    for (uint32_t d = 0; d < op->n_deps; d++) {
        uint32_t dep = g_array_index(writer->program->deps, uint32_t, op->first_dep + d);
        named = named || dep == before;
        put_varint(writer->packed, dep);
    }
    if (!named)
        put_varint(writer->packed, before);
    if (writer->packed->len > 0)
        put_bytes(writer->node, 5, writer->packed->str, writer->packed->len);
}

static gboolean
put_node(Writer *writer, uint32_t index, uint32_t before, GError **error)
{
    const Op *op = &g_array_index(writer->program->ops, Op, index);
    const char *name = program_op_name(writer->program, index);
    g_string_truncate(writer->node, 0);
    put_number(writer->node, 1, index);
    put_bytes(writer->node, 2, name, strlen(name));
    put_number(writer->node, 3, type_of(op->kind));
    put_deps(writer, op, before);
    put_duration(writer, op->duration_ps);
    put_attribute(writer, "is_cpu_op", BOOL_VAL, op->kind == OP_HOST);
    switch (op->kind) {
    case OP_COMPUTE:
        put_figure(writer, "num_ops", op->flops);
        put_figure(writer, "tensor_size", op->bytes_moved);
        return TRUE;
    case OP_COLLECTIVE:
        put_collective(writer, op);
        return TRUE;
    case OP_SEND:
    case OP_RECV:
        return put_message(writer, index, op, error);
    case OP_COPY:
        put_attribute(writer, "tensor_size", INT64_VAL, op->bytes);
        return TRUE;
    case OP_ALLOC:
    case OP_FREE:
        writer->lost[LOST_MEMORY]++;
        return TRUE;
    default:
        return TRUE;
    }
}

/* The streams that reading makes again: of compute and host work, and those of groups. */
static gboolean
is_made_again(const char *name)
{
    return strcmp(name, "gpu") == 0 || strcmp(name, "cpu") == 0 || g_str_has_prefix(name, "group ");
}

/* The whole file of one rank. NULL with an error. */
static GString *
rank_file(Writer *writer, GError **error)
{
    g_autoptr(GString) file = g_string_new(NULL);
    const Program *program = writer->program =
        workload_program(writer->workload, writer->workload->program_of_rank[writer->rank]);
    put_varint(file, 7);
    put_bytes(file, 1, "0.0.4", 5); /* GlobalMetadata: the version */
    g_autofree uint32_t *last = g_new(uint32_t, program->streams->len + 1);
    for (uint32_t i = 0; i < program->streams->len; i++) {
        last[i] = INDEX_NONE;
        writer->lost[LOST_STREAM] += !is_made_again(g_ptr_array_index(program->streams, i));
    }
    for (uint32_t i = 0; i < program->ops->len; i++) {
        uint32_t stream = g_array_index(program->ops, Op, i).stream;
        gboolean ordered = !program->dag && stream != INDEX_NONE;
        if (!put_node(writer, i, ordered ? last[stream] : INDEX_NONE, error))
            return NULL;
        if (ordered)
            last[stream] = i;
        put_varint(file, writer->node->len);
        g_string_append_len(file, writer->node->str, (gssize)writer->node->len);
    }
    return g_steal_pointer(&file);
}

/* The file of groups; NULL where there are none. */
static GString *
groups_file(const Writer *writer)
{
    g_autoptr(GString) text = g_string_new("{");
    for (uint32_t i = 0; i < writer->workload->groups->len; i++) {
        const Group *group = g_ptr_array_index(writer->workload->groups, i);
        for (uint32_t k = 0; writer->group_used[i] && k < group->instances->len; k++) {
            const GArray *ranks = g_ptr_array_index(group->instances, k);
            g_autofree char *id = group_id(writer, i, k);
            g_string_append_printf(text, "%s\"%s\": [", text->len > 1 ? ",\n " : "", id);
            for (uint32_t r = 0; r < ranks->len; r++)
                g_string_append_printf(text, "%s%u", r > 0 ? ", " : "", g_array_index(ranks, uint32_t, r));
            g_string_append_c(text, ']');
        }
    }
    if (text->len == 1)
        return NULL;
    g_string_append(text, "}\n");
    return g_steal_pointer(&text);
}

/* The path with word in place of its "*" or "%d". */
static char *
path_with(const char *pattern, const char *word)
{
    const char *star = strchr(pattern, '*'), *number = strstr(pattern, "%d");
    const char *at = star != NULL ? star : number;
    return g_strdup_printf("%.*s%s%s", (int)(at - pattern), pattern, word, at + (star != NULL ? 1 : 2));
}

/* Writes the file beside its place; its path goes to paths. */
static gboolean
write_beside(const GString *data, char *path, GPtrArray *paths, GError **error)
{
    g_autofree char *beside = g_strconcat(path, ".new", NULL);
    g_autoptr(GError) wrong = NULL;
    g_ptr_array_add(paths, path);
    if (g_file_set_contents_full(beside, data->str, (gssize)data->len, G_FILE_SET_CONTENTS_NONE, 0666, &wrong))
        return TRUE;
    return error_input(error, "%s: cannot be written: %s", path, wrong->message);
}

static gboolean
write_all(Writer *writer, GPtrArray *paths, GPtrArray *notes, GError **error)
{
    for (writer->rank = 0; writer->rank < writer->workload->n_ranks; writer->rank++) {
        g_autofree char *number = g_strdup_printf("%u", writer->rank);
        g_autoptr(GString) file = rank_file(writer, error);
        if (file == NULL || !write_beside(file, path_with(writer->path, number), paths, error))
            return FALSE;
    }
    g_autoptr(GString) groups = groups_file(writer);
    if (groups == NULL)
        return TRUE;
    g_autofree char *name = path_with(writer->path, "groups");
    char *path = g_strconcat(name, ".json", NULL);
    g_ptr_array_add(notes, g_strdup_printf("its groups are in %s, to be read with --groups", path));
    return write_beside(groups, path, paths, error);
}

/* Moves the files to their places, or, where not all were written, takes them away. */
static gboolean
settle_files(const GPtrArray *paths, gboolean written, GError **error)
{
    for (uint32_t i = 0; i < paths->len; i++) {
        const char *path = g_ptr_array_index(paths, i);
        g_autofree char *beside = g_strconcat(path, ".new", NULL);
        if (!written)
            unlink(beside);
        else if (g_rename(beside, path) != 0)
            written = error_input(error, "%s: cannot be written: %s", path, g_strerror(errno));
    }
    return written;
}

static gboolean
write_chakra(const Workload *workload, const char *path, GPtrArray *notes, GError **error)
{
    if (strchr(path, '*') == NULL && strstr(path, "%d") == NULL)
        return error_input(error, "%s: a Chakra trace is a file a rank; write * where the rank goes, as in t.*.et",
                           path);
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    Writer writer = {.workload = workload,
                     .path = path,
                     .first_id = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                     .group_used = g_new0(gboolean, workload->groups->len + 1),
                     .node = g_string_new(NULL),
                     .attribute = g_string_new(NULL),
                     .packed = g_string_new(NULL)};
    number_groups(&writer);
    for (uint32_t rank = 0; workload->start_ps != NULL && rank < workload->n_ranks; rank++)
        writer.lost[LOST_START] += workload->start_ps[rank] != 0;
    gboolean written = write_all(&writer, paths, notes, error);
    written = settle_files(paths, written, error);
    for (uint32_t i = 0; written && i < LOST_KINDS; i++) {
        if (writer.lost[i] > 0)
            g_ptr_array_add(notes, g_strdup_printf("%" G_GUINT64_FORMAT " %s", writer.lost[i], lost_texts[i]));
    }
    g_array_unref(writer.first_id);
    g_free(writer.group_used);
    g_string_free(writer.node, TRUE);
    g_string_free(writer.attribute, TRUE);
    g_string_free(writer.packed, TRUE);
    return written;
}

const TraceWriter writer_chakra = {"chakra", "Chakra execution traces, schema 0.0.4: one .et a rank (-o 't.*.et')",
                                   write_chakra, TRUE};
