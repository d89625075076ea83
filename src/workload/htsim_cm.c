#include "workload/htsim_cm.h"

#include "base/decimal.h"
#include "base/error.h"
#include "base/field_lines.h"
#include "base/input.h"
#include "base/problems.h"
#include "base/suggest.h"

#include <string.h>

#define MOST_HOSTS UINT64_C(4194304)
#define MOST_LINES UINT64_C(100000000)
#define MOST_ID (UINT64_C(1) << 53)
#define MOST_BYTES (UINT64_C(1) << 50)
#define NO_ID UINT64_MAX

typedef enum { HEAD_NODES, HEAD_CONNECTIONS, HEAD_TRIGGERS, HEAD_FAILURES, HEADS } HeadKey;

static const char *const head_keys[HEADS] = {"Nodes", "Connections", "Triggers", "Failures"};

/* What stands after SRC->DST. */
typedef enum { ID, START, TRIGGER, SIZE, SEND_DONE, RECV_DONE, PRIO, MSG, ATTRIBUTES } Attribute;

static const char *const attributes[ATTRIBUTES] = {
    "id", "start", "trigger", "size", "send_done_trigger", "recv_done_trigger", "prio", "msg"};

typedef struct {
    GPtrArray *problems; /* NULL = stop at the first */
    FieldLines *lines;
    HtsimMatrix *matrix;
    gboolean body; /* a connection, trigger or failure has been read */
    size_t head_line[HEADS];
    uint64_t announced[HEADS];
    GArray *names;     /* of FlowNames, a flow */
    GHashTable *by_id; /* of triggers: id (gint64) -> index + 1 */
    GHashTable *last;  /* of flows: id (gint64) -> index + 1 of the last in the file */
} Reader;

/* Triggers of a flow as the file names them; NO_ID = none. */
typedef struct {
    uint64_t trigger, send_done, recv_done;
} FlowNames;

static HtsimFlow *
flow_at(const HtsimMatrix *matrix, uint32_t index)
{
    return &g_array_index(matrix->flows, HtsimFlow, index);
}

char *
htsim_flow_name(const HtsimFlow *flow)
{
    if (flow->id == 0)
        return g_strdup_printf("flow %u->%u of line %zu", flow->src, flow->dst, flow->line);
    if (flow->message == 0)
        return g_strdup_printf("flow %" G_GUINT64_FORMAT, flow->id);
    return g_strdup_printf("flow %" G_GUINT64_FORMAT " message %" G_GUINT64_FORMAT, flow->id, flow->message);
}

void
htsim_matrix_free(HtsimMatrix *matrix)
{
    if (matrix == NULL)
        return;
    g_free(matrix->path);
    g_array_unref(matrix->flows);
    g_array_unref(matrix->triggers);
    g_free(matrix);
}

static uint32_t
lookup(GHashTable *table, uint64_t id)
{
    gint64 key = (gint64)id;
    return GPOINTER_TO_UINT(g_hash_table_lookup(table, &key)) - 1; /* INDEX_NONE where absent */
}

static void
remember(GHashTable *table, uint64_t id, uint32_t index)
{
    gint64 key = (gint64)id;
    g_hash_table_insert(table, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(index + 1));
}

static gboolean
read_head(Reader *reader, uint32_t key, GError **error)
{
    if (reader->body)
        return field_lines_fail(reader->lines, error, "%s stands after the first connection or trigger",
                                head_keys[key]);
    if (reader->head_line[key] != 0)
        return field_lines_fail(reader->lines, error, "%s was given in line %zu already", head_keys[key],
                                reader->head_line[key]);
    if (reader->lines->n_fields > 2)
        return field_lines_fail(reader->lines, error, "\"%s\" is followed by %u words, expected one number",
                                head_keys[key], reader->lines->n_fields - 1);
    reader->head_line[key] = reader->lines->line;
    return field_lines_uint(reader->lines, 1, head_keys[key], key == HEAD_NODES,
                            key == HEAD_NODES ? MOST_HOSTS : MOST_LINES, &reader->announced[key], error);
}

