/* xml_head.h - what kind of XML a file is, from its first bytes */
#pragma once

#include <glib.h>

/* Is this XML whose first element has this name, with or without a namespace prefix? head: length bytes, then a zero.
 */
gboolean xml_head_is(const char *head, size_t length, const char *element);
