/* simgrid_ti_line.c - one line of a time-independent trace: an action of SMPI's replay
 *
 * Counts are elements of a datatype whose number stands at the end of the line. All communication is on all ranks. */
#include "base/decimal.h"
#include "base/error.h"
#include "workload/simgrid_ti.h"

#include <math.h>
#include <string.h>

#define COUNT_MOST (UINT64_C(1) << 50)

enum { VERB = 1, FIRST = 2 }; /* fields of a line */

/* The line that is read. */
typedef struct {
    Ti *ti;
    TiRank *rank;
    MpiRank *mpi;
    uint32_t number; /* of the rank */
    FieldLines *lines;
    const char *verb;
    uint32_t n; /* arguments */
    GError **error;
} Line;

/* Bytes of datatype 0, 1, ...: 0 where the number's size is not known. */
static const uint8_t sizes[] = {8, 4,  1, 2,  8,  4, 1,  8,  1, 1,  2, 4, 8, 8, 16, 4, 1, 1, 2, 4,
                                8, 1,  2, 4,  8,  8, 16, 32, 8, 8,  0, 0, 0, 0, 0,  0, 0, 0, 4, 4,
                                8, 16, 8, 16, 16, 4, 2,  4,  8, 16, 0, 0, 0, 0, 0,  0, 0, 1};

static const char *
argument(const Line *line, uint32_t at)
{
    return line->lines->fields[FIRST + at];
}

static gboolean
is_any(const char *text, const char *number)
{
    return strcmp(text, "-1") == 0 || strcmp(text, number) == 0;
}

/* "5e4" and "50000" alike. */
static gboolean
count_of(const Line *line, uint32_t at, const char *what, uint64_t most, uint64_t *value)
{
    const char *text = argument(line, at), *end;
    Decimal number;
    gboolean rest;
    if (decimal_parse(text, &number, &end) && *end == '\0' && !number.negative &&
        decimal_scale(&number, 1, value, &rest) && !rest && !number.cut && *value <= most)
        return TRUE;
    return field_lines_fail(line->lines, line->error,
                            "%s: %s is \"%s\"; a whole number up to %" G_GUINT64_FORMAT " is expected", line->verb,
                            what, text, most);
}

static gboolean
flops_of(const Line *line, uint32_t at, double *flops)
{
    const char *text = argument(line, at), *end;
    Decimal number;
    if (decimal_parse(text, &number, &end) && *end == '\0' && !number.negative) {
        *flops = g_ascii_strtod(text, NULL);
        if (isfinite(*flops)) {
            line->ti->seen.flops += *flops;
            return TRUE;
        }
    }
    return field_lines_fail(line->lines, line->error, "%s: \"%s\" is no number of operations", line->verb, text);
}

/* Bytes of an element: the datatype at this argument, else the rank's default. */
static gboolean
unit_of(const Line *line, uint32_t at, uint64_t *unit)
{
    *unit = line->rank->unit;
    if (at >= line->n)
        return TRUE;
    uint64_t id;
    if (!count_of(line, at, "datatype", UINT32_MAX, &id))
        return FALSE;
    if (id >= G_N_ELEMENTS(sizes) || sizes[id] == 0)
        return field_lines_fail(line->lines, line->error, "%s: the size of datatype %" G_GUINT64_FORMAT " is not known",
                                line->verb, id);
    *unit = sizes[id];
    return TRUE;
}

static gboolean
bytes_of(const Line *line, uint32_t at, const char *what, uint32_t type_at, uint64_t *bytes)
{
    uint64_t unit;
    if (!count_of(line, at, what, COUNT_MOST, bytes) || !unit_of(line, type_at, &unit))
        return FALSE;
    *bytes *= unit;
    return TRUE;
}

/* A count for each rank, in bytes. The caller frees them; NULL with an error. */
static uint64_t *
parts_of(const Line *line, uint32_t at, const char *what, uint32_t type_at)
{
    uint64_t unit;
    if (!unit_of(line, type_at, &unit))
        return NULL;
    g_autofree uint64_t *parts = g_new(uint64_t, line->ti->n_ranks);
    for (uint32_t r = 0; r < line->ti->n_ranks; r++) {
        if (!count_of(line, at + r, what, COUNT_MOST, &parts[r]))
            return NULL;
        parts[r] *= unit;
    }
    return g_steal_pointer(&parts);
}

