# cluster: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/cluster/account.h
libtrainshed_a_SOURCES += src/cluster/check.c src/cluster/check.h
libtrainshed_a_SOURCES += src/cluster/clock.c
libtrainshed_a_SOURCES += src/cluster/job.c
libtrainshed_a_SOURCES += src/cluster/job_open.c
libtrainshed_a_SOURCES += src/cluster/mailbox.c
libtrainshed_a_SOURCES += src/cluster/meeting.c
libtrainshed_a_SOURCES += src/cluster/memo.c src/cluster/memo.h
libtrainshed_a_SOURCES += src/cluster/observer.h
libtrainshed_a_SOURCES += src/cluster/pastime.c src/cluster/pastime.h
libtrainshed_a_SOURCES += src/cluster/placement_map.c src/cluster/placement_map.h
libtrainshed_a_SOURCES += src/cluster/placement.c src/cluster/placement.h
libtrainshed_a_SOURCES += src/cluster/queue.c src/cluster/queue.h
libtrainshed_a_SOURCES += src/cluster/queue_attained.c
libtrainshed_a_SOURCES += src/cluster/queue_fifo.c
libtrainshed_a_SOURCES += src/cluster/queue_priority.c
libtrainshed_a_SOURCES += src/cluster/queue_shortest.c
libtrainshed_a_SOURCES += src/cluster/rank.c
libtrainshed_a_SOURCES += src/cluster/scheduler.c
libtrainshed_a_SOURCES += src/cluster/run.h
libtrainshed_a_SOURCES += src/cluster/script.c src/cluster/script.h
libtrainshed_a_SOURCES += src/cluster/simulation.c src/cluster/simulation.h
libtrainshed_a_SOURCES += src/cluster/tape.c src/cluster/tape.h

check_PROGRAMS += tests/test-loggops tests/test-placement tests/test-recorded-alone tests/test-script tests/test-simulation
check_PROGRAMS += tests/test-pastime tests/test-queue
tests_test_queue_LDADD = $(TEST_LIBS)
tests_test_pastime_LDADD = $(TEST_LIBS)
tests_test_loggops_LDADD = $(TEST_LIBS)
tests_test_placement_LDADD = $(TEST_LIBS)
tests_test_script_LDADD = $(TEST_LIBS)
tests_test_simulation_LDADD = $(TEST_LIBS)
tests_test_recorded_alone_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-differential-runs
tests_test_differential_runs_SOURCES = tests/test-differential-runs.c tests/random_jobs.c tests/random_jobs.h \
	tests/random_world.c tests/random_world.h
tests_test_differential_runs_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/test-memo-runs
tests_test_memo_runs_SOURCES = tests/test-memo-runs.c tests/memo_log.c tests/memo_log.h tests/random_jobs.c \
	tests/random_jobs.h tests/random_world.c tests/random_world.h
tests_test_memo_runs_LDADD = $(TEST_LIBS)
EXTRA_DIST += bench/memo.sh
EXTRA_DIST += scripts/gen-joblog
TESTS_SH += tests/test-gen-joblog.sh
