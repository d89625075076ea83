/* liballprof.c - text traces of liballprof (collprof), a file a rank
 *
 * A line is "MPI_Name:start:ARGUMENTS:end", the arguments in the order of MPI's C binding, times in microseconds since
 * the epoch; a datatype is "id,size,extent", a communicator "id,rank,size". What lies between two calls is computing of
 * that time. Calls are taken as their arguments say, not as long as they took. */
#include "base/decimal.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/input.h"
#include "base/problems.h"
#include "workload/mpi_program.h"
#include "workload/trace_format.h"

#include <string.h>

#define COUNT_MOST (UINT64_C(1) << 40)
#define SIZE_MOST (UINT64_C(1) << 20)

enum { RANKS_MOST = 1 << 20, WORDS_MOST = 64 };

typedef struct {
    char *handle;
    uint32_t op;
} Request;

typedef struct {
    const TraceSource *source;
    MpiWorld *world;
    FieldLines *lines;
    MpiRank *mpi;
    uint32_t rank;
    char **words; /* of the present line: name, start, arguments, end */
    uint32_t n_words;
    GArray *requests; /* of Request */
    gboolean began;   /* MPI_Init has ended */
    int64_t first_ns, last_ns;
    uint64_t waitalls, spread, scans, communicators; /* told in notes */
} Reader;

static void
request_clear(void *data)
{
    g_free(((Request *)data)->handle);
}

/* Argument i of the call. */
static const char *
argument(const Reader *reader, uint32_t i)
{
    return reader->words[2 + i];
}

static gboolean
parse_time(const Reader *reader, const char *text, int64_t *time_ns, GError **error)
{
    Decimal decimal;
    const char *end;
    uint64_t value;
    gboolean rest;
    if (!decimal_parse(text, &decimal, &end) || *end != '\0' || decimal.negative ||
        !decimal_scale(&decimal, 1000, &value, &rest) || value > INT64_MAX / 2)
        return field_lines_fail(reader->lines, error, "%s: \"%s\" is no time in microseconds", reader->words[0], text);
    *time_ns = (int64_t)value;
    return TRUE;
}

static gboolean
parse_int(const Reader *reader, const char *text, const char *what, int64_t least, int64_t most, int64_t *value,
          GError **error)
{
    return g_ascii_string_to_signed(text, 10, least, most, value, NULL) ||
           field_lines_fail(reader->lines, error,
                            "%s: %s is \"%s\"; a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT
                            " is expected",
                            reader->words[0], what, text, least, most);
}

/* count and datatype, at arguments i and i + 1, as bytes. */
static gboolean
bytes_of(const Reader *reader, uint32_t i, uint64_t *bytes, GError **error)
{
    int64_t count, size;
    g_auto(GStrv) type = g_strsplit(argument(reader, i + 1), ",", 3);
    if (g_strv_length(type) < 2)
        return field_lines_fail(reader->lines, error, "%s: the datatype is \"%s\"; \"id,size\" is expected",
                                reader->words[0], argument(reader, i + 1));
    if (!parse_int(reader, argument(reader, i), "count", 0, (int64_t)COUNT_MOST, &count, error) ||
        !parse_int(reader, type[1], "the datatype's size", 0, (int64_t)SIZE_MOST, &size, error))
        return FALSE;
    *bytes = (uint64_t)count * (uint64_t)size;
    return TRUE;
}

/* The communicator must be of all ranks in their order: the trace does not say who is in another. */
static gboolean
check_world(const Reader *reader, uint32_t i, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(argument(reader, i), ",", 4);
    int64_t rank, size;
    if (g_strv_length(parts) != 3)
        return field_lines_fail(reader->lines, error, "%s: the communicator is \"%s\"; \"id,rank,size\" is expected",
                                reader->words[0], argument(reader, i));
    if (!parse_int(reader, parts[1], "the communicator's rank", 0, RANKS_MOST, &rank, error) ||
        !parse_int(reader, parts[2], "the communicator's size", 1, RANKS_MOST, &size, error))
        return FALSE;
    if (rank == reader->rank && size == reader->source->n_files)
        return TRUE;
    if (strcmp(parts[0], "0") == 0)
        return field_lines_fail(reader->lines, error,
                                "%s: is of rank %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                                "; the file is given as that of rank %u of %u",
                                reader->words[0], rank, size, reader->rank, reader->source->n_files);
    return field_lines_fail(reader->lines, error,
                            "%s: communicator %s is of %" G_GINT64_FORMAT
                            " of %u ranks, and the trace does not say which",
                            reader->words[0], parts[0], size, reader->source->n_files);
}

