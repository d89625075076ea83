/* training_parts.h - between the files of training.c */
#pragma once

#include "scenario/training.h"

/* The key `model`; NULL with an error. The caller frees it. */
ModelDescription *training_read_model(const Reading *reading, const YamlNode *node, GError **error);

/* The place of node before what a lower room said (taken over); FALSE. */
gboolean training_fail(const Reading *reading, const YamlNode *node, GError *wrong, GError **error);