/* SRC->DST. */
static gboolean
read_ends(const Reader *reader, HtsimFlow *flow, GError **error)
{
    const char *text = reader->lines->fields[0], *arrow = strstr(text, "->");
    g_autofree char *src = g_strndup(text, (size_t)(arrow - text));
    guint64 from, to, last = reader->announced[HEAD_NODES] - 1;
    if (!g_ascii_string_to_unsigned(src, 10, 0, last, &from, NULL) ||
        !g_ascii_string_to_unsigned(arrow + 2, 10, 0, last, &to, NULL))
        return field_lines_fail(
            reader->lines, error,
            "\"%s\" names no two hosts; expected numbers from 0 to %" G_GUINT64_FORMAT " like \"0->1\"", text, last);
    if (from == to)
        return field_lines_fail(reader->lines, error, "host %" G_GUINT64_FORMAT " sends to itself", from);
    flow->src = (uint32_t)from;
    flow->dst = (uint32_t)to;
    return TRUE;
}

static gboolean
read_start(const Reader *reader, uint32_t field, HtsimFlow *flow, GError **error)
{
    if (field >= reader->lines->n_fields)
        return field_lines_fail(reader->lines, error, "the line ends where a start in ps is expected");
    const char *text = reader->lines->fields[field], *end;
    Decimal decimal;
    uint64_t start = 0;
    gboolean rest = FALSE;
    if (!decimal_parse(text, &decimal, &end) || *end != '\0' || decimal.negative ||
        !decimal_scale(&decimal, 1, &start, &rest) || rest || start > (uint64_t)SIM_TIME_MAX)
        return field_lines_fail(reader->lines, error,
                                "start is \"%s\", expected a whole number of picoseconds from 0 to 2^63 - 1", text);
    flow->start_ps = (SimTime)start;
    return TRUE;
}

/* msg [K]: without a number, the one after the message before. */
static void
read_message(const Reader *reader, uint32_t *field, HtsimFlow *flow)
{
    const FieldLines *lines = reader->lines;
    guint64 number = 0;
    if (*field + 1 < lines->n_fields &&
        g_ascii_string_to_unsigned(lines->fields[*field + 1], 10, 1, MOST_ID, &number, NULL))
        ++*field;
    flow->message = number > 0 ? number : NO_ID;
}

static gboolean
read_attribute(Reader *reader, uint32_t attribute, uint32_t *field, HtsimFlow *flow, FlowNames *names, GError **error)
{
    uint64_t ignored;
    const FieldLines *lines = reader->lines;
    switch ((Attribute)attribute) {
    case ID:
        return field_lines_uint(lines, ++*field, "id", 1, MOST_ID, &flow->id, error);
    case START:
        return read_start(reader, ++*field, flow, error);
    case TRIGGER:
        return field_lines_uint(lines, ++*field, "trigger", 0, MOST_ID, &names->trigger, error);
    case SIZE:
        return field_lines_uint(lines, ++*field, "size", 1, MOST_BYTES, &flow->bytes, error);
    case SEND_DONE:
        return field_lines_uint(lines, ++*field, "send_done_trigger", 0, MOST_ID, &names->send_done, error);
    case RECV_DONE:
        return field_lines_uint(lines, ++*field, "recv_done_trigger", 0, MOST_ID, &names->recv_done, error);
    case PRIO:
        reader->matrix->n_prio++;
        return field_lines_uint(lines, ++*field, "prio", 0, MOST_ID, &ignored, error);
    default:
        read_message(reader, field, flow);
        return TRUE;
    }
}

/* The attribute of a connection or of a trigger that a word names, or -1 with an error. */
static int
find_word(const Reader *reader, const char *text, const char *const *words, uint32_t n, const char *what,
          GError **error)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(text, words[i]) == 0)
            return (int)i;
    const char *near = suggest_nearest(text, words, n);
    field_lines_fail(reader->lines, error, "%s has no attribute \"%s\"%s%s%s", what, text,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return -1;
}