/* A message at arguments i: count, datatype, peer, tag. *none: there is no peer. */
typedef struct {
    uint64_t bytes;
    uint32_t peer, tag;
    gboolean none;
} Message;

static gboolean
message_of(const Reader *reader, uint32_t i, gboolean sends, Message *message, GError **error)
{
    int64_t peer, tag;
    const char *what = sends ? "the destination" : "the source";
    if (!bytes_of(reader, i, &message->bytes, error) ||
        !parse_int(reader, argument(reader, i + 2), what, INT32_MIN, reader->source->n_files - 1, &peer, error) ||
        !parse_int(reader, argument(reader, i + 3), "the tag", INT32_MIN, MPI_TAG_MOST, &tag, error))
        return FALSE;
    message->none = sends && peer < 0;
    if (!sends && peer < -1)
        return field_lines_fail(reader->lines, error,
                                "%s: the source is %" G_GINT64_FORMAT
                                ", which is any or none, depending on the MPI library",
                                reader->words[0], peer);
    if (tag < 0 && !message->none)
        return field_lines_fail(reader->lines, error, "%s: takes any tag, which a program cannot hold",
                                reader->words[0]);
    message->peer = peer < 0 ? MPI_ANYONE : (uint32_t)peer;
    message->tag = (uint32_t)tag;
    return TRUE;
}

/* Send, Recv (buf count type peer tag comm) and their non-blocking forms (... request). */
static gboolean
do_message(Reader *reader, gboolean sends, gboolean waits, GError **error)
{
    Message message;
    if (!check_world(reader, 5, error) || !message_of(reader, 1, sends, &message, error))
        return FALSE;
    if (message.none)
        return TRUE;
    uint32_t op = sends ? mpi_send(reader->mpi, message.peer, message.tag, message.bytes, reader->words[0])
                        : mpi_recv(reader->mpi, message.peer, message.tag, message.bytes, reader->words[0]);
    if (waits) {
        mpi_block(reader->mpi, op);
    } else {
        Request request = {g_strdup(argument(reader, 6)), op};
        g_array_append_val(reader->requests, request);
    }
    return TRUE;
}

static gboolean
do_send(Reader *reader, GError **error)
{
    return do_message(reader, TRUE, TRUE, error);
}

static gboolean
do_recv(Reader *reader, GError **error)
{
    return do_message(reader, FALSE, TRUE, error);
}

static gboolean
do_isend(Reader *reader, GError **error)
{
    return do_message(reader, TRUE, FALSE, error);
}

static gboolean
do_irecv(Reader *reader, GError **error)
{
    return do_message(reader, FALSE, FALSE, error);
}

/* sendbuf count type dst tag recvbuf count type src tag comm status. */
static gboolean
do_sendrecv(Reader *reader, GError **error)
{
    Message out, in;
    if (!check_world(reader, 10, error) || !message_of(reader, 1, TRUE, &out, error) ||
        !message_of(reader, 6, FALSE, &in, error))
        return FALSE;
    uint32_t send = out.none ? INDEX_NONE : mpi_send(reader->mpi, out.peer, out.tag, out.bytes, reader->words[0]);
    uint32_t recv = mpi_recv(reader->mpi, in.peer, in.tag, in.bytes, reader->words[0]);
    if (send != INDEX_NONE)
        mpi_wait(reader->mpi, send);
    mpi_wait(reader->mpi, recv);
    return TRUE;
}

/* The oldest request of this handle; one that is not there (MPI_REQUEST_NULL) is nothing. */
static gboolean
do_wait(Reader *reader, GError **error)
{
    for (guint i = 0; i < reader->requests->len; i++) {
        const Request *request = &g_array_index(reader->requests, Request, i);
        if (strcmp(request->handle, argument(reader, 0)) == 0) {
            mpi_wait(reader->mpi, request->op);
            g_array_remove_index(reader->requests, i);
            break;
        }
    }
    return TRUE;
}

static gboolean
do_waitall(Reader *reader, GError **error)
{
    for (guint i = 0; i < reader->requests->len; i++)
        mpi_wait(reader->mpi, g_array_index(reader->requests, Request, i).op);
    g_array_set_size(reader->requests, 0);
    reader->waitalls++;
    return TRUE;
}

