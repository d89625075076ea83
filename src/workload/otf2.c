/* otf2.c - OTF2 archives of MPI programs, read with libotf2 where the build has it
 *
 * Given is the anchor, traces.otf2; the library finds the rest beside it, maps ids and corrects clocks. The ranks are
 * the locations of the group of MPI's communicators. What lies between two regions of MPI is computing of the recorded
 * time; how long calls took is not used. A receive that was begun by MPI_Irecv tells its sender and bytes only when it
 * ends. */
#include "config.h"

#include "base/error.h"
#include "base/problems.h"
#include "workload/trace_format.h"

#include <string.h>

#ifdef HAVE_OTF2

#include "workload/otf2_events.h"

enum { RANKS_MOST = 1 << 20 };

static void
group_free(void *data)
{
    OtfGroup *group = data;
    g_array_unref(group->members);
    g_free(group);
}

/* A table by 64-bit ids. */
static GHashTable *
table_new(GDestroyNotify value_free)
{
    return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, value_free);
}

static void
table_set(GHashTable *table, uint64_t id, void *value)
{
    g_hash_table_replace(table, g_memdup2(&id, sizeof id), value);
}

/* --- Definitions --- */

static OTF2_CallbackCode
on_clock(void *data, uint64_t resolution, uint64_t offset, uint64_t length, uint64_t date)
{
    ((Otf *)data)->ticks_per_s = resolution;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_text(void *data, OTF2_StringRef self, const char *text)
{
    table_set(((Otf *)data)->texts, self, g_strdup(text));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_location(void *data, OTF2_LocationRef self, OTF2_StringRef name, OTF2_LocationType type, uint64_t events,
            OTF2_LocationGroupRef group)
{
    uint64_t id = self;
    g_ptr_array_add(((Otf *)data)->all_locations, g_memdup2(&id, sizeof id));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_region(void *data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef canonical, OTF2_StringRef description,
          OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin,
          uint32_t end)
{
    if (paradigm == OTF2_PARADIGM_MPI)
        table_set(((Otf *)data)->regions, self, GUINT_TO_POINTER(name));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_group(void *data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type, OTF2_Paradigm paradigm,
         OTF2_GroupFlag flags, uint32_t n, const uint64_t *members)
{
    Otf *otf = data;
    if (paradigm != OTF2_PARADIGM_MPI)
        return OTF2_CALLBACK_SUCCESS;
    OtfGroup *group = g_new0(OtfGroup, 1);
    *group = (OtfGroup){type, g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    if (n > 0)
        g_array_append_vals(group->members, members, n);
    if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS && n > 0)
        g_array_append_vals(otf->locations, members, n);
    table_set(otf->groups, self, group);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_comm(void *data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef parent,
        OTF2_CommFlag flags)
{
    OtfComm *comm = g_new0(OtfComm, 1);
    comm->group = group;
    table_set(((Otf *)data)->comms, self, comm);
    return OTF2_CALLBACK_SUCCESS;
}

/* --- The archive --- */

/* What the library says goes into an error instead of standard error. */
static OTF2_ErrorCode
on_error(void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code, const char *format,
         va_list arguments)
{
    Otf *otf = data;
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    if (otf != NULL && otf->failed == NULL && code != OTF2_ERROR_INTERRUPTED_BY_CALLBACK)
        error_input(&otf->failed, "%s: libotf2: %s: %s", otf->path, OTF2_Error_GetDescription(code), text);
    return code;
}

static gboolean
read_definitions(Otf *otf, OTF2_Reader *reader)
{
    uint64_t n;
    OTF2_GlobalDefReader *definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks *callbacks = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(callbacks, on_clock);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(callbacks, on_text);
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(callbacks, on_location);
    OTF2_GlobalDefReaderCallbacks_SetRegionCallback(callbacks, on_region);
    OTF2_GlobalDefReaderCallbacks_SetGroupCallback(callbacks, on_group);
    OTF2_GlobalDefReaderCallbacks_SetCommCallback(callbacks, on_comm);
    gboolean good = definitions != NULL &&
                    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, callbacks, otf) == OTF2_SUCCESS;
    OTF2_GlobalDefReaderCallbacks_Delete(callbacks);
    return good && OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &n) == OTF2_SUCCESS;
}

/* The ranks, from the locations of MPI. */
static gboolean
make_ranks(Otf *otf, GError **error)
{
    otf->n_ranks = otf->locations->len;
    if (otf->n_ranks == 0 || otf->n_ranks > RANKS_MOST)
        return error_input(error, "%s: defines %u ranks of MPI; 1 to %d are expected", otf->path, otf->n_ranks,
                           RANKS_MOST);
    if (otf->ticks_per_s == 0)
        return error_input(error, "%s: does not say how many ticks a second has", otf->path);
    otf->world = mpi_world_new(otf->n_ranks);
    otf->ranks = g_new0(OtfRank, otf->n_ranks);
    for (uint32_t r = 0; r < otf->n_ranks; r++) {
        otf->ranks[r].mpi = mpi_world_rank(otf->world, r);
        otf->ranks[r].begun = g_array_new(FALSE, FALSE, sizeof(OtfRequest));
        table_set(otf->rank_of, g_array_index(otf->locations, uint64_t, r), GUINT_TO_POINTER(r + 1));
    }
    return TRUE;
}

/* The local definitions map ids of each location to the global ones; then all events in the order of their times. */
static gboolean
read_events(Otf *otf, OTF2_Reader *reader)
{
    uint64_t n;
    for (guint l = 0; l < otf->all_locations->len; l++)
        OTF2_Reader_SelectLocation(reader, *(uint64_t *)otf->all_locations->pdata[l]);
    gboolean mapped = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    if (OTF2_Reader_OpenEvtFiles(reader) != OTF2_SUCCESS)
        return FALSE;
    for (guint l = 0; l < otf->all_locations->len; l++) {
        uint64_t location = *(uint64_t *)otf->all_locations->pdata[l];
        OTF2_DefReader *local = mapped ? OTF2_Reader_GetDefReader(reader, location) : NULL;
        if (local != NULL) {
            if (OTF2_Reader_ReadAllLocalDefinitions(reader, local, &n) != OTF2_SUCCESS)
                return FALSE;
            OTF2_Reader_CloseDefReader(reader, local);
        }
        if (OTF2_Reader_GetEvtReader(reader, location) == NULL)
            return FALSE;
    }
    if (mapped)
        OTF2_Reader_CloseDefFiles(reader);
    OTF2_GlobalEvtReader *events = OTF2_Reader_GetGlobalEvtReader(reader);
    if (events == NULL)
        return FALSE;
    OTF2_GlobalEvtReaderCallbacks *callbacks = OTF2_GlobalEvtReaderCallbacks_New();
    otf_set_callbacks(callbacks);
    gboolean good = OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, callbacks, otf) == OTF2_SUCCESS;
    OTF2_GlobalEvtReaderCallbacks_Delete(callbacks);
    good = good && OTF2_Reader_ReadAllGlobalEvents(reader, events, &n) == OTF2_SUCCESS;
    OTF2_Reader_CloseGlobalEvtReader(reader, events);
    OTF2_Reader_CloseEvtFiles(reader);
    return good;
}

/* What was begun and never ended, what was computed last, and when each rank began. */
static gboolean
finish_ranks(Otf *otf, GError **error)
{
    Workload *workload = mpi_world_workload(otf->world);
    uint64_t least = UINT64_MAX;
    for (uint32_t r = 0; r < otf->n_ranks; r++)
        least = MIN(least, otf->ranks[r].first);
    workload->start_ps = g_new0(SimTime, otf->n_ranks);
    for (uint32_t r = 0; r < otf->n_ranks; r++) {
        OtfRank *rank = &otf->ranks[r];
        for (guint i = 0; i < rank->begun->len; i++) {
            uint32_t op = g_array_index(rank->begun, OtfRequest, i).op;
            if (g_array_index(workload_program(workload, r)->ops, Op, op).kind == OP_RECV)
                mpi_cancel(rank->mpi, op);
            otf->unended++;
        }
        if (!otf_flush(otf, rank) || !otf_time(otf, rank->first - least, &workload->start_ps[r]))
            return error_input(error, "%s: rank %u lasts, or begins after another, more than 106 days", otf->path, r);
    }
    return TRUE;
}

static void
add_notes(const Otf *otf)
{
    Workload *workload = mpi_world_workload(otf->world);
    const struct {
        uint64_t n;
        const char *text;
    } notes[] = {
        {otf->spread, "gathers or scatters are uneven all-to-alls of the same bytes"},
        {otf->uneven, "collectives with counts of their own for each rank are reckoned as even: OTF2 has sums"},
        {otf->scans, "scans are chains of messages from rank to rank"},
        {otf->alone, "collectives of one rank alone are left out"},
        {otf->unended, "requests never end; receives among them are left out"}};
    for (size_t i = 0; i < G_N_ELEMENTS(notes); i++)
        if (notes[i].n > 0)
            workload_note(workload, "%" G_GUINT64_FORMAT " %s", notes[i].n, notes[i].text);
    workload_note(workload, "what lies between two calls of MPI is computing");
}

static gboolean
read_archive(Otf *otf, GError **error)
{
    OTF2_Reader *reader = OTF2_Reader_Open(otf->path);
    guint before = problems_count(otf->problems);
    GError *own = NULL;
    gboolean good = reader != NULL && OTF2_Reader_SetSerialCollectiveCallbacks(reader) == OTF2_SUCCESS &&
                    read_definitions(otf, reader) && make_ranks(otf, &own) && read_events(otf, reader);
    if (reader != NULL)
        OTF2_Reader_Close(reader);
    if (own != NULL || otf->failed != NULL) {
        g_propagate_error(error, own != NULL ? own : g_steal_pointer(&otf->failed));
        return FALSE;
    }
    if (!good)
        return error_input(error, "%s: libotf2 cannot read this archive", otf->path);
    return problems_none_since(otf->problems, before, otf->path, error) && finish_ranks(otf, error);
}

static Workload *
read_otf2(const TraceSource *source, GError **error)
{
    if (source->n_files != 1) {
        error_input(error, "%s and %u more: an OTF2 archive is given by its anchor, the one .otf2 file",
                    source->files[0], source->n_files - 1);
        return NULL;
    }
    Otf otf = {.path = source->files[0],
               .problems = source->problems,
               .texts = table_new(g_free),
               .regions = table_new(NULL),
               .groups = table_new(group_free),
               .comms = table_new(g_free),
               .rank_of = table_new(NULL),
               .locations = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
               .all_locations = g_ptr_array_new_with_free_func(g_free)};
    OTF2_ErrorCallback old = OTF2_Error_RegisterCallback(on_error, &otf);
    gboolean good = read_archive(&otf, error);
    OTF2_Error_RegisterCallback(old, NULL);
    Workload *workload = NULL;
    if (good) {
        add_notes(&otf);
        mpi_world_workload(otf.world)->description = g_strdup_printf("OTF2, %s", otf.path);
        workload = mpi_world_finish(otf.world, otf.path, otf.problems, error);
    }
    g_clear_error(&otf.failed);
    for (uint32_t r = 0; otf.ranks != NULL && r < otf.n_ranks; r++)
        g_array_unref(otf.ranks[r].begun);
    g_free(otf.ranks);
    mpi_world_free(otf.world);
    GHashTable *tables[] = {otf.texts, otf.regions, otf.groups, otf.comms, otf.rank_of};
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
        g_hash_table_unref(tables[i]);
    g_array_unref(otf.locations);
    g_ptr_array_unref(otf.all_locations);
    return workload;
}

#else

static Workload *
read_otf2(const TraceSource *source, GError **error)
{
    error_input(error, "%s: is an OTF2 archive, and this build is without libotf2 (configure --with-otf2)",
                source->files[0]);
    return NULL;
}

#endif

static int
recognise(const char *head, size_t length)
{
    return length > 6 && memcmp(head + 1, "BOTF2", 5) == 0 ? 100 : 0;
}

const TraceFormat trace_otf2 = {"otf2",
                                "OTF2 archives, given by their anchor, a file .otf2"
#ifndef HAVE_OTF2
                                " (left out of this build)"
#endif
                                ,
                                recognise, read_otf2};