/* What a connection cannot be without. */
static gboolean
check_flow(const Reader *reader, uint32_t given, GError **error)
{
    gboolean start = (given & 1u << START) != 0, trigger = (given & 1u << TRIGGER) != 0;
    if (start == trigger)
        return field_lines_fail(reader->lines, error, "the connection has %s start %s trigger; expected one of them",
                                start ? "both" : "neither", start ? "and" : "nor");
    if (!(given & 1u << SIZE))
        return field_lines_fail(reader->lines, error,
                                "the connection has no size; flows without an end are not simulated");
    if ((given & 1u << MSG) && !(given & 1u << ID))
        return field_lines_fail(reader->lines, error, "a msg needs the id of its connection");
    return TRUE;
}

/* A second line of one id is a further message of its connection. */
static gboolean
check_id(Reader *reader, HtsimFlow *flow, GError **error)
{
    uint32_t last = flow->id != 0 ? lookup(reader->last, flow->id) : INDEX_NONE;
    const HtsimFlow *before = last != INDEX_NONE ? flow_at(reader->matrix, last) : NULL;
    if (before != NULL && (before->message == 0 || flow->message == 0))
        return field_lines_fail(reader->lines, error,
                                "id %" G_GUINT64_FORMAT " was given in line %zu already; only lines with msg share one",
                                flow->id, before->line);
    if (before != NULL && (before->src != flow->src || before->dst != flow->dst))
        return field_lines_fail(reader->lines, error,
                                "id %" G_GUINT64_FORMAT " is the connection %u->%u of line %zu, and not %u->%u",
                                flow->id, before->src, before->dst, before->line, flow->src, flow->dst);
    if (flow->message == NO_ID)
        flow->message = before != NULL ? before->message + 1 : 1;
    if (before != NULL && flow->message <= before->message)
        return field_lines_fail(reader->lines, error,
                                "msg is %" G_GUINT64_FORMAT ", expected more than %" G_GUINT64_FORMAT
                                " of line %zu: messages stand in their order",
                                flow->message, before->message, before->line);
    flow->before = last;
    if (flow->id != 0)
        remember(reader->last, flow->id, reader->matrix->flows->len);
    return TRUE;
}

static gboolean
read_flow(Reader *reader, GError **error)
{
    const FieldLines *lines = reader->lines;
    HtsimFlow flow = {.start_ps = -1,
                      .trigger = INDEX_NONE,
                      .send_done = INDEX_NONE,
                      .recv_done = INDEX_NONE,
                      .before = INDEX_NONE,
                      .line = lines->line};
    FlowNames names = {NO_ID, NO_ID, NO_ID};
    uint32_t given = 0;
    if (!read_ends(reader, &flow, error))
        return FALSE;
    for (uint32_t field = 1; field < lines->n_fields; field++) {
        if (strcmp(lines->fields[field], "addon") == 0)
            return field_lines_fail(lines, error, "the attribute addon, which arms a barrier again, is not simulated");
        int attribute = find_word(reader, lines->fields[field], attributes, ATTRIBUTES, "a connection", error);
        if (attribute < 0)
            return FALSE;
        if (given & 1u << attribute)
            return field_lines_fail(lines, error, "%s is given twice", attributes[attribute]);
        given |= 1u << attribute;
        if (!read_attribute(reader, (uint32_t)attribute, &field, &flow, &names, error))
            return FALSE;
    }
    if (!check_flow(reader, given, error) || !check_id(reader, &flow, error))
        return FALSE;
    g_array_append_val(reader->matrix->flows, flow);
    g_array_append_val(reader->names, names);
    return TRUE;
}