static gboolean
rank_of(const Line *line, uint32_t at, const char *what, uint32_t *rank)
{
    uint64_t value;
    if (!count_of(line, at, what, line->ti->n_ranks - 1, &value))
        return FALSE;
    *rank = (uint32_t)value;
    return TRUE;
}

static gboolean
root_of(const Line *line, uint32_t at, uint32_t *root)
{
    *root = 0;
    return at >= line->n || rank_of(line, at, "root", root);
}

/* At least so many arguments. */
static gboolean
needs(const Line *line, uint64_t n)
{
    return line->n >= n ||
           field_lines_fail(line->lines, line->error,
                            "%s: %u arguments found, at least %" G_GUINT64_FORMAT " expected with %u ranks", line->verb,
                            line->n, n, line->ti->n_ranks);
}

static gboolean
sum_fits(const Line *line, gboolean fits)
{
    return fits || field_lines_fail(line->lines, line->error, "%s: more bytes than 64 bits hold", line->verb);
}

static gboolean
do_init(Line *line)
{
    line->rank->unit = line->n > 0 ? 8 : 1;
    return TRUE;
}

static gboolean
do_nothing(Line *line)
{
    return TRUE;
}

static gboolean
do_communicator(Line *line)
{
    line->ti->seen.communicators++;
    return TRUE;
}

static gboolean
do_compute(Line *line)
{
    double flops;
    if (!flops_of(line, 0, &flops))
        return FALSE;
    mpi_compute(line->mpi, flops, line->verb);
    return TRUE;
}

static gboolean
do_sleep(Line *line)
{
    const char *text = argument(line, 0), *end;
    Decimal seconds;
    uint64_t time_ps;
    gboolean rest;
    if (!decimal_parse(text, &seconds, &end) || *end != '\0' || seconds.negative ||
        !decimal_scale(&seconds, PS_PER_S, &time_ps, &rest) || time_ps > SIM_TIME_MAX)
        return field_lines_fail(line->lines, line->error, "sleep: \"%s\" is no number of seconds", text);
    mpi_time(line->mpi, (SimTime)time_ps, TRUE, line->verb);
    return TRUE;
}

/* send, recv and their non-blocking forms: peer tag count [datatype]. */
static gboolean
message(Line *line, gboolean sends, gboolean waits)
{
    uint32_t peer;
    uint64_t tag, bytes;
    if (!sends && is_any(argument(line, 0), "-555"))
        peer = MPI_ANYONE;
    else if (!rank_of(line, 0, "peer", &peer))
        return FALSE;
    if (!sends && is_any(argument(line, 1), "-444"))
        return field_lines_fail(line->lines, line->error, "%s: takes any tag, which a program cannot hold", line->verb);
    if (!count_of(line, 1, "tag", MPI_TAG_MOST, &tag))
        return FALSE;
    if (!sends && strcmp(argument(line, 2), "-1") == 0)
        bytes = 0; /* those of the send */
    else if (!bytes_of(line, 2, "count", 3, &bytes))
        return FALSE;
    uint32_t op = sends ? mpi_send(line->mpi, peer, (uint32_t)tag, bytes, line->verb)
                        : mpi_recv(line->mpi, peer, (uint32_t)tag, bytes, line->verb);
    if (waits) {
        mpi_block(line->mpi, op);
        return TRUE;
    }
    TiRequest request = {sends ? line->number : peer, sends ? peer : line->number, (uint32_t)tag, op};
    g_array_append_val(line->rank->requests, request);
    return TRUE;
}

static gboolean
do_send(Line *line)
{
    return message(line, TRUE, TRUE);
}

static gboolean
do_isend(Line *line)
{
    return message(line, TRUE, FALSE);
}

static gboolean
do_recv(Line *line)
{
    return message(line, FALSE, TRUE);
}

static gboolean
do_irecv(Line *line)
{
    return message(line, FALSE, FALSE);
}