static gboolean
do_barrier(Reader *reader, GError **error)
{
    if (!check_world(reader, 0, error))
        return FALSE;
    mpi_collective(reader->mpi, COLLECTIVE_BARRIER, MPI_WORLD, 0, 0, reader->words[0]);
    return TRUE;
}

static gboolean
root_of(const Reader *reader, uint32_t i, uint32_t *root, GError **error)
{
    int64_t value;
    if (!parse_int(reader, argument(reader, i), "the root", 0, reader->source->n_files - 1, &value, error))
        return FALSE;
    *root = (uint32_t)value;
    return TRUE;
}

/* buf count type root comm. */
static gboolean
do_bcast(Reader *reader, GError **error)
{
    uint64_t bytes;
    uint32_t root;
    if (!check_world(reader, 4, error) || !bytes_of(reader, 1, &bytes, error) || !root_of(reader, 3, &root, error))
        return FALSE;
    mpi_collective(reader->mpi, COLLECTIVE_BROADCAST, MPI_WORLD, bytes, root, reader->words[0]);
    return TRUE;
}

/* sendbuf recvbuf count type op root comm. */
static gboolean
do_reduce(Reader *reader, GError **error)
{
    uint64_t bytes;
    uint32_t root;
    if (!check_world(reader, 6, error) || !bytes_of(reader, 2, &bytes, error) || !root_of(reader, 5, &root, error))
        return FALSE;
    mpi_collective(reader->mpi, COLLECTIVE_REDUCE, MPI_WORLD, bytes, root, reader->words[0]);
    return TRUE;
}

/* sendbuf recvbuf count type op comm. */
static gboolean
do_allreduce(Reader *reader, GError **error)
{
    uint64_t bytes;
    if (!check_world(reader, 5, error) || !bytes_of(reader, 2, &bytes, error))
        return FALSE;
    mpi_collective(reader->mpi, COLLECTIVE_ALL_REDUCE, MPI_WORLD, bytes, 0, reader->words[0]);
    return TRUE;
}

static gboolean
do_scan(Reader *reader, GError **error)
{
    uint64_t bytes;
    if (!check_world(reader, 5, error) || !bytes_of(reader, 2, &bytes, error))
        return FALSE;
    mpi_scan(reader->mpi, bytes, 0, reader->words[0]);
    reader->scans++;
    return TRUE;
}

/* sendbuf count type recvbuf count type comm: S is what a rank sends to, or gets from, all. At most 2^80 / 2^20. */
static gboolean
do_all(Reader *reader, CollectiveKind kind, GError **error)
{
    uint64_t bytes, n = reader->source->n_files;
    if (!check_world(reader, 6, error) || !bytes_of(reader, 1, &bytes, error))
        return FALSE;
    if (bytes > UINT64_MAX / n)
        return field_lines_fail(reader->lines, error, "%s: more bytes than 64 bits hold", reader->words[0]);
    mpi_collective(reader->mpi, kind, MPI_WORLD, n * bytes, 0, reader->words[0]);
    return TRUE;
}

static gboolean
do_alltoall(Reader *reader, GError **error)
{
    return do_all(reader, COLLECTIVE_ALL_TO_ALL, error);
}

static gboolean
do_allgather(Reader *reader, GError **error)
{
    return do_all(reader, COLLECTIVE_ALL_GATHER, error);
}

/* sendbuf count type recvbuf count type root comm. */
static gboolean
do_gather(Reader *reader, GError **error)
{
    uint64_t bytes;
    uint32_t root;
    if (!check_world(reader, 7, error) || !bytes_of(reader, 1, &bytes, error) || !root_of(reader, 6, &root, error))
        return FALSE;
    mpi_gather(reader->mpi, MPI_WORLD, bytes, root, reader->words[0]);
    reader->spread++;
    return TRUE;
}

static gboolean
do_scatter(Reader *reader, GError **error)
{
    uint64_t bytes;
    uint32_t root, n = reader->source->n_files;
    if (!check_world(reader, 7, error) || !bytes_of(reader, 1, &bytes, error) || !root_of(reader, 6, &root, error))
        return FALSE;
    g_autofree uint64_t *parts = g_new(uint64_t, n);
    for (uint32_t r = 0; r < n; r++)
        parts[r] = bytes;
    reader->spread++;
    return mpi_scatter(reader->mpi, MPI_WORLD, parts, root, reader->words[0]) ||
           field_lines_fail(reader->lines, error, "%s: more bytes than 64 bits hold", reader->words[0]);
}

