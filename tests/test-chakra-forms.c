/* test-chakra-forms.c - one trace in every form of Chakra becomes one program
 *
 * Traces are drawn by seed, written by this file's own writers in each schema and rendering, and what is read is
 * compared with what was drawn. The older schemas have no public samples: their writers follow the .proto files of
 * mlcommons/chakra (eg_def.proto of 2023; 0.0.2 2719463; 0.0.3 9d917e3) as ../shared/formats/chakra.md describes them.
 */
#include "config.h"

#include "support.h"
#include "wire.h"

#include "base/error.h"
#include "base/random.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <stdio.h>

static char folder[] = "/tmp/trainshed-test-chakra-forms-XXXXXX";

enum { MOST_NODES = 24 };

/* A node of a drawn trace, types and kinds as 0.0.4 counts them. */
typedef struct {
    uint64_t id;
    uint32_t type;
    uint64_t us, flops, moved;
    uint32_t comm_type;
    uint64_t bytes;
    uint32_t peer, tag;
    gboolean all_dims;
    uint32_t n_deps, deps[4]; /* nodes before it */
} Drawn;

typedef struct {
    Drawn nodes[MOST_NODES];
    uint32_t n;
} DrawnRank;

/* --- drawing --- */

static uint32_t
below(Random *random, uint32_t n)
{
    return (uint32_t)random_below(random, n);
}

static Drawn
draw_node(Random *random, uint32_t place, gboolean timed)
{
    static const uint32_t types[] = {2, 3, 4, 4, 4, 5, 7, 7}, kinds[] = {0, 2, 6, 7};
    Drawn node = {.id = 10 + 3 * place, .type = types[below(random, G_N_ELEMENTS(types))]};
    node.us = timed ? 1 + below(random, 1000) : 0;
    node.flops = 1 + below(random, 1 << 20);
    node.moved = 1 + below(random, 1 << 20);
    node.comm_type = kinds[below(random, G_N_ELEMENTS(kinds))];
    node.bytes = 1 + below(random, UINT32_MAX);
    node.tag = below(random, 300);
    node.all_dims = below(random, 4) > 0;
    for (uint32_t d = 0; place > 0 && d < below(random, 5); d++) {
        uint32_t dep = below(random, place), i = 0;
        while (i < node.n_deps && node.deps[i] != dep)
            i++;
        if (i == node.n_deps)
            node.deps[node.n_deps++] = dep;
    }
    return node;
}

/* Two ranks: the second does what the first does, and receives what it sends. */
static void
draw(uint64_t seed, gboolean timed, DrawnRank ranks[2])
{
    Random random = random_named(seed, "chakra forms");
    ranks[0].n = 1 + below(&random, MOST_NODES);
    for (uint32_t i = 0; i < ranks[0].n; i++)
        ranks[0].nodes[i] = draw_node(&random, i, timed);
    ranks[1] = ranks[0];
    for (uint32_t i = 0; i < ranks[0].n; i++) {
        ranks[0].nodes[i].peer = 1;
        if (ranks[1].nodes[i].type == 5)
            ranks[1].nodes[i].type = 6;
    }
}

/* --- writing: 0.0.4 --- */

static gboolean
talks(const Drawn *node)
{
    return node->type >= 5;
}

static const char *
name_of(const Drawn *node)
{
    static char name[32];
    g_snprintf(name, sizeof name, "node-%u", (unsigned)node->id);
    return name;
}

static void
put_bools(GString *node, uint32_t attribute_field, uint32_t list_field, gboolean last)
{
    g_autoptr(GString) attribute = g_string_new(NULL);
    const char list[] = {0x0a, 2, 1, (char)last};
    put_bytes(attribute, 1, "involved_dim", 12);
    put_bytes(attribute, list_field, list, sizeof list);
    put_bytes(node, attribute_field, attribute->str, attribute->len);
}

