#include "scenario/fields.h"

#include "base/decimal.h"
#include "base/suggest.h"
#include "base/units.h"

#include <math.h>
#include <string.h>

#define MEMBER(type, base, field) ((type *)(void *)((char *)(base) + (field)->offset))

gboolean
fields_read(const Reading *reading, const YamlNode *map, const Field *fields, void *base, GError **error)
{
    const char *keys[64];
    size_t n = 0;
    for (const Field *field = fields; field->key != NULL && n + 1 < G_N_ELEMENTS(keys); field++)
        keys[n++] = field->key;
    keys[n] = NULL;
    if (!yaml_only(reading->tree, map, keys, error))
        return FALSE;
    for (const Field *field = fields; field->key != NULL; field++) {
        const YamlNode *node = yaml_get(map, field->key);
        if (node != NULL && !field->read(reading, node, field, base, error))
            return FALSE;
    }
    return TRUE;
}

const char *
field_scalar(const Reading *reading, const YamlNode *node, const char *expected, GError **error)
{
    if (node->kind == YAML_SCALAR && !yaml_is_null(node))
        return node->text;
    g_autofree char *found = yaml_describe(node);
    yaml_fail(reading->tree, node, error, "found %s, expected %s", found, expected);
    return NULL;
}

gboolean
field_is_list(const Reading *reading, const YamlNode *node, GError **error)
{
    if (node->kind == YAML_LIST)
        return TRUE;
    g_autofree char *found = yaml_describe(node);
    return yaml_fail(reading->tree, node, error, "found %s, expected a list", found);
}

char *
field_resolve(const Reading *reading, const char *path)
{
    if (g_path_is_absolute(path) || strcmp(reading->folder, ".") == 0)
        return g_strdup(path);
    return g_build_filename(reading->folder, path, NULL);
}

static const char *
text_of(const Reading *reading, const YamlNode *node, GError **error)
{
    const char *text = field_scalar(reading, node, "a text", error);
    if (text != NULL && *text == '\0') {
        yaml_fail(reading->tree, node, error, "found an empty text");
        return NULL;
    }
    return text;
}

gboolean
field_text(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *text = text_of(reading, node, error);
    if (text == NULL)
        return FALSE;
    char **member = MEMBER(char *, base, field);
    g_free(*member);
    *member = g_strdup(text);
    return TRUE;
}

gboolean
field_file(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *text = text_of(reading, node, error);
    if (text == NULL)
        return FALSE;
    char **member = MEMBER(char *, base, field);
    g_free(*member);
    *member = field_resolve(reading, text);
    return TRUE;
}

/* A list of texts, resolved as file names or not. */
static gboolean
texts(const Reading *reading, const YamlNode *node, gboolean files, char ***member, GError **error)
{
    if (!field_is_list(reading, node, error))
        return FALSE;
    if (node->values->len == 0)
        return yaml_fail(reading->tree, node, error, "found an empty list");
    g_autoptr(GPtrArray) out = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < node->values->len; i++) {
        const char *text = text_of(reading, node->values->pdata[i], error);
        if (text == NULL)
            return FALSE;
        g_ptr_array_add(out, files ? field_resolve(reading, text) : g_strdup(text));
    }
    g_ptr_array_add(out, NULL);
    g_strfreev(*member);
    *member = (char **)g_ptr_array_free(g_steal_pointer(&out), FALSE);
    return TRUE;
}

gboolean
field_texts(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return texts(reading, node, FALSE, MEMBER(char **, base, field), error);
}

gboolean
field_files(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    char ***member = MEMBER(char **, base, field);
    if (node->kind != YAML_SCALAR)
        return texts(reading, node, TRUE, member, error);
    const char *text = text_of(reading, node, error);
    if (text == NULL)
        return FALSE;
    g_strfreev(*member);
    *member = g_new0(char *, 2);
    (*member)[0] = field_resolve(reading, text);
    return TRUE;
}

/* A whole number without sign, point or exponent, not in quotes. */
static gboolean
whole(const Reading *reading, const YamlNode *node, uint64_t low, uint64_t high, uint64_t *value, GError **error)
{
    const char *text = field_scalar(reading, node, "a whole number", error);
    if (text == NULL)
        return FALSE;
    g_autoptr(GError) wrong = NULL;
    guint64 number;
    if (node->quoted || (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &number, &wrong) &&
                         !g_error_matches(wrong, G_NUMBER_PARSER_ERROR, G_NUMBER_PARSER_ERROR_OUT_OF_BOUNDS)))
        return yaml_fail(reading->tree, node, error, "found \"%s\", expected a whole number%s", text,
                         node->quoted ? " without quotes" : "");
    if (wrong != NULL || number < low || number > high)
        return yaml_fail(reading->tree, node, error, "found %s, expected %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                         text, low, high);
    *value = number;
    return TRUE;
}