/* One line a call: its name without MPI_, its fewest arguments. */
static const struct {
    const char *name;
    uint32_t least;
    gboolean (*run)(Reader *reader, GError **error);
} calls[] = {
    {"Send", 6, do_send},       {"Ssend", 6, do_send},          {"Rsend", 6, do_send},
    {"Bsend", 6, do_send},      {"Recv", 6, do_recv},           {"Isend", 7, do_isend},
    {"Issend", 7, do_isend},    {"Irsend", 7, do_isend},        {"Ibsend", 7, do_isend},
    {"Irecv", 7, do_irecv},     {"Sendrecv", 11, do_sendrecv},  {"Wait", 1, do_wait},
    {"Waitall", 1, do_waitall}, {"Barrier", 1, do_barrier},     {"Bcast", 5, do_bcast},
    {"Reduce", 7, do_reduce},   {"Allreduce", 6, do_allreduce}, {"Scan", 6, do_scan},
    {"Exscan", 6, do_scan},     {"Alltoall", 7, do_alltoall},   {"Allgather", 7, do_allgather},
    {"Gather", 8, do_gather},   {"Scatter", 8, do_scatter},
};

/* Calls that move nothing: their time counts as computing. */
static gboolean
is_local(Reader *reader, const char *name)
{
    static const char *const prefixes[] = {"Comm_",  "Type_",   "Group_", "Op_",   "Get_",     "Cart_",
                                           "Attr_",  "Keyval_", "Error",  "Wtime", "Init",     "Pack",
                                           "Unpack", "Address", "Dims_",  "Topo_", "Finalize", "Pcontrol"};
    for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
        if (g_str_has_prefix(name, prefixes[i])) {
            reader->communicators += strcmp(name, "Comm_split") == 0 || strcmp(name, "Comm_create") == 0;
            return TRUE;
        }
    return FALSE;
}

/* What lies between the last call and this one, then the call. */
static gboolean
read_call(Reader *reader, GError **error)
{
    const char *name = reader->words[0] + strlen("MPI_");
    int64_t start, end;
    if (strcmp(name, "Init") == 0 || strcmp(name, "Init_thread") == 0) {
        if (!parse_time(reader, reader->words[reader->n_words - 1], &end, error))
            return FALSE;
        reader->first_ns = reader->last_ns = end;
        reader->began = TRUE;
        return TRUE;
    }
    size_t i = 0;
    while (i < G_N_ELEMENTS(calls) && strcmp(name, calls[i].name) != 0)
        i++;
    if (i == G_N_ELEMENTS(calls))
        return is_local(reader, name) || field_lines_fail(reader->lines, error, "%s is not read", reader->words[0]);
    if (!reader->began)
        return field_lines_fail(reader->lines, error, "%s comes before MPI_Init", reader->words[0]);
    if (reader->n_words < 3 + calls[i].least)
        return field_lines_fail(reader->lines, error, "%s: %u words found, at least %u expected", reader->words[0],
                                reader->n_words, 3 + calls[i].least);
    if (!parse_time(reader, reader->words[1], &start, error) ||
        !parse_time(reader, reader->words[reader->n_words - 1], &end, error))
        return FALSE;
    if (start < reader->last_ns || end < start)
        return field_lines_fail(reader->lines, error, "%s %s", reader->words[0],
                                end < start ? "ends before it starts" : "starts before the call above has ended");
    if (start - reader->last_ns > SIM_TIME_MAX / PS_PER_NS)
        return field_lines_fail(reader->lines, error, "%s starts more than 106 days after the call above",
                                reader->words[0]);
    mpi_time(reader->mpi, (start - reader->last_ns) * PS_PER_NS, FALSE, "computing");
    reader->last_ns = end;
    return calls[i].run(reader, error);
}

static gboolean
read_line(Reader *reader, GError **error)
{
    if (reader->lines->n_fields > 1)
        return field_lines_fail(reader->lines, error, "\"%s\" found; \"MPI_Name:start:...:end\" is expected",
                                reader->lines->fields[1]);
    g_auto(GStrv) words = reader->words = g_strsplit(reader->lines->fields[0], ":", WORDS_MOST);
    reader->n_words = g_strv_length(words);
    if (reader->n_words < 3 || !g_str_has_prefix(words[0], "MPI_"))
        return field_lines_fail(reader->lines, error, "\"%s\" found; \"MPI_Name:start:...:end\" is expected", words[0]);
    return read_call(reader, error);
}