static GString *
write_004(const DrawnRank *rank, const char *metadata, size_t length)
{
    GString *file = g_string_new(NULL);
    put_record(file, g_string_new_len(metadata, (gssize)length));
    for (uint32_t i = 0; i < rank->n; i++) {
        const Drawn *drawn = &rank->nodes[i];
        GString *node = node_new(drawn->id, name_of(drawn), drawn->type);
        for (uint32_t d = 0; d < drawn->n_deps; d++)
            put_number(node, d % 2 == 0 ? 4 : 5, rank->nodes[drawn->deps[d]].id);
        if (drawn->us > 0)
            put_number(node, 7, drawn->us);
        if (!talks(drawn)) {
            put_attribute(node, "num_ops", 9, drawn->flops);
            put_attribute(node, "tensor_size", 13, drawn->moved);
        } else {
            put_attribute(node, "comm_size", 9, drawn->bytes);
            put_attribute(node, drawn->type == 5 ? "comm_dst" : "comm_src", 7, drawn->peer);
            put_attribute(node, "comm_tag", 7, drawn->tag);
        }
        if (drawn->type == 7) {
            put_attribute(node, "comm_type", 9, drawn->comm_type);
            put_bools(node, 10, 28, drawn->all_dims);
        }
        put_record(file, node);
    }
    return file;
}

static GString *
write_now(const DrawnRank *rank)
{
    return write_004(rank,
                     "\x0a\x05"
                     "0.0.4",
                     7);
}

/* The first days of 0.0.4: attributes of GlobalMetadata in field 1, and no version. */
static GString *
write_first_004(const DrawnRank *rank)
{
    return write_004(rank, "\x0a\x0f\x0a\x06schema\xea\x01\x04test", 17);
}

/* --- writing: older schemas --- */

/* comm_type of 0.0.2 and 0.0.3 by today's. */
static uint32_t
old_kind(uint32_t comm_type)
{
    return comm_type == 0 ? 0 : comm_type == 6 ? 1 : comm_type == 2 ? 2 : 3;
}

static GString *
write_001(const DrawnRank *rank)
{
    GString *file = g_string_new(NULL);
    for (uint32_t i = 0; i < rank->n; i++) {
        const Drawn *drawn = &rank->nodes[i];
        GString *node = node_new(drawn->id, name_of(drawn), drawn->type - 1);
        for (uint32_t d = 0; d < drawn->n_deps; d++)
            put_number(node, 4, rank->nodes[drawn->deps[d]].id);
        if (!talks(drawn))
            put_number(node, 6, drawn->moved);
        if (drawn->us > 0)
            put_number(node, 7, drawn->us * 1000); /* cycles of 1 ns */
        if (!talks(drawn)) {
            put_number(node, 12, drawn->flops);
        } else {
            if (drawn->type == 7) {
                put_number(node, 13, old_kind(drawn->comm_type) + 1);
                put_number(node, 14, 1);
                put_number(node, 14, (uint64_t)drawn->all_dims);
            }
            put_number(node, drawn->type == 5 ? 17 : 16, drawn->peer);
            put_number(node, 18, drawn->bytes);
            put_number(node, 19, drawn->tag);
        }
        put_record(file, node);
    }
    return file;
}

/* An attribute of 0.0.2 or 0.0.3 that is an integer: name, type (INT), value. */
static void
put_old(GString *node, const char *name, uint32_t field, uint64_t value)
{
    g_autoptr(GString) attribute = g_string_new(NULL);
    put_bytes(attribute, 1, name, strlen(name));
    put_number(attribute, 2, 2);
    put_number(attribute, field, value);
    put_bytes(node, 11, attribute->str, attribute->len);
}

static GString *
write_23(const DrawnRank *rank, gboolean third, gboolean metadata)
{
    const uint32_t i_field = third ? 6 : 5;
    GString *file = metadata ? file_new() : g_string_new(NULL);
    for (uint32_t i = 0; i < rank->n; i++) {
        const Drawn *drawn = &rank->nodes[i];
        GString *node = node_new(drawn->id, name_of(drawn), third ? drawn->type : drawn->type - 1);
        for (uint32_t d = 0; d < drawn->n_deps; d++)
            put_number(node, 4, rank->nodes[drawn->deps[d]].id);
        put_bytes(node, 5, "[1]", 3);
        put_bytes(node, 10, "['Int']", 7);
        put_old(node, "runtime", i_field, drawn->us);
        if (!talks(drawn)) {
            put_old(node, "num_ops", i_field, drawn->flops);
            put_old(node, "tensor_size", i_field, drawn->moved);
        } else {
            put_old(node, "comm_size", i_field, drawn->bytes);
            put_old(node, drawn->type == 5 ? "comm_dst" : "comm_src", i_field, drawn->peer);
            put_old(node, "comm_tag", i_field, drawn->tag);
        }
        if (drawn->type == 7) {
            g_autoptr(GString) attribute = g_string_new(NULL);
            put_old(node, "comm_type", i_field, old_kind(drawn->comm_type));
            put_bytes(attribute, 1, "involved_dim", 12);
            put_number(attribute, 8, 1); /* bools of 0.0.3, ints of 0.0.2: one by one */
            put_number(attribute, 8, (uint64_t)drawn->all_dims);
            put_bytes(node, 11, attribute->str, attribute->len);
        }
        put_record(file, node);
    }
    return file;
}

