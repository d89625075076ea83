/* kineto_event.c - one event of a Kineto file: its keys in any order, then what is kept of it */
#include "workload/kineto_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
    FORM_TEXT, /* a string, or a number as it is written */
    FORM_TIME, /* decimal microseconds, kept as nanoseconds */
    FORM_INT,
    FORM_STREAM, /* a number, or on AMD calls a pointer as text, which names no stream of ours; bytes likewise */
    FORM_ID,     /* a whole number below 2^64; negative ones mean none */
    FORM_LIST,   /* a list written as text, or an array made into that text */
    FORM_DIMS    /* "Input Dims": the elements of the first tensor */
} Form;

enum { PH, CAT, NAME, PID, TID, COLLECTIVE, DTYPE, GROUP, RANKS, IN_SPLIT, OUT_SPLIT, N_TEXTS };
enum {
    TS,
    DUR,
    IN_NELEMS,
    OUT_NELEMS,
    GROUP_SIZE,
    START,
    STRIDE,
    ROOT,
    SRC,
    DST,
    DEVICE,
    STREAM,
    WAIT_STREAM,
    BYTES,
    N_INTS
};
enum { ID, CORRELATION, WAIT_CORRELATION, NUMEL, N_IDS };

typedef struct {
    const char *key;
    size_t length; /* of key: most keys of a file are unlike ours by that alone */
    Form form;
    int slot; /* of the texts, ints or ids, as the form says */
} Field;

#define KEY(text) text, sizeof(text) - 1
static const Field event_fields[] = {
    {KEY("cat"), FORM_TEXT, CAT},   {KEY("dur"), FORM_TIME, DUR}, {KEY("id"), FORM_ID, ID},
    {KEY("name"), FORM_TEXT, NAME}, {KEY("ph"), FORM_TEXT, PH},   {KEY("pid"), FORM_TEXT, PID},
    {KEY("tid"), FORM_TEXT, TID},   {KEY("ts"), FORM_TIME, TS},
};
static const Field arg_fields[] = {
    {KEY("Collective name"), FORM_TEXT, COLLECTIVE},
    {KEY("Dst Rank"), FORM_INT, DST},
    {KEY("Global rank start"), FORM_INT, START},
    {KEY("Global rank stride"), FORM_INT, STRIDE},
    {KEY("Group size"), FORM_INT, GROUP_SIZE},
    {KEY("In msg nelems"), FORM_INT, IN_NELEMS},
    {KEY("In split size"), FORM_LIST, IN_SPLIT},
    {KEY("Input Dims"), FORM_DIMS, NUMEL},
    {KEY("Out msg nelems"), FORM_INT, OUT_NELEMS},
    {KEY("Out split size"), FORM_LIST, OUT_SPLIT},
    {KEY("Process Group Name"), FORM_TEXT, GROUP},
    {KEY("Process Group Ranks"), FORM_LIST, RANKS},
    {KEY("Rank"), FORM_INT, ROOT},
    {KEY("Src Rank"), FORM_INT, SRC},
    {KEY("bytes"), FORM_STREAM, BYTES},
    {KEY("correlation"), FORM_ID, CORRELATION},
    {KEY("device"), FORM_STREAM, DEVICE},
    {KEY("dtype"), FORM_TEXT, DTYPE},
    {KEY("stream"), FORM_STREAM, STREAM},
    {KEY("wait_on_cuda_event_record_corr_id"), FORM_ID, WAIT_CORRELATION},
    {KEY("wait_on_stream"), FORM_STREAM, WAIT_STREAM},
};

struct KinetoEventReader {
    JsonReader *json;
    KinetoFile *file;
    gboolean with_flows;
    GPtrArray *problems; /* NULL = the first stops */
    guint64 byte;        /* where the event at hand begins */
    /* The last host thread or stream: */
    GString *lane_pid, *lane_tid;
    uint32_t lane; /* INDEX_NONE = none yet */
    /* Of the event at hand: */
    GString *texts[N_TEXTS];
    gboolean has_text[N_TEXTS], has_int[N_INTS], has_id[N_IDS];
    int64_t ints[N_INTS];
    uint64_t ids[N_IDS];
    gboolean bad_args; /* an argument has a value of no use; told only if the event is kept */
    GString *problem;  /* which one, and what was found */
};

