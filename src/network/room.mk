# network: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/network/maxmin.c src/network/maxmin.h src/network/maxmin_solve.c src/network/maxmin_state.h
libtrainshed_a_SOURCES += src/network/model.h
libtrainshed_a_SOURCES += src/network/network.h
libtrainshed_a_SOURCES += src/network/observer.h
check_PROGRAMS += tests/test-maxmin
tests_test_maxmin_LDADD = $(TEST_LIBS)
