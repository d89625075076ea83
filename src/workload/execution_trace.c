#include "workload/execution_trace.h"

#include "base/json.h"
#include "base/problems.h"

#include <inttypes.h>
#include <string.h>

/* Values nested deeper are skipped; a tensor of a list of lists stands at depth 4. */
enum { DEEPEST = 8 };

/* One element of a node's input values. */
typedef struct {
    JsonKind kind;
    uint32_t first_number, n_numbers; /* of the reader's numbers: a list's own, or the scalar's */
    gboolean has_text;
    size_t text;           /* of the reader's texts: the string, or the first of a list */
    uint64_t numel, bytes; /* of the tensors in it */
} Element;

typedef struct {
    GPtrArray *problems; /* NULL = stop at the first */
    JsonReader *json;
    ExecutionTrace *trace;
    gboolean seen_nodes;
    GArray *ids; /* of uint64_t */
    /* Of the node at hand: */
    GArray *elements; /* of Element: the input values */
    GArray *numbers;  /* of int64_t */
    GString *texts, *name, *attr;
    uint64_t id, out_bytes;
    gboolean has_id;
    int64_t thread;
} Reader;

/* At the token just read; TRUE where problems are collected and reading goes on. */
static gboolean problem(const Reader *reader, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
problem(const Reader *reader, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    GError *wrong = NULL;
    json_fail(reader->json, &wrong, "%s", text);
    return problems_go_on(reader->problems, wrong, error);
}

/* Adds numel x itemsize of a tensor tuple [tensor, storage, offset, numel, itemsize, device]. */
static gboolean
add_tensor(Reader *reader, Element *element, const int64_t *tuple, GError **error)
{
    uint64_t bytes;
    if (tuple[3] < 0 || tuple[4] < 0 || __builtin_mul_overflow((uint64_t)tuple[3], (uint64_t)tuple[4], &bytes) ||
        __builtin_add_overflow(element->bytes, bytes, &element->bytes) ||
        __builtin_add_overflow(element->numel, (uint64_t)tuple[3], &element->numel))
        return problem(reader, error,
                       "a tensor of %" PRId64 " elements of %" PRId64 " bytes: expected sizes from 0 that fit 64 bits",
                       tuple[3], tuple[4]);
    return TRUE;
}

/* A list, whose '[' was read: its own numbers, its first text, and the tensors in it at any depth. */
static gboolean
read_list(Reader *reader, Element *element, int depth, GError **error)
{
    int64_t tuple[6];
    uint32_t n_numbers = 0, n_texts = 0, n_others = 0;
    JsonToken token;
    while (json_next(reader->json, &token, error)) {
        int64_t number;
        if (token.kind == JSON_ARRAY_END) {
            /* [tensor, storage, offset, numel, itemsize, device] and nothing else */
            if (n_numbers == 5 && n_texts == 1 && n_others == 0)
                return add_tensor(reader, element, tuple, error);
            return TRUE;
        }
        if (token.kind == JSON_ARRAY_BEGIN && depth < DEEPEST) {
            n_others++;
            if (!read_list(reader, element, depth + 1, error))
                return FALSE;
        } else if (token.kind == JSON_NUMBER && json_int64(token.text, &number)) {
            if (n_numbers < G_N_ELEMENTS(tuple))
                tuple[n_numbers] = number;
            n_numbers++;
            if (depth == 1) {
                g_array_append_val(reader->numbers, number);
                element->n_numbers++;
            }
        } else if (token.kind == JSON_STRING) {
            n_texts++;
            if (depth == 1 && !element->has_text) {
                element->has_text = TRUE;
                element->text = reader->texts->len;
                g_string_append_len(reader->texts, token.text, (gssize)token.length + 1);
            }
        } else {
            n_others++;
            if (!json_skip(reader->json, &token, error))
                return FALSE;
        }
    }
    return FALSE;
}

static gboolean
read_element(Reader *reader, const JsonToken *token, Element *element, GError **error)
{
    *element = (Element){.kind = token->kind, .first_number = reader->numbers->len};
    int64_t number;
    if (token->kind == JSON_ARRAY_BEGIN)
        return read_list(reader, element, 1, error);
    if (token->kind == JSON_STRING) {
        element->has_text = TRUE;
        element->text = reader->texts->len;
        g_string_append_len(reader->texts, token->text, (gssize)token->length + 1);
    } else if (token->kind == JSON_NUMBER) {
        if (json_int64(token->text, &number)) {
            g_array_append_val(reader->numbers, number);
            element->n_numbers = 1;
        }
        element->has_text = TRUE;
        element->text = reader->texts->len;
        g_string_append_len(reader->texts, token->text, (gssize)token->length + 1);
    }
    return json_skip(reader->json, token, error);
}

/* The elements of a value list, whose '[' was read; inputs are kept, of outputs the bytes. */
static gboolean
read_elements(Reader *reader, gboolean inputs, GError **error)
{
    JsonToken token;
    while (json_next(reader->json, &token, error)) {
        Element element;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (!read_element(reader, &token, &element, error))
            return FALSE;
        if (inputs)
            g_array_append_val(reader->elements, element);
        else if (__builtin_add_overflow(reader->out_bytes, element.bytes, &reader->out_bytes))
            return json_fail(reader->json, error, "output tensors of more than 64 bits of bytes");
    }
    return FALSE;
}

/* "inputs" or "outputs": a list, or since 1.0.3 an object with the list under "values". */
static gboolean
read_values(Reader *reader, gboolean inputs, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind == JSON_ARRAY_BEGIN)
        return read_elements(reader, inputs, error);
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_skip(reader->json, &token, error);
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        gboolean values = strcmp(token.text, "values") == 0;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        gboolean ok = values && token.kind == JSON_ARRAY_BEGIN ? read_elements(reader, inputs, error)
                                                               : json_skip(reader->json, &token, error);
        if (!ok)
            return FALSE;
    }
    return FALSE;
}

