/* msccl.c - reading an MSCCL XML file: its shape, names and numbers; what it does is msccl_execute.c's */
#include "collective/msccl.h"

#include "base/error.h"
#include "base/problems.h"
#include "base/xml_tree.h"

#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

enum { MOST_GPUS = 256, MOST_CHUNKS = 1 << 20, MOST_STEPS = 1 << 24, MOST_BLOCKS = 4096, MOST_COUNT = 4096 };

typedef struct {
    XmlTree *tree;
    GPtrArray *problems; /* NULL = stop at the first */
    Msccl *msccl;
    MscclBuffers *buffers; /* of each GPU */
    GArray *places;        /* of MscclPlace, by step */
    GArray *first;         /* of uint32_t: the first step of each thread block */
    GHashTable *used;      /* connections: (gpu, peer, channel, send or receive) taken */
} Reader;

static const struct {
    const char *name;
    CollectiveKind kind;
} kinds[] = {
    {"allreduce", COLLECTIVE_ALL_REDUCE}, {"allgather", COLLECTIVE_ALL_GATHER},
    {"alltoall", COLLECTIVE_ALL_TO_ALL},  {"reduce_scatter", COLLECTIVE_REDUCE_SCATTER},
    {"broadcast", COLLECTIVE_BROADCAST},  {"reduce", COLLECTIVE_REDUCE},
};

/* What each type of step does. */
static const struct {
    const char *name;
    uint32_t does;
} types[] = {
    {"s", MSCCL_SEND},
    {"r", MSCCL_RECEIVE | MSCCL_STORE},
    {"rcs", MSCCL_RECEIVE | MSCCL_STORE | MSCCL_SEND},
    {"rrs", MSCCL_RECEIVE | MSCCL_REDUCE | MSCCL_SEND},
    {"rrc", MSCCL_RECEIVE | MSCCL_REDUCE | MSCCL_STORE},
    {"rrcs", MSCCL_RECEIVE | MSCCL_REDUCE | MSCCL_STORE | MSCCL_SEND},
    {"cpy", MSCCL_COPY | MSCCL_STORE},
    {"re", MSCCL_COPY | MSCCL_REDUCE | MSCCL_STORE},
    {"nop", 0},
};

static gboolean
read_type(const Reader *reader, const XmlElement *element, uint32_t *does, GError **error)
{
    const char *type = xml_attribute(element, "type");
    for (size_t i = 0; type != NULL && i < G_N_ELEMENTS(types); i++)
        if (strcmp(type, types[i].name) == 0) {
            *does = types[i].does;
            return TRUE;
        }
    return xml_fail(reader->tree, element, error,
                    "type: found \"%s\", expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop", type != NULL ? type : "");
}

static gboolean
read_place(const Reader *reader, const XmlElement *element, gboolean dst, MscclPlace *place, GError **error)
{
    static const char letters[] = "ios";
    const char *buffer = xml_attribute(element, dst ? "dstbuf" : "srcbuf");
    const char *letter = buffer != NULL && strlen(buffer) == 1 ? strchr(letters, *buffer) : NULL;
    int64_t offset;
    if (letter == NULL || *letter == '\0')
        return xml_fail(reader->tree, element, error, "%s: found \"%s\", expected i, o or s", dst ? "dstbuf" : "srcbuf",
                        buffer != NULL ? buffer : "");
    if (!xml_integer(reader->tree, element, dst ? "dstoff" : "srcoff", -1, MOST_CHUNKS, -1, &offset, error))
        return FALSE;
    place->buffer[dst] = (uint8_t)(letter - letters);
    place->offset[dst] = (int32_t)offset;
    return TRUE;
}

