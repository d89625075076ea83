# scenario: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/scenario/fields.c src/scenario/fields.h
libtrainshed_a_SOURCES += src/scenario/scenario.c src/scenario/scenario.h
libtrainshed_a_SOURCES += src/scenario/scenario_fabric.c
libtrainshed_a_SOURCES += src/scenario/scenario_faults.c
libtrainshed_a_SOURCES += src/scenario/scenario_generate.c
libtrainshed_a_SOURCES += src/scenario/scenario_jobs.c
libtrainshed_a_SOURCES += src/scenario/scenario_network.c
libtrainshed_a_SOURCES += src/scenario/scenario_parts.h
libtrainshed_a_SOURCES += src/scenario/yaml_build.c src/scenario/yaml_build.h
libtrainshed_a_SOURCES += src/scenario/yaml_tree.c src/scenario/yaml_tree.h
check_PROGRAMS += tests/test-yaml-tree
tests_test_yaml_tree_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-scenario
tests_test_scenario_LDADD = $(TEST_LIBS)