static GString *
write_002(const DrawnRank *rank)
{
    return write_23(rank, FALSE, FALSE);
}

static GString *
write_003(const DrawnRank *rank)
{
    return write_23(rank, TRUE, FALSE);
}

/* From August 2023 on. */
static GString *
write_003_metadata(const DrawnRank *rank)
{
    return write_23(rank, TRUE, TRUE);
}

/* --- writing: JSON --- */

static const char *const type_names[] = {"INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
                                         "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
static const char *const kind_names[] = {"ALL_REDUCE", "", "ALL_GATHER", "", "", "", "ALL_TO_ALL", "REDUCE_SCATTER"};

static void
put_ids(GString *out, const char *key, const DrawnRank *rank, const Drawn *drawn, const char *quote)
{
    g_string_append_printf(out, ", \"%s\": [", key);
    for (uint32_t d = 0; d < drawn->n_deps; d++)
        g_string_append_printf(out, "%s%s%" G_GUINT64_FORMAT "%s", d > 0 ? ", " : "", quote,
                               rank->nodes[drawn->deps[d]].id, quote);
    g_string_append_c(out, ']');
}

/* Attributes under their own names. */
static void
put_flat(GString *out, const Drawn *drawn, gboolean names)
{
    if (!talks(drawn))
        g_string_append_printf(out, ", \"num_ops\": %u, \"tensor_size\": %u", (unsigned)drawn->flops,
                               (unsigned)drawn->moved);
    else
        g_string_append_printf(out, ", \"comm_size\": %u, \"%s\": %u, \"comm_tag\": %u", (unsigned)drawn->bytes,
                               drawn->type == 5 ? "comm_dst" : "comm_src", drawn->peer, drawn->tag);
    if (drawn->type == 7 && names)
        g_string_append_printf(out, ", \"comm_type\": \"%s\"", kind_names[drawn->comm_type]);
    else if (drawn->type == 7)
        g_string_append_printf(out, ", \"comm_type\": %u", drawn->comm_type);
    if (drawn->type == 7)
        g_string_append_printf(out, ", \"involved_dim\": [true, %s]", drawn->all_dims ? "true" : "false");
    g_string_append_c(out, '}');
}

static GString *
write_graph(const DrawnRank *rank)
{
    GString *out = g_string_new("{\"workload_graph\": [");
    for (uint32_t i = 0; i < rank->n; i++) {
        const Drawn *drawn = &rank->nodes[i];
        g_string_append_printf(out, "%s{\"Id\": %u, \"Name\": \"%s\", \"NodeType\": %u, \"runtime\": %u",
                               i > 0 ? ",\n" : "", (unsigned)drawn->id, name_of(drawn), drawn->type,
                               (unsigned)drawn->us);
        put_ids(out, i % 2 == 0 ? "data_deps" : "ctrlDeps", rank, drawn, "");
        put_flat(out, drawn, FALSE);
    }
    g_string_append(out, "], \"ngpus\": 2}");
    return out;
}

/* The symbolic tensor graph's; it has no durations. */
static GString *
write_nodes(const DrawnRank *rank)
{
    GString *out = g_string_new("{\"nodes\": [");
    for (uint32_t i = 0; i < rank->n; i++) {
        const Drawn *drawn = &rank->nodes[i];
        g_autofree char *type = g_ascii_strdown(drawn->type == 7 ? "coll_comm_node" : type_names[drawn->type], -1);
        g_string_append_printf(out, "%s{\"id\": %u, \"name\": \"%s\", \"node_type\": \"%s\"", i > 0 ? ", " : "",
                               (unsigned)drawn->id, name_of(drawn), type);
        put_ids(out, i % 2 == 0 ? "data_deps" : "ctrl_deps", rank, drawn, "");
        put_flat(out, drawn, TRUE);
    }
    g_string_append(out, "]}");
    return out;
}

static GString *
write_array(const DrawnRank *rank)
{
    g_autoptr(GString) nodes = write_nodes(rank);
    return g_string_new_len(nodes->str + strlen("{\"nodes\": "), (gssize)(nodes->len - strlen("{\"nodes\": ") - 1));
}

/* protobuf's JSON of each message: 64-bit numbers are texts, what is 0 is left out but within an attribute. */
static GString *
write_messages(const DrawnRank *rank)
{
    GString *out = g_string_new("{\n  \"version\": \"0.0.4\"\n}");
    for (uint32_t i = 0; i < rank->n; i++) {
        const Drawn *drawn = &rank->nodes[i];
        g_string_append_printf(out, "{\n  \"id\": \"%u\",\n  \"name\": \"%s\",\n  \"type\": \"%s\"",
                               (unsigned)drawn->id, name_of(drawn), type_names[drawn->type]);
        put_ids(out, i % 2 == 0 ? "dataDeps" : "ctrlDeps", rank, drawn, "\"");
        if (drawn->us > 0)
            g_string_append_printf(out, ", \"durationMicros\": \"%u\"", (unsigned)drawn->us);
        g_string_append(out, ", \"attr\": [{\"name\": \"is_cpu_op\", \"boolVal\": false}");
        if (!talks(drawn))
            g_string_append_printf(
                out,
                ", {\"name\": \"num_ops\", \"int64Val\": \"%u\"}, {\"name\": \"tensor_size\", \"uint64Val\": \"%u\"}",
                (unsigned)drawn->flops, (unsigned)drawn->moved);
        else
            g_string_append_printf(
                out,
                ", {\"name\": \"comm_size\", \"int64Val\": \"%u\"}, {\"name\": \"%s\", \"int32Val\": "
                "%u}, {\"name\": \"comm_tag\", \"int32Val\": %u}",
                (unsigned)drawn->bytes, drawn->type == 5 ? "comm_dst" : "comm_src", drawn->peer, drawn->tag);
        if (drawn->type == 7)
            g_string_append_printf(out,
                                   ", {\"name\": \"comm_type\", \"int64_val\": \"%u\"}, {\"name\": \"involved_dim\", "
                                   "\"boolList\": {\"values\": [true, %s]}}",
                                   drawn->comm_type, drawn->all_dims ? "true" : "false");
        g_string_append(out, "]\n}");
    }
    return out;
}

/* --- reading --- */

static const struct {
    const char *name, *format, *schema;
    GString *(*write)(const DrawnRank *rank);
    gboolean untimed; /* it has no durations */
} forms[] = {
    {"0.0.4", "chakra", "0.0.4", write_now, FALSE},
    {"first 0.0.4", "chakra", "0.0.4", write_first_004, FALSE},
    {"0.0.3", "chakra", "0.0.3", write_003, FALSE},
    {"0.0.3 with metadata", "chakra", "0.0.3", write_003_metadata, FALSE},
    {"0.0.2", "chakra", "0.0.2", write_002, FALSE},
    {"0.0.1", "chakra", "0.0.1", write_001, FALSE},
    {"workload_graph", "chakra-json", "JSON, workload_graph", write_graph, FALSE},
    {"nodes", "chakra-json", "JSON, nodes", write_nodes, TRUE},
    {"array", "chakra-json", "JSON, an array of nodes", write_array, TRUE},
    {"messages", "chakra-json", "JSON, messages of schema 0.0.4", write_messages, FALSE},
};

/* ASTRA-sim's all-gather counts what each of the 2 contributes. */
static void
expect_op(const Workload *workload, uint32_t rank, uint32_t index, const DrawnRank *drawn_rank)
{
    static const CollectiveKind kinds[] = {
        COLLECTIVE_ALL_REDUCE, 0, COLLECTIVE_ALL_GATHER, 0, 0, 0, COLLECTIVE_ALL_TO_ALL, COLLECTIVE_REDUCE_SCATTER};
    static const OpKind op_kinds[] = {0, 0, OP_COPY, OP_COPY, OP_COMPUTE, OP_SEND, OP_RECV, OP_COLLECTIVE};
    const Program *program = workload_program(workload, workload->program_of_rank[rank]);
    const Op *op = &g_array_index(program->ops, Op, index);
    const Drawn *drawn = &drawn_rank->nodes[index];
    ck_assert_str_eq(program_op_name(program, index), name_of(drawn));
    ck_assert_uint_eq(op->kind, op_kinds[drawn->type]);
    ck_assert_int_eq(op->duration_ps, drawn->us > 0 ? (SimTime)drawn->us * PS_PER_US : -1);
    if (op->kind == OP_COMPUTE) {
        ck_assert_double_eq(op->flops, (double)drawn->flops);
        ck_assert_double_eq(op->bytes_moved, (double)drawn->moved);
    } else if (op->kind == OP_COPY) {
        ck_assert_uint_eq(op->bytes, drawn->moved);
    } else if (op->kind == OP_COLLECTIVE) {
        ck_assert_uint_eq(op->collective, kinds[drawn->comm_type]);
        ck_assert_uint_eq(op->bytes, drawn->bytes * (drawn->comm_type == 2 ? 2 : 1));
    } else {
        ck_assert_int_eq(op->peer, (int)drawn->peer);
        ck_assert_uint_eq(op->bytes, drawn->bytes);
        ck_assert_uint_eq(op->tag, drawn->tag);
    }
    ck_assert_uint_eq(op->n_deps, drawn->n_deps);
    for (uint32_t d = 0; d < op->n_deps; d++) {
        uint32_t dep = g_array_index(program->deps, uint32_t, op->first_dep + d), i = 0;
        while (i < drawn->n_deps && drawn->deps[i] != dep)
            i++;
        ck_assert_uint_lt(i, drawn->n_deps);
    }
}

static uint32_t
count_partial(const DrawnRank ranks[2])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ranks[0].n; i++)
        n += 2 * (ranks[0].nodes[i].type == 7 && !ranks[0].nodes[i].all_dims);
    return n;
}

