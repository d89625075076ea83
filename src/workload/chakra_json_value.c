/* chakra_json_value.c - attributes of Chakra nodes in JSON: under their names, or as protobuf's AttributeProto */
#include "workload/chakra_json.h"

#include <string.h>

gboolean
chakra_json_problem(ChakraJson *reader, ChakraNode *node, const char *message)
{
    GError *wrong = NULL;
    json_fail(reader->json, &wrong, "node %" G_GUINT64_FORMAT " \"%s\": %s", node->id,
              chakra_node_name(reader->trace, node), message);
    node->flawed = TRUE;
    return problems_add(reader->problems, wrong);
}

static gboolean
apply(ChakraJson *reader, ChakraNode *node, const char *name, const ChakraValue *value)
{
    g_autoptr(GError) wrong = NULL;
    if (chakra_node_set(reader->trace, node, name, value, &wrong))
        return TRUE;
    g_autofree char *message = g_strdup_printf("attribute %s", wrong->message);
    return chakra_json_problem(reader, node, message);
}

/* An array of truths, whose '[' was taken; any other array is VALUE_OTHER. */
static gboolean
take_bools(JsonReader *json, ChakraValue *value, GError **error)
{
    JsonToken token;
    *value = (ChakraValue){.kind = CHAKRA_VALUE_BOOLS};
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_TRUE && token.kind != JSON_FALSE)
            value->kind = CHAKRA_VALUE_OTHER;
        chakra_truths_add(&value->truths, token.kind == JSON_TRUE);
        if (!json_skip(json, &token, error))
            return FALSE;
    }
}

static ChakraValue
number_of(const char *text)
{
    ChakraValue value = {.kind = CHAKRA_VALUE_REAL};
    uint64_t beyond;
    if (json_int64(text, &value.integer))
        value.kind = CHAKRA_VALUE_INTEGER;
    else if (json_uint64(text, &beyond))
        value.kind = CHAKRA_VALUE_BEYOND;
    return value;
}

gboolean
chakra_json_attribute(ChakraJson *reader, const char *name, ChakraNode *node, GError **error)
{
    JsonToken token;
    ChakraValue value = {.kind = CHAKRA_VALUE_OTHER};
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind == JSON_ARRAY_BEGIN) {
        if (!take_bools(reader->json, &value, error))
            return FALSE;
    } else if (token.kind == JSON_TRUE || token.kind == JSON_FALSE) {
        value = (ChakraValue){.kind = CHAKRA_VALUE_INTEGER, .integer = token.kind == JSON_TRUE};
    } else if (token.kind == JSON_STRING) {
        value = (ChakraValue){.kind = CHAKRA_VALUE_TEXT, .text = token.text};
        if (strcmp(name, "comm_type") == 0 && chakra_comm_type_find(token.text, &value.integer))
            value.kind = CHAKRA_VALUE_INTEGER;
    } else if (token.kind == JSON_NUMBER) {
        value = number_of(token.text);
    } else if (token.kind == JSON_NULL) {
        value.kind = CHAKRA_VALUE_NONE;
    } else if (!json_skip(reader->json, &token, error)) {
        return FALSE;
    }
    return apply(reader, node, name, &value);
}

/* "int64_val" and "int64Val" are one: small letters without "_". */
static void
simplify(char *key)
{
    char *to = key;
    for (const char *from = key; *from != '\0'; from++) {
        if (*from != '_')
            *to++ = g_ascii_tolower(*from);
    }
    *to = '\0';
}

/* The value of a ...List, an object with values; of truths alone it is of interest. */
static gboolean
take_list(JsonReader *json, gboolean of_bools, ChakraValue *value, GError **error)
{
    JsonToken token;
    *value = (ChakraValue){.kind = of_bools ? CHAKRA_VALUE_BOOLS : CHAKRA_VALUE_OTHER};
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_skip(json, &token, error);
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        if (!json_next(json, &token, error))
            return FALSE;
        if (of_bools && token.kind == JSON_ARRAY_BEGIN ? !take_bools(json, value, error)
                                                       : !json_skip(json, &token, error))
            return FALSE;
    }
}

/* One key of an AttributeProto. texts keeps what the token's text may not. */
static gboolean
take_member(JsonReader *json, char *key, char **name, char **text, ChakraValue *value, GError **error)
{
    JsonToken token;
    simplify(key);
    if (g_str_has_suffix(key, "list"))
        return take_list(json, strcmp(key, "boollist") == 0, value, error);
    if (!json_next(json, &token, error))
        return FALSE;
    if (strcmp(key, "name") == 0 && token.kind == JSON_STRING) {
        g_free(*name);
        *name = g_strdup(token.text);
    } else if (strcmp(key, "stringval") == 0 && token.kind == JSON_STRING) {
        g_free(*text);
        *text = g_strdup(token.text);
        *value = (ChakraValue){.kind = CHAKRA_VALUE_TEXT, .text = *text};
    } else if (strcmp(key, "boolval") == 0) {
        *value = (ChakraValue){.kind = CHAKRA_VALUE_INTEGER, .integer = token.kind == JSON_TRUE};
    } else if (strcmp(key, "doubleval") == 0 || strcmp(key, "floatval") == 0) {
        *value = (ChakraValue){.kind = CHAKRA_VALUE_REAL};
    } else if (strcmp(key, "bytesval") == 0) {
        *value = (ChakraValue){.kind = CHAKRA_VALUE_OTHER};
    } else if (g_str_has_suffix(key, "val") && token.text != NULL) {
        *value = number_of(token.text);
    }
    return json_skip(json, &token, error);
}

/* An AttributeProto whose '{' was taken. */
static gboolean
take_attribute(ChakraJson *reader, ChakraNode *node, GError **error)
{
    g_autofree char *name = NULL, *text = NULL;
    ChakraValue value = {.kind = CHAKRA_VALUE_NONE};
    JsonToken token;
    for (;;) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            break;
        g_autofree char *key = g_strdup(token.text);
        if (!take_member(reader->json, key, &name, &text, &value, error))
            return FALSE;
    }
    return name == NULL || apply(reader, node, name, &value);
}

gboolean
chakra_json_attributes(ChakraJson *reader, ChakraNode *node, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(reader->json, error, "attr is no array of attributes");
    for (;;) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(reader->json, error, "attr holds what is no attribute");
        if (!take_attribute(reader, node, error))
            return FALSE;
    }
}