/* One {name, type, value} of attrs, whose '{' was read: "tid" is kept. */
static gboolean
read_attr(Reader *reader, GError **error)
{
    int64_t value = -1;
    JsonToken token;
    g_string_truncate(reader->attr, 0);
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END) {
            if (strcmp(reader->attr->str, "tid") == 0)
                reader->thread = value;
            return TRUE;
        }
        gboolean is_name = strcmp(token.text, "name") == 0, is_value = strcmp(token.text, "value") == 0;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (is_name && token.kind == JSON_STRING)
            g_string_assign(reader->attr, token.text);
        else if (is_value && token.kind == JSON_NUMBER && !json_int64(token.text, &value))
            value = -1;
        if (!json_skip(reader->json, &token, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_attrs(Reader *reader, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_skip(reader->json, &token, error);
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        gboolean ok =
            token.kind == JSON_OBJECT_BEGIN ? read_attr(reader, error) : json_skip(reader->json, &token, error);
        if (!ok)
            return FALSE;
    }
    return FALSE;
}

static const char *
keep_text(const Reader *reader, const Element *element)
{
    return element->has_text ? g_string_chunk_insert_const(reader->trace->texts, reader->texts->str + element->text)
                             : NULL;
}

static int64_t
first_number(const Reader *reader, const Element *element)
{
    return element->n_numbers > 0 ? g_array_index(reader->numbers, int64_t, element->first_number) : -1;
}

/* Copies a list of split sizes into the trace. */
static gboolean
keep_splits(const Reader *reader, const Element *element, uint32_t *first, uint32_t *n, GError **error)
{
    *first = reader->trace->splits->len;
    *n = element->n_numbers;
    for (uint32_t i = 0; i < element->n_numbers; i++) {
        int64_t size = g_array_index(reader->numbers, int64_t, element->first_number + i);
        if (size < 0 &&
            !problem(reader, error, "node %" PRIu64 ": split size %" PRId64 " is negative", reader->id, size))
            return FALSE;
        uint64_t elements = (uint64_t)size;
        g_array_append_val(reader->trace->splits, elements);
    }
    return TRUE;
}

/* Inputs are [tensors, seq, group, rank, name, in split, out split, ...], a wait's have no tensors: the name, the first
 * that is a string by itself, tells where the others stand. */
static gboolean
keep_comm(Reader *reader, GError **error)
{
    const Element *e = (const Element *)(const void *)reader->elements->data;
    uint32_t n = reader->elements->len, name = 0;
    while (name < n && e[name].kind != JSON_STRING)
        name++;
    if (name == n || name < 3 || name > 4)
        return problem(reader, error,
                       "node %" PRIu64 ": inputs of record_param_comms, expected [tensors, seq, group, rank, name, "
                       "in split, out split]",
                       reader->id);
    ExecutionComm comm = {
        .id = reader->id,
        .thread = reader->thread,
        .name = keep_text(reader, &e[name]),
        .group = keep_text(reader, &e[name - 2]),
        .seq = first_number(reader, &e[name - 3]),
        .rank = first_number(reader, &e[name - 1]),
        .in_bytes = name == 4 ? e[0].bytes : 0,
        .in_numel = name == 4 ? e[0].numel : 0,
        .out_bytes = reader->out_bytes,
    };
    if (name + 1 < n && !keep_splits(reader, &e[name + 1], &comm.in_split, &comm.n_in_split, error))
        return FALSE;
    if (name + 2 < n && !keep_splits(reader, &e[name + 2], &comm.out_split, &comm.n_out_split, error))
        return FALSE;
    g_array_append_val(reader->trace->comms, comm);
    return TRUE;
}

/* A scalar member of a node. */
static gboolean
read_member(Reader *reader, const char *key, GError **error)
{
    gboolean is_id = strcmp(key, "id") == 0, is_tid = strcmp(key, "tid") == 0, is_name = strcmp(key, "name") == 0;
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (is_id) {
        if ((token.kind != JSON_NUMBER || !json_uint64(token.text, &reader->id)) &&
            !problem(reader, error, "node id is %.40s, expected a whole number below 2^64",
                     token.text != NULL ? token.text : "no number"))
            return FALSE;
        reader->has_id = TRUE;
    } else if (is_tid && token.kind == JSON_NUMBER) {
        if (!json_int64(token.text, &reader->thread) &&
            !problem(reader, error, "tid is %.40s, expected a whole number", token.text))
            return FALSE;
    } else if (is_name && token.kind == JSON_STRING)
        g_string_assign(reader->name, token.text);
    return json_skip(reader->json, &token, error);
}

/* One node, whose '{' was read. */
static gboolean
read_node(Reader *reader, GError **error)
{
    g_array_set_size(reader->elements, 0);
    g_array_set_size(reader->numbers, 0);
    g_string_truncate(reader->texts, 0);
    g_string_truncate(reader->name, 0);
    reader->has_id = FALSE;
    reader->out_bytes = 0;
    reader->thread = -1;
    JsonToken token = {.kind = JSON_END};
    while (json_next(reader->json, &token, error)) {
        gboolean ok;
        if (token.kind == JSON_OBJECT_END)
            break;
        if (strcmp(token.text, "inputs") == 0 || strcmp(token.text, "outputs") == 0)
            ok = read_values(reader, token.text[0] == 'i', error);
        else if (strcmp(token.text, "attrs") == 0)
            ok = read_attrs(reader, error);
        else {
            g_autofree char *key = g_strdup(token.text);
            ok = read_member(reader, key, error);
        }
        if (!ok)
            return FALSE;
    }
    if (token.kind != JSON_OBJECT_END)
        return FALSE;
    if (!reader->has_id)
        return problem(reader, error, "node \"%.80s\" has no id", reader->name->str);
    reader->trace->n_nodes++;
    g_array_append_val(reader->ids, reader->id);
    return strcmp(reader->name->str, "record_param_comms") != 0 || keep_comm(reader, error);
}

static gboolean
read_nodes(Reader *reader, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(reader->json, error, "nodes is no array");
    reader->seen_nodes = TRUE;
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        gboolean whole = token.kind == JSON_OBJECT_BEGIN;
        if (!whole && !problem(reader, error, "nodes: expected objects"))
            return FALSE;
        if (whole ? !read_node(reader, error) : !json_skip(reader->json, &token, error))
            return FALSE;
    }
    return FALSE;
}

