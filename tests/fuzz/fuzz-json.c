/* fuzz-json.c - any bytes as a JSON file: tokens nest, positions grow, the end comes */
#include "config.h"

#include "base/json.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autoptr(JsonReader) json = json_open(fuzz_file(data, size), &error);
    JsonToken token = {JSON_NULL};
    guint64 byte = 0;
    int64_t number, depth = 0;
    gboolean good = json != NULL;
    while (good && token.kind != JSON_END) {
        good = json_next(json, &token, &error);
        if (!good)
            break;
        depth += token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN;
        depth -= token.kind == JSON_OBJECT_END || token.kind == JSON_ARRAY_END;
        if (depth < 0 || json_byte(json) < byte || (token.text != NULL && token.text[token.length] != '\0'))
            abort();
        byte = json_byte(json);
        if (token.kind == JSON_NUMBER && json_decimal(token.text, 6, &number) && json_int64(token.text, &number))
            depth += 0;
    }
    if (good && depth != 0)
        abort();
    fuzz_check(good, error);
    return 0;
}
