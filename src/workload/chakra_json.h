/* chakra_json.h - between chakra_json.c, which reads nodes, and chakra_json_value.c, which reads their attributes */
#pragma once

#include "base/json.h"
#include "workload/chakra_trace.h"

typedef struct {
    JsonReader *json;
    ChakraTrace *trace;
    Problems *problems;
} ChakraJson;

/* Tells a problem of a node at the present line, and marks the node. FALSE where the search should stop. */
gboolean chakra_json_problem(ChakraJson *reader, ChakraNode *node, const char *message);
/* The value of an attribute that stands under its own name. FALSE with an error, or without where a problem stopped it.
 */
gboolean chakra_json_attribute(ChakraJson *reader, const char *name, ChakraNode *node, GError **error);
/* The array attr of protobuf's JSON: [{"name": "comm_size", "int64Val": "8"}, ...]. FALSE likewise. */
gboolean chakra_json_attributes(ChakraJson *reader, ChakraNode *node, GError **error);