KinetoEventReader *
kineto_event_reader_new(JsonReader *json, KinetoFile *file, gboolean with_flows, GPtrArray *problems)
{
    KinetoEventReader *reader = g_new0(KinetoEventReader, 1);
    reader->json = json;
    reader->file = file;
    reader->with_flows = with_flows;
    reader->problems = problems;
    for (int i = 0; i < N_TEXTS; i++)
        reader->texts[i] = g_string_new(NULL);
    reader->problem = g_string_new(NULL);
    reader->lane_pid = g_string_new(NULL);
    reader->lane_tid = g_string_new(NULL);
    reader->lane = INDEX_NONE;
    return reader;
}

void
kineto_event_reader_free(KinetoEventReader *reader)
{
    if (reader == NULL)
        return;
    for (int i = 0; i < N_TEXTS; i++)
        g_string_free(reader->texts[i], TRUE);
    g_string_free(reader->problem, TRUE);
    g_string_free(reader->lane_pid, TRUE);
    g_string_free(reader->lane_tid, TRUE);
    g_free(reader);
}

static void
forget(KinetoEventReader *reader)
{
    memset(reader->has_text, 0, sizeof reader->has_text);
    memset(reader->has_int, 0, sizeof reader->has_int);
    memset(reader->has_id, 0, sizeof reader->has_id);
    reader->bad_args = FALSE;
}

/* The field of a key; NULL where there is none. */
static const Field *
find_field(const Field *fields, size_t n, const JsonToken *key)
{
    for (size_t i = 0; i < n; i++) {
        if (fields[i].length == key->length && memcmp(fields[i].key, key->text, key->length) == 0)
            return &fields[i];
    }
    return NULL;
}

static void
keep_text(KinetoEventReader *reader, int slot, const char *text, gssize length)
{
    g_string_truncate(reader->texts[slot], 0);
    g_string_append_len(reader->texts[slot], text, length);
    reader->has_text[slot] = TRUE;
}

/* An array of scalars as the text of a list, "[0, 1]". */
static gboolean
read_list(KinetoEventReader *reader, int slot, GError **error)
{
    keep_text(reader, slot, "[", 1);
    for (;;) {
        JsonToken token;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            break;
        if (token.text != NULL) {
            if (reader->texts[slot]->len > 1)
                g_string_append(reader->texts[slot], ", ");
            g_string_append_len(reader->texts[slot], token.text, (gssize)token.length);
        } else if (!json_skip(reader->json, &token, error))
            return FALSE;
    }
    g_string_append_c(reader->texts[slot], ']');
    return TRUE;
}

/* [[6144], [], ...]: 6144; 0 where the first input is no bare tensor. */
static gboolean
read_dims(KinetoEventReader *reader, GError **error)
{
    int depth = 1;
    uint32_t nth = 0; /* inputs ended */
    uint64_t product = 1;
    gboolean any = FALSE, nested = FALSE;
    while (depth > 0) {
        JsonToken token;
        uint64_t value;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_BEGIN) {
            depth++;
            nested = nested || (depth > 2 && nth == 0);
        } else if (token.kind == JSON_ARRAY_END) {
            depth--;
            nth += depth == 1;
        } else if (token.kind == JSON_OBJECT_BEGIN) {
            if (!json_skip(reader->json, &token, error))
                return FALSE;
        } else if (nth == 0 && depth == 2 && token.kind == JSON_NUMBER && json_uint64(token.text, &value)) {
            any = TRUE;
            nested = nested || __builtin_mul_overflow(product, value, &product);
        }
    }
    reader->ids[NUMEL] = any && !nested ? product : 0;
    reader->has_id[NUMEL] = TRUE;
    return TRUE;
}