/* trigger id K oneshot|multishot|barrier [count M] */
static gboolean
read_trigger(Reader *reader, GError **error)
{
    enum { KIND_WORDS = 3, COUNT = 3, TRIGGER_ID = 4, WORDS = 5 };
    static const char *const words[WORDS] = {"oneshot", "multishot", "barrier", "count", "id"};
    const FieldLines *lines = reader->lines;
    HtsimTrigger trigger = {.id = NO_ID, .count = 1, .line = lines->line};
    uint64_t count = 0;
    int kind = -1;
    for (uint32_t field = 1; field < lines->n_fields; field++) {
        int word = find_word(reader, lines->fields[field], words, WORDS, "a trigger", error);
        if (word < 0)
            return FALSE;
        if ((word < KIND_WORDS && kind >= 0) || (word == COUNT && count > 0) ||
            (word == TRIGGER_ID && trigger.id != NO_ID))
            return field_lines_fail(lines, error, "%s is given, but the trigger has %s already", words[word],
                                    word < KIND_WORDS ? words[kind] : "one");
        if (word < KIND_WORDS)
            kind = word;
        else if (!field_lines_uint(lines, ++field, words[word], word == COUNT, word == COUNT ? MOST_LINES : MOST_ID,
                                   word == COUNT ? &count : &trigger.id, error))
            return FALSE;
    }
    if (trigger.id == NO_ID || kind < 0)
        return field_lines_fail(lines, error, "the trigger has no %s; expected a line like \"trigger id 1 oneshot\"",
                                kind < 0 ? "kind" : "id");
    trigger.kind = (HtsimTriggerKind)kind;
    if ((trigger.kind == HTSIM_BARRIER) != (count > 0))
        return field_lines_fail(lines, error, "the trigger is %s and has %s count; a barrier alone has one",
                                words[kind], count > 0 ? "a" : "no");
    if (lookup(reader->by_id, trigger.id) != INDEX_NONE)
        return field_lines_fail(lines, error, "trigger %" G_GUINT64_FORMAT " is given twice", trigger.id);
    trigger.count = count > 0 ? (uint32_t)count : 1;
    remember(reader->by_id, trigger.id, reader->matrix->triggers->len);
    g_array_append_val(reader->matrix->triggers, trigger);
    return TRUE;
}

static gboolean
read_line(Reader *reader, GError **error)
{
    const char *word = reader->lines->fields[0];
    for (uint32_t i = 0; i < HEADS; i++)
        if (strcmp(word, head_keys[i]) == 0)
            return read_head(reader, i, error);
    gboolean connection = strstr(word, "->") != NULL;
    if (!connection && strcmp(word, "trigger") != 0 && strcmp(word, "failure") != 0)
        return field_lines_fail(reader->lines, error,
                                "found \"%s\", expected Nodes, Connections, Triggers, Failures, a connection like "
                                "\"0->1\", trigger or failure",
                                word);
    gboolean first = !reader->body;
    reader->body = TRUE;
    for (uint32_t i = 0; i < HEAD_TRIGGERS && first; i++)
        if (reader->head_line[i] == 0)
            return field_lines_fail(reader->lines, error, "%s is not given before the first connection or trigger",
                                    head_keys[i]);
    if (strcmp(word, "failure") == 0)
        return field_lines_fail(reader->lines, error,
                                "a failure is of the fabric and not of its work: say it under faults in a scenario");
    return connection ? read_flow(reader, error) : read_trigger(reader, error);
}

/* As many as announced? */
static gboolean
check_counts(const Reader *reader, GError **error)
{
    const char *path = reader->lines->path;
    for (uint32_t i = 0; i < HEAD_TRIGGERS; i++)
        if (reader->head_line[i] == 0)
            return error_input(error, "%s: %s is not given", path, head_keys[i]);
    uint32_t flows = reader->matrix->flows->len, triggers = reader->matrix->triggers->len;
    if (reader->announced[HEAD_CONNECTIONS] != flows || reader->announced[HEAD_TRIGGERS] != triggers)
        return error_input(
            error,
            "%s: %" G_GUINT64_FORMAT " connections and %" G_GUINT64_FORMAT " triggers are announced, %u and %u found",
            path, reader->announced[HEAD_CONNECTIONS], reader->announced[HEAD_TRIGGERS], flows, triggers);
    if (reader->announced[HEAD_FAILURES] != 0)
        return error_input(error, "%s: %" G_GUINT64_FORMAT " failures are announced, 0 found", path,
                           reader->announced[HEAD_FAILURES]);
    return TRUE;
}

static gboolean
resolve(const Reader *reader, const HtsimFlow *flow, Attribute attribute, uint64_t id, uint32_t *index, GError **error)
{
    *index = id != NO_ID ? lookup(reader->by_id, id) : INDEX_NONE;
    if (id == NO_ID || *index != INDEX_NONE)
        return TRUE;
    return error_input(error, "%s:%zu: %s is %" G_GUINT64_FORMAT ", but there is no such trigger", reader->lines->path,
                       flow->line, attributes[attribute], id);
}

