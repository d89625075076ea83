/* program_write.c - writes any workload as program text that reads back equal; trainshed-program(5) */
#include "base/error.h"
#include "workload/program_text.h"
#include "workload/program_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const nothing[] = {NULL};

typedef struct {
    const Workload *workload;
    const Program *program;
    GString *out; /* flushed into file as it grows */
    FILE *file;
    GHashTable *repeated; /* names that several ops of the program have */
} Writer;

static void
flush(Writer *writer, size_t threshold)
{
    if (writer->out->len < threshold)
        return;
    fwrite(writer->out->str, 1, writer->out->len, writer->file); /* a failure stays in ferror */
    g_string_truncate(writer->out, 0);
}

/* Exactly, in the largest unit of which there is at least one: "4.5493ms". */
static void
write_time(GString *out, SimTime time)
{
    static const struct {
        const char *name;
        int64_t ps;
        int digits;
    } units[] = {{"s", PS_PER_S, 12}, {"ms", PS_PER_MS, 9}, {"us", PS_PER_US, 6}, {"ns", PS_PER_NS, 3}, {"ps", 1, 0}};
    size_t i = 0;
    while (i + 1 < G_N_ELEMENTS(units) && time < units[i].ps)
        i++;
    g_string_append_printf(out, "%" G_GINT64_FORMAT, time / units[i].ps);
    if (time % units[i].ps != 0) {
        g_string_append_printf(out, ".%0*" G_GINT64_FORMAT, units[i].digits, time % units[i].ps);
        while (out->str[out->len - 1] == '0')
            g_string_truncate(out, out->len - 1);
    }
    g_string_append(out, units[i].name);
}

/* Exactly, in the largest binary unit that divides it; from 2^61 on, where units end, as a plain number. */
static void
write_bytes(GString *out, uint64_t bytes)
{
    static const char *const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
    size_t i = 0;
    while (bytes > 0 && bytes >> 61 == 0 && bytes % 1024 == 0 && i + 1 < G_N_ELEMENTS(units)) {
        bytes /= 1024;
        i++;
    }
    g_string_append_printf(out, "%" G_GUINT64_FORMAT "%s", bytes, units[i]);
}

static void
write_real(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_formatd(text, sizeof text, "%.15g", value);
    if (g_ascii_strtod(text, NULL) != value)
        g_ascii_formatd(text, sizeof text, "%.17g", value);
    g_string_append(out, text);
}

/* Ascending runs as "0-3". */
static void
write_ranks(GString *out, const uint32_t *ranks, uint32_t n)
{
    for (uint32_t i = 0; i < n;) {
        uint32_t last = i;
        while (last + 1 < n && ranks[last + 1] == ranks[last] + 1)
            last++;
        if (last > i + 1)
            g_string_append_printf(out, " %u-%u", ranks[i], ranks[last]);
        else
            last = i;
        if (last == i)
            g_string_append_printf(out, " %u", ranks[i]);
        i = last + 1;
    }
}

/* Is this group the axis of a mesh with this stride? Then its size, else 0. */
static uint32_t
axis_size(const Workload *workload, const Group *group, uint64_t stride)
{
    if (group->instances->len == 0 || strchr(group->name, '=') != NULL || group->name[0] == '\0')
        return 0;
    uint64_t size = ((const GArray *)g_ptr_array_index(group->instances, 0))->len;
    if (size == 0 || stride * size > workload->n_ranks || workload->n_ranks % (stride * size) != 0)
        return 0;
    if (group->instances->len != workload->n_ranks / size)
        return 0;
    for (uint32_t i = 0; i < group->instances->len; i++) {
        const GArray *members = g_ptr_array_index(group->instances, i);
        if (members->len != size)
            return 0;
        for (uint32_t m = 0; m < size; m++) {
            if (g_array_index(members, uint32_t, m) != (i / stride * size + m) * stride + i % stride)
                return 0;
        }
    }
    return (uint32_t)size;
}

/* Writes the mesh of two axes or more that begins at this group; how many groups it takes, 0 where there is none. */
static uint32_t
write_mesh(Writer *writer, uint32_t first)
{
    const Workload *workload = writer->workload;
    g_autoptr(GString) line = g_string_new("mesh");
    uint64_t stride = 1;
    for (uint32_t i = first; i < workload->groups->len; i++) {
        const Group *group = g_ptr_array_index(workload->groups, i);
        uint32_t size = axis_size(workload, group, stride);
        if (size == 0)
            return 0;
        g_autofree char *axis = g_strdup_printf("%s=%u", group->name, size);
        g_string_append_c(line, ' ');
        token_write(line, axis, nothing);
        stride *= size;
        if (stride == workload->n_ranks && i > first) {
            g_string_append_printf(writer->out, "%s\n", line->str);
            return i - first + 1;
        }
    }
    return 0;
}