static gboolean
read_rank(Reader *reader, uint32_t rank, GError **error)
{
    const char *path = reader->source->files[rank];
    GError *wrong = NULL;
    g_autoptr(FieldLines) lines = field_lines_read(path, &wrong);
    if (lines == NULL)
        return problems_go_on(reader->source->problems, wrong, error);
    reader->lines = lines;
    reader->rank = rank;
    reader->mpi = mpi_world_rank(reader->world, rank);
    reader->began = FALSE;
    g_array_set_size(reader->requests, 0);
    while (field_lines_next(lines))
        if (!read_line(reader, &wrong) && !problems_go_on(reader->source->problems, g_steal_pointer(&wrong), error))
            return FALSE;
    if (reader->began)
        return TRUE;
    error_input(&wrong, "%s: has no MPI_Init", path);
    return problems_go_on(reader->source->problems, wrong, error);
}

static gboolean
read_ranks(Reader *reader, GError **error)
{
    uint32_t n = reader->source->n_files;
    GPtrArray *problems = reader->source->problems;
    guint before = problems_count(problems);
    g_autofree int64_t *first_ns = g_new0(int64_t, n);
    for (uint32_t r = 0; r < n; r++) {
        if (!read_rank(reader, r, error))
            return FALSE;
        first_ns[r] = reader->first_ns;
    }
    if (!problems_none_since(problems, before, reader->source->files[0], error))
        return FALSE;
    int64_t least = first_ns[0];
    for (uint32_t r = 1; r < n; r++)
        least = MIN(least, first_ns[r]);
    Workload *workload = mpi_world_workload(reader->world);
    workload->start_ps = g_new0(SimTime, n);
    for (uint32_t r = 0; r < n; r++) {
        if (first_ns[r] - least > SIM_TIME_MAX / PS_PER_NS)
            return error_input(error, "%s: begins more than 106 days after another rank", reader->source->files[r]);
        workload->start_ps[r] = (first_ns[r] - least) * PS_PER_NS;
    }
    return TRUE;
}

static void
add_notes(const Reader *reader)
{
    Workload *workload = mpi_world_workload(reader->world);
    const struct {
        uint64_t n;
        const char *text;
    } notes[] = {{reader->spread, "MPI_Gather or MPI_Scatter are uneven all-to-alls of the same bytes"},
                 {reader->scans, "MPI_Scan or MPI_Exscan are chains of messages from rank to rank"},
                 {reader->waitalls, "MPI_Waitall are taken to wait for all that is pending"},
                 {reader->communicators, "MPI_Comm_split or MPI_Comm_create: only calls on all ranks are read"}};
    for (size_t i = 0; i < G_N_ELEMENTS(notes); i++)
        if (notes[i].n > 0)
            workload_note(workload, "%" G_GUINT64_FORMAT " %s", notes[i].n, notes[i].text);
    workload_note(workload, "what lies between two calls is computing; clocks of ranks are as recorded");
}

static Workload *
read_liballprof(const TraceSource *source, GError **error)
{
    g_autoptr(MpiWorld) world = mpi_world_new(source->n_files);
    g_autoptr(GArray) requests = g_array_new(FALSE, FALSE, sizeof(Request));
    g_array_set_clear_func(requests, request_clear);
    Reader reader = {.source = source, .world = world, .requests = requests};
    if (!read_ranks(&reader, error))
        return NULL;
    add_notes(&reader);
    mpi_world_workload(world)->description = g_strdup_printf("liballprof, %s", source->files[0]);
    return mpi_world_finish(world, source->files[0], source->problems, error);
}

/* collprof's own line, or MPI_Init as the first that is no comment. */
static int
recognise(const char *head, size_t length)
{
    const char *at = head + input_bom(head, length), *end = head + length;
    if (end - at > 10 && memcmp(at, "# collprof", 10) == 0)
        return 95;
    while (at < end && (*at == '#' || g_ascii_isspace(*at))) {
        const char *feed = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;
        at = feed != NULL ? feed + 1 : end;
    }
    return end - at > 9 && memcmp(at, "MPI_Init", 8) == 0 && (at[8] == ':' || at[8] == '_') ? 90 : 0;
}

const TraceFormat trace_liballprof = {"liballprof", "text traces of liballprof (collprof): a file a rank", recognise,
                                      read_liballprof};