static gboolean
keep_id(KinetoEventReader *reader, int slot, const char *text)
{
    int64_t negative;
    if (!json_uint64(text, &reader->ids[slot])) {
        if (!json_int64(text, &negative))
            return FALSE;
        reader->ids[slot] = 0; /* -1: none */
    }
    reader->has_id[slot] = TRUE;
    return TRUE;
}

/* A scalar; FALSE where it is not of the field's form. */
static gboolean
keep_scalar(KinetoEventReader *reader, const Field *field, const JsonToken *token)
{
    gboolean number = token->kind == JSON_NUMBER;
    switch (field->form) {
    case FORM_TEXT:
    case FORM_LIST:
        if (!number && token->kind != JSON_STRING)
            return FALSE;
        keep_text(reader, field->slot, token->text, (gssize)token->length);
        return TRUE;
    case FORM_TIME:
        return reader->has_int[field->slot] = number && json_decimal(token->text, 3, &reader->ints[field->slot]);
    case FORM_INT:
        return reader->has_int[field->slot] = number && json_int64(token->text, &reader->ints[field->slot]);
    case FORM_STREAM:
        reader->has_int[field->slot] = number && json_int64(token->text, &reader->ints[field->slot]);
        return TRUE;
    case FORM_ID:
        return number && keep_id(reader, field->slot, token->text);
    case FORM_DIMS:
        return TRUE;
    }
    return FALSE;
}

static void
note_problem(KinetoEventReader *reader, const char *key, const JsonToken *token)
{
    if (reader->bad_args)
        return;
    reader->bad_args = TRUE;
    g_string_printf(reader->problem, "%s is %.60s, which is not what stands there", key,
                    token->text != NULL ? token->text : "of another type");
}

static gboolean
read_value(KinetoEventReader *reader, const Field *field, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (field == NULL || token.kind == JSON_NULL)
        return json_skip(reader->json, &token, error);
    if (field->form == FORM_LIST && token.kind == JSON_ARRAY_BEGIN)
        return read_list(reader, field->slot, error);
    if (field->form == FORM_DIMS && token.kind == JSON_ARRAY_BEGIN)
        return read_dims(reader, error);
    if (!keep_scalar(reader, field, &token))
        note_problem(reader, field->key, &token);
    return json_skip(reader->json, &token, error);
}

/* The members of an object up to its end; "args" opens the second table. */
static gboolean
read_members(KinetoEventReader *reader, const Field *fields, size_t n, GError **error)
{
    JsonToken token;
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        if (fields == event_fields && strcmp(token.text, "args") == 0) {
            if (!json_next(reader->json, &token, error))
                return FALSE;
            gboolean ok = token.kind == JSON_OBJECT_BEGIN
                              ? read_members(reader, arg_fields, G_N_ELEMENTS(arg_fields), error)
                              : json_skip(reader->json, &token, error);
            if (!ok)
                return FALSE;
        } else if (!read_value(reader, find_field(fields, n, &token), error))
            return FALSE;
    }
    return FALSE;
}

static const char *
text_or_empty(const KinetoEventReader *reader, int slot)
{
    return reader->has_text[slot] ? reader->texts[slot]->str : "";
}

/* The kind of a category, old spellings too; KINETO_KINDS = another one. */
static KinetoKind
kind_of_category(const char *cat)
{
    static const struct {
        const char *cat;
        KinetoKind kind;
    } kinds[] = {
        {"kernel", KINETO_KERNEL},     {"Kernel", KINETO_KERNEL},     {"gpu_memcpy", KINETO_MEMCPY},
        {"Memcpy", KINETO_MEMCPY},     {"gpu_memset", KINETO_MEMSET}, {"Memset", KINETO_MEMSET},
        {"cuda_runtime", KINETO_CALL}, {"cuda_driver", KINETO_CALL},  {"Runtime", KINETO_CALL},
        {"Driver", KINETO_CALL},       {"cuda_sync", KINETO_SYNC},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].cat, cat) == 0)
            return kinds[i].kind;
    }
    return KINETO_KINDS;
}

