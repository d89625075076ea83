/* layers_table.c - a table of layers with commas: a line of column names, a line a layer; a data-parallel program
 *
 * Columns in any order: name; forward_time and backward_time with their units, or forward_flops, backward_flops and,
 * where wanted, forward_bytes and backward_bytes moved in memory; parameters; and, where wanted, activation_bytes and
 * parameter_bytes (of the gradient of one parameter, default 2). No quotes; "#" begins a comment line. */
#include "base/error.h"
#include "base/input.h"
#include "base/units.h"
#include "workload/layers.h"
#include "workload/model_parts.h"
#include "workload/trace_format.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

enum {
    NAME,
    FORWARD_TIME,
    BACKWARD_TIME,
    FORWARD_FLOPS,
    BACKWARD_FLOPS,
    FORWARD_BYTES,
    BACKWARD_BYTES,
    PARAMETERS,
    ACTIVATION_BYTES,
    PARAMETER_BYTES,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "name",          "forward_time",   "backward_time", "forward_flops",    "backward_flops",
    "forward_bytes", "backward_bytes", "parameters",    "activation_bytes", "parameter_bytes"};

typedef struct {
    const TraceSource *source;
    size_t line;
    int field_of[COLUMNS]; /* -1 = not there */
    guint n_fields, problems;
    LayerTable *table;
    uint32_t group;
} Reader;

