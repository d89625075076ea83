#include "base/input.h"

#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { CHUNK = 64 * 1024 };

struct Input {
    char *path;
    int fd;
    gboolean gzip;
    gboolean within;   /* a gzip member has begun and not ended */
    gboolean ended;    /* the file has no more bytes */
    z_stream zip;      /* next_in, avail_in: what lies in raw, gzip or not */
    uint64_t unpacked; /* bytes given out */
    void *text;        /* where there is no file: the whole, in next_in */
    unsigned char raw[CHUNK];
};

/* Refills raw where it is empty. FALSE with an error. */
static gboolean
refill(Input *input, GError **error)
{
    if (input->zip.avail_in > 0 || input->ended)
        return TRUE;
    ssize_t n;
    do
        n = read(input->fd, input->raw, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return error_input(error, "%s: cannot be read: %s", input->path, g_strerror(errno));
    input->ended = n == 0;
    input->zip.next_in = input->raw;
    input->zip.avail_in = (unsigned)n;
    return TRUE;
}

static gboolean
begin(Input *input, GError **error)
{
    struct stat st;
    if (fstat(input->fd, &st) == 0 && S_ISDIR(st.st_mode))
        return error_input(error, "%s: is a folder, not a file", input->path);
    if (!refill(input, error))
        return FALSE;
    if (input->zip.avail_in == 0)
        return error_input(error, "%s: is empty", input->path);
    /* A pipe may give one byte at first. */
    while (input->zip.avail_in < 2) {
        ssize_t n = read(input->fd, input->raw + 1, CHUNK - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        input->zip.avail_in += (unsigned)n;
    }
    input->gzip = input->zip.avail_in >= 2 && input->raw[0] == 0x1f && input->raw[1] == 0x8b;
    input->within = input->gzip;
    if (input->gzip && inflateInit2(&input->zip, 15 + 16) != Z_OK)
        g_error("zlib: %s", input->zip.msg ? input->zip.msg : "cannot start");
    return TRUE;
}

Input *
input_open(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        error_input(error, "%s: cannot be opened: %s", path, g_strerror(errno));
        return NULL;
    }
    g_autoptr(Input) input = g_new0(Input, 1);
    input->path = g_strdup(path);
    input->fd = fd;
    return begin(input, error) ? g_steal_pointer(&input) : NULL;
}

Input *
input_open_text(const char *name, const char *text, size_t length)
{
    assert(length <= G_MAXUINT);
    Input *input = g_new0(Input, 1);
    input->path = g_strdup(name);
    input->fd = -1;
    input->ended = TRUE;
    input->text = g_memdup2(text, length);
    input->zip.next_in = input->text;
    input->zip.avail_in = (unsigned)length;
    return input;
}

void
input_close(Input *input)
{
    if (input == NULL)
        return;
    if (input->gzip)
        inflateEnd(&input->zip);
    if (input->fd >= 0)
        close(input->fd);
    g_free(input->text);
    g_free(input->path);
    g_free(input);
}

const char *
input_path(const Input *input)
{
    return input->path;
}

static gssize
read_plain(Input *input, void *buffer, size_t size, GError **error)
{
    if (!refill(input, error))
        return -1;
    size_t n = MIN(size, input->zip.avail_in);
    memcpy(buffer, input->zip.next_in, n);
    input->zip.next_in += n;
    input->zip.avail_in -= (unsigned)n;
    return (gssize)n;
}

/* Between members: another one, the end, or padding with zeros as tar writes it. */
static gboolean
next_member(Input *input, GError **error)
{
    do {
        while (input->zip.avail_in > 0 && *input->zip.next_in == 0) {
            input->zip.next_in++;
            input->zip.avail_in--;
        }
        if (!refill(input, error))
            return FALSE;
    } while (input->zip.avail_in > 0 && *input->zip.next_in == 0);
    if (input->zip.avail_in > 0) {
        inflateReset(&input->zip);
        input->within = TRUE;
    }
    return TRUE;
}

/* One call of inflate; FALSE with an error. */
static gboolean
unpack(Input *input, GError **error)
{
    if (!refill(input, error))
        return FALSE;
    if (input->zip.avail_in == 0)
        return error_input(error, "%s: the gzip stream is cut short after %" G_GUINT64_FORMAT " unpacked bytes",
                           input->path, input->unpacked);
    unsigned room = input->zip.avail_out;
    int status = inflate(&input->zip, Z_NO_FLUSH);
    input->unpacked += room - input->zip.avail_out;
    if (status == Z_STREAM_END)
        input->within = FALSE;
    else if (status == Z_MEM_ERROR)
        g_error("zlib: out of memory");
    else if (status != Z_OK && status != Z_BUF_ERROR)
        return error_input(error, "%s: the gzip stream is broken after %" G_GUINT64_FORMAT " unpacked bytes: %s",
                           input->path, input->unpacked, input->zip.msg ? input->zip.msg : "a dictionary is asked for");
    return TRUE;
}

static gssize
read_gzip(Input *input, void *buffer, size_t size, GError **error)
{
    input->zip.next_out = buffer;
    input->zip.avail_out = (unsigned)MIN(size, G_MAXINT32);
    unsigned asked = input->zip.avail_out;
    while (input->zip.avail_out == asked && asked > 0) {
        if (!input->within && !next_member(input, error))
            return -1;
        if (!input->within)
            break;
        if (!unpack(input, error))
            return -1;
    }
    gssize n = (gssize)(asked - input->zip.avail_out);
    if (n == 0 && asked > 0 && input->unpacked == 0) {
        error_input(error, "%s: is empty once unpacked", input->path);
        return -1;
    }
    return n;
}

gssize
input_read(Input *input, void *buffer, size_t size, GError **error)
{
    return input->gzip ? read_gzip(input, buffer, size, error) : read_plain(input, buffer, size, error);
}

char *
input_read_all(const char *path, size_t limit, size_t *length, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return NULL;
    size_t n = 0, room = CHUNK;
    g_autofree char *text = g_malloc(room);
    for (;;) {
        gssize got = input_read(input, text + n, room - n - 1, error);
        if (got < 0)
            return NULL;
        if (got == 0)
            break;
        n += (size_t)got;
        if (n > limit) {
            error_input(error, "%s: is larger than the %zu bytes allowed", path, limit);
            return NULL;
        }
        if (room - n - 1 == 0)
            text = g_realloc(text, room *= 2);
    }
    text[n] = '\0';
    *length = n;
    return g_steal_pointer(&text);
}

size_t
input_bom(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}