/* The version is what stands before the stroke of "1.1.0-chakra.0.0.4". */
static gboolean
check_schema(const ExecutionTrace *trace, GError **error)
{
    static const char *const known[] = {"1.0.1", "1.0.2", "1.0.3", "1.1.0", "1.1.1"};
    g_autofree char *version = g_strndup(trace->schema, strcspn(trace->schema, "-"));
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        if (strcmp(version, known[i]) == 0)
            return TRUE;
    }
    return error_input(error, "%s: execution trace of schema \"%s\"; 1.0.1 to 1.0.3, 1.1.0 and 1.1.1 are read",
                       trace->path, trace->schema);
}

static gboolean
read_top(Reader *reader, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_fail(reader->json, error, "expected the object of a PyTorch execution trace");
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return json_next(reader->json, &token, error); /* nothing may follow */
        if (strcmp(token.text, "nodes") == 0) {
            if (!read_nodes(reader, error))
                return FALSE;
            continue;
        }
        gboolean schema = strcmp(token.text, "schema") == 0;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (schema && token.kind == JSON_STRING) {
            g_free(reader->trace->schema);
            reader->trace->schema = g_strdup(token.text);
        }
        if (!json_skip(reader->json, &token, error))
            return FALSE;
    }
    return FALSE;
}