/* Is [offset, offset + count) in the buffer, where the step uses it? */
static gboolean
check_place(const Reader *reader, const XmlElement *element, uint32_t gpu, const MscclPlace *place, gboolean dst,
            uint32_t count, GError **error)
{
    const MscclBuffers *buffers = &reader->buffers[gpu];
    const uint32_t sizes[] = {buffers->input, buffers->output, buffers->scratch};
    uint32_t size = sizes[place->buffer[dst]];
    /* The side an in-place algorithm leaves at 0 is the other one. */
    if (size == 0 && place->buffer[dst] < 2)
        size = sizes[1 - place->buffer[dst]];
    if (place->offset[dst] >= 0 && (uint32_t)place->offset[dst] + count <= size)
        return TRUE;
    return xml_fail(reader->tree, element, error, "%s %d and %u chunks: the buffer has %u", dst ? "dstoff" : "srcoff",
                    place->offset[dst], count, size);
}

static gboolean
read_step(Reader *reader, const XmlElement *element, uint32_t gpu, uint32_t block, uint32_t index, int64_t send_peer,
          int64_t receive_peer, uint32_t channel, GError **error)
{
    GArray *steps = reader->msccl->steps;
    int64_t number, count, dep_block, dep_step;
    MscclStep step = {.gpu = gpu, .block = block, .line = element->line, .channel = channel, .from = INDEX_NONE};
    MscclPlace place;
    if (!xml_integer(reader->tree, element, "s", 0, MOST_STEPS, -1, &number, error) ||
        !read_type(reader, element, &step.does, error) || !read_place(reader, element, FALSE, &place, error) ||
        !read_place(reader, element, TRUE, &place, error) ||
        !xml_integer(reader->tree, element, "cnt", 0, MOST_COUNT, -1, &count, error) ||
        !xml_integer(reader->tree, element, "depid", -1, MOST_BLOCKS, -1, &dep_block, error) ||
        !xml_integer(reader->tree, element, "deps", -1, MOST_STEPS, -1, &dep_step, error))
        return FALSE;
    if (number != index)
        return xml_fail(reader->tree, element, error, "s: found %" G_GINT64_FORMAT ", expected %u", number, index);
    if ((step.does & MSCCL_SEND) != 0 && send_peer < 0)
        return xml_fail(reader->tree, element, error, "sends, but its tb has no send peer");
    if ((step.does & MSCCL_RECEIVE) != 0 && receive_peer < 0)
        return xml_fail(reader->tree, element, error, "receives, but its tb has no recv peer");
    step.count = (uint32_t)count;
    step.peer = (uint32_t)send_peer;
    step.previous = index > 0 ? steps->len - 1 : INDEX_NONE;
    step.dep = INDEX_NONE;
    gboolean reads = (step.does & (MSCCL_COPY | MSCCL_REDUCE)) != 0 || step.does == MSCCL_SEND;
    if (step.does != 0 && count == 0)
        return xml_fail(reader->tree, element, error, "cnt: found 0, expected at least 1");
    if (reads && !check_place(reader, element, gpu, &place, FALSE, step.count, error))
        return FALSE;
    if ((step.does & MSCCL_STORE) != 0 && !check_place(reader, element, gpu, &place, TRUE, step.count, error))
        return FALSE;
    if (dep_block >= 0) /* resolved when all blocks of the GPU are there: (block, step) for now */
        step.dep = (uint32_t)dep_block;
    step.first_id = dep_step >= 0 ? (uint32_t)dep_step : INDEX_NONE;
    g_array_append_val(steps, step);
    g_array_append_val(reader->places, place);
    return TRUE;
}

/* In the place of a bad step, so that those behind it keep their numbers. */
static void
add_no_step(Reader *reader, uint32_t gpu, uint32_t block, size_t line)
{
    MscclStep step = {.gpu = gpu,
                      .block = block,
                      .line = line,
                      .from = INDEX_NONE,
                      .previous = INDEX_NONE,
                      .dep = INDEX_NONE,
                      .first_id = INDEX_NONE};
    MscclPlace place = {.offset = {-1, -1}};
    g_array_append_val(reader->msccl->steps, step);
    g_array_append_val(reader->places, place);
}

