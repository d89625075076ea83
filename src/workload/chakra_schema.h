/* chakra_schema.h - the records of a binary Chakra file, and which schema they follow
 *
 * Schemas 0.0.1 (eg_def), 0.0.2 and 0.0.3 are of 2023; from 0.0.4 on GlobalMetadata comes first. */
#pragma once

#include "workload/chakra_trace.h"
#include "workload/chakra_wire.h"

typedef enum { CHAKRA_SCHEMA_001, CHAKRA_SCHEMA_002, CHAKRA_SCHEMA_003, CHAKRA_SCHEMA_004 } ChakraSchema;

enum { CHAKRA_LENGTH_BYTES = 5 }; /* of a record's length, a 32-bit varint */

typedef struct {
    WireBytes bytes;     /* the message; borrowed */
    size_t offset;       /* of the record in the file, its length included */
    uint64_t number;     /* from 0 */
    const uint8_t *next; /* where the next record begins; set it to the file's begin to start */
} ChakraRecord;

/* Goes to the next record. FALSE at the end; with an error ("byte 12: record 3 is cut ...") where the file is cut. */
gboolean chakra_record_next(WireBytes file, ChakraRecord *record, GError **error);
/* Is this first record's message GlobalMetadata, not a Node? */
gboolean chakra_schema_has_metadata(WireBytes message);
/* The schema whose fields most records have, of several the newest. FALSE with an error where nothing tells schemas
 * apart that mean different things. */
gboolean chakra_schema_of(WireBytes file, ChakraSchema *schema, GError **error);
const char *chakra_schema_name(ChakraSchema schema); /* "0.0.4" */
/* FALSE with an error where the fields of a record are not of the schema. */
gboolean chakra_schema_check(ChakraSchema schema, const ChakraRecord *record, GError **error);

/* Takes a Node message of a schema before 0.0.4, which was checked. FALSE with an error that begins with the node,
 * which stays. */
gboolean chakra_old_take(ChakraTrace *trace, ChakraSchema schema, WireBytes message, GError **error);