/* sendcount dst recvcount src [sendtype [recvtype]]. */
static gboolean
do_sendrecv(Line *line)
{
    uint32_t dst, src;
    uint64_t sent, received;
    if (!bytes_of(line, 0, "sendcount", 4, &sent) || !rank_of(line, 1, "dst", &dst) ||
        !bytes_of(line, 2, "recvcount", line->n > 5 ? 5 : 4, &received) || !rank_of(line, 3, "src", &src))
        return FALSE;
    uint32_t send = mpi_send(line->mpi, dst, 0, sent, line->verb),
             recv = mpi_recv(line->mpi, src, 0, received, line->verb);
    mpi_wait(line->mpi, send);
    mpi_wait(line->mpi, recv);
    return TRUE;
}

/* The oldest pending request of this key, or an error. */
static gboolean
find_request(Line *line, uint32_t *found)
{
    uint32_t ends[2] = {0};
    uint64_t tag;
    for (uint32_t i = 0; i < 2; i++) {
        if (i == 0 && is_any(argument(line, 0), "-555"))
            ends[0] = MPI_ANYONE;
        else if (!rank_of(line, i, i == 0 ? "src" : "dst", &ends[i]))
            return FALSE;
    }
    if (!count_of(line, 2, "tag", MPI_TAG_MOST, &tag))
        return FALSE;
    const GArray *requests = line->rank->requests;
    for (*found = 0; *found < requests->len; ++*found) {
        const TiRequest *request = &g_array_index(requests, TiRequest, *found);
        if (request->src == ends[0] && request->dst == ends[1] && request->tag == tag)
            return TRUE;
    }
    return field_lines_fail(line->lines, line->error, "%s: rank %u has no pending request %s to %s with tag %s",
                            line->verb, line->number, argument(line, 0), argument(line, 1), argument(line, 2));
}

static gboolean
do_test(Line *line)
{
    uint32_t request;
    return find_request(line, &request);
}

static gboolean
do_wait(Line *line)
{
    uint32_t request;
    if (!find_request(line, &request))
        return FALSE;
    mpi_wait(line->mpi, g_array_index(line->rank->requests, TiRequest, request).op);
    g_array_remove_index(line->rank->requests, request);
    return TRUE;
}

static gboolean
do_waitall(Line *line)
{
    for (uint32_t i = 0; i < line->rank->requests->len; i++)
        mpi_wait(line->mpi, g_array_index(line->rank->requests, TiRequest, i).op);
    g_array_set_size(line->rank->requests, 0);
    return TRUE;
}

static gboolean
do_barrier(Line *line)
{
    mpi_collective(line->mpi, COLLECTIVE_BARRIER, MPI_WORLD, 0, 0, line->verb);
    return TRUE;
}

/* count [root [datatype]]. */
static gboolean
do_bcast(Line *line)
{
    uint64_t bytes;
    uint32_t root;
    if (!bytes_of(line, 0, "count", 2, &bytes) || !root_of(line, 1, &root))
        return FALSE;
    mpi_collective(line->mpi, COLLECTIVE_BROADCAST, MPI_WORLD, bytes, root, line->verb);
    return TRUE;
}

/* count flops [root [datatype]]. */
static gboolean
do_reduce(Line *line)
{
    uint64_t bytes;
    uint32_t root;
    double flops;
    if (!bytes_of(line, 0, "count", 3, &bytes) || !flops_of(line, 1, &flops) || !root_of(line, 2, &root))
        return FALSE;
    mpi_collective(line->mpi, COLLECTIVE_REDUCE, MPI_WORLD, bytes, root, line->verb);
    mpi_compute(line->mpi, flops, line->verb);
    return TRUE;
}

/* count flops [datatype]. */
static gboolean
do_allreduce(Line *line)
{
    uint64_t bytes;
    double flops;
    if (!bytes_of(line, 0, "count", 2, &bytes) || !flops_of(line, 1, &flops))
        return FALSE;
    mpi_collective(line->mpi, COLLECTIVE_ALL_REDUCE, MPI_WORLD, bytes, 0, line->verb);
    mpi_compute(line->mpi, flops, line->verb);
    return TRUE;
}

static gboolean
do_scan(Line *line)
{
    uint64_t bytes;
    double flops;
    if (!bytes_of(line, 0, "count", 2, &bytes) || !flops_of(line, 1, &flops))
        return FALSE;
    mpi_scan(line->mpi, bytes, flops, line->verb);
    line->ti->seen.scans++;
    return TRUE;
}