/* A connection belongs to one thread block. */
static gboolean
take_connection(Reader *reader, const XmlElement *element, uint32_t gpu, int64_t peer, int64_t channel, gboolean send,
                GError **error)
{
    if (peer < 0)
        return TRUE;
    if (peer >= reader->msccl->n_gpus || peer == gpu)
        return xml_fail(reader->tree, element, error, "%s: found %" G_GINT64_FORMAT ", expected another of %u GPUs",
                        send ? "send" : "recv", peer, reader->msccl->n_gpus);
    g_autofree char *key = g_strdup_printf("%u %d %d %d", gpu, (int)peer, (int)channel, send);
    if (g_hash_table_add(reader->used, g_steal_pointer(&key)))
        return TRUE;
    return xml_fail(reader->tree, element, error, "another tb of GPU %u %s %d on channel %d already", gpu,
                    send ? "sends to" : "receives from", (int)peer, (int)channel);
}

static gboolean
read_block(Reader *reader, const XmlElement *element, uint32_t gpu, uint32_t index, GError **error)
{
    int64_t id, send, receive, channel;
    if (!xml_integer(reader->tree, element, "id", 0, MOST_BLOCKS, -1, &id, error) ||
        !xml_integer(reader->tree, element, "send", -1, MOST_GPUS, -1, &send, error) ||
        !xml_integer(reader->tree, element, "recv", -1, MOST_GPUS, -1, &receive, error) ||
        !xml_integer(reader->tree, element, "chan", 0, 65535, 0, &channel, error))
        return FALSE;
    if (id != index)
        return xml_fail(reader->tree, element, error, "id: found %" G_GINT64_FORMAT ", expected %u", id, index);
    if (!take_connection(reader, element, gpu, send, channel, TRUE, error) ||
        !take_connection(reader, element, gpu, receive, channel, FALSE, error))
        return FALSE;
    uint32_t number = reader->first->len, first = reader->msccl->steps->len, n = 0;
    g_array_append_val(reader->first, first);
    for (const XmlElement *step = xml_child(element, "step"); step != NULL; step = xml_next(step), n++) {
        if (reader->msccl->steps->len == MOST_STEPS)
            return xml_fail(reader->tree, step, error, "more than %d steps", MOST_STEPS);
        GError *wrong = NULL;
        if (read_step(reader, step, gpu, number, n, send, receive, (uint32_t)channel, &wrong))
            continue;
        if (!problems_go_on(reader->problems, wrong, error))
            return FALSE;
        add_no_step(reader, gpu, number, step->line);
    }
    for (uint32_t i = first; i < reader->msccl->steps->len; i++) {
        MscclStep *step = &g_array_index(reader->msccl->steps, MscclStep, i);
        step->sender = (step->does & MSCCL_RECEIVE) != 0 ? (uint32_t)receive : INDEX_NONE;
    }
    return TRUE;
}

/* (thread block, step) of this GPU become steps. */
static gboolean
resolve_deps(Reader *reader, uint32_t first_block, uint32_t first_step, GError **error)
{
    GArray *steps = reader->msccl->steps;
    uint32_t n_blocks = reader->first->len - first_block;
    for (uint32_t i = first_step; i < steps->len; i++) {
        MscclStep *step = &g_array_index(steps, MscclStep, i);
        if (step->dep == INDEX_NONE)
            continue;
        uint32_t block = step->dep, wanted = step->first_id, end = steps->len;
        if (block + 1 < n_blocks)
            end = g_array_index(reader->first, uint32_t, first_block + block + 1);
        uint32_t begin = block < n_blocks ? g_array_index(reader->first, uint32_t, first_block + block) : end;
        if (wanted == INDEX_NONE || wanted >= end - begin)
            return error_input(error, "%s:%zu: step: depid %u, deps %d: GPU %u has no such step",
                               xml_tree_path(reader->tree), step->line, block, (int)wanted, step->gpu);
        step->dep = begin + wanted;
    }
    return TRUE;
}

