# base: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/base/decimal.c src/base/decimal.h
libtrainshed_a_SOURCES += src/base/error.c src/base/error.h
libtrainshed_a_SOURCES += src/base/index.h
libtrainshed_a_SOURCES += src/base/input.c src/base/input.h
libtrainshed_a_SOURCES += src/base/json.c src/base/json.h
libtrainshed_a_SOURCES += src/base/random.c src/base/random.h
libtrainshed_a_SOURCES += src/base/sim_time.c src/base/sim_time.h
libtrainshed_a_SOURCES += src/base/suggest.c src/base/suggest.h
libtrainshed_a_SOURCES += src/base/units.c src/base/units.h
check_PROGRAMS += tests/test-input tests/test-json tests/test-random tests/test-sim-time tests/test-suggest tests/test-units
tests_test_input_LDADD = $(TEST_LIBS)
tests_test_json_LDADD = $(TEST_LIBS)
tests_test_random_LDADD = $(TEST_LIBS)
tests_test_sim_time_LDADD = $(TEST_LIBS)
tests_test_suggest_LDADD = $(TEST_LIBS)
tests_test_units_LDADD = $(TEST_LIBS)
