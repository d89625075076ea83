#include "base/xml_tree.h"

#include "base/error.h"
#include "base/input.h"

#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

struct XmlTree {
    char *path;
    GStringChunk *texts;
    GPtrArray *blocks; /* elements and attributes, freed with the tree */
    XmlElement *root;
};

static const char *
keep(XmlTree *tree, const char *text)
{
    return g_string_chunk_insert(tree->texts, text != NULL ? text : "");
}

static void *
block(XmlTree *tree, size_t size)
{
    void *memory = g_malloc0(size);
    g_ptr_array_add(tree->blocks, memory);
    return memory;
}

static void
copy_attributes(XmlTree *tree, xmlNode *node, XmlElement *element)
{
    for (const xmlAttr *at = node->properties; at != NULL; at = at->next)
        element->n_attributes++;
    XmlAttribute *attributes = block(tree, MAX(1, element->n_attributes) * sizeof *attributes);
    uint32_t n = 0;
    for (xmlAttr *at = node->properties; at != NULL; at = at->next) {
        xmlChar *value = xmlNodeListGetString(node->doc, at->children, 1);
        attributes[n++] = (XmlAttribute){keep(tree, (const char *)at->name), keep(tree, (const char *)value)};
        xmlFree(value);
    }
    element->attributes = attributes;
}

/* As it is while the tree is built: children are added behind the last. */
typedef struct {
    XmlElement element;
    XmlElement *last;
} Growing;

static void
copy_one(XmlTree *tree, xmlNode *node)
{
    Growing *growing = block(tree, sizeof *growing), *parent = node->parent->_private;
    XmlElement *element = &growing->element;
    element->name = keep(tree, (const char *)node->name);
    element->line = (size_t)MAX(0, xmlGetLineNo(node));
    copy_attributes(tree, node, element);
    g_autoptr(GString) text = g_string_new(NULL);
    for (const xmlNode *at = node->children; at != NULL; at = at->next)
        if ((at->type == XML_TEXT_NODE || at->type == XML_CDATA_SECTION_NODE) && at->content != NULL)
            g_string_append(text, (const char *)at->content);
    element->text = keep(tree, g_strstrip(text->str));
    node->_private = growing;
    if (parent == NULL)
        tree->root = element;
    else if (parent->last == NULL)
        parent->element.first = element;
    else
        parent->last->next = element;
    if (parent != NULL)
        parent->last = element;
}

/* The node after this one in the order of the file; not below what is no element. */
static xmlNode *
following(xmlNode *node)
{
    if (node->type == XML_ELEMENT_NODE && node->children != NULL)
        return node->children;
    while (node != NULL && node->next == NULL)
        node = node->parent != NULL && node->parent->type == XML_ELEMENT_NODE ? node->parent : NULL;
    return node != NULL ? node->next : NULL;
}

/* Without recursion: a file may nest deeper than a stack. */
static void
copy(XmlTree *tree, xmlNode *root)
{
    for (xmlNode *node = root; node != NULL; node = following(node))
        if (node->type == XML_ELEMENT_NODE)
            copy_one(tree, node);
}

static xmlDoc *
parse(const char *path, const char *text, size_t length, GError **error)
{
    xmlParserCtxt *context = xmlNewParserCtxt();
    xmlDoc *document =
        context != NULL
            ? xmlCtxtReadMemory(context, text, (int)length, path, NULL,
                                XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES)
            : NULL;
    if (document == NULL || xmlDocGetRootElement(document) == NULL) {
        const xmlError *wrong = context != NULL ? xmlCtxtGetLastError(context) : NULL;
        g_autofree char *message = g_strchomp(g_strdup(wrong != NULL && wrong->message ? wrong->message : "is no XML"));
        error_input(error, "%s:%d: %s", path, wrong != NULL ? wrong->line : 1, message);
        if (document != NULL)
            xmlFreeDoc(document);
        document = NULL;
    }
    if (context != NULL)
        xmlFreeParserCtxt(context);
    return document;
}

XmlTree *
xml_tree_read(const char *path, size_t limit, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, MIN(limit, (size_t)G_MAXINT - 1), &length, error);
    if (text == NULL)
        return NULL;
    xmlDoc *document = parse(path, text, length, error);
    if (document == NULL)
        return NULL;
    XmlTree *tree = g_new0(XmlTree, 1);
    tree->path = g_strdup(path);
    tree->texts = g_string_chunk_new(65536);
    tree->blocks = g_ptr_array_new_with_free_func(g_free);
    copy(tree, xmlDocGetRootElement(document));
    xmlFreeDoc(document);
    return tree;
}

void
xml_tree_free(XmlTree *tree)
{
    if (tree == NULL)
        return;
    g_free(tree->path);
    g_string_chunk_free(tree->texts);
    g_ptr_array_unref(tree->blocks);
    g_free(tree);
}

const XmlElement *
xml_tree_root(const XmlTree *tree)
{
    return tree->root;
}

const char *
xml_tree_path(const XmlTree *tree)
{
    return tree->path;
}

const char *
xml_attribute(const XmlElement *element, const char *name)
{
    for (uint32_t i = 0; i < element->n_attributes; i++)
        if (strcmp(element->attributes[i].name, name) == 0)
            return element->attributes[i].value;
    return NULL;
}

static const XmlElement *
named(const XmlElement *element, const char *name)
{
    while (element != NULL && strcmp(element->name, name) != 0)
        element = element->next;
    return element;
}

const XmlElement *
xml_child(const XmlElement *element, const char *name)
{
    return named(element->first, name);
}

const XmlElement *
xml_next(const XmlElement *element)
{
    return named(element->next, element->name);
}

gboolean
xml_fail(const XmlTree *tree, const XmlElement *element, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return error_input(error, "%s:%zu: %s: %s", tree->path, element->line, element->name, text);
}

gboolean
xml_integer(const XmlTree *tree, const XmlElement *element, const char *name, int64_t least, int64_t most,
            int64_t otherwise, int64_t *value, GError **error)
{
    const char *text = xml_attribute(element, name);
    if (text == NULL && otherwise >= least && otherwise <= most) {
        *value = otherwise;
        return TRUE;
    }
    if (text == NULL)
        return xml_fail(tree, element, error, "needs the attribute %s", name);
    gint64 number;
    if (g_ascii_string_to_signed(text, 10, least, most, &number, NULL)) {
        *value = number;
        return TRUE;
    }
    return xml_fail(tree, element, error,
                    "%s: found \"%s\", expected a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, name,
                    text, least, most);
}
