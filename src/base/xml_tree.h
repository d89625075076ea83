/* xml_tree.h - a whole XML file as elements with their lines, for files that fit in memory (over libxml2)
 *
 * No entity is expanded and nothing is fetched. Names are without their namespace's prefix. What is big or must be read
 * in pieces (GraphML) has a reader of its own. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct XmlElement XmlElement;

typedef struct {
    const char *name, *value;
} XmlAttribute;

struct XmlElement {
    const char *name;
    size_t line;
    const XmlAttribute *attributes; /* in the order of the file */
    uint32_t n_attributes;
    const char *text;               /* its own text, blanks at both ends taken off; "" where there is none */
    const XmlElement *first, *next; /* child; sibling */
};

typedef struct XmlTree XmlTree;

/* NULL with an INPUT error "PATH:LINE: ...". At most limit bytes unpacked. */
XmlTree *xml_tree_read(const char *path, size_t limit, GError **error);
void xml_tree_free(XmlTree *tree); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(XmlTree, xml_tree_free)

const XmlElement *xml_tree_root(const XmlTree *tree);
const char *xml_tree_path(const XmlTree *tree);

/* NULL where the element has no such attribute. */
const char *xml_attribute(const XmlElement *element, const char *name);
/* The first child of that name, and the next sibling of the same name; NULL. */
const XmlElement *xml_child(const XmlElement *element, const char *name);
const XmlElement *xml_next(const XmlElement *element);

/* "PATH:LINE: NAME: " and the message, as an INPUT error. Returns FALSE. */
gboolean xml_fail(const XmlTree *tree, const XmlElement *element, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);
/* The attribute as a whole number from least to most. Absent: otherwise, where that is in the range; else an error. */
gboolean xml_integer(const XmlTree *tree, const XmlElement *element, const char *name, int64_t least, int64_t most,
                     int64_t otherwise, int64_t *value, GError **error);