/* At the present line; TRUE where problems are collected and reading goes on. */
static gboolean problem(Reader *reader, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
problem(Reader *reader, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    reader->problems++;
    if (reader->source->problems == NULL)
        return error_input(error, "%s:%zu: %s", reader->source->files[0], reader->line, text);
    g_ptr_array_add(reader->source->problems,
                    g_strdup_printf("%s:%zu: %s", reader->source->files[0], reader->line, text));
    return TRUE;
}

/* What a table cannot be without. */
static gboolean
check_names(Reader *reader, GError **error)
{
    static const int needed[] = {NAME, PARAMETERS};
    for (size_t i = 0; i < G_N_ELEMENTS(needed); i++)
        if (reader->field_of[needed[i]] < 0 && !problem(reader, error, "there is no column %s", names[needed[i]]))
            return FALSE;
    for (int way = 0; way < 2; way++)
        if (reader->field_of[FORWARD_TIME + way] < 0 && reader->field_of[FORWARD_FLOPS + way] < 0 &&
            !problem(reader, error, "there is neither %s nor %s", names[FORWARD_TIME + way],
                     names[FORWARD_FLOPS + way]))
            return FALSE;
    return reader->problems == 0 || error_input(error, "%s: %u problems", reader->source->files[0], reader->problems);
}

static gboolean
read_names(Reader *reader, char **fields, GError **error)
{
    for (int c = 0; c < COLUMNS; c++)
        reader->field_of[c] = -1;
    reader->n_fields = g_strv_length(fields);
    for (guint f = 0; f < reader->n_fields; f++) {
        int column = 0;
        while (column < COLUMNS && strcmp(names[column], fields[f]) != 0)
            column++;
        if (column == COLUMNS || reader->field_of[column] >= 0) {
            g_autofree char *known = g_strjoinv(
                ", ", (char **)(uintptr_t)(const char *[]){names[0], names[1], names[2], names[3], names[4], names[5],
                                                           names[6], names[7], names[8], names[9], NULL});
            if (!problem(reader, error, "found the column \"%s\"%s, expected %s", fields[f],
                         column == COLUMNS ? "" : " twice", known))
                return FALSE;
            continue;
        }
        reader->field_of[column] = (int)f;
    }
    return reader->problems == 0 ? check_names(reader, error)
                                 : error_input(error, "%s: %u problems", reader->source->files[0], reader->problems);
}

/* The text of a column; NULL where it is absent or empty. */
static const char *
field(const Reader *reader, char **fields, int column)
{
    int f = reader->field_of[column];
    return f >= 0 && fields[f][0] != '\0' ? fields[f] : NULL;
}

/* A number of at most 2^53, 0 where absent. */
static gboolean
read_number(Reader *reader, char **fields, int column, gboolean whole, double *value, GError **error)
{
    const char *text = field(reader, fields, column);
    *value = 0;
    if (text == NULL)
        return TRUE;
    char *end;
    double most = whole ? 0x1p53 : 1e30;
    double number = text[strspn(text, "+.0123456789eE")] == '\0' ? g_ascii_strtod(text, &end) : -1;
    if (!(number >= 0 && number <= most && *end == '\0' && end != text && (!whole || number == floor(number))))
        return problem(reader, error, "%s is \"%s\", expected a %snumber from 0", names[column], text,
                       whole ? "whole " : "");
    *value = number;
    return TRUE;
}

/* Forward (way 0) or backward (1): a time, or operations and bytes. */
static gboolean
read_work(Reader *reader, char **fields, int way, LayerWork *work, GError **error)
{
    const char *time = field(reader, fields, FORWARD_TIME + way);
    if (!read_number(reader, fields, FORWARD_FLOPS + way, FALSE, &work->flops, error) ||
        !read_number(reader, fields, FORWARD_BYTES + way, FALSE, &work->bytes_moved, error))
        return FALSE;
    if (time == NULL && field(reader, fields, FORWARD_FLOPS + way) == NULL)
        return problem(reader, error, "%s is empty", names[FORWARD_TIME + way]);
    work->duration_ps = -1;
    GError *wrong = NULL;
    if (time == NULL || units_parse_time(time, &work->duration_ps, &wrong))
        return TRUE;
    gboolean on = problem(reader, error, "%s: %s", names[FORWARD_TIME + way], wrong->message);
    g_error_free(wrong);
    return on;
}

static gboolean
read_layer(Reader *reader, char **fields, GError **error)
{
    if (g_strv_length(fields) != reader->n_fields)
        return problem(reader, error, "%u fields, expected %u", g_strv_length(fields), reader->n_fields);
    Layer *layer = layer_table_add(reader->table, fields[reader->field_of[NAME]]);
    double parameters, activation, each;
    if (!read_work(reader, fields, 0, &layer->work[PASS_FORWARD], error) ||
        !read_work(reader, fields, 1, &layer->work[PASS_WEIGHT_GRADIENT], error) ||
        !read_number(reader, fields, PARAMETERS, TRUE, &parameters, error) ||
        !read_number(reader, fields, ACTIVATION_BYTES, TRUE, &activation, error) ||
        !read_number(reader, fields, PARAMETER_BYTES, TRUE, &each, error))
        return FALSE;
    if (field(reader, fields, PARAMETER_BYTES) == NULL)
        each = 2;
    if (parameters * each > 0x1p60)
        return problem(reader, error, "the gradient has above 2^60 bytes");
    layer->activation_B = (uint64_t)activation;
    layer->parameters = (uint64_t)parameters;
    LayerWork *gradient = &layer->work[PASS_WEIGHT_GRADIENT];
    gradient->bytes = (uint64_t)parameters * (uint64_t)each;
    gradient->collects = gradient->bytes > 0;
    gradient->kind = COLLECTIVE_ALL_REDUCE;
    gradient->group = reader->group;
    return TRUE;
}

static gboolean
read_lines(Reader *reader, char *text, GError **error)
{
    gboolean named = FALSE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        reader->line = i + 1;
        g_strstrip(lines[i]);
        if (lines[i][0] == '\0' || lines[i][0] == '#')
            continue;
        g_auto(GStrv) fields = g_strsplit(lines[i], ",", -1);
        for (size_t f = 0; fields[f] != NULL; f++)
            g_strstrip(fields[f]);
        if (strchr(lines[i], '"') != NULL) {
            if (!problem(reader, error, "there are quotes, which this table does not have"))
                return FALSE;
        } else if (!(named ? read_layer(reader, fields, error) : read_names(reader, fields, error))) {
            return FALSE;
        }
        named = TRUE;
    }
    if (reader->problems > 0)
        return error_input(error, "%s: %u problems", reader->source->files[0], reader->problems);
    return reader->table->layers->len > 0 || error_input(error, "%s: there is no layer", reader->source->files[0]);
}