gboolean
field_count(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    uint64_t value;
    if (!whole(reading, node, (uint64_t)field->low, (uint64_t)field->high, &value, error))
        return FALSE;
    *MEMBER(uint32_t, base, field) = (uint32_t)value;
    return TRUE;
}

gboolean
field_seed(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return whole(reading, node, 0, UINT64_MAX, MEMBER(uint64_t, base, field), error);
}

gboolean
field_flag(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *text = field_scalar(reading, node, "true or false", error);
    if (text == NULL)
        return FALSE;
    gboolean yes = strcmp(text, "true") == 0;
    if (node->quoted || (!yes && strcmp(text, "false") != 0))
        return yaml_fail(reading->tree, node, error, "found \"%s\", expected true or false%s", text,
                         node->quoted ? " without quotes" : "");
    *MEMBER(gboolean, base, field) = yes;
    return TRUE;
}

gboolean
field_number(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *text = field_scalar(reading, node, "a number", error), *end;
    Decimal decimal;
    if (text == NULL)
        return FALSE;
    if (node->quoted || !decimal_parse(text, &decimal, &end) || *end != '\0')
        return yaml_fail(reading->tree, node, error, "found \"%s\", expected a number%s", text,
                         node->quoted ? " without quotes" : "");
    double value = g_ascii_strtod(text, NULL);
    if (!(value >= field->low && value <= field->high)) {
        g_autofree char *low =
            field->low == G_MINDOUBLE ? g_strdup("above 0") : g_strdup_printf("of at least %g", field->low);
        g_autofree char *high =
            field->high == G_MAXDOUBLE ? g_strdup("") : g_strdup_printf(" and at most %g", field->high);
        return yaml_fail(reading->tree, node, error, "found %s, expected a number %s%s", text, low, high);
    }
    *MEMBER(double, base, field) = value;
    return TRUE;
}

gboolean
field_name(const Reading *reading, const YamlNode *node, const char *const *names, unsigned *index, GError **error)
{
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)names);
    g_autofree char *expected = g_strdup_printf("one of %s", all);
    const char *text = field_scalar(reading, node, expected, error);
    if (text == NULL)
        return FALSE;
    for (unsigned i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], text) == 0) {
            *index = i;
            return TRUE;
        }
    const char *near = suggest_nearest(text, names, g_strv_length((char **)(uintptr_t)names));
    return yaml_fail(reading->tree, node, error, "found \"%s\", expected %s%s%s%s", text, expected,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

gboolean
field_choice(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return field_name(reading, node, field->names, MEMBER(unsigned, base, field), error);
}

/* A units' error, with the place before it. */
static gboolean
placed(const Reading *reading, const YamlNode *node, GError *wrong, GError **error)
{
    yaml_fail(reading->tree, node, error, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
}

typedef gboolean (*DoubleParser)(const char *text, double *value, GError **error);

static gboolean
quantity(const Reading *reading, const YamlNode *node, const Field *field, void *base, DoubleParser parse,
         const char *expected, GError **error)
{
    const char *text = field_scalar(reading, node, expected, error);
    double value;
    GError *wrong = NULL;
    if (text == NULL)
        return FALSE;
    if (!parse(text, &value, &wrong))
        return placed(reading, node, wrong, error);
    if (value < field->low)
        return yaml_fail(reading->tree, node, error, "found \"%s\", expected %s above 0", text, expected);
    *MEMBER(double, base, field) = value;
    return TRUE;
}

gboolean
field_rate(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return quantity(reading, node, field, base, units_parse_rate, "a rate", error);
}

gboolean
field_length(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return quantity(reading, node, field, base, units_parse_length, "a length", error);
}

gboolean
field_compute(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return quantity(reading, node, field, base, units_parse_compute, "a compute rate", error);
}

gboolean
field_cost(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return quantity(reading, node, field, base, units_parse_byte_cost, "a cost per byte", error);
}

gboolean
field_size(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *text = field_scalar(reading, node, "a size", error);
    uint64_t value;
    GError *wrong = NULL;
    if (text == NULL)
        return FALSE;
    if (!units_parse_size(text, &value, &wrong))
        return placed(reading, node, wrong, error);
    if (value < (uint64_t)field->low)
        return yaml_fail(reading->tree, node, error, "found \"%s\", expected a size above 0", text);
    *MEMBER(uint64_t, base, field) = value;
    return TRUE;
}

gboolean
field_time(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *text = field_scalar(reading, node, "a time", error);
    SimTime value;
    GError *wrong = NULL;
    if (text == NULL)
        return FALSE;
    if (!units_parse_time(text, &value, &wrong))
        return placed(reading, node, wrong, error);
    if (value < (SimTime)field->low)
        return yaml_fail(reading->tree, node, error, "found \"%s\", expected a time above 0", text);
    *MEMBER(SimTime, base, field) = value;
    return TRUE;
}