static gboolean
resolve_triggers(const Reader *reader, GError **error)
{
    for (uint32_t i = 0; i < reader->names->len; i++) {
        HtsimFlow *flow = flow_at(reader->matrix, i);
        const FlowNames *names = &g_array_index(reader->names, FlowNames, i);
        GError *wrong = NULL;
        if ((!resolve(reader, flow, TRIGGER, names->trigger, &flow->trigger, &wrong) ||
             !resolve(reader, flow, SEND_DONE, names->send_done, &flow->send_done, &wrong) ||
             !resolve(reader, flow, RECV_DONE, names->recv_done, &flow->recv_done, &wrong)) &&
            !problems_go_on(reader->problems, wrong, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
read_all(Reader *reader, GError **error)
{
    const char *path = reader->lines->path;
    guint before = problems_count(reader->problems);
    GError *wrong = NULL;
    while (field_lines_next(reader->lines))
        if (!read_line(reader, &wrong) && !problems_go_on(reader->problems, g_steal_pointer(&wrong), error))
            return FALSE;
    if (!problems_none_since(reader->problems, before, path, error) ||
        (!check_counts(reader, &wrong) && !problems_go_on(reader->problems, wrong, error)) ||
        !resolve_triggers(reader, error) || !problems_none_since(reader->problems, before, path, error))
        return FALSE;
    reader->matrix->n_hosts = (uint32_t)reader->announced[HEAD_NODES];
    return htsim_matrix_check_starts(reader->matrix, error);
}

/* As htsim_matrix_read. */
static HtsimMatrix *
read_matrix(const char *path, GPtrArray *problems, GError **error)
{
    g_autoptr(FieldLines) lines = field_lines_read(path, error);
    if (lines == NULL)
        return NULL;
    g_autoptr(HtsimMatrix) matrix = g_new0(HtsimMatrix, 1);
    matrix->path = g_strdup(path);
    matrix->flows = g_array_new(FALSE, FALSE, sizeof(HtsimFlow));
    matrix->triggers = g_array_new(FALSE, FALSE, sizeof(HtsimTrigger));
    g_autoptr(GArray) names = g_array_new(FALSE, FALSE, sizeof(FlowNames));
    g_autoptr(GHashTable) by_id = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    g_autoptr(GHashTable) last = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    Reader reader = {
        .problems = problems, .lines = lines, .matrix = matrix, .names = names, .by_id = by_id, .last = last};
    return read_all(&reader, error) ? g_steal_pointer(&matrix) : NULL;
}

HtsimMatrix *
htsim_matrix_read(const char *path, GError **error)
{
    return read_matrix(path, NULL, error);
}

static Workload *
htsim_read(const TraceSource *source, GError **error)
{
    if (source->n_files != 1) {
        error_input(error, "%s and %u more: a connection matrix is one file for all hosts", source->files[0],
                    source->n_files - 1);
        return NULL;
    }
    g_autoptr(HtsimMatrix) matrix = read_matrix(source->files[0], source->problems, error);
    return matrix != NULL ? htsim_workload(matrix, error) : NULL;
}

/* The first word is one of the header, and what follows is no fat tree. */
static int
htsim_recognise(const char *head, size_t length)
{
    const char *at = head + input_bom(head, length), *end = head + length;
    while (at < end && (g_ascii_isspace(*at) || *at == '#')) {
        const char *feed = *at == '#' ? memchr(at, '\n', (size_t)(end - at)) : at;
        if (feed == NULL)
            return 0;
        at = feed + 1;
    }
    for (uint32_t i = 0; i < HEADS; i++) {
        size_t n = strlen(head_keys[i]);
        if ((size_t)(end - at) > n && memcmp(at, head_keys[i], n) == 0 && (at[n] == ' ' || at[n] == '\t'))
            return i == HEAD_NODES && g_strstr_len(at, end - at, "\nTiers ") != NULL ? 0 : 90;
    }
    return 0;
}

const TraceFormat trace_htsim = {"htsim", "htsim connection matrices (.cm, .tm): one file for all hosts",
                                 htsim_recognise, htsim_read};
