# engine: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/engine/engine.c src/engine/engine.h
libtrainshed_a_SOURCES += src/engine/event_queue.c src/engine/event_queue.h
libtrainshed_a_SOURCES += src/engine/event_sort.c src/engine/event_sort.h
libtrainshed_a_SOURCES += src/engine/history.h
check_PROGRAMS += tests/test-engine tests/test-event-queue
tests_test_engine_LDADD = $(TEST_LIBS)
tests_test_event_queue_LDADD = $(TEST_LIBS)
EXTRA_PROGRAMS += bench/hold
bench_hold_LDADD = libtrainshed.a $(TRAINSHED_LIBS) -lm
