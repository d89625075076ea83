# results: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/results/bulk.c src/results/bulk.h
libtrainshed_a_SOURCES += src/results/database.c src/results/database.h
libtrainshed_a_SOURCES += src/results/key_check.c src/results/key_check.h
libtrainshed_a_SOURCES += src/results/query.c src/results/query.h
libtrainshed_a_SOURCES += src/results/query_output.c src/results/query_output.h
libtrainshed_a_SOURCES += src/results/recorder.c src/results/recorder.h src/results/recorder_state.h
libtrainshed_a_SOURCES += src/results/recorder_fabric.c
libtrainshed_a_SOURCES += src/results/recorder_jobs.c
libtrainshed_a_SOURCES += src/results/recorder_network.c
libtrainshed_a_SOURCES += src/results/schema.c src/results/schema.h
libtrainshed_a_SOURCES += src/results/summary.c
libtrainshed_a_SOURCES += src/results/tally.c src/results/tally.h
libtrainshed_a_SOURCES += src/results/text_table.c src/results/text_table.h
check_PROGRAMS += tests/test-recorder
tests_test_recorder_LDADD = $(TEST_LIBS)
EXTRA_PROGRAMS += bench/results
bench_results_LDADD = libtrainshed.a $(TRAINSHED_LIBS) -lm
