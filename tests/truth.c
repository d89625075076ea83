#include "truth.h"

#include <math.h>
#include <stdio.h>

static FILE *
table(void)
{
    const char *path = g_getenv("TRAINSHED_TRUTH");
    return path != NULL ? fopen(path, "a") : NULL;
}

static void G_GNUC_PRINTF(1, 2) put(const char *format, ...)
{
    FILE *file = table();
    if (file == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    ck_assert_int_eq(fclose(file), 0);
}

void
truth_part(const char *title)
{
    put("\n### %s\n\n| case | formula, source | expected | measured | error | passes |\n|---|---|--:|--:|--:|---|\n",
        title);
}

/* Writes the row, then asserts. */
static void
row_end(const TruthRow *row, const char *expected, const char *error, const char *bound, gboolean passes)
{
    put("| %s | %s | %s %s | %.6g %s | %s | %s%s |\n", row->what, row->source, expected, row->unit, row->measured,
        row->unit, error, bound, passes ? "" : ", **missed**");
    ck_assert_msg(passes, "%s: %.9g %s, expected %s, %s", row->what, row->measured, row->unit, expected, bound);
}

static void
against(const TruthRow *row, const char *bound, gboolean passes)
{
    g_autofree char *expected = g_strdup_printf("%.6g", row->expected);
    double error = row->measured - row->expected;
    g_autofree char *text = row->expected != 0 ? g_strdup_printf("%+.3g %%", 100 * error / fabs(row->expected))
                                               : g_strdup_printf("%+.3g", error);
    row_end(row, expected, error == 0 ? "0" : text, bound, passes);
}

void
truth_within(const TruthRow *row, double share)
{
    g_autofree char *bound = share == 0 ? g_strdup("exactly") : g_strdup_printf("within %.3g %%", 100 * share);
    against(row, bound, fabs(row->measured - row->expected) <= share * fabs(row->expected));
}

void
truth_in_errors(const TruthRow *row, double standard_error)
{
    double errors = (row->measured - row->expected) / standard_error;
    g_autofree char *bound = g_strdup_printf("within 3 standard errors: %+.2f of %.3g", errors, standard_error);
    against(row, bound, fabs(errors) <= 3);
}

void
truth_above(const TruthRow *row, double share)
{
    g_autofree char *bound = g_strdup_printf("at most %.3g %% above", 100 * share);
    against(row, bound, row->measured >= row->expected && row->measured <= (1 + share) * row->expected);
}

void
truth_between(const TruthRow *row, double least, double most)
{
    g_autofree char *expected =
        isinf(most) ? g_strdup_printf("from %.6g", least) : g_strdup_printf("%.6g to %.6g", least, most);
    double error = row->measured < least ? row->measured - least : row->measured > most ? row->measured - most : 0;
    g_autofree char *text = g_strdup_printf("%+.3g", error);
    row_end(row, expected, error == 0 ? "0" : text, least == most ? "exactly" : "in the range", error == 0);
}

void
truth_told(const TruthRow *row)
{
    against(row, "told, no bar", TRUE);
}

void
truth_beside_part(const char *title)
{
    put("\n### %s\n\n| case | peer | its answer, us | ours, us | ours beside it |\n|---|---|--:|--:|--:|\n", title);
}

void
truth_beside(const char *what, const char *peer, double answer_us, double ours_us)
{
    put("| %s | %s | %.6g | %.6g | %+.2f %% |\n", what, peer, answer_us, ours_us, 100 * (ours_us / answer_us - 1));
}

/* The fields of a line; a field in quotes may hold commas. */
static char **
fields_of(const char *line)
{
    GPtrArray *fields = g_ptr_array_new();
    GString *field = g_string_new(NULL);
    gboolean quoted = FALSE;
    for (; *line != '\0'; line++) {
        if (*line == '"')
            quoted = !quoted;
        else if (*line == ',' && !quoted) {
            g_ptr_array_add(fields, g_string_free(field, FALSE));
            field = g_string_new(NULL);
        } else
            g_string_append_c(field, *line);
    }
    g_ptr_array_add(fields, g_string_free(field, FALSE));
    g_ptr_array_add(fields, NULL);
    return (char **)g_ptr_array_free(fields, FALSE);
}

uint32_t
truth_each_form(const char *path, const char *group, void (*check)(const TruthForm *form))
{
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    uint32_t n = 0;
    for (size_t i = 1; lines[i] != NULL && lines[i][0] != '\0'; i++) {
        g_auto(GStrv) fields = fields_of(lines[i]);
        ck_assert_uint_eq(g_strv_length(fields), 7);
        if (!g_str_has_prefix(fields[1], group))
            continue;
        check(&(TruthForm){fields[0], fields[1], fields[2], fields[3], fields[4], fields[6],
                           g_ascii_strtod(fields[5], NULL)});
        n++;
    }
    return n;
}

const char *
truth_source(const TruthForm *form)
{
    g_autofree char *text = g_strdup_printf("%s: %s", form->id, form->formula);
    return g_intern_string(text);
}