static void
write_group(Writer *writer, const Group *group)
{
    g_string_append(writer->out, "group ");
    token_write(writer->out, group->name, nothing);
    for (uint32_t i = 0; i < group->instances->len; i++) {
        const GArray *members = g_ptr_array_index(group->instances, i);
        g_string_append(writer->out, i > 0 ? " |" : "");
        write_ranks(writer->out, (const uint32_t *)(const void *)members->data, members->len);
    }
    g_string_append_c(writer->out, '\n');
}

static void
write_head(Writer *writer)
{
    const Workload *workload = writer->workload;
    GString *out = writer->out;
    g_string_append_printf(out, "program 1\nranks %u\n", workload->n_ranks);
    if (workload->description != NULL) {
        g_string_append(out, "description ");
        token_write(out, workload->description, nothing);
        g_string_append_c(out, '\n');
    }
    for (uint32_t i = 0; i < workload->notes->len; i++) {
        g_string_append(out, "note ");
        token_write(out, g_ptr_array_index(workload->notes, i), nothing);
        g_string_append_c(out, '\n');
    }
    if (workload->recorded_collectives)
        g_string_append(out, "recorded_collectives\n");
    for (uint32_t i = 0; i < workload->groups->len;) {
        uint32_t taken = write_mesh(writer, i);
        if (taken == 0)
            write_group(writer, g_ptr_array_index(workload->groups, i));
        i += MAX(taken, 1);
        flush(writer, 1 << 20);
    }
    for (uint32_t rank = 0; workload->start_ps != NULL && rank < workload->n_ranks; rank++) {
        if (workload->start_ps[rank] == 0 && rank > 0)
            continue;
        g_string_append_printf(out, "start %u ", rank);
        write_time(out, workload->start_ps[rank]);
        g_string_append_c(out, '\n');
    }
}

static void
write_peer(Writer *writer, const Op *op)
{
    GString *out = writer->out;
    g_string_append(out, op->kind == OP_SEND ? " to " : " from ");
    if (op->peer_form == PEER_ANY) {
        g_string_append(out, "any");
    } else if (op->peer_form == PEER_RANK) {
        g_string_append_printf(out, "%d", op->peer);
    } else {
        const char *name = ((const Group *)g_ptr_array_index(writer->workload->groups, op->group))->name;
        gboolean simple = !g_ascii_isdigit(name[0]) && name[0] != '\0';
        for (const char *c = name; *c != '\0'; c++)
            simple = simple && (g_ascii_isalnum(*c) || *c == '_');
        if (simple) {
            g_string_append_printf(out, "%s%+d", name, op->peer);
            return;
        }
        static const char *quote[] = {NULL, NULL};
        quote[0] = name;
        token_write(out, name, quote);
        g_string_append_printf(out, " %+d", op->peer);
    }
}

static void
write_collective(Writer *writer, const Op *op)
{
    const Group *group = g_ptr_array_index(writer->workload->groups, op->group);
    g_string_append(writer->out, " group ");
    token_write(writer->out, group->name, nothing);
    if (op->root != 0)
        g_string_append_printf(writer->out, " root %u", op->root);
    if (op->splits == INDEX_NONE)
        return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < group->instances->len && n == 0; i++)
        n = ((const GArray *)g_ptr_array_index(group->instances, i))->len;
    g_string_append(writer->out, " splits ");
    for (uint32_t i = 0; i < n; i++) {
        g_string_append(writer->out, i > 0 ? ", " : "");
        write_bytes(writer->out, g_array_index(writer->workload->splits, uint64_t, op->splits + i));
    }
}

/* What an op costs and moves, by its kind. */
static void
write_figures(Writer *writer, const Op *op)
{
    GString *out = writer->out;
    uint32_t clauses = program_clauses_of(op->kind);
    if ((clauses & 1u << CLAUSE_TIME) && op->duration_ps >= 0) {
        g_string_append(out, " time ");
        write_time(out, op->duration_ps);
    }
    if (op->kind == OP_COMPUTE) {
        if (op->flops > 0 || (op->duration_ps < 0 && !(op->bytes_moved > 0))) {
            g_string_append(out, " flops ");
            write_real(out, op->flops);
        }
        if (op->bytes_moved > 0) {
            g_string_append(out, " bytes ");
            write_real(out, op->bytes_moved);
        }
    } else if ((clauses & 1u << CLAUSE_BYTES) && op->splits == INDEX_NONE && !op->signal) {
        g_string_append(out, " bytes ");
        write_bytes(out, op->bytes);
    }
    if ((clauses & 1u << CLAUSE_TAG) && op->tag == TAG_ANY)
        g_string_append(out, " tag any");
    else if ((clauses & 1u << CLAUSE_TAG) && op->tag != 0)
        g_string_append_printf(out, " tag %" G_GUINT64_FORMAT, op->tag);
    if (op->signal)
        g_string_append(out, " signal");
    if (op->cpu != CPU_NONE)
        g_string_append_printf(out, " cpu %u", op->cpu);
    if (op->nic != 0)
        g_string_append_printf(out, " nic %u", op->nic);
}