static Workload *
read_table(const TraceSource *source, GError **error)
{
    const char *path = source->files[0];
    if (source->n_files != 1) {
        error_input(error, "%s and %u more: a layer table is one file for all ranks", path, source->n_files - 1);
        return NULL;
    }
    if (source->ranks == 0) {
        error_input(error, "%s: a layer table does not say how many ranks there are: give --ranks, or gpus of the job",
                    path);
        return NULL;
    }
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    if (!g_utf8_validate(text, (gssize)length, NULL)) {
        error_input(error, "%s: is no UTF-8 text", path);
        return NULL;
    }
    g_autoptr(LayerTable) table = layer_table_new();
    table->no_backward_input = TRUE;
    g_autoptr(Workload) workload = workload_new(source->ranks);
    Reader reader = {.source = source, .table = table};
    reader.group = layers_add_axis(workload, "dp", 1, source->ranks);
    if (!read_lines(&reader, text + input_bom(text, length), error))
        return NULL;
    workload->description = g_strdup_printf("layer table, %u layers, %s", table->layers->len, path);
    if (reader.field_of[PARAMETER_BYTES] < 0)
        workload_note(workload, "parameter_bytes is not given: gradients of 2 bytes a parameter");
    if (layers_fill(table, workload, error))
        return g_steal_pointer(&workload);
    g_prefix_error(error, "%s: ", path);
    return NULL;
}

/* Bytes of a parameter's gradient, the same in all layers; 0 with an error. */
static uint32_t
gradient_bytes(const LayerTable *table, const char *path, GError **error)
{
    uint64_t each = 0;
    for (guint i = 0; i < table->layers->len; i++) {
        const Layer *layer = &g_array_index(table->layers, Layer, i);
        uint64_t own = layer->parameters > 0 ? layer->work[PASS_WEIGHT_GRADIENT].bytes / layer->parameters : 0;
        if (own == 0)
            continue;
        if (own > 8 || (each != 0 && own != each)) {
            error_input(error, "%s: layer \"%s\" has parameter_bytes %" G_GUINT64_FORMAT ", expected %s", path,
                        layer->name, own, own > 8 ? "1 to 8" : "those of the layers before it");
            return 0;
        }
        each = own;
    }
    return each > 0 ? (uint32_t)each : 2;
}

static void
add_row(ModelDescription *model, const Layer *layer)
{
    const LayerWork *forward = &layer->work[PASS_FORWARD], *backward = &layer->work[PASS_WEIGHT_GRADIENT];
    ModelRow *row = model_add_row(model, layer->name);
    row->forward_ps = forward->duration_ps;
    row->backward_ps = backward->duration_ps;
    row->forward_flops = forward->flops;
    row->backward_flops = backward->flops;
    row->forward_bytes = forward->bytes_moved;
    row->backward_bytes = backward->bytes_moved;
    row->activation_B = row->output_B = layer->activation_B;
    row->parameters = layer->parameters;
}

ModelDescription *
layer_table_model(const char *path, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    if (!g_utf8_validate(text, (gssize)length, NULL)) {
        error_input(error, "%s: is no UTF-8 text", path);
        return NULL;
    }
    g_autoptr(LayerTable) table = layer_table_new();
    char *files[] = {(char *)(uintptr_t)path, NULL};
    TraceSource source = {.files = files, .n_files = 1};
    Reader reader = {.source = &source, .table = table};
    uint32_t each = read_lines(&reader, text + input_bom(text, length), error) ? gradient_bytes(table, path, error) : 0;
    if (each == 0)
        return NULL;
    g_autofree char *name = g_path_get_basename(path);
    ModelDescription *model = model_new(name, MODEL_LAYERS);
    model->rows_whole = TRUE;
    model->gradient_B = each;
    for (guint i = 0; i < table->layers->len; i++)
        add_row(model, &g_array_index(table->layers, Layer, i));
    return model;
}

/* The first line that is no comment has name and parameters between commas. */
static int
recognise(const char *head, size_t length)
{
    g_autofree char *text = g_strndup(head, length);
    const char *at = text + input_bom(text, strlen(text));
    for (at += strspn(at, " \t\r\n"); *at == '#'; at += strspn(at, " \t\r\n"))
        at += strcspn(at, "\n");
    g_autofree char *line = g_strndup(at, strcspn(at, "\r\n"));
    g_auto(GStrv) fields = g_strsplit(line, ",", -1);
    gboolean name = FALSE, parameters = FALSE;
    for (size_t f = 0; fields[f] != NULL; f++) {
        g_strstrip(fields[f]);
        name = name || strcmp(fields[f], names[NAME]) == 0;
        parameters = parameters || strcmp(fields[f], names[PARAMETERS]) == 0;
    }
    return name && parameters ? 80 : 0;
}

const TraceFormat trace_layers = {"layers", "a table of layers with commas: data parallel (--ranks)", recognise,
                                  read_table, NULL};
