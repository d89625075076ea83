/* topology.h - the verbs of 'trainshed topology', one file each, and what they share
 *
 * A verb's run() gets argc and argv from its own name on, as a Command does. */
#pragma once

#include "fabric/topology_format.h"

gboolean topology_generate(int argc, char **argv, GError **error);
gboolean topology_export(int argc, char **argv, GError **error);
gboolean topology_import(int argc, char **argv, GError **error);
gboolean topology_join(int argc, char **argv, GError **error);
gboolean topology_check(int argc, char **argv, GError **error);
gboolean topology_show(int argc, char **argv, GError **error);
gboolean topology_paths(int argc, char **argv, GError **error);
gboolean topology_cut(int argc, char **argv, GError **error);

/* Parses options and leaves between least and most arguments in argv[1]...: else a usage error. */
gboolean topology_arguments(GOptionContext *context, int *argc, char ***argv, int least, int most, GError **error);

/* The fabric of a file: a topology in a known format (NULL = by content), or, by its name, a YAML file with
 * a fabric key, with assignments as in --set. options and notes as in topology_read. */
Fabric *topology_load(const char *path, const char *format, const TopologyOptions *options, const char *const *sets,
                      char **notes, GError **error);

/* The options that say what a file leaves open, as the user wrote them: added to a command's own, then read. The texts
 * must outlive what topology_texts_read makes of them. */
typedef struct {
    char *rate, *latency, *nvlink, *format, **with;
    double detour;
    int hosts;
} TopologyTexts;

void topology_texts_add(TopologyTexts *texts, GOptionContext *context);
gboolean topology_texts_read(const TopologyTexts *texts, TopologyOptions *options, GError **error);
void topology_texts_clear(TopologyTexts *texts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TopologyTexts, topology_texts_clear)

/* The node of that name, or INDEX_NONE with an error that tells the nearest. */
uint32_t topology_node(const Fabric *fabric, const char *name, GError **error);

/* "768 GPUs, 1754 nodes, 6144 links". The caller frees it. */
char *topology_summary(const Fabric *fabric);
