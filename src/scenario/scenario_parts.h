/* scenario_parts.h - the parts a scenario is read by, one file each
 *
 * Each reads one value of the tree; FALSE with an error that names the place. */
#pragma once

#include "scenario/fields.h"
#include "scenario/scenario.h"

/* Any rate or number above 0: the low end of a Field. */
#define ABOVE_0 G_MINDOUBLE

/* fabric.generate; NULL with an error. The caller frees it with generate_spec_free. */
GenerateSpec *scenario_read_generate(const Reading *reading, const YamlNode *node, GError **error);

/* fabric: file, format or generate, into scenario. */
gboolean scenario_read_fabric(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error);

/* network: model, routing, slice, ..., into scenario. */
gboolean scenario_read_network(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error);

/* network.limits, into one of each level; network.settings, checked. */
gboolean scenario_read_limits(const Reading *reading, const YamlNode *node, PathLimit *limits, GError **error);
gboolean scenario_read_settings(const Reading *reading, const YamlNode *list, GError **error);

/* network.packet and network.transport, onto config; their texts are borrowed from the tree. */
gboolean scenario_read_packet(const Reading *reading, const YamlNode *node, PacketConfig *config, GError **error);
gboolean scenario_read_transport(const Reading *reading, const YamlNode *node, PacketConfig *config, GError **error);
/* Do the jobs that packet.classes names exist? When jobs have been read. */
gboolean scenario_check_packet(const Scenario *scenario, GError **error);
void packet_config_clear(PacketConfig *config);

/* collectives, of the scenario or of a job, onto config. */
gboolean scenario_read_collectives(const Reading *reading, const YamlNode *node, CollectiveConfig *config,
                                   GError **error);

/* jobs, into scenario, whose collectives have been read. */
gboolean scenario_read_jobs(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error);

/* queue, into scenario; when jobs have been read, what the policy needs of each job. */
gboolean scenario_read_queue(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error);
gboolean scenario_check_queue(const Scenario *scenario, GError **error);

/* faults, into scenario. */
gboolean scenario_read_faults(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error);

void job_spec_clear(JobSpec *job);
void fault_spec_clear(FaultSpec *fault);