/* sendcount recvcount [sendtype [recvtype]], a pair of ranks. */
static gboolean
do_alltoall(Line *line)
{
    uint64_t bytes;
    if (!bytes_of(line, 0, "sendcount", 2, &bytes) || !sum_fits(line, bytes <= UINT64_MAX / line->ti->n_ranks))
        return FALSE;
    mpi_collective(line->mpi, COLLECTIVE_ALL_TO_ALL, MPI_WORLD, bytes * line->ti->n_ranks, 0, line->verb);
    return TRUE;
}

/* sendbufsize sendcounts recvbufsize recvcounts [sendtype [recvtype]]. */
static gboolean
do_alltoallv(Line *line)
{
    uint32_t n = line->ti->n_ranks;
    if (!needs(line, 2 * ((uint64_t)n + 1)))
        return FALSE;
    g_autofree uint64_t *parts = parts_of(line, 1, "sendcount", 2 * n + 2);
    return parts != NULL && sum_fits(line, mpi_spread(line->mpi, MPI_WORLD, parts, line->verb));
}

/* sendcount recvcount [root [sendtype [recvtype]]]; gatherv has a recvcount for each rank. */
static gboolean
gather(Line *line, uint32_t n_recvcounts)
{
    uint64_t bytes;
    uint32_t root;
    if (!needs(line, (uint64_t)n_recvcounts + 1) || !bytes_of(line, 0, "sendcount", n_recvcounts + 2, &bytes) ||
        !root_of(line, n_recvcounts + 1, &root))
        return FALSE;
    mpi_gather(line->mpi, MPI_WORLD, bytes, root, line->verb);
    line->ti->seen.spread++;
    return TRUE;
}

static gboolean
do_gather(Line *line)
{
    return gather(line, 1);
}

static gboolean
do_gatherv(Line *line)
{
    return gather(line, line->ti->n_ranks);
}

static gboolean
do_scatter(Line *line)
{
    uint64_t bytes;
    uint32_t root;
    if (!bytes_of(line, 0, "sendcount", 3, &bytes) || !root_of(line, 2, &root))
        return FALSE;
    g_autofree uint64_t *parts = g_new(uint64_t, line->ti->n_ranks);
    for (uint32_t r = 0; r < line->ti->n_ranks; r++)
        parts[r] = bytes;
    line->ti->seen.spread++;
    return sum_fits(line, mpi_scatter(line->mpi, MPI_WORLD, parts, root, line->verb));
}

/* sendcounts recvcount [root [sendtype [recvtype]]]; the root's counts hold. */
static gboolean
do_scatterv(Line *line)
{
    uint32_t n = line->ti->n_ranks, root;
    if (!needs(line, (uint64_t)n + 1) || !root_of(line, n + 1, &root))
        return FALSE;
    g_autofree uint64_t *parts = parts_of(line, 0, "sendcount", n + 2);
    line->ti->seen.spread++;
    return parts != NULL && sum_fits(line, mpi_scatter(line->mpi, MPI_WORLD, parts, root, line->verb));
}

static gboolean
do_allgather(Line *line)
{
    uint64_t bytes;
    if (!bytes_of(line, 0, "sendcount", 2, &bytes) || !sum_fits(line, bytes <= UINT64_MAX / line->ti->n_ranks))
        return FALSE;
    mpi_collective(line->mpi, COLLECTIVE_ALL_GATHER, MPI_WORLD, bytes * line->ti->n_ranks, 0, line->verb);
    return TRUE;
}

/* sendcount recvcounts, then nothing, two types, a displacement for each rank, or types and displacements: told apart
 * by how many there are, as SMPI does; with two ranks two are types. */
static gboolean
do_allgatherv(Line *line)
{
    uint32_t n = line->ti->n_ranks;
    if (!needs(line, (uint64_t)n + 1))
        return FALSE;
    uint32_t rest = line->n - n - 1;
    gboolean typed = rest == 1 || rest == 2 || rest == n + 2;
    g_autofree uint64_t *parts = parts_of(line, 1, "recvcount", typed ? n + 1 : UINT32_MAX);
    if (parts == NULL)
        return FALSE;
    for (uint32_t r = 1; r < n; r++)
        if (parts[r] != parts[0]) {
            line->ti->seen.spread++;
            break;
        }
    return sum_fits(line, mpi_all_gather(line->mpi, MPI_WORLD, parts, line->verb));
}