static void
expect_form(uint32_t form, const DrawnRank ranks[2])
{
    char *files[3] = {NULL};
    for (uint32_t rank = 0; rank < 2; rank++) {
        g_autoptr(GString) text = forms[form].write(&ranks[rank]);
        files[rank] = g_strdup_printf("%s/form.%u", folder, rank);
        FILE *file = fopen(files[rank], "wb");
        ck_assert(file != NULL && fwrite(text->str, 1, text->len, file) == text->len && fclose(file) == 0);
    }
    GError *error = NULL;
    const TraceFormat *format = trace_format_recognise(files[0], &error);
    ck_assert_msg(format != NULL, "%s: %s", forms[form].name, error ? error->message : "");
    ck_assert_str_eq(format->name, forms[form].format);
    TraceSource source = {.files = files, .n_files = 2};
    g_autoptr(GString) told = g_string_new(NULL);
    g_autofree char *schema = g_strdup_printf("schema: %s\n", forms[form].schema);
    ck_assert(format->outline(&source, told, NULL));
    ck_assert_msg(g_str_has_prefix(told->str, schema), "%s: %s", forms[form].name, told->str);

    g_autoptr(Workload) workload = format->read(&source, &error);
    ck_assert_msg(workload != NULL, "%s: %s", forms[form].name, error ? error->message : "");
    for (uint32_t rank = 0; rank < 2; rank++) {
        ck_assert_uint_eq(workload_program(workload, workload->program_of_rank[rank])->ops->len, ranks[rank].n);
        for (uint32_t i = 0; i < ranks[rank].n; i++)
            expect_op(workload, rank, i, &ranks[rank]);
        g_free(files[rank]);
    }
    uint32_t n_partial = count_partial(ranks);
    g_autofree char *note = g_strdup_printf("%u collectives involve only some", n_partial);
    ck_assert_uint_eq(workload->notes->len, n_partial > 0);
    ck_assert(n_partial == 0 || g_str_has_prefix(g_ptr_array_index(workload->notes, 0), note));
}

