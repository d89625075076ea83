# fabric: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/fabric/fabric.c src/fabric/fabric.h
libtrainshed_a_SOURCES += src/fabric/fabric_names.c
libtrainshed_a_SOURCES += src/fabric/generate.h
libtrainshed_a_SOURCES += src/fabric/graph_check.h
libtrainshed_a_SOURCES += src/fabric/graphml.h
libtrainshed_a_SOURCES += src/fabric/nic_lists.c src/fabric/nic_lists.h
libtrainshed_a_SOURCES += src/fabric/places.c src/fabric/places.h
libtrainshed_a_SOURCES += src/fabric/route.c src/fabric/route.h
libtrainshed_a_SOURCES += src/fabric/route_chain.c src/fabric/route_chain.h
libtrainshed_a_SOURCES += src/fabric/route_spray.c src/fabric/route_spray.h
libtrainshed_a_SOURCES += src/fabric/route_table.c src/fabric/route_table.h
libtrainshed_a_SOURCES += src/fabric/rows.h
check_PROGRAMS += tests/test-fabric
tests_test_fabric_LDADD = $(TEST_LIBS)