static void
write_deps(Writer *writer, const Op *op)
{
    for (uint32_t d = 0; d < op->n_deps; d++) {
        uint32_t dep = g_array_index(writer->program->deps, uint32_t, op->first_dep + d);
        const char *name = program_op_name(writer->program, dep);
        g_string_append(writer->out, d == op->n_deps - op->n_begun ? " begun " : d == 0 ? " after " : ", ");
        if (g_hash_table_contains(writer->repeated, name))
            g_string_append_printf(writer->out, "@%u", dep);
        else
            token_write(writer->out, name, program_clauses);
    }
}

static void
write_op(Writer *writer, uint32_t index)
{
    const Op *op = &g_array_index(writer->program->ops, Op, index);
    g_string_append_printf(writer->out, "  %s ",
                           op->kind == OP_COLLECTIVE ? collective_kind_name(op->collective) : op_kind_name(op->kind));
    token_write(writer->out, program_op_name(writer->program, index), program_clauses);
    if (op->kind == OP_COLLECTIVE)
        write_collective(writer, op);
    if (op->kind == OP_SEND || op->kind == OP_RECV)
        write_peer(writer, op);
    write_figures(writer, op);
    write_deps(writer, op);
    g_string_append_c(writer->out, '\n');
}

static void
write_stream(Writer *writer, uint32_t stream, gboolean declare)
{
    static const char *const reserved[] = {"-", NULL};
    g_string_append(writer->out, "  stream ");
    if (stream == INDEX_NONE)
        g_string_append_c(writer->out, '-');
    else
        token_write(writer->out, g_ptr_array_index(writer->program->streams, stream), reserved);
    if (declare && g_array_index(writer->program->exclusive, gboolean, stream))
        g_string_append(writer->out, " exclusive");
    g_string_append_c(writer->out, '\n');
}

/* Names that stand for more than one op, so that they must be named by number. */
static void
find_repeated(Writer *writer)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_remove_all(writer->repeated);
    for (uint32_t i = 0; i < writer->program->ops->len; i++) {
        char *name = (char *)program_op_name(writer->program, i);
        if (!g_hash_table_add(seen, name))
            g_hash_table_add(writer->repeated, name);
    }
}

static void
write_program(Writer *writer, uint32_t index)
{
    const Workload *workload = writer->workload;
    const Program *program = workload_program(workload, index);
    g_autofree char *number = g_strdup_printf("program %u", index);
    writer->program = program;
    find_repeated(writer);

    g_string_append(writer->out, "\nrole ");
    token_write(writer->out, program->name != NULL ? program->name : number, nothing);
    g_string_append(writer->out, program->dag ? " dag ranks" : " ranks");
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t rank = 0; rank < workload->n_ranks; rank++) {
        if (workload->program_of_rank[rank] == index)
            g_array_append_val(ranks, rank);
    }
    if (ranks->len == 0)
        g_string_append(writer->out, " none");
    write_ranks(writer->out, (const uint32_t *)(const void *)ranks->data, ranks->len);
    g_string_append_c(writer->out, '\n');

    for (uint32_t i = 0; i < program->streams->len; i++)
        write_stream(writer, i, TRUE);
    uint32_t stream = program->streams->len > 0 ? program->streams->len - 1 : INDEX_NONE;
    for (uint32_t i = 0; i < program->ops->len; i++) {
        uint32_t on = g_array_index(program->ops, Op, i).stream;
        if (on != stream)
            write_stream(writer, on, FALSE);
        stream = on;
        write_op(writer, i);
        flush(writer, 1 << 20);
    }
}

static gboolean
write_file(Writer *writer, const char *path, const char *temporary, GError **error)
{
    write_head(writer);
    for (uint32_t i = 0; i < writer->workload->programs->len; i++)
        write_program(writer, i);
    flush(writer, 0);
    gboolean failed = fflush(writer->file) != 0 || ferror(writer->file) != 0;
    int reason = errno;
    if (fclose(writer->file) != 0 && !failed) {
        failed = TRUE;
        reason = errno;
    }
    if (failed)
        return error_input(error, "%s: cannot be written: %s", path, g_strerror(reason));
    if (rename(temporary, path) != 0)
        return error_input(error, "%s: cannot be written: %s", path, g_strerror(errno));
    return TRUE;
}

gboolean
program_text_write(const Workload *workload, const char *path, GError **error)
{
    g_autofree char *temporary = g_strdup_printf("%s.XXXXXX", path);
    int descriptor = g_mkstemp_full(temporary, O_WRONLY, 0666);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    if (file == NULL)
        return error_input(error, "%s: cannot be written: %s", path, g_strerror(errno));

    Writer writer = {.workload = workload,
                     .out = g_string_new(NULL),
                     .file = file,
                     .repeated = g_hash_table_new(g_str_hash, g_str_equal)};
    gboolean ok = write_file(&writer, path, temporary, error);
    if (!ok)
        unlink(temporary);
    g_string_free(writer.out, TRUE);
    g_hash_table_unref(writer.repeated);
    return ok;
}
