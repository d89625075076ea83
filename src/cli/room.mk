# cli: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/cli/command.c src/cli/command.h
libtrainshed_a_SOURCES += src/cli/table.c src/cli/table.h
check_PROGRAMS += tests/test-table
tests_test_table_LDADD = $(TEST_LIBS)
libtrainshed_a_SOURCES += src/cli/query.c
libtrainshed_a_SOURCES += src/cli/topology.c src/cli/topology.h
libtrainshed_a_SOURCES += src/cli/topology_check.c
libtrainshed_a_SOURCES += src/cli/topology_cut.c
libtrainshed_a_SOURCES += src/cli/topology_load.c
libtrainshed_a_SOURCES += src/cli/topology_paths.c
libtrainshed_a_SOURCES += src/cli/topology_show.c
EXTRA_DIST += topologies/clos3-16384.yaml
EXTRA_DIST += topologies/dumbbell.graphml
EXTRA_DIST += topologies/shared-nics.yaml
EXTRA_DIST += topologies/two-buildings.yaml
EXTRA_DIST += topologies/two-regions.yaml
libtrainshed_a_SOURCES += src/cli/trace.c src/cli/trace_info.c src/cli/trace_info.h