/* recvcounts flops [datatype]: S is the vector that is reduced. */
static gboolean
do_reducescatter(Line *line)
{
    uint32_t n = line->ti->n_ranks;
    double flops;
    if (!needs(line, (uint64_t)n + 1) || !flops_of(line, n, &flops))
        return FALSE;
    g_autofree uint64_t *parts = parts_of(line, 0, "recvcount", n + 1);
    if (parts == NULL)
        return FALSE;
    uint64_t sum = 0;
    gboolean uneven = FALSE;
    for (uint32_t r = 0; r < n; r++) {
        if (!sum_fits(line, parts[r] <= UINT64_MAX - sum))
            return FALSE;
        sum += parts[r];
        uneven = uneven || parts[r] != parts[0];
    }
    line->ti->seen.uneven += uneven;
    mpi_collective(line->mpi, COLLECTIVE_REDUCE_SCATTER, MPI_WORLD, sum, 0, line->verb);
    mpi_compute(line->mpi, flops, line->verb);
    return TRUE;
}

/* One line an action: its name, its fewest arguments. */
static const struct {
    const char *name;
    uint32_t least;
    gboolean (*run)(Line *line);
} actions[] = {
    {"init", 0, do_init},
    {"finalize", 0, do_nothing},
    {"comm_size", 0, do_nothing},
    {"comm_split", 0, do_communicator},
    {"comm_dup", 0, do_communicator},
    {"compute", 1, do_compute},
    {"sleep", 1, do_sleep},
    {"location", 0, do_nothing},
    {"send", 3, do_send},
    {"isend", 3, do_isend},
    {"recv", 3, do_recv},
    {"irecv", 3, do_irecv},
    {"sendrecv", 4, do_sendrecv},
    {"wait", 3, do_wait},
    {"test", 3, do_test},
    {"waitall", 0, do_waitall},
    {"barrier", 0, do_barrier},
    {"bcast", 1, do_bcast},
    {"reduce", 2, do_reduce},
    {"allreduce", 2, do_allreduce},
    {"alltoall", 2, do_alltoall},
    {"alltoallv", 2, do_alltoallv},
    {"gather", 2, do_gather},
    {"gatherv", 2, do_gatherv},
    {"scatter", 2, do_scatter},
    {"scatterv", 2, do_scatterv},
    {"allgather", 2, do_allgather},
    {"allgatherv", 2, do_allgatherv},
    {"reducescatter", 2, do_reducescatter},
    {"scan", 2, do_scan},
    {"exscan", 2, do_scan},
};

/* Its row, or their number. */
static size_t
find_action(const char *name, size_t length)
{
    size_t i = 0;
    while (i < G_N_ELEMENTS(actions) &&
           !(strlen(actions[i].name) == length && g_ascii_strncasecmp(name, actions[i].name, length) == 0))
        i++;
    return i;
}

gboolean
ti_knows(const char *action, size_t length)
{
    return find_action(action, length) < G_N_ELEMENTS(actions);
}

gboolean
ti_line(Ti *ti, uint32_t rank, FieldLines *lines, GError **error)
{
    ti->ranks[rank].lines++;
    if (lines->n_fields <= VERB)
        return field_lines_fail(lines, error, "has no action after the rank");
    const char *verb = lines->fields[VERB];
    size_t i = find_action(verb, strlen(verb));
    if (i == G_N_ELEMENTS(actions))
        return field_lines_fail(lines, error, "there is no action \"%s\" in time-independent traces", verb);
    Line line = {.ti = ti,
                 .rank = &ti->ranks[rank],
                 .mpi = mpi_world_rank(ti->world, rank),
                 .number = rank,
                 .lines = lines,
                 .verb = actions[i].name,
                 .n = lines->n_fields - FIRST,
                 .error = error};
    if (line.n < actions[i].least)
        return field_lines_fail(lines, error, "%s: %u arguments found, at least %u expected%s", line.verb, line.n,
                                actions[i].least,
                                actions[i].run == do_wait && line.n == 0 ? " (source, destination and tag; traces from "
                                                                           "before SimGrid 3.20 have none)"
                                                                         : "");
    return actions[i].run(&line);
}
