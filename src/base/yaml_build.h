/* yaml_build.h - text to nodes and back, over libyaml: the inside of yaml_tree */
#pragma once

#include "base/yaml_tree.h"

/* A node without path or text. */
YamlNode *yaml_node_new(YamlKind kind, size_t line, size_t column);
void yaml_node_free(YamlNode *node); /* NULL is fine */

/* Sets line and column of node and all below it to 0: by --set. */
void yaml_node_unplace(YamlNode *node);

/* The one document of text, its paths below path; NULL with an error "FILE:LINE:COLUMN: ...". */
YamlNode *yaml_build(const char *file, const char *text, size_t length, const char *path, GError **error);

/* In block style, ending in a newline. The caller frees it. */
char *yaml_write(const YamlNode *root);
