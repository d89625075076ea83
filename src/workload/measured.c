#include "workload/measured.h"

#include "base/error.h"
#include "base/input.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 30)

enum { MOST_FIELDS = 64, ROW_NUMBERS = 8, LEAST_COLUMNS = 11, MOST_COLUMNS = 13 };

typedef struct {
    Measured *measured;
    const char *path;
    size_t line;
    GHashTable *hosts;    /* their names */
    gboolean redop, root; /* columns of the rows */
    double unit_Bps;      /* of perftest's bandwidth columns; 0 = no header yet */
} Reader;

static gboolean
number(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

static gboolean
whole(const char *text, uint64_t *value)
{
    char *end;
    if (!g_ascii_isdigit(*text))
        return FALSE;
    *value = g_ascii_strtoull(text, &end, 10);
    return *end == '\0' && *value < G_MAXINT64;
}

static guint
split(char *line, char **fields)
{
    guint n = 0;
    for (char *at = line; n < MOST_FIELDS;) {
        at += strspn(at, " \t\r");
        if (*at == '\0')
            break;
        fields[n++] = at;
        at += strcspn(at, " \t\r");
        if (*at != '\0')
            *at++ = '\0';
    }
    return n;
}

/* Half a unit of the last digit printed. */
static double
half_digit(const char *text)
{
    const char *point = strchr(text, '.');
    double unit = 0.5;
    for (const char *at = point != NULL ? point + 1 : ""; g_ascii_isdigit(*at); at++)
        unit /= 10;
    return unit;
}

/* Three figures of a row; whether bytes / time can be the printed algbw. */
static gboolean
read_time(char **fields, uint64_t bytes, MeasuredTime *time)
{
    *time = (MeasuredTime){NAN, NAN, NAN, FALSE};
    if (strcmp(fields[0], "N/A") == 0 && strcmp(fields[1], "N/A") == 0 && strcmp(fields[2], "N/A") == 0) {
        time->fits = TRUE; /* no in-place form */
        return TRUE;
    }
    if (!number(fields[0], &time->time_us) || !number(fields[1], &time->algbw_GBps) ||
        !number(fields[2], &time->busbw_GBps) || time->time_us <= 0)
        return FALSE;
    double time_error = half_digit(fields[0]), bandwidth_error = half_digit(fields[1]);
    double most = (double)bytes / 1e3 / fmax(time->time_us - time_error, 1e-9) + bandwidth_error;
    double least = (double)bytes / 1e3 / (time->time_us + time_error) - bandwidth_error;
    time->fits = time->algbw_GBps <= most * (1 + 1e-12) && time->algbw_GBps >= least * (1 - 1e-12);
    return TRUE;
}

/* size count type [redop] [root] and twice: time algbw busbw error. FALSE: this is no such row. */
static gboolean
read_collective(Reader *reader, char **fields, guint n)
{
    MeasuredRow row = {.line = reader->line};
    uint64_t count;
    if (n < LEAST_COLUMNS || n > MOST_COLUMNS || !whole(fields[0], &row.bytes) || !whole(fields[1], &count) ||
        !g_ascii_isalpha(fields[2][0]))
        return FALSE;
    char **figures = fields + n - ROW_NUMBERS;
    if (!read_time(figures, row.bytes, &row.out_of_place) || !read_time(figures + 4, row.bytes, &row.in_place))
        return FALSE;
    for (guint i = 3; i < n - ROW_NUMBERS; i++) {
        reader->redop = reader->redop || (g_ascii_isalpha(fields[i][0]) && strcmp(fields[i], "none") != 0);
        reader->root = reader->root || g_ascii_isdigit(fields[i][0]);
    }
    reader->measured->form = MEASURED_COLLECTIVE;
    g_array_append_val(reader->measured->rows, row);
    return TRUE;
}

/* "Rank  0 Group  0 Pid 6899 on node-a device  0 [0000:04:00] NVIDIA H100 80GB HBM3", "#" before it or not. */
static gboolean
read_rank(Reader *reader, char **fields, guint n)
{
    guint at = 0;
    while (at < n && strcmp(fields[at], "#") == 0)
        at++;
    if (at + 1 >= n || strcmp(fields[at], "Rank") != 0)
        return FALSE;
    uint64_t rank;
    if (!whole(fields[at + 1], &rank) || rank >= G_MAXUINT32)
        return FALSE;
    reader->measured->ranks = MAX(reader->measured->ranks, (uint32_t)rank + 1);
    for (guint i = at; i + 1 < n; i++) {
        if (strcmp(fields[i], "on") == 0 && g_hash_table_add(reader->hosts, g_strdup(fields[i + 1])))
            reader->measured->hosts++;
        if (fields[i][0] == '[' && reader->measured->device == NULL)
            reader->measured->device = g_strjoinv(" ", fields + i + 1);
    }
    return TRUE;
}

/* perftest's "#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]": M is 2^20 there. */
static gboolean
read_link_header(Reader *reader, const char *line)
{
    if (strstr(line, "#bytes") == NULL || strstr(line, "BW average[") == NULL)
        return FALSE;
    reader->unit_Bps = strstr(line, "BW average[Gb/sec]") != NULL ? 1e9 / 8 : 1048576;
    reader->measured->form = MEASURED_LINK;
    return TRUE;
}

static gboolean
read_link(Reader *reader, char **fields, guint n)
{
    MeasuredRow row = {.line = reader->line};
    double peak, average, rate;
    if (reader->unit_Bps == 0 || n != 5 || !whole(fields[0], &row.bytes) || !whole(fields[1], &row.iterations) ||
        !number(fields[2], &peak) || !number(fields[3], &average) || !number(fields[4], &rate))
        return FALSE;
    row.peak_Bps = peak * reader->unit_Bps;
    row.average_Bps = average * reader->unit_Bps;
    g_array_append_val(reader->measured->rows, row);
    return TRUE;
}

/* "RDMA_Write Bidirectional BW Test" */
static void
read_title(Reader *reader, const char *line)
{
    const char *test = strstr(line, " BW Test");
    if (test == NULL || reader->measured->kind != NULL)
        return;
    g_autofree char *title = g_strndup(line, (size_t)(test - line) + strlen(" BW"));
    reader->measured->kind = g_strdup(g_strstrip(title));
}

static gboolean
read_line(Reader *reader, char *line, GError **error)
{
    static const char average[] = "# Avg bus bandwidth";
    const char *device = strstr(line, "Device         :");
    if (g_str_has_prefix(line, average)) {
        const char *colon = strchr(line, ':');
        reader->measured->average_printed_GBps = colon != NULL ? g_ascii_strtod(colon + 1, NULL) : NAN;
        return TRUE;
    }
    if (device != NULL && reader->measured->device == NULL)
        reader->measured->device = g_strstrip(g_strdup(strchr(device, ':') + 1));
    read_title(reader, line);
    if (read_link_header(reader, line))
        return TRUE;
    char *fields[MOST_FIELDS + 1];
    gboolean digit = g_ascii_isdigit(line[strspn(line, " \t")]);
    guint n = split(line, fields);
    fields[n] = NULL;
    if (n == 0 || read_rank(reader, fields, n) || read_collective(reader, fields, n) || read_link(reader, fields, n))
        return TRUE;
    uint64_t unused;
    if (digit && n >= 5 && whole(fields[0], &unused) && whole(fields[1], &unused))
        return error_input(error, "%s:%zu: begins like a row of a measurement, but has %u columns that are none",
                           reader->path, reader->line, n);
    return TRUE;
}

/* The factor nearest to what the biggest row shows. */
static void
find_kind(Reader *reader)
{
    Measured *measured = reader->measured;
    const MeasuredRow *big = &g_array_index(measured->rows, MeasuredRow, measured->rows->len - 1);
    double n = measured->ranks, seen = big->out_of_place.busbw_GBps / big->out_of_place.algbw_GBps;
    const struct {
        double factor;
        const char *kind;
    } kinds[] = {{2 * (n - 1) / n, "all_reduce"},
                 {(n - 1) / n, reader->redop ? "reduce_scatter" : "all_gather or all_to_all"},
                 {1, reader->redop ? "reduce" : "broadcast"}};
    measured->factor = NAN;
    double least = INFINITY;
    for (guint i = 0; n > 1 && isfinite(seen) && i < G_N_ELEMENTS(kinds); i++)
        if (fabs(kinds[i].factor - seen) < least) {
            least = fabs(kinds[i].factor - seen);
            measured->factor = kinds[i].factor;
            g_free(measured->kind);
            measured->kind = g_strdup(kinds[i].kind);
        }
}

/* busbw and algbw are printed with two decimals: half a hundredth each, the latter times the factor. */
static gboolean
fits_factor(const MeasuredTime *time, double factor)
{
    return isnan(time->busbw_GBps) || isnan(factor) ||
           fabs(time->busbw_GBps - time->algbw_GBps * factor) <= 0.005 * (1 + factor) + 1e-9;
}

static void
check_rows(Measured *measured)
{
    double sum = 0;
    guint n = 0;
    for (guint i = 0; i < measured->rows->len; i++) {
        MeasuredRow *row = &g_array_index(measured->rows, MeasuredRow, i);
        MeasuredTime *times[] = {&row->out_of_place, &row->in_place};
        measured->empty += row->bytes == 0;
        gboolean fits = TRUE;
        for (guint k = 0; k < G_N_ELEMENTS(times); k++) {
            times[k]->fits = times[k]->fits && fits_factor(times[k], measured->factor);
            fits = fits && times[k]->fits;
            if (isnan(times[k]->busbw_GBps))
                continue;
            sum += times[k]->busbw_GBps;
            n++;
        }
        measured->unfit += !fits;
        measured->best_busbw_GBps = fmax(measured->best_busbw_GBps, row->out_of_place.busbw_GBps);
    }
    measured->average_GBps = n > 0 ? sum / n : NAN;
}

Measured *
measured_read(const char *path, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    g_autoptr(GHashTable) hosts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(Measured) measured = g_new0(Measured, 1);
    measured->rows = g_array_new(FALSE, FALSE, sizeof(MeasuredRow));
    measured->average_printed_GBps = measured->factor = NAN;
    Reader reader = {.measured = measured, .path = path, .hosts = hosts};
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (; lines[reader.line] != NULL;) {
        char *line = lines[reader.line++];
        if (!read_line(&reader, line, error))
            return NULL;
    }
    if (measured->rows->len == 0) {
        error_input(error, "%s: there is no row of nccl-tests, rccl-tests or perftest", path);
        return NULL;
    }
    if (measured->form == MEASURED_COLLECTIVE) {
        find_kind(&reader);
        check_rows(measured);
    }
    return g_steal_pointer(&measured);
}

void
measured_free(Measured *measured)
{
    if (measured == NULL)
        return;
    g_array_unref(measured->rows);
    g_free(measured->device);
    g_free(measured->kind);
    g_free(measured);
}