static gint
by_id(gconstpointer a, gconstpointer b)
{
    uint64_t x = ((const ExecutionComm *)a)->id, y = ((const ExecutionComm *)b)->id;
    return (x > y) - (x < y);
}

static gint
by_number(gconstpointer a, gconstpointer b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void
finish(Reader *reader)
{
    ExecutionTrace *trace = reader->trace;
    g_array_sort(trace->comms, by_id);
    g_array_sort(reader->ids, by_number);
    trace->ids_unique = TRUE;
    for (guint i = 0; i < reader->ids->len; i++) {
        uint64_t id = g_array_index(reader->ids, uint64_t, i);
        if (i > 0 && id == trace->last_id)
            trace->ids_unique = FALSE;
        trace->last_id = id;
    }
    if (reader->ids->len > 0)
        trace->first_id = g_array_index(reader->ids, uint64_t, 0);
}

static gboolean
read_whole(Reader *reader, GError **error)
{
    const ExecutionTrace *trace = reader->trace;
    if (!read_top(reader, error))
        return FALSE;
    if (trace->schema == NULL || !reader->seen_nodes)
        return error_input(error, "%s: no %s: this is no PyTorch execution trace", trace->path,
                           trace->schema == NULL ? "schema" : "nodes");
    if (!check_schema(trace, error))
        return FALSE;
    finish(reader);
    return TRUE;
}

ExecutionTrace *
execution_trace_read(const char *path, GPtrArray *problems, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    if (json == NULL)
        return NULL;
    g_autoptr(ExecutionTrace) trace = g_new0(ExecutionTrace, 1);
    trace->path = g_strdup(path);
    trace->comms = g_array_new(FALSE, FALSE, sizeof(ExecutionComm));
    trace->splits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    trace->texts = g_string_chunk_new(1024);
    g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    g_autoptr(GArray) elements = g_array_new(FALSE, FALSE, sizeof(Element));
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    g_autoptr(GString) texts = g_string_new(NULL), name = g_string_new(NULL), attr = g_string_new(NULL);
    Reader reader = {.problems = problems,
                     .json = json,
                     .trace = trace,
                     .ids = ids,
                     .elements = elements,
                     .numbers = numbers,
                     .texts = texts,
                     .name = name,
                     .attr = attr};
    return read_whole(&reader, error) ? g_steal_pointer(&trace) : NULL;
}

void
execution_trace_free(ExecutionTrace *trace)
{
    if (trace == NULL)
        return;
    g_free(trace->path);
    g_free(trace->schema);
    g_array_unref(trace->comms);
    g_array_unref(trace->splits);
    g_string_chunk_free(trace->texts);
    g_free(trace);
}