START_TEST(a_trace_is_the_same_in_every_form)
{
    gboolean timed = _i % 2 == 1;
    DrawnRank ranks[2];
    draw((uint64_t)_i, timed, ranks);
    for (uint32_t form = 0; form < G_N_ELEMENTS(forms); form++) {
        if (!timed || !forms[form].untimed)
            expect_form(form, ranks);
    }
}
END_TEST

/* --- what tells schemas apart, and what cannot --- */

static GError *
refusal(GString *file)
{
    g_autofree char *path = g_build_filename(folder, "one.0.et", NULL);
    ck_assert(g_file_set_contents(path, file->str, (gssize)file->len, NULL));
    g_string_free(file, TRUE);
    char *files[] = {path, NULL};
    TraceSource source = {.files = files, .n_files = 1};
    GError *error = NULL;
    ck_assert_ptr_null(trace_chakra.read(&source, &error));
    return error;
}

START_TEST(schemas_that_no_field_tells_apart_are_refused)
{
    GString *file = g_string_new(NULL);
    put_record(file, node_new(1, "a", 4));
    GError *error = refusal(file);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "one.0.et: the file begins with a node, as before schema 0.0.4, and no field tells schema "
                         "0.0.2 from 0.0.3, whose node types differ");
}
END_TEST