static const char *
keep_constant(const KinetoEventReader *reader, int slot)
{
    return reader->has_text[slot] ? g_string_chunk_insert_const(reader->file->texts, reader->texts[slot]->str) : NULL;
}

static int64_t
int_or_none(const KinetoEventReader *reader, int slot)
{
    return reader->has_int[slot] ? reader->ints[slot] : -1;
}

/* Enters the collective arguments; INDEX_NONE where a device event has none. */
static uint32_t
keep_collective(KinetoEventReader *reader, KinetoKind kind)
{
    if (kind != KINETO_COMM && !reader->has_text[COLLECTIVE])
        return INDEX_NONE;
    KinetoCollective collective = {
        .collective = keep_constant(reader, COLLECTIVE),
        .dtype = keep_constant(reader, DTYPE),
        .group = keep_constant(reader, GROUP),
        .ranks = keep_constant(reader, RANKS),
        .in_split = keep_constant(reader, IN_SPLIT),
        .out_split = keep_constant(reader, OUT_SPLIT),
        .in_nelems = int_or_none(reader, IN_NELEMS),
        .out_nelems = int_or_none(reader, OUT_NELEMS),
        .group_size = int_or_none(reader, GROUP_SIZE),
        .rank_start = int_or_none(reader, START),
        .rank_stride = int_or_none(reader, STRIDE),
        .root = int_or_none(reader, ROOT),
        .src = int_or_none(reader, SRC),
        .dst = int_or_none(reader, DST),
        .input_numel = reader->has_id[NUMEL] ? reader->ids[NUMEL] : 0,
    };
    g_array_append_val(reader->file->collectives, collective);
    return reader->file->collectives->len - 1;
}

/* The lane of the event's thread: that of the event before it, mostly. */
static uint32_t
lane_of(KinetoEventReader *reader)
{
    const char *pid = text_or_empty(reader, PID), *tid = text_or_empty(reader, TID);
    if (reader->lane == INDEX_NONE || strcmp(reader->lane_pid->str, pid) != 0 ||
        strcmp(reader->lane_tid->str, tid) != 0) {
        g_autofree char *name = g_strconcat(pid, "/", tid, NULL);
        g_string_assign(reader->lane_pid, pid);
        g_string_assign(reader->lane_tid, tid);
        reader->lane = kineto_file_lane(reader->file, name);
    }
    return reader->lane;
}

static uint32_t
lane_of_stream(KinetoEventReader *reader, int slot)
{
    if (!reader->has_int[slot] || reader->ints[slot] < 0 || reader->ints[slot] >= UINT32_MAX)
        return INDEX_NONE; /* -1, as a signed or an unsigned number: no stream */
    g_autofree char *name = g_strdup_printf("%" PRId64 "/%" PRId64, int_or_none(reader, DEVICE), reader->ints[slot]);
    return kineto_file_lane(reader->file, name);
}

static void
keep_event(KinetoEventReader *reader, KinetoKind kind, uint32_t lane)
{
    KinetoEvent event = {
        .start_ns = reader->ints[TS],
        .end_ns = reader->ints[TS] + reader->ints[DUR],
        .correlation = reader->has_id[CORRELATION] ? reader->ids[CORRELATION] : 0,
        .name = g_string_chunk_insert_const(reader->file->texts, text_or_empty(reader, NAME)),
        .place = reader->byte,
        .bytes = reader->has_int[BYTES] && reader->ints[BYTES] > 0 ? (uint64_t)reader->ints[BYTES] : 0,
        .kind = kind,
        .lane = lane,
        .collective = kind == KINETO_COMM || kind == KINETO_KERNEL ? keep_collective(reader, kind) : INDEX_NONE,
        .wait_lane = INDEX_NONE,
    };
    if (kind == KINETO_SYNC) {
        event.lane = lane_of_stream(reader, STREAM);
        event.wait_lane = lane_of_stream(reader, WAIT_STREAM);
        event.wait_correlation = reader->has_id[WAIT_CORRELATION] ? reader->ids[WAIT_CORRELATION] : 0;
    }
    g_array_append_val(reader->file->events[kind], event);
}