static gboolean
read_gpu(Reader *reader, const XmlElement *element, uint32_t gpu, GError **error)
{
    int64_t id, input, output, scratch;
    if (!xml_integer(reader->tree, element, "id", 0, MOST_GPUS, -1, &id, error) ||
        !xml_integer(reader->tree, element, "i_chunks", 0, MOST_CHUNKS, -1, &input, error) ||
        !xml_integer(reader->tree, element, "o_chunks", 0, MOST_CHUNKS, -1, &output, error) ||
        !xml_integer(reader->tree, element, "s_chunks", 0, MOST_CHUNKS, -1, &scratch, error))
        return FALSE;
    if (id != gpu)
        return xml_fail(reader->tree, element, error, "id: found %" G_GINT64_FORMAT ", expected %u", id, gpu);
    reader->buffers[gpu] = (MscclBuffers){(uint32_t)input, (uint32_t)output, (uint32_t)scratch};
    uint32_t first_block = reader->first->len, first_step = reader->msccl->steps->len, n = 0;
    guint before = problems_count(reader->problems);
    for (const XmlElement *block = xml_child(element, "tb"); block != NULL; block = xml_next(block), n++) {
        GError *wrong = NULL;
        if (!read_block(reader, block, gpu, n, &wrong) && !problems_go_on(reader->problems, wrong, error))
            return FALSE;
    }
    /* Deps may lead to what was passed over. */
    return problems_count(reader->problems) > before || resolve_deps(reader, first_block, first_step, error);
}

/* Of allgather the input, of reduce_scatter the output is one part in n_gpus; all else is whole, or absent in place. */
static gboolean
check_sizes(const Reader *reader, const XmlElement *element, uint32_t gpu, GError **error)
{
    const Msccl *msccl = reader->msccl;
    const MscclBuffers *buffers = &reader->buffers[gpu];
    uint32_t part = msccl->n_chunks / msccl->n_gpus;
    uint32_t input = msccl->kind == COLLECTIVE_ALL_GATHER ? part : msccl->n_chunks;
    uint32_t output = msccl->kind == COLLECTIVE_REDUCE_SCATTER ? part : msccl->n_chunks;
    if ((buffers->input != 0 && buffers->input != input) || (buffers->output != 0 && buffers->output != output))
        return xml_fail(reader->tree, element, error, "i_chunks %u, o_chunks %u: expected %u and %u, or 0",
                        buffers->input, buffers->output, input, output);
    return TRUE;
}

static gboolean
read_head(Reader *reader, const XmlElement *root, gboolean *in_place, gboolean *out_of_place, GError **error)
{
    Msccl *msccl = reader->msccl;
    int64_t n_gpus, n_chunks, inside, outside, least, most;
    const char *kind = xml_attribute(root, "coll"), *name = xml_attribute(root, "name");
    if (!xml_integer(reader->tree, root, "ngpus", 2, MOST_GPUS, -1, &n_gpus, error) ||
        !xml_integer(reader->tree, root, "nchunksperloop", 1, MOST_CHUNKS, -1, &n_chunks, error) ||
        !xml_integer(reader->tree, root, "inplace", 0, 1, 0, &inside, error) ||
        !xml_integer(reader->tree, root, "outofplace", 0, 1, !inside, &outside, error) ||
        !xml_integer(reader->tree, root, "minBytes", 0, G_MAXINT64, 0, &least, error) ||
        !xml_integer(reader->tree, root, "maxBytes", 0, G_MAXINT64, 128 << 20, &most, error))
        return FALSE;
    msccl->name = g_strdup(name != NULL ? name : "");
    msccl->n_gpus = (uint32_t)n_gpus;
    msccl->n_chunks = (uint32_t)n_chunks;
    msccl->least_B = (uint64_t)least;
    msccl->most_B = most == 0 ? UINT64_MAX : (uint64_t)most;
    *in_place = inside != 0;
    *out_of_place = outside != 0;
    if (!inside && !outside)
        return xml_fail(reader->tree, root, error, "is neither inplace nor outofplace");
    for (size_t i = 0; kind != NULL && i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(kind, kinds[i].name) == 0) {
            msccl->kind = kinds[i].kind;
            if (msccl->n_chunks % msccl->n_gpus != 0 &&
                (msccl->kind == COLLECTIVE_ALL_GATHER || msccl->kind == COLLECTIVE_REDUCE_SCATTER ||
                 msccl->kind == COLLECTIVE_ALL_TO_ALL))
                return xml_fail(reader->tree, root, error, "nchunksperloop %u is no multiple of ngpus %u",
                                msccl->n_chunks, msccl->n_gpus);
            return TRUE;
        }
    return xml_fail(reader->tree, root, error,
                    "coll: found \"%s\", expected allreduce, allgather, alltoall, reduce_scatter, broadcast or reduce",
                    kind != NULL ? kind : "");
}

