#include "base/error.h"
#include "base/input.h"
#include "support.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char *folder;

static void
setup(void)
{
    folder = g_dir_make_tmp("trainshed-input-XXXXXX", NULL);
    ck_assert_ptr_nonnull(folder);
}

static void
teardown(void)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_remove(path);
    }
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
}

static char *
write_file(const char *name, const char *content, size_t length)
{
    char *path = g_build_filename(folder, name, NULL);
    ck_assert(g_file_set_contents(path, content, (gssize)length, NULL));
    return path;
}

/* content as a gzip stream. */
static GByteArray *
gzipped(const char *content, size_t length)
{
    z_stream zip = {0};
    ck_assert_int_eq(deflateInit2(&zip, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    GByteArray *out = g_byte_array_new();
    g_byte_array_set_size(out, (guint)deflateBound(&zip, length));
    zip.next_in = (unsigned char *)(uintptr_t)content;
    zip.avail_in = (unsigned)length;
    zip.next_out = out->data;
    zip.avail_out = out->len;
    ck_assert_int_eq(deflate(&zip, Z_FINISH), Z_STREAM_END);
    g_byte_array_set_size(out, (guint)zip.total_out);
    deflateEnd(&zip);
    return out;
}

/* 300,000 bytes that do not pack to nothing: several chunks. */
static char *
long_text(size_t *length)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; text->len < 300000; i++)
        g_string_append_printf(text, "%u ", i * 2654435761u);
    *length = text->len;
    return g_string_free(text, FALSE);
}

START_TEST(plain_and_gzipped_files_read_alike)
{
    size_t length, got;
    g_autofree char *text = long_text(&length), *plain = write_file("plain.gz", text, length);
    g_autoptr(GByteArray) packed = gzipped(text, length);
    g_autofree char *zipped = write_file("packed.txt", (char *)packed->data, packed->len);
    g_autofree char *a = input_read_all(plain, 1 << 20, &got, NULL);
    ck_assert_uint_eq(got, length);
    ck_assert_mem_eq(a, text, length + 1);
    g_autofree char *b = input_read_all(zipped, 1 << 20, &got, NULL);
    ck_assert_uint_eq(got, length);
    ck_assert_mem_eq(b, text, length + 1);
}
END_TEST

START_TEST(members_and_padding_of_a_gzip_file_are_one_content)
{
    g_autoptr(GByteArray) file = gzipped("one,", 4), second = gzipped("two", 3);
    g_byte_array_append(file, second->data, second->len);
    static const unsigned char zeros[100000];
    g_byte_array_append(file, zeros, sizeof zeros);
    g_autofree char *path = write_file("members.gz", (char *)file->data, file->len);
    size_t length;
    g_autofree char *text = input_read_all(path, 7, &length, NULL);
    ck_assert_pstr_eq(text, "one,two");
}
END_TEST

/* Reads path and expects "PATH: complaint", and nothing else. */
static void
refused(const char *path, size_t limit, const char *complaint)
{
    size_t length = 99;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = input_read_all(path, limit, &length, &error);
    g_autofree char *expected = g_strdup_printf("%s: %s", path, complaint);
    ck_assert_ptr_null(text);
    ck_assert_ptr_nonnull(error);
    ck_assert_str_eq(error->message, expected);
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    ck_assert_uint_eq(length, 99);
}

START_TEST(files_that_are_none_are_refused)
{
    g_autofree char *missing = g_build_filename(folder, "missing", NULL), *empty = write_file("empty", "", 0);
    refused(missing, 100, "cannot be opened: No such file or directory");
    refused(empty, 100, "is empty");
    refused(folder, 100, "is a folder, not a file");
    g_autoptr(GByteArray) nothing = gzipped("", 0);
    g_autofree char *hollow = write_file("hollow.gz", (char *)nothing->data, nothing->len);
    refused(hollow, 100, "is empty once unpacked");
    g_autofree char *large = write_file("large", "123456", 6);
    refused(large, 5, "is larger than the 5 bytes allowed");
}
END_TEST

/* Wherever a gzip file is cut, from its third byte to the last of its trailer, the loss is told. */
START_TEST(a_gzip_stream_cut_anywhere_is_refused)
{
    g_autoptr(GByteArray) whole = gzipped("some text that is long enough to matter", 39);
    for (guint n = 2; n < whole->len; n++) {
        g_autofree char *path = write_file("cut.gz", (char *)whole->data, n);
        size_t length;
        g_autoptr(GError) error = NULL;
        g_autofree char *text = input_read_all(path, 1000, &length, &error);
        ck_assert_msg(text == NULL, "cut to %u of %u bytes it passed", n, whole->len);
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, "cut.gz: the gzip stream is cut short after ");
    }
}
END_TEST

START_TEST(a_damaged_gzip_stream_is_refused)
{
    g_autoptr(GByteArray) file = gzipped("some text", 9);
    file->data[file->len - 6] ^= 1; /* in the check sum */
    g_autofree char *path = write_file("sum.gz", (char *)file->data, file->len);
    refused(path, 100, "the gzip stream is broken after 9 unpacked bytes: incorrect data check");
    file->data[file->len - 6] ^= 1;
    g_byte_array_append(file, (const unsigned char *)"tail", 4);
    g_autofree char *tail = write_file("tail.gz", (char *)file->data, file->len);
    refused(tail, 100, "the gzip stream is broken after 9 unpacked bytes: incorrect header check");
}
END_TEST

START_TEST(a_pipe_that_trickles_is_read)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    g_autoptr(GByteArray) packed = gzipped("hello", 5);
    if (fork() == 0) {
        for (guint i = 0; i < packed->len; i++) {
            if (write(ends[1], packed->data + i, 1) != 1)
                _exit(1);
            g_usleep(500);
        }
        _exit(0);
    }
    close(ends[1]);
    g_autofree char *path = g_strdup_printf("/dev/fd/%d", ends[0]);
    size_t length;
    g_autofree char *text = input_read_all(path, 100, &length, NULL);
    ck_assert_pstr_eq(text, "hello");
    close(ends[0]);
}
END_TEST

START_TEST(a_byte_order_mark_is_three_bytes)
{
    ck_assert_uint_eq(input_bom("\xef\xbb\xbfx", 4), 3);
    ck_assert_uint_eq(input_bom("\xef\xbb", 2), 0);
    ck_assert_uint_eq(input_bom("abc", 3), 0);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("input");
    TCase *tc = tcase_create("input");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, plain_and_gzipped_files_read_alike);
    tcase_add_test(tc, members_and_padding_of_a_gzip_file_are_one_content);
    tcase_add_test(tc, files_that_are_none_are_refused);
    tcase_add_test(tc, a_gzip_stream_cut_anywhere_is_refused);
    tcase_add_test(tc, a_damaged_gzip_stream_is_refused);
    tcase_add_test(tc, a_pipe_that_trickles_is_read);
    tcase_add_test(tc, a_byte_order_mark_is_three_bytes);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