static void
keep_step(KinetoFile *file, const char *name)
{
    for (guint i = 0; i < file->steps->len; i++) {
        if (strcmp(g_ptr_array_index(file->steps, i), name) == 0)
            return;
    }
    g_ptr_array_add(file->steps, g_strdup(name));
}

/* An error at the event: the line where it ends, the byte where it begins. Returns FALSE. */
static gboolean G_GNUC_PRINTF(3, 4) fail(const KinetoEventReader *reader, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    return json_fail(reader->json, error, "byte %" G_GUINT64_FORMAT ": event \"%.80s\": %s", reader->byte,
                     text_or_empty(reader, NAME), what);
}

static gboolean
check_times(KinetoEventReader *reader, GError **error)
{
    int64_t end;
    if (!reader->has_int[TS] || !reader->has_int[DUR])
        return fail(reader, error, "%s is missing or no decimal number of microseconds in range",
                    reader->has_int[TS] ? "dur" : "ts");
    if (reader->ints[DUR] < 0)
        return fail(reader, error, "dur is negative");
    if (__builtin_add_overflow(reader->ints[TS], reader->ints[DUR], &end))
        return fail(reader, error, "ts + dur is out of range");
    return TRUE;
}

/* A complete event: spans, then what is kept of its kind. */
static gboolean
take_complete(KinetoEventReader *reader, GError **error)
{
    KinetoFile *file = reader->file;
    const char *cat = text_or_empty(reader, CAT), *name = text_or_empty(reader, NAME);
    file->n_complete++;
    if (!check_times(reader, error))
        return FALSE;
    if (strcmp(cat, "Trace") == 0)
        return TRUE;

    int64_t start = reader->ints[TS], end = start + reader->ints[DUR];
    file->first_ns = MIN(file->first_ns, start);
    file->last_ns = MAX(file->last_ns, end);
    KinetoKind kind = kind_of_category(cat);
    gboolean annotation = strcmp(cat, "user_annotation") == 0;
    gboolean is_op = strcmp(cat, "cpu_op") == 0 || strcmp(cat, "Operator") == 0;
    if (is_op && strcmp(name, "record_param_comms") == 0)
        kind = KINETO_COMM;
    if (kind == KINETO_KINDS && !annotation && !is_op)
        return TRUE;
    if (kind != KINETO_KINDS && reader->bad_args)
        return fail(reader, error, "%s", reader->problem->str);

    uint32_t lane = lane_of(reader);
    KinetoLane *place = &g_array_index(file->lanes, KinetoLane, lane);
    place->last_ns = MAX(place->last_ns, end);
    place->n_operators += is_op;
    place->n_backward += is_op && g_str_has_prefix(name, "autograd::engine::evaluate_function");
    if (annotation && g_str_has_prefix(name, "ProfilerStep#"))
        keep_step(file, name);
    if (kind != KINETO_KINDS)
        keep_event(reader, kind, lane);
    return TRUE;
}

gboolean
kineto_event_reader_next(KinetoEventReader *reader, GError **error)
{
    forget(reader);
    reader->byte = json_byte(reader->json) - 1;
    if (!read_members(reader, event_fields, G_N_ELEMENTS(event_fields), error))
        return FALSE;
    reader->file->n_events++;
    const char *ph = text_or_empty(reader, PH);
    if (strcmp(ph, "X") == 0) {
        g_autoptr(GError) problem = NULL;
        if (take_complete(reader, &problem))
            return TRUE;
        if (reader->problems == NULL) {
            g_propagate_error(error, g_steal_pointer(&problem));
            return FALSE;
        }
        kineto_add_problem(reader->problems, problem->message);
        return TRUE; /* it is left out */
    }
    gboolean start = strcmp(ph, "s") == 0;
    if (reader->with_flows && reader->has_id[ID] && (start || strcmp(ph, "f") == 0))
        g_array_append_val(reader->file->flow_ids[start ? 0 : 1], reader->ids[ID]);
    return TRUE;
}
