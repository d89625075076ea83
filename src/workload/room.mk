# workload: one line a module, in alphabetical order
libtrainshed_a_SOURCES += src/workload/check_collectives.c
libtrainshed_a_SOURCES += src/workload/check_messages.c
libtrainshed_a_SOURCES += src/workload/execution_trace.c src/workload/execution_trace.h
libtrainshed_a_SOURCES += src/workload/kineto_event.c
libtrainshed_a_SOURCES += src/workload/kineto_file.c src/workload/kineto_file.h
libtrainshed_a_SOURCES += src/workload/kineto_survey.c src/workload/kineto.h
libtrainshed_a_SOURCES += src/workload/program.c src/workload/program.h
libtrainshed_a_SOURCES += src/workload/program_check.c src/workload/program_check.h
libtrainshed_a_SOURCES += src/workload/program_text.h
libtrainshed_a_SOURCES += src/workload/trace_format.c src/workload/trace_format.h
check_PROGRAMS += tests/test-kineto-survey
tests_test_kineto_survey_LDADD = $(TEST_LIBS)