/* A record that is not of the schema of the others. */
START_TEST(a_record_of_another_schema_is_named)
{
    GString *file = file_new();
    for (uint32_t id = 1; id <= 3; id++) {
        GString *node = node_new(id, "a", 4);
        if (id == 2)
            put_old(node, "runtime", 6, 5); /* an attribute of 0.0.3 */
        else
            put_number(node, 7, 5);
        put_record(file, node);
    }
    GError *error = refusal(file);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "one.0.et: byte 11: record 2: field 11 is bytes, which is not of schema 0.0.4");
}
END_TEST

/* A broadcast came late to 0.0.3; 0.0.1 has none. */
START_TEST(kinds_that_an_old_schema_lacks_are_refused)
{
    GString *file = g_string_new(NULL), *node = node_new(1, "c", 7);
    put_old(node, "comm_type", 6, 5);
    put_record(file, node);
    GError *error = refusal(file);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "one.0.et: byte 0: record 0: node 1 \"c\": comm_type is 5 of the old count; expected 0 to 4");
}
END_TEST

/* A storage node as mlcommons/chakra's pull request 216 proposes it: type 8, field 11 with level (a number) first. */
START_TEST(proposed_storage_nodes_take_their_time)
{
    GString *file = file_new(), *node = node_new(1, "checkpoint", 8);
    put_number(node, 7, 40);
    put_bytes(node, 11, "\x08\x01", 2);
    put_record(file, node);
    g_autofree char *path = g_build_filename(folder, "one.0.et", NULL);
    ck_assert(g_file_set_contents(path, file->str, (gssize)file->len, NULL));
    g_string_free(file, TRUE);
    char *files[] = {path, NULL};
    TraceSource source = {.files = files, .n_files = 1};
    g_autoptr(Workload) workload = trace_chakra.read(&source, NULL);
    ck_assert_ptr_nonnull(workload);
    const Op *op = &g_array_index(workload_program(workload, 0)->ops, Op, 0);
    ck_assert_uint_eq(op->kind, OP_COPY);
    ck_assert_int_eq(op->duration_ps, 40 * PS_PER_US);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0),
                     "1 nodes are of the types 8 to 10 proposed for the schema (storage, batch, checkpoint); they are "
                     "copies of their recorded time");
}
END_TEST

/* --- JSON that is refused --- */