static gboolean
read_file(Reader *reader, GError **error)
{
    const XmlElement *root = xml_tree_root(reader->tree);
    gboolean in_place, out_of_place;
    guint before = problems_count(reader->problems);
    if (strcmp(root->name, "algo") != 0)
        return xml_fail(reader->tree, root, error, "expected algo, the root of an MSCCL algorithm");
    if (!read_head(reader, root, &in_place, &out_of_place, error))
        return FALSE;
    reader->buffers = g_new0(MscclBuffers, reader->msccl->n_gpus);
    uint32_t n = 0;
    for (const XmlElement *gpu = xml_child(root, "gpu"); gpu != NULL; gpu = xml_next(gpu), n++) {
        if (n == reader->msccl->n_gpus)
            return xml_fail(reader->tree, gpu, error, "more than ngpus %u", n);
        GError *wrong = NULL;
        if ((!read_gpu(reader, gpu, n, &wrong) || !check_sizes(reader, gpu, n, &wrong)) &&
            !problems_go_on(reader->problems, wrong, error))
            return FALSE;
    }
    if (n < reader->msccl->n_gpus)
        return xml_fail(reader->tree, root, error, "has %u gpu elements, ngpus says %u", n, reader->msccl->n_gpus);
    const MscclPlace *places = (const MscclPlace *)(const void *)reader->places->data;
    const char *path = xml_tree_path(reader->tree);
    if (!problems_none_since(reader->problems, before, path, error))
        return FALSE;
    return (!in_place || msccl_execute(reader->msccl, path, reader->buffers, places, TRUE, error)) &&
           (!out_of_place || msccl_execute(reader->msccl, path, reader->buffers, places, FALSE, error));
}

static Msccl *
read(const char *path, GPtrArray *problems, GError **error)
{
    Reader reader = {.tree = xml_tree_read(path, FILE_LIMIT, error), .problems = problems};
    if (reader.tree == NULL)
        return NULL;
    Msccl *msccl = reader.msccl = g_new0(Msccl, 1);
    msccl->steps = g_array_new(FALSE, FALSE, sizeof(MscclStep));
    msccl->ids = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    msccl->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    reader.places = g_array_new(FALSE, FALSE, sizeof(MscclPlace));
    reader.first = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    reader.used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!read_file(&reader, error))
        g_clear_pointer(&msccl, msccl_free);
    g_hash_table_unref(reader.used);
    g_array_unref(reader.first);
    g_array_unref(reader.places);
    g_free(reader.buffers);
    xml_tree_free(reader.tree);
    return msccl;
}

Msccl *
msccl_read(const char *path, GError **error)
{
    return read(path, NULL, error);
}

gboolean
msccl_check(const char *path, GPtrArray *problems, GError **error)
{
    g_autoptr(Msccl) msccl = read(path, problems, error);
    return msccl != NULL;
}

void
msccl_free(Msccl *msccl)
{
    if (msccl == NULL)
        return;
    g_free(msccl->name);
    g_array_unref(msccl->steps);
    g_array_unref(msccl->ids);
    g_array_unref(msccl->order);
    g_free(msccl);
}
