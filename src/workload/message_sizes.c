#include "workload/message_sizes.h"

#include "base/error.h"
#include "base/input.h"
#include "base/units.h"

#include <csv.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 26)

typedef struct {
    uint64_t bytes;
    gboolean used;
} Size;

struct MessageSizes {
    char *path;
    GHashTable *size_of; /* call, with its number where it has one -> Size */
};

typedef struct {
    MessageSizes *sizes;
    GPtrArray *fields; /* of char *, of the present line */
    size_t line;
    GError *error;
} Reader;

void
message_sizes_free(MessageSizes *sizes)
{
    if (sizes == NULL)
        return;
    g_free(sizes->path);
    g_hash_table_unref(sizes->size_of);
    g_free(sizes);
}

static gboolean
parse_bytes(const char *text, uint64_t *bytes)
{
    char *end;
    if (!g_ascii_isdigit(*text))
        return FALSE;
    *bytes = g_ascii_strtoull(text, &end, 10);
    if (*end == '\0')
        return *bytes < G_MAXINT64;
    return units_parse_size(text, bytes, NULL) && *bytes < G_MAXINT64;
}

/* A name, or a name and "#" and a number from 1. */
static gboolean
is_call(const char *call)
{
    const char *number = strchr(call, '#');
    if (number == call || *call == '\0')
        return FALSE;
    return number == NULL || (number[1] >= '1' && number[1] <= '9' && strspn(number + 1, "0123456789") < 10 &&
                              number[1 + strspn(number + 1, "0123456789")] == '\0');
}

static void
read_row(Reader *reader)
{
    const char *path = reader->sizes->path, *call = g_strstrip(reader->fields->pdata[0]);
    const char *bytes = g_strstrip(reader->fields->pdata[1]);
    Size size = {.used = FALSE};
    if (!is_call(call))
        error_input(&reader->error, "%s:%zu: call \"%s\", expected a name such as \"all_to_all\" or \"all_to_all#3\"",
                    path, reader->line, call);
    else if (!parse_bytes(bytes, &size.bytes))
        error_input(&reader->error, "%s:%zu: bytes \"%s\", expected a whole number or a size such as \"16 MiB\"", path,
                    reader->line, bytes);
    else if (!g_hash_table_insert(reader->sizes->size_of, g_strdup(call), g_memdup2(&size, sizeof size)))
        error_input(&reader->error, "%s:%zu: \"%s\" for the second time", path, reader->line, call);
}

static void
on_field(void *text, size_t length, void *owner)
{
    g_ptr_array_add(((Reader *)owner)->fields, g_strndup(text, length));
}

static void
on_row(int separator, void *owner)
{
    Reader *reader = owner;
    char **fields = (char **)reader->fields->pdata;
    reader->line++;
    if (reader->error == NULL && reader->fields->len != 2)
        error_input(&reader->error, "%s:%zu: %u fields, expected two: call,bytes", reader->sizes->path, reader->line,
                    reader->fields->len);
    else if (reader->error == NULL && reader->line > 1)
        read_row(reader);
    else if (reader->error == NULL && (strcmp(fields[0], "call") != 0 || strcmp(fields[1], "bytes") != 0))
        error_input(&reader->error, "%s:1: starts with \"%s,%s\", expected \"call,bytes\"", reader->sizes->path,
                    fields[0], fields[1]);
    g_ptr_array_set_size(reader->fields, 0);
}

static void
parse(Reader *reader, const char *text, size_t length)
{
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        g_error("csv_init: out of memory");
    size_t bom = input_bom(text, length);
    if ((csv_parse(&parser, text + bom, length - bom, on_field, on_row, reader) != length - bom ||
         csv_fini(&parser, on_field, on_row, reader) != 0) &&
        reader->error == NULL)
        error_input(&reader->error, "%s:%zu: %s", reader->sizes->path, reader->line + 1,
                    csv_strerror(csv_error(&parser)));
    csv_free(&parser);
}

MessageSizes *
message_sizes_read(const char *path, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    g_autoptr(MessageSizes) sizes = g_new0(MessageSizes, 1);
    sizes->path = g_strdup(path);
    sizes->size_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    Reader reader = {.sizes = sizes, .fields = fields};
    parse(&reader, text, length);
    if (reader.error != NULL) {
        g_propagate_error(error, reader.error);
        return NULL;
    }
    return g_steal_pointer(&sizes);
}

gboolean
message_sizes_find(MessageSizes *sizes, const char *call, uint32_t number, uint64_t *bytes)
{
    g_autofree char *own = g_strdup_printf("%s#%u", call, number);
    Size *size = g_hash_table_lookup(sizes->size_of, own);
    if (size == NULL)
        size = g_hash_table_lookup(sizes->size_of, call);
    if (size == NULL)
        return FALSE;
    size->used = TRUE;
    *bytes = size->bytes;
    return TRUE;
}

guint
message_sizes_unused(const MessageSizes *sizes)
{
    GHashTableIter iter;
    gpointer size;
    guint n = 0;
    g_hash_table_iter_init(&iter, sizes->size_of);
    while (g_hash_table_iter_next(&iter, NULL, &size)) /* a count: the order does not show */
        n += !((Size *)size)->used;
    return n;
}
