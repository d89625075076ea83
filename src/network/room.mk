# network: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/network/activity.c src/network/activity.h
libtrainshed_a_SOURCES += src/network/analytic.c
libtrainshed_a_SOURCES += src/network/demand.c src/network/demand.h
libtrainshed_a_SOURCES += src/network/end_heap.c src/network/end_heap.h
libtrainshed_a_SOURCES += src/network/fluid.c
libtrainshed_a_SOURCES += src/network/maxmin.c src/network/maxmin.h src/network/maxmin_solve.c src/network/maxmin_state.h
libtrainshed_a_SOURCES += src/network/model.h
libtrainshed_a_SOURCES += src/network/network.c src/network/network.h
libtrainshed_a_SOURCES += src/network/observer.h
libtrainshed_a_SOURCES += src/network/recorded.c
libtrainshed_a_SOURCES += src/network/usage.c src/network/usage.h
check_PROGRAMS += tests/test-maxmin
tests_test_maxmin_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-fluid
tests_test_fluid_SOURCES = tests/test-fluid.c tests/network_fixture.c tests/network_fixture.h
tests_test_fluid_LDADD = $(TEST_LIBS)