static const struct {
    const char *text, *message;
} json_files[] = {
    {"{\"workload_graph\": [{\"Id\": 1, \"Name\": \"a\", \"NodeType\": 4, \"runtime\": 2, \"num_ops\": 5, \"x\": {}}]}",
     NULL},
    {"\xef\xbb\xbf{\"ngpus\": 8, \"workload_graph\": [{\"NodeType\": 4, \"Id\": 1, \"Name\": \"a\", \"num_ops\": 5, "
     "\"runtime\": 2}]}",
     NULL},
    {"{}{\"type\": \"COMP_NODE\", \"duration_micros\": \"2\", \"attr\": [{\"name\": \"num_ops\", \"fixed64_val\": "
     "\"5\"}, {\"name\": \"inputs\"}, {\"name\": \"x\", \"stringVal\": \"y\"}]}",
     NULL}, /* id 0 is left out */
    {"3", ":1: neither an object nor an array"},
    {"{}", ":1: there is no \"workload_graph\", no \"nodes\", and no message of a node follows"},
    {"{}{}[]", ":1: not an object; expected a message of a node"},
    {"{}{\"id\": \"x\"}", ":1: id is x; expected a whole number from 0 to 2^64 - 1"},
    {"{}{\"attr\": 3}", ":1: attr is no array of attributes"},
    {"{}{\"attr\": [3]}", ":1: attr holds what is no attribute"},
    {"{}{\"id\": \"4\",\n\"name\": \"n\", \"attr\": [{\"name\": \"comm_size\", \"doubleVal\": 1.5}]}",
     ":2: node 4 \"n\": attribute comm_size is a floating-point number; expected a whole number"},
    {"{}{\"id\": \"4\", \"durationMicros\": \"9223372036855\"}",
     ":1: node 4 \"\": durationMicros is 9223372036855; longer than 106 days"},
    {"{\"workload_graph\": 3}", ":1: workload_graph is no array"},
    {"{\"workload_graph\": [3]}", ":1: an array of nodes holds what is no object"},
    {"{\"workload_graph\": []}", ": there are no nodes in it"},
    {"{\"workload_graph\": [], \"nodes\": []}", ":1: nodes are given twice"},
    {"{\"nodes\": []} 3", ":1: more follows after the end of the nodes"},
    {"{\"workload_graph\": [{\"Id\": 1}]}", ":1: a node has no type"},
    {"{\"workload_graph\": [\n{\"NodeType\": 1}]}", ":2: a node has no id"},
    {"{\"workload_graph\": [{\"Id\": -1}]}", ":1: Id is -1; expected a whole number from 0 to 2^64 - 1"},
    {"{\"nodes\": [{\"id\": 1, \"node_type\": \"comp\"}]}",
     ":1: node_type is comp; expected a node type such as 4 or \"COMP_NODE\""},
    {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [1.5]}]}",
     ":1: data_deps holds 1.5; expected a whole number from 0 to 2^64 - 1"},
    {"{\"workload_graph\": [{\"Id\": 1, \"NodeType\": 7, \"comm_size\": \"8\"}]}",
     ":1: node 1 \"\": attribute comm_size is a text; expected a whole number"},
    {"{\"workload_graph\": [\n\n{\"Id\": 1, \"NodeType\": 7, \"comm_type\": 0}]}",
     ":3: node 1 \"\": COMM_COLL_NODE has no attribute comm_size"},
};

START_TEST(json_files_are_read_or_refused)
{
    g_autofree char *path = g_build_filename(folder, "one.0.json", NULL);
    ck_assert(g_file_set_contents(path, json_files[_i].text, -1, NULL));
    char *files[] = {path, NULL};
    TraceSource source = {.files = files, .n_files = 1};
    GError *error = NULL;
    g_autoptr(Workload) workload = trace_chakra_json.read(&source, &error);
    if (json_files[_i].message != NULL) {
        g_autofree char *expected = g_strdup_printf("%s%s", path, json_files[_i].message);
        ck_assert_ptr_null(workload);
        ck_assert_str_eq(error->message, expected);
        g_clear_error(&error);
        return;
    }
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    const Op *op = &g_array_index(workload_program(workload, 0)->ops, Op, 0);
    ck_assert_int_eq(op->duration_ps, 2 * PS_PER_US);
    ck_assert_double_eq(op->flops, 5);
}
END_TEST

static void
remove_folder(void)
{
    g_autofree char *command = g_strdup_printf("rm -rf '%s'", folder);
    if (system(command) != 0)
        abort();
}

int
main(void)
{
    if (g_mkdtemp(folder) == NULL)
        abort();
    Suite *suite = suite_create("chakra forms");
    TCase *forms_case = tcase_create("forms");
    tcase_add_loop_test(forms_case, a_trace_is_the_same_in_every_form, 0, 40);
    tcase_add_test(forms_case, schemas_that_no_field_tells_apart_are_refused);
    tcase_add_test(forms_case, a_record_of_another_schema_is_named);
    tcase_add_test(forms_case, kinds_that_an_old_schema_lacks_are_refused);
    tcase_add_test(forms_case, proposed_storage_nodes_take_their_time);
    tcase_add_loop_test(forms_case, json_files_are_read_or_refused, 0, G_N_ELEMENTS(json_files));
    suite_add_tcase(suite, forms_case);
    int status = support_main(suite);
    remove_folder();
    return status;
}
